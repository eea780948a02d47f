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
static bool is_to_free(const struct ta_table *snapshots, size_t row)
{
    static const char *const words[] = {"offload", "unload", "to_cpu", "to cpu", NULL};
    static const char *const before[] = {"before", "pre_", NULL};
    return snapshot_says(snapshots, row, words) && !snapshot_says(snapshots, row, before);
}

/* Finds the step that leaves most; tells how many there are, and how many free nothing. */
static bool find_worst(struct ta_ctx *ctx, const struct ta_table *snapshots, struct ta_place *worst,
                       size_t *n, size_t *n_idle)
{
    *n = *n_idle = 0;
    for (size_t row = 0; row < snapshots->n_rows; row++) {
        const size_t before =
            is_to_free(snapshots, row) ? snapshot_before(snapshots, row) : SIZE_MAX;
        if (before == SIZE_MAX || isnan(snapshot_bytes(snapshots, row)) ||
            snapshot_bytes(snapshots, before) < ta_ctx_option(ctx, LEAST))
            continue;
        const double left = snapshot_bytes(snapshots, row);
        ++*n;
        if (left <= snapshot_bytes(snapshots, before) * (1 - ta_ctx_option(ctx, SHARE)))
            continue;
        if (++*n_idle == 1 || left > worst->value)
            *worst = snapshot_place(snapshots, row);
    }
    return *n_idle > 0;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct ta_table *snapshots = ta_report_table(in->report, "memory.snapshots");
    struct ta_place worst;
    size_t n, n_idle;
    if (!snapshots || !find_worst(ctx, snapshots, &worst, &n, &n_idle))
        return TA_OK;
    const struct ta_place before = snapshot_place(snapshots, snapshot_before(snapshots, worst.row));
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst), ta_place_evidence(&before)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "offloading",
                  .rule = "memory_offload",
                  .title = ta_advice_printf(
                      advice, "%s frees no memory: %s in use after it, %s before%s%s",
                      ta_old_place_text(advice, &worst, "label"),
                      ta_advice_number(advice, worst.value, TA_UNIT_BYTES),
                      ta_advice_number(advice, before.value, TA_UNIT_BYTES),
                      n > 1 ? ta_advice_printf(advice, " (so %zu of %zu offloads)", n_idle, n) : "",
                      ta_place_owner(advice, in->report, &worst)),
                  .advice =
                      "Something still holds the weights on the device: a second reference to the "
                      "model, a hook, a compiled graph, or a copy that was moved instead of the "
                      "model in use. Move the model itself and drop all other references before "
                      "the next one is loaded; snapshots of the allocator name what holds them.",
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

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, memory_offload, &ops, .title = "Offloading that frees nothing",
          .summary = "Fires when an offloading step leaves as much memory in use as before it",
          .version = "1", .options = options);
