/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What servers of language models log of their throughput every few seconds, vLLM in the first
 * form, SGLang in the second:
 *
 *     Engine 000: Avg prompt throughput: 129.0 tokens/s, Avg generation throughput: 220.0 tokens/s,
 *     Running: 8 reqs, Waiting: 15 reqs, GPU KV cache usage: 99.8%, Prefix cache hit rate: 12.5%
 *
 *     Decode batch. #running-req: 8, #token: 370959, token usage: 0.82, cuda graph: True, gen
 *     throughput (token/s): 594.01, #queue-req: 3
 *
 * (each on one line).  Intervals without a running request say nothing about speed, and the first
 * ones after them are partly idle, so the figures are medians over intervals. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <math.h>
#include <stdlib.h>

struct interval {
    int64_t rank;
    double generated, prompt, running, waiting, cache_usage; /* NAN where the line lacks it */
    double prefix_hits;
    int graph; /* 1: the batch ran as a CUDA graph, 0: not, -1: the line does not say */
};

struct state {
    struct interval *at;
    size_t n, max;
};

/* ---- lines ----------------------------------------------------------------------------------- */

/* The number after some words; what has to follow it shows that it is whole. */
static double number_after(struct ta_slice text, const char *words, const char *end)
{
    struct ta_slice rest = ta_log_after(text, words);
    const double value = rest.ptr ? ta_log_number(&rest) : (double)NAN;
    return value >= 0 && ta_slice_starts(rest, end) ? value : (double)NAN;
}

static int64_t engine_of(const struct ta_log_line *line)
{
    struct ta_slice rest = ta_log_after(line->text, "Engine ");
    const int64_t engine = rest.ptr ? ta_log_integer(&rest) : TA_MISSING;
    return engine != TA_MISSING && ta_slice_starts(rest, ":") ? engine : line->rank;
}

static struct interval vllm(const struct ta_log_line *line)
{
    const struct ta_slice text = line->text;
    const double pending = number_after(text, "Pending: ", " req");
    const double waiting = number_after(text, "Waiting: ", " req");
    return (struct interval){
        .rank = engine_of(line),
        .generated = number_after(text, "Avg generation throughput: ", " tokens/s"),
        .prompt = number_after(text, "Avg prompt throughput: ", " tokens/s"),
        .running = number_after(text, "Running: ", " req"),
        .waiting = isnan(waiting) ? pending : waiting,
        .cache_usage = number_after(text, "GPU KV cache usage: ", "%") / 100,
        .prefix_hits = number_after(text, "Prefix cache hit rate: ", "%") / 100,
        .graph = -1,
    };
}

static struct interval sglang(const struct ta_log_line *line)
{
    const struct ta_slice text = line->text, graph = ta_log_after(text, "cuda graph: ");
    return (struct interval){
        .rank = line->rank,
        .generated = number_after(text, "gen throughput (token/s): ", ","),
        .prompt = NAN,
        .running = number_after(text, "#running-req: ", ","),
        .waiting = number_after(text, "#queue-req: ", ""),
        .cache_usage = number_after(text, "token usage: ", ","),
        .prefix_hits = NAN,
        .graph = ta_slice_starts(graph, "True")    ? 1
                 : ta_slice_starts(graph, "False") ? 0
                                                   : -1,
    };
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    const bool is_sglang = ta_log_after(line->text, "gen throughput (token/s): ").ptr != NULL;
    const struct interval interval = is_sglang ? sglang(line) : vllm(line);
    if (isnan(interval.generated))
        return TA_LOG_BAD;
    if (st->n == st->max) {
        const size_t max = st->max ? 2 * st->max : 64;
        struct interval *grown = reallocarray(st->at, max, sizeof *grown);
        if (!grown) {
            log->status = ta_fail(log->ctx, TA_ERR_NOMEM, "Cannot hold the intervals of a server");
            return TA_LOG_TAKEN;
        }
        st->at = grown;
        st->max = max;
    }
    st->at[st->n++] = interval;
    return TA_LOG_TAKEN;
}

/* ---- figures --------------------------------------------------------------------------------- */

static int by_rank(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void add(struct ta_log_reading *log, int64_t rank, const char *name, double value,
                enum ta_unit unit)
{
    const struct ta_figure row = {.rank = rank,
                                  .name = ta_log_string(log, ta_slice_of(name)),
                                  .group = ta_log_string(log, TA_LIT("serving")),
                                  .value = value,
                                  .unit = (int)unit};
    if (!isnan(value))
        ta_log_add_figure(log, &row);
}

static double median(double *values, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

enum which { ALL, NONE_WAITS, SOME_WAIT };

/* The median of what was generated per second while requests run, and none or some wait. */
static double median_generated(const struct interval *at, size_t n, enum which which,
                               double *values)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const bool runs = isnan(at[i].running) ? at[i].generated > 0 : at[i].running > 0;
        const bool waits = at[i].waiting > 0;
        if (runs && (which == ALL || waits == (which == SOME_WAIT)))
            values[kept++] = at[i].generated;
    }
    return median(values, kept);
}

static double most(const struct interval *at, size_t n, size_t offset)
{
    double largest = NAN;
    for (size_t i = 0; i < n; i++) {
        double value;
        memcpy(&value, (const char *)&at[i] + offset, sizeof value);
        largest = fmax(largest, value);
    }
    return largest;
}

static void add_rank(struct ta_log_reading *log, const struct interval *at, size_t n,
                     double *values)
{
    const int64_t rank = at[0].rank;
    double waits = 0, graphs = 0, others = 0;
    size_t prompts = 0;
    for (size_t i = 0; i < n; i++) {
        waits += at[i].waiting > 0;
        graphs += at[i].graph == 1;
        others += at[i].graph == 0;
    }
    add(log, rank, "tokens_per_s", median_generated(at, n, ALL, values), TA_UNIT_PER_S);
    add(log, rank, "most_tokens_per_s", most(at, n, offsetof(struct interval, generated)),
        TA_UNIT_PER_S);
    if (waits > 0) {
        add(log, rank, "tokens_per_s_without_queue", median_generated(at, n, NONE_WAITS, values),
            TA_UNIT_PER_S);
        add(log, rank, "tokens_per_s_with_queue", median_generated(at, n, SOME_WAIT, values),
            TA_UNIT_PER_S);
    }
    for (size_t i = 0; i < n; i++)
        if (at[i].prompt > 0)
            values[prompts++] = at[i].prompt;
    add(log, rank, "prefill_tokens_per_s", median(values, prompts), TA_UNIT_PER_S);
    add(log, rank, "intervals", (double)n, TA_UNIT_COUNT);
    add(log, rank, "intervals_with_queue", waits, TA_UNIT_COUNT);
    add(log, rank, "most_running", most(at, n, offsetof(struct interval, running)), TA_UNIT_COUNT);
    add(log, rank, "most_waiting", most(at, n, offsetof(struct interval, waiting)), TA_UNIT_COUNT);
    add(log, rank, "most_kv_cache_used", most(at, n, offsetof(struct interval, cache_usage)),
        TA_UNIT_RATIO);
    add(log, rank, "prefix_cache_hits", at[n - 1].prefix_hits, TA_UNIT_RATIO);
    if (graphs + others > 0) {
        add(log, rank, "batches_with_cuda_graph", graphs, TA_UNIT_COUNT);
        add(log, rank, "batches_without_cuda_graph", others, TA_UNIT_COUNT);
    }
}

static void end(struct ta_log_reading *log, void *state)
{
    struct state *st = state;
    double *values = calloc(st->n + 1, sizeof *values);
    if (!values && log->status == TA_OK)
        log->status = ta_fail(log->ctx, TA_ERR_NOMEM, "Cannot sum up the intervals of a server");
    if (st->n)
        qsort(st->at, st->n, sizeof *st->at, by_rank);
    for (size_t first = 0, next; values && first < st->n; first = next) {
        for (next = first; next < st->n && st->at[next].rank == st->at[first].rank;)
            next++;
        add_rank(log, st->at + first, next - first, values);
    }
    free(values);
    free(st->at);
}

static const char *const marks[] = {
    "gen throughput (token/s): ", "Avg generation throughput: ", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(
    log, serving, &ops, .title = "Serving",
    .summary = "vLLM and SGLang: tokens per second, running and waiting requests, KV cache use",
    .version = "1");
