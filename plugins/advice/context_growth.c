/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks that take longer the more blocks there are before them. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
               "What growth adds to the blocks of a video over their time, above which the rule "
               "fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.4, 0, 1, TA_OPTION_RATIO,
              "That share above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { SLOPE, WINDOW, ADDED, BASE, BLOCKS, LIMIT, UNTIL, BEYOND, BLOCK_TIME };

static const struct ta_ref reads[] = {
    [SLOPE] = {"diffusion.context_growth", "growth_ns"},
    [WINDOW] = {"diffusion.context_growth", "window"},
    [ADDED] = {"diffusion.context_growth", "added_ns"},
    [BASE] = {"diffusion.context_growth", "base_ns"},
    [BLOCKS] = {"diffusion.context_growth", "blocks"},
    [LIMIT] = {"diffusion.context_growth", "limit_ns"},
    [UNTIL] = {"diffusion.context_growth", "real_time_until"},
    [BEYOND] = {"diffusion.context_growth", "extrapolated"},
    [BLOCK_TIME] = {"diffusion.by_rank", "block_mean_ns"},
};

/* What growth adds over the time of the blocks of the fit. */
static double share_of(const struct ta_refs *in, size_t row)
{
    const int64_t rank = ta_ref_rank(in, ADDED, row);
    for (size_t i = 0; i < ta_ref_rows(in, BLOCK_TIME); i++)
        if (ta_ref_rank(in, BLOCK_TIME, i) == rank)
            return ta_ref_number(in, ADDED, row, 0) /
                   (ta_ref_number(in, BLOCKS, row, 0) * ta_ref_number(in, BLOCK_TIME, i, NAN));
    return 0;
}

static const char *title(const struct ta_refs *in, struct ta_advice *advice,
                         const struct ta_place *slope)
{
    const double window = ta_ref_number(in, WINDOW, slope->row, NAN);
    const double until = ta_ref_number(in, UNTIL, slope->row, NAN);
    const bool is_late = until > 0; /* else it is not in real time from the first block on */
    const struct ta_cell *beyond = ta_ref_cell(in, BEYOND, slope->row);
    const bool is_beyond = beyond->kind == TA_CELL_BOOL && beyond->b;
    return ta_advice_printf(
        advice, "Each block%s takes %s longer than the one before it%s%s",
        isnan(window) ? "" : ta_advice_printf(advice, " up to block %.0f", window),
        ta_advice_number(advice, slope->value, TA_UNIT_NS),
        is_late ? ta_advice_printf(advice, "; from block %.0f on they are slower than real time%s",
                                   until, is_beyond ? ", by the trend" : "")
                : "",
        ta_place_owner(advice, in->report, slope));
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, ADDED); i++)
        if (share_of(in, i) > ta_ctx_option(ctx, SHARE) &&
            (worst == SIZE_MAX ||
             ta_ref_number(in, ADDED, i, 0) > ta_ref_number(in, ADDED, worst, 0)))
            worst = i;
    if (worst == SIZE_MAX)
        return TA_OK;
    const struct ta_place slope = ta_place_at(in, SLOPE, worst);
    const struct ta_place added = ta_place_at(in, ADDED, worst);
    const struct ta_evidence evidence[] = {ta_place_evidence(&slope), ta_place_evidence(&added)};
    const double share = share_of(in, worst);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "context-growth",
            .rule = "context_growth",
            .title = title(in, advice, &slope),
            .why = ta_advice_printf(
                advice,
                "That adds %s, %s of the time of the blocks: attention to more and "
                "more cached keys and values.",
                ta_advice_number(advice, added.value, TA_UNIT_NS),
                ta_advice_number(advice, share, TA_UNIT_RATIO)),
            .advice = "Attend to a shorter window of blocks, keep the first block and the "
                      "latest ones, or pool the cache of older blocks; compare the videos.",
            .severity = share > ta_ctx_option(ctx, HIGH) ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            /* Half of the window keeps more than half of what it adds to the first blocks. */
            .saving_low_ns = ta_whole(added.value / 4),
            .saving_high_ns = ta_whole(added.value),
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "growth > %.3g %% of the time of the blocks",
                                          100 * ta_ctx_option(ctx, SHARE)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, context_growth, &ops, .title = "Growth with the context",
          .summary = "Fires when blocks take longer the more blocks there are before them",
          .version = "1", .options = options);
