/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this folder share: a trace's denoising, phases and calls. */
#ifndef TA_GENERATION_PARTIALS_H
#define TA_GENERATION_PARTIALS_H

#include <traceanalyze/analysis.h>

enum { PARTIAL_RUNS, PARTIAL_STAGES, PARTIAL_CALLS };

enum {
    RUN_RANK,
    RUN_BY,
    RUN_DENOISER,
    RUN_IMAGES,
    RUN_COMPLETE,
    RUN_BLOCKS,
    RUN_STEPS,
    RUN_FORWARDS,
    RUN_PER_STEP,
    RUN_LAYERS,
    RUN_FULL,
    RUN_PERIODS,
    RUN_PERIODS_NS,
    RUN_WINDOW,
    RUN_COVERED,
    RUN_CONFIDENCE,
    RUN_PROMPTS,
    RUN_REQUESTS,
    RUN_AT_ONCE,
    RUN_MAKES,
    RUN_FIELDS
};

/* Fields of a stage or a call. */
enum {
    OF_RANK,
    OF_START,
    OF_ORDER,
    OF_PHASE,
    OF_BY,
    OF_NAME,
    OF_IMAGE,
    OF_STEP,
    OF_KIND,
    OF_CALLS,
    OF_CALLS_HOST,
    OF_HOST_START,
    OF_HOST_DUR,
    OF_GPU_START,
    OF_GPU_DUR,
    OF_GPU_BUSY,
    OF_TIME,
    OF_KERNELS,
    OF_FIELDS
};

extern const struct ta_partial_def generation_partials[];
extern const struct ta_bound generation_bounds[];

/* The partials of a trace. */
enum ta_status generation_collect(struct ta_ctx *ctx, const struct ta_trace *trace,
                                  struct ta_partial *const *out);

#endif
