/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the allocator holds at its peak and that no tensor uses. */
#include <traceanalyze/rule.h>

enum { SHARE, LEAST, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
               "Unused share of the reserved memory above which the rule fires"},
    [LEAST] = {"least", TA_OPTION_NUMBER, 256.0 * 1024 * 1024, 0, 1e15, TA_OPTION_BYTES,
               "Unused bytes below which the rule keeps silent"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.4, 0, 1, TA_OPTION_RATIO,
              "Unused share above which it is one severity higher"},
    TA_OPTIONS_END,
};

static const struct ta_look look = {.table = "memory.by_rank", .column = "gap_share"};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, SHARE);
    struct ta_place gap;
    if (!ta_look_worst(report, &look, &gap) || gap.value <= threshold)
        return TA_OK;
    const struct ta_place reserved = ta_place_beside(&gap, "peak_reserved_bytes");
    const double bytes = gap.value * reserved.value;
    if (!reserved.table || bytes < ta_ctx_option(ctx, LEAST))
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&gap), ta_place_evidence(&reserved)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "fragmentation",
            .rule = "fragmentation",
            .title =
                ta_advice_printf(advice, "%s of the memory held at the peak is unused (%s of %s)%s",
                                 ta_advice_number(advice, gap.value, TA_UNIT_RATIO),
                                 ta_advice_number(advice, bytes, TA_UNIT_BYTES),
                                 ta_advice_number(advice, reserved.value, TA_UNIT_BYTES),
                                 ta_place_owner(advice, report, &gap)),
            .advice = "Either fragments or a cache of freed blocks. Where memory is short, try "
                      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True first; call "
                      "torch.cuda.empty_cache() once after a model was moved away, not in a loop. "
                      "A memory snapshot (torch.cuda.memory._snapshot) tells the two apart.",
            .severity = gap.value > ta_ctx_option(ctx, HIGH) ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.4,
            .threshold =
                ta_advice_printf(advice, "unused share of the reserved memory at its peak > %s",
                                 ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, fragmentation, &ops, .title = "Unused reserved memory",
          .summary = "Fires when the allocator holds much more at its peak than tensors use",
          .version = "1", .options = options);
