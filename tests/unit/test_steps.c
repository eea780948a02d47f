/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps that the profiler marks: what devices do of each, on one device and on several. */
#include "events.h"
#include "report/tables.h"
#include "report_fixture.h"

#define STEP(number, ts, dur) EVENT_SPAN("user_annotation", "ProfilerStep#" #number, 1, ts, dur)
#define LAUNCH(id, ts) EVENT_LAUNCH(id, 1, ts, 2)
#define KERNEL(id, device, stream, ts, dur)                                                        \
    "{'ph':'X','cat':'kernel','name':'k','pid':" #device ",'tid':" #stream ",'ts':" #ts            \
    ",'dur':" #dur ",'args':{'correlation':" #id ",'device':" #device "}},"

static int64_t of_step(const struct ta_report *report, const char *step, const char *column)
{
    return report_number(report, "steps.by_step", "step", step, column);
}

/* Kernels at 10…30, 20…50, 25…28 and 60…65 of the first step, and one of the second that begins
 * within them. */
#define TWO_STEPS(other)                                                                           \
    STEP(4, 0, 20)                                                                                 \
    LAUNCH(1, 1)                                                                                   \
    LAUNCH(2, 4)                                                                                   \
    LAUNCH(3, 7)                                                                                   \
    LAUNCH(4, 10)                                                                                  \
    STEP(5, 20, 80) LAUNCH(5, 22) KERNEL(1, 0, 7, 10, 20) KERNEL(2, other, 8, 20, 30)              \
        KERNEL(3, 0, 9, 25, 3) KERNEL(4, 0, 7, 60, 5) KERNEL(5, 0, 7, 40, 12)

static void assert_two_steps(const struct ta_report *report)
{
    assert_int_equal(of_step(report, "ProfilerStep#4", "host_dur_ns"), 20000);
    assert_int_equal(of_step(report, "ProfilerStep#4", "kernels"), 4);
    assert_int_equal(of_step(report, "ProfilerStep#4", "gpu_start_ns"), 10000);
    assert_int_equal(of_step(report, "ProfilerStep#4", "gpu_dur_ns"), 55000);
    assert_int_equal(of_step(report, "ProfilerStep#4", "gpu_busy_ns"), 45000);
    assert_int_equal(of_step(report, "ProfilerStep#5", "kernels"), 1);
    assert_int_equal(of_step(report, "ProfilerStep#5", "gpu_busy_ns"), 12000);
}

static void on_one_device(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(TWO_STEPS(0));
    assert_two_steps(report);
    ta_report_free(report);
}

/* What runs on both at once is busy once. */
static void on_two_devices(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(TWO_STEPS(1));
    assert_two_steps(report);
    ta_report_free(report);
}

/* Two of three markers end long before what they launched: the device says how long those steps
 * take; the third waits for something else. */
static void markers_of_launches_only(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        STEP(1, 0, 10) LAUNCH(1, 1) STEP(2, 10, 10) LAUNCH(2, 11) STEP(3, 20, 90) LAUNCH(3, 21)
            KERNEL(1, 0, 7, 5, 30) KERNEL(2, 0, 7, 35, 40) KERNEL(3, 0, 7, 75, 35));
    assert_int_equal(of_step(report, "ProfilerStep#1", "counted_ns"), 30000);
    assert_int_equal(of_step(report, "ProfilerStep#2", "counted_ns"), 40000);
    assert_int_equal(of_step(report, "ProfilerStep#3", "counted_ns"), 90000);
    assert_int_equal(of_step(report, "ProfilerStep#1", "host_dur_ns"), 10000);
    const struct ta_scalar *median = ta_report_scalar(report, "step_time_p50_ns");
    assert_int_equal((int64_t)ta_cell_number(&median->value, 0), 40000);
    ta_report_free(report);
}

/* Costs of nothing are not shown; the share of what is used is, though it is nothing. */
static void figures_that_say_something(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(STEP(1, 0, 50) LAUNCH(
        1, 1) "{'ph':'X','cat':'kernel','name':'volta_sgemm_128x64_nn','pid':0,'tid':7,'ts':5,"
              "'dur':30,'args':{'correlation':1,'device':0}},");
    const struct {
        const char *id;
        bool is_shown;
    } figures[] = {{"gpu_busy_share", true},        {"comm_exposed_share", false},
                   {"memcpy_exposed_share", false}, {"kernels", true},
                   {"matrix_unit_share", true},     {"step_time_p50_ns", true}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const struct ta_scalar *scalar = ta_report_scalar(report, figures[i].id);
        assert_non_null(scalar);
        assert_int_equal(ta_scalar_is_shown(report, scalar), figures[i].is_shown);
    }
    ta_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_one_device),
        cmocka_unit_test(on_two_devices),
        cmocka_unit_test(markers_of_launches_only),
        cmocka_unit_test(figures_that_say_something),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
