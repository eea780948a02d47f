/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.kernels, diff.ops, diff.stages, diff.copies: what changed, name by name. */
#include "compare/order.h"
#include "report/report.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/columns.h"

#include <math.h>

static const char *const copies[] = {"memcpy", "memset", NULL};

static const struct diff_order kernel_order = {"kernels.by_op", "name", "op", NULL, false, false};
static const struct diff_order op_order = {"ops.by_caller", "name", "caller", NULL, true, false};
static const struct diff_order stage_order = {"stages.by_name", "stage", "inside",
                                              "order",          true,    true};

/* The tables of names. */
enum { STAGES, KERNELS, COPIES, OPS, LISTS };

static const struct {
    const char *section, *section_title, *id, *title;
    const char *figure; /* what stored spreads of the names begin with, as gates call them */
    struct diff_source source;
    const struct diff_order *order; /* NULL: names alone tell */
} lists[LISTS] = {
    [STAGES] = {"diff_stages",
                "Stages compared",
                "diff.stages",
                "Stages",
                TA_NOISE_OF_STAGE,
                {"stages.by_name", "stage", NULL, NULL, "stages.derived"},
                &stage_order},
    [KERNELS] = {"diff_kernels",
                 "Kernels compared",
                 "diff.kernels",
                 "Kernels",
                 TA_NOISE_OF_KERNEL,
                 {"kernels.by_name", "name", "class", NULL, NULL},
                 &kernel_order},
    [COPIES] = {"diff_kernels",
                "Kernels compared",
                "diff.copies",
                "Copies and memory sets",
                TA_NOISE_OF_COPY,
                {"gpu_time.by_name", "name", "class", copies, NULL},
                NULL},
    [OPS] = {"diff_ops",
             "Operators compared",
             "diff.ops",
             "Host operators and calls",
             TA_NOISE_OF_OP,
             {"ops.by_name", "name", "category", NULL, NULL},
             &op_order},
};

/* What changed comes first: paper has room for that. */
static const struct ta_column columns[] = {
    {"name", "Name", TA_TEXT, .doc = "Name in the baseline; of what was added its own"},
    {"matched_as", "Is now", TA_TEXT,
     .doc = "Name on the other side where it is another one; empty otherwise"},
    {"status", "Status", TA_WORD,
     .doc = "same: equal calls and time; changed; added: not in the baseline; removed: only there"},
    {"base_total_ns", "Before", TA_NS, .better = TA_LOWER,
     .doc = "Sum of durations in the baseline over all ranks"},
    {"new_total_ns", "After", TA_NS, .better = TA_LOWER,
     .doc = "Sum of durations in the other run over all ranks"},
    {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
     .doc = "After minus before"},
    {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, .better = TA_LOWER,
     .doc = "Change over before; with an interval by the geometric means of all runs"},
    {"group", "Class", TA_TEXT, .doc = "Class or category; of several that of the longest time"},
    {"base_calls", "Calls before", TA_COUNT, .doc = "Calls in the baseline, all ranks"},
    {"new_calls", "Calls after", TA_COUNT, .doc = "Calls in the other run, all ranks"},
    {"ratio", "After / before", TA_RATIO, .better = TA_LOWER,
     .doc = "After over before; with an interval of the geometric means of all runs"},
    {"ci_low", "CI low", TA_RATIO,
     .doc = "Lower end of the confidence interval of the ratio; none with too few runs"},
    {"ci_high", "CI high", TA_RATIO,
     .doc = "Upper end of the confidence interval of the ratio; none with too few runs"},
    {"p_value", "p", TA_NUMBER,
     .doc = "Probability of such a difference without a change; none with too few runs"},
    {"q_value", "q", TA_NUMBER,
     .doc = "The same, corrected for the number of names (Benjamini-Hochberg)"},
    {"spread", "Spread", TA_RATIO, .better = TA_LOWER,
     .doc = "Relative standard deviation between the runs of a side, or the stored one; none when "
            "unknown"},
    {"detectable", "Detectable", TA_RATIO, .better = TA_LOWER,
     .doc = "Least true change that so many runs show in four of five comparisons, by the spread"},
    {"method", "Matched by", TA_WORD,
     .doc = "How the two names were found to be the same thing; none for names of one side"},
    {"confidence", "Confidence", TA_RATIO, .better = TA_HIGHER, .doc = "How sure that is"},
    {"set", "Set", TA_INTEGER,
     .doc = "Row of diff.sets, or diff.op_sets, that the name is in: it took the place of others, "
            "or they "
            "took its"},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

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

static void add_pair(struct ta_table_builder *table, const struct diff_pair *pair)
{
    const struct diff_item *base = pair->item[TA_DIFF_BASE], *new = pair->item[TA_DIFF_NEW];
    const struct diff_item *named = base ? base : new;
    const bool both = base && new;
    TA_CELLS(table, ta_text(named->name),
             both && !ta_slice_equal(base->name, new->name) ? ta_text(new->name) : ta_null(),
             ta_text(ta_slice_of(status_of(pair))), ta_int(base ? base->total_ns : 0),
             ta_int(new ? new->total_ns : 0), ta_int(diff_pair_change(pair)), change_of(pair),
             named->group.len ? ta_text(named->group) : ta_null(), ta_int(base ? base->calls : 0),
             ta_int(new ? new->calls : 0), ratio_of(pair), ta_num(pair->evidence.ci_low),
             ta_num(pair->evidence.ci_high), ta_num(pair->evidence.p), ta_num(pair->evidence.q),
             ta_num(pair->evidence.spread), ta_num(pair->evidence.detectable), method_of(pair),
             both ? ta_num(pair->confidence) : ta_null(),
             pair->set ? ta_int((int64_t)pair->set) : ta_null());
}

#define FOREST(suffix, what)                                                                       \
    {                                                                                              \
        .id = "diff-forest" suffix, .title = "Relative change of " what,                           \
        .caption = "Time after over time before, less one, with its confidence interval over the " \
                   "runs; the largest changes first.",                                             \
        .kind = TA_CHART_FOREST, .label = {"name"}, .y = {                                         \
            {"ratio", "change", TA_INK_WORSE},                                                     \
            {"ci_low", "low", TA_INK_WORSE},                                                       \
            {"ci_high", "high", TA_INK_WORSE}                                                      \
        }                                                                                          \
    }

/* Drawn where the runs give intervals. */
static const struct ta_chart forests[] = {
    [STAGES] = FOREST("-stages", "stages"),
    [KERNELS] = FOREST("-kernels", "kernels"),
    [COPIES] = FOREST("-copies", "copies"),
    [OPS] = FOREST("", "operators"),
};

static bool compare_list(struct diff *diff, int list, struct diff_pairs *pairs)
{
    struct diff_items items[TA_DIFF_SIDES];
    for (int side = 0; side < TA_DIFF_SIDES; side++)
        if (!diff_items_read(diff, side, &lists[list].source, &items[side]))
            return false;
    if (list == OPS)
        memcpy(diff->op_items, items, sizeof items);
    if (!diff_match(diff, lists[list].order, items, pairs) ||
        !diff_judge_pairs(diff, lists[list].figure, pairs))
        return false;
    struct ta_section_builder *section =
        ta_report_open_section(diff->out, lists[list].section, lists[list].section_title);
    struct ta_table_builder *table =
        ta_add_table(section, lists[list].id, lists[list].title, columns, COLUMNS);
    bool has_intervals = false;
    for (size_t i = 0; i < pairs->n; i++) {
        add_pair(table, &pairs->at[i]);
        has_intervals |= !isnan(pairs->at[i].evidence.ci_low);
    }
    if (has_intervals)
        ta_add_chart(table, &forests[list]);
    return true;
}

/* Kernels are found by the operators that launch them, so these come first. */
bool diff_add_names(struct diff *diff)
{
    return compare_list(diff, STAGES, &diff->stages) && compare_list(diff, OPS, &diff->ops) &&
           compare_list(diff, KERNELS, &diff->kernels) && compare_list(diff, COPIES, &diff->copies);
}
