/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step cache whose threshold is below what consecutive denoising steps differ by, so that it
 * skips none of them. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { STEPS };

static const struct ta_option options[] = {
    [STEPS] = {"steps", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Skipped steps up to which the rule fires"},
    TA_OPTIONS_END,
};

enum { CACHE, HITS, GROUP, FIGURE, VALUE };

static const struct ta_ref reads[] = {
    [CACHE] = {"caches.by_name", "cache"},   [HITS] = {"caches.by_name", "hits"},
    [GROUP] = {"figures.reported", "group"}, [FIGURE] = {"figures.reported", "figure"},
    [VALUE] = {"figures.reported", "value"},
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

/* The settings that decide how soon a step is skipped, ", max_warmup_steps (8)". */
static const char *warmup_of(struct ta_advice *advice, const struct ta_place *warmup)
{
    return warmup->table && warmup->value > 0
               ? ta_advice_printf(advice, ", or lower max_warmup_steps (%.0f)", warmup->value)
               : "";
}

static const char *title_of(const struct ta_refs *in, struct ta_advice *advice,
                            const struct ta_place *hits, const struct ta_place *least,
                            const struct ta_place *threshold, size_t n)
{
    const char *more = n > 1 ? ta_advice_printf(advice, " (so in %zu caches)", n) : "";
    const char *name = ta_place_text(advice, in, hits, CACHE);
    const char *skipped =
        hits->value > 0 ? ta_advice_printf(advice, "only %.0f", hits->value) : "no";
    const char *limit = !threshold->table
                            ? ""
                            : ta_advice_printf(advice, ", its threshold is %s%.3g",
                                               threshold->value > least->value ? "above, at " : "",
                                               threshold->value);
    return ta_advice_printf(advice,
                            "The step cache of %s skips %s step%s%s: steps differ by %.3g at "
                            "least%s",
                            name, skipped, hits->value > 1 ? "s" : "", more, least->value, limit);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double most = ta_ctx_option(ctx, STEPS);
    size_t first = SIZE_MAX, n = 0;
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
    const bool is_strict = !threshold.table || threshold.value <= least.value;
    const struct ta_evidence evidence[] = {ta_place_evidence(&hits), ta_place_evidence(&least),
                                           ta_place_evidence(&threshold)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "step-cache",
            .rule = "step_cache",
            .title = title_of(in, advice, &hits, &least, &threshold, n),
            .advice =
                is_strict
                    ? ta_advice_printf(
                          advice,
                          "Raise residual_diff_threshold above %.3g%s and compare the pictures%s. "
                          "A model of few steps has none that are alike: there the cache only "
                          "costs its check.",
                          least.value,
                          median.table
                              ? ta_advice_printf(advice, " (the median difference is %.3g)",
                                                 median.value)
                              : "",
                          warmup_of(advice, &warmup))
                    : ta_advice_printf(
                          advice,
                          "Steps below the threshold lie in its warm-up or beyond its limits: "
                          "raise "
                          "max_cached_steps and max_continuous_cached_steps%s. A model with fewer "
                          "steps than the warm-up never uses the cache.",
                          warmup_of(advice, &warmup)),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = threshold.table ? 3 : 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.8,
            .threshold = ta_advice_printf(
                advice, "skipped steps <= %.0f although differences were measured", most),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, step_cache, &ops, .title = "Step cache that skips nothing",
          .summary = "Fires when a step cache measures differences of steps and skips none",
          .version = "1", .options = options);
