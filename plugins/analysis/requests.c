/* SPDX-License-Identifier: GPL-3.0-or-later */
/* requests.by_rank: how long requests to a language model wait for their tokens.
 *
 * The definitions are the field's: time to the first token (TTFT), time per output token (TPOT) =
 * (time − TTFT) / (tokens − 1), tokens per forward pass that decodes (TPF): passes that only read
 * the prompt give none. Requests of one batch share their steps, so times of different requests are
 * never added up to a time of the run. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

enum {
    RANK,
    REQUESTS,
    TOKENS,
    DECODE_STEPS,
    DECODE_TOKENS,
    DECODE_NS,
    FIRST_TOKEN,
    PER_TOKEN,
    TIME,
    FIELDS
};

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [REQUESTS] = {"requests", TA_FIELD_SUM},
    [TOKENS] = {"tokens", TA_FIELD_SUM},
    [DECODE_STEPS] = {"decode_steps", TA_FIELD_SUM},
    [DECODE_TOKENS] = {"decode_tokens", TA_FIELD_SUM},
    [DECODE_NS] = {"decode_ns", TA_FIELD_SUM},
    [FIRST_TOKEN] = {"ttft_ns", TA_FIELD_DIST},
    [PER_TOKEN] = {"tpot_ns", TA_FIELD_DIST},
    [TIME] = {"dur_ns", TA_FIELD_DIST},
};

static const struct ta_partial_def partials[] = {{"requests", fields, FIELDS}, {0}};

enum {
    BY_RANK_RANK,
    BY_RANK_REQUESTS,
    BY_RANK_TOKENS,
    BY_RANK_TTFT_MEAN,
    BY_RANK_TTFT_P50,
    BY_RANK_TTFT_P95,
    BY_RANK_TTFT_P99,
    BY_RANK_TPOT_MEAN,
    BY_RANK_TPOT_P50,
    BY_RANK_TPOT_P95,
    BY_RANK_TPOT_P99,
    BY_RANK_TIME_P50,
    BY_RANK_TIME_P95,
    BY_RANK_TIME_P99,
    BY_RANK_TPF,
    BY_RANK_DECODE_TOKENS_PER_S
};
static const struct ta_column by_rank_table_columns[] = {
    [BY_RANK_RANK] = TA_DUMP_RANK_COLUMN,
    [BY_RANK_REQUESTS] = {"requests", "Requests", TA_COUNT, .weight = 0.5,
                          .doc = "Number of requests"},
    [BY_RANK_TOKENS] = {"tokens", "Tokens", TA_COUNT, .weight = 0.5,
                        .doc = "Tokens generated for all requests"},
    [BY_RANK_TTFT_MEAN] = {"ttft_mean_ns", "TTFT mean", TA_NS_MEAN, .better = TA_LOWER,
                           .weight = 0.6,
                           .doc = "Time to first token: until the end of the step with the first "
                                  "tokens, mean over requests"},
    [BY_RANK_TTFT_P50] = {"ttft_p50_ns", "TTFT p50", TA_NS_MEAN, .better = TA_LOWER,
                          .doc = "Median time to first token"},
    [BY_RANK_TTFT_P99] =
        {"ttft_p99_ns", "TTFT p99", TA_NS_MEAN, .better = TA_LOWER,
         .doc =
             "99th percentile of the time to first token; below 100 requests close to the longest"},
    [BY_RANK_TTFT_P95] = {"ttft_p95_ns", "TTFT p95", TA_NS_MEAN, .better = TA_LOWER,
                          .doc = "95th percentile of the time to first token"},
    [BY_RANK_TPOT_MEAN] = {"tpot_mean_ns", "TPOT mean", TA_NS_MEAN, .better = TA_LOWER,
                           .weight = 0.8,
                           .doc = "Time per output token: time after the first token over the "
                                  "remaining tokens, mean over requests"},
    [BY_RANK_TPOT_P50] = {"tpot_p50_ns", "TPOT p50", TA_NS_MEAN, .better = TA_LOWER,
                          .doc = "Median time per output token"},
    [BY_RANK_TPOT_P99] = {"tpot_p99_ns", "TPOT p99", TA_NS_MEAN, .better = TA_LOWER,
                          .doc = "99th percentile of the time per output token; below 100 requests "
                                 "close to the longest"},
    [BY_RANK_TPOT_P95] = {"tpot_p95_ns", "TPOT p95", TA_NS_MEAN, .better = TA_LOWER,
                          .doc = "95th percentile of the time per output token"},
    [BY_RANK_TIME_P50] = {"time_p50_ns", "Time p50", TA_NS_MEAN, .better = TA_LOWER,
                          .doc = "Median time of a request, all its steps"},
    [BY_RANK_TIME_P99] =
        {"time_p99_ns", "Time p99", TA_NS_MEAN, .better = TA_LOWER,
         .doc =
             "99th percentile of the time of a request; below 100 requests close to the longest"},
    [BY_RANK_TIME_P95] = {"time_p95_ns", "Time p95", TA_NS_MEAN, .better = TA_LOWER,
                          .doc = "95th percentile of the time of a request"},
    [BY_RANK_TPF] = {"tpf", "TPF", TA_NUMBER, .better = TA_HIGHER, .weight = 0.6,
                     .doc =
                         "Tokens per forward pass while decoding: total tokens over total passes"},
    [BY_RANK_DECODE_TOKENS_PER_S] = {"decode_tokens_per_s", "Decode rate", TA_TYPE_NUMBER,
                                     TA_UNIT_PER_S, .better = TA_HIGHER, .weight = 0.8,
                                     .doc = "Tokens per second that one request gets while "
                                            "decoding: total tokens over total decoding time"},
};

static const struct ta_table_def by_rank_table = {
    "requests.by_rank",
    "Requests",
    TA_COLUMNS(by_rank_table_columns),
    .doc = "One row per rank that recorded language-model requests step by step. Requests in one "
           "batch share their steps, so their times are not added up.",
    .rank_words = "Requests",
    .brief = &(const struct ta_brief){.place = 300, .rows = 8, .rows_are = "the first ranks"}};

static void add_request(struct ta_partial *out, const struct ta_trace *trace,
                        const struct ta_request *request)
{
    int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, request->rank));
    ta_sum(&row[REQUESTS], 1);
    ta_sum(&row[TOKENS], request->tokens);
    ta_sum(&row[DECODE_STEPS], request->decode_steps);
    ta_sum(&row[DECODE_TOKENS], request->decode_tokens);
    ta_sum(&row[DECODE_NS], request->decode_ns);
    ta_dist_add(ta_partial_dist(out, row, TIME), request->dur_ns);
    if (request->first_token_ns == TA_MISSING)
        return;
    ta_dist_add(ta_partial_dist(out, row, FIRST_TOKEN), request->first_token_ns);
    if (request->tokens > 1) {
        const int64_t behind = request->dur_ns - request->first_token_ns;
        ta_dist_add(ta_partial_dist(out, row, PER_TOKEN),
                    (behind + (request->tokens - 1) / 2) / (request->tokens - 1));
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_request *requests = ta_trace_request_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        add_request(out[0], trace, &requests[i]);
    return TA_OK;
}

static struct ta_cell mean(const struct ta_dist *dist)
{
    return dist ? ta_num(ta_dist_mean(dist)) : ta_null();
}

static struct ta_cell quantile(const struct ta_dist *dist, unsigned percent)
{
    return dist ? ta_num(ta_dist_quantile(dist, percent)) : ta_null();
}

static struct ta_cell ratio(int64_t above, double scale, int64_t below)
{
    return below > 0 ? ta_num((double)above * scale / (double)below) : ta_null();
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *requests = merged[0];

    for (size_t i = 0; i < ta_partial_rows(requests); i++) {
        const int64_t *row = ta_partial_at(requests, i);
        const struct ta_dist *first = ta_partial_dist_at(requests, row, FIRST_TOKEN);
        const struct ta_dist *per_token = ta_partial_dist_at(requests, row, PER_TOKEN);
        const struct ta_dist *time = ta_partial_dist_at(requests, row, TIME);
        TA_ROW(
            out, by_rank_table, [BY_RANK_RANK] = ta_int(row[RANK]),
            [BY_RANK_REQUESTS] = ta_int(row[REQUESTS]), [BY_RANK_TOKENS] = ta_int(row[TOKENS]),
            [BY_RANK_TTFT_MEAN] = mean(first), [BY_RANK_TTFT_P50] = quantile(first, 50),
            [BY_RANK_TTFT_P95] = quantile(first, 95), [BY_RANK_TTFT_P99] = quantile(first, 99),
            [BY_RANK_TPOT_MEAN] = mean(per_token), [BY_RANK_TPOT_P50] = quantile(per_token, 50),
            [BY_RANK_TPOT_P95] = quantile(per_token, 95),
            [BY_RANK_TPOT_P99] = quantile(per_token, 99), [BY_RANK_TIME_P50] = quantile(time, 50),
            [BY_RANK_TIME_P95] = quantile(time, 95), [BY_RANK_TIME_P99] = quantile(time, 99),
            [BY_RANK_TPF] = ratio(row[DECODE_TOKENS], 1, row[DECODE_STEPS]),
            [BY_RANK_DECODE_TOKENS_PER_S] = ratio(row[DECODE_TOKENS], 1e9, row[DECODE_NS]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_rank_table, NULL};

static const struct ta_analysis_ops ops = {
    .section = "diffusion", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, requests, &ops, .title = "Requests",
          .summary = "Time to first token, time per token and tokens per forward pass: "
                     "requests.by_rank",
          .version = "1");
