/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diffulex: sections, stage timing and operators of four tensor-parallel ranks, and the statistics
 * and trajectories of a benchmark, of a text diffusion model that decodes block by block. */
#include "dump_json.h"
#include "dumps.h"
#include "rng.h"

enum {
    RANKS = 4,
    LATE = 2, /* its host prepares more slowly */
    BATCHES = 6,
    ENGINE_STEPS = 28,
    REQUESTS = 8,
    BLOCK_SIZE = 32,
};

/* ---- sections -------------------------------------------------------------------------------- */

struct section {
    char name[24];
    int64_t dur, tokens, gpu, memory; /* µs, count, points, tenths of a MiB */
    int64_t outputs, steps;           /* of a batch; steps in hundredths */
};

struct sections {
    int count;
    struct section at[BATCHES + 2];
    int64_t dur, tokens;
};

static void add_section(struct sections *sections, struct section section)
{
    sections->at[sections->count++] = section;
    sections->dur += section.dur;
    sections->tokens += section.tokens;
}

static void simulate_sections(struct sections *sections, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed, UINT64_C(4) << 32);
    *sections = (struct sections){.count = 0};
    add_section(sections,
                (struct section){.name = "model_loading", .dur = 8412000, .memory = 163840});
    add_section(sections,
                (struct section){.name = "prefill", .dur = 318000, .tokens = 4096, .gpu = 71});
    for (int i = 0; i < BATCHES; i++) {
        struct section batch = {
            .dur = rng_jitter(&rng, 1240000, 60),
            .tokens = 1024,
            .gpu = (int64_t)rng_below(&rng, 17) - 8,
            .memory = (int64_t)rng_below(&rng, 900) - 300,
            .outputs = REQUESTS,
            .steps = 1100 + rng_below(&rng, 400),
        };
        snprintf(batch.name, sizeof batch.name, "batch_%d", i);
        add_section(sections, batch);
    }
}

static void put_section(struct json *json, const struct section *at)
{
    json_begin(json, NULL, '{');
    json_text(json, "name", at->name);
    json_begin(json, "metadata", '{');
    if (at->outputs > 0)
        json_integer(json, "batch_size", at->outputs);
    else
        json_text(json, "model", "dream");
    json_end(json);
    json_number(json, "duration_sec", at->dur, 6);
    json_integer(json, "total_tokens", at->tokens);
    json_number(json, "throughput_tokens_per_sec", ratio(at->tokens, 1000000000000, at->dur), 6);
    json_number(json, "gpu_utilization", at->gpu, 0);
    json_number(json, "memory_delta_mb", at->memory, 1);
    json_begin(json, "custom_metrics", '{');
    if (at->outputs > 0) {
        json_integer(json, "num_outputs", at->outputs);
        json_number(json, "avg_diff_steps", at->steps, 2);
    }
    json_end(json);
    json_begin(json, "backend_data", '{');
    json_number(json, "duration_sec", at->dur + 2, 6);
    json_text(json, "name", at->name);
    json_end(json);
    json_end(json);
}

static bool write_sections(const struct sections *sections, const char *folder)
{
    static const char name[] = "profile_20260115_103000.json";
    struct json json;
    if (!json_open(&json, folder, name))
        return false;
    json_begin(&json, NULL, '{');
    json_begin(&json, "metrics", '[');
    for (int i = 0; i < sections->count; i++)
        put_section(&json, &sections->at[i]);
    json_end(&json);
    json_begin(&json, "summary", '{');
    json_integer(&json, "total_sections", sections->count);
    json_number(&json, "total_duration_sec", sections->dur, 6);
    json_integer(&json, "total_tokens", sections->tokens);
    json_number(&json, "avg_throughput_tokens_per_sec",
                ratio(sections->tokens, 1000000000000, sections->dur), 6);
    json_end(&json);
    json_end(&json);
    return json_close(&json, folder, name);
}

static bool write_section_table(const struct sections *sections, const char *folder)
{
    static const char name[] = "profile_20260115_103000.csv";
    struct json text;
    if (!json_open(&text, folder, name))
        return false;
    sink_text(&text.sink, "avg_diff_steps,duration_sec,metadata_batch_size,metadata_model,name,"
                          "num_outputs,throughput_tokens_per_sec,total_tokens\r\n");
    for (int i = 0; i < sections->count; i++) {
        const struct section *at = &sections->at[i];
        const bool batch = at->outputs > 0;
        if (batch)
            put_number(&text.sink, at->steps, 2);
        sink_text(&text.sink, ",");
        put_number(&text.sink, at->dur, 6);
        sink_text(&text.sink, batch ? ",8,," : ",,dream,");
        sink_text(&text.sink, at->name);
        sink_text(&text.sink, batch ? ",8," : ",,");
        put_number(&text.sink, ratio(at->tokens, 1000000000000, at->dur), 6);
        sink_text(&text.sink, ",");
        sink_integer(&text.sink, at->tokens);
        sink_text(&text.sink, "\r\n");
    }
    return json_close(&text, folder, name);
}

/* value / 10^places between two texts. */
static void put_fixed(struct sink *sink, const char *before, int64_t value, int places,
                      const char *after)
{
    sink_text(sink, before);
    sink_fixed(sink, value, places);
    sink_text(sink, after);
}

/* What is 0 counts as not recorded. */
static void put_section_text(struct sink *sink, const struct section *at)
{
    sink_text(sink, "Section: ");
    sink_text(sink, at->name);
    put_fixed(sink, "\n  Duration: ", ratio(at->dur, 1, 100), 4, " seconds\n");
    if (at->tokens != 0) {
        put_fixed(sink, "  Tokens: ", at->tokens, 0, "\n");
        put_fixed(sink, "  Throughput: ", ratio(at->tokens, 100000000, at->dur), 2,
                  " tokens/sec\n");
    }
    if (at->gpu != 0)
        put_fixed(sink, "  GPU Utilization: ", at->gpu * 100, 2, "%\n");
    if (at->memory != 0)
        put_fixed(sink, "  Memory Delta: ", at->memory * 10, 2, " MB\n");
    if (at->outputs > 0) {
        put_fixed(sink, "  Custom Metrics: {'num_outputs': ", at->outputs, 0, "");
        sink_text(sink, ", 'avg_diff_steps': ");
        put_number(sink, at->steps, 2);
        put_fixed(sink, "}\n  Metadata: {'batch_size': ", at->outputs, 0, "}\n\n");
    } else {
        sink_text(sink, "  Metadata: {'model': 'dream'}\n\n");
    }
}

static bool write_section_text(const struct sections *sections, const char *folder)
{
    static const char name[] = "profile_20260115_103000.txt";
    char thick[81] = "", thin[81] = "";
    struct json text;
    if (!json_open(&text, folder, name))
        return false;
    memset(thick, '=', 80);
    memset(thin, '-', 80);
    sink_text(&text.sink, thick);
    sink_text(&text.sink, "\nDiffulex Profiling Summary\n");
    sink_text(&text.sink, thick);
    put_fixed(&text.sink, "\n\nTotal Sections: ", sections->count, 0, "\n");
    put_fixed(&text.sink, "Total Duration: ", ratio(sections->dur, 1, 10000), 2, " seconds\n");
    put_fixed(&text.sink, "Total Tokens: ", sections->tokens, 0, "\n");
    put_fixed(&text.sink, "Average Throughput: ", ratio(sections->tokens, 100000000, sections->dur),
              2, " tokens/sec\n\n");
    sink_text(&text.sink, thin);
    sink_text(&text.sink, "\nSection Details:\n");
    sink_text(&text.sink, thin);
    sink_text(&text.sink, "\n\n");
    for (int i = 0; i < sections->count; i++)
        put_section_text(&text.sink, &sections->at[i]);
    sink_text(&text.sink, thick);
    return json_close(&text, folder, name);
}

/* ---- stage timing ---------------------------------------------------------------------------- */

struct timing {
    struct sink *sink;
    struct rng rng;
    int step;
};

/* rank is -1 for the engine. */
static void put_stage(struct timing *timing, int rank, const char *stage, int64_t cpu, int64_t cuda)
{
    struct sink *sink = timing->sink;
    sink_text(sink, rank < 0 ? "engine," : "multi_block,");
    if (rank >= 0)
        sink_integer(sink, rank);
    sink_text(sink, ",");
    sink_integer(sink, 41207 + (rank < 0 ? 0 : rank));
    sink_text(sink, ",");
    sink_integer(sink, timing->step);
    sink_text(sink, ",");
    sink_text(sink, stage);
    sink_text(sink, ",");
    put_number(sink, cpu, 3);
    sink_text(sink, ",");
    put_number(sink, cuda, 3);
    sink_text(sink, ",");
    sink_integer(sink, rank < 0 ? 0 : rank);
    sink_text(sink, ",\n");
}

/* Returns the time of the whole step on the rank, in µs. */
static int64_t put_rank_step(struct timing *timing, int rank)
{
    const int64_t slow = rank == LATE ? 4 : 1;
    const int64_t forward = rng_jitter(&timing->rng, timing->step == 0 ? 121000 : 37400, 15);
    const int64_t prepare = rng_jitter(&timing->rng, 1450 * slow, 40);
    const int64_t sample = rng_jitter(&timing->rng, 4200, 30);
    put_stage(timing, rank, timing->step == 0 ? "prepare_chunked_prefill" : "prepare_sample",
              prepare, prepare / 4);
    put_stage(timing, rank, "model_forward", forward, forward - 310);
    put_stage(timing, rank, "sampler", sample, sample - 190);
    put_stage(timing, rank, "total", prepare + forward + sample + 120,
              prepare / 4 + forward + sample - 500);
    return prepare + forward + sample + 120;
}

static void put_step(struct timing *timing)
{
    int64_t longest = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        const int64_t time = put_rank_step(timing, rank);
        longest = time > longest ? time : longest;
    }
    const int64_t schedule = rng_jitter(&timing->rng, 820, 80);
    const int64_t process = rng_jitter(&timing->rng, 610, 80);
    put_stage(timing, -1, "scheduler_schedule", schedule, 0);
    put_stage(timing, -1, "model_runner_run", longest + 240, longest - 900);
    put_stage(timing, -1, "scheduler_postprocess", process, 0);
    put_stage(timing, -1, "total", schedule + longest + process + 260, longest - 880);
}

static bool write_timing(const char *folder, uint64_t seed)
{
    static const char name[] = "stage_timing.csv";
    struct json text;
    struct timing timing = {.sink = &text.sink};
    if (!json_open(&text, folder, name))
        return false;
    rng_seed(&timing.rng, seed, UINT64_C(5) << 32);
    sink_text(&text.sink, "scope,rank,pid,step,stage,cpu_ms,cuda_ms,device,exception\n");
    for (timing.step = 0; timing.step < ENGINE_STEPS; timing.step++)
        put_step(&timing);
    return json_close(&text, folder, name);
}

/* ---- operators ------------------------------------------------------------------------------- */

struct operation {
    const char *name;
    int64_t count, self_cpu, cpu, self_cuda, cuda; /* µs */
};

static const struct operation operations[] = {
    {"aten::mm", 6272, 51200, 88400, 431000, 431000},
    {"flash_attn::_flash_attn_varlen_forward", 896, 14300, 22600, 287000, 287000},
    {"nccl:all_reduce", 1792, 30100, 30100, 164000, 164000},
    {"aten::_softmax", 28, 410, 520, 21700, 21700},
    {"aten::copy_", 924, 9700, 17300, 18900, 18900},
    {"aten::sort", 28, 920, 1900, 11200, 11200},
    {"aten::embedding", 28, 380, 1100, 2600, 2600},
    {"diffulex.multi_block.model_forward", 28, 118000, 1046000, 0, 883000},
    {"diffulex.multi_block.sampler", 28, 21400, 115000, 0, 53600},
    {"cudaLaunchKernel", 14900, 73800, 73800, 0, 0},
};

static bool write_operators(const char *folder, int rank, uint64_t seed)
{
    char name[64];
    struct json json;
    struct rng rng;
    rng_seed(&rng, seed, UINT64_C(6) << 32 | (uint32_t)rank);
    snprintf(name, sizeof name, "20260115_103000.model_runner.rank%d.summary.json", rank);
    if (!json_open(&json, folder, name))
        return false;
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        const struct operation *at = &operations[i];
        const int64_t wait = at->name[0] == 'n' && rank != LATE ? 61000 : 0;
        json_begin(&json, NULL, '{');
        json_text(&json, "name", at->name);
        json_integer(&json, "count", at->count);
        json_integer(&json, "self_cpu_time_total_us", rng_jitter(&rng, at->self_cpu, 5));
        json_integer(&json, "cpu_time_total_us", rng_jitter(&rng, at->cpu, 5) + 500);
        json_integer(&json, "self_cuda_time_total_us", at->self_cuda + wait);
        json_integer(&json, "cuda_time_total_us", at->cuda + wait);
        json_integer(&json, "self_cpu_memory_usage", 0);
        json_integer(&json, "self_cuda_memory_usage", i == 0 ? 268435456 : 0);
        json_text(&json, "input_shapes", "");
        json_end(&json);
    }
    json_end(&json);
    return json_close(&json, folder, name);
}

/* ---- benchmark ------------------------------------------------------------------------------- */

struct request {
    int steps;
    int64_t times[ENGINE_STEPS]; /* µs */
    int64_t tokens[ENGINE_STEPS];
    int64_t time, first, all_tokens; /* µs to the end and to the first step with tokens */
};

static void simulate_request(struct request *request, int number, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed, UINT64_C(7) << 32 | (uint32_t)number);
    *request = (struct request){.steps = ENGINE_STEPS - (int)rng_below(&rng, 8)};
    for (int i = 0; i < request->steps; i++) {
        request->times[i] = rng_jitter(&rng, i == 0 ? 128000 : 44000, 30);
        request->tokens[i] = i == 0 ? 0 : 2 + rng_below(&rng, 7);
        request->time += request->times[i];
        request->all_tokens += request->tokens[i];
        if (request->first == 0 && request->tokens[i] > 0)
            request->first = request->time;
    }
}

static void put_trajectory(struct json *json, const struct request *request, int number)
{
    json_begin(json, NULL, '{');
    json_integer(json, "req_id", number);
    json_begin(json, "trajectory", '[');
    for (int i = 0; i < request->steps; i++) {
        json_begin(json, NULL, '{');
        json_integer(json, "step_id", i);
        json_number(json, "step_time", request->times[i], 6);
        json_word(json, "is_prefill", i == 0 ? "true" : "false");
        json_integer(json, "num_generated_tokens", request->tokens[i]);
        json_integer(json, "block_size", BLOCK_SIZE);
        json_begin(json, "buffer_bids", '[');
        json_end(json);
        json_begin(json, "block_trace", '[');
        json_end(json);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

static bool write_trajectories(const struct request *requests, const char *folder)
{
    static const char name[] = "0x3_decode_trajectory.json";
    struct json json;
    if (!json_open(&json, folder, name))
        return false;
    json_begin(&json, NULL, '[');
    for (int i = 0; i < REQUESTS; i++)
        put_trajectory(&json, &requests[i], i);
    json_end(&json);
    return json_close(&json, folder, name);
}

struct totals {
    int64_t tokens, steps, time, decode, first; /* µs */
};

static void put_statistics(struct json *json, const struct totals *all, int64_t wall)
{
    json_integer(json, "total_samples", REQUESTS);
    json_integer(json, "total_tokens", all->tokens);
    json_integer(json, "total_nfe", all->steps);
    json_number(json, "total_time", all->time, 6);
    json_number(json, "e2e_total_time_s", wall, 6);
    json_number(json, "e2e_throughput_tok_s", ratio(all->tokens, 1000000000000, wall), 6);
    json_number(json, "avg_tokens_per_sample", ratio(all->tokens, 1000000, REQUESTS), 6);
    json_number(json, "avg_nfe_per_sample", ratio(all->steps, 1000000, REQUESTS), 6);
    json_number(json, "avg_time_per_sample", ratio(all->time, 1, REQUESTS), 6);
    json_number(json, "ttft_s", ratio(all->first, 1, REQUESTS), 6);
    json_number(json, "tpot_s", ratio(all->time - all->first, 1000, all->tokens - REQUESTS), 9);
    json_number(json, "prefill_throughput_tok_s",
                ratio(4096, 1000000000000, all->time - all->decode), 6);
    json_number(json, "decode_throughput_tok_s", ratio(all->tokens, 1000000000000, all->decode), 6);
    json_number(json, "tpf", ratio(all->tokens, 1000000, all->steps - REQUESTS), 6);
    json_number(json, "nfe_per_token", ratio(all->steps, 1000000, all->tokens), 6);
    json_text(json, "timestamp", "2026-01-15 10:30:41");
}

static bool write_benchmark(const char *folder, uint64_t seed)
{
    static const char name[] = "diffulex_stats.json";
    struct request requests[REQUESTS];
    struct totals all = {0};
    int64_t wall = 0;
    struct json json;
    for (int i = 0; i < REQUESTS; i++) {
        simulate_request(&requests[i], i, seed);
        all.tokens += requests[i].all_tokens;
        all.steps += requests[i].steps;
        all.time += requests[i].time;
        all.decode += requests[i].time - requests[i].times[0];
        all.first += requests[i].first;
        wall = requests[i].time > wall ? requests[i].time : wall;
    }
    if (!json_open(&json, folder, name))
        return false;
    json_begin(&json, NULL, '{');
    put_statistics(&json, &all, wall);
    json_end(&json);
    return json_close(&json, folder, name) && write_trajectories(requests, folder);
}

bool dump_diffulex(const char *folder, uint64_t seed)
{
    struct sections sections;
    simulate_sections(&sections, seed);
    bool complete = write_sections(&sections, folder) && write_section_table(&sections, folder) &&
                    write_section_text(&sections, folder) && write_timing(folder, seed) &&
                    write_benchmark(folder, seed);
    for (int rank = 0; rank < RANKS; rank++)
        complete = complete && write_operators(folder, rank, seed);
    return complete;
}
