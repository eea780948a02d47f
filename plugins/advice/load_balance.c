/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks that compute less than the one with most, and wait for it. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { LEAST, HIGH };

static const struct ta_option options[] = {
    [LEAST] = {"balance", TA_OPTION_NUMBER, 0.8, 0, 1, TA_OPTION_RATIO,
               "Mean compute time of the ranks over the longest, below which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.6, 0, 1, TA_OPTION_RATIO,
              "The same below which it is severe"},
    TA_OPTIONS_END,
};

enum { TERM, EFFICIENCY, LOSS, RANK, COMPUTE, WINDOW, IS_LATE, WAIT, ALONE };

static const struct ta_ref reads[] = {
    [TERM] = {"efficiency.ladder", "term"},
    [EFFICIENCY] = {"efficiency.ladder", "efficiency"},
    [LOSS] = {"efficiency.ladder", "loss_ns"},
    [RANK] = {"gpu_time.by_rank", "rank"},
    [COMPUTE] = {"gpu_time.by_rank", "compute_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [IS_LATE] = {"stragglers.by_rank", "is_late"},
    [WAIT] = {"collectives.exposed", "wait_ns"},
    [ALONE] = {"phases.alone", "time_ns"},
};

static const struct ta_look look = {
    .cells = EFFICIENCY, .where = {{TERM, "balance"}}, .lowest = true};

/* Whether others say it: findings about collectives where ranks wait in those, or the one about a
 * phase that one rank has alone, where that is most of what ranks differ by. */
static bool is_told(const struct ta_refs *in, double run, double loss)
{
    static const struct ta_look waits = {.cells = WAIT}, alone = {.cells = ALONE};
    static const double long_wait = 0.1; /* of the run, as in exposed_comm */
    for (size_t row = 0; row < ta_ref_rows(in, IS_LATE); row++) {
        const struct ta_cell *late = ta_ref_cell(in, IS_LATE, row);
        if (late->kind == TA_CELL_BOOL && late->b)
            return true;
    }
    return ta_look_most(in, &waits, TA_MISSING) > long_wait * run ||
           ta_look_most(in, &alone, TA_MISSING) > loss / 2;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look compute = {.cells = COMPUTE}, windows = {.cells = WINDOW};
    const double threshold = ta_ctx_option(ctx, LEAST);
    struct ta_place balance, most;
    if (!ta_look_worst(in, &look, &balance) || balance.value >= threshold ||
        !ta_look_worst(in, &compute, &most))
        return TA_OK;
    const double run = ta_look_most(in, &windows, TA_MISSING);
    const struct ta_place loss = ta_place_beside(in, &balance, LOSS);
    if (is_told(in, run, loss.value))
        return TA_OK;
    const struct ta_place rank = ta_place_beside(in, &most, RANK);
    const struct ta_evidence evidence[] = {ta_place_evidence(&balance), ta_place_evidence(&most),
                                           ta_place_evidence(&loss)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "load-balance",
            .rule = "load_balance",
            .title = ta_advice_printf(
                advice,
                "The ranks have unequal work: rank %.0f computes %s, %s longer than the "
                "average%s",
                rank.value, ta_advice_number(advice, most.value, TA_UNIT_NS),
                ta_advice_number(advice, loss.value, TA_UNIT_NS),
                run > 0
                    ? ta_advice_printf(advice, " (%s of the run)",
                                       ta_advice_number(advice, loss.value / run, TA_UNIT_RATIO))
                    : ""),
            .advice =
                "Divide the work evenly: equal lengths of sequences, pipeline stages by time and "
                "not by layers, decoder and text encoder on more than one rank.",
            .details = "Where the work is equal, the GPU of that rank is slower.",
            .severity = balance.value < ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns = ta_whole(loss.value / 3), /* the others may have work meanwhile */
            .saving_high_ns = ta_whole(loss.value),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "mean compute over the longest < %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, load_balance, &ops, .title = "Load balance",
          .summary = "Fires when ranks compute for different times", .version = "1",
          .options = options);
