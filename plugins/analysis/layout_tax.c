/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.copies_by_op: kernels that only cast, copy, join or reorder what others have computed,
 * and for which operator. */
#include "lib/outward.h"

#include <traceanalyze/analysis.h>

enum { WHAT, OP, FOR, CALLS, TOTAL, FIELDS };
enum { RANK, ALL_NS, RANK_FIELDS };

static const struct ta_field fields[FIELDS] = {
    [WHAT] = {"what", TA_FIELD_TEXT},     [OP] = {"op", TA_FIELD_TEXT},
    [FOR] = {"for", TA_FIELD_TEXT},       [CALLS] = {"calls", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field rank_fields[RANK_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK}, [ALL_NS] = {"total_ns", TA_FIELD_SUM}};

static const struct ta_partial_def partials[] = {
    {"copies", fields, FIELDS}, {"ranks", rank_fields, RANK_FIELDS}, {0}};

/* The first columns are the fields of the partial; one more follows. */
enum { SHARE = FIELDS };
static const struct ta_column copies_by_op_columns[] = {
    [WHAT] = {"what", "Kind", TA_TEXT,
              .doc = "What the kernel does, by its name: cast, copy, cat, layout (transposes, NCHW "
                     "to NHWC and the like) or pad"},
    [OP] = {"op", "Operator", TA_TEXT,
            .doc = "Outermost operator that asks for a cast or a copy, such as aten::to or "
                   "aten::contiguous; otherwise the operator that launched the kernel. Empty if "
                   "the launch was not recorded"},
    [FOR] = {"for", "Called in", TA_TEXT,
             .doc = "Operator around it, for which the copy is made; empty if there is none"},
    [CALLS] = {"calls", "Calls", TA_COUNT, .better = TA_LOWER,
               .doc = "Number of kernel executions"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
               .doc = "Sum of the kernel durations, all ranks"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
               .doc = "Total as a share of the time of all kernels"},
};

static const struct ta_table_def copies_by_op = {
    "kernels.copies_by_op",
    "Casts, copies and layout changes",
    TA_COLUMNS(copies_by_op_columns),
    .doc = "One row per kind of copy, operator and what it was for. The scalar `layout_tax_share` "
           "is the share of all of them in the kernel time.",
    .tier = TA_TIER_DETAIL,
    .order = {&copies_by_op_columns[TOTAL], TA_DESCENDING}};

/* Whether an operator does nothing but move, cast or view data. */
static bool moves_only(struct ta_slice name)
{
    static const char *const names[] = {
        "aten::copy_",        "aten::_to_copy",       "aten::to",
        "aten::contiguous",   "aten::clone",          "aten::reshape",
        "aten::cat",          "aten::concat",         "aten::stack",
        "aten::type_as",      "aten::_reshape_copy",  "aten::repeat",
        "aten::expand_copy",  "aten::float",          "aten::half",
        "aten::permute_copy", "aten::transpose_copy", "aten::flatten",
        "aten::_cast_Float",  "aten::_cast_Half",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ta_slice_equal(name, ta_slice_of(names[i])))
            return true;
    return false;
}

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_kernels kernels;
    struct ta_partial *out;
    struct ta_map pairs; /* number for each pair of operator names */
    struct ta_map rows;  /* by this number and the kernel */
    struct ta_outward outward;
};

static bool is_operator(void *user, ta_row row)
{
    const struct work *w = user;
    return ta_class_is_op(w->categories.at[w->spans.cat[row]].class);
}

static ta_row operator_above(struct work *w, ta_row row)
{
    return ta_outward_find(&w->outward, w->spans.parent[row], is_operator, w);
}

/* The search through enclosing spans stops at operators that compute; deep stacks of Python frames
 * lie between operators. */
enum { CLIMB_MAX = 8 };

static struct ta_slice name_of(const struct work *w, ta_row row)
{
    return row == TA_NO_ROW ? TA_LIT("") : ta_trace_text(w->trace, w->spans.name[row]);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    struct work w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .categories = ta_trace_categories(trace),
                     .kernels = ta_trace_kernels(trace),
                     .out = out[0]};
    w.outward.parent = w.spans.parent;
    if (w.kernels.n == 0)
        return TA_OK;
    int64_t *rank = TA_PARTIAL_ROW(out[1], ta_key_int(ta_trace_rank(trace)));
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel == TA_NO_KERNEL)
            continue;
        const struct ta_kernel_facts *facts = &w.kernels.at[a->kernel].facts;
        ta_sum(&rank[ALL_NS], w.spans.dur[a->span]);
        /* Skips fills and DMA requests, which are not copy kernels. */
        if (facts->kind != TA_KERNEL_COPY || strcmp(facts->family, "fill") == 0 ||
            strcmp(facts->family, "dma") == 0)
            continue;
        const char *what = w.kernels.at[a->kernel].facts.family;
        ta_row op = a->op;
        ta_row above = op == TA_NO_ROW ? TA_NO_ROW : operator_above(&w, op);
        for (int k = 0; k < CLIMB_MAX && above != TA_NO_ROW && moves_only(name_of(&w, above));
             k++) {
            op = above;
            above = operator_above(&w, above);
        }
        const uint64_t names = (uint64_t)(op == TA_NO_ROW ? 0 : w.spans.name[op]) << 32 |
                               (above == TA_NO_ROW ? 0 : w.spans.name[above]);
        const uint64_t *pair = ta_map_at(&w.pairs, names, w.pairs.n);
        int64_t *row = ta_partial_cached(w.out, &w.rows, (pair ? *pair : 0) << 32 | a->kernel,
                                         (const struct ta_key[]){ta_key_text(ta_slice_of(what)),
                                                                 ta_key_text(name_of(&w, op)),
                                                                 ta_key_text(name_of(&w, above))});
        ta_sum(&row[CALLS], 1);
        ta_sum(&row[TOTAL], w.spans.dur[a->span]);
    }
    const bool failed = w.pairs.failed || w.rows.failed;
    ta_map_free(&w.pairs);
    ta_map_free(&w.rows);
    ta_outward_free(&w.outward);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot index copies") : TA_OK;
}

static const struct ta_scalar_def scalar = {
    "layout_tax_share", "Casts and layout", TA_UNIT_RATIO, TA_LOWER,
    .doc = "Time of kernels that only cast, copy or reorder data, divided by the time of all "
           "kernels; dequantization does not count"};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    int64_t all = 0, total = 0;
    for (size_t i = 0; i < ta_partial_rows(merged[1]); i++)
        all = ta_add_sat(all, ta_partial_at(merged[1], i)[ALL_NS]);

    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        const struct ta_slice what = ta_partial_text(merged[0], row, WHAT);
        total = ta_add_sat(total, row[TOTAL]);
        TA_ROW(out, copies_by_op, [WHAT] = ta_text(what.len ? what : TA_LIT("copy")),
               [OP] = ta_text(ta_partial_text(merged[0], row, OP)),
               [FOR] = ta_text(ta_partial_text(merged[0], row, FOR)), [CALLS] = ta_int(row[CALLS]),
               [TOTAL] = ta_int(row[TOTAL]), [SHARE] = ta_share(row[TOTAL], all));
    }
    if (ta_partial_rows(merged[0]))
        ta_set_scalar(out, &scalar, ta_share(total, all));
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&copies_by_op, NULL};

static const struct ta_analysis_ops ops = {.section = "kernels",
                                           .place = 10,
                                           .scalars = &scalar,
                                           .n_scalars = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(
    analysis, layout_tax, &ops, .title = "Casts and layout",
    .summary =
        "Kernels that cast, copy or reorder data, and for which operator: kernels.copies_by_op",
    .version = "1");
