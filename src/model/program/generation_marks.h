/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a trace while its generation is found from marks: for generation.c and the files
 * that find images and steps. */
#ifndef TA_PROGRAM_GENERATION_MARKS_H
#define TA_PROGRAM_GENERATION_MARKS_H

#include "base/vec.h"
#include "model/program/generation.h"

/* A span whose name says a phase. */
struct generation_mark {
    ta_row row;
    uint32_t track;
    int64_t start, end;
    struct generation_name name;
    enum ta_generation_phase
        outer;     /* of the nearest mark around it, of the same source; or PHASES */
    size_t range;  /* the nearest range around it, of any phase; or SIZE_MAX */
    bool is_inner; /* it holds no other mark of its source and phase */
};

/* A range of one request of several. */
struct generation_request {
    uint32_t track;
    int64_t start, end, number;
};

struct generation_finding {
    const struct ta_trace *trace;
    struct ta_spans spans;
    TA_VEC(struct generation_mark) marks;       /* by track, start and length: the order of rows */
    TA_VEC(struct generation_request) requests; /* likewise */
    TA_VEC(struct ta_generation_call) calls;
    TA_VEC(struct ta_generation_step) steps;
    TA_VEC(struct ta_generation_stage) stages;
    bool trains, failed;
    bool share_thread; /* images that are denoised in turns have one thread */
    struct ta_generation *found;
};

enum { GENERATION_RANGES_MOST = 64 }; /* that are looked at around a mark */

/* The mark that is a row; there is one. */
const struct generation_mark *generation_mark_of(const struct generation_finding *f, ta_row row);

/* The times of calls anew, once their order has changed; `between` as generation_time_calls() gives
 * it.  False without memory. */
TA_MUST_CHECK bool generation_sort_calls(struct generation_finding *f, size_t *between);

/* Adds the decodes that kernels between passes of the denoiser show, where no mark names any; once
 * calls are sorted, which they are not any more where there are some.  False without memory. */
TA_MUST_CHECK bool generation_add_decodes(struct generation_finding *f);

/* The number of the request that a call is of, by ranges around it or its name; or TA_MISSING. */
int64_t generation_request_at(const struct generation_finding *f, size_t call);

/* The number of the request of each call as its image, where several are denoised in turns, and
 * how many these are; sorts the calls by it.  False without memory. */
TA_MUST_CHECK bool generation_find_turns(struct generation_finding *f, size_t *between);

/* The image of each call, and how many images, prompts and requests there are.  False without
 * memory. */
TA_MUST_CHECK bool generation_find_images(struct generation_finding *f, size_t *between);

/* The steps of the stages.  False without memory. */
TA_MUST_CHECK bool generation_find_steps(struct generation_finding *f, const size_t *between);

#endif
