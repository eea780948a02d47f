/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process group whose collectives move less per second than those of its peers. */
#include <traceanalyze/rule.h>

enum { RATIO, HIGH };

static const struct ta_option options[] = {
    [RATIO] = {"ratio", TA_OPTION_NUMBER, 0.8, 0, 1, TA_OPTION_RATIO,
               "Bus bandwidth over the median of the peers, below which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
              "The same below which it is severe"},
    TA_OPTIONS_END,
};

enum { GROUP, RANKS, OP, PEERS, BANDWIDTH, MEDIAN, BANDWIDTH_RATIO, Z, LOSS };

static const struct ta_ref reads[] = {
    [GROUP] = {"collectives.links", "group"},
    [RANKS] = {"collectives.links", "ranks"},
    [OP] = {"collectives.links", "op"},
    [PEERS] = {"collectives.links", "peers"},
    [BANDWIDTH] = {"collectives.links", "bus_bandwidth"},
    [MEDIAN] = {"collectives.links", "median"},
    [BANDWIDTH_RATIO] = {"collectives.links", "ratio"},
    [Z] = {"collectives.links", "z"},
    [LOSS] = {"collectives.links", "loss_ns"},
};

static const double SLOW_Z = -3.5;

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, RATIO);
    /* The slowest group whose bandwidth is outside the spread of its peers, too. */
    struct ta_place slow = {0};
    for (size_t row = 0; row < ta_ref_rows(in, BANDWIDTH_RATIO); row++) {
        const struct ta_place ratio = ta_place_at(in, BANDWIDTH_RATIO, row);
        if (ratio.table && ta_ref_number(in, Z, row, 0) < SLOW_Z &&
            (!slow.table || ratio.value < slow.value))
            slow = ratio;
    }
    if (!slow.table || slow.value >= threshold)
        return TA_OK;
    const struct ta_place bus = ta_place_beside(in, &slow, BANDWIDTH);
    const struct ta_place median = ta_place_beside(in, &slow, MEDIAN);
    const struct ta_place peers = ta_place_beside(in, &slow, PEERS);
    const struct ta_place loss = ta_place_beside(in, &slow, LOSS);
    const struct ta_evidence evidence[] = {ta_place_evidence(&slow), ta_place_evidence(&bus),
                                           ta_place_evidence(&median), ta_place_evidence(&loss)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "slow-link",
            .rule = "slow_link",
            .title = ta_advice_printf(
                advice, "Group %s (ranks %s) is slow: %s on the bus for %s, %s of its %.0f peers",
                ta_place_text(advice, in, &slow, GROUP), ta_place_text(advice, in, &slow, RANKS),
                ta_advice_number(advice, bus.value, TA_UNIT_BYTES_PER_S),
                ta_place_text(advice, in, &slow, OP),
                ta_advice_number(advice, slow.value, TA_UNIT_RATIO), peers.value),
            .advice =
                "Waiting is not in this figure, so it is the way of the data: look for a link "
                "that runs at a lower rate or has errors (nvidia-smi nvlink -s, ibstat, "
                "counters of the switch), a rank on another node or socket than the others, "
                "or other traffic on it.",
            .severity = slow.value < ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns = 0, /* if something else covers it */
            .saving_high_ns = ta_whole(loss.value),
            .confidence = 0.7,
            .threshold =
                ta_advice_printf(advice,
                                 "bus bandwidth < %s of the median of at least five peers, "
                                 "and modified z of its logarithm < -3.5",
                                 ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, slow_link, &ops, .title = "Slow link",
          .summary = "Fires when the collectives of one group are slower than those of its peers",
          .version = "1", .options = options);
