/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why devices were idle: gaps with planted causes, recovered to the nanosecond, and identities on
 * random traces. */
#include "events.h"
#include "report_fixture.h"

#include <stdio.h>

static int64_t cause(const struct ta_report *report, const char *name)
{
    return report_number(report, "gpu_idle.by_cause", "cause", name, "total_ns");
}

/* ---- pieces of traces; times in µs ---------------------------------------------------------- */

#define SPAN(cat, name, ts, dur) EVENT_SPAN(cat, name, 1, ts, dur)
#define LAUNCH(id, ts, dur) EVENT_LAUNCH(id, 1, ts, dur)
#define GRAPH(id, ts, dur) EVENT_CALL("cudaGraphLaunch", id, 1, ts, dur)
#define KERNEL(id, stream, ts, dur) EVENT_KERNEL("k" #id, id, stream, ts, dur)

/* The device ends at 20 µs; the launch of the next kernel begins at 100 µs, and in between the
 * thread does one thing after another. */
static void the_host_is_late(void **state)
{
    (void)state;
    struct ta_report *report =
        report_on_events(LAUNCH(1, 0, 5) KERNEL(1, 7, 10, 10) /* the gap begins at 20 */
                         SPAN("cuda_runtime", "cudaStreamSynchronize", 15, 10) /* 20…25 of it */
                         SPAN("cpu_op", "aten::mm", 30, 80) /* 25…30 nothing; 30… the op */
                         SPAN("cuda_runtime", "cudaMalloc", 40, 20)    /* 40…60 */
                         SPAN("cuda_runtime", "cudaEventQuery", 70, 3) /* 70…73 */
                         SPAN("cuda_runtime", "cudaMemcpy", 80, 4)     /* 80…84 */
                         LAUNCH(2, 100, 6)                             /* 106…109 is the way */
                         KERNEL(2, 7, 109, 1));
    assert_int_equal(cause(report, "synchronization"), 5000);
    assert_int_equal(cause(report, "host untraced"), 5000);
    assert_int_equal(cause(report, "memory allocation"), 20000);
    assert_int_equal(cause(report, "runtime calls"), 3000);
    assert_int_equal(cause(report, "blocking copy"), 4000);
    assert_int_equal(cause(report, "launch calls"), 6000);
    assert_int_equal(cause(report, "launch latency"), 3000);
    assert_int_equal(cause(report, "operator dispatch"), 80000 - 5000 - 5000 - 27000);
    assert_int_equal(report_sum(report, "gpu_idle.by_cause", "total_ns"), 89000);
    /* All of it is blamed on the operator that made the calls. */
    assert_int_equal(
        report_number(report, "gpu_idle.by_site", "cause", "memory allocation", "total_ns"), 20000);
    assert_int_equal(report_number(report, "gpu_idle.by_site", "site", "aten::mm", "pieces"), 4);
    assert_int_equal(report_number(report, "gpu_idle.longest", "site", "aten::mm", "dur_ns"),
                     89000);
    ta_report_free(report);
}

/* What lies below a cause is part of it; overhead holds up every thread. */
static void causes_reach_down(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        LAUNCH(1, 0, 5) KERNEL(1, 7, 10, 10)
            SPAN("python_function", "torch/utils/data/dataloader.py(1): __next__", 20, 50)
                SPAN("python_function", "stack.py(1): collate", 30, 30)
                    SPAN("python_function", "model.py(1): forward", 70,
                         40) "{'ph':'X','cat':'overhead','name':'Buffer "
                             "Flush','pid':-1,'tid':0,'ts':80,'dur':7},"
                             "{'ph':'X','cat':'overhead','name':'Lazy Function "
                             "Loading','pid':-1,'tid':0,'ts':85,"
                             "'dur':5}," LAUNCH(2, 100, 6) KERNEL(2, 7, 100, 1));
    assert_int_equal(cause(report, "data loading"), 50000);
    assert_int_equal(report_number(report, "gpu_idle.by_site", "site",
                                   "torch/utils/data/dataloader.py(1): __next__", "total_ns"),
                     20000);
    assert_int_equal(report_number(report, "gpu_idle.by_site", "site", "stack.py(1): collate",
                                   "total_ns"),
                     30000);
    assert_int_equal(cause(report, "profiler"), 7000);
    assert_int_equal(cause(report, "compilation"), 3000);
    assert_int_equal(cause(report, "python"), 20000);
    assert_int_equal(report_sum(report, "gpu_idle.by_cause", "total_ns"), 80000);
    ta_report_free(report);
}

static void queued_work_waits(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        LAUNCH(1, 0, 1) LAUNCH(2, 1, 1) LAUNCH(3, 2, 1) LAUNCH(4, 3, 1) GRAPH(5, 4, 1)
            LAUNCH(6, 230, 10)                       /* under way when the gap at 235 begins */
        KERNEL(1, 7, 10, 10) KERNEL(2, 7, 22, 10)    /* 2 µs on one stream */
        KERNEL(3, 8, 35, 10)                         /* 3 µs from stream to stream */
        KERNEL(4, 8, 100, 10)                        /* 55 µs: too long for the front end */
        KERNEL(5, 8, 112, 10) KERNEL(5, 8, 132, 103) /* 2 µs, then 10 µs within a graph */
        KERNEL(6, 8, 240, 1)                         /* 5 µs */
        "{'ph':'X','cat':'kernel','name':'lost','pid':0,'tid':8,'ts':250,'dur':1,"
        "'args':{'device':0}}," /* 9 µs */
        KERNEL(1, 9, 251.5, 1) /* half a µs */);
    assert_int_equal(cause(report, "queued, same stream"), 2000 + 2000);
    assert_int_equal(cause(report, "queued, dependency"), 3000 + 55000);
    assert_int_equal(cause(report, "within a graph"), 10000);
    assert_int_equal(cause(report, "launch calls"), 5000);
    assert_int_equal(cause(report, "launch not recorded"), 9000);
    assert_int_equal(cause(report, "micro gap"), 500);
    assert_int_equal(report_sum(report, "gpu_idle.by_cause", "total_ns"), 86500);
    ta_report_free(report);
}

/* A kernel that starts before its launch, by clocks that differ, takes no more than the gap. */
static void clocks_that_differ(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 0, 5) KERNEL(1, 7, 10, 10) SPAN(
        "cpu_op", "aten::mm", 20, 50) LAUNCH(2, 60, 5) KERNEL(2, 7, 40, 10));
    assert_int_equal(cause(report, "operator dispatch"), 20000);
    assert_int_equal(report_sum(report, "gpu_idle.by_cause", "total_ns"), 20000);
    ta_report_free(report);
}

static void a_late_start(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 0, 5) KERNEL(1, 7, 10, 10) LAUNCH(
        2, 20, 5) KERNEL(2, 7, 1026, 10) LAUNCH(3, 1036, 4) KERNEL(3, 7, 2040, 10));
    assert_int_equal(cause(report, "launch calls"), 5000 + 4000);
    assert_int_equal(cause(report, "late start"), 1001000);
    assert_int_equal(cause(report, "launch latency"), 1000000);
    ta_report_free(report);
}

/* Streams that wait for work of which nothing was recorded: what was launched before the recording
 * may hold up the first activity of each, until the host has waited for a device. */
static void what_began_before(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        LAUNCH(1, 0, 5) KERNEL(1, 7, 10, 10) LAUNCH(2, 20, 5) KERNEL(2, 8, 2025, 10) /* 2 ms */
        SPAN("cuda_runtime", "cudaDeviceSynchronize", 2030, 10) LAUNCH(3, 2040, 5)
            KERNEL(3, 9, 4045, 10)); /* 2 ms */
    assert_int_equal(cause(report, "began before the recording"), 2000000);
    assert_int_equal(cause(report, "late start"), 2000000);
    assert_int_equal(
        report_number(report, "run.bound", "bound", "before the recording", "total_ns"), 2000000);
    ta_report_free(report);
}

/* A wait for a stream says nothing of the others; one before the first launch, while no device
 * works, is itself for what was launched before. */
static void waits_for_what_began_before(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        KERNEL(1, 7, 10, 10) SPAN("cuda_runtime", "cudaStreamSynchronize", 20, 3000)
            LAUNCH(2, 3020, 5) KERNEL(2, 8, 5025, 10) /* 2 ms */
        SPAN("cuda_runtime", "cudaDeviceSynchronize", 5030, 10)
            SPAN("cuda_runtime", "cudaStreamSynchronize", 5040, 3000) LAUNCH(3, 8040, 5)
                KERNEL(3, 9, 10045, 10)); /* 2 ms */
    assert_int_equal(cause(report, "began before the recording"), 5000000);
    assert_int_equal(cause(report, "synchronization"), 3000000 + 5000);
    assert_int_equal(cause(report, "late start"), 2000000);
    ta_report_free(report);
}

static void queue_figures(void **state)
{
    (void)state;
    /* Window 10…60; launched 0…20, 20…60; nothing launched in none of it. */
    struct ta_report *report = report_on_events(LAUNCH(1, 0, 5) KERNEL(1, 7, 10, 10) SPAN(
        "cpu_op", "aten::mm", 20, 30) LAUNCH(2, 40, 5) KERNEL(2, 7, 50, 10));
    const struct ta_table *table = ta_report_table(report, "launch_queue.by_rank");
    assert_non_null(table);
    assert_int_equal(table->n_rows, 1);
#define CELL(column) ta_cell_number(ta_table_cell(table, 0, ta_table_column(table, column)), -1)
    assert_float_equal(CELL("empty_share"), 0.4f, 1e-6); /* 20…40 of 10…60 */
    assert_float_equal(CELL("depth_mean"), 0.6f, 1e-6);  /* 10 and 20 µs of it */
    assert_float_equal(CELL("depth_max"), 1, 1e-12);
    assert_float_equal(CELL("full_share"), 0, 1e-12);
    assert_float_equal(CELL("late"), 0, 1e-12);
    assert_float_equal(CELL("launch_bound"), 0.5f, 1e-6);
    assert_float_equal(CELL("floor_ns"), 5000, 1);
    assert_float_equal(CELL("short_share"), 1, 1e-12);
#undef CELL
    ta_report_free(report);
}

/* Two streams, one of them with a graph: its kernels are one launch.  A kernel that begins late on
 * an idle device is an outlier. */
static void queues_of_streams(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(GRAPH(1, 0, 5) KERNEL(1, 8, 10, 10) KERNEL(
        1, 8, 30, 10) LAUNCH(2, 6, 2) KERNEL(2, 7, 10, 20) LAUNCH(3, 41, 4) KERNEL(3, 7, 190, 10));
    const struct ta_table *ranks = ta_report_table(report, "launch_queue.by_rank");
    const struct ta_table *streams = ta_report_table(report, "launch_queue.by_stream");
    assert_non_null(ranks);
    assert_non_null(streams);
    assert_int_equal(streams->n_rows, 1); /* not the one of the graph */
#define CELL(table, column)                                                                        \
    ta_cell_number(ta_table_cell(table, 0, ta_table_column(table, column)), -1)
    /* Window 10…200; the graph 0…40, then 6…30 and 41…200 on the stream. */
    assert_float_equal(CELL(ranks, "depth_mean"), (30.0 + 20 + 159) / 190, 1e-6);
    assert_float_equal(CELL(ranks, "depth_max"), 2, 1e-12);
    assert_float_equal(CELL(ranks, "empty_share"), 1.0 / 190, 1e-6);
    assert_float_equal(CELL(ranks, "late"), 1, 1e-12);
    assert_float_equal(CELL(streams, "launches"), 2, 1e-12);
    assert_float_equal(CELL(streams, "empty_share"), 11.0 / 190, 1e-6);
    assert_float_equal(CELL(streams, "delay_p50_ns"), (2000.0 + 145000) / 2, 1e-3);
#undef CELL
    ta_report_free(report);
}

/* The causes of each device add up to its idle time, whatever the trace. */
static void causes_add_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct text json = {0};
        struct reading r;
        fixture_trace_text(&json, seed, 2000, 0, 0);
        fixture_read_text(&fixture, json.at, &r);
        struct ta_report *report = fixture_report(&fixture, &r, 1);
        const struct ta_table *gpu = ta_report_table(report, "gpu_time.by_rank");
        int64_t idle = 0;
        for (size_t i = 0; gpu && i < gpu->n_rows; i++)
            idle += ta_table_cell(gpu, i, ta_table_column(gpu, "idle_ns"))->i;
        assert_true(idle > 0);
        assert_int_equal(report_sum(report, "gpu_idle.by_cause", "total_ns"), idle);
        ta_report_free(report);
        reading_free(&r);
        text_free(&json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_late),  cmocka_unit_test(causes_reach_down),
        cmocka_unit_test(queued_work_waits), cmocka_unit_test(clocks_that_differ),
        cmocka_unit_test(a_late_start),      cmocka_unit_test(queue_figures),
        cmocka_unit_test(what_began_before), cmocka_unit_test(waits_for_what_began_before),
        cmocka_unit_test(causes_add_up),     cmocka_unit_test(queues_of_streams),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
