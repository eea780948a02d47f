/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps from what programs mark, each way with known times. */
#include "events.h"
#include "model/program/marker.h"
#include "report/tables.h"
#include "report_fixture.h"

#define RANGE(name, ts, dur) EVENT_SPAN("user_annotation", name, 1, ts, dur)
#define OP(ts, dur) EVENT_SPAN("cpu_op", "aten::mm", 1, ts, dur)

struct expected {
    const char *step, *source;
    int64_t start_us, dur_us;
};

static void assert_steps(const char *events, const struct expected *expected, size_t n)
{
    struct ta_report *report = report_on_events(events);
    const struct ta_table *table = ta_report_table(report, "steps.by_step");
    assert_int_equal(table ? table->n_rows : 0, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(
            report_number(report, "steps.by_step", "step", expected[i].step, "host_start_ns"),
            expected[i].start_us * 1000);
        assert_int_equal(
            report_number(report, "steps.by_step", "step", expected[i].step, "host_dur_ns"),
            expected[i].dur_us * 1000);
        const size_t source = ta_table_column(table, "source");
        assert_true(
            ta_slice_equal(ta_table_cell(table, i, source)->text, ta_slice_of(expected[i].source)));
    }
    ta_report_free(report);
}

#define ASSERT_STEPS(events, ...)                                                                  \
    do {                                                                                           \
        static const struct expected expected[] = {__VA_ARGS__};                                   \
        assert_steps(events, expected, sizeof expected / sizeof *expected);                        \
    } while (0)

static void assert_no_steps(const char *events)
{
    assert_steps(events, NULL, 0);
}

/* A loop from batch to batch; the last call of the loader finds none. */
static void data_loader(void **state)
{
    (void)state;
#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    ASSERT_STEPS(RANGE(LOADER, 10, 5) OP(16, 4) RANGE(LOADER, 40, 5) OP(46, 4) RANGE(LOADER, 70, 2),
                 {LOADER, "record", 0, 30}, {LOADER " (2)", "record", 30, 30});
    /* With an optimizer the last step ends with it. */
    ASSERT_STEPS(RANGE(LOADER, 0, 5) OP(6, 4) RANGE("Optimizer.step#SGD.step", 20, 5)
                     RANGE(LOADER, 40, 5) OP(46, 4) RANGE("Optimizer.step#SGD.step", 60, 5)
                         OP(90, 4),
                 {LOADER, "record", 0, 40}, {LOADER " (2)", "record", 40, 25});
    /* Two batches make a step: the optimizer says when it ends. */
    ASSERT_STEPS(RANGE(LOADER, 0, 5) RANGE(LOADER, 20, 5) RANGE("Optimizer.step#SGD.step", 30, 5)
                     RANGE(LOADER, 40, 5) RANGE(LOADER, 60, 5)
                         RANGE("Optimizer.step#SGD.step", 70, 5),
                 {"Optimizer.step#SGD.step", "record", 35, 40});
}

static void optimizer(void **state)
{
    (void)state;
    ASSERT_STEPS(RANGE("Optimizer.zero_grad#Adam.zero_grad", 0, 5) OP(6, 4)
                     RANGE("Optimizer.step#Adam.step", 20, 10)
                         RANGE("Optimizer.zero_grad#Adam.zero_grad", 50, 5) OP(56, 4)
                             RANGE("Optimizer.step#Adam.step", 70, 10),
                 {"Optimizer.zero_grad#Adam.zero_grad", "record", 0, 50},
                 {"Optimizer.zero_grad#Adam.zero_grad (2)", "record", 50, 30});
}

static void engines(void **state)
{
    (void)state;
    ASSERT_STEPS(RANGE("step[EXTEND bs=15 toks=15360]", 0, 30) RANGE("step[DECODE bs=15]", 40, 5)
                     RANGE("inner", 41, 1) RANGE("step[DECODE bs=15]", 50, 5),
                 {"step[EXTEND bs=15 toks=15360]", "record", 0, 30},
                 {"step[DECODE bs=15]", "record", 40, 5},
                 {"step[DECODE bs=15] (2)", "record", 50, 5});
    /* What lies within another is no step of its own. */
    ASSERT_STEPS(RANGE("execute_context_0(0)_generation_8(8)", 0, 30)
                     RANGE("step[DECODE bs=8]", 5, 20),
                 {"execute_context_0(0)_generation_8(8)", "record", 0, 30});
    /* One image is the program, two are two. */
    assert_no_steps(RANGE("execute_diffusion_1_256x256", 0, 30) OP(2, 4));
    ASSERT_STEPS(RANGE("execute_diffusion_1_256x256", 0, 30)
                     RANGE("execute_diffusion_1_256x256", 40, 20),
                 {"execute_diffusion_1_256x256", "record", 0, 30},
                 {"execute_diffusion_1_256x256 (2)", "record", 40, 20});
    /* ProfilerStep#N comes first. */
    ASSERT_STEPS(RANGE("ProfilerStep#3", 0, 50) RANGE("step[DECODE bs=8]", 5, 20),
                 {"ProfilerStep#3", "marker", 0, 50});
}

static void repeated_ranges(void **state)
{
    (void)state;
    /* At the level below the range that holds the program. */
    ASSERT_STEPS(RANGE("pipeline", 0, 100) RANGE("encode", 0, 10) RANGE("denoise", 10, 25)
                     RANGE("denoise", 40, 20) RANGE("denoise", 60, 20) RANGE("decode", 85, 10),
                 {"denoise", "record", 10, 25}, {"denoise (2)", "record", 40, 20},
                 {"denoise (3)", "record", 60, 20});
    /* A sequence of names: a step lasts to the next one. */
    ASSERT_STEPS(RANGE("forward", 0, 10) RANGE("backward", 12, 10) RANGE("update", 25, 5)
                     RANGE("forward", 40, 10) RANGE("backward", 52, 10) RANGE("update", 65, 5),
                 {"forward", "record", 0, 40}, {"forward (2)", "record", 40, 30});
    /* Numbered ones are of one kind. */
    ASSERT_STEPS(RANGE("step 1/2", 0, 10) RANGE("step 2/2", 10, 10), {"step 1/2", "record", 0, 10},
                 {"step 2/2", "record", 10, 10});
}

/* Blocks of different benchmarks, layers, and a range around everything are no steps. */
static void no_steps(void **state)
{
    (void)state;
    assert_no_steps(RANGE("pipeline", 0, 100) OP(2, 4));
    assert_no_steps(RANGE("a", 0, 10) RANGE("a", 10, 10) RANGE("b", 20, 10) RANGE("b", 30, 10)
                        RANGE("c", 40, 10) RANGE("c", 50, 10));
    assert_no_steps(RANGE("forward", 0, 100) RANGE("layer_1", 0, 50) RANGE("layer_2", 50, 50));
    assert_no_steps(RANGE("nccl:all_reduce", 0, 10) RANGE("nccl:all_reduce", 20, 10));
    /* Requests of a server on several threads. */
    assert_no_steps(EVENT_SPAN("user_annotation", "serve", 1, 0, 20) EVENT_SPAN(
        "user_annotation", "serve", 1, 20, 20) EVENT_SPAN("user_annotation", "serve", 2, 5, 20));
}

static void assert_work(const char *name, enum ta_phase phase, int64_t batch, int64_t tokens,
                        int64_t width, int64_t height)
{
    const struct ta_marked_work work = ta_marked_work_of(ta_slice_of(name));
    assert_int_equal(work.phase, phase);
    assert_int_equal(work.batch, batch);
    assert_int_equal(work.tokens, tokens);
    assert_int_equal(work.width, width);
    assert_int_equal(work.height, height);
}

static void numbers(void **state)
{
    (void)state;
    const int64_t none = TA_MISSING;
    assert_work("step[DECODE bs=64]", TA_PHASE_DECODE, 64, 64, none, none);
    assert_work("step[EXTEND bs=15 toks=15360]", TA_PHASE_PREFILL, 15, 15360, none, none);
    assert_work("step[MIXED bs=9 toks=700]", TA_PHASE_MIXED, 9, 700, none, none);
    assert_work("step[IDLE bs=0]", TA_PHASE_NONE, 0, none, none, none);
    assert_work("execute_context_1(888_788544)_generation_0(0)", TA_PHASE_PREFILL, 1, 888, none,
                none);
    assert_work("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
                TA_PHASE_DECODE, 32, 32, none, none);
    assert_work("execute_context_2(100)_generation_3(3)", TA_PHASE_MIXED, 5, 103, none, none);
    assert_work("execute_new_0_cached_7", TA_PHASE_DECODE, 7, 7, none, none);
    assert_work("execute_new_2_cached_7", TA_PHASE_MIXED, 9, none, none, none);
    assert_work("execute_diffusion_2_1024x768", TA_PHASE_NONE, 2, none, 1024, 768);
    assert_work("generate 512x512 batch=4", TA_PHASE_NONE, 4, none, 512, 512);
    assert_work("denoise", TA_PHASE_NONE, none, none, none, none);
    assert_work("step[EXTEND bs=99999999999999999999]", TA_PHASE_PREFILL, none, none, none, none);
}

/* A rate in the first row whose text column reads so. */
static double rate(const struct ta_report *report, const char *key, const char *text,
                   const char *column)
{
    const struct ta_table *table = ta_report_table(report, "steps.by_kind");
    const size_t at = ta_table_column(table, key), value = ta_table_column(table, column);
    for (size_t i = 0; i < table->n_rows; i++)
        if (ta_slice_equal(ta_table_cell(table, i, at)->text, ta_slice_of(text)))
            return ta_cell_number(ta_table_cell(table, i, value), -1);
    return -1;
}

/* Tokens of prefill and decode apart: 15360 in 30 µs, twice 15 in 5 µs each. */
static void rates(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(RANGE("step[EXTEND bs=15 toks=15360]", 0, 30) RANGE(
        "step[DECODE bs=15]", 40, 5) RANGE("step[DECODE bs=15]", 50, 5));
    assert_int_equal(report_number(report, "steps.by_kind", "phase", "prefill", "tokens"), 15360);
    assert_int_equal(report_number(report, "steps.by_kind", "phase", "decode", "tokens"), 30);
    assert_int_equal(report_number(report, "steps.by_kind", "phase", "decode", "steps"), 2);
    assert_true(rate(report, "phase", "prefill", "tokens_per_s") == 512e6);
    assert_true(rate(report, "phase", "decode", "tokens_per_s") == 3e6);
    ta_report_free(report);
    report = report_on_events(RANGE("ProfilerStep#1", 0, 500)
                                  RANGE("execute_diffusion_2_256x256", 100, 400));
    assert_true(rate(report, "kind", "execute_diffusion", "images_per_s") == 5000);
    assert_null(ta_report_scalar(report, "step_time_p50_ns")); /* it is the whole program */
    ta_report_free(report);
}

/* The first decoding step sets up; the one prefill is longer, but of another kind. */
static void set_up(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        RANGE("step[EXTEND bs=1 toks=64]", 0, 90) RANGE("step[DECODE bs=1]", 100, 40)
            RANGE("step[DECODE bs=1]", 140, 10) RANGE("step[DECODE bs=1]", 150, 12)
                RANGE("step[DECODE bs=1]", 162, 14));
    static const char *const parts[] = {"", "set-up", "", "", ""};
    const struct ta_table *table = ta_report_table(report, "steps.by_step");
    assert_int_equal(table->n_rows, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct ta_cell *part = ta_table_cell(table, i, ta_table_column(table, "part"));
        assert_int_equal(part->kind == TA_CELL_NULL, parts[i][0] == 0);
        if (part->kind != TA_CELL_NULL)
            assert_true(ta_slice_equal(part->text, ta_slice_of(parts[i])));
    }
    const struct ta_table *ranks = ta_report_table(report, "steps.by_rank");
    assert_int_equal(ta_table_cell(ranks, 0, ta_table_column(ranks, "set_up"))->i, 1);
    assert_int_equal(ta_table_cell(ranks, 0, ta_table_column(ranks, "max_ns"))->i, 90000);
    assert_int_equal(report_number(report, "steps.by_kind", "phase", "decode", "set_up"), 1);
    assert_int_equal(report_number(report, "steps.by_kind", "phase", "decode", "steps"), 3);
    assert_int_equal(report_number(report, "steps.by_kind", "phase", "decode", "total_ns"), 36000);
    assert_int_equal(report_number(report, "steps.by_kind", "phase", "prefill", "set_up"), 0);
    ta_report_free(report);
}

/* A marker that is written longer than the recording counts as far as that goes. */
static void longer_than_the_recording(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(EVENT_SPAN(
        "Trace", "PyTorch Profiler (0)", 9, 0, 100) RANGE("ProfilerStep#1", 40, 9000) OP(50, 10));
    assert_int_equal(
        report_number(report, "steps.by_step", "step", "ProfilerStep#1", "host_dur_ns"), 9000000);
    assert_int_equal(report_number(report, "steps.by_step", "step", "ProfilerStep#1", "counted_ns"),
                     60000);
    const struct ta_table *ranks = ta_report_table(report, "steps.by_rank");
    assert_int_equal(ta_table_cell(ranks, 0, ta_table_column(ranks, "total_ns"))->i, 60000);
    ta_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_loader),
        cmocka_unit_test(optimizer),
        cmocka_unit_test(engines),
        cmocka_unit_test(repeated_ranges),
        cmocka_unit_test(no_steps),
        cmocka_unit_test(numbers),
        cmocka_unit_test(rates),
        cmocka_unit_test(set_up),
        cmocka_unit_test(longer_than_the_recording),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
