/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the allocator holds beyond the peak of what tensors use. */
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

enum { PEAK_RESERVED, UNUSED, TOTAL, RETRIES, FAILED, STATES };

static const struct ta_ref reads[] = {
    [PEAK_RESERVED] = {"memory.by_rank", "peak_reserved_bytes"},
    [UNUSED] = {"memory.by_rank", "unused_bytes"},
    [TOTAL] = {"memory.by_rank", "total_bytes"},
    [RETRIES] = {"memory.by_rank", "retries"},
    [FAILED] = {"memory.failures", "wanted_bytes"},
    [STATES] = {"memory.fragmentation", "free_bytes"},
};

/* The row with the largest share of its reserved memory that was not in use at the peak; what is
 * known is mostly two peaks, which may be of different moments. */
static bool find_worst(const struct ta_refs *in, struct ta_place *unused, struct ta_place *reserved)
{
    double worst = 0;
    for (size_t row = 0; row < ta_ref_rows(in, UNUSED); row++) {
        const double held = ta_ref_number(in, PEAK_RESERVED, row, 0);
        const double bytes = ta_ref_number(in, UNUSED, row, 0);
        if (held <= 0 || bytes / held <= worst)
            continue;
        worst = bytes / held;
        *unused = ta_place_at(in, UNUSED, row);
        *reserved = ta_place_at(in, PEAK_RESERVED, row);
    }
    return worst > 0;
}

/* A device that has room for what is unused is not short of memory, unless it ran full. */
#define FULL_SHARE 0.8

static bool is_short(const struct ta_refs *in, const struct ta_place *reserved)
{
    const struct ta_place total = ta_place_beside(in, reserved, TOTAL);
    const struct ta_place retries = ta_place_beside(in, reserved, RETRIES);
    return !total.table || reserved->value > FULL_SHARE * total.value ||
           (retries.table && retries.value > 0) || ta_ref_rows(in, FAILED) > 0;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, SHARE);
    struct ta_place unused, reserved;
    if (!find_worst(in, &unused, &reserved) || unused.value < ta_ctx_option(ctx, LEAST) ||
        unused.value / reserved.value <= threshold || !is_short(in, &reserved))
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&unused),
                                           ta_place_evidence(&reserved)};
    const char *held = ta_advice_number(advice, reserved.value, TA_UNIT_BYTES);
    const char *used = ta_advice_number(advice, reserved.value - unused.value, TA_UNIT_BYTES);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "fragmentation",
            .rule = "fragmentation",
            .title = ta_advice_printf(advice,
                                      "At the peak the allocator holds up to %s more than tensors "
                                      "use (%s against %s)%s",
                                      ta_advice_number(advice, unused.value, TA_UNIT_BYTES), held,
                                      used, ta_place_owner(advice, in->report, &unused)),
            .why =
                "The difference is fragments, or a cache of free blocks for the next allocations.",
            .advice = ta_advice_printf(
                advice,
                "Where memory is short, set %s=expandable_segments:True, and call "
                "torch.cuda.empty_cache() once after a model was moved away, not in a loop.",
                ta_run_is_amd(ta_report_run(in->report)) ? "PYTORCH_HIP_ALLOC_CONF"
                                                         : "PYTORCH_CUDA_ALLOC_CONF"),
            .details = ta_ref_rows(in, STATES) > 0
                           ? NULL
                           : "A snapshot (torch.cuda.memory._dump_snapshot()) tells the two apart. "
                             "The two peaks may lie at different times.",
            .severity =
                unused.value / reserved.value > ta_ctx_option(ctx, HIGH) ? TA_MEDIUM : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.4,
            .threshold =
                ta_advice_printf(advice, "peak reserved minus peak allocated > %s of peak reserved",
                                 ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, fragmentation, &ops, .title = "Unused reserved memory",
          .summary = "Fires when the allocator holds much more at its peak than tensors use",
          .version = "1", .options = options);
