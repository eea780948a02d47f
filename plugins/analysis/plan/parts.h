/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a diffusion run was measured to be made of: its steps, and what else a block or image takes.
 * From the records of a profiler or from the calls of a denoiser in a trace. */
#ifndef TA_ANALYSIS_PLAN_PARTS_H
#define TA_ANALYSIS_PLAN_PARTS_H

#include <traceanalyze/analysis.h>

enum {
    BY_RANK_RANK,
    BY_RANK_STEPS,
    BY_RANK_STEP_MEAN,
    BY_RANK_RECORDS,
    BY_RANK_BLOCK_MEAN,
    STEPS_RANK,
    STEPS_PASS,
    STEPS_SIZE,
    STEPS_TIME,
    BLOCKS_RANK,
    BLOCKS_FRAMES,
    BLOCKS_TIME,
    BLOCKS_END,
    BLOCKS_VIDEO,
    VIDEO_RANK,
    VIDEO_RATIO,
    VIDEO_FRAMES,
    VIDEO_DECODE,
    VIDEO_READY,
    VIDEO_ORIGIN,
    VIDEO_FIRST,
    LOOP_RANK,
    LOOP_IMAGES,
    LOOP_BLOCKS,
    LOOP_STEPS,
    LOOP_FORWARDS,
    LOOP_FORWARDS_PER_STEP,
    LOOP_FULL,
    LOOP_PERIOD,
    LOOP_IMAGE,
    CALL_RANK,
    CALL_PHASE,
    CALL_IMAGE,
    CALL_STEP,
    CALL_KIND,
    CALL_GPU_START,
    CALL_HOST_START,
    PHASE_RANK,
    PHASE_NAME,
    PHASE_TIME,
    PLAN_READS
};
extern const struct ta_ref plan_reads[PLAN_READS];

/* Times with the frames of their block, which are 0 where no record says it. */
struct measured {
    double *ns, *size;
    bool *is_short; /* of a step that a cache shortens */
    size_t n;
};

struct parts {
    int64_t rank;
    bool is_image;         /* the unit is an image and no block */
    struct measured steps; /* those that set the run up are left out */
    struct measured rests; /* what a unit takes besides its steps */
    double units;          /* how many were measured */
    double steps_least, steps_most, size_least, size_most; /* of a unit, as measured */
    double block;    /* mean frames of a block; NAN: not known */
    double frames;   /* of a video, as they are shown; NAN: not known */
    double guidance; /* passes of the denoiser in a step; NAN: not known */
    double ratio;    /* frames shown per recorded frame */
    double start_ns; /* before the first block; NAN: not known */
    double after_ns; /* decoding of a whole video after its last block; 0: none */
    double *work;    /* the memory of all of these */
    bool *marks;
};

/* The slowest rank; `n` of its steps is 0 where none was measured.  False without memory; free in
 * either case. */
bool plan_parts_find(const struct ta_refs *in, struct parts *parts);
void plan_parts_free(struct parts *parts);

#endif
