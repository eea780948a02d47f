/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposed communication: collectives that no computation covers, waiting for late ranks included.
 */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.10, 0, 1, TA_OPTION_RATIO,
                   "Exposed share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

enum { RANK, WINDOW, EXPOSED, WAIT, UNKNOWN };

static const struct ta_ref reads[] = {
    [RANK] = {"gpu_time.by_rank", "rank"},
    [WINDOW] = {"gpu_time.by_rank", "window_ns"},
    [EXPOSED] = {"gpu_time.by_rank", "comm_exposed_ns"},
    [WAIT] = {"collectives.exposed", "wait_ns"},
    [UNKNOWN] = {"collectives.exposed", "unknown_ns"},
};

struct extremes {
    size_t most, least; /* rows with the largest and the smallest exposed time */
};

static struct extremes find_extremes(const struct ta_refs *in)
{
    struct extremes e = {0, 0};
    for (size_t row = 1; row < ta_ref_rows(in, EXPOSED); row++) {
        const double value = ta_ref_number(in, EXPOSED, row, 0);
        if (value > ta_ref_number(in, EXPOSED, e.most, 0))
            e.most = row;
        if (value < ta_ref_number(in, EXPOSED, e.least, 0))
            e.least = row;
    }
    return e;
}

/* The part of the exposed time of a row that is waiting for the last rank; its table is NULL where
 * that is not known. */
static struct ta_place waiting(const struct ta_refs *in, const struct ta_place *exposed)
{
    static const struct ta_look look = {.cells = WAIT};
    struct ta_place wait = {0};
    if (!ta_look_same(in, &look, exposed, &wait) ||
        ta_ref_number(in, UNKNOWN, wait.row, 1) > wait.value)
        wait.table = NULL;
    return wait;
}

/* A rank that waits little while the others wait long is the one they wait for. */
static const char *suspect(const struct ta_refs *in, struct ta_advice *advice, struct extremes e)
{
    const double most = ta_ref_number(in, EXPOSED, e.most, 0);
    const double least = ta_ref_number(in, EXPOSED, e.least, 0);
    const int64_t rank = ta_ref_integer(in, RANK, e.least);
    if (ta_ref_rows(in, EXPOSED) < 2 || least > most / 2 || rank == TA_MISSING)
        return "Overlap collectives with computation (asynchronous launch, smaller chunks on an "
               "own stream) or send less.";
    return ta_advice_printf(advice,
                            "Look at rank %lld first: it waits least, so it probably arrives last "
                            "and the others wait for it. Then overlap collectives with "
                            "computation.",
                            (long long)rank);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const size_t n_rows = ta_ref_rows(in, EXPOSED);
    if (n_rows == 0)
        return TA_OK;
    const struct extremes e = find_extremes(in);
    const struct ta_place worst = ta_place_at(in, EXPOSED, e.most);
    const double window = ta_ref_number(in, WINDOW, e.most, 0);
    if (!worst.table || window <= 0 || worst.value / window <= threshold)
        return TA_OK;
    const double share = worst.value / window;
    const struct ta_place wait = waiting(in, &worst);
    const struct ta_evidence evidence[] = {
        ta_place_evidence(&worst),
        ta_ref_evidence(in, EXPOSED, e.least),
        wait.table ? ta_place_evidence(&wait) : (struct ta_evidence){0},
    };
    const char *waited = wait.table
                             ? ta_advice_printf(advice, ", %s of it waiting for the last rank",
                                                ta_advice_number(advice, wait.value, TA_UNIT_NS))
                             : "";
    const size_t n_evidence = wait.table ? 3 : n_rows > 1 ? 2 : 1;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "exposed-comm",
            .rule = "exposed_comm",
            .title = ta_advice_printf(advice,
                                      "Communication is exposed for %s of the window of rank "
                                      "%lld (%s%s)",
                                      ta_advice_number(advice, share, TA_UNIT_RATIO),
                                      (long long)ta_ref_integer(in, RANK, e.most),
                                      ta_advice_number(advice, worst.value, TA_UNIT_NS), waited),
            .advice = suspect(in, advice, e),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = n_evidence,
            /* Overlap does not shorten waiting for a rank that is late. */
            .saving_low_ns =
                ta_whole(fmax(0, (share - threshold) * window - (wait.table ? wait.value : 0))),
            .saving_high_ns = ta_whole(worst.value),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "exposed communication > %s of the window",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, exposed_comm, &ops, .title = "Exposed communication",
          .summary = "Fires when collectives are not covered by computation", .version = "1",
          .options = options);
