/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call trees: figures worked out by hand, sums that hold whatever is folded, and names that differ
 * from rank to rank. */
#include "events.h"
#include "trace_fixture.h"

#include "plugin/registry.h"
#include "report/report.h"

#include <stdio.h>

/* Traces of texts with ' for ". */
static struct ta_report *report_on(const char *const *traces, size_t n)
{
    struct reading readings[4];
    for (size_t i = 0; i < n; i++) {
        struct text json = {0};
        text_add(&json, "{\"traceEvents\":[%s{}]}", traces[i]);
        for (char *c = json.at; *c; c++)
            if (*c == '\'')
                *c = '"';
        fixture_read_text(&fixture, json.at, &readings[i]);
        assert_int_equal(readings[i].status, TA_OK);
        text_free(&json);
    }
    struct ta_report *report = fixture_report(&fixture, readings, n);
    for (size_t i = 0; i < n; i++)
        reading_free(&readings[i]);
    return report;
}

static const struct ta_cell *cell(const struct ta_table *table, size_t row, const char *column)
{
    return ta_table_cell(table, row, ta_table_column(table, column));
}

/* The row at the end of a way of names from a thread down, "python/main/aten::mm". */
static size_t find(const struct ta_table *table, const char *way)
{
    size_t row = 0;
    int64_t depth = 0;
    for (const char *name = way; row < table->n_rows; row++) {
        const size_t length = strcspn(name, "/");
        if (cell(table, row, "depth")->i < depth)
            break;
        if (cell(table, row, "depth")->i > depth ||
            !ta_slice_equal(cell(table, row, "name")->text, (struct ta_slice){name, length}))
            continue;
        if (!name[length])
            return row;
        name += length + 1;
        depth++;
    }
    fail_msg("no node %s", way);
    return 0;
}

static int64_t number(const struct ta_report *report, const char *id, const char *way,
                      const char *column)
{
    const struct ta_table *table = ta_report_table(report, id);
    assert_non_null(table);
    const struct ta_cell *found = cell(table, find(table, way), column);
    return found->kind == TA_CELL_NULL ? TA_MISSING : found->i;
}

static int64_t sum(const struct ta_table *table, const char *column)
{
    int64_t total = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        if (cell(table, i, column)->kind == TA_CELL_INT)
            total += cell(table, i, column)->i;
    return total;
}

/* Totals are a node's own time and the totals of its callees; parents come before. */
static void assert_adds_up(const struct ta_table *table)
{
    static const char *const pairs[][2] = {{"host_self_ns", "host_total_ns"},
                                           {"device_self_ns", "device_total_ns"}};
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < table->n_rows; i++) {
            if (cell(table, i, pairs[p][1])->kind == TA_CELL_NULL)
                continue;
            int64_t total = cell(table, i, pairs[p][0])->i;
            for (size_t k = i + 1; k < table->n_rows; k++)
                if (cell(table, k, "parent")->kind == TA_CELL_INT &&
                    cell(table, k, "parent")->i == (int64_t)i + 1 &&
                    cell(table, k, pairs[p][1])->kind == TA_CELL_INT)
                    total += cell(table, k, pairs[p][1])->i;
            assert_int_equal(cell(table, i, pairs[p][1])->i, total);
        }
}

/* ---- pieces of traces; times in µs ---------------------------------------------------------- */

#define SPAN EVENT_SPAN
#define CALL EVENT_CALL
#define ACTIVITY(cat, name, id, ts, dur) EVENT_ACTIVITY(cat, name, id, 7, ts, dur)
#define THREAD(tid, name)                                                                          \
    "{'ph':'M','name':'thread_name','pid':1,'tid':" #tid ",'args':{'name':'" name "'}},"

/* Two steps on one thread, backward on another; a graph of two kernels, a copy nobody launched. */
#define TWO_THREADS                                                                                \
    THREAD(1, "thread 1 (python)")                                                                 \
    THREAD(2, "thread 2 (pt_autograd_0)")                                                          \
    THREAD(3, "thread 3 (pt_autograd_1)")                                                          \
    SPAN("user_annotation", "ProfilerStep#4", 1, 0, 50)                                            \
    SPAN("cpu_op", "aten::mm", 1, 10, 20)                                                          \
    CALL("cudaLaunchKernel", 1, 1, 15, 5)                                                          \
    ACTIVITY("kernel", "gemm", 1, 30, 40)                                                          \
    SPAN("user_annotation", "ProfilerStep#5", 1, 50, 50)                                           \
    SPAN("cpu_op", "aten::mm", 1, 60, 10)                                                          \
    CALL("cudaLaunchKernel", 2, 1, 62, 4)                                                          \
    ACTIVITY("kernel", "gemm", 2, 80, 30)                                                          \
    CALL("cudaGraphLaunch", 3, 1, 90, 5)                                                           \
    ACTIVITY("kernel", "gemm", 3, 120, 7)                                                          \
    ACTIVITY("kernel", "norm", 3, 130, 8)                                                          \
    SPAN("cpu_op", "MmBackward0", 2, 200, 30)                                                      \
    CALL("cudaLaunchKernel", 4, 2, 210, 6)                                                         \
    ACTIVITY("kernel", "gemm_bwd", 4, 220, 9)                                                      \
    SPAN("cpu_op", "MmBackward0", 3, 240, 5)                                                       \
    ACTIVITY("gpu_memcpy", "Memcpy DtoH", 0, 250, 3)

static void who_called_what(void **state)
{
    (void)state;
    struct ta_report *report = report_on((const char *const[]){TWO_THREADS}, 1);
    static const char id[] = "ops.call_tree", mm[] = "python/ProfilerStep/aten::mm";
    assert_int_equal(number(report, id, "python/ProfilerStep", "calls"), 2);
    assert_int_equal(number(report, id, "python/ProfilerStep", "host_total_ns"), 100000);
    assert_int_equal(number(report, id, "python/ProfilerStep", "host_self_ns"), 65000);
    assert_int_equal(number(report, id, "python/ProfilerStep", "device_total_ns"), 85000);
    assert_int_equal(number(report, id, mm, "calls"), 2);
    assert_int_equal(number(report, id, mm, "host_self_ns"), 21000);
    assert_int_equal(number(report, id, mm, "device_total_ns"), 70000);
    assert_int_equal(number(report, id, mm, "device_self_ns"), 0);
    assert_int_equal(
        number(report, id, "python/ProfilerStep/aten::mm/cudaLaunchKernel/gemm", "device_self_ns"),
        70000);
    assert_int_equal(
        number(report, id, "python/ProfilerStep/aten::mm/cudaLaunchKernel/gemm", "host_total_ns"),
        TA_MISSING);
    static const char graph[] = "python/ProfilerStep/cudaGraphLaunch";
    assert_int_equal(number(report, id, graph, "device_total_ns"), 15000);
    assert_int_equal(number(report, id, graph, "host_self_ns"), 5000);
    assert_int_equal(number(report, id, "pt_autograd", "calls"), 2);
    assert_int_equal(number(report, id, "pt_autograd/MmBackward0", "device_total_ns"), 9000);
    assert_int_equal(number(report, id, "pt_autograd/MmBackward0", "host_total_ns"), 35000);
    assert_int_equal(number(report, id, "(no launch recorded)", "device_total_ns"), 3000);
    assert_adds_up(ta_report_table(report, id));
    ta_report_free(report);
}

/* Addresses of objects and numbers of steps and threads differ, the places in the program do not.
 */
static void ranks_merge_by_name(void **state)
{
    (void)state;
    struct ta_report *report = report_on(
        (const char *const[]){
            THREAD(1, "thread 1 (python)")
                SPAN("python_function", "<built-in method mm of type object at 0x7f10>", 1, 0, 10)
                    SPAN("cpu_op", "aten::mm", 1, 2, 5),
            THREAD(9, "thread 9 (python)")
                SPAN("python_function", "<built-in method mm of type object at 0x55c0>", 9, 0, 20)
                    SPAN("cpu_op", "aten::mm", 9, 2, 9)},
        2);
    static const char mm[] = "python/built-in method mm of type object/aten::mm";
    assert_int_equal(ta_report_table(report, "ops.call_tree")->n_rows, 3);
    assert_int_equal(number(report, "ops.call_tree", "python", "calls"), 2);
    assert_int_equal(number(report, "ops.call_tree", mm, "calls"), 2);
    assert_int_equal(number(report, "ops.call_tree", mm, "host_total_ns"), 14000);
    assert_null(ta_report_table(report, "ops.module_tree"));
    ta_report_free(report);
}

/* Block_0 holds Linear_0 and Block_1, which holds Linear_1; 12 µs of the device are in no module.
 */
static void time_of_modules(void **state)
{
    (void)state;
    struct ta_report *report = report_on(
        (const char *const[]){SPAN("python_function", "model.py(1): forward", 1, 0, 100) //
                              SPAN("python_function", "nn.Module: Block_0", 1, 10, 80)   //
                              SPAN("python_function", "nn.Module: Linear_0", 1, 15, 10)  //
                              CALL("cudaLaunchKernel", 1, 1, 16, 4)                      //
                              ACTIVITY("kernel", "gemm", 1, 30, 5)                       //
                              SPAN("python_function", "nn.Module: Block_1", 1, 30, 40)   //
                              SPAN("cpu_op", "aten::add", 1, 32, 6)                      //
                              CALL("cudaLaunchKernel", 2, 1, 33, 4)                      //
                              ACTIVITY("kernel", "add", 2, 40, 3)                        //
                              SPAN("python_function", "nn.Module: Linear_1", 1, 50, 10)  //
                              CALL("cudaLaunchKernel", 3, 1, 52, 4)                      //
                              ACTIVITY("kernel", "gemm", 3, 60, 7)                       //
                              CALL("cudaLaunchKernel", 4, 1, 95, 4)                      //
                              ACTIVITY("kernel", "loss", 4, 100, 12)},
        1);
    static const char id[] = "ops.module_tree";
    assert_int_equal(number(report, id, "Block_0", "device_total_ns"), 15000);
    assert_int_equal(number(report, id, "Block_0", "device_self_ns"), 0);
    assert_int_equal(number(report, id, "Block_0", "host_self_ns"), 30000);
    assert_int_equal(number(report, id, "Block_0/Block_1", "device_self_ns"), 3000);
    assert_int_equal(number(report, id, "Block_0/Block_1/Linear_1", "device_self_ns"), 7000);
    assert_int_equal(number(report, id, "(outside of modules)", "device_self_ns"), 12000);
    assert_int_equal(number(report, id, "(outside of modules)", "host_self_ns"), 20000);
    assert_adds_up(ta_report_table(report, id));
    const struct ta_table *classes = ta_report_table(report, "ops.by_module");
    assert_int_equal(classes->n_rows, 2);
    /* Block: the outer one holds the inner one, so 15 µs and 80 µs, not 25 and 120. */
    assert_true(ta_slice_equal(cell(classes, 0, "module")->text, TA_LIT("Block")));
    assert_int_equal(cell(classes, 0, "instances")->i, 2);
    assert_int_equal(cell(classes, 0, "calls")->i, 2);
    assert_int_equal(cell(classes, 0, "device_total_ns")->i, 15000);
    assert_int_equal(cell(classes, 0, "device_self_ns")->i, 3000);
    assert_int_equal(cell(classes, 0, "host_total_ns")->i, 80000);
    assert_int_equal(cell(classes, 0, "host_self_ns")->i, 60000);
    assert_true(ta_slice_equal(cell(classes, 1, "module")->text, TA_LIT("Linear")));
    assert_int_equal(cell(classes, 1, "device_total_ns")->i, 12000);
    ta_report_free(report);
}

/* ---- folding --------------------------------------------------------------------------------- */

static void keep_nodes(const char *value)
{
    char assignment[64];
    snprintf(assignment, sizeof assignment, "call_tree.nodes=%s", value);
    assert_int_equal(
        ta_registry_set(&fixture.ctx, fixture.registry, TA_SET_OPTION, assignment, "test"), TA_OK);
}

/* Whatever is folded, the sums are those of ops.by_name and of all activities, and the largest
 * nodes are there. */
static void sums_stay(void **state)
{
    (void)state;
    static const char *const kept[] = {"10", "37", "100000"};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct text json = {0};
        struct reading r;
        fixture_trace_text(&json, seed, 3000, 0, 0);
        fixture_read_text(&fixture, json.at, &r);
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
            keep_nodes(kept[i]);
            struct ta_report *report = fixture_report(&fixture, &r, 1);
            const struct ta_table *tree = ta_report_table(report, "ops.call_tree");
            int64_t device = sum(ta_report_table(report, "gpu_time.by_name"), "total_ns"), n = 0;
            assert_int_equal(sum(tree, "host_self_ns"),
                             sum(ta_report_table(report, "ops.by_name"), "self_ns"));
            assert_int_equal(sum(tree, "device_self_ns"), device);
            assert_adds_up(tree);
            for (size_t row = 0; row < tree->n_rows; row++)
                n += cell(tree, row, "folded")->kind == TA_CELL_NULL;
            assert_true(n <= atoi(kept[i]));
            assert_int_equal(i == 2, sum(tree, "folded") == 0);
            ta_report_free(report);
        }
        reading_free(&r);
        text_free(&json);
    }
    keep_nodes("500");
}

/* A stack of 3000 calls, each of another function: deeper than any that is drawn. */
static void deep_recursion(void **state)
{
    (void)state;
    struct text json = {0};
    struct reading r;
    enum { DEEP = 3000 };
    text_add(&json, "{\"traceEvents\":[");
    for (int i = 0; i < DEEP; i++)
        text_add(&json,
                 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"f%d\",\"pid\":1,\"tid\":1,\"ts\":%d,"
                 "\"dur\":%d},",
                 i, i, 2 * (DEEP - i));
    text_add(&json, "{}]}");
    fixture_read_text(&fixture, json.at, &r);
    struct ta_report *report = fixture_report(&fixture, &r, 1);
    const struct ta_table *tree = ta_report_table(report, "ops.call_tree");
    assert_int_equal(sum(tree, "host_self_ns"), 2 * DEEP * INT64_C(1000));
    assert_int_equal(tree->n_rows, 501);
    assert_int_equal(sum(tree, "folded"), DEEP + 1 - 500);
    ta_report_free(report);
    reading_free(&r);
    text_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_called_what), cmocka_unit_test(ranks_merge_by_name),
        cmocka_unit_test(time_of_modules), cmocka_unit_test(sums_stay),
        cmocka_unit_test(deep_recursion),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
