/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.kernels, diff.ops, diff.stages, diff.copies: what changed, name by name. */
#include "compare/order.h"
#include "report/report.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/table.h"

#include <math.h>

/* What changed comes first: paper has room for that. */
enum {
    NAME,
    MATCHED_AS,
    STATUS,
    BASE_TOTAL,
    NEW_TOTAL,
    DELTA,
    CHANGE,
    GROUP,
    BASE_CALLS,
    NEW_CALLS,
    RATIO,
    CI_LOW,
    CI_HIGH,
    P_VALUE,
    Q_VALUE,
    SPREAD,
    DETECTABLE,
    METHOD,
    CONFIDENCE,
    SET
};

static const struct ta_column columns[] = {
    [NAME] = {"name", "Name", TA_TEXT, .doc = "Name in the baseline; of what was added its own"},
    [MATCHED_AS] = {"matched_as", "Is now", TA_TEXT,
                    .doc = "Name on the other side where it is another one; empty otherwise"},
    [STATUS] = {"status", "Status", TA_WORD,
                .doc = "same: equal calls and time; changed; added: not in the baseline; removed: "
                       "only there"},
    [BASE_TOTAL] = {"base_total_ns", "Before", TA_NS, .better = TA_LOWER,
                    .doc = "Sum of durations in the baseline over all ranks"},
    [NEW_TOTAL] = {"new_total_ns", "After", TA_NS, .better = TA_LOWER,
                   .doc = "Sum of durations in the other run over all ranks"},
    [DELTA] = {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
               .doc = "After minus before"},
    [CHANGE] = {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, .better = TA_LOWER,
                .doc = "Change over before; with an interval by the geometric means of all runs"},
    [GROUP] = {"group", "Class", TA_TEXT,
               .doc = "Class or category; of several that of the longest time"},
    [BASE_CALLS] = {"base_calls", "Calls before", TA_COUNT,
                    .doc = "Calls in the baseline, all ranks"},
    [NEW_CALLS] = {"new_calls", "Calls after", TA_COUNT,
                   .doc = "Calls in the other run, all ranks"},
    [RATIO] = {"ratio", "After / before", TA_RATIO, .better = TA_LOWER,
               .doc = "After over before; with an interval of the geometric means of all runs"},
    [CI_LOW] = {"ci_low", "CI low", TA_RATIO,
                .doc = "Lower end of the confidence interval of the ratio; none with too few runs"},
    [CI_HIGH] = {"ci_high", "CI high", TA_RATIO,
                 .doc =
                     "Upper end of the confidence interval of the ratio; none with too few runs"},
    [P_VALUE] = {"p_value", "p", TA_NUMBER,
                 .doc =
                     "Probability of such a difference without a change; none with too few runs"},
    [Q_VALUE] = {"q_value", "q", TA_NUMBER,
                 .doc = "The same, corrected for the number of names (Benjamini-Hochberg)"},
    [SPREAD] =
        {"spread", "Spread", TA_RATIO, .better = TA_LOWER,
         .doc =
             "Relative standard deviation between the runs of a side, or the stored one; none when "
             "unknown"},
    [DETECTABLE] =
        {"detectable", "Detectable", TA_RATIO, .better = TA_LOWER,
         .doc =
             "Least true change that so many runs show in four of five comparisons, by the spread"},
    [METHOD] =
        {"method", "Matched by", TA_WORD,
         .doc = "How the two names were found to be the same thing; none for names of one side"},
    [CONFIDENCE] = {"confidence", "Confidence", TA_RATIO, .better = TA_HIGHER,
                    .doc = "How sure that is"},
    [SET] =
        {"set", "Set", TA_INTEGER,
         .doc =
             "Row of diff.sets, or diff.op_sets, that the name is in: it took the place of others, "
             "or they "
             "took its"},
};

static const char *status_of(const struct diff_pair *pair)
{
    const struct diff_item *base = pair->item[TA_DIFF_BASE], *new = pair->item[TA_DIFF_NEW];
    if (!base || !new)
        return base ? "removed" : "added";
    return base->calls == new->calls && base->total_ns == new->total_ns ? "same" : "changed";
}

static struct ta_cell method_of(const struct diff_pair *pair)
{
    static const char *const names[] = {[DIFF_ALONE] = NULL,
                                        [DIFF_EXACT] = "exact",
                                        [DIFF_NORMALIZED] = "normalized",
                                        [DIFF_POSITION] = "position",
                                        [DIFF_SIMILAR] = "similar"};
    const char *name = names[pair->method];
    return name ? ta_text(ta_slice_of(name)) : ta_null();
}

/* Where runs tell how sure a change is, it is that of all of them. */
static struct ta_cell ratio_of(const struct diff_pair *pair)
{
    const struct diff_item *base = pair->item[TA_DIFF_BASE], *new = pair->item[TA_DIFF_NEW];
    if (!base || !new || base->total_ns <= 0)
        return ta_null();
    return ta_num(isnan(pair->evidence.ci_low) ? (double)new->total_ns / (double)base->total_ns
                                               : pair->evidence.ratio);
}

static struct ta_cell change_of(const struct diff_pair *pair)
{
    const struct ta_cell ratio = ratio_of(pair);
    if (ratio.kind == TA_CELL_NULL)
        return ratio;
    return ta_num(isnan(pair->evidence.ci_low)
                      ? (double)diff_pair_change(pair) / (double)pair->item[TA_DIFF_BASE]->total_ns
                      : pair->evidence.ratio - 1);
}

static void add_pair(struct ta_table_builder *rows, const struct diff_pair *pair)
{
    const struct diff_item *base = pair->item[TA_DIFF_BASE], *new = pair->item[TA_DIFF_NEW];
    const struct diff_item *named = base ? base : new;
    const bool both = base && new;
    ta_add_row(rows, (const struct ta_cell[TA_LENGTH(columns)]){
                         [NAME] = ta_text(named->name),
                         [MATCHED_AS] = both && !ta_slice_equal(base->name, new->name)
                                            ? ta_text(new->name)
                                            : ta_null(),
                         [STATUS] = ta_text(ta_slice_of(status_of(pair))),
                         [BASE_TOTAL] = ta_int(base ? base->total_ns : 0),
                         [NEW_TOTAL] = ta_int(new ? new->total_ns : 0),
                         [DELTA] = ta_int(diff_pair_change(pair)),
                         [CHANGE] = change_of(pair),
                         [GROUP] = named->group.len ? ta_text(named->group) : ta_null(),
                         [BASE_CALLS] = ta_int(base ? base->calls : 0),
                         [NEW_CALLS] = ta_int(new ? new->calls : 0),
                         [RATIO] = ratio_of(pair),
                         [CI_LOW] = ta_num(pair->evidence.ci_low),
                         [CI_HIGH] = ta_num(pair->evidence.ci_high),
                         [P_VALUE] = ta_num(pair->evidence.p),
                         [Q_VALUE] = ta_num(pair->evidence.q),
                         [SPREAD] = ta_num(pair->evidence.spread),
                         [DETECTABLE] = ta_num(pair->evidence.detectable),
                         [METHOD] = method_of(pair),
                         [CONFIDENCE] = both ? ta_num(pair->confidence) : ta_null(),
                         [SET] = pair->set ? ta_int((int64_t)pair->set) : ta_null()});
}

/* ---- the lists ------------------------------------------------------------------------------ */

/* Drawn where the runs give intervals. */
#define FOREST(suffix, what)                                                                       \
    {                                                                                              \
        .id = "diff-forest" suffix, .title = "Relative change of " what,                           \
        .caption = "Time after over time before, less one, with its confidence interval over the " \
                   "runs; the largest changes first.",                                             \
        .kind = TA_CHART_FOREST, .label = {&columns[NAME]}, .y = {                                 \
            {&columns[RATIO], "change", TA_INK_WORSE},                                             \
            {&columns[CI_LOW], "low", TA_INK_WORSE},                                               \
            {&columns[CI_HIGH], "high", TA_INK_WORSE}                                              \
        }                                                                                          \
    }

/* A list of names that is compared, and the table of its pairs. */
struct list {
    const struct ta_table_def *table;
    struct ta_chart_def forest;
    const char *figure; /* what stored spreads of the names begin with, as gates call them */
    struct diff_list names;
    const struct diff_order *order; /* NULL: names alone tell */
};

static bool compare_list(struct diff *diff, struct ta_section_builder *out, const struct list *list,
                         struct diff_pairs *pairs)
{
    struct diff_items items[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!diff_items_read(diff, side, &list->names, &items[side]))
            return false;
    if (pairs == &diff->ops)
        memcpy(diff->op_items, items, sizeof items);
    if (!diff_match(diff, list->order, items, pairs) ||
        !diff_judge_pairs(diff, list->figure, pairs))
        return false;
    struct ta_table_builder *rows = ta_rows(out, list->table);
    bool has_intervals = false;
    for (size_t i = 0; i < pairs->n; i++) {
        add_pair(rows, &pairs->at[i]);
        has_intervals |= !isnan(pairs->at[i].evidence.ci_low);
    }
    if (has_intervals)
        ta_draw(out, list->table, &list->forest);
    return true;
}

/* ---- stages --------------------------------------------------------------------------------- */

enum {
    STAGE_RANK,
    STAGE,
    STAGE_CALLS,
    STAGE_TOTAL,
    STAGE_INSIDE,
    STAGE_ORDER,
    DERIVED,
    DERIVED_CALLS,
    DERIVED_TOTAL
};

static const struct ta_ref stage_reads[] = {
    [STAGE_RANK] = {"stages.by_name", "rank"},
    [STAGE] = {"stages.by_name", "stage"},
    [STAGE_CALLS] = {"stages.by_name", "calls"},
    [STAGE_TOTAL] = {"stages.by_name", "total_ns"},
    [STAGE_INSIDE] = {"stages.by_name", "inside"},
    [STAGE_ORDER] = {"stages.by_name", "order"},
    [DERIVED] = {"stages.derived", "stage"},
    [DERIVED_CALLS] = {"stages.derived", "calls"},
    [DERIVED_TOTAL] = {"stages.derived", "total_ns"},
};

static const struct ta_table_def stages = {"diff.stages", "Stages", TA_COLUMNS(columns)};
static const struct ta_table_def *const stage_tables[] = {&stages, NULL};

static bool add_stages(struct diff *diff, struct ta_section_builder *out,
                       const struct ta_refs in[TA_DIFF_SIDES])
{
    static const struct diff_order order = {.part = &diff_of_stages.declares,
                                            .name = STAGE,
                                            .op = STAGE_INSIDE,
                                            .within = DIFF_NOT_READ,
                                            .calls = STAGE_CALLS,
                                            .rank = STAGE_RANK,
                                            .order = STAGE_ORDER,
                                            .is_of_ops = true,
                                            .is_of_stages = true};
    static const struct list list = {
        &stages,
        FOREST("-stages", "stages"),
        TA_NOISE_OF_STAGE,
        {&diff_of_stages.declares,
         {{STAGE, DIFF_NOT_READ, STAGE_CALLS, STAGE_TOTAL, DIFF_NOT_READ, NULL},
          {DERIVED, DIFF_NOT_READ, DERIVED_CALLS, DERIVED_TOTAL, DIFF_NOT_READ, NULL}},
         2},
        &order};
    (void)in;
    return compare_list(diff, out, &list, &diff->stages);
}

const struct diff_part diff_of_stages = {
    .declares = {"diff.stages", stage_tables, TA_READS(stage_reads)},
    .section = "diff_stages",
    .add = add_stages};

/* ---- operators and calls of the host --------------------------------------------------------- */

enum { OP, OP_CATEGORY, OP_CALLS, OP_TOTAL, OP_SELF, INNER, INNER_CALLS, CALLER, CALLER_WITHIN };

static const struct ta_ref op_reads[] = {
    [OP] = {"ops.by_name", "name"},
    [OP_CATEGORY] = {"ops.by_name", "category"},
    [OP_CALLS] = {"ops.by_name", "calls"},
    [OP_TOTAL] = {"ops.by_name", "total_ns"},
    [OP_SELF] = {"ops.by_name", "self_ns"},
    [INNER] = {"ops.by_caller", "name"},
    [INNER_CALLS] = {"ops.by_caller", "calls"},
    [CALLER] = {"ops.by_caller", "caller"},
    [CALLER_WITHIN] = {"ops.by_caller", "within"},
};

static const struct ta_table_def ops = {"diff.ops", "Host operators and calls",
                                        TA_COLUMNS(columns)};
static const struct ta_table_def *const op_tables[] = {&ops, NULL};

static bool add_ops(struct diff *diff, struct ta_section_builder *out,
                    const struct ta_refs in[TA_DIFF_SIDES])
{
    static const struct diff_order order = {.part = &diff_of_ops.declares,
                                            .name = INNER,
                                            .op = CALLER,
                                            .within = CALLER_WITHIN,
                                            .calls = INNER_CALLS,
                                            .rank = DIFF_NOT_READ,
                                            .order = DIFF_NOT_READ,
                                            .is_of_ops = true};
    static const struct list list = {
        &ops,
        FOREST("", "operators"),
        TA_NOISE_OF_OP,
        {&diff_of_ops.declares, {{OP, OP_CATEGORY, OP_CALLS, OP_TOTAL, OP_SELF, NULL}}, 1},
        &order};
    (void)in;
    return compare_list(diff, out, &list, &diff->ops);
}

const struct diff_part diff_of_ops = {
    .declares = {"diff.ops", op_tables, TA_READS(op_reads)}, .section = "diff_ops", .add = add_ops};

/* ---- kernels and copies ---------------------------------------------------------------------- */

enum {
    KERNEL,
    KERNEL_CLASS,
    KERNEL_CALLS,
    KERNEL_TOTAL,
    LAUNCHED,
    LAUNCHED_CALLS,
    LAUNCHER,
    LAUNCHER_WITHIN
};

static const struct ta_ref kernel_reads[] = {
    [KERNEL] = {"kernels.by_name", "name"},        [KERNEL_CLASS] = {"kernels.by_name", "class"},
    [KERNEL_CALLS] = {"kernels.by_name", "calls"}, [KERNEL_TOTAL] = {"kernels.by_name", "total_ns"},
    [LAUNCHED] = {"kernels.by_op", "name"},        [LAUNCHED_CALLS] = {"kernels.by_op", "calls"},
    [LAUNCHER] = {"kernels.by_op", "op"},          [LAUNCHER_WITHIN] = {"kernels.by_op", "within"},
};

static const struct ta_table_def kernels = {"diff.kernels", "Kernels", TA_COLUMNS(columns)};
static const struct ta_table_def *const kernel_tables[] = {&kernels, NULL};

static bool add_kernels(struct diff *diff, struct ta_section_builder *out,
                        const struct ta_refs in[TA_DIFF_SIDES])
{
    static const struct diff_order order = {.part = &diff_of_kernels.declares,
                                            .name = LAUNCHED,
                                            .op = LAUNCHER,
                                            .within = LAUNCHER_WITHIN,
                                            .calls = LAUNCHED_CALLS,
                                            .rank = DIFF_NOT_READ,
                                            .order = DIFF_NOT_READ};
    static const struct list list = {
        &kernels,
        FOREST("-kernels", "kernels"),
        TA_NOISE_OF_KERNEL,
        {&diff_of_kernels.declares,
         {{KERNEL, KERNEL_CLASS, KERNEL_CALLS, KERNEL_TOTAL, DIFF_NOT_READ, NULL}},
         1},
        &order};
    (void)in;
    return compare_list(diff, out, &list, &diff->kernels);
}

const struct diff_part diff_of_kernels = {
    .declares = {"diff.kernels", kernel_tables, TA_READS(kernel_reads)},
    .section = "diff_kernels",
    .add = add_kernels};

enum { COPY, COPY_CLASS, COPY_CALLS, COPY_TOTAL };

static const struct ta_ref copy_reads[] = {
    [COPY] = {"gpu_time.by_name", "name"},
    [COPY_CLASS] = {"gpu_time.by_name", "class"},
    [COPY_CALLS] = {"gpu_time.by_name", "calls"},
    [COPY_TOTAL] = {"gpu_time.by_name", "total_ns"},
};

static const struct ta_table_def copies = {"diff.copies", "Copies and memory sets",
                                           TA_COLUMNS(columns)};
static const struct ta_table_def *const copy_tables[] = {&copies, NULL};

static bool add_copies(struct diff *diff, struct ta_section_builder *out,
                       const struct ta_refs in[TA_DIFF_SIDES])
{
    static const char *const classes[] = {"memcpy", "memset", NULL};
    static const struct list list = {
        &copies,
        FOREST("-copies", "copies"),
        TA_NOISE_OF_COPY,
        {&diff_of_copies.declares,
         {{COPY, COPY_CLASS, COPY_CALLS, COPY_TOTAL, DIFF_NOT_READ, classes}},
         1},
        NULL};
    (void)in;
    return compare_list(diff, out, &list, &diff->copies);
}

const struct diff_part diff_of_copies = {
    .declares = {"diff.copies", copy_tables, TA_READS(copy_reads)},
    .section = "diff_kernels",
    .add = add_copies};
