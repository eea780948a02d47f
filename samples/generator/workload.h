/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulated job: block-wise text-to-video generation with Ulysses sequence parallelism. */
#ifndef GENERATOR_WORKLOAD_H
#define GENERATOR_WORKLOAD_H

#include "timeline.h"

#include <stdbool.h>
#include <stdint.h>

struct workload {
    int ranks, blocks, steps, layers;
    bool optimized; /* see samples/README.md for what differs */
    int late_rank;  /* negative = none */
    uint64_t seed;
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
