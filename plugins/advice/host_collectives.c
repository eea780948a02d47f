/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collectives of the host, such as gloo's, while nothing computes. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.10, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in collectives that no operator covers, from which the rule "
                   "fires"},
    TA_OPTIONS_END,
};

enum { CLASS, TIME, SHARE, OP, RANKS, COUNT, TOTAL };
static const struct ta_ref reads[] = {
    [CLASS] = {"run.host_time", "class"},          [TIME] = {"run.host_time", "total_ns"},
    [SHARE] = {"run.host_time", "share"},          [OP] = {"collectives.by_kind", "op"},
    [RANKS] = {"collectives.by_kind", "ranks"},    [COUNT] = {"collectives.by_kind", "count"},
    [TOTAL] = {"collectives.by_kind", "total_ns"},
};

/* Above this share it is of high severity. */
#define MUCH 0.3

/* In 16 bit half as much is sent. */
enum { TIMES_SHORTER = 2 };

/* ---- words ----------------------------------------------------------------------------------- */

static const char *name_of(const struct ta_refs *in, struct ta_advice *advice, size_t kind)
{
    if (kind == SIZE_MAX)
        return "collectives";
    if (ta_ref_reads(in, OP, kind, "allreduce"))
        return "all-reduces";
    const struct ta_slice op = ta_slice_head(ta_ref_text(in, OP, kind), 40);
    return ta_advice_printf(advice, "%.*s", (int)op.len, op.len ? op.ptr : "");
}

/* "10 all-reduces take 214 ms each on average. "; empty where they were not counted.  The
 * total is over all ranks. */
static const char *why(const struct ta_refs *in, struct ta_advice *advice, size_t kind)
{
    const double count = kind == SIZE_MAX ? 0 : ta_ref_number(in, COUNT, kind, 0);
    const double ranks = kind == SIZE_MAX ? 1 : fmax(1, ta_ref_number(in, RANKS, kind, 1));
    if (!(count > 0))
        return "";
    return ta_advice_printf(
        advice, "%s %s take %s each on average. ", ta_advice_number(advice, count, TA_UNIT_COUNT),
        name_of(in, advice, kind),
        ta_advice_number(advice, ta_ref_number(in, TOTAL, kind, 0) / count / ranks, TA_UNIT_NS));
}

#define FASTER                                                                                     \
    "reduce gradients less often (`no_sync()` over several batches) or in 16 bit "                 \
    "(`bf16_compress_hook`), and check the network that gloo uses (`GLOO_SOCKET_IFNAME`)."

/* ---- what is known --------------------------------------------------------------------------- */

/* The rank whose collectives cover the smallest share of its run.  A rank waits in a collective for
 * the last one, and the transfer begins then: with all ranks recorded, what even this one spends is
 * the most that transfers can take. */
static struct ta_place find_least(const struct ta_refs *in)
{
    struct ta_place least = {.row = SIZE_MAX};
    for (size_t i = 0; i < ta_ref_rows(in, CLASS); i++)
        if (ta_ref_reads(in, CLASS, i, "collectives") &&
            (least.row == SIZE_MAX || ta_ref_number(in, SHARE, i, 0) < least.value))
            least = ta_place_at(in, SHARE, i);
    return least;
}

/* A rank without a row spends nothing in collectives. */
static size_t count_ranks(const struct ta_refs *in)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, CLASS); i++)
        n += ta_ref_reads(in, CLASS, i, "collectives");
    return n;
}

/* Of some ranks of a run: whether one waits or transfers is not known, so there is no saving. */
static void advise_some(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = SHARE, .where = {{CLASS, "collectives"}}};
    const struct ta_run_info *run = ta_report_run(in->report);
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_place share;
    if (!ta_look_worst(in, &look, &share) || share.value <= threshold)
        return;
    const size_t kind = ta_ref_largest(in, TOTAL);
    const bool is_alone = run->n_ranks <= 1;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, TIME, share.row),
                                           ta_place_evidence(&share)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "host-collectives",
            .rule = "host_collectives",
            .title = ta_advice_printf(
                advice,
                "%s waits in %s of the host for %s of the run (%s), with no operator running",
                is_alone ? "The program"
                         : ta_advice_printf(advice, "Rank %lld",
                                            (long long)ta_ref_rank(in, TIME, share.row)),
                name_of(in, advice, kind), ta_advice_number(advice, share.value, TA_UNIT_RATIO),
                ta_advice_number(advice, ta_ref_number(in, TIME, share.row, 0), TA_UNIT_NS)),
            .why = ta_advice_printf(
                advice,
                "%sHow much can be saved is not known: waiting for a rank that comes late looks "
                "like a slow transfer, and %s recorded.",
                why(in, advice, kind), is_alone ? "one rank was" : "not all ranks were"),
            .advice = "Record all ranks in the same steps: a rank that comes late makes the others "
                      "wait. If none does, the transfer is slow: " FASTER,
            .severity = share.value > MUCH ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = TA_LENGTH(evidence),
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "collectives that no operator covers > %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

/* Of all ranks of a run: the transfer, without what ranks wait for each other. */
static void advise_all(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct ta_place share = find_least(in);
    if (share.row == SIZE_MAX || share.value <= threshold)
        return;
    const size_t kind = ta_ref_largest(in, TOTAL);
    const double time = ta_ref_number(in, TIME, share.row, 0);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, TIME, share.row),
                                           ta_place_evidence(&share)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "host-collectives",
            .rule = "host_collectives",
            .title = ta_advice_printf(
                advice,
                "No rank runs an operator for at least %s of the run (%s), in %s of the host",
                ta_advice_number(advice, share.value, TA_UNIT_RATIO),
                ta_advice_number(advice, time, TA_UNIT_NS), name_of(in, advice, kind)),
            .why = ta_advice_printf(
                advice,
                "%sRank %lld spends least time in them, so it waits least for others: transfers "
                "take no more than that, and in 16 bit half of it at best.",
                why(in, advice, kind), (long long)ta_ref_rank(in, TIME, share.row)),
            .advice = "Send less: " FASTER,
            .severity = share.value > MUCH ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = TA_LENGTH(evidence),
            .gain = TA_GAIN_RANKS,
            .saving_low_ns = 0,
            .saving_high_ns = ta_whole(time / TIMES_SHORTER),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "collectives that no operator covers > %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct ta_run_info *run = ta_report_run(in->report);
    const bool is_part = run->world_size != TA_MISSING && (uint64_t)run->world_size > run->n_ranks;
    if (run->n_ranks <= 1 || is_part)
        advise_some(ctx, in, advice);
    else if (count_ranks(in) == run->n_ranks)
        advise_all(ctx, in, advice);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, host_collectives, &ops, .title = "Collectives of the host",
          .summary = "Fires when the host waits in collectives, such as gloo's, and computes "
                     "nothing meanwhile",
          .version = "1", .options = options);
