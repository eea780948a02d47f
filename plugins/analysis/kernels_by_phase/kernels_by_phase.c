/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.by_step and .by_phase: what kernels do, step by step and in the ranges that the program
 * annotates.
 *
 * A kernel belongs to where it was launched: to the step whose marker was open then, on whatever
 * thread, and to the outermost annotated range of its thread, or of another thread where its own
 * has none (autograd).  Where one range holds nearly everything the ranges in it are the phases. */
#include "kernels_by_phase.h"

#include <traceanalyze/model.h>

#include <inttypes.h>
#include <stdio.h>

static const struct ta_field step_fields[STEP_FIELDS] = {
    [STEP_NUMBER] = {"step", TA_FIELD_INT},
    [STEP_CLASS] = {"class", TA_FIELD_INT},
    [STEP_CALLS] = {"calls", TA_FIELD_SUM},
    [STEP_TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field fields[PHASE_FIELDS] = {
    [PHASE_OUTER] = {"outer", TA_FIELD_TEXT},   [PHASE_INNER] = {"inner", TA_FIELD_TEXT},
    [PHASE_CLASS] = {"class", TA_FIELD_INT},    [PHASE_CALLS] = {"calls", TA_FIELD_SUM},
    [PHASE_TOTAL] = {"total_ns", TA_FIELD_SUM}, [PHASE_START] = {"start_ns", TA_FIELD_MIN},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_STEPS] = {"steps", step_fields, STEP_FIELDS},
    [PARTIAL_PHASES] = {"phases", fields, PHASE_FIELDS},
    {0},
};

/* The columns are the fields of the partial, and one more. */
enum { STEP_SHARE = STEP_FIELDS };
static const struct ta_column by_step_columns[] = {
    [STEP_NUMBER] = {"step", "Step", TA_TEXT, .doc = "Label of the step, of all ranks"},
    PHASE_CLASS_COLUMNS(STEP_CLASS),
    [STEP_SHARE] = {"share", "Share", TA_RATIO,
                    .doc = "Total over that of all kernels of the step"},
};

static const struct ta_chart_def step_chart = {
    .id = "kernel-classes-by-step",
    .title = "Class of kernels by step",
    .caption = "Kernel durations summed over all ranks, by the step that launched them.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {&by_step_columns[STEP_NUMBER]},
    .y = {{&by_step_columns[STEP_TOTAL], "Total", TA_INK_SERIES_1}},
    .group = &by_step_columns[STEP_CLASS],
};

static const struct ta_table_def by_step = {
    "kernels.by_step",
    "Class of kernels by step",
    TA_COLUMNS(by_step_columns),
    .doc = "One row per marked step (`ProfilerStep#N`, all ranks together) and class. A kernel "
           "belongs to the step whose marker was open, on any thread, when it was launched; "
           "\"(outside of steps)\" has the others. Left out without markers. Chart "
           "`kernel-classes-by-step`.",
    .tier = TA_TIER_DETAIL,
    .chart = {&step_chart}};

/* ---- finish ---------------------------------------------------------------------------------- */

/* Lists the classes of the step of row `i`; returns the row behind them. */
static size_t list_step(const struct ta_partial *steps, size_t i, struct ta_section_builder *out)
{
    const int64_t step = ta_partial_at(steps, i)[STEP_NUMBER];
    char label[40];
    size_t end = i;
    int64_t all = 0;
    for (; end < ta_partial_rows(steps) && ta_partial_at(steps, end)[STEP_NUMBER] == step; end++)
        all = ta_add_sat(all, ta_partial_at(steps, end)[STEP_TOTAL]);
    snprintf(label, sizeof label, TA_STEP_MARK "%" PRId64, step);
    for (; i < end; i++) {
        const int64_t *row = ta_partial_at(steps, i);
        TA_ROW(out, by_step,
               [STEP_NUMBER] =
                   ta_text(step == TA_MISSING ? TA_LIT("(outside of steps)") : ta_slice_of(label)),
               [STEP_CLASS] = phase_class_cell(row[STEP_CLASS]),
               [STEP_CALLS] = ta_int(row[STEP_CALLS]), [STEP_TOTAL] = ta_int(row[STEP_TOTAL]),
               [STEP_SHARE] = ta_share(row[STEP_TOTAL], all));
    }
    return end;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    /* Rows come by the number of the step, those without one first; they are listed last. */
    const struct ta_partial *steps = merged[PARTIAL_STEPS];
    const size_t n = ta_partial_rows(steps);
    size_t first = 0;
    while (first < n && ta_partial_at(steps, first)[STEP_NUMBER] == TA_MISSING)
        first++;
    if (first != n) {
        for (size_t i = first; i < n;)
            i = list_step(steps, i, out);
        if (first > 0)
            list_step(steps, 0, out);
    }
    return phase_list(merged[PARTIAL_PHASES], out)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot list the phases");
}

static const char *const behind[] = {"kernels_by_class", NULL};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{PARTIAL_STEPS, STEP_CLASS, TA_KERNEL_KIND_COUNT},
                                         {PARTIAL_PHASES, PHASE_CLASS, TA_KERNEL_KIND_COUNT},
                                         TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_step, &kernels_by_phase, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .behind = behind,
                                           .section = "kernels",
                                           .partials = partials,
                                           .map = phase_map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, kernels_by_phase, &ops, .title = "Kernel classes by step and phase",
          .summary = "What kernels do, by step and by annotated range: kernels.by_step, "
                     "kernels.by_phase",
          .version = "1");
