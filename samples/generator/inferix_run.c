/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the ranks of the simulated Inferix run do, and what a sampler sees of it meanwhile. */
#include "inferix_run.h"

#define RUN_EPOCH INT64_C(1764583200000000) /* 2025-12-01, in µs */

enum { GPU_INTERVAL = 250000, CPU_INTERVAL = 1000000, SLOW_PERMILLE = 1090 };

const char *const run_stage_names[STAGE_COUNT] = {"text_encode", "vae_decode", "save_video",
                                                  "run_inference"};
const char *const run_layer_names[RUN_LAYERS] = {"self_attention", "cross_attention", "ffn"};
const int run_timesteps[RUN_STEPS] = {1000, 937, 833, 625};

static const int layer_permille[RUN_LAYERS] = {530, 160, 240};

/* Work on the device, which the late rank does more slowly. */
static int64_t work(struct run *run, int64_t us)
{
    const int64_t slow = run->rank == RUN_LATE ? SLOW_PERMILLE : 1000;
    return rng_jitter(&run->rng, us * slow / 1000, 12);
}

static void pass(struct run *run, enum run_stage stage, int64_t dur)
{
    run->now += dur;
    spread_add(&run->stages[stage], dur);
}

/* Attention reads the blocks before; the first step of all also tunes its kernels. */
static void simulate_step(struct run *run, int block, int step)
{
    struct run_step *at = &run->steps[block * RUN_STEPS + step];
    const int64_t once = block == 0 && step == 0 ? 96000 : 0;
    at->dur = work(run, 104000 + 7000 * (block < 6 ? block : 5) + once);
    for (int layer = 0; layer < RUN_LAYERS; layer++)
        at->layers[layer] = rng_jitter(&run->rng, at->dur * layer_permille[layer] / 1000, 10);
    run->now += at->dur;
    at->end = run->now;
    at->hit = step > 0;
}

/* The clean block goes through the model once more, to become context. */
static void simulate_block(struct run *run, int block)
{
    const int64_t start = run->now;
    for (int step = 0; step < RUN_STEPS; step++)
        simulate_step(run, block, step);
    run->now += work(run, 92000 + 6000 * (block < 6 ? block : 5));
    struct run_block *at = &run->blocks[block];
    *at = (struct run_block){
        .dur = run->now - start,
        .end = run->now,
        .memory_kib = (21504 + 1180 * (int64_t)(block < 6 ? block : 5)) * 1024 + 37 * run->rank,
    };
    pass(run, STAGE_VAE, work(run, block == 0 ? 131000 : 158000));
    struct run_batch *batch = &run->batches[block];
    *batch = (struct run_batch){
        .frames = block == 0 ? 9 : 12,
        .encoding = rng_jitter(&run->rng, 18500, 90),
        .latency = rng_jitter(&run->rng, 11200, 250),
        .dropped = block == 4 ? 2 : 0,
    };
    run->now += batch->encoding;
    batch->end = run->now;
}

/* ---- telemetry ------------------------------------------------------------------------------- */

static struct device sample_device(struct run *run, int device, int64_t since)
{
    const bool hot = device == RUN_LATE;
    const bool busy = since > 150000;
    const int64_t warm = since / 700000;
    const int64_t temperature = hot ? 80 + (warm < 7 ? warm : 7) : 58 + device + warm;
    return (struct device){
        .memory_mib = 18230 + (busy ? 6400 : 0) + since / 1000 * 9 / 10 + 16 * device,
        .utilization = busy ? 93 + rng_below(&run->rng, 7) : 4 + rng_below(&run->rng, 9),
        .temperature = temperature - (busy ? 0 : 3),
        .power_mw = rng_jitter(&run->rng, busy ? (hot ? 604000 : 661000) : 128000, 18),
        .clock = busy && hot ? 1725 - 15 * (warm < 6 ? warm : 6) : 1980,
    };
}

static void take_gpu_sample(struct run *run, int64_t time)
{
    struct gpu_sample *sample = &run->gpu[run->gpu_count++];
    sample->time = time;
    for (int i = 0; i < RUN_RANKS; i++) {
        const struct device device = sample_device(run, i, time - run->start);
        struct device *total = &sample->total;
        sample->devices[i] = device;
        total->memory_mib += device.memory_mib;
        total->power_mw += device.power_mw;
        if (device.utilization > total->utilization)
            total->utilization = device.utilization;
        if (device.temperature > total->temperature)
            total->temperature = device.temperature;
    }
}

/* The first reading of a counter that was never read before is 0. */
static void take_cpu_sample(struct run *run, int64_t time)
{
    struct cpu_sample *sample = &run->cpu[run->cpu_count++];
    sample->time = time;
    sample->memory_mib = 38400 + (time - run->start) / 9000;
    if (run->cpu_count == 1)
        return;
    for (int i = 0; i < RUN_CORES; i++) {
        sample->cores[i] = i < 2 ? 940 + rng_below(&run->rng, 60) : 110 + rng_below(&run->rng, 190);
        sample->usage += sample->cores[i];
    }
    sample->usage /= RUN_CORES;
}

static void simulate_telemetry(struct run *run)
{
    int64_t at = run->start + 3100;
    for (; at < run->end && run->gpu_count < RUN_MAX_SAMPLES; at += GPU_INTERVAL)
        take_gpu_sample(run, at + rng_below(&run->rng, 2500));
    for (at = run->start + 4700; at < run->end && run->cpu_count < RUN_MAX_SAMPLES;
         at += CPU_INTERVAL)
        take_cpu_sample(run, at + rng_below(&run->rng, 2500));
}

/* ---- the run --------------------------------------------------------------------------------- */

void run_simulate(struct run *run, int rank, uint64_t seed)
{
    *run = (struct run){.rank = rank};
    rng_seed(&run->rng, seed, UINT64_C(2) << 32 | (uint32_t)rank);
    run->start = RUN_EPOCH + rng_below(&run->rng, 180000);
    run->now = run->start + 60000;
    const int64_t begin = run->now;
    pass(run, STAGE_TEXT, work(run, 212000));
    for (int block = 0; block < RUN_BLOCKS; block++)
        simulate_block(run, block);
    spread_add(&run->stages[STAGE_INFERENCE], run->now - begin);
    pass(run, STAGE_SAVE, rng_jitter(&run->rng, 318000, 40));
    run->end = run->now + 21000;
    simulate_telemetry(run);
}

void run_sum(const struct run *run, struct run_sums *sums)
{
    *sums = (struct run_sums){.evictions = 1};
    for (int i = 0; i < RUN_ALL_STEPS; i++) {
        const struct run_step *step = &run->steps[i];
        spread_add(&sums->steps, step->dur);
        for (int layer = 0; layer < RUN_LAYERS; layer++)
            spread_add(&sums->layers[layer], step->layers[layer]);
        sums->hits += step->hit;
        sums->misses += !step->hit;
    }
    for (int i = 0; i < RUN_BLOCKS; i++) {
        spread_add(&sums->blocks, run->blocks[i].dur);
        spread_add(&sums->memory, run->blocks[i].memory_kib);
    }
}

const char *run_figure(char text[32], int64_t value, int places)
{
    int64_t unit = 1;
    for (int i = 0; i < places; i++)
        unit *= 10;
    if (places == 1)
        snprintf(text, 32, "%u.%u", (unsigned)(value / unit), (unsigned)(value % unit));
    else if (places == 2)
        snprintf(text, 32, "%u.%02u", (unsigned)(value / unit), (unsigned)(value % unit));
    else
        snprintf(text, 32, "%u", (unsigned)value);
    return text;
}
