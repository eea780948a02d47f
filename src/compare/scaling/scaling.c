/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole comparison of world sizes. */
#include "compare/scaling/scaling.h"

#include "base/context.h"
#include "compare/compare.h"
#include "recommend/recommend.h"
#include "report/report.h"
#include "compare/scaling/runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const struct ta_table_def *const tables[] = {&scaling_run_table, &scaling_curve,
                                                    &scaling_fits, &scaling_factor_table, NULL};

static const struct ta_part made = {.name = "scaling", .tables = tables};

const struct ta_part *const ta_scaling_parts[] = {&made, NULL};

/* ---- the head ----------------------------------------------------------------------------- */

/* The head of a comparison has two sides; the world size is the one of the first run of the other
 * side. */
static bool describe(struct scaling *scaling, const char *title)
{
    const struct scaling_run *first = scaling->runs, *last = scaling->runs + scaling->n - 1;
    const struct ta_report **runs = ta_arena_alloc(&scaling->arena, scaling->n * sizeof *runs);
    if (!runs)
        return false;
    for (size_t i = 0; i < scaling->n; i++)
        runs[i ? scaling->n - i : 0] = scaling->runs[i].report;
    const struct ta_diff_side sides[TA_DIFF_SIDES] = {
        [TA_DIFF_BASE] = {runs, 1}, [TA_DIFF_NEW] = {runs + 1, scaling->n - 1}};
    if (!title)
        title =
            ta_arena_printf(ta_report_arena(scaling->out), "%s to %s", first->title, last->title);
    return title && diff_describe(sides, title, scaling->out);
}

/* What the largest run comes to, and what the laws say of it. */
static void add_verdict(const struct scaling *scaling)
{
    const struct scaling_run *base = scaling->runs, *last = &scaling->runs[scaling->n - 1];
    char line[512], efficiency[TA_UNIT_TEXT_MAX], serial[TA_UNIT_TEXT_MAX];
    int length = snprintf(
        line, sizeof line,
        "%" PRId64 " ranks are %.3g times as fast as %" PRId64 ", %s of what they could be",
        last->world, last->speedup.value, base->world,
        ta_unit_format(efficiency, last->speedup.value / last->size, TA_UNIT_RATIO));
    if (isfinite(scaling->usl.peak) && scaling->usl.kappa > 0)
        snprintf(line + length, sizeof line - (size_t)length,
                 "; by the universal scalability law more than %.0f are slower",
                 scaling->usl.peak * (double)base->world);
    else if (scaling->amdahl.serial > 0)
        snprintf(line + length, sizeof line - (size_t)length,
                 "; a serial part of %s limits the speed-up to %.3g",
                 ta_unit_format(serial, scaling->amdahl.serial, TA_UNIT_RATIO),
                 scaling->amdahl.ceiling);
    ta_report_set_verdict(scaling->out, line, ta_report_verdict(scaling->out)->bottleneck);
}

/* ---- together ----------------------------------------------------------------------------- */

static enum ta_status check(const struct scaling *scaling)
{
    if (!(scaling_latency(scaling, scaling->runs) > 0) ||
        !(scaling_latency(scaling, &scaling->runs[scaling->n - 1]) > 0))
        return ta_fail(scaling->ctx, TA_ERR_INPUT,
                       "Nothing says how long all runs took: no steps, blocks of frames, or "
                       "device activities");
    if (scaling->sizes < 2)
        return ta_fail(scaling->ctx, TA_ERR_INPUT,
                       "All runs have the same world size, %" PRId64 "; scaling needs two",
                       scaling->runs->world);
    return TA_OK;
}

static enum ta_status compare(struct scaling *scaling, const struct ta_report *const *runs,
                              const char *title)
{
    bool done = true;
    scaling->runs = ta_arena_alloc(&scaling->arena, scaling->n * sizeof *scaling->runs);
    for (size_t i = 0; scaling->runs && done && i < scaling->n; i++)
        done = scaling_read(scaling, runs[i], &scaling->runs[i]);
    if (!scaling->runs || !done || !scaling_compare(scaling) || !scaling_fit(scaling))
        return ta_fail(scaling->ctx, TA_ERR_NOMEM, "Out of memory: runs=%zu", scaling->n);
    enum ta_status status = check(scaling);
    if (status != TA_OK)
        return status;
    ta_report_open_section(scaling->out, "findings", "Findings");
    struct ta_section_builder *out = ta_report_open_section(scaling->out, "scaling", "Scaling");
    ta_declare_tables(out, tables);
    scaling_add_runs(scaling, out);
    scaling_add_laws(scaling, out);
    scaling_add_factors(scaling, out);
    ta_close_tables(out);
    if (!describe(scaling, title))
        return ta_fail(scaling->ctx, TA_ERR_NOMEM, "Cannot hold the accounts of the runs");
    status = ta_recommend(scaling->ctx, scaling->registry, scaling->out);
    add_verdict(scaling);
    if (status == TA_OK && ta_report_freeze(scaling->out) != TA_OK)
        status = ta_fail(scaling->ctx, TA_ERR_NOMEM, "Cannot hold the comparison");
    return status;
}

enum ta_status ta_scaling(struct ta_ctx *ctx, const struct ta_registry *registry,
                          const struct ta_report *const *runs, size_t n, enum ta_scaling_kind kind,
                          const char *title, struct ta_report **report)
{
    struct scaling scaling = {
        .ctx = ctx, .registry = registry, .n = n, .kind = kind, .out = ta_report_new()};
    if (!scaling.out)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a report");
    const enum ta_status status = compare(&scaling, runs, title);
    if (status == TA_OK)
        *report = scaling.out;
    else
        ta_report_free(scaling.out);
    ta_arena_free(&scaling.arena);
    return status;
}
