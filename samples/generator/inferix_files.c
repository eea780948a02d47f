/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inferix: the raw samples, the summaries with their aggregate, the streaming extract, the console.
 */
#include "dumps.h"
#include "inferix_run.h"

#define RAW_NAME "raw_profiling_data_t2v_generation_20251201_100006.json"

/* ---- raw samples ----------------------------------------------------------------------------- */

static void put_device(struct json *json, int number, const struct device *device)
{
    char key[16];
    snprintf(key, sizeof key, "gpu_%d", number);
    json_begin(json, key, '{');
    json_integer(json, "device_id", number);
    json_integer(json, "memory_used_mb", device->memory_mib);
    json_integer(json, "memory_total_mb", DEVICE_TOTAL_MIB);
    json_integer(json, "memory_free_mb", DEVICE_TOTAL_MIB - device->memory_mib);
    json_number(json, "memory_utilization_percent",
                ratio(device->memory_mib, 100000000, DEVICE_TOTAL_MIB), 6);
    json_integer(json, "utilization_percent", device->utilization);
    json_integer(json, "memory_util_percent", device->utilization * 4 / 10);
    json_integer(json, "temperature_celsius", device->temperature);
    json_number(json, "power_watts", device->power_mw, 3);
    json_integer(json, "graphics_clock_mhz", device->clock);
    json_integer(json, "memory_clock_mhz", 3201);
    json_text(json, "device_name", "NVIDIA H200");
    json_end(json);
}

static void put_gpu_sample(struct json *json, const struct gpu_sample *sample)
{
    json_begin(json, NULL, '{');
    json_number(json, "timestamp", sample->time, 6);
    json_begin(json, "metrics", '{');
    json_begin(json, "gpu_devices", '{');
    for (int i = 0; i < RUN_RANKS; i++)
        put_device(json, i, &sample->devices[i]);
    json_end(json);
    json_integer(json, "total_gpu_memory_used_mb", sample->total.memory_mib);
    json_integer(json, "total_gpu_memory_total_mb", RUN_RANKS * DEVICE_TOTAL_MIB);
    json_integer(json, "max_gpu_utilization", sample->total.utilization);
    json_integer(json, "max_gpu_temperature", sample->total.temperature);
    json_number(json, "total_gpu_power_watts", sample->total.power_mw, 3);
    json_end(json);
    json_end(json);
}

static void put_cpu_sample(struct json *json, const struct cpu_sample *sample)
{
    json_begin(json, NULL, '{');
    json_number(json, "timestamp", sample->time, 6);
    json_begin(json, "metrics", '{');
    json_number(json, "cpu_usage_percent", sample->usage, 1);
    json_begin(json, "cpu_per_core_percent", '[');
    for (int i = 0; i < RUN_CORES; i++)
        json_number(json, NULL, sample->cores[i], 1);
    json_end(json);
    json_integer(json, "cpu_core_count", RUN_CORES);
    json_integer(json, "memory_total_mb", HOST_TOTAL_MIB);
    json_integer(json, "memory_used_mb", sample->memory_mib);
    json_integer(json, "memory_available_mb", HOST_TOTAL_MIB - sample->memory_mib);
    json_number(json, "memory_usage_percent", ratio(sample->memory_mib, 1000, HOST_TOTAL_MIB), 1);
    json_number(json, "cpu_freq_current_mhz", 2700, 0);
    json_number(json, "cpu_freq_max_mhz", 3800, 0);
    json_number(json, "load_average_1min", 421, 2);
    json_number(json, "load_average_5min", 388, 2);
    json_number(json, "load_average_15min", 297, 2);
    json_end(json);
    json_end(json);
}

bool inferix_write_raw(const struct run *run, const char *folder)
{
    struct json json;
    if (!json_open(&json, folder, RAW_NAME))
        return false;
    json_begin(&json, NULL, '{');
    json_text(&json, "session_id", "t2v_generation");
    json_begin(&json, "gpu_data", '[');
    for (int i = 0; i < run->gpu_count; i++)
        put_gpu_sample(&json, &run->gpu[i]);
    json_end(&json);
    json_begin(&json, "cpu_data", '[');
    for (int i = 0; i < run->cpu_count; i++)
        put_cpu_sample(&json, &run->cpu[i]);
    json_end(&json);
    json_number(&json, "saved_at", run->end + 9300, 6);
    json_end(&json);
    return json_close(&json, folder, RAW_NAME);
}

/* ---- summaries and their aggregate ----------------------------------------------------------- */

static bool write_summary(const struct run *run, const char *folder)
{
    const struct device *gpu = &run->gpu[run->gpu_count - 1].devices[run->rank];
    const struct cpu_sample *cpu = &run->cpu[run->cpu_count - 1];
    char name[32];
    struct json json;
    snprintf(name, sizeof name, "rank_%d/summary_rank%d.json", run->rank, run->rank);
    if (!json_open(&json, folder, name))
        return false;
    json_begin(&json, NULL, '{');
    json_word(&json, "profiling_enabled", "true");
    json_number(&json, "timestamp", run->end - 700, 6);
    json_begin(&json, "gpu", '{');
    json_integer(&json, "memory_used_mb", gpu->memory_mib);
    json_integer(&json, "memory_total_mb", DEVICE_TOTAL_MIB);
    json_integer(&json, "utilization_percent", gpu->utilization);
    json_integer(&json, "temperature_celsius", gpu->temperature);
    json_end(&json);
    json_begin(&json, "cpu", '{');
    json_number(&json, "usage_percent", cpu->usage, 1);
    json_integer(&json, "memory_used_mb", cpu->memory_mib);
    json_integer(&json, "memory_total_mb", HOST_TOTAL_MIB);
    json_end(&json);
    json_text(&json, "session_id", "t2v_generation");
    json_number(&json, "duration", run->end - run->start, 6);
    json_begin(&json, "tags", '{');
    json_integer(&json, "rank", run->rank);
    json_integer(&json, "world_size", RUN_RANKS);
    json_end(&json);
    json_end(&json);
    return json_close(&json, folder, name);
}

static void put_metric(struct json *json, const char *name, const struct spread *metric, int places)
{
    static const char *const kinds[] = {"min", "max", "avg", "sum"};
    const int64_t values[] = {metric->min, metric->max, spread_mean(metric, 6), metric->sum};
    for (int i = 0; i < 4; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s", name, kinds[i]);
        if (i == 2)
            json_number(json, key, values[i], places + 6);
        else if (places > 0)
            json_number(json, key, values[i], places);
        else
            json_integer(json, key, values[i]);
    }
}

static void put_metrics(struct json *json, const struct run *runs)
{
    struct spread memory = {0}, total = {0}, use = {0}, heat = {0}, cpu = {0}, host = {0};
    for (int i = 0; i < RUN_RANKS; i++) {
        const struct device *gpu = &runs[i].gpu[runs[i].gpu_count - 1].devices[i];
        spread_add(&memory, gpu->memory_mib);
        spread_add(&total, DEVICE_TOTAL_MIB);
        spread_add(&use, gpu->utilization);
        spread_add(&heat, gpu->temperature);
        spread_add(&cpu, runs[i].cpu[runs[i].cpu_count - 1].usage);
        spread_add(&host, runs[i].cpu[runs[i].cpu_count - 1].memory_mib);
    }
    json_begin(json, "aggregated_gpu_metrics", '{');
    put_metric(json, "memory_used_mb", &memory, 0);
    put_metric(json, "memory_total_mb", &total, 0);
    put_metric(json, "utilization_percent", &use, 0);
    put_metric(json, "temperature_celsius", &heat, 0);
    json_end(json);
    json_begin(json, "aggregated_cpu_metrics", '{');
    put_metric(json, "usage_percent", &cpu, 1);
    put_metric(json, "memory_used_mb", &host, 0);
    json_end(json);
}

static bool write_aggregate(const struct run *runs, const char *folder)
{
    static const char name[] = "aggregated_profiling_report.json";
    struct json json;
    if (!json_open(&json, folder, name))
        return false;
    json_begin(&json, NULL, '{');
    json_integer(&json, "total_reports", RUN_RANKS);
    json_integer(&json, "rank_count", RUN_RANKS);
    put_metrics(&json, runs);
    json_begin(&json, "reports_summary", '[');
    for (int i = 0; i < RUN_RANKS; i++) {
        json_begin(&json, NULL, '{');
        json_integer(&json, "report_index", i);
        json_text(&json, "session_id", "t2v_generation");
        json_number(&json, "duration", runs[i].end - runs[i].start, 6);
        json_integer(&json, "rank", i);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    return json_close(&json, folder, name);
}

/* ---- streaming extract ----------------------------------------------------------------------- */

/* It asks a report for keys that no report has, and gets zeros. */
static bool write_extract(const struct run *run, const char *folder)
{
    static const char name[] = "rank_0/benchmark_results.json";
    struct run_sums sums;
    struct json json;
    run_sum(run, &sums);
    if (!json_open(&json, folder, name))
        return false;
    json_begin(&json, NULL, '{');
    json_text(&json, "timestamp", "");
    json_begin(&json, "system_info", '{');
    json_end(&json);
    json_begin(&json, "block_level", '{');
    json_integer(&json, "total_steps", RUN_ALL_STEPS);
    json_number(&json, "avg_block_size", RUN_FRAMES, 0);
    json_number(&json, "fps",
                ratio(RUN_ALL_STEPS * RUN_FRAMES, INT64_C(1000000000000), sums.steps.sum), 6);
    json_number(&json, "bps", ratio(RUN_ALL_STEPS, INT64_C(1000000000000), sums.steps.sum), 6);
    json_integer(&json, "avg_step_time_ms", 0);
    json_integer(&json, "total_blocks", RUN_BLOCKS);
    json_number(&json, "block_fps",
                ratio(RUN_BLOCKS * RUN_FRAMES, INT64_C(1000000000000), sums.blocks.sum), 6);
    json_number(&json, "peak_memory_mb", ratio(sums.memory.max, 1000000, 1024), 6);
    json_number(&json, "avg_block_time_ms", spread_mean(&sums.blocks, 6), 9);
    json_end(&json);
    json_begin(&json, "segment_level", '{');
    json_end(&json);
    json_begin(&json, "overall", '{');
    json_integer(&json, "peak_memory_mb", 0);
    json_integer(&json, "avg_gpu_utilization", 0);
    json_integer(&json, "peak_temperature_c", 0);
    json_end(&json);
    json_end(&json);
    return json_close(&json, folder, name);
}

bool inferix_write_summaries(const struct run *runs, const char *folder)
{
    for (int i = 0; i < RUN_RANKS; i++) {
        if (!write_summary(&runs[i], folder))
            return false;
    }
    return write_aggregate(runs, folder) && write_extract(&runs[0], folder);
}

/* ---- console --------------------------------------------------------------------------------- */

static void put_live(FILE *file, const struct run *run, int sample)
{
    const struct device *gpu = &run->gpu[sample * 4].total;
    const struct cpu_sample *cpu = &run->cpu[sample];
    char text[4][32];
    fprintf(file, "\n=== Profiling Metrics (t2v_generation) ===\n");
    fprintf(file, "GPU: Memory %lldMB / %dMB (%s%%), Util %lld.0%%, Temp %lld.0°C\n",
            (long long)gpu->memory_mib, RUN_RANKS * DEVICE_TOTAL_MIB,
            run_figure(text[0], ratio(gpu->memory_mib, 1000, RUN_RANKS * DEVICE_TOTAL_MIB), 1),
            (long long)gpu->utilization, (long long)gpu->temperature);
    fprintf(file, "CPU: %s%%, Memory %lldMB / %dMB (%s%%)\n", run_figure(text[1], cpu->usage, 1),
            (long long)cpu->memory_mib, HOST_TOTAL_MIB,
            run_figure(text[2], ratio(cpu->memory_mib, 1000, HOST_TOTAL_MIB), 1));
}

static void put_share(FILE *file, const char *what, int64_t us, int64_t whole, const char *of)
{
    char time[32], share[32];
    fprintf(file, "%s: %s ms (%s%%%s)\n", what, run_figure(time, ratio(us, 1, 10), 2),
            run_figure(share, ratio(us, 10000, whole), 2), of);
}

static void put_pipeline(FILE *file, const struct run *run, const struct run_sums *sums)
{
    const int64_t first = run->stages[STAGE_TEXT].sum;
    const int64_t last = run->stages[STAGE_VAE].sum;
    const int64_t whole = first + sums->blocks.sum + last;
    char text[32];
    fprintf(file, "Profiling results:\n");
    put_share(file, "  - Initialization/caching time", first, whole, "");
    put_share(file, "  - Diffusion generation time", sums->blocks.sum, whole, "");
    for (int i = 0; i < RUN_BLOCKS; i++) {
        char what[64];
        snprintf(what, sizeof what, "    - Block %d generation time", i);
        put_share(file, what, run->blocks[i].dur, sums->blocks.sum, " of diffusion");
    }
    put_share(file, "  - VAE decoding time", last, whole, "");
    fprintf(file, "  - Total time: %s ms\n", run_figure(text, ratio(whole, 1, 10), 2));
}

static void put_analyses(FILE *file, const struct run_sums *sums)
{
    const int64_t step_time = sums->steps.sum, block_time = sums->blocks.sum;
    char text[4][32];
    fprintf(file, "📊 Diffusion Analysis:\n   - Total Steps: %d\n", RUN_ALL_STEPS);
    fprintf(file, "   - FPS (Frames Per Second): %s\n   - BPS (Blocks Per Second): %s\n",
            run_figure(text[0], ratio(RUN_ALL_STEPS * RUN_FRAMES, 100000000, step_time), 2),
            run_figure(text[1], ratio(RUN_ALL_STEPS, 100000000, step_time), 2));
    fprintf(file, "   - Average Block Size: %d.0 frames\n", RUN_FRAMES);
    fprintf(file, "📦 Block Analysis:\n   - Total Blocks: %d\n", RUN_BLOCKS);
    fprintf(file, "   - Block FPS: %s\n   - Block BPS: %s\n   - Peak Memory Usage: %s MB\n",
            run_figure(text[2], ratio(RUN_BLOCKS * RUN_FRAMES, 100000000, block_time), 2),
            run_figure(text[3], ratio(RUN_BLOCKS, 100000000, block_time), 2),
            run_figure(text[0], ratio(sums->memory.max, 1, 1024), 0));
}

bool inferix_write_console(const struct run *run, const char *folder)
{
    struct run_sums sums;
    char path[4096], text[32];
    const int length = snprintf(path, sizeof path, "%s/console_rank0.txt", folder);
    FILE *file = length > 0 && length < (int)sizeof path ? fopen(path, "wb") : NULL;
    if (file != NULL) {
        run_sum(run, &sums);
        fprintf(file, "Profiling session 't2v_generation' started\n");
        for (int i = 0; i < run->cpu_count; i++)
            put_live(file, run, i);
        put_pipeline(file, run, &sums);
        fprintf(file, "Profiling session 't2v_generation' ended (duration: %ss)\n",
                run_figure(text, ratio(run->end - run->start, 1, 10000), 2));
        put_analyses(file, &sums);
    }
    const bool complete = file != NULL && !ferror(file);
    if (file == NULL || fclose(file) != 0 || !complete)
        fprintf(stderr, "traceanalyze-generate: %s cannot be written\n", path);
    return complete;
}
