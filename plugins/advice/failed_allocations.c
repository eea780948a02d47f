/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations that failed for lack of memory, and whether fragments were the reason. */
#include <traceanalyze/rule.h>

enum { COUNT };

static const struct ta_option options[] = {
    [COUNT] = {"count", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Failed allocations above which the rule fires"},
    TA_OPTIONS_END,
};

/* The largest request. */
static const struct ta_look look = {.table = "memory.failures", .column = "wanted_bytes"};

#define SNAPSHOT                                                                                   \
    " Memory by call site says who held the memory at the peak: move models away that are not in " \
    "use, decode in tiles or fewer frames at a time, store weights in 8 bit."

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, COUNT);
    struct ta_place wanted;
    if (!ta_look_worst(report, &look, &wanted) || (double)wanted.table->n_rows <= threshold)
        return TA_OK;
    const struct ta_place left = ta_place_beside(&wanted, "device_free_bytes");
    const struct ta_place reserved = ta_place_beside(&wanted, "reserved_bytes");
    const struct ta_place allocated = ta_place_beside(&wanted, "allocated_bytes");
    const double unused = reserved.table && allocated.table ? reserved.value - allocated.value : 0;
    const double on_device = left.table ? left.value : 0;
    const bool in_pieces = unused > 0 && on_device + unused >= wanted.value;
    const struct ta_evidence evidence[] = {ta_place_evidence(&wanted),
                                           ta_place_evidence(left.table ? &left : &wanted)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "failed-allocations",
            .rule = "failed_allocations",
            .title = ta_advice_printf(
                advice,
                "An allocation of %s failed: the device had %s left, the allocator held %s "
                "unused%s",
                ta_advice_number(advice, wanted.value, TA_UNIT_BYTES),
                left.table ? ta_advice_number(advice, left.value, TA_UNIT_BYTES) : "less",
                ta_advice_number(advice, unused, TA_UNIT_BYTES),
                ta_place_owner(advice, report, &wanted)),
            .advice = in_pieces
                          ? "Both together would have been enough, but not in one piece: set "
                            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and call "
                            "torch.cuda.empty_cache() once after a model was moved away." SNAPSHOT
                          : "Less must be in use at that moment." SNAPSHOT,
            .severity = TA_HIGH,
            .evidence = evidence,
            .n_evidence = left.table ? 2 : 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.9,
            .threshold = ta_advice_printf(advice, "failed allocations > %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_NONE)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, failed_allocations, &ops, .title = "Failed allocations",
          .summary = "Fires when an allocation of device memory failed", .version = "1",
          .options = options);
