/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole comparison:
 *
 *     choose   runs of each side           → the one that tables show
 *     match    names of both sides         → pairs
 *     tables   pairs, figures, runs        → sections of the report
 *
 * Rendering follows as for any other report. */
#include "compare/diff.h"

#include "base/context.h"
#include "compare/compare.h"
#include "report/report.h"
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>

/* ---- the runs ----------------------------------------------------------------------------- */

struct length {
    int64_t ns;
    size_t run;
};

static int by_length(const void *left, const void *right)
{
    const struct length *a = left, *b = right;
    return a->ns != b->ns ? (a->ns > b->ns) - (a->ns < b->ns)
                          : (a->run > b->run) - (a->run < b->run);
}

/* The lower median, so that it is a run that there was. */
static bool choose_run(struct diff *diff, int side)
{
    const struct ta_diff_side *runs = &diff->sides[side];
    struct length *lengths = ta_arena_alloc(&diff->arena, runs->n * sizeof *lengths);
    if (!lengths)
        return false;
    for (size_t i = 0; i < runs->n; i++)
        lengths[i] = (struct length){ta_run_time(diff->registry, runs->runs[i]), i};
    qsort(lengths, runs->n, sizeof *lengths, by_length);
    diff->shown[side] = runs->runs[lengths[(runs->n - 1) / 2].run];
    ta_readings_open(&diff->in[side], diff->registry, diff->shown[side]);
    return true;
}

/* ---- the parts ---------------------------------------------------------------------------- */

/* In the order of what they need of each other.  Kernels are found by the operators that launch
 * them, so these come first. */
const struct ta_part *const ta_diff_parts[] = {&diff_of_loops.declares,
                                               &diff_of_signals.declares,
                                               &diff_of_stages.declares,
                                               &diff_of_ops.declares,
                                               &diff_of_kernels.declares,
                                               &diff_of_copies.declares,
                                               &diff_of_aliases.declares,
                                               &diff_of_kernel_sets.declares,
                                               &diff_of_op_sets.declares,
                                               &diff_of_phases.declares,
                                               &diff_of_environment.declares,
                                               &diff_of_windows.declares,
                                               &diff_of_ranks.declares,
                                               &diff_of_step_times.declares,
                                               &diff_of_step_classes.declares,
                                               &diff_of_figures.declares,
                                               &diff_of_memory.declares,
                                               &diff_of_divergence.declares,
                                               &diff_of_units.declares,
                                               &diff_of_means.declares,
                                               &diff_of_machine.declares,
                                               &diff_of_offloading.declares,
                                               &diff_of_slower.declares,
                                               &diff_of_recorded.declares,
                                               &diff_of_findings.declares,
                                               &diff_of_runs.declares,
                                               &diff_of_verdict.declares,
                                               &diff_of_first_figures.declares,
                                               NULL};

static bool make(struct diff *diff, const struct diff_part *part)
{
    struct ta_section_builder *out =
        part->section ? ta_report_open_section(diff->out, part->section, "") : NULL;
    ta_declare_tables(out, part->declares.tables);
    ta_declare_scalars(out, part->declares.scalars, part->declares.n_scalars);
    const bool done = part->add(diff, out);
    ta_close_tables(out);
    return done;
}

static enum ta_status compare(struct diff *diff)
{
    bool done = choose_run(diff, TA_DIFF_BASE) && choose_run(diff, TA_DIFF_NEW);
    ta_report_open_section(diff->out, "gates", "Gates"); /* before what decides them */
    ta_sections_prepare(diff->out);
    if (done)
        diff_find_unit(diff);
    for (const struct ta_part *const *part = ta_diff_parts; done && *part; part++)
        done = make(diff, (const struct diff_part *)*part); /* whose first member it is */
    ta_arena_free(&diff->arena);
    if (done && ta_report_fault(diff->out))
        return ta_fail(diff->ctx, TA_ERR_INTERNAL, "The comparison: %s",
                       ta_report_fault(diff->out));
    if (!done || ta_report_freeze(diff->out) != TA_OK)
        return ta_fail(diff->ctx, TA_ERR_NOMEM, "Cannot hold the comparison");
    return TA_OK;
}

enum ta_status ta_diff_add(struct ta_ctx *ctx, const struct ta_registry *registry,
                           const struct ta_diff_side sides[TA_DIFF_SIDES],
                           const struct ta_judging *judging, struct ta_report *report)
{
    struct diff diff = {.ctx = ctx,
                        .registry = registry,
                        .sides = sides,
                        .judging = judging,
                        .out = report,
                        .window_ns = {TA_MISSING, TA_MISSING},
                        .compute_ns = {TA_MISSING, TA_MISSING},
                        .units = {1, 1},
                        .center_ns = {(double)NAN, (double)NAN},
                        .basis = TA_BASIS_NONE,
                        .time_ratio = {(double)NAN, (double)NAN, (double)NAN}};
    return compare(&diff);
}

enum ta_status ta_diff(struct ta_ctx *ctx, const struct ta_registry *registry,
                       const struct ta_diff_side sides[TA_DIFF_SIDES],
                       const struct ta_judging *judging, const char *title,
                       struct ta_report **report)
{
    struct ta_report *made = ta_report_new();
    if (!made)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report");
    ta_report_set_kind(made, TA_REPORT_DIFF);
    const enum ta_status status =
        diff_describe(sides, title, made)
            ? ta_diff_add(ctx, registry, sides, judging, made)
            : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the accounts of the runs");
    if (status == TA_OK)
        *report = made;
    else
        ta_report_free(made);
    return status;
}
