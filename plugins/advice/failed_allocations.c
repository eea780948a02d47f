/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations that failed for lack of memory, and whether fragments were the reason. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { COUNT, OTHERS_SHARE };

static const struct ta_option options[] = {
    [COUNT] = {"count", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Failed allocations above which the rule fires"},
    [OTHERS_SHARE] =
        {"others_share", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
         "Share of a device's memory held by other processes above which they count as the cause"},
    TA_OPTIONS_END,
};

enum {
    WANTED,
    ON_DEVICE,
    DEVICE,
    OTHERS,
    RESERVED,
    ALLOCATED,
    SITE,
    SITES,
    SITE_BYTES,
    PEAK,
    FAILURES,
    LOOP,
    LOOP_TOTAL,
    BAR_ELAPSED
};

static const struct ta_ref reads[] = {
    [WANTED] = {"memory.failures", "wanted_bytes"},
    [ON_DEVICE] = {"memory.failures", "device_free_bytes"},
    [DEVICE] = {"memory.failures", "device_bytes"},
    [OTHERS] = {"memory.failures", "others_bytes"},
    [RESERVED] = {"memory.failures", "reserved_bytes"},
    [ALLOCATED] = {"memory.failures", "allocated_bytes"},
    [SITE] = {"memory.failures", "site"},
    [SITES] = {"memory.sites", "site"},
    [SITE_BYTES] = {"memory.sites", "peak_block_bytes"},
    [PEAK] = {"memory.peaks", "peak_block_bytes"},
    [FAILURES] = {"memory.by_rank", "ooms"},
    [LOOP] = {"iterations.by_name", "loop"},
    [LOOP_TOTAL] = {"iterations.by_name", "total_ns"},
    [BAR_ELAPSED] = {"progress.bars", "elapsed_ns"},
};

/* The largest request. */
static const struct ta_look look = {.cells = WANTED};

/* Who holds the memory, and what there is too little of. */
enum reason { BEYOND, LIMITED, HELD_BY_OTHERS, IN_FRAGMENTS, TOO_MUCH, REASONS };

static const char *const to_do[REASONS] = {
    [BEYOND] =
        "Ask for less at once: decode in tiles or fewer frames at a time, a smaller batch or "
        "resolution, an attention that keeps no whole matrix of scores.",
    [LIMITED] = "Raise torch.cuda.set_per_process_memory_fraction(), or the limit that the engine "
                "sets for this process.",
    [HELD_BY_OTHERS] =
        "Stop the other processes or run on another GPU (CUDA_VISIBLE_DEVICES); ranks of one run "
        "need torch.cuda.set_device(local_rank) before the first tensor.",
    [IN_FRAGMENTS] = NULL, /* by the maker of the device */
    [TOO_MUCH] = "Use less memory at that moment: move unused models to the host, decode in tiles "
                 "or fewer frames at a time, or store weights in 8 bit.",
};

/* " in vae.py:31 forward"; "" where it is not known. */
static const char *site_of(const struct ta_refs *in, struct ta_advice *advice,
                           const struct ta_place *wanted)
{
    const char *site = ta_place_text(advice, in, wanted, SITE);
    return site[0] && site[0] != '(' ? ta_advice_printf(advice, " in %s", site) : "";
}

static const char *subject_of(const struct ta_refs *in, struct ta_advice *advice,
                              const struct ta_place *wanted)
{
    const char *size = ta_advice_number(advice, wanted->value, TA_UNIT_BYTES);
    const double failures = (double)wanted->table->n_rows;
    return failures > 1 ? ta_advice_printf(advice, "%s allocations failed, the largest of %s%s",
                                           ta_advice_number(advice, failures, TA_UNIT_COUNT), size,
                                           site_of(in, advice, wanted))
                        : ta_advice_printf(advice, "an allocation of %s%s failed", size,
                                           site_of(in, advice, wanted));
}

/* How much room there was, as far as it is known. */
static const char *room_of(const struct ta_refs *in, struct ta_advice *advice,
                           const struct ta_place *wanted, enum reason reason, double unused)
{
    const struct ta_place left = ta_place_beside(in, wanted, ON_DEVICE);
    const struct ta_place all = ta_place_beside(in, wanted, DEVICE);
    const struct ta_place others = ta_place_beside(in, wanted, OTHERS);
    const struct ta_place allocated = ta_place_beside(in, wanted, ALLOCATED);
    const char *free_bytes = ta_advice_number(advice, left.value, TA_UNIT_BYTES);
    const char *all_bytes = ta_advice_number(advice, all.value, TA_UNIT_BYTES);
    if (reason == BEYOND)
        return ta_advice_printf(advice, ", more than the whole GPU has (%s)", all_bytes);
    if (reason == HELD_BY_OTHERS)
        return ta_advice_printf(advice, " while other processes hold %s of the GPU's %s",
                                ta_advice_number(advice, others.value, TA_UNIT_BYTES), all_bytes);
    if (reason == LIMITED)
        return ta_advice_printf(advice, " with %s free on the GPU", free_bytes);
    if (left.table && unused >= 0)
        return ta_advice_printf(advice,
                                " with %s free on the GPU and %s held unused by the allocator",
                                free_bytes, ta_advice_number(advice, unused, TA_UNIT_BYTES));
    if (allocated.table && all.table)
        return ta_advice_printf(advice, " with %s of the GPU's %s allocated",
                                ta_advice_number(advice, allocated.value, TA_UNIT_BYTES),
                                all_bytes);
    if (left.table && all.table)
        return ta_advice_printf(advice, " with %s of the GPU's %s free", free_bytes, all_bytes);
    return "";
}

/* The call site that holds most at the peak, by a snapshot; no table without one. */
static struct ta_place holder_of(const struct ta_refs *in)
{
    struct ta_place most = {0};
    for (size_t row = 0; row < ta_ref_rows(in, SITES); row++) {
        const struct ta_place here = ta_place_at(in, SITE_BYTES, row);
        const struct ta_slice site = ta_ref_text(in, SITES, row);
        if (here.table && site.len && site.ptr[0] != '(' &&
            (!most.table || here.value > most.value))
            most = here;
    }
    return most;
}

static const char *why_of(const struct ta_refs *in, struct ta_advice *advice, enum reason reason)
{
    static const struct ta_look peaks = {.cells = PEAK};
    const struct ta_place holder = holder_of(in);
    const double peak = ta_look_most(in, &peaks, TA_MISSING);
    if (reason == IN_FRAGMENTS)
        return "Free and unused memory together would have been enough, but not in one piece.";
    if (reason != TOO_MUCH || !holder.table || !(peak > 0))
        return NULL;
    return ta_advice_printf(advice, "%s holds %s of the %s in use at the peak.",
                            ta_place_text(advice, in, &holder, SITES),
                            ta_advice_number(advice, holder.value, TA_UNIT_BYTES),
                            ta_advice_number(advice, peak, TA_UNIT_BYTES));
}

/* Memory that other processes hold, where that is much of the device; nothing else has a table. */
static struct ta_place others_of(struct ta_ctx *ctx, const struct ta_refs *in,
                                 const struct ta_place *wanted)
{
    const struct ta_place others = ta_place_beside(in, wanted, OTHERS);
    const struct ta_place all = ta_place_beside(in, wanted, DEVICE);
    const bool is_much =
        others.table && all.table && others.value > ta_ctx_option(ctx, OTHERS_SHARE) * all.value;
    return is_much ? others : (struct ta_place){0};
}

/* What the history of an allocator says about a failure. */
static void advise_failure(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                           const struct ta_place *wanted)
{
    const struct ta_place left = ta_place_beside(in, wanted, ON_DEVICE);
    const struct ta_place reserved = ta_place_beside(in, wanted, RESERVED);
    const struct ta_place allocated = ta_place_beside(in, wanted, ALLOCATED);
    const double unused =
        reserved.table && allocated.table ? fmax(reserved.value - allocated.value, 0) : NAN;
    const double on_device = left.table ? left.value : 0;
    const bool in_pieces = unused > 0 && on_device + unused >= wanted->value;
    const struct ta_place others = others_of(ctx, in, wanted);
    const struct ta_place device = ta_place_beside(in, wanted, DEVICE);
    const enum reason reason = device.table && wanted->value > device.value ? BEYOND
                               : left.table && left.value >= wanted->value  ? LIMITED
                               : others.table                               ? HELD_BY_OTHERS
                               : in_pieces                                  ? IN_FRAGMENTS
                                                                            : TOO_MUCH;
    const struct ta_place *second = reason == BEYOND           ? &device
                                    : reason == HELD_BY_OTHERS ? &others
                                    : left.table               ? &left
                                                               : wanted;
    const bool is_vae = strcasestr(site_of(in, advice, wanted), "vae") && reason == TOO_MUCH;
    const char *fragments = ta_advice_printf(
        advice,
        "Set %s=expandable_segments:True%s, and call torch.cuda.empty_cache() once after a model "
        "was moved away.",
        ta_run_is_amd(ta_report_run(in->report)) ? "PYTORCH_HIP_ALLOC_CONF"
                                                 : "PYTORCH_CUDA_ALLOC_CONF",
        ta_report_run(in->report)->devices[0] ? "" : " (PYTORCH_HIP_ALLOC_CONF on AMD)");
    const struct ta_evidence evidence[] = {ta_place_evidence(wanted), ta_place_evidence(second)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "failed-allocations",
            .rule = "failed_allocations",
            .title = ta_advice_printf(advice, "GPU memory ran out%s: %s%s%s",
                                      reason == LIMITED ? " at the process's own limit" : "",
                                      subject_of(in, advice, wanted),
                                      room_of(in, advice, wanted, reason, unused),
                                      ta_place_owner(advice, in->report, wanted)),
            .why = why_of(in, advice, reason),
            .advice = is_vae ? "Decode in tiles or fewer frames at a time (enable_tiling() of the "
                               "VAE), and move the other models away before."
                      : reason == IN_FRAGMENTS ? fragments
                                               : to_do[reason],
            .details = reason == IN_FRAGMENTS ? "If the allocation still fails, fragments remain: "
                                                "use less memory then (decode in "
                                                "tiles, fewer frames at a time, weights in 8 bit)."
                                              : NULL,
            .severity = TA_HIGH,
            .evidence = evidence,
            .n_evidence = second == wanted ? 1 : 2,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.9,
            .threshold =
                ta_advice_printf(advice, "failed allocations > %s",
                                 ta_advice_number(advice, ta_ctx_option(ctx, COUNT), TA_UNIT_NONE)),
        });
}

/* Without a history only their number is known. */
static void advise_count(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                         const struct ta_place *failures)
{
    const struct ta_evidence evidence = ta_place_evidence(failures);
    const double threshold = ta_ctx_option(ctx, COUNT);
    if (failures->value <= threshold)
        return;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "failed-allocations",
            .rule = "failed_allocations",
            .title = ta_advice_printf(advice, "GPU memory ran out: %s allocation%s failed%s",
                                      ta_advice_number(advice, failures->value, TA_UNIT_COUNT),
                                      failures->value > 1 ? "s" : "",
                                      ta_place_owner(advice, in->report, failures)),
            .advice = "Use less memory at that moment; torch.cuda.memory._record_memory_history() "
                      "and _dump_snapshot() show what holds the memory then.",
            .severity = TA_HIGH,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.9,
            .threshold = ta_advice_printf(advice, "failed allocations > %s",
                                          ta_advice_number(advice, threshold, TA_UNIT_NONE)),
        });
}

/* What a program says that it did in another way, without an amount.  It decodes in a prompt and
 * outside its loops. */
static void advise_retry(const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look prompts = {.cells = LOOP_TOTAL, .where = {{LOOP, "prompt"}}};
    const struct ta_slice site = ta_ref_text(in, SITE, 0);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, SITE, 0)};
    const double outside = ta_look_sum(in, &prompts, 0) - ta_ref_sum(in, BAR_ELAPSED);
    const char *part = outside > 0
                           ? ta_advice_printf(advice, "; prompts take %s outside their loops",
                                              ta_advice_number(advice, outside, TA_UNIT_NS))
                           : "";
    ta_advise(advice,
              &(struct ta_finding){
                  .id = "failed-allocations",
                  .rule = "failed_allocations",
                  .title = ta_advice_printf(advice,
                                            "GPU memory ran out in %.*s: the "
                                            "first attempt was lost%s",
                                            (int)site.len, site.ptr, part),
                  .advice = "Decode in tiles from the start (a tiled VAE decode node, "
                            "enable_tiling()), or move unused models to the host before.",
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 1,
                  .saving_low_ns = outside > 0 ? 0 : TA_MISSING,
                  .saving_high_ns = outside > 0 ? ta_whole(outside / 2) : TA_MISSING,
                  .confidence = outside > 0 ? 0.5 : 0.9,
                  .threshold = "an allocation that failed and was tried again in another way",
              });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, COUNT);
    struct ta_place wanted = {0};
    static const struct ta_look counts = {.cells = FAILURES};
    if (!ta_look_worst(in, &look, &wanted) && ta_ref_rows(in, SITE) > 0) {
        advise_retry(in, advice);
    } else if (!wanted.table) {
        if (ta_look_worst(in, &counts, &wanted))
            advise_count(ctx, in, advice, &wanted);
    } else if ((double)wanted.table->n_rows > threshold) {
        advise_failure(ctx, in, advice, &wanted);
    }
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, failed_allocations, &ops, .title = "Failed allocations",
          .summary = "Fires when an allocation of device memory failed", .version = "1",
          .options = options);
