/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the time of a run goes, by stage.
 *
 * Each thread counts in the times of its own context, and a worker's times are added to the run's
 * when it has ended; so no clock needs a lock. A clock is read a few times per file, never per
 * event. */
#ifndef TA_BASE_STOPWATCH_H
#define TA_BASE_STOPWATCH_H

#include <stdint.h>

enum ta_stage {
    TA_STAGE_DISCOVER,
    TA_STAGE_FILES,     /* from the first worker's start to the last one's end */
    TA_STAGE_INFLATE,   /* of files that several threads read; else a part of reading */
    TA_STAGE_READ,      /* read and parse */
    TA_STAGE_NORMALIZE, /* to a frozen trace */
    TA_STAGE_ANALYZE,   /* map */
    TA_STAGE_FINISH,    /* account, and finish the sections */
    TA_STAGE_RECOMMEND,
    TA_STAGE_RENDER, /* what helpers spend on products; the CLI times each output */
    TA_STAGE_COUNT
};

/* A place in time, or a time spent: by a clock on the wall, and of a thread on the processor. */
struct ta_lap {
    int64_t wall_ns, cpu_ns;
};

struct ta_times {
    struct ta_lap since; /* end of the last lap */
    struct ta_lap stages[TA_STAGE_COUNT];
};

/* Now, for the calling thread. */
struct ta_lap ta_lap_now(void);
/* Adds the time from `start` until now. */
void ta_lap_add(struct ta_lap *sum, struct ta_lap start);

/* What follows counts; call it from the thread that calls ta_times_lap(). */
void ta_times_start(struct ta_times *times);
/* What has passed since the start, or the last lap, was for this stage. */
void ta_times_lap(struct ta_times *times, enum ta_stage stage);
/* Adds what another thread spent. */
void ta_times_add(struct ta_times *times, const struct ta_times *more);

#endif
