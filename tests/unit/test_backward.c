/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The backward pass by the operators of the forward pass: figures worked out by hand. */
#include "events.h"
#include "trace_fixture.h"

#include "analyze/timeline/timeline.h"
#include "model/backward.h"
#include "report/report.h"

#define OP(name, tid, ts, dur) EVENT_SPAN("cpu_op", name, tid, ts, dur)
#define SPAN EVENT_SPAN
#define EVALUATE "autograd::engine::evaluate_function: "
#define WORK(id, tid, ts, begin, dur)                                                              \
    EVENT_LAUNCH(id, tid, ts, 2) EVENT_KERNEL("work", id, 7, begin, dur)
#define ARROW(phase, id, tid, ts)                                                                  \
    "{'ph':'" phase "','cat':'fwdbwd','name':'fwdbwd','id':" #id ",'pid':1,'tid':" #tid            \
    ",'ts':" #ts "},"

/* A product within a module and a loss outside; of the product's backward pass a part is computed
 * again, and its gradient is added outside of the node; one arrow leads nowhere.  Ends of arrows
 * stand before their begins, as torch writes them. */
/* clang-format off */
#define TRACE \
    ARROW("f", 1, 2, 242) ARROW("f", 2, 2, 202) ARROW("f", 3, 2, 332) ARROW("f", 9, 2, 400) \
    SPAN("python_function", "nn.Module: Linear_3", 1, 0, 100) \
    OP("aten::linear", 1, 10, 80) \
    OP("aten::addmm", 1, 10, 40) ARROW("s", 1, 1, 10) WORK(1, 1, 20, 520, 30) \
    OP("aten::mse_loss", 1, 110, 20) ARROW("s", 2, 1, 110) WORK(2, 1, 115, 560, 4) \
    OP(EVALUATE "MseLossBackward0", 2, 200, 30) \
    OP("MseLossBackward0", 2, 202, 20) WORK(3, 2, 205, 570, 6) \
    OP(EVALUATE "AddmmBackward0", 2, 240, 50) \
    OP("AddmmBackward0", 2, 242, 40) WORK(4, 2, 245, 580, 50) \
    OP("aten::relu", 2, 260, 10) ARROW("s", 3, 2, 260) WORK(6, 2, 262, 640, 7) \
    OP("aten::add_", 2, 284, 5) WORK(5, 2, 285, 650, 3) \
    OP(EVALUATE "AccumulateGrad", 2, 300, 20) WORK(7, 2, 305, 660, 9) \
    OP(EVALUATE "ReluBackward0", 2, 330, 10) \
    OP("ReluBackward0", 2, 332, 6)
/* clang-format on */

static const char *name_of(const struct reading *r, ta_row row)
{
    return ta_trace_text(r->trace, ta_trace_spans(r->trace).name[row]).ptr;
}

static void assert_starts(const char *text, const char *start)
{
    assert_memory_equal(text, start, strlen(start));
}

/* ---- links ----------------------------------------------------------------------------------- */

static void arrows_link_operators(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(&fixture, TRACE, &r);
    const struct ta_backward_links *links = ta_trace_backward(r.trace);
    assert_non_null(links);
    assert_int_equal(links->n, 3);
    assert_int_equal(links->n_loose, 1);
    /* Of two operators that begin at once the inner one was recorded. */
    assert_starts(name_of(&r, links->at[0].forward), "aten::addmm");
    assert_starts(name_of(&r, links->at[0].backward), "AddmmBackward0");
    assert_starts(name_of(&r, links->at[0].node), EVALUATE "AddmmBackward0");
    assert_starts(name_of(&r, links->at[1].forward), "aten::mse_loss");
    assert_starts(name_of(&r, links->at[2].backward), "ReluBackward0");
    assert_ptr_equal(ta_trace_backward(r.trace), links);
    reading_free(&r);
}

/* Arrows from launches to kernels are not kept for it. */
static void other_arrows_do_not_count(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(
        &fixture,
        OP("a", 1, 0, 5) OP(
            "b", 1, 10, 5) "{'ph':'s','cat':'ac2g','name':'ac2g','id':1,'pid':1,'tid':1,'ts':0},"
                           "{'ph':'f','cat':'ac2g','name':'ac2g','id':1,'pid':1,'tid':1,'ts':10},",
        &r);
    assert_int_equal(ta_trace_flows(r.trace).n, 0);
    assert_int_equal(ta_trace_backward(r.trace)->n, 0);
    reading_free(&r);
}

/* Ends that do not fit together are counted, and nothing is made of them. */
static void odd_arrows_link_nothing(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(
        &fixture,
        OP("a", 1, 0, 5)
            OP("b", 1, 10,
               5) "{'ph':'s','cat':'fwdbwd','name':'fwdbwd','pid':1,'tid':1,'ts':0},"
                  "{'ph':'f','cat':'fwdbwd','name':'fwdbwd','pid':1,'tid':1,'ts':10},"
                  "{'ph':'f','cat':'fwdbwd','name':'fwdbwd','id':{},'pid':[],'ts':10}," ARROW(
                      "s", 2, 1, 1) ARROW("f", 2, 1, 10) ARROW("f", 3, 1, 10) ARROW("s", 4, 1, 0)
                      ARROW("f", 4, 9, 10) ARROW("t", 4, 1, 10),
        &r);
    const struct ta_backward_links *links = ta_trace_backward(r.trace);
    assert_int_equal(links->n, 0);
    assert_int_equal(links->n_loose, 4);
    reading_free(&r);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct ta_cell *cell(const struct ta_table *table, size_t row, const char *column)
{
    return ta_table_cell(table, row, ta_table_column(table, column));
}

/* Calls and times in ns of the row whose first cells hold these texts. */
static void assert_row(const struct ta_table *table, const char *first, const char *second,
                       const int64_t expected[5])
{
    static const char *const columns[] = {"calls", "forward_device_ns", "backward_device_ns",
                                          "forward_host_ns", "backward_host_ns"};
    assert_non_null(table);
    for (size_t row = 0; row < table->n_rows; row++) {
        if (!ta_slice_equal(ta_table_cell(table, row, 0)->text, ta_slice_of(first)) ||
            (second && !ta_slice_equal(ta_table_cell(table, row, 1)->text, ta_slice_of(second))))
            continue;
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(cell(table, row, columns[i])->i, expected[i] * (i ? 1000 : 1));
        return;
    }
    fail_msg("no row of \"%s\"", first);
}

static void work_belongs_to_the_innermost_operator(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(&fixture, TRACE, &r);
    struct ta_report *report = fixture_report(&fixture, &r, 1);
    const struct ta_table *ops = ta_report_table(report, "ops.backward");
    const struct ta_table *modules = ta_report_table(report, "ops.backward_by_module");
    assert_row(ops, "aten::addmm", "AddmmBackward0", (const int64_t[]){1, 30, 53, 40, 40});
    assert_row(ops, "aten::relu", "ReluBackward0", (const int64_t[]){1, 7, 0, 10, 10});
    assert_row(ops, "aten::mse_loss", "MseLossBackward0", (const int64_t[]){1, 4, 6, 20, 30});
    assert_row(ops, "", "AccumulateGrad", (const int64_t[]){1, 0, 9, 0, 20});
    assert_int_equal(ops->n_rows, 4);
    assert_row(modules, "Linear", NULL, (const int64_t[]){1, 30, 53, 40, 40});
    assert_row(modules, "", NULL, (const int64_t[]){2, 11, 6, 30, 40});
    assert_int_equal(modules->n_rows, 2);
    assert_int_equal(cell(ops, 0, "device_ns")->i, 83000); /* the most first */
    assert_true(cell(ops, 0, "ratio")->f == 53.0 / 30);
    ta_report_free(report);
    reading_free(&r);
}

static void without_devices_the_host_counts(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(&fixture,
                        OP("aten::mm", 1, 0, 10) ARROW("s", 1, 1, 0) OP("MmBackward0", 1, 20, 25)
                            ARROW("f", 1, 1, 20),
                        &r);
    struct ta_report *report = fixture_report(&fixture, &r, 1);
    const struct ta_table *ops = ta_report_table(report, "ops.backward");
    assert_int_equal(ops->n_rows, 1);
    assert_int_equal(cell(ops, 0, "device_ns")->kind, TA_CELL_NULL);
    assert_true(cell(ops, 0, "ratio")->f == 2.5);
    assert_null(ta_report_table(report, "ops.backward_by_module"));
    ta_report_free(report);
    reading_free(&r);
}

/* ---- timeline -------------------------------------------------------------------------------- */

/* A node says how long ago its operator began, and on which thread. */
static void slices_lead_to_their_operator(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(&fixture, TRACE, &r);
    struct ta_timeline_pool *pool = ta_timeline_pool_new();
    struct ta_timeline_part **parts = calloc(1, sizeof(void *));
    assert_non_null(pool);
    assert_non_null(parts);
    parts[0] = ta_timeline_pack(&fixture.ctx, pool, r.trace, r.trace, 1000);
    assert_non_null(parts[0]);
    parts[0]->file.path = "";
    struct ta_timeline *timeline = ta_timeline_join(&fixture.ctx, pool, parts, 1);
    assert_non_null(timeline);
    const struct ta_timeline_file *file = &timeline->files[0];
    size_t found = 0;
    for (size_t t = 0; t < file->n_tracks; t++)
        for (size_t l = 0; l < file->tracks[t].n_lanes; l++) {
            struct ta_timeline_cursor cursor =
                ta_timeline_open(file, &file->tracks[t], &file->tracks[t].lanes[l]);
            struct ta_timeline_slice slice;
            while (ta_timeline_next(&cursor, &slice)) {
                if (file->tracks[t].device != TA_MISSING || slice.launch_track == UINT32_MAX)
                    continue;
                const struct ta_slice name = timeline->labels[slice.label].name;
                const bool is_product = ta_slice_equal(name, TA_LIT("AddmmBackward0"));
                found++;
                if (is_product)
                    assert_int_equal(slice.delay_ns, (242 - 10) * 1000);
                assert_string_equal(file->tracks[slice.launch_track].tid,
                                    memmem(name.ptr, name.len, "ReluBackward0", 13) ? "2" : "1");
            }
        }
    assert_int_equal(found, 6); /* both what evaluates a node and the node */
    ta_timeline_free(timeline);
    reading_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrows_link_operators),
        cmocka_unit_test(other_arrows_do_not_count),
        cmocka_unit_test(odd_arrows_link_nothing),
        cmocka_unit_test(work_belongs_to_the_innermost_operator),
        cmocka_unit_test(without_devices_the_host_counts),
        cmocka_unit_test(slices_lead_to_their_operator),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
