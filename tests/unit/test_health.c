/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of traces: each planted defect is found, with its size, and a sound trace is trusted. */
#include "report/tables.h"
#include "report_fixture.h"

/* A trace of `n` operators with a launch and a kernel each.  Of every ten the first `unlinked`
 * kernels name no launch, the next `lost` are not there, and the next `early` begin 2 µs before
 * their call. */
static struct ta_report *report_on(int n, int unlinked, int lost, int early)
{
    struct text json = {0};
    text_add(&json, "{\"traceEvents\":[");
    for (int i = 0; i < n; i++) {
        const int at = 1000 + i * 100, kind = i % 10;
        const bool is_lost = kind >= unlinked && kind < unlinked + lost;
        const bool is_early = kind >= unlinked + lost && kind < unlinked + lost + early;
        text_add(&json,
                 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,"
                 "\"ts\":%d.001,\"dur\":50},"
                 "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
                 "\"tid\":1,\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}},",
                 at, at + 10, i + 1);
        if (!is_lost)
            text_add(&json,
                     "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                     "\"ts\":%d,\"dur\":20,\"args\":{\"device\":0,\"correlation\":%d}},",
                     is_early ? at + 8 : at + 20, kind < unlinked ? 0 : i + 1);
    }
    text_add(&json, "{}]}");
    struct ta_report *report = report_on_text(json.at);
    text_free(&json);
    return report;
}

static double value(const struct ta_report *report, const char *check)
{
    const struct ta_table *table = ta_report_table(report, "health.checks");
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (ta_slice_equal(ta_table_cell(table, i, 0)->text, ta_slice_of(check)))
            return ta_cell_number(ta_table_cell(table, i, ta_table_column(table, "value")), -1);
    return -1;
}

static double trust(const struct ta_report *report)
{
    return ta_cell_number(&ta_report_scalar(report, "trust_score")->value, -1);
}

#define assert_near(actual, expected)                                                              \
    assert_true((actual) > (expected)-1e-9 && (actual) < (expected) + 1e-9)

static void a_sound_trace(void **state)
{
    (void)state;
    struct ta_report *report = report_on(200, 0, 0, 0);
    assert_near(value(report, "launches linked"), 1);
    assert_near(value(report, "kernels lost"), 0);
    assert_near(value(report, "activities before their call"), 0);
    assert_near(value(report, "resolution"), 1);
    assert_near(trust(report), 1);
    ta_report_free(report);
}

static void planted_defects(void **state)
{
    (void)state;
    /* Of ten: two unlinked, three lost, one early; a call whose kernel is unlinked has none. */
    struct ta_report *report = report_on(200, 2, 3, 1);
    assert_near(value(report, "launches linked"), 5.0 / 7);
    /* The first five calls come before the first whose kernel is known. */
    assert_near(value(report, "kernels lost at the start"), 5.0 / 200);
    assert_near(value(report, "kernels lost"), 95.0 / 200);
    assert_near(value(report, "activities before their call"), 1.0 / 5);
    assert_near(trust(report),
                (1 - 0.5 * 2 / 7) * (1 - 0.2) * (1 - 95.0 / 200) * (1 - 0.5 * 5 / 200));
    ta_report_free(report);
}

/* Some profilers record what the driver does for a launch as a call within it. */
static void launches_of_the_driver_are_part_of_the_call(void **state)
{
    (void)state;
    struct text json = {0};
    text_add(&json, "{\"traceEvents\":[");
    for (int i = 0; i < 40; i++)
        text_add(&json,
                 "{\"ph\":\"X\",\"cat\":\"xpu_runtime\",\"name\":\"urEnqueueKernelLaunch\","
                 "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":9,\"args\":{\"correlation\":%d}},"
                 "{\"ph\":\"X\",\"cat\":\"xpu_driver\",\"name\":"
                 "\"zeCommandListAppendLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":5,"
                 "\"args\":{\"correlation\":%d}},"
                 "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                 "\"ts\":%d,\"dur\":20,\"args\":{\"device\":0,\"correlation\":%d}},",
                 100 * i, i + 1, 100 * i + 2, i + 1, 100 * i + 30, i + 1);
    text_add(&json, "{}]}");
    struct ta_report *report = report_on_text(json.at);
    text_free(&json);
    assert_near(value(report, "launches linked"), 1);
    assert_near(value(report, "kernels lost"), -1); /* none was looked for */
    ta_report_free(report);
}

/* Tools whose device work has no category that is known say which process is a device; some of
 * them are known. */
static void device_work_of_no_known_category(void **state)
{
    (void)state;
    static const char *const names[] = {"/device:GPU:0", "GPU0", "Ascend Hardware",
                                        "/host:CPU",     "CPU",  "/device:CPU:0"};
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        const size_t name = i / 2;
        const bool has_kernel = i % 2; /* then devices are known all the same */
        struct text json = {0};
        text_add(&json,
                 "{\"traceEvents\":[{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{"
                 "\"name\":\"%s\"}},"
                 "{\"ph\":\"X\",\"name\":\"run\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":90},"
                 "{\"ph\":\"X\",\"name\":\"fusion.1\",\"pid\":3,\"tid\":1,\"ts\":9,\"dur\":9},"
                 "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"k\",\"pid\":%d,\"tid\":1,\"ts\":30,"
                 "\"dur\":9}]}",
                 names[name], has_kernel ? "kernel" : "cpu_op", has_kernel ? 3 : 1);
        struct ta_report *report = report_on_text(json.at);
        text_free(&json);
        assert_near(value(report, "devices as the host's"),
                    name == 1 && !has_kernel ? 1.0 / 3 : -1);
        ta_report_free(report);
    }
}

/* Nothing of a device was recorded: no launch is lost. */
static void only_the_host(void **state)
{
    (void)state;
    struct ta_report *report = report_on(200, 0, 10, 0);
    assert_near(value(report, "kernels lost"), -1);
    assert_near(value(report, "launches linked"), -1);
    assert_near(trust(report), 1);
    ta_report_free(report);
}

/* A thread numbers its operators one by one; of a thinned out trace the numbers leap. */
static void operators_left_out(void **state)
{
    (void)state;
    for (int keep = 1; keep <= 2; keep++) {
        struct text json = {0};
        text_add(&json, "{\"traceEvents\":[");
        for (int i = 0; i < 100; i++)
            text_add(&json,
                     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,"
                     "\"tid\":1,\"ts\":%d,\"dur\":5,\"args\":{\"External id\":%d}},",
                     10 * i, i + 1 + (keep == 2 ? i / 4 * 40 : 0));
        text_add(&json, "{}]}");
        struct ta_report *report = report_on_text(json.at);
        assert_near(value(report, "operators missing"), keep == 1 ? 0 : 24.0 / 99);
        ta_report_free(report);
        text_free(&json);
    }
}

/* A step without its kernels is listed and does not count. */
static void steps_that_lack_kernels(void **state)
{
    (void)state;
    struct text json = {0};
    text_add(&json, "{\"traceEvents\":[");
    for (int i = 0; i < 60; i++) {
        const int at = 1000 * i;
        if (i % 20 == 0)
            text_add(&json,
                     "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\","
                     "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d},",
                     i / 20, at, 19500 - i);
        text_add(&json,
                 "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
                 "\"tid\":1,\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}},",
                 at + 10, i + 1);
        if (i >= 20 || i % 10 != 5)
            text_add(&json,
                     "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                     "\"ts\":%d,\"dur\":20,\"args\":{\"device\":0,\"correlation\":%d}},",
                     at + 20, i + 1);
    }
    text_add(&json, "{}]}");
    struct ta_report *report = report_on_text(json.at);
    assert_int_equal(report_number(report, "steps.by_step", "step", "ProfilerStep#0", "lost"), 2);
    assert_int_equal(report_number(report, "steps.by_step", "step", "ProfilerStep#0", "kernels"),
                     18);
    assert_int_equal(report_number(report, "steps.by_step", "step", "ProfilerStep#0", "counted_ns"),
                     0); /* none */
    assert_int_equal(report_number(report, "steps.by_step", "step", "ProfilerStep#2", "counted_ns"),
                     19460000);
    /* The median of 19.48 and 19.46 ms, not of all three. */
    const struct ta_scalar *median = ta_report_scalar(report, "step_time_p50_ns");
    assert_int_equal((int64_t)ta_cell_number(&median->value, 0), 19470000);
    ta_report_free(report);
    text_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_the_driver_are_part_of_the_call),
        cmocka_unit_test(device_work_of_no_known_category),
        cmocka_unit_test(a_sound_trace),
        cmocka_unit_test(planted_defects),
        cmocka_unit_test(only_the_host),
        cmocka_unit_test(operators_left_out),
        cmocka_unit_test(steps_that_lack_kernels),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
