/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of kernels by step and by phase: where kernels belong is worked out by hand. */
#include "events.h"
#include "report_fixture.h"

#define SPAN EVENT_SPAN
/* A launch, and its kernel long after it. */
#define KERNEL(name, id, tid, ts, dur)                                                             \
    EVENT_LAUNCH(id, tid, ts, 1) EVENT_KERNEL(name, id, 7, 1##ts, dur)

static int64_t total(const struct ta_report *report, const char *id, const char *place,
                     const char *class)
{
    const struct ta_table *table = ta_report_table(report, id);
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (ta_slice_equal(ta_table_cell(table, i, 0)->text, ta_slice_of(place)) &&
            ta_row_reads(table, i, "class", class))
            return ta_table_cell(table, i, ta_table_column(table, "total_ns"))->i;
    return 0;
}

static size_t rows(const struct ta_report *report, const char *id)
{
    const struct ta_table *table = ta_report_table(report, id);
    return table ? table->n_rows : 0;
}

/* Step 9 comes before step 10; kernels of the other thread are of the step, those behind the last
 * marker of none. */
static void steps_in_order(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        SPAN("user_annotation", "ProfilerStep#9", 1, 100, 100)
            SPAN("user_annotation", "ProfilerStep#10", 1, 200, 100) KERNEL("sgemm_nn", 1, 1, 110, 7)
                KERNEL("sgemm_nn", 2, 2, 199, 5) KERNEL("softmax_warp_forward", 3, 1, 200, 3)
                    KERNEL("sgemm_nn", 4, 1, 300, 2));
    static const char id[] = "kernels.by_step";
    assert_int_equal(rows(report, id), 3);
    assert_int_equal(total(report, id, "ProfilerStep#9", "gemm"), 12000);
    assert_int_equal(total(report, id, "ProfilerStep#10", "softmax"), 3000);
    assert_int_equal(total(report, id, "(outside of steps)", "gemm"), 2000);
    assert_true(ta_slice_equal(ta_table_cell(ta_report_table(report, id), 0, 0)->text,
                               TA_LIT("ProfilerStep#9")));
    assert_int_equal(rows(report, "kernels.by_phase"), 0); /* nothing is annotated */
    ta_report_free(report);
}

/* Steps of an engine are steps as well, numbered where their name repeats, and no phases. */
static void steps_of_an_engine(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        SPAN("user_annotation", "step[EXTEND bs=1 toks=64]", 1, 100, 50)
            SPAN("user_annotation", "step[DECODE bs=1]", 1, 200, 50)
                SPAN("user_annotation", "step[DECODE bs=1]", 1, 300, 50)
                    SPAN("user_annotation", "attention", 1, 100, 30)
                        SPAN("user_annotation", "sample", 1, 201, 30)
                            KERNEL("sgemm_nn", 1, 1, 110, 7) KERNEL("sgemm_nn", 2, 1, 210, 5)
                                KERNEL("sgemm_nn", 3, 1, 310, 3) KERNEL("sgemm_nn", 4, 1, 360, 2));
    static const char id[] = "kernels.by_step";
    assert_int_equal(rows(report, id), 4);
    assert_int_equal(total(report, id, "step[EXTEND bs=1 toks=64]", "gemm"), 7000);
    assert_int_equal(total(report, id, "step[DECODE bs=1]", "gemm"), 5000);
    assert_int_equal(total(report, id, "step[DECODE bs=1] (2)", "gemm"), 3000);
    assert_int_equal(total(report, id, "(outside of steps)", "gemm"), 2000);
    assert_true(ta_slice_equal(ta_table_cell(ta_report_table(report, id), 0, 0)->text,
                               TA_LIT("step[EXTEND bs=1 toks=64]")));
    assert_int_equal(total(report, "kernels.by_phase", "attention", "gemm"), 7000);
    assert_int_equal(total(report, "kernels.by_phase", "sample", "gemm"), 5000);
    ta_report_free(report);
}

/* The outermost range counts; a thread without one is in that of another thread. */
static void phases_of_a_run(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        SPAN("user_annotation", "ProfilerStep#1", 1, 100, 400) //
        SPAN("user_annotation", "vae", 1, 300, 90)             //
        SPAN("user_annotation", "denoise", 1, 110, 100)        //
        SPAN("user_annotation", "attention", 1, 120, 50) SPAN("cpu_op", "mm", 1, 130, 20)
            KERNEL("sgemm_nn", 1, 1, 131, 7) KERNEL("sgemm_nn", 2, 1, 180, 5)         //
        KERNEL("softmax_warp_forward", 3, 2, 200, 3) KERNEL("sgemm_nn", 4, 1, 310, 9) //
        KERNEL("sgemm_nn", 5, 1, 400, 2));
    static const char id[] = "kernels.by_phase";
    assert_int_equal(rows(report, id), 4);
    assert_int_equal(total(report, id, "denoise", "gemm"), 12000);
    assert_int_equal(total(report, id, "denoise", "softmax"), 3000);
    assert_int_equal(total(report, id, "vae", "gemm"), 9000);
    assert_int_equal(total(report, id, "(outside of ranges)", "gemm"), 2000);
    assert_true(
        ta_slice_equal(ta_table_cell(ta_report_table(report, id), 0, 0)->text, TA_LIT("denoise")));
    ta_report_free(report);
}

/* A range around everything is no phase, those in it are; what it launches itself stays its own. */
static void a_frame_is_no_phase(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        SPAN("user_annotation", "pipeline", 1, 100, 400) SPAN("user_annotation", "text", 1, 110, 50)
            SPAN("user_annotation", "denoise", 1, 200, 200) KERNEL("sgemm_nn", 1, 1, 120, 10)
                KERNEL("sgemm_nn", 2, 1, 210, 20) KERNEL("sgemm_nn", 3, 1, 450, 4)
                    KERNEL("sgemm_nn", 4, 1, 600, 1));
    static const char id[] = "kernels.by_phase";
    assert_int_equal(total(report, id, "text", "gemm"), 10000);
    assert_int_equal(total(report, id, "denoise", "gemm"), 20000);
    assert_int_equal(total(report, id, "pipeline", "gemm"), 4000);
    assert_int_equal(total(report, id, "(outside of ranges)", "gemm"), 1000);
    ta_report_free(report);
}

/* Whatever the trace, steps and phases hold all kernels. */
static void all_kernels_are_somewhere(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct text json = {0};
        fixture_trace_text(&json, seed, 2500, 0, 0);
        struct ta_report *report = report_on_text(json.at);
        const int64_t all = report_sum(report, "kernels.by_class", "total_ns");
        if (rows(report, "kernels.by_step"))
            assert_int_equal(report_sum(report, "kernels.by_step", "total_ns"), all);
        if (rows(report, "kernels.by_phase"))
            assert_int_equal(report_sum(report, "kernels.by_phase", "total_ns"), all);
        ta_report_free(report);
        text_free(&json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_in_order),
        cmocka_unit_test(steps_of_an_engine),
        cmocka_unit_test(phases_of_a_run),
        cmocka_unit_test(a_frame_is_no_phase),
        cmocka_unit_test(all_kernels_are_somewhere),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
