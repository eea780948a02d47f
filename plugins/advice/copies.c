/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposed copies: nothing else runs on the device beside them.  Those that the host waits for are
 * blocking_copies.c's. */
#include <traceanalyze/rule.h>

enum { EXPOSED };

static const struct ta_option options[] = {
    [EXPOSED] = {"exposed", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
                 "Exposed share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

struct worst {
    struct ta_place exposed;
    double ns, window;
};

/* The device with the largest share of exposed copies, less those that the host waits for. */
static struct worst find_worst(const struct ta_report *report)
{
    static const struct ta_old_look waits = {.table = "copies.blocking", .column = "exposed_ns"};
    const struct ta_table *gpu = ta_report_table(report, "gpu_time.by_rank");
    struct worst worst = {.window = 1};
    for (size_t i = 0; gpu && i < gpu->n_rows; i++) {
        struct ta_place place = {.table = gpu, .row = i};
        const struct ta_place rank = ta_old_beside(&place, "rank");
        const struct ta_place window = ta_old_beside(&place, "window_ns");
        place = ta_old_beside(&place, "memcpy_exposed_ns");
        if (!place.table || !window.table || window.value <= 0)
            continue;
        const double rest = place.value - ta_old_look_sum(report, &waits, ta_whole(rank.value));
        if (rest / window.value > worst.ns / worst.window)
            worst = (struct worst){place, rest, window.value};
    }
    return worst;
}

/* The row of copies.bandwidth of a rank with most exposed time. */
static bool find_kind(const struct ta_report *report, const struct ta_place *exposed,
                      struct ta_place *kind)
{
    const struct ta_table *rates = ta_report_table(report, "copies.bandwidth");
    const int64_t rank = ta_whole(ta_old_beside(exposed, "rank").value);
    bool found = false;
    for (size_t i = 0; rates && i < rates->n_rows; i++) {
        struct ta_place place = {.table = rates, .row = i};
        const bool same = ta_whole(ta_old_beside(&place, "rank").value) == rank;
        place = ta_old_beside(&place, "exposed_ns");
        if (!same || !place.table || (found && place.value <= kind->value))
            continue;
        *kind = place;
        found = true;
    }
    return found;
}

static const char *advice_on(struct ta_advice *advice, const struct ta_place *kind)
{
    const char *memory = kind->table ? ta_old_place_text(advice, kind, "memory") : "unknown";
    if (strcmp(memory, "device") == 0)
        return "Copy less within the device: write results in place or into their final buffer, "
               "keep one layout, and drop clone(), contiguous() and cat() that only move bytes.";
    if (strcmp(memory, "pinned") == 0)
        return "Copy on a stream of its own, one layer ahead of the use, so that kernels run "
               "beside it; keep weights on the device when they fit.";
    return "Pin the host memory (pin_memory, cudaHostRegister) and copy on an own stream with "
           "non_blocking=True, one layer ahead of its use; keep weights on the device when they "
           "fit.";
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, EXPOSED);
    const struct worst worst = find_worst(in->report);
    const double share = worst.ns / worst.window;
    if (!worst.exposed.table || share <= threshold)
        return TA_OK;
    struct ta_place kind = {0};
    struct ta_evidence evidence[2] = {ta_place_evidence(&worst.exposed)};
    const bool known = find_kind(in->report, &worst.exposed, &kind);
    if (known)
        evidence[1] = ta_place_evidence(&kind);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "exposed-copies",
            .rule = "copies",
            .title = ta_advice_printf(
                advice, "Nothing runs beside the copies of the GPU%s for %s of its window (%s)%s%s",
                ta_place_owner(advice, in->report, &worst.exposed),
                ta_advice_number(advice, share, TA_UNIT_RATIO),
                ta_advice_number(advice, worst.ns, TA_UNIT_NS), known ? ", most of it " : "",
                known ? ta_old_place_text(advice, &kind, "path") : ""),
            .advice = advice_on(advice, &kind),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = known ? 2 : 1,
            .saving_low_ns = ta_whole(worst.ns - threshold * worst.window),
            .saving_high_ns = ta_whole(worst.ns),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "exposed copies > %s of the window",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, copies, &ops, .title = "Exposed copies",
          .summary = "Fires when nothing runs on a device beside its copies", .version = "1",
          .options = options);
