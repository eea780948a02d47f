/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Denoising steps of runs with a step cache, as the parts of this analysis hand them on. */
#ifndef TA_STEP_CACHES_H
#define TA_STEP_CACHES_H

#include <traceanalyze/analysis.h>

/* What a step did: all blocks of the model, some of them, or hardly any. */
enum { CLASS_FULL, CLASS_PARTIAL, CLASS_CACHED, CLASSES };

/* The partials, in order, and their fields. */
enum { OF_STEPS, OF_HITS, OF_LOOPS, OF_COUNTS, OF_CHECKS };
enum { RANK, FILE_KEY, CACHE, ORDER }; /* keys of the steps and of the hits */
enum {
    PASS = ORDER + 1, /* call of the model in its step, from 1; TA_MISSING where there is one */
    IMAGE,            /* from 1 */
    STEP,             /* in its image, from 1 */
    CLASS,
    DUR,
    BUSY,
    KERNELS,
    KEPT,       /* ta_real_cell(): blocks over the blocks of a full step */
    DIFFERENCE, /* ta_real_cell() */
    STEP_FIELDS
};
enum { HIT_STEP = ORDER + 1, HIT_FIELDS };
/* Of the loop as a whole, where a profiler sums its iterations up. */
enum { LOOP_RANK, LOOP_FILE, LOOP_COUNT, LOOP_TOTAL, LOOP_LEAST, LOOP_MEDIAN, LOOP_FIELDS };
enum { COUNT_RANK, COUNT_CACHE, HITS, MISSES, COUNT_FIELDS };
/* Functions that decide whether a step is cached, of traces. */
enum { CHECK_RANK, CHECK_CACHE, CHECK_METHOD, CHECK_CALLS, CHECK_NS, CHECK_FIELDS };

/* Of a dump: what its rows say. */
void step_caches_of_dump(const struct ta_trace *trace, struct ta_partial *const *out);

/* Of a trace: what calls of the denoiser launch.  False without memory. */
bool step_caches_of_trace(const struct ta_trace *trace, struct ta_partial *const *out);

#endif
