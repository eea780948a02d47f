/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.metrics: every figure that both sides have, with what the runs say about its change. */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/table.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum {
    METRIC,
    TITLE,
    BASE,
    NEW,
    DELTA,
    CHANGE,
    VERDICT,
    RATIO,
    CI_LOW,
    CI_HIGH,
    P_VALUE,
    P_RANK,
    SPREAD,
    DETECTABLE,
    EVIDENCE,
    POLARITY,
    ROLE,
    BASE_RUNS,
    NEW_RUNS,
    UNIT
};

static const struct ta_column metrics_columns[] = {
    [METRIC] = {"metric", "Metric", TA_ID,
                .doc = "Id of the figure, with its basis after an @, as --fail-on takes it"},
    [TITLE] = {"title", "Description", TA_SENTENCE, .doc = "Name of the figure"},
    [BASE] = {"base", "Before", TA_NUMBER,
              .doc = "Value in the baseline. For several runs, their geometric mean if all values "
                     "are above 0, otherwise the value of the run of median length"},
    [NEW] = {"new", "After", TA_NUMBER,
             .doc = "Value in the other run. For several runs, their geometric mean if all values "
                    "are above 0, otherwise the value of the run of median length"},
    [DELTA] = {"delta", "Change", TA_TYPE_NUMBER, TA_UNIT_CHANGE, .doc = "After minus before"},
    [CHANGE] = {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE,
                .doc = "Change divided by the value before"},
    [VERDICT] =
        {"verdict", "Verdict", TA_WORD,
         .doc = "faster (better), slower (worse), same (equal, or within 2 %), changed (neither "
                "direction is better), negligible (the time changed by less than counts as a "
                "change), or inconclusive (the runs are too few or vary too much)"},
    [RATIO] = {"ratio", "New/base", TA_RATIO, .is_ratio_of_change = true, .detail = true,
               .doc = "After divided by before; if the evidence is within one run, over its steps"},
    [CI_LOW] =
        {"ci_low", "CI low", TA_RATIO,
         .doc = "Lower end of the ratio's confidence interval; empty if there are too few runs"},
    [CI_HIGH] =
        {"ci_high", "CI high", TA_RATIO,
         .doc = "Upper end of the ratio's confidence interval; empty if there are too few runs"},
    [P_VALUE] = {"p_value", "p", TA_RATIO,
                 .doc = "Probability of such a ratio if nothing changed, from Welch's test on "
                        "logarithms; empty if there are too few runs"},
    [P_RANK] =
        {"p_rank", "p (ranks)", TA_RATIO,
         .doc = "The same probability from the Mann-Whitney test; empty below four runs on a side"},
    [SPREAD] = {"spread", "Spread", TA_RATIO, .better = TA_LOWER,
                .doc = "Relative standard deviation between the runs of a side, or the stored one; "
                       "empty if unknown"},
    [DETECTABLE] = {"detectable", "Detectable", TA_RATIO, .better = TA_LOWER,
                    .doc = "Smallest true change that this many runs would detect in four of five "
                           "comparisons, given the spread"},
    [EVIDENCE] = {"evidence", "Evidence", TA_WORD, .detail = true,
                  .doc = "Source of the interval. runs: three or more on each side; noise: a "
                         "stored spread, or the other side's; within_run: the steps of one run, "
                         "which do not show how runs vary; none"},
    [POLARITY] = {"polarity", "Better", TA_WORD, .role = TA_BETTER_OF_ROW, .detail = true,
                  .doc = "Which direction is better: lower, higher or neither"},
    [ROLE] = {"role", "Role", TA_ID,
              .doc = "key: it measures how long the run takes, so a regression in it counts; "
                     "otherwise other"},
    [BASE_RUNS] = {"base_runs", "Runs before", TA_COUNT, .detail = true,
                   .doc = "Runs of the baseline with this figure"},
    [NEW_RUNS] = {"new_runs", "Runs after", TA_COUNT, .detail = true,
                  .doc = "Runs of the other side with this figure"},
    [UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of the values"},
};

static const struct ta_digest digest = {.part = TA_DIGEST_FIGURES,
                                        .title = "Figures",
                                        .rows = 12,
                                        .columns = {&metrics_columns[TITLE], &metrics_columns[BASE],
                                                    &metrics_columns[NEW], &metrics_columns[CHANGE],
                                                    &metrics_columns[VERDICT]},
                                        .change = &metrics_columns[CHANGE],
                                        .low = &metrics_columns[CI_LOW],
                                        .high = &metrics_columns[CI_HIGH]};

static const struct ta_table_def metrics = {
    "diff.metrics", "Figures compared", TA_COLUMNS(metrics_columns),
    .brief =
        &(const struct ta_brief){
            .place = 70,
            .rows = 12,
            .first = {&metrics_columns[BASE], &metrics_columns[NEW], &metrics_columns[DELTA],
                      &metrics_columns[CHANGE], &metrics_columns[VERDICT]},
            .never = {&metrics_columns[RATIO], &metrics_columns[CI_LOW], &metrics_columns[CI_HIGH],
                      &metrics_columns[POLARITY], &metrics_columns[EVIDENCE],
                      &metrics_columns[BASE_RUNS], &metrics_columns[NEW_RUNS]},
            .whole_names = true},
    .digest = &digest};

/* Drawn where the runs give intervals. */
static const struct ta_chart_def forest = {
    .id = "diff-forest-figures",
    .title = "Relative change of figures",
    .caption = "Relative change of each figure with its confidence interval over the runs, or over "
               "the steps of one run if the table says so.",
    .kind = TA_CHART_FOREST,
    .label = {&metrics_columns[TITLE]},
    .y = {{&metrics_columns[RATIO], "change", TA_INK_WORSE},
          {&metrics_columns[CI_LOW], "low", TA_INK_WORSE},
          {&metrics_columns[CI_HIGH], "high", TA_INK_WORSE}},
};

/* The figures of all runs of a side. */
struct side {
    struct ta_run_figures *runs;
    const struct ta_run_figures *shown;
    double *values; /* room for one of each run */
    size_t n;
};

static bool read_side(struct diff *diff, int which, struct side *side)
{
    const struct ta_diff_side *from = &diff->sides[which];
    *side = (struct side){.n = from->n};
    side->runs = ta_arena_alloc(&diff->arena, from->n * sizeof *side->runs);
    side->values = ta_arena_alloc(&diff->arena, from->n * sizeof *side->values);
    if (!side->runs || !side->values)
        return false;
    for (size_t run = 0; run < from->n; run++) {
        if (!ta_run_figures_read(&diff->arena, diff->registry, from->runs[run], &side->runs[run]))
            return false;
        if (from->runs[run] == diff->shown[which])
            side->shown = &side->runs[run];
    }
    return true;
}

/* The values of all runs that have the figure. */
static struct ta_values values_of(const struct side *side, const char *id)
{
    struct ta_values values = {side->values, 0};
    for (size_t run = 0; run < side->n; run++) {
        const struct ta_run_figure *figure = ta_run_figures_find(&side->runs[run], id);
        if (figure)
            side->values[values.n++] = figure->value;
    }
    return values;
}

/* One value for all runs of a side, such that differences and ratios match the interval: their
 * geometric mean. Without one, and of runs that agree, the value of the shown run. */
static double center_of(struct ta_values values, double shown)
{
    double sum = 0;
    bool agree = true;
    for (size_t i = 0; i < values.n; i++) {
        if (!(values.at[i] > 0))
            return shown;
        agree = agree && values.at[i] == shown;
        sum += log(values.at[i]);
    }
    return agree ? shown : exp(sum / (double)values.n);
}

/* "Block time p50" of "Step time p50", where the steps that a program marks are its blocks. */
static const char *title_of(struct diff *diff, const struct ta_run_figure *figure)
{
    static const char step[] = "step";
    const char *of = diff->phases.step, *title = figure->title;
    const char *at = of && figure->of_steps ? strcasestr(title, step) : NULL;
    if (!at)
        return title;
    const char *text = ta_arena_printf(&diff->arena, "%.*s%s%s", (int)(at - title), title, of,
                                       at + sizeof step - 1);
    char *own = text ? ta_arena_copy(&diff->arena, ta_slice_of(text)) : NULL;
    if (own)
        own[0] = (char)toupper((unsigned char)own[0]);
    return own ? own : title;
}

static void add_row(struct diff *diff, struct ta_section_builder *out,
                    const struct ta_run_figure *base, const double center[TA_DIFF_SIDES],
                    const struct ta_evidence_of_change *evidence, const size_t runs[TA_DIFF_SIDES])
{
    const double before = center[TA_DIFF_BASE], after = center[TA_DIFF_NEW];
    const double own = before > 0 ? after / before : (double)NAN;
    const double ratio = evidence->basis <= TA_BASIS_NOISE ? evidence->ratio.value : own;
    const enum ta_change change =
        ta_judge_change(diff->judging, before, after, base->unit, base->polarity, evidence);
    const char *title = title_of(diff, base);
    const bool is_loop = diff->loop.figure && strcmp(base->id, diff->loop.figure) == 0;
    if (strcmp(base->id, TA_RUN_TIME) == 0 || (is_loop && !diff->is_timed)) {
        diff->change = change;
        diff->basis = evidence->basis;
        diff->time_ratio = evidence->ratio;
        if (!is_loop)
            memcpy(diff->center_ns, center, sizeof diff->center_ns);
        diff->is_timed |= !is_loop;
    }
    diff->figures[diff->n_figures++] = (struct diff_figure){
        .id = base->id,
        .title = title,
        .value = {before, after},
        .unit = base->unit,
        .is_noise = evidence->basis <= TA_BASIS_NOISE &&
                    (change == TA_CHANGE_SAME || change == TA_CHANGE_INCONCLUSIVE)};
    TA_ROW(out, metrics, [METRIC] = ta_text(ta_slice_of(base->id)),
           [TITLE] = ta_text(ta_slice_of(title)), [BASE] = ta_num(before), [NEW] = ta_num(after),
           [DELTA] = ta_num(after - before), [CHANGE] = ta_num(ratio - 1),
           [VERDICT] = ta_text(ta_slice_of(ta_change_name(change))), [RATIO] = ta_num(ratio),
           [CI_LOW] = ta_num(evidence->ratio.low), [CI_HIGH] = ta_num(evidence->ratio.high),
           [P_VALUE] = ta_num(evidence->p), [P_RANK] = ta_num(evidence->p_rank),
           [SPREAD] = ta_num(evidence->spread), [DETECTABLE] = ta_num(evidence->detectable),
           [EVIDENCE] = ta_text(ta_slice_of(ta_basis_name(evidence->basis))),
           [POLARITY] = ta_text(ta_slice_of(ta_polarity_name(base->polarity))),
           [ROLE] = ta_text(base->is_key ? TA_LIT("key") : TA_LIT("other")),
           [BASE_RUNS] = ta_int((int64_t)runs[TA_DIFF_BASE]),
           [NEW_RUNS] = ta_int((int64_t)runs[TA_DIFF_NEW]),
           [UNIT] = ta_text(ta_slice_of(ta_unit_name(base->unit))));
}

static bool add_figure(struct diff *diff, struct ta_section_builder *out,
                       const struct side sides[TA_DIFF_SIDES], const struct ta_run_figure *base,
                       const struct ta_run_figure *new, bool *has_interval)
{
    struct ta_evidence_of_change evidence;
    const struct ta_values before = values_of(&sides[TA_DIFF_BASE], base->id);
    const struct ta_values after = values_of(&sides[TA_DIFF_NEW], base->id);
    if (!ta_evidence_of_runs(diff->judging, base->id, before, after, &evidence))
        return false;
    if (evidence.basis == TA_BASIS_NONE && base->series && new->series &&
        !ta_evidence_within_runs(diff->judging, base->id, base->series, new->series, &evidence))
        return false;
    *has_interval |= evidence.basis != TA_BASIS_NONE;
    add_row(diff, out, base,
            (const double[]){center_of(before, base->value), center_of(after, new->value)},
            &evidence, (const size_t[]){before.n, after.n});
    return true;
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    struct side sides[TA_DIFF_SIDES];
    if (!read_side(diff, TA_DIFF_BASE, &sides[TA_DIFF_BASE]) ||
        !read_side(diff, TA_DIFF_NEW, &sides[TA_DIFF_NEW]))
        return false;
    bool has_interval = false;
    const struct ta_run_figures *shown = sides[TA_DIFF_BASE].shown;
    diff->figures = ta_arena_alloc(&diff->arena, (shown->n + 1) * sizeof *diff->figures);
    if (!diff->figures)
        return false;
    for (size_t i = 0; i < shown->n; i++) {
        const struct ta_run_figure *base = &shown->at[i];
        const struct ta_run_figure *new = ta_run_figures_find(sides[TA_DIFF_NEW].shown, base->id);
        if (diff->has_other_steps && base->of_steps)
            continue; /* steps of another kind */
        if (new &&strcmp(base->id, TA_RECOMPILATIONS) == 0) {
            diff->recompilations[TA_DIFF_BASE] = base->value;
            diff->recompilations[TA_DIFF_NEW] = new->value;
            if (base->value == 0 && new->value == 0)
                continue;
        }
        if (new &&new->unit == base->unit &&
            !add_figure(diff, out, sides, base, new, &has_interval))
            return false;
    }
    if (has_interval)
        ta_draw(out, &metrics, &forest);
    return true;
}

static const struct ta_table_def *const tables[] = {&metrics, NULL};

const struct diff_part diff_of_figures = {
    .declares = {.name = "diff.metrics", .tables = tables}, .section = "diff", .add = add};
