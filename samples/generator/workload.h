/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulated job: block-wise text-to-video generation with Ulysses sequence parallelism. */
#ifndef GENERATOR_WORKLOAD_H
#define GENERATOR_WORKLOAD_H

#include "timeline.h"

#include <stdbool.h>
#include <stdint.h>

/* One more thing that is wrong with the run, for tests of what should find it. */
enum plant {
    PLANT_NONE,
    PLANT_UNFUSED_ATTENTION, /* products and softmax, three times the time of the fused kernel */
    PLANT_FP32,              /* the MLP in fp32 without matrix units, four times the time */
    PLANT_THIN_MATRIX,       /* products of 56 rows, which memory bounds on matrix units */
    PLANT_THIN_VECTOR,       /* the same without them, 1.92 times the time */
    PLANT_ROW_VECTOR,        /* products of 8 rows without them, which memory bounds all the same */
    PLANT_CASTS,             /* each projection is cast twice */
    PLANT_NARROW,            /* projections with 33 blocks, four times the time */
    PLANT_ALLOCATION,        /* memory from the driver in every step */
    PLANT_SLOW_DISPATCH,     /* each operator takes the host longer than its kernels the device */
    PLANT_SYNC,              /* the host waits for the device in every layer */
    PLANT_VALUE_READ,        /* the host reads a number from the device in every layer */
    PLANT_PAGEABLE,          /* weights come from pageable memory on the compute stream */
    PLANT_SLOW_INPUT,        /* batches are loaded in the loop */
    PLANT_SLOW_LINK,         /* transfers between ranks take twelve times as long */
    PLANT_LOST_KERNELS,      /* two kernels of three are not recorded, nor are the first */
    PLANT_CLOCK_SHIFT,       /* the clock of the device lags the host's */
    PLANT_BUFFERS,           /* the profiler stops the host for another buffer again and again */
    PLANT_COUNT
};

extern const char *const plant_names[PLANT_COUNT];

struct workload {
    int ranks, blocks, steps, layers;
    bool optimized; /* see samples/README.md for what differs */
    int late_rank;  /* negative = none */
    uint64_t seed;
    enum plant plant;
};

/*
 * Receives the events of all ranks since the last call and empties the batches.  end_of_block
 * is true after the last batch of a block; only then does the answer count: false ends the job.
 */
typedef bool workload_flush(void *context, struct timeline *timeline, bool end_of_block);

/* Runs at least one block; stops after workload->blocks of them, or when flush says so. */
void workload_run(const struct workload *workload, struct timeline *timeline, workload_flush *flush,
                  void *context);

#endif
