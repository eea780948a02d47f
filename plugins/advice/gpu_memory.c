/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device memory that is nearly full: of tensors, or as the driver sees it, the allocator's cache
 * included.  A server that reserves its KV cache fills the memory by intent. */
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

enum {
    SIGNAL,
    SIGNAL_MIN,
    SIGNAL_MAX,
    TOTAL,
    PEAK_RESERVED,
    PEAK_ALLOCATED,
    LIMIT,
    FAILED,
    GROUP,
    OP,
    PHASE_PEAK,
    PHASE
};

static const struct ta_ref reads[] = {
    [SIGNAL] = {"telemetry.by_rank", "signal"},
    [SIGNAL_MIN] = {"telemetry.by_rank", "min"},
    [SIGNAL_MAX] = {"telemetry.by_rank", "max"},
    [TOTAL] = {"memory.by_rank", "total_bytes"},
    [PEAK_RESERVED] = {"memory.by_rank", "peak_reserved_bytes"},
    [PEAK_ALLOCATED] = {"memory.by_rank", "peak_allocated_bytes"},
    [LIMIT] = {"telemetry.limits", "limit"},
    [FAILED] = {"memory.failures", "wanted_bytes"},
    [GROUP] = {"figures.reported", "group"},
    [OP] = {"ops.by_name", "name"},
    [PHASE_PEAK] = {"memory.by_phase", "peak_allocated_bytes"},
    [PHASE] = {"memory.by_phase", "phase"},
};

struct fullest {
    struct ta_place used, total;
    double share;
    bool is_tensors;
    bool is_even; /* as full from the first sample to the last: it may have been reserved */
};

/* Share of the total by which the memory that the driver sees rises where it is not even. */
#define VARIES 0.05

static void look_at(struct fullest *fullest, const struct ta_place *used,
                    const struct ta_place *total, bool is_tensors)
{
    if (used->table && total->table && total->value > 0 &&
        used->value / total->value > fullest->share)
        *fullest = (struct fullest){.used = *used,
                                    .total = *total,
                                    .share = used->value / total->value,
                                    .is_tensors = is_tensors};
}

/* The device whose memory is fullest; of an allocator what tensors use, where that is known. */
static struct fullest find_fullest(const struct ta_refs *in)
{
    static const struct ta_look used = {.cells = SIGNAL_MAX,
                                        .where = {{SIGNAL, "gpu_memory_used"}}};
    static const struct ta_look all = {.cells = SIGNAL_MAX,
                                       .where = {{SIGNAL, "gpu_memory_total"}}};
    struct fullest fullest = {.share = 0};
    for (size_t row = 0; row < ta_ref_rows(in, TOTAL); row++) {
        const struct ta_place total = ta_place_at(in, TOTAL, row);
        const struct ta_place tensors = ta_place_at(in, PEAK_ALLOCATED, row);
        const struct ta_place held = ta_place_at(in, PEAK_RESERVED, row);
        look_at(&fullest, tensors.table ? &tensors : &held, &total, tensors.table != NULL);
    }
    if (fullest.used.table)
        return fullest;
    for (size_t row = 0; row < ta_ref_rows(in, SIGNAL_MAX); row++) {
        const struct ta_place most = ta_place_at(in, SIGNAL_MAX, row);
        struct ta_place total;
        if (ta_look_takes(in, &used, row) && ta_look_same(in, &all, &most, &total))
            look_at(&fullest, &most, &total, false);
    }
    if (fullest.used.table)
        fullest.is_even = fullest.used.value - ta_ref_number(in, SIGNAL_MIN, fullest.used.row, 0) <=
                          VARIES * fullest.total.value;
    return fullest;
}

/* Engines that reserve the memory for their KV cache. */
static bool is_server(const struct ta_refs *in)
{
    for (size_t row = 0; row < ta_ref_rows(in, GROUP); row++)
        if (ta_ref_reads(in, GROUP, row, "serving"))
            return true;
    for (size_t row = 0; row < ta_ref_rows(in, OP); row++) {
        const struct ta_slice op = ta_ref_text(in, OP, row);
        if (ta_slice_starts(op, "vllm::") || ta_slice_starts(op, "sglang::") ||
            ta_slice_starts(op, "sgl_kernel::"))
            return true;
    }
    return false;
}

/* Memory that ran out or overflows is a finding of its own. */
static bool is_said(const struct ta_refs *in)
{
    for (size_t row = 0; row < ta_ref_rows(in, LIMIT); row++)
        if (ta_ref_reads(in, LIMIT, row, "host_memory"))
            return true;
    return ta_ref_rows(in, FAILED) > 0;
}

/* "The peak is reached in VAE decode.", where the trace says it. */
static const char *where_of(const struct ta_refs *in, struct ta_advice *advice,
                            const struct ta_place *used)
{
    const int64_t rank = ta_ref_rank(in, TOTAL, used->row);
    const int64_t device = ta_ref_device(in, TOTAL, used->row);
    size_t most = SIZE_MAX;
    for (size_t row = 0; row < ta_ref_rows(in, PHASE_PEAK); row++)
        if (ta_ref_rank(in, PHASE_PEAK, row) == rank &&
            ta_ref_device(in, PHASE_PEAK, row) == device &&
            (most == SIZE_MAX ||
             ta_ref_number(in, PHASE_PEAK, row, 0) > ta_ref_number(in, PHASE_PEAK, most, 0)))
            most = row;
    const struct ta_slice phase = most == SIZE_MAX ? TA_LIT("") : ta_ref_text(in, PHASE, most);
    return phase.len
               ? ta_advice_printf(advice, "The peak is reached in %.*s.", (int)phase.len, phase.ptr)
               : NULL;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, SHARE);
    const struct fullest fullest = find_fullest(in);
    const bool is_high = fullest.share > ta_ctx_option(ctx, HIGH);
    if (fullest.share <= threshold || is_said(in) || is_server(in))
        return TA_OK;
    const struct ta_evidence evidence[] = {ta_place_evidence(&fullest.used),
                                           ta_place_evidence(&fullest.total)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "gpu-memory",
            .rule = "gpu_memory",
            .title = ta_advice_printf(advice, "%s %s of the GPU's memory at the peak (%s of %s)%s",
                                      strncmp(fullest.used.table->id, "telemetry.", 10) == 0
                                          ? "All processes together fill"
                                      : fullest.is_tensors ? "Tensors fill"
                                                           : "Tensors and the allocator's cache "
                                                             "fill",
                                      ta_advice_number(advice, fullest.share, TA_UNIT_RATIO),
                                      ta_advice_number(advice, fullest.used.value, TA_UNIT_BYTES),
                                      ta_advice_number(advice, fullest.total.value, TA_UNIT_BYTES),
                                      ta_place_owner(advice, in->report, &fullest.used)),
            .why = fullest.is_tensors ? where_of(in, advice, &fullest.used) : NULL,
            .advice = "Before you raise resolution or length, decode in tiles or fewer frames at a "
                      "time, move unused models to the host, or store weights in 8 bit.",
            .details = fullest.is_tensors
                           ? NULL
                           : "How much of this memory is a cache that the allocator frees when "
                             "needed, or is reserved (a KV cache), is not known.",
            .severity = fullest.is_tensors            ? is_high ? TA_HIGH : TA_MEDIUM
                        : is_high && !fullest.is_even ? TA_MEDIUM
                                                      : TA_LOW,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = fullest.is_tensors ? 0.8 : 0.6,
            .threshold = ta_advice_printf(advice, "memory in use over total > %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, gpu_memory, &ops, .title = "Nearly full device memory",
          .summary = "Fires when the memory of a device is nearly full", .version = "1",
          .options = options);
