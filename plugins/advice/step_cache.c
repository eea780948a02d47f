/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step cache whose threshold is below what consecutive denoising steps differ by, so that it
 * skips none of them; and one whose cached steps take much longer than the blocks that they keep.
 */
#include "lib/bars.h"
#include "lib/step_caches.h"

enum { STEPS, REACHED, HIT_LEAST };

static const struct ta_option options[] = {
    [STEPS] = {"steps", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Skipped steps up to which the rule fires"},
    [REACHED] = {"reached", TA_OPTION_NUMBER, 0.9, 0, 1, TA_OPTION_RATIO,
                 "Share of the possible speed-up below which the rule fires"},
    [HIT_LEAST] = {"hit_ratio", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
                   "Share of cached steps below which it does not"},
    TA_OPTIONS_END,
};

enum {
    CACHE = BAR_REFS,
    HITS,
    GROUP,
    FIGURE,
    VALUE,
    LOOP_CACHE,
    LOOP_METHOD,
    LOOP_STEPS,
    LOOP_CACHED,
    LOOP_RATIO,
    LOOP_COST,
    LOOP_FULL,
    LOOP_LEAST,
    LOOP_TIME,
    LOOP_ACHIEVED,
    LOOP_POSSIBLE,
    LOOP_KEPT,
    LOOP_LEAK,
    LOOP_IDLE,
    LOOP_CHECKS,
    LOOP_CHECKING
};

static const struct ta_ref reads[] = {
    BAR_READS,
    [CACHE] = {"caches.by_name", "cache"},
    [HITS] = {"caches.by_name", "hits"},
    [GROUP] = {"figures.reported", "group"},
    [FIGURE] = {"figures.reported", "figure"},
    [VALUE] = {"figures.reported", "value"},
    [LOOP_CACHE] = {"caches.speedup", "cache"},
    [LOOP_METHOD] = {"caches.speedup", "method"},
    [LOOP_STEPS] = {"caches.speedup", "steps"},
    [LOOP_CACHED] = {"caches.speedup", "cached"},
    [LOOP_RATIO] = {"caches.speedup", "hit_ratio"},
    [LOOP_COST] = {"caches.speedup", "cost_ratio"},
    [LOOP_FULL] = {"caches.speedup", "full_ns"},
    [LOOP_LEAST] = {"caches.speedup", "least_ns"},
    [LOOP_TIME] = {"caches.speedup", "time_ns"},
    [LOOP_ACHIEVED] = {"caches.speedup", "achieved"},
    [LOOP_POSSIBLE] = {"caches.speedup", "possible"},
    [LOOP_KEPT] = {"caches.speedup", "kept"},
    [LOOP_LEAK] = {"caches.speedup", "leak_ns"},
    [LOOP_IDLE] = {"caches.speedup", "idle_ns"},
    [LOOP_CHECKS] = {"caches.speedup", "checks"},
    [LOOP_CHECKING] = {"caches.speedup", "check_ns"},
};

/* A figure of a cache, or of the settings of its model, whose name the cache's begins with. */
static struct ta_place figure_of(const struct ta_refs *in, size_t cache, const char *name)
{
    const struct ta_slice words = ta_ref_text(in, CACHE, cache);
    for (size_t row = 0; row < ta_ref_rows(in, FIGURE); row++) {
        const struct ta_slice group = ta_ref_text(in, GROUP, row);
        if (ta_ref_reads(in, FIGURE, row, name) && group.len && group.len <= words.len &&
            ta_slice_equal(ta_slice_part(words, 0, group.len), group))
            return ta_place_at(in, VALUE, row);
    }
    return (struct ta_place){.table = NULL};
}

/* The loop that takes most time, whose steps the cache is to skip. */
static struct ta_place longest_loop(const struct ta_refs *in)
{
    struct ta_place longest = {0};
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, BAR_DONE); row++) {
        const double ns = ta_ref_number(in, BAR_DONE, row, 0) * ta_ref_number(in, BAR_MEAN, row, 0);
        if (ns > most) {
            most = ns;
            longest = ta_place_at(in, BAR_DONE, row);
        }
    }
    return longest;
}

static const char *title_of(const struct ta_refs *in, struct ta_advice *advice,
                            const struct ta_place *hits, const struct ta_place *least,
                            const struct ta_place *threshold, size_t n)
{
    const char *more =
        n > 1 ? ta_advice_printf(advice, ", and %zu more caches do no better", n - 1) : "";
    const char *name = ta_place_text(advice, in, hits, CACHE);
    const char *limit = !threshold->table
                            ? ""
                            : ta_advice_printf(advice, "%s its threshold is %.3g",
                                               threshold->value > least->value ? ", although" : ",",
                                               threshold->value);
    const char *result = hits->value > 0 ? ta_advice_printf(advice, "skips only %.0f step%s",
                                                            hits->value, hits->value > 1 ? "s" : "")
                                         : "never hits";
    if (n == 2)
        more = ", and another one does no better";
    return ta_advice_printf(advice, "The step cache of %s %s%s: steps differ by at least %.3g%s",
                            name, result, more, least->value, limit);
}

/* What to change, and what remains where it cannot be. */
static const char *advice_of(struct ta_advice *advice, const struct ta_place *least,
                             const struct ta_place *median, const struct ta_place *threshold,
                             const struct ta_place *warmup)
{
    const bool is_strict = !threshold->table || threshold->value <= least->value;
    const char *sooner =
        warmup->table && warmup->value > 0
            ? ta_advice_printf(advice, ", or lower max_warmup_steps (%.0f)", warmup->value)
            : "";
    if (!is_strict)
        return ta_advice_printf(
            advice,
            "Raise max_cached_steps and max_continuous_cached_steps%s: the "
            "steps below the threshold lie in its warm-up or beyond its limits.",
            sooner);
    return ta_advice_printf(
        advice,
        "Raise residual_diff_threshold%s%s and compare the pictures, or switch the cache off, "
        "which "
        "only costs its check.",
        median->table
            ? ta_advice_printf(advice, " towards %.3g, the median difference", median->value)
            : ta_advice_printf(advice, " above %.3g", least->value),
        sooner);
}

/* ---- a cache that hits, and gains little ----------------------------------------------------- */

/* What holds a cached step up: waiting, or work that is in none of the blocks that it keeps. */
static const char *leak_of(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const struct ta_place leak = ta_place_at(in, LOOP_LEAK, row);
    const double idle = ta_ref_number(in, LOOP_IDLE, row, 0);
    if (!leak.table)
        return NULL;
    return ta_advice_printf(
        advice, "Cached steps still run %s of the blocks; %s of their time is outside these%s.",
        ta_advice_number(advice, ta_ref_number(in, LOOP_KEPT, row, 0), TA_UNIT_RATIO),
        ta_advice_number(advice, leak.value, TA_UNIT_NS),
        idle > 0 ? ta_advice_printf(advice, ", and the GPU idles for %s of it",
                                    ta_advice_number(advice, fmin(idle, leak.value), TA_UNIT_NS))
                 : "");
}

/* "TeaCache", or "The step cache of FluxTransformer2DModel". */
static const char *subject_of(const struct ta_refs *in, struct ta_advice *advice,
                              const struct ta_place *place)
{
    const char *name = ta_place_text(advice, in, place, LOOP_CACHE);
    if (ta_ref_reads(in, LOOP_CACHE, place->row, "denoiser"))
        return "The step cache"; /* whose model is not known */
    return ta_is_step_cache(ta_slice_of(name))
               ? name
               : ta_advice_printf(advice, "The step cache of %s", name);
}

static const char *cost_of(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const double cost = ta_ref_number(in, LOOP_COST, row, NAN);
    const double full = ta_ref_number(in, LOOP_FULL, row, NAN);
    const char *words = ta_advice_number(advice, full, TA_UNIT_NS);
    if (isnan(cost))
        return ta_advice_printf(
            advice, "the shortest step still takes %s of the median (%s)",
            ta_advice_number(advice, ta_ref_number(in, LOOP_LEAST, row, 0) / full, TA_UNIT_RATIO),
            words);
    return ta_advice_printf(advice, "a cached step still takes %s of a full one (%s)",
                            ta_advice_number(advice, cost, TA_UNIT_RATIO), words);
}

static const char *cure_of(const struct ta_refs *in, size_t row)
{
    const double idle = ta_ref_number(in, LOOP_IDLE, row, 0);
    if (2 * idle > ta_ref_number(in, LOOP_LEAK, row, INFINITY))
        return "Decide without waiting for the GPU: keep the difference on the device, or decide "
               "for several steps at once; and let no Python run for each skipped block.";
    if (!ta_place_at(in, LOOP_COST, row).table)
        return "Look whether the model returns early on a hit: record one such step with "
               "torch.profiler. Where it does not, the cache only costs its check.";
    return "Record one cached step with torch.profiler: what runs in it besides the blocks that "
           "the cache keeps is its cost. Keep fewer blocks (Fn_compute_blocks, Bn_compute_blocks) "
           "where quality allows.";
}

static void give_slow(const struct ta_refs *in, struct ta_advice *advice, size_t row,
                      double reached)
{
    const struct ta_place achieved = ta_place_at(in, LOOP_ACHIEVED, row);
    const struct ta_place possible = ta_place_at(in, LOOP_POSSIBLE, row);
    /* What is possible leaves a part of a step to what is no block, so that it may be too little.
     */
    const double most =
        fmax(ta_ref_number(in, LOOP_TIME, row, 0) * (1 - achieved.value / possible.value),
             ta_ref_number(in, LOOP_LEAK, row, 0));
    const bool is_timed = ta_place_at(in, LOOP_COST, row).table;
    const struct ta_evidence evidence[] = {
        ta_place_evidence(&achieved), ta_place_evidence(&possible),
        ta_ref_evidence(in, is_timed ? LOOP_COST : LOOP_LEAST, row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "step-cache-cost",
            .rule = "step_cache",
            .effect = TA_EFFECT_CACHED_STEP,
            .title = ta_advice_printf(
                advice,
                "%s answers %.0f of %.0f steps, yet the loop is %s (%.2f times is possible): %s%s",
                subject_of(in, advice, &achieved), ta_ref_number(in, LOOP_CACHED, row, 0),
                ta_ref_number(in, LOOP_STEPS, row, 0),
                achieved.value < 1.02
                    ? "no faster"
                    : ta_advice_printf(advice, "only %.2f times as fast", achieved.value),
                possible.value, cost_of(in, advice, row),
                ta_place_owner(advice, in->report, &achieved)),
            .why = leak_of(in, advice, row),
            .advice = cure_of(in, row),
            .details = "The possible speed-up is that of cached steps which run nothing but "
                       "the blocks that are not cached, as far as these are known.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 3,
            .saving_low_ns = ta_whole(most / 3),
            .saving_high_ns = ta_whole(most),
            .steps_ns = ta_whole(ta_ref_number(in, LOOP_TIME, row, 0)),
            .confidence = is_timed ? 0.6 : 0.4,
            .threshold = ta_advice_printf(advice, "speed-up < %s of what is possible",
                                          ta_advice_number(advice, reached, TA_UNIT_RATIO)),
        });
}

/* The cache that loses most time to what is possible. */
static void advise_slow(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double reached = ta_ctx_option(ctx, REACHED);
    size_t worst = SIZE_MAX;
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, LOOP_ACHIEVED); row++) {
        const double achieved = ta_ref_number(in, LOOP_ACHIEVED, row, NAN);
        const double possible = ta_ref_number(in, LOOP_POSSIBLE, row, NAN);
        const double lost = ta_ref_number(in, LOOP_TIME, row, 0) * (1 - achieved / possible);
        if (achieved < reached * possible && lost > most &&
            ta_ref_number(in, LOOP_RATIO, row, 0) >= ta_ctx_option(ctx, HIT_LEAST)) {
            worst = row;
            most = lost;
        }
    }
    if (worst != SIZE_MAX)
        give_slow(in, advice, worst, reached);
}

/* ---- a cache that looks at each step and answers none ---------------------------------------- */

static void give_idle(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const struct ta_place cached = ta_place_at(in, LOOP_CACHED, row);
    const struct ta_place checking = ta_place_at(in, LOOP_CHECKING, row);
    const char *method = ta_place_text(advice, in, &cached, LOOP_METHOD);
    const double time = ta_ref_number(in, LOOP_TIME, row, 0);
    const struct ta_evidence evidence[] = {ta_place_evidence(&cached),
                                           ta_place_evidence(&checking)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "step-cache",
            .rule = "step_cache",
            .title = ta_advice_printf(advice,
                                      "The step cache%s of %s never hits: all %.0f steps are full, "
                                      "and its checks cost %s%s",
                                      method[0] ? ta_advice_printf(advice, " (%s)", method) : "",
                                      ta_place_text(advice, in, &cached, LOOP_CACHE),
                                      ta_ref_number(in, LOOP_STEPS, row, 0),
                                      ta_advice_number(advice, checking.value, TA_UNIT_NS),
                                      ta_place_owner(advice, in->report, &cached)),
            .advice =
                "Raise the threshold of the cache step by step and compare the pictures, or switch "
                "the cache off where the model has few steps: there it only costs its check.",
            .details = "The saving assumes a cache that skips a sixth to half of the steps, at "
                       "lower quality.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = time > 0 ? ta_whole(time / 6) : TA_MISSING,
            .saving_high_ns = time > 0 ? ta_whole(time / 2) : TA_MISSING,
            .steps_ns = ta_whole(time),
            .confidence = 0.6,
            .threshold = "functions of a step cache run, and no step is cached",
        });
}

static bool advise_idle(const struct ta_refs *in, struct ta_advice *advice)
{
    for (size_t row = 0; row < ta_ref_rows(in, LOOP_CHECKS); row++) {
        if (!(ta_ref_number(in, LOOP_CHECKS, row, 0) > 0) ||
            !(ta_ref_number(in, LOOP_CACHED, row, NAN) <= 0) ||
            !ta_place_at(in, LOOP_CHECKING, row).table)
            continue;
        give_idle(in, advice, row);
        return true;
    }
    return false;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double most = ta_ctx_option(ctx, STEPS);
    size_t first = SIZE_MAX, n = 0;
    advise_slow(ctx, in, advice);
    if (advise_idle(in, advice))
        return TA_OK;
    for (size_t row = 0; row < ta_ref_rows(in, HITS); row++) {
        if (!(ta_ref_number(in, HITS, row, NAN) <= most) ||
            !figure_of(in, row, "residual_diff_min").table)
            continue;
        first = first == SIZE_MAX ? row : first;
        n++;
    }
    if (first == SIZE_MAX)
        return TA_OK;
    const struct ta_place hits = ta_place_at(in, HITS, first);
    const struct ta_place least = figure_of(in, first, "residual_diff_min");
    const struct ta_place median = figure_of(in, first, "residual_diff_p50");
    const struct ta_place threshold = figure_of(in, first, "residual_diff_threshold");
    const struct ta_place warmup = figure_of(in, first, "max_warmup_steps");
    const struct ta_place limit = figure_of(in, first, "max_cached_steps");
    /* At the median difference half of the steps after the warm-up are alike. */
    const struct ta_place loop = longest_loop(in);
    const double steps = loop.table ? loop.value : 0;
    const double after = warmup.table ? fmax(0, steps - warmup.value) : steps;
    const double skipped =
        limit.table && limit.value > 0 ? fmin(0.5 * after, limit.value) : 0.5 * after;
    const double most_ns = loop.table ? skipped * ta_ref_number(in, BAR_MEAN, loop.row, 0) : 0;
    const struct ta_evidence evidence[] = {ta_place_evidence(&hits), ta_place_evidence(&least),
                                           ta_place_evidence(&threshold)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "step-cache",
                  .rule = "step_cache",
                  .title = title_of(in, advice, &hits, &least, &threshold, n),
                  .advice = advice_of(advice, &least, &median, &threshold, &warmup),
                  .details = most_ns > 0
                                 ? "The saving assumes a cache that skips up to half of the steps "
                                   "after its warm-up, within its limit, at lower quality; a model "
                                   "of few steps has no similar steps to skip."
                                 : "A model of few steps has no similar steps to skip.",
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = threshold.table ? 3 : 2,
                  .saving_low_ns = most_ns > 0 ? ta_whole(most_ns / 3) : TA_MISSING,
                  .saving_high_ns = most_ns > 0 ? ta_whole(most_ns) : TA_MISSING,
                  .steps_ns =
                      most_ns > 0 ? ta_whole(steps * ta_ref_number(in, BAR_MEAN, loop.row, 0)) : 0,
                  .confidence = 0.8,
                  .threshold = ta_advice_printf(
                      advice, "skipped steps <= %.0f although differences were measured", most),
              });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, step_cache, &ops, .title = "Step cache that gains little",
          .summary = "Fires when a step cache skips hardly any step, or its cached steps take long",
          .version = "1", .options = options);
