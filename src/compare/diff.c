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

#include <math.h>
#include <stdlib.h>

/* By what reads them; what several parts read stands where it is read first. */
const char *const ta_diff_analyses[] = {
    /* how long a run takes, and what its window is made of */
    "gpu_time", "gpu_idle", "sessions", "stages", "windows", "ops_by_name",
    /* names, and their place in the program */
    "kernels_by_name", "kernels_by_op", "ops_by_caller",
    /* figures: steps, blocks, rates, and every scalar */
    "steps", "diffusion", "throughput", "overview", "overview_dumps", "roofline", "layout_tax",
    "kernel_precision", "health",
    /* memory, means, clocks */
    "memory", "memory_allocator", "kernels_by_class", "telemetry",
    /* what runs are of */
    "files", "event_kinds", "models", "ops_by_shape", "attention", NULL};

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
        lengths[i] = (struct length){ta_run_time(runs->runs[i]), i};
    qsort(lengths, runs->n, sizeof *lengths, by_length);
    diff->shown[side] = runs->runs[lengths[(runs->n - 1) / 2].run];
    return true;
}

/* Sections in the order of the questions; parts fill them in the order of what they need. */
static void open_sections(struct diff *diff)
{
    static const char *const sections[][2] = {
        {"gates", "Gates"}, /* judged when all else is there */
        {"findings", "Findings"},
        {"diff", "What changed"},
        {"diff_stages", "Stages compared"},
        {"diff_kernels", "Kernels compared"},
        {"diff_ops", "Operators compared"},
        {"diff_memory", "Memory compared"},
        {"diff_runs", "Runs compared"},
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        ta_report_open_section(diff->out, sections[i][0], sections[i][1]);
}

/* ---- together ----------------------------------------------------------------------------- */

static enum ta_status compare(struct diff *diff)
{
    bool done = choose_run(diff, TA_DIFF_BASE) && choose_run(diff, TA_DIFF_NEW);
    open_sections(diff);
    if (done)
        diff_find_unit(diff);
    done = done && diff_add_names(diff) && diff_alias(diff) && diff_add_sets(diff) &&
           diff_add_waterfall(diff) && diff_add_metrics(diff) && diff_add_steps(diff) &&
           diff_add_step_classes(diff) && diff_add_memory(diff) && diff_add_divergence(diff);
    if (done) {
        diff_add_normalized(diff);
        diff_add_mix(diff);
        diff_add_machine(diff);
        diff_add_environment(diff);
        diff_find_offloading(diff);
        diff_add_runs(diff);
        diff_add_verdict(diff);
    }
    ta_arena_free(&diff->arena);
    if (!done || ta_report_freeze(diff->out) != TA_OK)
        return ta_fail(diff->ctx, TA_ERR_NOMEM, "Cannot hold the comparison");
    return TA_OK;
}

enum ta_status ta_diff_add(struct ta_ctx *ctx, const struct ta_diff_side sides[TA_DIFF_SIDES],
                           const struct ta_judging *judging, struct ta_report *report)
{
    struct diff diff = {.ctx = ctx,
                        .sides = sides,
                        .judging = judging,
                        .out = report,
                        .window_ns = {TA_MISSING, TA_MISSING},
                        .compute_ns = {TA_MISSING, TA_MISSING},
                        .units = {1, 1},
                        .basis = TA_BASIS_NONE,
                        .time_ratio = {(double)NAN, (double)NAN, (double)NAN}};
    return compare(&diff);
}

enum ta_status ta_diff(struct ta_ctx *ctx, const struct ta_diff_side sides[TA_DIFF_SIDES],
                       const struct ta_judging *judging, const char *title,
                       struct ta_report **report)
{
    struct ta_report *made = ta_report_new();
    if (!made)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report");
    ta_report_set_kind(made, TA_REPORT_DIFF);
    const enum ta_status status =
        diff_describe(sides, title, made)
            ? ta_diff_add(ctx, sides, judging, made)
            : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the accounts of the runs");
    if (status == TA_OK)
        *report = made;
    else
        ta_report_free(made);
    return status;
}
