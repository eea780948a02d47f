/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collectives so small that their time is the latency of starting them. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { SHARE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
               "Share of the run in the latency of small collectives, above which the rule fires"},
    TA_OPTIONS_END,
};

enum { OP, SMALL, LARGEST, LATENCY, TAX, WINDOW };

static const struct ta_ref reads[] = {
    [OP] = {"collectives.small", "op"},           [SMALL] = {"collectives.small", "small"},
    [LARGEST] = {"collectives.small", "largest"}, [LATENCY] = {"collectives.small", "latency_ns"},
    [TAX] = {"collectives.small", "tax_ns"},      [WINDOW] = {"gpu_time.program", "window_ns"},
};

static const struct ta_look look = {.cells = TAX};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const double threshold = ta_ctx_option(ctx, SHARE);
    const double window = ta_look_most(in, &windows, TA_MISSING);
    struct ta_place tax;
    if (!ta_look_worst(in, &look, &tax) || window <= 0 || tax.value / window <= threshold)
        return TA_OK;
    const double share = tax.value / window;
    const struct ta_place small = ta_place_beside(in, &tax, SMALL);
    const struct ta_place latency = ta_place_beside(in, &tax, LATENCY);
    const struct ta_place largest = ta_place_beside(in, &tax, LARGEST);
    const struct ta_evidence evidence[] = {ta_place_evidence(&tax), ta_place_evidence(&small),
                                           ta_place_evidence(&latency)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "small-messages",
            .rule = "small_messages",
            .title = ta_advice_printf(
                advice,
                "Latency of small collectives takes %s of the run (%s): %.0f %s of at most "
                "%s",
                ta_advice_number(advice, share, TA_UNIT_RATIO),
                ta_advice_number(advice, tax.value, TA_UNIT_NS), small.value,
                ta_place_text(advice, in, &tax, OP),
                ta_advice_number(advice, largest.value, TA_UNIT_BYTES)),
            .why = ta_advice_printf(
                advice, "Each call takes %s, about as long as starting a collective takes.",
                ta_advice_number(advice, latency.value, TA_UNIT_NS)),
            .advice =
                "Join several collectives into one: flatten small tensors, use larger buckets, or "
                "coalesce calls (`dist._coalescing_manager`); within a node one-shot "
                "all-reduce over symmetric memory starts faster.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns = ta_whole(tax.value / 3), /* compute may cover some */
            .saving_high_ns = ta_whole(tax.value),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "latency of small collectives > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, small_messages, &ops, .title = "Small messages",
          .summary = "Fires when many collectives take no longer than it takes to start one",
          .version = "1", .options = options);
