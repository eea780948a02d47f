/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step cache whose threshold is below what consecutive denoising steps differ by, so that it
 * skips none of them. */
#include "lib/bars.h"

enum { STEPS };

static const struct ta_option options[] = {
    [STEPS] = {"steps", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Skipped steps up to which the rule fires"},
    TA_OPTIONS_END,
};

enum { CACHE = BAR_REFS, HITS, GROUP, FIGURE, VALUE };

static const struct ta_ref reads[] = {
    BAR_READS,
    [CACHE] = {"caches.by_name", "cache"},
    [HITS] = {"caches.by_name", "hits"},
    [GROUP] = {"figures.reported", "group"},
    [FIGURE] = {"figures.reported", "figure"},
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
    const char *more = n > 1 ? ta_advice_printf(advice, ", nor do %zu more caches", n - 1) : "";
    const char *name = ta_place_text(advice, in, hits, CACHE);
    const char *limit = !threshold->table
                            ? ""
                            : ta_advice_printf(advice, ", its threshold is %s%.3g",
                                               threshold->value > least->value ? "above, at " : "",
                                               threshold->value);
    const char *result = hits->value > 0 ? ta_advice_printf(advice, "skips only %.0f step%s",
                                                            hits->value, hits->value > 1 ? "s" : "")
                                         : "never hits";
    if (n == 2)
        more = ", nor does another one";
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
                  .details =
                      most_ns > 0
                          ? "The saving is of a cache that skips up to half of the steps after its "
                            "warm-up, within its limit, at less quality; a model of few steps has "
                            "none that are alike."
                          : "A model of few steps has none that are alike.",
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = threshold.table ? 3 : 2,
                  .saving_low_ns = most_ns > 0 ? ta_whole(most_ns / 3) : TA_MISSING,
                  .saving_high_ns = most_ns > 0 ? ta_whole(most_ns) : TA_MISSING,
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
