/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests that wait for a server of language models: because its KV cache is full, or because it
 * admits no more at a time. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { FULL, SHARE };

static const struct ta_option options[] = {
    [FULL] = {"full", TA_OPTION_NUMBER, 0.95, 0, 1, TA_OPTION_RATIO,
              "Share of the KV cache in use from which on it is taken for full"},
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
               "Share of the intervals with waiting requests above which the rule fires"},
    TA_OPTIONS_END,
};

enum { RANK, GROUP, FIGURE, VALUE };

static const struct ta_ref reads[] = {
    [RANK] = {"figures.reported", "rank"},
    [GROUP] = {"figures.reported", "group"},
    [FIGURE] = {"figures.reported", "figure"},
    [VALUE] = {"figures.reported", "value"},
};

/* A figure of the server of the row's rank. */
static struct ta_place figure_of(const struct ta_refs *in, size_t server, const char *name)
{
    for (size_t row = 0; row < ta_ref_rows(in, FIGURE); row++)
        if (ta_ref_reads(in, FIGURE, row, name) && ta_ref_reads(in, GROUP, row, "serving") &&
            ta_ref_integer(in, RANK, row) == ta_ref_integer(in, RANK, server))
            return ta_place_at(in, VALUE, row);
    return (struct ta_place){.table = NULL};
}

/* The server with the longest queue of those where requests wait for long enough. */
static size_t longest_queue(const struct ta_refs *in, double share)
{
    size_t longest = SIZE_MAX;
    for (size_t row = 0; row < ta_ref_rows(in, FIGURE); row++) {
        if (!ta_ref_reads(in, FIGURE, row, "most_waiting") ||
            !ta_ref_reads(in, GROUP, row, "serving"))
            continue;
        const struct ta_place all = figure_of(in, row, "intervals");
        const struct ta_place with = figure_of(in, row, "intervals_with_queue");
        if (all.table && with.table && with.value > share * all.value &&
            (longest == SIZE_MAX ||
             ta_ref_number(in, VALUE, row, 0) > ta_ref_number(in, VALUE, longest, 0)))
            longest = row;
    }
    return longest;
}

/* ": generation falls from 800 to 360 tokens/s", where it does. */
static const char *fall_of(struct ta_advice *advice, const struct ta_place *without,
                           const struct ta_place *with)
{
    if (!without->table || !with->table || with->value > 0.9 * without->value)
        return "";
    return ta_advice_printf(advice, ": generation falls from %s to %s tokens/s",
                            ta_advice_number(advice, without->value, TA_UNIT_NONE),
                            ta_advice_number(advice, with->value, TA_UNIT_NONE));
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double full = ta_ctx_option(ctx, FULL), share = ta_ctx_option(ctx, SHARE);
    const size_t server = longest_queue(in, share);
    if (server == SIZE_MAX)
        return TA_OK;
    const struct ta_place waiting = ta_place_at(in, VALUE, server);
    const struct ta_place running = figure_of(in, server, "most_running");
    const struct ta_place used = figure_of(in, server, "most_kv_cache_used");
    const struct ta_place without = figure_of(in, server, "tokens_per_s_without_queue");
    const struct ta_place with = figure_of(in, server, "tokens_per_s_with_queue");
    const bool is_full = used.table && used.value >= full;
    const char *queue = ta_advice_printf(advice, "up to %.0f request%s", waiting.value,
                                         waiting.value > 1 ? "s wait" : " waits");
    const char *title =
        is_full ? ta_advice_printf(advice, "The KV cache is full (%s) and %s%s",
                                   ta_advice_number(advice, used.value, TA_UNIT_RATIO), queue,
                                   fall_of(advice, &without, &with))
                : ta_advice_printf(advice, "At most %.0f requests run at a time, and %s%s",
                                   running.table ? running.value : 0.0, queue,
                                   fall_of(advice, &without, &with));
    const struct ta_evidence evidence[] = {ta_place_evidence(&waiting), ta_place_evidence(&used),
                                           ta_place_evidence(&without), ta_place_evidence(&with)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "request-queue",
            .rule = "request_queue",
            .title = title,
            .why = is_full ? "Requests that no longer fit are preempted and computed again." : NULL,
            .advice =
                is_full
                    ? "Give the cache more room (gpu_memory_utilization, mem_fraction_static, an "
                      "8-bit KV cache, a shorter max_model_len, more GPUs), or admit fewer "
                      "requests at a time (max_num_seqs)."
                    : "Raise the limit on running requests (max_num_seqs, max_running_requests) "
                      "and on the tokens of a batch (max_num_batched_tokens), or add a replica.",
            .severity = is_full ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = used.table && without.table && with.table ? 4
                          : used.table                              ? 2
                                                                    : 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.8,
            .threshold = ta_advice_printf(advice, "intervals with waiting requests > %s",
                                          ta_advice_number(advice, share, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, request_queue, &ops, .title = "Requests that wait",
          .summary = "Fires when requests wait for a server whose KV cache is full, or that admits "
                     "no more",
          .version = "1", .options = options);
