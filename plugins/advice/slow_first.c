/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop whose first iteration takes much longer than the others. */
#include "lib/bars.h"

enum { FACTOR, SHARE, LEAST, MEDIUM };

static const struct ta_option options[] = {
    [FACTOR] = {"factor", TA_OPTION_NUMBER, 2, 1, 1e6, TA_OPTION_PLAIN,
                "First iteration over the mean of the others above which the rule fires"},
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
               "Share of the loop that it takes more than another, above which the rule fires"},
    [LEAST] = {"least", TA_OPTION_INTEGER, 2e9, 0, 1e15, TA_OPTION_NS,
               "Time that it takes more, below which the rule keeps silent: elapsed time has "
               "whole seconds"},
    [MEDIUM] = {"medium", TA_OPTION_NUMBER, 0.3, 0, 1, TA_OPTION_RATIO,
                "Share of the loops that the first iterations take more, above which it is one "
                "severity higher"},
    TA_OPTIONS_END,
};

enum { NAME = BAR_REFS };

static const struct ta_ref reads[] = {BAR_READS, [NAME] = {"run.happenings", "name"}};

/* Where the log says what is compiled again, that is the finding (recompilations). */
static bool is_explained(const struct ta_refs *in)
{
    for (size_t row = 0; row < ta_ref_rows(in, NAME); row++)
        if (ta_ref_reads(in, NAME, row, "recompilation") ||
            ta_ref_reads(in, NAME, row, "recompile limit"))
            return true;
    return false;
}

/* What the first iteration takes more than the mean of the others; 0 where that is little. */
static double extra_ns(struct ta_ctx *ctx, const struct ta_refs *in, size_t row)
{
    const double first = ta_ref_number(in, BAR_FIRST, row, NAN);
    const double rest = ta_ref_number(in, BAR_REST, row, NAN);
    const double extra = first - rest, all = ta_ref_number(in, BAR_ELAPSED, row, NAN);
    const bool is_clear =
        first > ta_ctx_option(ctx, FACTOR) * rest && extra > ta_ctx_option(ctx, SHARE) * all &&
        extra >= ta_ctx_option(ctx, LEAST) && ta_ref_number(in, BAR_DONE, row, 0) >= 3;
    return is_clear ? extra : 0;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct bar_loss loss = bars_loss(ctx, in, extra_ns);
    if (loss.row == SIZE_MAX || is_explained(in))
        return TA_OK;
    const double share = loss.all / ta_ref_sum(in, BAR_ELAPSED);
    const struct ta_place first = ta_place_at(in, BAR_FIRST, loss.row);
    const struct ta_place rest = ta_place_at(in, BAR_REST, loss.row);
    const struct ta_evidence evidence[] = {ta_place_evidence(&first), ta_place_evidence(&rest)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "slow-first",
            .rule = "slow_first",
            .title = ta_advice_printf(
                advice, "The first iteration%s takes %s, the others %s each%s",
                bar_of(advice, in, &first), ta_advice_number(advice, first.value, TA_UNIT_NS),
                ta_advice_number(advice, rest.value, TA_UNIT_NS),
                ta_place_owner(advice, in->report, &first)),
            .why = loss.n > 1
                       ? ta_advice_printf(
                             advice,
                             "%zu progress bars show this and lose %s of %s: the first iteration "
                             "also loads, compiles or tunes.",
                             loss.n, ta_advice_number(advice, loss.all, TA_UNIT_NS),
                             ta_advice_number(advice, ta_ref_sum(in, BAR_ELAPSED), TA_UNIT_NS))
                       : "The first iteration also loads, compiles or tunes.",
            .advice = "Run one iteration of the same shape before what is timed, and keep models "
                      "loaded and compiled between runs.",
            .details = "The first iteration may also wait for work that was launched before the "
                       "loop. Leave it out "
                       "of comparisons.",
            .severity = share > ta_ctx_option(ctx, MEDIUM) ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = ta_whole(0.4 * loss.all),
            .saving_high_ns = ta_whole(loss.all),
            .steps_ns = TA_OUTSIDE_LOOP,
            .confidence = 0.7,
            .threshold = ta_advice_printf(
                advice, "first iteration > %.3g times the mean of the others and %s of the loop",
                ta_ctx_option(ctx, FACTOR),
                ta_advice_number(advice, ta_ctx_option(ctx, SHARE), TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(
    advice, slow_first, &ops, .title = "Slow first iteration",
    .summary = "Fires when the first iteration of a progress bar takes much longer than the others",
    .version = "1", .options = options);
