/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulated run of Inferix: four data-parallel ranks, each of which makes one video of 7 blocks.
 */
#ifndef GENERATOR_INFERIX_RUN_H
#define GENERATOR_INFERIX_RUN_H

#include "dump_json.h"
#include "rng.h"

enum {
    RUN_RANKS = 4,
    RUN_LATE = 2, /* its device is hot and lowers its clock */
    RUN_BLOCKS = 7,
    RUN_STEPS = 4,
    RUN_FRAMES = 3,
    RUN_ALL_STEPS = RUN_BLOCKS * RUN_STEPS,
    RUN_LAYERS = 3,
    RUN_CORES = 8,
    RUN_MAX_SAMPLES = 64,
    DEVICE_TOTAL_MIB = 143771, /* H200 */
    HOST_TOTAL_MIB = 515860,
};

enum run_stage { STAGE_TEXT, STAGE_VAE, STAGE_SAVE, STAGE_INFERENCE, STAGE_COUNT };

/* Times are µs since the Unix epoch, durations µs. */
struct run_step {
    int64_t layers[RUN_LAYERS], dur, end;
    bool hit; /* of the context cache */
};

struct run_block {
    int64_t dur, end, memory_kib; /* largest memory so far */
};

struct run_batch { /* of frames to the viewer */
    int64_t frames, dropped, encoding, latency, end;
};

struct device {
    int64_t memory_mib, utilization, temperature, power_mw, clock;
};

struct gpu_sample {
    int64_t time;
    struct device devices[RUN_RANKS];
    struct device total; /* sums of memory and power, largest of the others */
};

struct cpu_sample {
    int64_t time, memory_mib;
    int64_t usage, cores[RUN_CORES]; /* tenths of a percent */
};

struct run {
    int rank;
    int64_t start, end, now;
    struct run_step steps[RUN_ALL_STEPS];
    struct run_block blocks[RUN_BLOCKS];
    struct run_batch batches[RUN_BLOCKS];
    struct spread stages[STAGE_COUNT];
    int gpu_count, cpu_count;
    struct gpu_sample gpu[RUN_MAX_SAMPLES];
    struct cpu_sample cpu[RUN_MAX_SAMPLES];
    struct rng rng;
};

extern const char *const run_stage_names[STAGE_COUNT];
extern const char *const run_layer_names[RUN_LAYERS];
extern const int run_timesteps[RUN_STEPS]; /* thousandths */

void run_simulate(struct run *run, int rank, uint64_t seed);

/* The two largest files of a rank, and the smaller ones of the whole run. */
bool inferix_write_raw(const struct run *run, const char *folder);
bool inferix_write_summaries(const struct run *runs, const char *folder);
bool inferix_write_console(const struct run *run, const char *folder);

/* Texts of figures that several files hold: a decimal with 0, 1 or 2 places. */
const char *run_figure(char text[32], int64_t value, int places);

struct run_sums {
    struct spread steps, blocks, memory, layers[RUN_LAYERS];
    int64_t hits, misses, evictions;
};

void run_sum(const struct run *run, struct run_sums *sums);

#endif
