/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What devices do in their window: its parts, which add up to it, what bounds the run, and how
 * kernels fill the multiprocessors. */
#include "events.h"
#include "report_fixture.h"

#include <stdio.h>

#define LAUNCH(id, ts, dur) EVENT_LAUNCH(id, 1, ts, dur)
#define KERNEL(name, id, stream, ts, dur) EVENT_KERNEL(name, id, stream, ts, dur)
#define FILLING(stream, ts, dur, blocks, occupancy)                                                \
    "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':" #stream ",'ts':" #ts ",'dur':" #dur       \
    ",'args':{'device':0,'grid':[8,1,1],'block':[64,1,1],'blocks per SM':" #blocks                 \
    ",'est. achieved occupancy %':" #occupancy "}},"
#define NCCL "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

static int64_t part(const struct ta_report *report, const char *column)
{
    return report_sum(report, "gpu_time.parts", column);
}

static int64_t bound(const struct ta_report *report, const char *name)
{
    return report_number(report, "run.bound", "bound", name, "total_ns");
}

/* The first launch at 0…5; compute 10…30, communication 20…50, nothing up to the launch at 60…65,
 * which takes until 70, then 10 µs of compute, and 3 µs on one stream before the last. */
static void parts_of_a_window(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        LAUNCH(1, 0, 5) KERNEL("k", 1, 7, 10, 20) LAUNCH(2, 6, 5) KERNEL(NCCL, 2, 8, 20, 30)
            LAUNCH(3, 60, 5) KERNEL("k", 3, 7, 70, 10) LAUNCH(4, 66, 3) KERNEL("k", 4, 7, 83, 7));
    assert_int_equal(part(report, "window_ns"), 90000);
    assert_int_equal(part(report, "around_ns"), 10000);
    assert_int_equal(part(report, "compute_ns"), 10000 + 10000 + 7000);
    assert_int_equal(part(report, "comm_hidden_ns"), 10000);
    assert_int_equal(part(report, "comm_exposed_ns"), 20000);
    assert_int_equal(part(report, "host_wait_ns"), 20000);
    assert_int_equal(part(report, "kernel_wait_ns"), 3000);
    assert_int_equal(part(report, "other_ns"), 0);
    assert_int_equal(bound(report, "compute"), 37000);
    assert_int_equal(bound(report, "communication"), 20000);
    assert_int_equal(bound(report, "preparation"), 10000); /* the first launch, and its way */
    /* From 50 to 60 nothing was recorded: the way from one launch to the next. */
    assert_int_equal(bound(report, "launch"), 10000 + 10000);
    assert_int_equal(bound(report, "dependency"), 3000);
    const struct ta_table *parts = ta_report_table(report, "run.bound");
    assert_true(ta_row_reads(parts, 0, "class", "compute-bound"));
    const char *headline = ta_report_verdict(report)->headline;
    assert_non_null(strstr(headline, "The run is GPU-bound: the GPU is busy"));
    ta_report_free(report);
}

/* A quarter of the multiprocessors for 10 µs; a half of them beside it for 5; more than there are
 * for 10; nothing for 10; and a kernel that does not say, which counts as nothing. */
static void multiprocessors_in_use(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(FILLING(7, 0, 10, 0.25, 40) FILLING(
        8, 5, 5, 0.5, 0) FILLING(7, 10, 10, 3.5, 100) KERNEL("silent", 9, 7, 30, 10));
    const struct ta_table *table = ta_report_table(report, "kernels.occupancy");
    assert_non_null(table);
    assert_int_equal(table->n_rows, 1);
    /* (10 · 0.25 + 5 · 0.5 + 10) of 40 µs, and (10 · 0.4 + 5 · 0 + 10) of 25. */
    assert_float_equal((float)ta_row_number(table, 0, "sm_efficiency", -1), 15.0f / 40, 1e-6);
    assert_float_equal((float)ta_row_number(table, 0, "occupancy", -1), 14.0f / 25, 1e-6);
    assert_int_equal(report_sum(report, "kernels.occupancy", "known_ns"), 25000);
    assert_int_equal(report_sum(report, "kernels.occupancy", "window_ns"), 40000);
    ta_report_free(report);
}

/* Whatever the trace, the parts of each window add up to it, and so do those of what bounds it. */
static void parts_add_up(void **state)
{
    static const char *const columns[] = {"compute_ns",        "comm_hidden_ns", "comm_exposed_ns",
                                          "memcpy_exposed_ns", "host_wait_ns",   "kernel_wait_ns",
                                          "around_ns",         "other_ns"};
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct text json = {0};
        struct reading r;
        fixture_trace_text(&json, seed, 2000, 0, 0);
        fixture_read_text(&fixture, json.at, &r);
        struct ta_report *report = fixture_report(&fixture, &r, 1);
        int64_t all = 0;
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            all += part(report, columns[i]);
        assert_true(all > 0);
        assert_int_equal(part(report, "window_ns"), all);
        assert_int_equal(report_sum(report, "run.bound", "total_ns"), all);
        ta_report_free(report);
        reading_free(&r);
        text_free(&json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_window),
        cmocka_unit_test(multiprocessors_in_use),
        cmocka_unit_test(parts_add_up),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
