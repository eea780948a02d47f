/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of all ranks that programs mark, as the pipeline finds them once for all. */
#ifndef TA_RANKS_STEPS_H
#define TA_RANKS_STEPS_H

#include "model/program/steps.h"
#include "traceanalyze/analysis.h"

struct ta_entry;
struct ta_partial_set;
struct ta_plan;

/* Times are since the earliest span of the rank; device times are TA_MISSING where nothing
 * was launched in the step. */
struct ta_step {
    int64_t rank;
    struct ta_slice label;
    enum ta_steps_by by;
    int64_t number;   /* as in struct ta_program_step */
    uint64_t repeats; /* steps of the rank before it that have the same label */
    int64_t host_start, host_dur;
    int64_t recorded;           /* the part of host_dur that the profiler recorded */
    int64_t gpu_start, gpu_end; /* first start and last end of what was launched in it */
    int64_t gpu_busy;           /* union of these activities over all devices */
    int64_t kernels, lost;      /* launched in it: those recorded, and those that are not */
};

/* A request, or a step of an engine, that is none of the steps. */
struct ta_request_mark {
    int64_t rank;
    struct ta_slice name;
    int64_t start, dur;
};

struct ta_steps {
    struct ta_step *at; /* by rank, then start; malloc'd */
    size_t n;
    /* What a rank marks itself whose steps are the denoiser's: one step around them. */
    struct ta_step *around; /* likewise */
    size_t n_around;
    struct ta_request_mark *requests; /* likewise */
    size_t n_requests;
};

void ta_steps_free(struct ta_steps *steps);

/* What the stage takes from each trace, as an analysis without finish(). */
extern const struct ta_entry ta_steps_entry;

/* Settles the stage's partial, whose texts stay borrowed, and lists the steps.  Nothing where the
 * plan does without the stage. */
enum ta_status ta_steps_run(struct ta_ctx *ctx, const struct ta_plan *plan,
                            struct ta_partial_set *set, const int64_t *final_ranks, size_t n,
                            struct ta_steps *steps) TA_MUST_CHECK;

#endif
