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

enum { STEPS_LEAST = 3, COLLECTIVES_LEAST = 30 }; /* from which it shows who is late */

enum { RANK, WINDOW, COMM, EXPOSED, WAIT, UNKNOWN, BEFORE, STEPS, COLLECTIVES };

static const struct ta_ref reads[] = {
    [RANK] = {"gpu_time.by_rank", "rank"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [COMM] = {"gpu_time.by_rank", "comm_ns"},
    [EXPOSED] = {"gpu_time.by_rank", "comm_exposed_ns"},
    [WAIT] = {"collectives.exposed", "wait_ns"},
    [UNKNOWN] = {"collectives.exposed", "unknown_ns"},
    [BEFORE] = {"collectives.exposed", "before_ns"},
    [STEPS] = {"steps.by_rank", "steps"},
    [COLLECTIVES] = {"stragglers.by_rank", "collectives"},
};

#define LITTLE 0.02

/* Of the exposed time of a row, what began before the recording: no overlap saves it.  The first
 * collective always has a little. */
static double before_of(const struct ta_refs *in, size_t row)
{
    static const struct ta_look look = {.cells = BEFORE};
    const struct ta_place exposed = ta_place_at(in, EXPOSED, row);
    struct ta_place before;
    return exposed.table && ta_look_same(in, &look, &exposed, &before) &&
                   before.value > LITTLE * exposed.value
               ? before.value
               : 0;
}

/* What overlap could hide of a row. */
static double exposed_of(const struct ta_refs *in, size_t row)
{
    return ta_ref_number(in, EXPOSED, row, 0) - before_of(in, row);
}

struct extremes {
    size_t most, least; /* rows with the largest and the smallest exposed time */
    size_t silent;      /* a row without communication, where others have some; else SIZE_MAX */
};

/* A rank of which no communication was recorded while others have some was not recorded whole: it
 * is no rank that waits for nobody. */
static struct extremes find_extremes(const struct ta_refs *in)
{
    struct extremes e = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    for (size_t row = 0; row < ta_ref_rows(in, EXPOSED); row++) {
        if (ta_ref_number(in, COMM, row, 1) <= 0) {
            e.silent = e.silent == SIZE_MAX ? row : e.silent;
            continue;
        }
        const double value = exposed_of(in, row);
        if (e.most == SIZE_MAX || value > exposed_of(in, e.most))
            e.most = row;
        if (e.least == SIZE_MAX || value < exposed_of(in, e.least))
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

static double most_of(const struct ta_refs *in, size_t ref)
{
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, ref); row++)
        most = fmax(most, ta_ref_number(in, ref, row, 0));
    return most;
}

/* Whether enough was recorded to say who is late: several steps, or many collectives. */
static bool shows_who_is_late(const struct ta_refs *in)
{
    return ta_ref_rows(in, STEPS)
               ? most_of(in, STEPS) >= STEPS_LEAST
               : most_of(in, COLLECTIVES) >= COLLECTIVES_LEAST || ta_ref_rows(in, COLLECTIVES) == 0;
}

/* A rank that waits little while the others wait long is the one they wait for. */
static const char *suspect(const struct ta_refs *in, struct ta_advice *advice, struct extremes e)
{
    static const char overlap[] = "Overlap collectives with computation (asynchronous launch, "
                                  "smaller chunks on an own stream) or send less.";
    const int64_t rank = ta_ref_integer(in, RANK, e.least);
    const bool differs = ta_ref_rows(in, EXPOSED) > 1 &&
                         exposed_of(in, e.least) <= exposed_of(in, e.most) / 2 &&
                         rank != TA_MISSING;
    const char *text = overlap;
    if (differs && shows_who_is_late(in))
        text = ta_advice_printf(advice,
                                "Look at rank %lld first: it waits least, so it probably arrives "
                                "last and the others wait for it. Then overlap collectives with "
                                "computation.",
                                (long long)rank);
    else if (differs)
        text = ta_advice_printf(advice,
                                "Too few steps were recorded to say which rank is late: "
                                "record several of them. %s",
                                overlap);
    if (e.silent == SIZE_MAX)
        return text;
    return ta_advice_printf(advice,
                            "The recording of rank %lld has no communication, which the "
                            "others have: nothing is known of its part. %s",
                            (long long)ta_ref_integer(in, RANK, e.silent), text);
}

/* ", 3.2 ms of it waiting for the last rank, besides 7.62 ms that began before the recording". */
static const char *parts_of(struct ta_advice *advice, const struct ta_place *wait, double before)
{
    const char *waited = wait->table && wait->value > 0
                             ? ta_advice_printf(advice, ", %s of it waiting for the last rank",
                                                ta_advice_number(advice, wait->value, TA_UNIT_NS))
                             : "";
    return before > 0 ? ta_advice_printf(advice, "%s, besides %s that began before the recording",
                                         waited, ta_advice_number(advice, before, TA_UNIT_NS))
                      : waited;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct extremes e = find_extremes(in);
    if (e.most == SIZE_MAX)
        return TA_OK;
    const struct ta_place worst = ta_place_at(in, EXPOSED, e.most);
    const double window = ta_ref_number(in, WINDOW, e.most, 0);
    const double before = before_of(in, e.most), exposed = exposed_of(in, e.most);
    if (!worst.table || window <= 0 || exposed / window <= threshold)
        return TA_OK;
    const double share = exposed / window;
    const struct ta_place wait = waiting(in, &worst);
    const struct ta_evidence evidence[] = {
        ta_place_evidence(&worst),
        ta_ref_evidence(in, EXPOSED, e.least),
        wait.table ? ta_place_evidence(&wait) : (struct ta_evidence){0},
    };
    const size_t n_evidence = wait.table ? 3 : ta_ref_rows(in, EXPOSED) > 1 ? 2 : 1;
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "exposed-comm",
                  .rule = "exposed_comm",
                  .title = ta_advice_printf(advice,
                                            "Communication is exposed for %s of the window of rank "
                                            "%lld (%s%s)",
                                            ta_advice_number(advice, share, TA_UNIT_RATIO),
                                            (long long)ta_ref_integer(in, RANK, e.most),
                                            ta_advice_number(advice, exposed, TA_UNIT_NS),
                                            parts_of(advice, &wait, before)),
                  .advice = suspect(in, advice, e),
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = n_evidence,
                  /* Overlap does not shorten waiting for a rank that is late. */
                  .saving_low_ns = ta_whole(
                      fmax(0, (share - threshold) * window - (wait.table ? wait.value : 0))),
                  .saving_high_ns = ta_whole(exposed),
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
