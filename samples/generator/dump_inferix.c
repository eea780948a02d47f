/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inferix: the session report of every rank, with its figures as its own reporter computes them. */
#include "dumps.h"
#include "inferix_run.h"

#define REPORT_NAME "profiling_report_t2v_generation_20251201_100006.json"

/* Mean, smallest and largest of µs as ms. */
static void put_times(struct json *json, const struct spread *times)
{
    json_number(json, "total_computation_time_ms", times->sum, 3);
    json_number(json, "avg_computation_time_ms", spread_mean(times, 6), 9);
    json_number(json, "min_computation_time_ms", times->min, 3);
    json_number(json, "max_computation_time_ms", times->max, 3);
}

static void put_tags(struct json *json, const struct run *run)
{
    json_begin(json, "tags", '{');
    json_text(json, "model", "self_forcing");
    json_text(json, "experiment", "batch_of_four_prompts");
    json_text(json, "mode", "text_to_video");
    json_integer(json, "num_prompts", RUN_RANKS);
    json_integer(json, "num_output_frames", RUN_BLOCKS * RUN_FRAMES);
    json_integer(json, "num_samples", 1);
    json_integer(json, "rank", run->rank);
    json_integer(json, "local_rank", run->rank);
    json_integer(json, "world_size", RUN_RANKS);
    json_integer(json, "ulysses_size", 1);
    json_integer(json, "ring_size", 1);
    json_end(json);
}

static void put_session(struct json *json, const struct run *run)
{
    json_begin(json, "session_info", '{');
    json_text(json, "id", "t2v_generation");
    json_number(json, "start_time", run->start, 6);
    json_number(json, "end_time", run->end, 6);
    json_number(json, "duration", run->end - run->start, 6);
    put_tags(json, run);
    json_number(json, "generated_at", run->end + 4200, 6);
    json_end(json);
}

/* ---- telemetry ------------------------------------------------------------------------------- */

struct telemetry {
    struct spread memory, utilization, temperature, power, usage, host;
    int64_t square; /* of the utilization, summed up */
};

static struct telemetry sum_telemetry(const struct run *run)
{
    struct telemetry sums = {.square = 0};
    for (int i = 0; i < run->gpu_count; i++) {
        const struct device *total = &run->gpu[i].total;
        spread_add(&sums.memory, total->memory_mib);
        spread_add(&sums.utilization, total->utilization);
        spread_add(&sums.temperature, total->temperature);
        spread_add(&sums.power, total->power_mw);
        sums.square += total->utilization * total->utilization;
    }
    for (int i = 0; i < run->cpu_count; i++) {
        spread_add(&sums.usage, run->cpu[i].usage);
        spread_add(&sums.host, run->cpu[i].memory_mib);
    }
    return sums;
}

static void put_summary(struct json *json, const struct telemetry *sums)
{
    json_begin(json, "summary", '{');
    json_begin(json, "gpu", '{');
    json_integer(json, "peak_memory_usage_mb", sums->memory.max);
    json_number(json, "avg_memory_usage_mb", spread_mean(&sums->memory, 9), 9);
    json_number(json, "peak_memory_utilization",
                ratio(sums->memory.max, INT64_C(100000000000), RUN_RANKS * DEVICE_TOTAL_MIB), 9);
    json_number(json, "avg_gpu_utilization", spread_mean(&sums->utilization, 9), 9);
    json_integer(json, "peak_gpu_utilization", sums->utilization.max);
    json_end(json);
    json_begin(json, "cpu", '{');
    json_number(json, "avg_cpu_usage", spread_mean(&sums->usage, 8), 9);
    json_number(json, "peak_cpu_usage", sums->usage.max, 1);
    json_number(json, "avg_memory_usage_mb", spread_mean(&sums->host, 9), 9);
    json_integer(json, "peak_memory_usage_mb", sums->host.max);
    json_end(json);
    json_end(json);
}

static void put_memory_analysis(struct json *json, const struct spread *used, int64_t total)
{
    json_begin(json, "memory_analysis", '{');
    json_integer(json, "peak_usage_mb", used->max);
    json_number(json, "avg_usage_mb", spread_mean(used, 9), 9);
    json_integer(json, "min_usage_mb", used->min);
    json_integer(json, "total_memory_mb", total);
    json_number(json, "peak_utilization_percent", ratio(used->max, INT64_C(100000000000), total),
                9);
    json_end(json);
}

/* min(100, (mean + max(0, 100 - variance)) / 2): the efficiency as Inferix has it. */
static void put_utilization_analysis(struct json *json, const struct telemetry *sums)
{
    const struct spread *use = &sums->utilization;
    const int64_t mean = spread_mean(use, 6);
    const int64_t deviations = sums->square * use->count - use->sum * use->sum;
    const int64_t variance = ratio(deviations, 1000000, use->count * use->count);
    const int64_t steady = variance < 100000000 ? 100000000 - variance : 0;
    json_begin(json, "utilization_analysis", '{');
    json_integer(json, "peak_utilization", use->max);
    json_number(json, "avg_utilization", mean, 6);
    json_integer(json, "min_utilization", use->min);
    json_number(json, "utilization_efficiency", (mean + steady) / 2, 6);
    json_end(json);
}

/* The energy is the sum of the power times the number of samples times half a second. */
static void put_heat_analyses(struct json *json, const struct telemetry *sums)
{
    json_begin(json, "temperature_analysis", '{');
    json_integer(json, "peak_temperature", sums->temperature.max);
    json_number(json, "avg_temperature", spread_mean(&sums->temperature, 9), 9);
    json_integer(json, "min_temperature", sums->temperature.min);
    json_word(json, "thermal_throttling_risk", sums->temperature.max > 85 ? "true" : "false");
    json_end(json);
    json_begin(json, "power_analysis", '{');
    json_number(json, "peak_power_watts", sums->power.max, 3);
    json_number(json, "avg_power_watts", spread_mean(&sums->power, 6), 9);
    json_number(json, "total_energy_wh",
                ratio(sums->power.sum, 1000000 * sums->power.count, 2 * 3600), 9);
    json_end(json);
}

static void put_gpu_metrics(struct json *json, const struct run *run, const struct telemetry *sums)
{
    json_begin(json, "gpu_metrics", '{');
    json_integer(json, "total_samples", run->gpu_count);
    json_begin(json, "timeline", '[');
    for (int i = 0; i < run->gpu_count; i++) {
        const struct gpu_sample *sample = &run->gpu[i];
        json_begin(json, NULL, '{');
        json_number(json, "timestamp", sample->time, 6);
        json_integer(json, "memory_used_mb", sample->total.memory_mib);
        json_integer(json, "memory_total_mb", RUN_RANKS * DEVICE_TOTAL_MIB);
        json_integer(json, "utilization", sample->total.utilization);
        json_integer(json, "temperature", sample->total.temperature);
        json_number(json, "power", sample->total.power_mw, 3);
        json_end(json);
    }
    json_end(json);
    put_memory_analysis(json, &sums->memory, RUN_RANKS * DEVICE_TOTAL_MIB);
    put_utilization_analysis(json, sums);
    put_heat_analyses(json, sums);
    json_end(json);
}

static void put_cpu_metrics(struct json *json, const struct run *run, const struct telemetry *sums)
{
    json_begin(json, "cpu_metrics", '{');
    json_integer(json, "total_samples", run->cpu_count);
    json_begin(json, "timeline", '[');
    for (int i = 0; i < run->cpu_count; i++) {
        json_begin(json, NULL, '{');
        json_number(json, "timestamp", run->cpu[i].time, 6);
        json_number(json, "cpu_usage", run->cpu[i].usage, 1);
        json_integer(json, "memory_used_mb", run->cpu[i].memory_mib);
        json_integer(json, "memory_total_mb", HOST_TOTAL_MIB);
        json_end(json);
    }
    json_end(json);
    json_begin(json, "cpu_analysis", '{');
    json_number(json, "peak_usage", sums->usage.max, 1);
    json_number(json, "avg_usage", spread_mean(&sums->usage, 8), 9);
    json_number(json, "min_usage", sums->usage.min, 1);
    json_end(json);
    put_memory_analysis(json, &sums->host, HOST_TOTAL_MIB);
    json_end(json);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static void put_stage(struct json *json, const char *name, const struct spread *stage,
                      int64_t total)
{
    json_begin(json, name, '{');
    json_number(json, "total_time", stage->sum, 6);
    json_integer(json, "call_count", stage->count);
    json_number(json, "avg_time", spread_mean(stage, 3), 9);
    json_number(json, "min_time", stage->min, 6);
    json_number(json, "max_time", stage->max, 6);
    json_number(json, "percentage_of_total", ratio(stage->sum, INT64_C(100000000000), total), 9);
    json_end(json);
}

/* run_inference contains the first two, and they are added up all the same. */
static void put_stages(struct json *json, const struct run *run)
{
    int64_t total = 0;
    for (int i = 0; i < STAGE_COUNT; i++)
        total += run->stages[i].sum;
    json_begin(json, "stage_analysis", '{');
    json_integer(json, "total_stages", STAGE_COUNT);
    json_number(json, "total_time", total, 6);
    json_begin(json, "stages", '{');
    for (int i = 0; i < STAGE_COUNT; i++)
        put_stage(json, run_stage_names[i], &run->stages[i], total);
    json_end(json);
    json_begin(json, "bottlenecks", '[');
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (run->stages[i].sum * 10 <= total * 3)
            continue;
        json_begin(json, NULL, '{');
        json_text(json, "stage", run_stage_names[i]);
        json_number(json, "percentage", ratio(run->stages[i].sum, INT64_C(100000000000), total), 9);
        json_number(json, "total_time", run->stages[i].sum, 6);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

/* ---- events ---------------------------------------------------------------------------------- */

struct model {
    const char *name, *type;
    int64_t parameters;
};

static const struct model models[] = {
    {"WanDiffusionGenerator", "diffusion", 1418996800},
    {"WanTextEncoder", "text_encoder", 5680910336},
    {"WanVAE", "vae", 126892531},
};

enum { MODEL_COUNT = sizeof models / sizeof models[0] };

static void begin_event(struct json *json, const char *name, int64_t time)
{
    json_begin(json, NULL, '{');
    json_text(json, "name", name);
    json_number(json, "timestamp", time, 6);
    json_begin(json, "data", '{');
}

static void end_event(struct json *json)
{
    json_end(json);
    json_end(json);
}

static void put_first_events(struct json *json, const struct run *run)
{
    begin_event(json, "checkpoint_loaded", run->start + 1900);
    json_text(json, "checkpoint_path", "checkpoints/self_forcing_dmd.pt");
    json_word(json, "use_ema", "true");
    end_event(json);
    for (int i = 0; i < MODEL_COUNT; i++) {
        begin_event(json, "model_parameters", run->start + 2600 + 40 * i);
        json_text(json, "model_name", models[i].name);
        json_integer(json, "parameters_count", models[i].parameters);
        json_text(json, "model_type", models[i].type);
        end_event(json);
    }
}

static void put_step_data(struct json *json, const struct run_step *step, int number)
{
    json_integer(json, "step", number);
    json_number(json, "timestep", run_timesteps[number], 3);
    json_integer(json, "block_size", RUN_FRAMES);
    json_number(json, "computation_time_ms", step->dur, 3);
    json_number(json, "guidance_scale", 3, 0);
}

static void put_block_data(struct json *json, const struct run_block *block, int number)
{
    json_integer(json, "block_index", number);
    json_integer(json, "block_size", RUN_FRAMES);
    json_number(json, "computation_time_ms", block->dur, 3);
    json_number(json, "memory_usage_mb", ratio(block->memory_kib, 1000000, 1024), 6);
}

static void put_cache_event(struct json *json, const char *type, int64_t time, int block)
{
    const int64_t size = 4680 * (int64_t)(block < 6 ? block : 6);
    begin_event(json, "cache_event", time);
    json_text(json, "event_type", type);
    json_integer(json, "cache_size", size);
    json_integer(json, "requested_size", 4680);
    json_integer(json, "evicted_size", strcmp(type, "evictions") == 0 ? 4680 : 0);
    end_event(json);
}

static void put_step_events(struct json *json, const struct run_step *step, int block, int number)
{
    static const int64_t parameters[RUN_LAYERS] = {283115520, 283115520, 825753600};
    for (int layer = 0; layer < RUN_LAYERS; layer++) {
        begin_event(json, "layer_computation", step->end - 900 + 20 * layer);
        json_text(json, "layer_name", run_layer_names[layer]);
        json_number(json, "computation_time_ms", step->layers[layer], 3);
        json_integer(json, "parameters_count", parameters[layer]);
        end_event(json);
    }
    begin_event(json, "diffusion_step", step->end);
    put_step_data(json, step, number);
    end_event(json);
    put_cache_event(json, step->hit ? "hits" : "misses", step->end + 15, block);
}

static void put_events(struct json *json, const struct run *run)
{
    json_begin(json, "events", '[');
    put_first_events(json, run);
    for (int block = 0; block < RUN_BLOCKS; block++) {
        for (int step = 0; step < RUN_STEPS; step++)
            put_step_events(json, &run->steps[block * RUN_STEPS + step], block, step);
        if (block == RUN_BLOCKS - 1)
            put_cache_event(json, "evictions", run->blocks[block].end - 30, block);
        begin_event(json, "block_computation", run->blocks[block].end);
        put_block_data(json, &run->blocks[block], block);
        end_event(json);
    }
    begin_event(json, "generation_completed", run->end - 21400);
    json_begin(json, "output_shape", '[');
    json_integer(json, NULL, 1);
    json_integer(json, NULL, 9 + 12 * (RUN_BLOCKS - 1));
    json_integer(json, NULL, 3);
    json_integer(json, NULL, 480);
    json_integer(json, NULL, 832);
    json_end(json);
    end_event(json);
    json_end(json);
}

/* ---- analyses -------------------------------------------------------------------------------- */

static void put_streaming(struct json *json, const struct run *run)
{
    struct spread frames = {0}, dropped = {0}, encoding = {0}, latency = {0};
    for (int i = 0; i < RUN_BLOCKS; i++) {
        spread_add(&frames, run->batches[i].frames);
        spread_add(&dropped, run->batches[i].dropped);
        spread_add(&encoding, run->batches[i].encoding);
        spread_add(&latency, run->batches[i].latency);
    }
    const int64_t span = run->batches[RUN_BLOCKS - 1].end - run->batches[0].end;
    json_begin(json, "streaming_analysis", '{');
    json_integer(json, "total_streaming_events", RUN_BLOCKS);
    json_integer(json, "total_frames_streamed", frames.sum);
    json_integer(json, "total_dropped_frames", dropped.sum);
    json_number(json, "current_fps", ratio(frames.sum, INT64_C(1000000000000), span), 6);
    json_number(json, "avg_encoding_time_ms", spread_mean(&encoding, 6), 9);
    json_number(json, "avg_network_latency_ms", spread_mean(&latency, 6), 9);
    json_number(json, "drop_rate_percent",
                ratio(dropped.sum, INT64_C(100000000000), frames.sum + dropped.sum), 9);
    json_end(json);
}

static void put_computation(struct json *json, const struct run_sums *sums)
{
    int64_t total = 0;
    json_begin(json, "computation_analysis", '{');
    json_begin(json, "layer_performance", '{');
    for (int i = 0; i < RUN_LAYERS; i++) {
        const struct spread *layer = &sums->layers[i];
        total += layer->sum;
        json_begin(json, run_layer_names[i], '{');
        json_number(json, "avg_time_ms", spread_mean(layer, 6), 9);
        json_number(json, "min_time_ms", layer->min, 3);
        json_number(json, "max_time_ms", layer->max, 3);
        json_number(json, "total_time_ms", layer->sum, 3);
        json_integer(json, "call_count", layer->count);
        json_end(json);
    }
    json_end(json);
    json_begin(json, "bottlenecks", '[');
    json_begin(json, NULL, '{');
    json_text(json, "layer", run_layer_names[0]);
    json_number(json, "percentage", ratio(sums->layers[0].sum, INT64_C(100000000000), total), 9);
    json_number(json, "total_time_ms", sums->layers[0].sum, 3);
    json_end(json);
    json_end(json);
    json_end(json);
}

struct allocator {
    const char *name;
    int64_t allocations, deallocations, bytes, max, min;
};

/* The bytes and sizes count allocations and deallocations alike. */
static void put_memory(struct json *json)
{
    static const struct allocator allocators[] = {
        {"cuda_caching", 196, 154, 18824036352, 536870912, 4096},
        {"pinned_host", 14, 7, 440401920, 20971520, 20971520},
    };
    json_begin(json, "memory_analysis", '{');
    json_begin(json, "allocation_patterns", '{');
    for (int i = 0; i < 2; i++) {
        const struct allocator *at = &allocators[i];
        json_begin(json, at->name, '{');
        json_integer(json, "total_allocations", at->allocations);
        json_integer(json, "total_deallocations", at->deallocations);
        json_integer(json, "total_bytes_allocated", at->bytes);
        json_number(json, "avg_allocation_size_bytes",
                    ratio(at->bytes, 1000000, at->allocations + at->deallocations), 6);
        json_integer(json, "max_allocation_size_bytes", at->max);
        json_integer(json, "min_allocation_size_bytes", at->min);
        json_end(json);
    }
    json_end(json);
    json_begin(json, "fragmentation_analysis", '{');
    json_number(json, "small_allocation_ratio", 4, 1); /* 84 of 210 are below 1 MiB */
    json_integer(json, "total_allocations", 210);
    json_end(json);
    json_end(json);
}

static void put_cache(struct json *json, const struct run_sums *sums)
{
    const int64_t requests = sums->hits + sums->misses + sums->evictions;
    json_begin(json, "cache_analysis", '{');
    json_begin(json, "cache_performance", '{');
    json_integer(json, "hits", sums->hits);
    json_integer(json, "misses", sums->misses);
    json_integer(json, "evictions", sums->evictions);
    json_integer(json, "total_requests", requests);
    json_end(json);
    json_begin(json, "cache_efficiency", '{');
    json_number(json, "hit_rate", ratio(sums->hits, 1000000000, requests), 9);
    json_number(json, "miss_rate", ratio(sums->misses, 1000000000, requests), 9);
    json_number(json, "eviction_rate", ratio(sums->evictions, 1000000000, requests), 9);
    json_end(json);
    json_end(json);
}

/* Frames per second count a frame once per step, and blocks per second count steps. */
static void put_diffusion(struct json *json, const struct run *run, const struct run_sums *sums)
{
    json_begin(json, "diffusion_analysis", '{');
    json_integer(json, "total_steps", RUN_ALL_STEPS);
    json_begin(json, "steps", '[');
    for (int i = 0; i < RUN_ALL_STEPS; i++) {
        json_begin(json, NULL, '{');
        put_step_data(json, &run->steps[i], i % RUN_STEPS);
        json_end(json);
    }
    json_end(json);
    put_times(json, &sums->steps);
    json_number(json, "avg_timestep", 84875, 5);
    json_number(json, "min_timestep", 625, 3);
    json_number(json, "max_timestep", 1, 0);
    json_number(json, "avg_block_size", RUN_FRAMES, 0);
    json_integer(json, "min_block_size", RUN_FRAMES);
    json_integer(json, "max_block_size", RUN_FRAMES);
    json_integer(json, "total_frames", RUN_ALL_STEPS * RUN_FRAMES);
    json_number(json, "fps",
                ratio(RUN_ALL_STEPS * RUN_FRAMES, INT64_C(1000000000000), sums->steps.sum), 6);
    json_number(json, "bps", ratio(RUN_ALL_STEPS, INT64_C(1000000000000), sums->steps.sum), 6);
    json_end(json);
}

static void put_models(struct json *json)
{
    int64_t total = 0;
    json_begin(json, "model_analysis", '{');
    json_begin(json, "models", '{');
    for (int i = 0; i < MODEL_COUNT; i++) {
        total += models[i].parameters;
        json_begin(json, models[i].name, '{');
        json_integer(json, "parameters_count", models[i].parameters);
        json_text(json, "model_type", models[i].type);
        json_end(json);
    }
    json_end(json);
    json_integer(json, "total_parameters", total);
    json_text(json, "total_parameters_readable", "7.2B");
    json_end(json);
}

static void put_blocks(struct json *json, const struct run *run, const struct run_sums *sums)
{
    json_begin(json, "block_analysis", '{');
    json_integer(json, "total_blocks", RUN_BLOCKS);
    json_begin(json, "blocks", '[');
    for (int i = 0; i < RUN_BLOCKS; i++) {
        json_begin(json, NULL, '{');
        put_block_data(json, &run->blocks[i], i);
        json_end(json);
    }
    json_end(json);
    put_times(json, &sums->blocks);
    json_number(json, "avg_block_size", RUN_FRAMES, 0);
    json_integer(json, "min_block_size", RUN_FRAMES);
    json_integer(json, "max_block_size", RUN_FRAMES);
    json_integer(json, "total_frames", RUN_BLOCKS * RUN_FRAMES);
    json_number(json, "avg_memory_usage_mb", ratio(sums->memory.sum, 1000000, 1024 * RUN_BLOCKS),
                6);
    json_number(json, "peak_memory_usage_mb", ratio(sums->memory.max, 1000000, 1024), 6);
    json_number(json, "min_memory_usage_mb", ratio(sums->memory.min, 1000000, 1024), 6);
    json_number(json, "fps",
                ratio(RUN_BLOCKS * RUN_FRAMES, INT64_C(1000000000000), sums->blocks.sum), 6);
    json_number(json, "bps", ratio(RUN_BLOCKS, INT64_C(1000000000000), sums->blocks.sum), 6);
    json_end(json);
}

/* ---- advice ---------------------------------------------------------------------------------- */

static void put_advice(struct json *json, const char *category, const char *priority,
                       const char *issue, const char *suggestion)
{
    json_begin(json, NULL, '{');
    json_text(json, "category", category);
    json_text(json, "priority", priority);
    json_text(json, "issue", issue);
    json_text(json, "suggestion", suggestion);
    json_end(json);
}

/* The rules whose conditions hold; speed is well, as steps count as blocks. */
static void put_recommendations(struct json *json, const struct run *run,
                                const struct run_sums *sums, const struct telemetry *telemetry)
{
    char figure[32], issue[128];
    const struct spread *layers = sums->layers;
    const int64_t all = layers[0].sum + layers[1].sum + layers[2].sum;
    json_begin(json, "recommendations", '[');
    if (telemetry->temperature.max > 85) {
        snprintf(issue, sizeof issue, "Peak GPU temperature is %d.0°C",
                 (int)telemetry->temperature.max);
        put_advice(json, "Thermal Management", "High", issue, "Improve the cooling.");
    }
    snprintf(issue, sizeof issue, "Layer 'self_attention' takes %s%% of total computation time",
             run_figure(figure, ratio(layers[0].sum, 1000, all), 1));
    put_advice(json, "Computation Bottleneck", "High", issue,
               "Consider optimizing this layer or sharing its work out.");
    snprintf(issue, sizeof issue, "First-block delay is %s seconds",
             run_figure(figure, ratio(run->blocks[0].dur, 1, 10000), 2));
    put_advice(json, "Latency Optimization", "Medium", issue,
               "Consider a shorter initialization or smaller blocks.");
    put_advice(json, "Multi-GPU Scaling", "Medium", "Using 4 GPUs with Data Parallel strategy",
               "Consider other combinations of Ulysses and Ring parallelism.");
    put_advice(json, "Advanced Parallelization", "Low",
               "Opportunity for more sophisticated parallel strategies",
               "Consider block-parallel, timestep-parallel or hybrid execution.");
    json_end(json);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool write_report(const struct run *run, const char *folder)
{
    const struct telemetry telemetry = sum_telemetry(run);
    struct run_sums sums;
    struct json json;
    run_sum(run, &sums);
    if (!json_open(&json, folder, REPORT_NAME))
        return false;
    json_begin(&json, NULL, '{');
    put_session(&json, run);
    put_summary(&json, &telemetry);
    put_gpu_metrics(&json, run, &telemetry);
    put_cpu_metrics(&json, run, &telemetry);
    put_stages(&json, run);
    put_events(&json, run);
    put_recommendations(&json, run, &sums, &telemetry);
    put_streaming(&json, run);
    put_computation(&json, &sums);
    put_memory(&json);
    put_cache(&json, &sums);
    put_diffusion(&json, run, &sums);
    put_models(&json);
    put_blocks(&json, run, &sums);
    json_end(&json);
    return json_close(&json, folder, REPORT_NAME);
}

bool dump_inferix(const char *folder, uint64_t seed)
{
    struct run runs[RUN_RANKS];
    bool complete = true;
    for (int rank = 0; rank < RUN_RANKS; rank++) {
        char path[4096], name[16];
        snprintf(name, sizeof name, "rank_%d", rank);
        run_simulate(&runs[rank], rank, seed);
        complete = complete && dumps_folder(path, folder, name) &&
                   write_report(&runs[rank], path) &&
                   (rank != 0 || inferix_write_raw(&runs[rank], path));
    }
    return complete && inferix_write_summaries(runs, folder) &&
           inferix_write_console(&runs[0], folder);
}
