/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FramePack: the profiling report, memory log, printed tables and cache timeline of one video,
 * before and after attention fell back to a slower kernel. */
#include "dump_json.h"
#include "dumps.h"
#include "rng.h"

#include <stdlib.h>

#define JOB_EPOCH INT64_C(1764590400000000) /* µs */

enum {
    CHUNKS = 12,
    CHUNK_FRAMES = 36,
    CHUNK_STEPS = 25,
    MAX_OPERATIONS = 40,
    MAX_MARKS = 40,
    MAX_HITS = CHUNKS * CHUNK_STEPS,
    MIB_10 = 10, /* memory is in tenths of a MiB */
};

/* What differs between the two runs. */
struct variant {
    const char *name;
    int64_t forward, decode; /* µs of one call */
    int64_t peak;            /* tenths of a MiB while sampling */
};

static const struct variant variants[] = {
    {"baseline", 402000, 2610000, 77824},
    {"regressed", 523000, 3760000, 83968},
};

struct operation {
    char name[40];
    struct spread times; /* µs */
};

struct mark {
    char label[40];
    int64_t time, allocated, reserved, peak;
};

struct hit {
    int64_t time_cs, frame, step, score; /* of the video; score in ten-thousandths */
    const char *cache;
};

struct job {
    const struct variant *variant;
    struct rng rng;
    int64_t now, peak;
    int operation_count, mark_count, hit_count, iteration_count;
    struct operation operations[MAX_OPERATIONS];
    struct mark marks[MAX_MARKS];
    struct hit hits[MAX_HITS];
    int64_t iterations[MAX_HITS];
};

/* ---- the job --------------------------------------------------------------------------------- */

/* Operations come in the order of their first completion. */
static void record(struct job *job, const char *name, int64_t dur)
{
    int i = 0;
    while (i < job->operation_count && strcmp(job->operations[i].name, name) != 0)
        i++;
    if (i == job->operation_count)
        snprintf(job->operations[job->operation_count++].name, sizeof job->operations[i].name, "%s",
                 name);
    spread_add(&job->operations[i].times, dur);
}

static void pass(struct job *job, const char *name, int64_t mean)
{
    const int64_t dur = rng_jitter(&job->rng, mean, 25);
    job->now += dur;
    record(job, name, dur);
}

static void mark(struct job *job, const char *label, int64_t allocated, int64_t reserved)
{
    struct mark *at = &job->marks[job->mark_count++];
    snprintf(at->label, sizeof at->label, "%s", label);
    job->peak = allocated > job->peak ? allocated : job->peak;
    at->time = job->now;
    at->allocated = allocated;
    at->reserved = reserved;
    at->peak = job->peak;
}

static void add_hit(struct job *job, int chunk, int step, const char *cache, int64_t score)
{
    const int64_t frame = chunk * CHUNK_FRAMES + CHUNK_FRAMES * step / CHUNK_STEPS;
    job->hits[job->hit_count++] = (struct hit){
        .time_cs = ratio(frame, 100, 30),
        .frame = frame,
        .step = step,
        .score = score,
        .cache = cache,
    };
}

/* The cache of the transformer's output saves every third step from the fifth on. */
static void simulate_sampling(struct job *job, int chunk)
{
    char name[40];
    const int64_t start = job->now;
    for (int step = 0; step < CHUNK_STEPS; step++) {
        const int64_t begin = job->now;
        if (step >= 4 && step % 3 == 1) {
            job->now += rng_jitter(&job->rng, 9000, 40);
            add_hit(job, chunk, step, "teacache", 300 + rng_below(&job->rng, 2400));
        } else {
            pass(job, "transformer_forward", job->variant->forward);
        }
        if (step == 11)
            add_hit(job, chunk, step, chunk % 2 ? "similarity_cache" : "first_block_cache",
                    8800 + rng_below(&job->rng, 900));
        job->iterations[job->iteration_count++] = job->now - begin;
    }
    snprintf(name, sizeof name, "sampling_chunk_%d", chunk);
    record(job, name, job->now - start);
    snprintf(name, sizeof name, "after_sampling_chunk_%d", chunk);
    mark(job, name, rng_jitter(&job->rng, job->variant->peak - 900, 10), job->variant->peak + 9216);
}

/* The decode of a chunk has the number of the next one. */
static void simulate_decode(struct job *job, int chunk)
{
    char name[40];
    const int64_t start = job->now;
    pass(job, "vae_decode", job->variant->decode);
    snprintf(name, sizeof name, "vae_decode_%s_chunk_%d", chunk == 0 ? "full" : "section",
             chunk + 1);
    record(job, name, job->now - start + 140);
    snprintf(name, sizeof name, "after_vae_decode_%d", chunk);
    mark(job, name, 20481, 40960);
}

static void simulate(struct job *job, const struct variant *variant, uint64_t seed)
{
    *job = (struct job){.variant = variant, .now = JOB_EPOCH};
    rng_seed(&job->rng, seed, UINT64_C(3) << 32);
    mark(job, "worker_start", 10245, 20480);
    pass(job, "text_encoding_positive", 412000);
    pass(job, "text_encoding_negative", 397000);
    mark(job, "after_text_encoding", 40962, 61440);
    pass(job, "vae_encode", 236000);
    mark(job, "after_vae_encode", 22107, 61440);
    pass(job, "image_encoder", 88000);
    mark(job, "after_image_encode", 51208, 81920);
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        simulate_sampling(job, chunk);
        simulate_decode(job, chunk);
    }
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct iterations {
    struct spread times;
    int64_t median; /* the upper middle value, as FramePack has it */
};

static struct iterations sum_iterations(const struct job *job)
{
    int64_t sorted[MAX_HITS] = {0};
    struct iterations sums = {.median = 0};
    for (int i = 0; i < job->iteration_count; i++) {
        sorted[i] = job->iterations[i];
        spread_add(&sums.times, sorted[i]);
    }
    qsort(sorted, (size_t)job->iteration_count, sizeof *sorted, compare_times);
    sums.median = sorted[job->iteration_count / 2];
    return sums;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_marks(struct json *json, const char *key, const struct job *job)
{
    json_begin(json, key, '[');
    for (int i = 0; i < job->mark_count; i++) {
        const struct mark *at = &job->marks[i];
        json_begin(json, NULL, '{');
        json_text(json, "label", at->label);
        json_number(json, "timestamp", at->time, 6);
        json_number(json, "allocated_mb", at->allocated, 1);
        json_number(json, "reserved_mb", at->reserved, 1);
        json_number(json, "max_allocated_mb", at->peak, 1);
        json_end(json);
    }
    json_end(json);
}

static void put_spread(struct json *json, const struct spread *times)
{
    json_integer(json, "count", times->count);
    json_number(json, "total", times->sum, 6);
    json_number(json, "mean", spread_mean(times, 6), 12);
    json_number(json, "min", times->min, 6);
    json_number(json, "max", times->max, 6);
}

static bool write_report(const struct job *job, const char *folder)
{
    static const char name[] = "profiling_report.json";
    const struct iterations iterations = sum_iterations(job);
    struct json json;
    if (!json_open(&json, folder, name))
        return false;
    json_begin(&json, NULL, '{');
    json_number(&json, "timestamp", job->now + 350000, 6);
    json_begin(&json, "timing_stats", '{');
    for (int i = 0; i < job->operation_count; i++) {
        json_begin(&json, job->operations[i].name, '{');
        put_spread(&json, &job->operations[i].times);
        json_number(&json, "last", job->operations[i].times.last, 6);
        json_end(&json);
    }
    json_end(&json);
    put_marks(&json, "memory_snapshots", job);
    json_begin(&json, "iteration_stats", '{');
    put_spread(&json, &iterations.times);
    json_number(&json, "median", iterations.median, 6);
    json_end(&json);
    json_end(&json);
    return json_close(&json, folder, name);
}

static bool write_memory_log(const struct job *job, const char *folder)
{
    static const char name[] = "memory_log.json";
    struct json json;
    if (!json_open(&json, folder, name))
        return false;
    put_marks(&json, NULL, job);
    return json_close(&json, folder, name);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_rule(struct sink *sink, char sign)
{
    char rule[82];
    memset(rule, sign, 80);
    rule[80] = '\n';
    sink_put(sink, rule, 81);
}

static void put_banner(struct sink *sink, const char *title)
{
    sink_text(sink, "\n");
    put_rule(sink, '=');
    sink_text(sink, title);
    put_rule(sink, '=');
}

/* µs as seconds with three places. */
static const char *seconds(char text[32], int64_t us)
{
    const long long ms = (long long)ratio(us, 1, 1000);
    snprintf(text, 32, "%lld.%03llds", ms / 1000, ms % 1000);
    return text;
}

static int compare_totals(const void *a, const void *b)
{
    const struct operation *x = *(struct operation *const *)a, *y = *(struct operation *const *)b;
    return (x->times.sum < y->times.sum) - (x->times.sum > y->times.sum);
}

static void put_operations(struct sink *sink, struct job *job)
{
    struct operation *sorted[MAX_OPERATIONS];
    for (int i = 0; i < job->operation_count; i++)
        sorted[i] = &job->operations[i];
    qsort(sorted, (size_t)job->operation_count, sizeof(struct operation *), compare_totals);
    put_banner(sink, "PROFILING SUMMARY - Top Operations by Total Time\n");
    sink_text(sink, "Operation                                             Count      Total"
                    "       Mean        Min        Max\n");
    put_rule(sink, '-');
    for (int i = 0; i < job->operation_count; i++) {
        const struct spread *times = &sorted[i]->times;
        char line[256], text[4][32];
        snprintf(line, sizeof line, "%-50s %8lld %11s %11s %11s %11s\n", sorted[i]->name,
                 (long long)times->count, seconds(text[0], times->sum),
                 seconds(text[1], spread_mean(times, 0)), seconds(text[2], times->min),
                 seconds(text[3], times->max));
        sink_text(sink, line);
    }
    put_rule(sink, '=');
    sink_text(sink, "\n");
}

static void put_memory(struct sink *sink, const struct job *job)
{
    put_banner(sink, "MEMORY USAGE SUMMARY\n");
    sink_text(sink, "Label                                       Allocated     Reserved"
                    "    Max Alloc\n");
    put_rule(sink, '-');
    for (int i = 0; i < job->mark_count; i++) {
        const struct mark *at = &job->marks[i];
        const int64_t values[] = {at->allocated, at->reserved, at->peak};
        char line[64];
        snprintf(line, sizeof line, "%-40s", at->label);
        sink_text(sink, line);
        for (int k = 0; k < 3; k++) {
            snprintf(line, sizeof line, " %9lld.%lldM", (long long)(values[k] / MIB_10),
                     (long long)(values[k] % MIB_10));
            sink_text(sink, line);
        }
        sink_text(sink, "\n");
    }
    put_rule(sink, '=');
    sink_text(sink, "\n");
}

static void put_iterations(struct sink *sink, const struct job *job)
{
    const struct iterations sums = sum_iterations(job);
    const long long rate = (long long)ratio(sums.times.count, 100000000, sums.times.sum);
    char line[512], text[5][32];
    put_banner(sink, "ITERATION PROFILING: diffusion_step\n");
    snprintf(
        line, sizeof line,
        "Total iterations: %lld\nTotal time:       %s\nMean time/iter:   %s (%lld.%02lld it/s)\n"
        "Min time:         %s\nMax time:         %s\nMedian time:      %s\n",
        (long long)sums.times.count, seconds(text[0], sums.times.sum),
        seconds(text[1], spread_mean(&sums.times, 0)), rate / 100, rate % 100,
        seconds(text[2], sums.times.min), seconds(text[3], sums.times.max),
        seconds(text[4], sums.median));
    sink_text(sink, line);
    put_rule(sink, '=');
    sink_text(sink, "\n");
}

static bool write_tables(struct job *job, const char *folder)
{
    static const char name[] = "timing_summary.txt";
    struct json text;
    if (!json_open(&text, folder, name))
        return false;
    put_operations(&text.sink, job);
    put_memory(&text.sink, job);
    put_iterations(&text.sink, job);
    return json_close(&text, folder, name);
}

static bool write_hits(const struct job *job, const char *folder)
{
    static const char name[] = "cache_timeline.md";
    struct json text;
    if (!json_open(&text, folder, name))
        return false;
    sink_text(&text.sink, "| Time (s) | Frame | Cache | Details |\n| --- | --- | --- | --- |\n");
    for (int i = 0; i < job->hit_count; i++) {
        const struct hit *hit = &job->hits[i];
        char line[160], details[96];
        if (strcmp(hit->cache, "teacache") == 0)
            snprintf(details, sizeof details,
                     "step: %d, delta_dynamic: 0.%04d, max_delta_dynamic: 0.3100", (int)hit->step,
                     (int)hit->score);
        else if (strcmp(hit->cache, "first_block_cache") == 0)
            snprintf(details, sizeof details, "hits: 3, score: 0.%04d", (int)hit->score);
        else
            snprintf(details, sizeof details, "block: double:7, score: 0.%04d", (int)hit->score);
        snprintf(line, sizeof line, "| %d.%02d | %d | %s | %s |\n", (int)(hit->time_cs / 100),
                 (int)(hit->time_cs % 100), (int)hit->frame, hit->cache, details);
        sink_text(&text.sink, line);
    }
    return json_close(&text, folder, name);
}

bool dump_framepack(const char *folder, uint64_t seed)
{
    bool complete = true;
    for (int i = 0; i < 2; i++) {
        struct job job;
        char path[4096];
        simulate(&job, &variants[i], seed);
        complete = complete && dumps_folder(path, folder, variants[i].name) &&
                   write_report(&job, path) && write_memory_log(&job, path) &&
                   write_tables(&job, path) && write_hits(&job, path);
    }
    return complete;
}
