/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step that is to free memory of the device, as its label says, and after which as much is in use
 * as before it. */
#include "memory.h"

enum { SHARE, LEAST };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
               "Share of the memory in use that has to go for the rule to keep silent"},
    [LEAST] = {"least", TA_OPTION_NUMBER, 1024.0 * 1024 * 1024, 0, 1e15, TA_OPTION_BYTES,
               "Bytes in use below which the rule keeps silent"},
    TA_OPTIONS_END,
};

/* "after_offload_vae", "unload text encoder"; what is taken before it frees nothing yet. */
static bool is_to_free(const struct ta_refs *in, size_t row)
{
    static const char *const words[] = {"offload", "unload", "to_cpu", "to cpu", NULL};
    static const char *const before[] = {"before", "pre_", NULL};
    const struct ta_slice label = ta_ref_text(in, SNAPSHOT_LABEL, row);
    return ta_slice_has_any(label, words) && !ta_slice_has_any(label, before);
}

/* The snapshot of that rank and device before this one; SIZE_MAX for the first. */
static size_t snapshot_before(const struct ta_refs *in, size_t row)
{
    for (size_t i = row; i-- > 0;)
        if (snapshot_same_device(in, i, row) && !isnan(snapshot_bytes(in, i)))
            return i;
    return SIZE_MAX;
}

/* Finds the step that leaves most; counts all of them, and those which free nothing. */
static bool find_worst(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_place *worst,
                       size_t *n, size_t *n_idle)
{
    *n = *n_idle = 0;
    for (size_t row = 0; row < ta_ref_rows(in, SNAPSHOT_BYTES); row++) {
        const size_t before = is_to_free(in, row) ? snapshot_before(in, row) : SIZE_MAX;
        if (before == SIZE_MAX || isnan(snapshot_bytes(in, row)) ||
            snapshot_bytes(in, before) < ta_ctx_option(ctx, LEAST))
            continue;
        const double left = snapshot_bytes(in, row);
        ++*n;
        if (left <= snapshot_bytes(in, before) * (1 - ta_ctx_option(ctx, SHARE)))
            continue;
        if (++*n_idle == 1 || left > worst->value)
            *worst = ta_place_at(in, SNAPSHOT_BYTES, row);
    }
    return *n_idle > 0;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    struct ta_place worst;
    size_t n, n_idle;
    if (!find_worst(ctx, in, &worst, &n, &n_idle))
        return TA_OK;
    const struct ta_place before = ta_place_at(in, SNAPSHOT_BYTES, snapshot_before(in, worst.row));
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst), ta_place_evidence(&before)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "offloading",
            .rule = "memory_offload",
            .title = ta_advice_printf(advice, "%s frees no GPU memory: %s stay in use%s",
                                      ta_place_text(advice, in, &worst, SNAPSHOT_LABEL),
                                      ta_advice_number(advice, worst.value, TA_UNIT_BYTES),
                                      ta_place_owner(advice, in->report, &worst)),
            .why = ta_advice_printf(
                advice, "%s were in use before the offload%s.",
                ta_advice_number(advice, before.value, TA_UNIT_BYTES),
                n > 1 ? ta_advice_printf(advice, "; %zu of %zu offloads free nothing", n_idle, n)
                      : ""),
            .advice = "Find what still refers to the weights (a second reference to the "
                      "model, a hook, a compiled graph), and move the module that is in use, "
                      "not a copy of it.",
            .details = "torch.cuda.memory._dump_snapshot() at that label names the call "
                       "sites that hold the memory.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.7,
            .threshold = ta_advice_printf(
                advice, "memory freed by an offload < %s of what is in use",
                ta_advice_number(advice, ta_ctx_option(ctx, SHARE), TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, memory_offload, &ops, .title = "Offloading that frees nothing",
          .summary = "Fires when an offloading step leaves as much memory in use as before it",
          .version = "1", .options = options);
