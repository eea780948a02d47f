/* SPDX-License-Identifier: GPL-3.0-or-later */
/* requests.by_rank: how long requests to a language model wait for their tokens.
 *
 * The definitions are those of the field: time to the first token (TTFT), time per output token
 * (TPOT) = (time − TTFT) / (tokens − 1), tokens per forward pass that decodes (TPF): passes that
 * only read the prompt give none.  Requests of one batch share their steps, so times of different
 * requests are never added up to a time of the run. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

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

static const struct ta_column columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"requests", "Requests", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of requests"},
    {"tokens", "Tokens", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Tokens generated for all of them"},
    {"ttft_mean_ns", "TTFT mean", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "Time until the step with the first tokens, mean over requests"},
    {"ttft_p95_ns", "TTFT p95", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "95th percentile of these times"},
    {"tpot_mean_ns", "TPOT mean", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "Time behind the first tokens over the tokens but one, mean over requests"},
    {"tpot_p95_ns", "TPOT p95", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "95th percentile of these times"},
    {"time_p50_ns", "Time p50", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER,
     "Median time of a request, all steps"},
    {"time_p95_ns", "Time p95", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "95th percentile"},
    {"tpf", "TPF", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_HIGHER,
     "Tokens per forward pass that decodes: sum of their tokens over sum of these passes"},
    {"decode_tokens_per_s", "Decode rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, TA_HIGHER,
     "Tokens per second that one request gets while it decodes: sum over sum"},
};

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
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    const struct ta_partial *requests = merged[0];
    struct ta_table_builder *table = ta_add_table(out, "requests.by_rank", "Requests", columns,
                                                  sizeof columns / sizeof *columns);
    for (size_t i = 0; i < ta_partial_rows(requests); i++) {
        const int64_t *row = ta_partial_at(requests, i);
        const struct ta_dist *first = ta_partial_dist_at(requests, row, FIRST_TOKEN);
        const struct ta_dist *per_token = ta_partial_dist_at(requests, row, PER_TOKEN);
        const struct ta_dist *time = ta_partial_dist_at(requests, row, TIME);
        TA_ROW(table, ta_int(row[RANK]), ta_int(row[REQUESTS]), ta_int(row[TOKENS]), mean(first),
               quantile(first, 95), mean(per_token), quantile(per_token, 95), quantile(time, 50),
               quantile(time, 95), ratio(row[DECODE_TOKENS], 1, row[DECODE_STEPS]),
               ratio(row[DECODE_TOKENS], 1e9, row[DECODE_NS]));
    }
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "diffusion", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, requests, &ops, .title = "Requests",
          .summary = "Time to first token, time per token and tokens per forward pass: "
                     "requests.by_rank",
          .version = "1");
