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
    [NAME] = {"name", "Name", TA_TEXT,
              .doc = "Name in the baseline; for an added name, the name in the other run"},
    [MATCHED_AS] = {"matched_as", "Matched name", TA_TEXT,
                    .doc = "Name in the other run if it differs; otherwise empty"},
    [STATUS] = {"status", "Status", TA_WORD,
                .doc = "same (equal calls and time), changed, added (not in the baseline) or "
                       "removed (only in the baseline)"},
    [BASE_TOTAL] = {"base_total_ns", "Before", TA_NS, .better = TA_LOWER,
                    .doc = "Sum of durations in the baseline over all ranks"},
    [NEW_TOTAL] = {"new_total_ns", "After", TA_NS, .better = TA_LOWER,
                   .doc = "Sum of durations in the other run over all ranks"},
    [DELTA] = {"delta_ns", "Change", TA_TYPE_INTEGER, TA_UNIT_NS_CHANGE, .better = TA_LOWER,
               .doc = "After minus before"},
    [CHANGE] = {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, .better = TA_LOWER,
                .doc = "Change divided by the value before; with a confidence interval, from the "
                       "geometric means of all runs"},
    [GROUP] = {"group", "Class", TA_TEXT,
               .doc = "Class or category; if there are several, the one with the most time"},
    [BASE_CALLS] = {"base_calls", "Calls before", TA_COUNT,
                    .doc = "Calls in the baseline, all ranks"},
    [NEW_CALLS] = {"new_calls", "Calls after", TA_COUNT,
                   .doc = "Calls in the other run, all ranks"},
    [RATIO] = {"ratio", "New/base", TA_RATIO, .is_ratio_of_change = true, .detail = true,
               .better = TA_LOWER,
               .doc = "After divided by before; with a confidence interval, of the geometric means "
                      "of all runs"},
    [CI_LOW] =
        {"ci_low", "CI low", TA_RATIO,
         .doc = "Lower end of the ratio's confidence interval; empty if there are too few runs"},
    [CI_HIGH] =
        {"ci_high", "CI high", TA_RATIO,
         .doc = "Upper end of the ratio's confidence interval; empty if there are too few runs"},
    [P_VALUE] = {"p_value", "p", TA_NUMBER,
                 .doc = "Probability of such a difference if nothing changed; empty if there are "
                        "too few runs"},
    [Q_VALUE] = {"q_value", "q (corrected p)", TA_NUMBER,
                 .doc = "p corrected for the number of names (Benjamini-Hochberg)"},
    [SPREAD] = {"spread", "Spread", TA_RATIO, .better = TA_LOWER,
                .doc = "Relative standard deviation between the runs of a side, or the stored one; "
                       "empty if unknown"},
    [DETECTABLE] = {"detectable", "Detectable", TA_RATIO, .better = TA_LOWER,
                    .doc = "Smallest true change that this many runs would detect in four of five "
                           "comparisons, given the spread"},
    [METHOD] = {"method", "Matched by", TA_WORD,
                .doc = "How the two names were matched; empty for a name on one side only"},
    [CONFIDENCE] = {"confidence", "Confidence", TA_RATIO, .better = TA_HIGHER,
                    .doc = "Confidence that the two names are the same thing"},
    [SET] = {"set", "Set", TA_INTEGER,
             .doc = "Set of names that replaced each other which this name belongs to: row of "
                    "diff.sets or diff.op_sets; empty if it is in none"},
};

#define NAMES_DIGEST(name)                                                                         \
    .part = TA_DIGEST_CHANGES, .title = name, .rows = 10,                                          \
    .columns = {&columns[NAME],  &columns[STATUS], &columns[BASE_TOTAL], &columns[NEW_TOTAL],      \
                &columns[DELTA], &columns[CHANGE], &columns[Q_VALUE]},                             \
    .change = &columns[CHANGE], .low = &columns[CI_LOW], .high = &columns[CI_HIGH]

/* Of a table of names the terminal shows times, and calls where there is room: the ratio is the
 * change, and a name without calls or time on a side was added or removed. */
#define NAMES_SHOWN                                                                                \
    .first = {&columns[BASE_TOTAL], &columns[NEW_TOTAL], &columns[DELTA], &columns[CHANGE],        \
              &columns[Q_VALUE]},                                                                  \
    .together = {&columns[BASE_CALLS], &columns[NEW_CALLS]},                                       \
    .never = {&columns[RATIO], &columns[STATUS], &columns[METHOD],  &columns[CONFIDENCE],          \
              &columns[SET],   &columns[CI_LOW], &columns[CI_HIGH], &columns[P_VALUE]},            \
    .hidden = {&columns[STATUS], {"same"}}, .renamed = {&columns[MATCHED_AS], &columns[METHOD]}

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

/* Where runs give a confidence interval, the ratio is that interval's, over all runs. */
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
        .caption =                                                                                 \
            "Time after over time before, minus one, with its confidence interval over the "       \
            "runs; the largest changes first.",                                                    \
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

static const struct ta_table_def stages = {
    "diff.stages", "Stages", TA_COLUMNS(columns),
    .brief = &(const struct ta_brief){.place = 80, .rows = 8, NAMES_SHOWN},
    .digest = &(const struct ta_digest){NAMES_DIGEST("Stages")}};
static const struct ta_table_def *const stage_tables[] = {&stages, NULL};

static bool add_stages(struct diff *diff, struct ta_section_builder *out)
{
    static const struct diff_order order = {.name = TA_AS_STAGE,
                                            .op = TA_AS_STAGE_INSIDE,
                                            .calls = TA_AS_STAGE_CALLS,
                                            .order = TA_AS_STAGE_ORDER,
                                            .is_of_ops = true,
                                            .is_of_stages = true};
    static const struct list list = {
        &stages,
        FOREST("-stages", "stages"),
        TA_NOISE_OF_STAGE,
        {{{.name = TA_AS_STAGE, .calls = TA_AS_STAGE_CALLS, .total = TA_AS_STAGE_TIME},
          {.name = TA_AS_DERIVED_STAGE, .calls = TA_AS_DERIVED_CALLS, .total = TA_AS_DERIVED_TIME}},
         2},
        &order};
    return compare_list(diff, out, &list, &diff->stages);
}

const struct diff_part diff_of_stages = {
    .declares = {"diff.stages", stage_tables}, .section = "diff_stages", .add = add_stages};

/* ---- operators and calls of the host --------------------------------------------------------- */

static const struct ta_table_def ops = {
    "diff.ops", "Host operators and calls", TA_COLUMNS(columns),
    .brief = &(const struct ta_brief){.place = 130, .rows = 8, NAMES_SHOWN}};
static const struct ta_table_def *const op_tables[] = {&ops, NULL};

static bool add_ops(struct diff *diff, struct ta_section_builder *out)
{
    static const struct diff_order order = {.name = TA_AS_CALLED,
                                            .op = TA_AS_CALLER,
                                            .within = TA_AS_CALLER_WITHIN,
                                            .start = TA_AS_CALLED_START,
                                            .calls = TA_AS_CALLED_CALLS,
                                            .is_of_ops = true};
    static const struct list list = {
        &ops,
        FOREST("", "operators"),
        TA_NOISE_OF_OP,
        {{{TA_AS_OP, TA_AS_OP_CATEGORY, TA_AS_OP_CALLS, TA_AS_OP_TIME, TA_AS_OP_SELF, NULL}}, 1},
        &order};
    return compare_list(diff, out, &list, &diff->ops);
}

const struct diff_part diff_of_ops = {
    .declares = {"diff.ops", op_tables}, .section = "diff_ops", .add = add_ops};

/* ---- kernels and copies ---------------------------------------------------------------------- */

static const struct ta_table_def kernels = {
    "diff.kernels", "Kernels", TA_COLUMNS(columns),
    .brief = &(const struct ta_brief){.place = 110, .rows = 10, NAMES_SHOWN},
    .digest = &(const struct ta_digest){NAMES_DIGEST("Kernels")}};
static const struct ta_table_def *const kernel_tables[] = {&kernels, NULL};

static bool add_kernels(struct diff *diff, struct ta_section_builder *out)
{
    static const struct diff_order order = {.name = TA_AS_LAUNCHED,
                                            .op = TA_AS_LAUNCHER,
                                            .within = TA_AS_LAUNCHER_WITHIN,
                                            .start = TA_AS_LAUNCHED_START,
                                            .calls = TA_AS_LAUNCHED_CALLS};
    static const struct list list = {&kernels,
                                     FOREST("-kernels", "kernels"),
                                     TA_NOISE_OF_KERNEL,
                                     {{{.name = TA_AS_KERNEL,
                                        .group = TA_AS_KERNEL_CLASS,
                                        .calls = TA_AS_KERNEL_CALLS,
                                        .total = TA_AS_KERNEL_TIME}},
                                      1},
                                     &order};
    return compare_list(diff, out, &list, &diff->kernels);
}

const struct diff_part diff_of_kernels = {
    .declares = {"diff.kernels", kernel_tables}, .section = "diff_kernels", .add = add_kernels};

static const struct ta_table_def copies = {
    "diff.copies", "Copies and memory sets", TA_COLUMNS(columns),
    .brief = &(const struct ta_brief){.place = 120, .rows = 4, NAMES_SHOWN}};
static const struct ta_table_def *const copy_tables[] = {&copies, NULL};

static bool add_copies(struct diff *diff, struct ta_section_builder *out)
{
    static const char *const classes[] = {"memcpy", "memset", NULL};
    static const struct list list = {&copies,
                                     FOREST("-copies", "copies"),
                                     TA_NOISE_OF_COPY,
                                     {{{.name = TA_AS_ACTIVITY,
                                        .group = TA_AS_ACTIVITY_CLASS,
                                        .calls = TA_AS_ACTIVITY_CALLS,
                                        .total = TA_AS_ACTIVITY_TIME,
                                        .groups = classes}},
                                      1},
                                     NULL};
    return compare_list(diff, out, &list, &diff->copies);
}

const struct diff_part diff_of_copies = {
    .declares = {"diff.copies", copy_tables}, .section = "diff_kernels", .add = add_copies};
