/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames that were generated and then dropped on their way. */
#include <traceanalyze/rule.h>

enum { SHARE, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
               "Share of dropped frames above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.15, 0, 1, TA_OPTION_RATIO,
              "Share of dropped frames above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { DROPPED, ENCODE, NETWORK };

static const struct ta_ref reads[] = {
    [DROPPED] = {"streaming.by_rank", "drop_ratio"},
    [ENCODE] = {"streaming.by_rank", "encode_mean_ns"},
    [NETWORK] = {"streaming.by_rank", "network_mean_ns"},
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = DROPPED};
    const double share = ta_ctx_option(ctx, SHARE);
    struct ta_place dropped;
    if (!ta_look_worst(in, &look, &dropped) || dropped.value <= share)
        return TA_OK;
    const struct ta_evidence evidence = ta_place_evidence(&dropped);
    const struct ta_place encode = ta_place_beside(in, &dropped, ENCODE);
    const struct ta_place network = ta_place_beside(in, &dropped, NETWORK);
    const bool is_known = encode.table && network.table;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "frame-drops",
            .rule = "frame_drops",
            .title = ta_advice_printf(advice, "%s of the streamed frames are dropped%s",
                                      ta_advice_number(advice, dropped.value, TA_UNIT_RATIO),
                                      ta_place_owner(advice, in->report, &dropped)),
            .why = is_known ? ta_advice_printf(advice,
                                               "On average encoding takes %s and the network %s.",
                                               ta_advice_number(advice, encode.value, TA_UNIT_NS),
                                               ta_advice_number(advice, network.value, TA_UNIT_NS))
                            : NULL,
            .advice =
                !is_known ? "Use a cheaper encoder setting if encoding is slower than the frames "
                            "come, a lower bit rate if the network is."
                : encode.value > network.value
                    ? "Use a hardware encoder or a faster preset, and a short queue before it "
                      "for the frames of a whole block."
                    : "Lower the bit rate or the resolution, and keep a short queue for the "
                      "frames of a whole block.",
            .severity = dropped.value > ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.8,
            .threshold = ta_advice_printf(advice, "dropped over sent and dropped frames > %s",
                                          ta_advice_number(advice, share, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, frame_drops, &ops, .title = "Dropped frames",
          .summary = "Fires when frames are dropped while streaming", .version = "1",
          .options = options);
