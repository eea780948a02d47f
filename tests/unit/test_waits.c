/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits of the host and the part of them that does harm, and the rules on devices that wait for
 * their host: planted waits, recovered to the nanosecond, and devices that never wait. */
#include "events.h"
#include "report/tables.h"
#include "report_fixture.h"

/* ---- pieces of traces; times in µs ---------------------------------------------------------- */

#define SPAN(cat, name, ts, dur) EVENT_SPAN(cat, name, 1, ts, dur)
#define CALL(name, id, ts, dur) EVENT_CALL(name, id, 1, ts, dur)
#define LAUNCH(id, ts, dur) CALL("cudaLaunchKernel", id, ts, dur)
#define SYNC(ts, dur) CALL("cudaStreamSynchronize", 0, ts, dur)
#define KERNEL(id, ts, dur) EVENT_KERNEL("k" #id, id, 7, ts, dur)
#define COPY(id, bytes, ts, dur)                                                                   \
    "{'ph':'X','cat':'gpu_memcpy','name':'Memcpy DtoH (Device -> Pageable)','pid':0,'tid':7,"      \
    "'ts':" #ts ",'dur':" #dur ",'args':{'correlation':" #id ",'device':0,'bytes':" #bytes "}},"

/* Kernels in the queue up to 10 µs, or after 1 ms: fewer than four activities say
 * nothing of a run. */
#define BUSY_BEFORE                                                                                \
    LAUNCH(91, -40, 1)                                                                             \
    LAUNCH(92, -39, 1)                                                                             \
    LAUNCH(93, -38, 1) KERNEL(91, -30, 10) KERNEL(92, -20, 10) KERNEL(93, -10, 20)
#define BUSY_AFTER                                                                                 \
    LAUNCH(91, 916, 1)                                                                             \
    LAUNCH(92, 917, 1)                                                                             \
    LAUNCH(93, 918, 1) KERNEL(91, 1000, 1) KERNEL(92, 1001, 1) KERNEL(93, 1002, 1)

static int64_t wait(const struct ta_report *report, const char *kind, const char *column)
{
    return report_number(report, "sync.by_site", "kind", kind, column);
}

/* ---- waits ---------------------------------------------------------------------------------- */

/* The device ends 10 µs before the wait does, and gets new work 30 µs later. */
static void a_wait_that_does_harm(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(BUSY_BEFORE LAUNCH(1, 0, 5) KERNEL(1, 10, 90) SPAN(
        "cpu_op", "aten::item", 20, 100) SYNC(30, 80) LAUNCH(2, 130, 5) KERNEL(2, 140, 60));
    assert_int_equal(wait(report, "synchronization", "count"), 1);
    assert_int_equal(wait(report, "synchronization", "total_ns"), 80000);
    assert_int_equal(wait(report, "synchronization", "idle_during_ns"), 10000);
    assert_int_equal(wait(report, "synchronization", "idle_after_ns"), 30000);
    assert_int_equal(wait(report, "synchronization", "harmful_ns"), 40000);
    assert_int_equal(report_number(report, "sync.by_site", "site", "aten::item", "count"), 1);
    assert_int_equal(report_sum(report, "sync.by_rank", "harmful_ns"), 40000);
    assert_int_equal(report_sum(report, "sync.by_rank", "window_ns"), 230000);
    const struct ta_finding *finding = ta_report_finding(report, "value-read");
    assert_non_null(finding);
    assert_int_equal(finding->severity, TA_MEDIUM);
    assert_int_equal(finding->saving_low_ns, 10000 + 30000 / 2);
    assert_int_equal(finding->saving_high_ns, 40000);
    assert_non_null(strstr(finding->title, "aten::item"));
    ta_report_free(report);
}

/* The device works all the time. */
static void a_wait_that_does_none(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 0, 2) LAUNCH(2, 3, 2) KERNEL(1, 10, 90)
                                                    KERNEL(2, 100, 100) SYNC(30, 60));
    assert_int_equal(wait(report, "synchronization", "total_ns"), 60000);
    assert_int_equal(wait(report, "synchronization", "harmful_ns"), 0);
    assert_null(ta_report_finding(report, "sync-wait"));
    ta_report_free(report);
}

/* Behind the last activity nothing is waited for. */
static void a_wait_at_the_end(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 0, 5) KERNEL(1, 10, 10) SYNC(6, 50));
    assert_int_equal(wait(report, "synchronization", "total_ns"), 50000);
    assert_int_equal(wait(report, "synchronization", "harmful_ns"), 0);
    ta_report_free(report);
}

/* Copies of pageable memory wait, whatever their call is; small ones read a value. */
static void copies_that_wait(void **state)
{
    (void)state;
    struct ta_report *report =
        report_on_events(LAUNCH(1, 0, 5) KERNEL(1, 10, 10) CALL("cudaMemcpyAsync", 2, 30, 40)
                             COPY(2, 4, 60, 2) CALL("cudaMemcpyAsync", 3, 80, 40)
                                 COPY(3, 4096, 110, 2) LAUNCH(4, 130, 5) KERNEL(4, 140, 10));
    assert_int_equal(wait(report, "value read", "count"), 1);
    assert_int_equal(wait(report, "value read", "idle_during_ns"), 38000);
    assert_int_equal(wait(report, "value read", "idle_after_ns"), 10000); /* until the next wait */
    assert_int_equal(wait(report, "pageable copy", "count"), 1);
    assert_int_equal(wait(report, "pageable copy", "idle_during_ns"), 38000);
    assert_int_equal(wait(report, "pageable copy", "idle_after_ns"), 20000);
    assert_non_null(ta_report_finding(report, "value-read"));
    assert_null(ta_report_finding(report, "sync-wait"));
    ta_report_free(report);
}

/* The kernel was in the queue before the wait began: whatever holds it up, it is not the wait. */
static void a_wait_for_queued_work(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 0, 5) KERNEL(1, 10, 10) LAUNCH(
        2, 12, 3) SYNC(30, 80) KERNEL(2, 90, 10) LAUNCH(3, 115, 5) KERNEL(3, 125, 10));
    assert_int_equal(wait(report, "synchronization", "idle_during_ns"), 10000); /* 100…110 */
    assert_int_equal(wait(report, "synchronization", "idle_after_ns"), 15000);
    ta_report_free(report);
}

/* Waits of two threads share no moment: the device idles from 20 to 130. */
static void waits_of_two_threads(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 0, 5) KERNEL(1, 10, 10) SYNC(
        15, 75) "{'ph':'X','cat':'cuda_runtime','name':'cudaStreamSynchronize','pid':1,'tid':2,"
                "'ts':30,'dur':70,'args':{'correlation':0}}," LAUNCH(2, 120, 5) KERNEL(2, 130, 10));
    assert_int_equal(report_sum(report, "sync.by_rank", "harmful_ns"), 110000);
    assert_int_equal(report_sum(report, "sync.by_kind", "idle_during_ns"), 70000);
    assert_int_equal(report_sum(report, "sync.by_kind", "idle_after_ns"), 40000);
    ta_report_free(report);
}

/* ---- to what idle time belongs --------------------------------------------------------------- */

static int64_t owned(const struct ta_report *report, const char *owner)
{
    return report_number(report, "gpu_idle.by_owner", "owner", owner, "total_ns");
}

/* Two waits in a row, the second of 2 µs: of the 40 µs after them it owns no more than that. */
static void a_short_wait_after_a_long_one(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        LAUNCH(1, 0, 5) KERNEL(1, 10, 90) SPAN("cpu_op", "aten::nonzero", 20, 82) SYNC(22, 79)
            SYNC(103, 2) SPAN("cpu_op", "aten::mul", 106, 40) LAUNCH(2, 140, 5) KERNEL(2, 146, 60));
    /* 100…101 during the first, 103…105 during the second, and after it what is left of the first:
     * more than the rest. */
    assert_int_equal(owned(report, "synchronization"), 2000);
    assert_int_equal(owned(report, "value read"), 46000 - 2000);
    assert_int_equal(report_sum(report, "gpu_idle.by_owner", "total_ns"), 46000);
    assert_int_equal(
        report_number(report, "gpu_idle.owner_sites", "owner", "value read", "total_ns"), 44000);
    assert_null(ta_report_finding(report, "launch-bound"));
    ta_report_free(report);
}

/* The wait lasted 6 µs, so the host would be ahead by no more without it. */
static void a_wait_owns_what_it_lasted(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 0, 5) KERNEL(1, 10, 10) SYNC(14, 6) SPAN(
        "cpu_op", "aten::mul", 20, 50) LAUNCH(2, 70, 5) KERNEL(2, 76, 10));
    assert_int_equal(owned(report, "synchronization"), 6000);
    assert_int_equal(owned(report, "launching"), 56000 - 6000);
    ta_report_free(report);
}

/* After the wait the host computes 200 µs on the CPU: that and what follows is not the wait's. */
static void computation_after_a_wait(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        BUSY_BEFORE LAUNCH(1, 0, 5) KERNEL(1, 10, 990) SYNC(10, 990)
            SPAN("cpu_op", "aten::normal_", 1000, 200) LAUNCH(2, 1210, 5) KERNEL(2, 1220, 100));
    assert_int_equal(owned(report, "host computation"), 200000);
    assert_int_equal(owned(report, "value read"), TA_MISSING);
    assert_int_equal(owned(report, "synchronization"), TA_MISSING);
    assert_int_equal(
        report_number(report, "gpu_idle.by_cause", "cause", "host computation", "total_ns"),
        200000);
    const struct ta_finding *finding = ta_report_finding(report, "host-computation");
    assert_non_null(finding);
    assert_non_null(strstr(finding->title, "aten::normal_ computes on the CPU"));
    assert_non_null(strstr(finding->advice, "Generator"));
    assert_null(ta_report_finding(report, "launch-bound"));
    assert_null(ta_report_finding(report, "sync-wait"));
    ta_report_free(report);
}

/* Operators that launch, that only look at a tensor in another way, or that are short. */
static void no_computation(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        LAUNCH(1, 0, 5) KERNEL(1, 10, 10) SPAN("cpu_op", "aten::mm", 30, 300) LAUNCH(2, 320, 5)
            KERNEL(2, 330, 10) SPAN("cpu_op", "aten::view", 345, 300)
                SPAN("cpu_op", "aten::add", 650, 90) LAUNCH(3, 750, 5) KERNEL(3, 760, 10));
    assert_int_equal(report_sum(report, "gpu_idle.by_rank", "computation_ns"), 0);
    ta_report_free(report);
}

/* Short operators between two that compute belong to the same part of the model. */
static void computation_between_operators(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        LAUNCH(1, 0, 5) KERNEL(1, 10, 10) SPAN("cpu_op", "aten::addmm", 30, 300)
            SPAN("cpu_op", "aten::gelu", 335, 40) SPAN("cpu_op", "aten::addmm", 380, 300)
                LAUNCH(2, 700, 5) KERNEL(2, 706, 10));
    assert_int_equal(report_sum(report, "gpu_idle.by_rank", "computation_ns"), 650000);
    ta_report_free(report);
}

/* The main thread runs the backward pass, in which the thread of autograd asks the driver for
 * memory, and then launches. */
static void the_thread_of_autograd(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        EVENT_LAUNCH(1, 2, 0, 5) KERNEL(1, 10, 10)
            SPAN("python_function", "torch/autograd/graph.py(856): _engine_run_backward", 1, 80)
                EVENT_SPAN("cpu_op", "ConvolutionBackward0", 2, 2, 70)
                    EVENT_SPAN("cuda_runtime", "cudaFree", 2, 25, 40) LAUNCH(2, 90, 5)
                        KERNEL(2, 96, 10));
    assert_int_equal(
        report_number(report, "gpu_idle.by_cause", "cause", "memory allocation", "total_ns"),
        40000);
    ta_report_free(report);
}

/* ---- devices that wait for their host ------------------------------------------------------- */

/* 80 of 100 µs pass until the next launch ends, within an operator. */
static void launch_bound(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(BUSY_BEFORE LAUNCH(1, 0, 5) KERNEL(1, 10, 10) SPAN(
        "cpu_op", "aten::mm", 8, 90) LAUNCH(2, 85, 10) KERNEL(2, 100, 10));
    const struct ta_finding *finding = ta_report_finding(report, "launch-bound");
    assert_non_null(finding);
    assert_int_equal(finding->severity, TA_MEDIUM);
    assert_int_equal(report_sum(report, "gpu_idle.by_rank", "dispatch_ns"), 75000);
    assert_int_equal(finding->saving_low_ns, 80000 / 2);
    assert_int_equal(finding->saving_high_ns, 80000);
    assert_null(ta_report_finding(report, "input-bound"));
    ta_report_free(report);
}

/* The same time in a data loader. */
static void input_bound(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(BUSY_BEFORE LAUNCH(1, 0, 5) KERNEL(1, 10, 10) SPAN(
        "user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 20, 60)
                                                    LAUNCH(2, 85, 10) KERNEL(2, 100, 10));
    const struct ta_finding *finding = ta_report_finding(report, "input-bound");
    assert_non_null(finding);
    assert_int_equal(finding->severity, TA_MEDIUM);
    assert_int_equal(finding->saving_low_ns, 42000);
    assert_int_equal(finding->saving_high_ns, 60000);
    ta_report_free(report);
}

/* Before the first work and between the two kernels the loader runs a function that resizes: one
 * finding, and that is where the time goes. */
static void what_prepares_input(void **state)
{
    (void)state;
    static const char loader[] = "torch/utils/data/dataloader.py(728): __next__";
    static const char resize[] = "app/images.py(30): resize";
    struct ta_report *report = report_on_events(
        SPAN("user_annotation", "ProfilerStep#1", 0,
             1440) SPAN("python_function", "torch/utils/data/dataloader.py(728): __next__", 0, 600)
            SPAN("python_function", "app/images.py(30): resize", 10, 500) LAUNCH(1, 610, 5)
                KERNEL(1, 620, 100) SPAN("python_function",
                                         "torch/utils/data/dataloader.py(728): __next__", 720, 600)
                    SPAN("python_function", "app/images.py(30): resize", 730, 500)
                        LAUNCH(2, 1330, 5) KERNEL(2, 1340, 100) LAUNCH(3, 1341, 1)
                            LAUNCH(4, 1343, 1) KERNEL(3, 1440, 1) KERNEL(4, 1441, 1));
    const struct ta_finding *finding = ta_report_finding(report, "input-bound");
    assert_non_null(finding);
    assert_int_equal(finding->saving_high_ns, 1200000);
    assert_non_null(strstr(finding->why, resize));
    assert_null(strstr(finding->why, loader));
    assert_non_null(strstr(finding->why, "takes 1.00 ms of the 1.20 ms (83.3 %)"));
    assert_null(ta_report_finding(report, "host-before"));
    ta_report_free(report);
}

/* An image is normalized for half of the time before the first work: all of it is one phase. */
static void input_that_is_computed(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(
        SPAN("user_annotation", "ProfilerStep#1", 0, 1000)
            SPAN("python_function", "app/video.py(3): read", 0, 400)
                SPAN("python_function", "numpy/core/fromnumeric.py(69): clip", 400, 500)
                    LAUNCH(1, 910, 5) KERNEL(1, 920, 80) BUSY_AFTER);
    const struct ta_finding *finding = ta_report_finding(report, "host-computation");
    assert_non_null(finding);
    assert_non_null(strstr(finding->title, "prepares input on the CPU"));
    assert_in_range(finding->saving_low_ns, 540000, 552000);
    assert_null(ta_report_finding(report, "host-before"));
    ta_report_free(report);
}

/* A step that sets gradients to zero by kernels. */
static void gradients_set_to_zero(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(BUSY_BEFORE LAUNCH(1, 0, 5) KERNEL(1, 10, 10) SPAN(
        "cpu_op", "Optimizer.zero_grad#SGD.zero_grad", 8, 90) LAUNCH(2, 85, 10) KERNEL(2, 100, 10));
    const struct ta_finding *finding = ta_report_finding(report, "launch-bound");
    assert_non_null(finding);
    assert_non_null(strstr(finding->advice, "zero_grad(set_to_none=True)"));
    ta_report_free(report);
}

/* Each activity is launched while the one before it runs. */
static void neither(void **state)
{
    (void)state;
    struct ta_report *report = report_on_events(LAUNCH(1, 0, 5) LAUNCH(2, 6, 5) LAUNCH(
        3, 12, 5) KERNEL(1, 10, 50) KERNEL(2, 60, 50) KERNEL(3, 110, 50));
    assert_null(ta_report_finding(report, "launch-bound"));
    assert_null(ta_report_finding(report, "input-bound"));
    assert_null(ta_report_finding(report, "sync-wait"));
    ta_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_that_does_harm),
        cmocka_unit_test(a_wait_that_does_none),
        cmocka_unit_test(a_wait_at_the_end),
        cmocka_unit_test(copies_that_wait),
        cmocka_unit_test(a_wait_for_queued_work),
        cmocka_unit_test(waits_of_two_threads),
        cmocka_unit_test(a_short_wait_after_a_long_one),
        cmocka_unit_test(a_wait_owns_what_it_lasted),
        cmocka_unit_test(computation_after_a_wait),
        cmocka_unit_test(no_computation),
        cmocka_unit_test(computation_between_operators),
        cmocka_unit_test(the_thread_of_autograd),
        cmocka_unit_test(launch_bound),
        cmocka_unit_test(input_bound),
        cmocka_unit_test(what_prepares_input),
        cmocka_unit_test(input_that_is_computed),
        cmocka_unit_test(gradients_set_to_zero),
        cmocka_unit_test(neither),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
