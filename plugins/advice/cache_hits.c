/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cache that hardly ever answers. */
#include "lib/bars.h"
#include "lib/step_caches.h"

enum { SHARE, LOOKUPS };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
               "Share of hits below which the rule fires"},
    [LOOKUPS] = {"lookups", TA_OPTION_INTEGER, 10, 1, 1e15, TA_OPTION_PLAIN,
                 "Lookups below which the rule keeps silent"},
    TA_OPTIONS_END,
};

enum { CACHE = BAR_REFS, HITS, MISSES, HIT_RATIO, GROUP };

static const struct ta_ref reads[] = {
    BAR_READS,
    [CACHE] = {"caches.by_name", "cache"},
    [HITS] = {"caches.by_name", "hits"},
    [MISSES] = {"caches.by_name", "misses"},
    [HIT_RATIO] = {"caches.by_name", "hit_ratio"},
    [GROUP] = {"figures.reported", "group"},
};

/* Whether the log has figures of a step cache by its name; the rule step_cache speaks of those that
 * skip nothing. */
static bool is_step_cache(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, GROUP); i++)
        if (ta_slice_equal(ta_ref_text(in, GROUP, i), ta_ref_text(in, CACHE, row)))
            return true;
    return false;
}

/* The cache with the lowest share of hits among those that were asked often enough. */
static bool find_worst(const struct ta_refs *in, double least, struct ta_place *worst)
{
    bool found = false;
    for (size_t row = 0; row < ta_ref_rows(in, HIT_RATIO); row++) {
        const struct ta_place here = ta_place_at(in, HIT_RATIO, row);
        const struct ta_place hits = ta_place_at(in, HITS, row);
        const struct ta_place misses = ta_place_at(in, MISSES, row);
        if (!here.table || !hits.table || !misses.table || hits.value + misses.value < least ||
            (hits.value == 0 && is_step_cache(in, row)) || (found && here.value >= worst->value))
            continue;
        *worst = here;
        found = true;
    }
    return found;
}

static const char *title_of(const struct ta_refs *in, struct ta_advice *advice,
                            const struct ta_place *worst, const struct ta_place *misses)
{
    const bool is_named = !ta_ref_reads(in, CACHE, worst->row, "cache");
    const char *cache =
        is_named ? ta_advice_printf(advice, " %s", ta_place_text(advice, in, worst, CACHE)) : "";
    const char *owner = ta_place_owner(advice, in->report, worst);
    if (worst->value <= 0)
        return ta_advice_printf(advice, "The cache%s never hits: all of its %s lookups miss%s",
                                cache, ta_advice_number(advice, misses->value, TA_UNIT_COUNT),
                                owner);
    return ta_advice_printf(advice, "The cache%s answers only %s of its lookups%s", cache,
                            ta_advice_number(advice, worst->value, TA_UNIT_RATIO), owner);
}

/* What a cache saves that skips half of the steps: of the longest loop. */
static double half_of_loop(const struct ta_refs *in)
{
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, BAR_DONE); row++)
        most = fmax(most,
                    ta_ref_number(in, BAR_DONE, row, 0) * ta_ref_number(in, BAR_MEAN, row, 0) / 2);
    return most;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, SHARE);
    struct ta_place worst;
    if (!find_worst(in, ta_ctx_option(ctx, LOOKUPS), &worst) || worst.value >= threshold)
        return TA_OK;
    const struct ta_place misses = ta_place_beside(in, &worst, MISSES);
    const bool is_of_steps = ta_is_step_cache(ta_ref_text(in, CACHE, worst.row));
    const double most = is_of_steps ? half_of_loop(in) : 0;
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst), ta_place_evidence(&misses)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "cache-hits",
            .rule = "cache_hits",
            .title = title_of(in, advice, &worst, &misses),
            .advice = is_of_steps ? "Raise the threshold of the cache (rel_l1_thresh) step by step "
                                    "and compare the pictures, or switch the cache off where the "
                                    "model has few steps: there it only costs its check."
                                  : "Make the cache larger if it evicts much; if it evicts "
                                    "nothing, its keys do not repeat: switch it off.",
            .details = most > 0 ? "The saving assumes a cache that skips a sixth to half of the "
                                  "steps, at lower quality."
                                : NULL,
            .severity = worst.value <= 0 ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = most > 0 ? ta_whole(most / 3) : TA_MISSING,
            .saving_high_ns = most > 0 ? ta_whole(most) : TA_MISSING,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "hits over lookups < %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, cache_hits, &ops, .title = "Ineffective cache",
          .summary = "Fires when a cache hardly ever answers", .version = "1", .options = options);
