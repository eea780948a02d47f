/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory in use that rises from step to step of a trace, or from block to block of a dump. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { LEAST, STEPS_LEFT };

static const struct ta_option options[] = {
    [LEAST] = {"least", TA_OPTION_NUMBER, 64.0 * 1024 * 1024, 0, 1e15, TA_OPTION_BYTES,
               "Rise in bytes below which the rule keeps silent"},
    [STEPS_LEFT] = {"steps_left", TA_OPTION_NUMBER, 1000, 0, 1e12, TA_OPTION_PLAIN,
                    "Steps until the memory is full below which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { GROWS, PER, STEPS, FIRST, LAST, SLOPE, P_VALUE, LEFT };

static const struct ta_ref reads[] = {
    [GROWS] = {"memory.growth", "grows"},     [PER] = {"memory.growth", "per"},
    [STEPS] = {"memory.growth", "steps"},     [FIRST] = {"memory.growth", "first_bytes"},
    [LAST] = {"memory.growth", "last_bytes"}, [SLOPE] = {"memory.growth", "slope_bytes"},
    [P_VALUE] = {"memory.growth", "p_value"}, [LEFT] = {"memory.headroom", "steps_left"},
};

static double rise_of(const struct ta_refs *in, size_t row)
{
    return ta_ref_number(in, LAST, row, 0) - ta_ref_number(in, FIRST, row, NAN);
}

/* The device whose memory grows most from step to step, or from block to block, by as much as
 * matters; SIZE_MAX without one. */
static size_t find_worst(const struct ta_refs *in, bool of_blocks, double least)
{
    size_t worst = SIZE_MAX;
    for (size_t row = 0; row < ta_ref_rows(in, GROWS); row++) {
        const struct ta_cell *grows = ta_ref_cell(in, GROWS, row);
        if (grows->kind == TA_CELL_BOOL && grows->b &&
            ta_ref_reads(in, PER, row, "block") == of_blocks && rise_of(in, row) >= least &&
            (worst == SIZE_MAX ||
             ta_ref_number(in, SLOPE, row, 0) > ta_ref_number(in, SLOPE, worst, 0)))
            worst = row;
    }
    return worst;
}

/* Steps until the memory of that device is full; NAN where it is not known. */
static double steps_left(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, LEFT); i++)
        if (ta_ref_rank(in, LEFT, i) == ta_ref_rank(in, GROWS, row) &&
            ta_ref_device(in, LEFT, i) == ta_ref_device(in, GROWS, row))
            return ta_ref_number(in, LEFT, i, NAN);
    return NAN;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    /* Blocks add to a cache on purpose: that hides no leak of steps. */
    const double least = ta_ctx_option(ctx, LEAST);
    size_t row = find_worst(in, false, least);
    row = row == SIZE_MAX ? find_worst(in, true, least) : row;
    if (row == SIZE_MAX)
        return TA_OK;
    const struct ta_place slope = ta_place_at(in, SLOPE, row);
    const double first = ta_ref_number(in, FIRST, row, NAN), last = ta_ref_number(in, LAST, row, 0);
    const bool of_blocks = ta_ref_reads(in, PER, row, "block");
    const double left = steps_left(in, row);
    const struct ta_evidence evidence[] = {
        ta_place_evidence(&slope), ta_ref_evidence(in, FIRST, row), ta_ref_evidence(in, LAST, row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "memory-trend",
            .rule = "memory_trend",
            .title = ta_advice_printf(
                advice, "Memory in use grows by %s a %s, from %s to %s in %.0f %s%s",
                ta_advice_number(advice, slope.value, TA_UNIT_BYTES), of_blocks ? "block" : "step",
                ta_advice_number(advice, first, TA_UNIT_BYTES),
                ta_advice_number(advice, last, TA_UNIT_BYTES), ta_ref_number(in, STEPS, row, 0),
                of_blocks ? "blocks" : "steps", ta_place_owner(advice, in->report, &slope)),
            .why = of_blocks ? "A KV cache of the frames so far grows like this on purpose; "
                               "tensors that stay referenced grow by mistake."
                   : isnan(left)
                       ? NULL
                       : ta_advice_printf(advice,
                                          "At this rate the memory is full after %.0f more "
                                          "steps.",
                                          floor(left)),
            .advice = of_blocks
                          ? "Limit the window of the cache for long videos."
                          : "Drop what a step no longer needs: losses kept with their graph "
                            "(use .item() or .detach()), results in lists, caches without a limit.",
            .details = of_blocks
                           ? NULL
                           : "torch.cuda.memory._record_memory_history() and _dump_snapshot() "
                             "name the call sites that hold the memory.",
            .severity = of_blocks                               ? TA_INFO
                        : left < ta_ctx_option(ctx, STEPS_LEFT) ? TA_HIGH
                                                                : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 3,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.7,
            .threshold = "trend of the memory held at the end of steps: p < 0.01 and more than "
                         "0.1 % per step",
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, memory_trend, &ops, .title = "Memory that grows with each step",
          .summary = "Fires when the memory in use at the end of steps rises", .version = "1",
          .options = options);
