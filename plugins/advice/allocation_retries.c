/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations that succeeded only after the allocator had given its whole cache back, by its own
 * count of them. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { COUNT };

static const struct ta_option options[] = {
    [COUNT] = {"count", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Retries of a device above which the rule fires"},
    TA_OPTIONS_END,
};

enum { RETRIES };

static const struct ta_ref reads[] = {
    [RETRIES] = {"memory.by_rank", "retries"},
};

static const struct ta_cell_rule rule = {
    .look = {.cells = RETRIES},
    .finding = "allocation-retries",
    .rule = "allocation_retries",
    .before = "Device memory ran full ",
    .advice = "Each retry waits for the device and returns all cached segments, which are then "
              "allocated anew: steps with one take much longer. Hold less (smaller batch or "
              "resolution, decoding in tiles, models that are not in use on the host), or set "
              "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True where much of what is held is "
              "unused.",
    .predicate = "retries",
    .severity = TA_MEDIUM,
    .confidence = 0.8,
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct ta_place retries;
    struct ta_cell_rule worded = rule;
    if (!ta_look_worst(in, &rule.look, &retries))
        return TA_OK;
    worded.after = retries.value > 1
                       ? " times: the allocator had to give its cache back before it could go on"
                       : " time: the allocator had to give its cache back before it could go on";
    ta_advise_place(in, advice, &worded, &retries, ta_ctx_option(ctx, COUNT), INFINITY);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, allocation_retries, &ops, .title = "Allocation retries",
          .summary = "Fires when the allocator had to give its cache back to go on", .version = "1",
          .options = options);
