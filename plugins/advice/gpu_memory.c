/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device memory that is nearly full, by samples of the device or by the allocator's peak. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { SHARE, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.9, 0, 1, TA_OPTION_RATIO,
               "Share of the memory in use above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.95, 0, 1, TA_OPTION_RATIO,
              "Share of the memory in use above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { SIGNAL, SIGNAL_MAX, TOTAL, PEAK_RESERVED, PEAK_ALLOCATED, LIMIT };

static const struct ta_ref reads[] = {
    [SIGNAL] = {"telemetry.by_rank", "signal"},
    [SIGNAL_MAX] = {"telemetry.by_rank", "max"},
    [TOTAL] = {"memory.by_rank", "total_bytes"},
    [PEAK_RESERVED] = {"memory.by_rank", "peak_reserved_bytes"},
    [PEAK_ALLOCATED] = {"memory.by_rank", "peak_allocated_bytes"},
    [LIMIT] = {"telemetry.limits", "limit"},
};

static const struct {
    struct ta_look total;
    struct ta_look used; /* the row of the same device */
} sources[] = {
    {{.cells = SIGNAL_MAX, .where = {{SIGNAL, "gpu_memory_total"}}},
     {.cells = SIGNAL_MAX, .where = {{SIGNAL, "gpu_memory_used"}}}},
    {{.cells = TOTAL}, {.cells = PEAK_RESERVED}},
    /* Known to be more where what is held is recorded at snapshots only. */
    {{.cells = TOTAL}, {.cells = PEAK_ALLOCATED}},
};

struct fullest {
    struct ta_place used, total;
    double share;
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, SHARE);
    /* The device whose memory is fullest. */
    struct fullest fullest = {.share = 0};
    for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
        const struct ta_look *look = &sources[s].used;
        for (size_t row = 0; row < ta_ref_rows(in, look->cells); row++) {
            if (!ta_look_takes(in, look, row))
                continue;
            const struct ta_place used = ta_place_at(in, look->cells, row);
            struct ta_place total;
            if (ta_look_same(in, &sources[s].total, &used, &total) && total.value > 0 &&
                used.value / total.value > fullest.share)
                fullest = (struct fullest){used, total, used.value / total.value};
        }
    }
    if (fullest.share <= threshold)
        return TA_OK;
    /* Memory that overflows into the host's is a finding of its own. */
    for (size_t row = 0; row < ta_ref_rows(in, LIMIT); row++)
        if (ta_ref_reads(in, LIMIT, row, "host_memory"))
            return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&fullest.used),
                                           ta_place_evidence(&fullest.total)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "gpu-memory",
            .rule = "gpu_memory",
            .title = ta_advice_printf(advice, "GPU memory is %s full at its peak (%s of %s)%s",
                                      ta_advice_number(advice, fullest.share, TA_UNIT_RATIO),
                                      ta_advice_number(advice, fullest.used.value, TA_UNIT_BYTES),
                                      ta_advice_number(advice, fullest.total.value, TA_UNIT_BYTES),
                                      ta_place_owner(advice, in->report, &fullest.used)),
            .advice = "A little more resolution or length fails, and close to the limit the "
                      "allocator stalls to give memory back. Decode in tiles or fewer frames at "
                      "a time, move models away that are not in use, store weights in 8 bit. "
                      "Memory by label and Memory by call site say who holds it at the peak.",
            .severity = fullest.share > ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.8,
            .threshold = ta_advice_printf(advice, "memory in use over total > %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, gpu_memory, &ops, .title = "Nearly full device memory",
          .summary = "Fires when the memory of a device is nearly full", .version = "1",
          .options = options);
