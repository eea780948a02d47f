/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collectives of the host, such as gloo's, while nothing computes. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.10, 0, 1, TA_OPTION_RATIO,
                   "Share of the run in collectives that no operator covers, from which the rule "
                   "fires"},
    TA_OPTIONS_END,
};

enum { CLASS, TIME, SHARE, OP, COUNT, TOTAL };
static const struct ta_ref reads[] = {
    [CLASS] = {"run.host_time", "class"},       [TIME] = {"run.host_time", "total_ns"},
    [SHARE] = {"run.host_time", "share"},       [OP] = {"collectives.by_kind", "op"},
    [COUNT] = {"collectives.by_kind", "count"}, [TOTAL] = {"collectives.by_kind", "total_ns"},
};

/* Above this share it is of high severity. */
#define MUCH 0.3

/* The kind of collective that takes most time; SIZE_MAX without any. */
static size_t find_kind(const struct ta_refs *in)
{
    return ta_ref_largest(in, TOTAL);
}

static const char *name_of(const struct ta_refs *in, struct ta_advice *advice, size_t kind)
{
    if (kind == SIZE_MAX)
        return "collectives";
    if (ta_ref_reads(in, OP, kind, "allreduce"))
        return "all-reduces";
    const struct ta_slice op = ta_ref_text(in, OP, kind);
    return ta_advice_printf(advice, "%.*s", op.len < 40 ? (int)op.len : 40, op.len ? op.ptr : "");
}

/* "10 all-reduces take 214 ms each." */
static const char *why(const struct ta_refs *in, struct ta_advice *advice, size_t kind)
{
    const double count = kind == SIZE_MAX ? 0 : ta_ref_number(in, COUNT, kind, 0);
    if (!(count > 0))
        return NULL;
    return ta_advice_printf(
        advice, "%s %s take %s each on average.", ta_advice_number(advice, count, TA_UNIT_COUNT),
        name_of(in, advice, kind),
        ta_advice_number(advice, ta_ref_number(in, TOTAL, kind, 0) / count, TA_UNIT_NS));
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = SHARE, .where = {{CLASS, "collectives"}}};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_place share;
    if (!ta_look_worst(in, &look, &share) || share.value <= threshold)
        return TA_OK;
    const size_t kind = find_kind(in);
    const double time = ta_ref_number(in, TIME, share.row, 0);
    const bool is_alone = ta_report_run(in->report)->n_ranks <= 1;
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, TIME, share.row),
                                           ta_place_evidence(&share)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "host-collectives",
            .rule = "host_collectives",
            .title = ta_advice_printf(
                advice, "%s waits in %s of the host: no operator runs for %s of the run (%s)",
                is_alone ? "The program"
                         : ta_advice_printf(advice, "Rank %lld",
                                            (long long)ta_ref_rank(in, TIME, share.row)),
                name_of(in, advice, kind), ta_advice_number(advice, share.value, TA_UNIT_RATIO),
                ta_advice_number(advice, time, TA_UNIT_NS)),
            .why = why(in, advice, kind),
            .advice = is_alone
                          ? "Record all ranks in the same steps: a rank that comes late makes the "
                            "others wait. If none does, the transfer is slow: reduce gradients "
                            "less often (`no_sync()` over several batches) or in 16 bit "
                            "(`bf16_compress_hook`), and check the network that gloo uses "
                            "(`GLOO_SOCKET_IFNAME`)."
                          : "Find the rank that comes last. If none does, the transfer is slow: "
                            "reduce gradients less often (`no_sync()` over several batches) or in "
                            "16 bit (`bf16_compress_hook`), and check the network that gloo uses "
                            "(`GLOO_SOCKET_IFNAME`).",
            .details = is_alone ? "Whether it waits for data or for another rank is not known: one "
                                  "rank was recorded."
                                : NULL,
            .severity = share.value > MUCH ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = TA_LENGTH(evidence),
            /* What waits for a late rank is not saved by faster transfer, nor the other way. */
            .saving_low_ns = ta_whole(time / 5),
            .saving_high_ns = ta_whole(time),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "collectives that no operator covers > %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, host_collectives, &ops, .title = "Collectives of the host",
          .summary = "Fires when the host waits in collectives, such as gloo's, and computes "
                     "nothing meanwhile",
          .version = "1", .options = options);
