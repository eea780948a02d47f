/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.loops, phases.by_rank, phases.stages, diffusion.calls: what a program that generates
 * images or videos does, as src/model/program/generation.h finds it in a trace.  collect.c reads
 * it from there; each table has a file of its own. */
#include "partials.h"
#include "tables.h"

#include <traceanalyze/analysis.h>

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    const struct ta_partial *runs = merged[PARTIAL_RUNS], *stages = merged[PARTIAL_STAGES];
    /* Ranks without a denoiser have phases only if another rank denoises. */
    if (!generation_add_loops(runs, in, out))
        return TA_OK;
    generation_add_stages(stages, out);
    generation_add_phases(stages, runs, out);
    generation_add_calls(merged[PARTIAL_CALLS], out);
    generation_draw_phases(stages, out);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&diffusion_loops, &phases_by_rank,
                                                    &phases_stages, &diffusion_calls, NULL};

static const char *const needs_args[] = {"grid", NULL};

static const struct ta_analysis_ops ops = {.section = "phases",
                                           .place = 1, /* it reads diffusion.tokens */
                                           .needs_args = needs_args,
                                           TA_READS(generation_reads),
                                           .bounds = generation_bounds,
                                           .partials = generation_partials,
                                           .map = generation_collect,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, generation, &ops, .title = "Phases and denoising",
          .summary = "Phases, denoising steps and model calls of a diffusion run: diffusion.loops, "
                     "phases.by_rank, phases.stages, diffusion.calls",
          .version = "1");
