/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights that are copied from host memory each time they are used, while the device waits for
 * them; what it would take to keep them there, or to copy them ahead. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
                   "Share of the run that such copies hold up the device, from which the rule "
                   "fires"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    PATTERN,
    COUNT,
    BYTES,
    PASSES,
    PASS_BYTES,
    STEPS,
    BACK,
    PAGEABLE,
    COPY,
    EXPOSED,
    HOST,
    IDLE,
    KERNELS,
    MEMORY,
    SITE,
    SITE_BYTES,
    REACHED,
    LINK_RATE,
    LINK_SHARE,
    PAGEABLE_SHARE,
    AHEAD,
    HELD,
    WINDOW
};

static const struct ta_ref reads[] = {
    [RANK] = {"copies.weights", "rank"},
    [PATTERN] = {"copies.weights", "pattern"},
    [COUNT] = {"copies.weights", "count"},
    [BYTES] = {"copies.weights", "bytes"},
    [PASSES] = {"copies.weights", "passes"},
    [PASS_BYTES] = {"copies.weights", "pass_bytes"},
    [STEPS] = {"copies.weights", "steps"},
    [BACK] = {"copies.weights", "back_bytes"},
    [PAGEABLE] = {"copies.weights", "pageable_bytes"},
    [COPY] = {"copies.weights", "copy_ns"},
    [EXPOSED] = {"copies.weights", "exposed_ns"},
    [HOST] = {"copies.weights", "host_ns"},
    [IDLE] = {"copies.weights", "idle_ns"},
    [KERNELS] = {"copies.weights", "kernel_ns"},
    [MEMORY] = {"copies.weights", "memory_bytes"},
    [SITE] = {"copies.weights", "site"},
    [SITE_BYTES] = {"copies.weights", "site_bytes"},
    [REACHED] = {"copies.weights", "bandwidth"},
    [LINK_RATE] = {"copies.weights", "link_bandwidth"},
    [LINK_SHARE] = {"copies.weights", "link_share"},
    [PAGEABLE_SHARE] = {"copies.weights", "pageable_share"},
    [AHEAD] = {"copies.weights", "ahead_ns"},
    [HELD] = {"copies.weights", "held_bytes"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
};

/* Weights that are copied, and what that costs. */
struct weights {
    size_t row;
    double lost, window; /* ns */
    double stay;         /* bytes that would be on the device if they stayed; NAN: not known */
    double memory, peak; /* of the device, and what was held besides; NAN: not known */
    bool is_models;
};

static struct weights weights_at(const struct ta_refs *in, size_t row)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const int64_t rank = ta_ref_integer(in, RANK, row);
    struct weights weights = {
        .row = row,
        .lost = ta_ref_number(in, EXPOSED, row, 0) + ta_ref_number(in, IDLE, row, 0),
        .window = ta_look_most(in, &windows, rank),
        .stay = ta_ref_number(in, PASS_BYTES, row, NAN),
        .memory = ta_ref_number(in, MEMORY, row, NAN),
        .peak = ta_ref_number(in, HELD, row, NAN),
        .is_models = ta_ref_reads(in, PATTERN, row, "models"),
    };
    return weights;
}

static const char *number(struct ta_advice *advice, double value, enum ta_unit unit)
{
    return ta_advice_number(advice, value, unit);
}

static const char *title_of(const struct ta_refs *in, struct ta_advice *advice,
                            const struct weights *weights)
{
    const size_t row = weights->row;
    const double passes = ta_ref_number(in, PASSES, row, 0);
    const struct ta_place place = ta_place_at(in, BYTES, row);
    const char *bytes = number(advice, place.value, TA_UNIT_BYTES);
    const char *what =
        weights->is_models
            ? ta_advice_printf(advice, "Models move to the GPU and are offloaded again (%s and %s)",
                               bytes,
                               number(advice, ta_ref_number(in, BACK, row, 0), TA_UNIT_BYTES))
        : passes > 1
            ? ta_advice_printf(
                  advice, "The same %s of offloaded weights are copied from host memory %s times",
                  number(advice, weights->stay, TA_UNIT_BYTES),
                  number(advice, passes, TA_UNIT_COUNT))
            : ta_advice_printf(advice,
                               "Offloaded weights are copied from host memory layer by layer (%s)",
                               bytes);
    return ta_advice_printf(
        advice, "%s, which keeps the GPU from computing for %s of the run (%s)%s", what,
        number(advice, weights->lost / weights->window, TA_UNIT_RATIO),
        number(advice, weights->lost, TA_UNIT_NS), ta_place_owner(advice, in->report, &place));
}

static const char *why_of(const struct ta_refs *in, struct ta_advice *advice,
                          const struct weights *weights)
{
    const size_t row = weights->row;
    const double bytes = ta_ref_number(in, BYTES, row, 0) + ta_ref_number(in, BACK, row, 0);
    const double reached = ta_ref_number(in, REACHED, row, NAN);
    const double share = ta_ref_number(in, LINK_SHARE, row, NAN);
    const double there = ta_ref_number(in, SITE_BYTES, row, 0) / bytes;
    const struct ta_place place = ta_place_at(in, BYTES, row);
    const char *site = ta_place_text(advice, in, &place, SITE);
    const char *link =
        share < 1 / 1.2
            ? ta_advice_printf(
                  advice, ", %s of the %s that the link does", number(advice, share, TA_UNIT_RATIO),
                  number(advice, ta_ref_number(in, LINK_RATE, row, NAN), TA_UNIT_BYTES_PER_S))
            : "";
    const char *where = site[0] ? ta_advice_printf(advice, "; %s copies %s of the bytes", site,
                                                   number(advice, there, TA_UNIT_RATIO))
                                : "";
    if (ta_ref_number(in, PAGEABLE_SHARE, row, 0) > 0.5)
        return ta_advice_printf(
            advice,
            "The copies come from pageable memory at %s%s, and the host waits in the "
            "calls for %s%s.",
            number(advice, reached, TA_UNIT_BYTES_PER_S), link,
            number(advice, ta_ref_number(in, HOST, row, 0), TA_UNIT_NS), where);
    return ta_advice_printf(advice, "The copies run at %s%s, and no kernel runs meanwhile%s.",
                            number(advice, reached, TA_UNIT_BYTES_PER_S), link, where);
}

/* Whether all weights fit the device besides what is there, as far as it is known. */
enum room { ROOM_UNKNOWN, ROOM_FOR_ALL, ROOM_FOR_SOME, ROOM_FOR_NONE };

static enum room room_of(const struct weights *weights)
{
    const double left = weights->memory - weights->peak;
    if (isnan(weights->stay) || isnan(weights->memory))
        return ROOM_UNKNOWN;
    if (weights->stay > 0.95 * weights->memory)
        return isnan(left) || left > 0.05 * weights->stay ? ROOM_FOR_SOME : ROOM_FOR_NONE;
    if (isnan(left))
        return ROOM_UNKNOWN;
    return weights->stay < 0.95 * left   ? ROOM_FOR_ALL
           : left > 0.05 * weights->stay ? ROOM_FOR_SOME
                                         : ROOM_FOR_NONE;
}

static const char *advice_of(const struct ta_refs *in, struct ta_advice *advice,
                             const struct weights *weights, enum room room)
{
    const bool is_pageable = ta_ref_number(in, PAGEABLE, weights->row, 0) >
                             0.5 * ta_ref_number(in, BYTES, weights->row, 0);
    const char *ahead =
        ta_advice_printf(advice,
                         "%scopy the next block on a side stream while this one computes (group "
                         "offloading with use_stream=True in diffusers)",
                         is_pageable ? "keep them in pinned memory and " : "");
    const char *all = number(advice, weights->memory, TA_UNIT_BYTES);
    if (weights->is_models)
        return "Keep the models on the GPU that fit there together, and move only the largest "
               "others away; keep those in pinned memory.";
    if (room == ROOM_FOR_ALL)
        return ta_advice_printf(
            advice, "Keep the weights on the GPU: it has %s, of which at most %s were held.", all,
            number(advice, weights->peak, TA_UNIT_BYTES));
    if (room == ROOM_UNKNOWN && !isnan(weights->stay))
        return ta_advice_printf(
            advice, "Keep the weights on the GPU if %s fit with the rest%s; otherwise %s.",
            number(advice, weights->stay, TA_UNIT_BYTES),
            isnan(weights->memory) ? "" : ta_advice_printf(advice, " of its %s", all), ahead);
    if (room == ROOM_UNKNOWN)
        return ta_advice_printf(advice, "Keep the weights on the GPU if they fit; otherwise %s.",
                                ahead);
    return ta_advice_printf(
        advice, "%s of %s: store them in 8 bit or less, or %s.",
        room == ROOM_FOR_NONE || isnan(weights->peak)
            ? "The weights do not fit the GPU"
            : ta_advice_printf(advice, "Only %s of the weights fit besides what the GPU holds",
                               number(advice, weights->memory - weights->peak, TA_UNIT_BYTES)),
        all, ahead);
}

/* What is gained where they are copied from pinned memory while kernels run. */
static double gain_ahead(const struct ta_refs *in, const struct weights *weights)
{
    const double ahead = ta_ref_number(in, AHEAD, weights->row, NAN);
    const double kernels = ta_ref_number(in, KERNELS, weights->row, 0);
    return isnan(ahead) ? weights->lost / 2 : fmax(0, weights->lost - fmax(0, ahead - kernels));
}

static void give(const struct ta_refs *in, struct ta_advice *advice, const struct weights *weights,
                 double threshold)
{
    const double ahead = gain_ahead(in, weights);
    const enum room room = room_of(weights);
    const double most = room == ROOM_FOR_SOME || room == ROOM_FOR_NONE ? ahead : weights->lost;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, EXPOSED, weights->row),
                                           ta_ref_evidence(in, IDLE, weights->row),
                                           ta_ref_evidence(in, BYTES, weights->row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "weight-copies",
            .rule = "weight_copies",
            .title = title_of(in, advice, weights),
            .why = why_of(in, advice, weights),
            .advice = advice_of(in, advice, weights, room),
            .details =
                weights->is_models
                    ? "A trace does not say what a copy holds; these count as weights because "
                      "copies of the same sizes go back to the host."
                    : "A trace does not say what a copy holds; these count as weights because they "
                      "come between the kernels of the model, a few kernels apart.",
            .severity = TA_HIGH,
            .evidence = evidence,
            .n_evidence = 3,
            .saving_low_ns = ta_whole(fmin(ahead, 0.8 * most)),
            .saving_high_ns = ta_whole(most),
            .confidence = weights->is_models ? 0.7 : 0.8,
            .threshold = ta_advice_printf(advice, "copies of weights hold up the GPU > %s",
                                          number(advice, threshold, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct weights worst = {.window = 1};
    for (size_t row = 0; row < ta_ref_rows(in, RANK); row++) {
        const struct weights weights = weights_at(in, row);
        if (weights.window > 0 && weights.lost / weights.window > worst.lost / worst.window)
            worst = weights;
    }
    if (worst.lost > threshold * worst.window)
        give(in, advice, &worst, threshold);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, weight_copies, &ops, .title = "Weights copied from host memory",
          .summary = "Fires when the device waits for weights that are copied to be used",
          .version = "1", .options = options);
