/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations that failed for lack of memory, and whether fragments were the reason. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { COUNT, OTHERS_SHARE };

static const struct ta_option options[] = {
    [COUNT] = {"count", TA_OPTION_INTEGER, 0, 0, 1e9, TA_OPTION_PLAIN,
               "Failed allocations above which the rule fires"},
    [OTHERS_SHARE] = {"others_share", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
                      "Share of a device in the hands of other processes above which they are the "
                      "reason"},
    TA_OPTIONS_END,
};

enum { WANTED, ON_DEVICE, DEVICE, OTHERS, RESERVED, ALLOCATED, SITE, SITES, FAILURES };

static const struct ta_ref reads[] = {
    [WANTED] = {"memory.failures", "wanted_bytes"},
    [ON_DEVICE] = {"memory.failures", "device_free_bytes"},
    [DEVICE] = {"memory.failures", "device_bytes"},
    [OTHERS] = {"memory.failures", "others_bytes"},
    [RESERVED] = {"memory.failures", "reserved_bytes"},
    [ALLOCATED] = {"memory.failures", "allocated_bytes"},
    [SITE] = {"memory.failures", "site"},
    [SITES] = {"memory.sites", "site"},
    [FAILURES] = {"memory.by_rank", "ooms"},
};

/* The largest request. */
static const struct ta_look look = {.cells = WANTED};

/* Without a history only their number is known. */
static const struct ta_cell_rule counted = {
    .look = {.cells = FAILURES},
    .finding = "failed-allocations",
    .rule = "failed_allocations",
    .before = "",
    .advice = "Less must be in use at that moment. torch.cuda.memory._record_memory_history() and "
              "_dump_snapshot() tell who holds the memory then.",
    .predicate = "failed allocations",
    .severity = TA_HIGH,
    .confidence = 0.9,
};

static const char beyond[] =
    "No setting of the allocator helps. Ask for less at once: decode in tiles or fewer frames at a "
    "time, a smaller batch or resolution, an attention that keeps no whole matrix of scores.";
static const char held_by_others[] =
    "Stop them, or run on another device (CUDA_VISIBLE_DEVICES). Where they are ranks of this run, "
    "give each its own device: torch.cuda.set_device(local_rank) before the first tensor.";
static const char in_fragments[] =
    "Both together would have been enough, but not in one piece: set "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and call torch.cuda.empty_cache() once "
    "after a model was moved away.";
static const char too_much[] = "Less must be in use at that moment.";

/* What makes room, after who takes it, which only a snapshot of the allocator says. */
static const char *with_less(const struct ta_refs *in, struct ta_advice *advice, const char *first)
{
    const bool is_snapshot = ta_ref_rows(in, SITES) > 0;
    return ta_advice_printf(advice,
                            "%s %s models away that are not in use, decode in tiles or "
                            "fewer frames at a time, store weights in 8 bit.",
                            first,
                            is_snapshot ? "Memory by call site says who held the memory at the "
                                          "peak: move"
                                        : "Move");
}

static const char *subject_of(const struct ta_refs *in, struct ta_advice *advice,
                              const struct ta_place *wanted)
{
    const char *size = ta_advice_number(advice, wanted->value, TA_UNIT_BYTES);
    const char *site = ta_place_text(advice, in, wanted, SITE);
    const bool is_known = site[0] && site[0] != '(';
    const double failures = (double)wanted->table->n_rows;
    return failures > 1 ? ta_advice_printf(advice, "%s allocations failed, the largest of %s%s%s",
                                           ta_advice_number(advice, failures, TA_UNIT_COUNT), size,
                                           is_known ? " in " : "", is_known ? site : "")
                        : ta_advice_printf(advice, "An allocation of %s%s%s failed", size,
                                           is_known ? " in " : "", is_known ? site : "");
}

/* How much room there was, as far as it is known. */
static const char *room_of(const struct ta_refs *in, struct ta_advice *advice,
                           const struct ta_place *wanted, double unused)
{
    const struct ta_place left = ta_place_beside(in, wanted, ON_DEVICE);
    const struct ta_place all = ta_place_beside(in, wanted, DEVICE);
    const struct ta_place allocated = ta_place_beside(in, wanted, ALLOCATED);
    const char *free_bytes = ta_advice_number(advice, left.value, TA_UNIT_BYTES);
    const char *all_bytes = ta_advice_number(advice, all.value, TA_UNIT_BYTES);
    if (all.table && wanted->value > all.value)
        return ta_advice_printf(advice, ": it is more than the whole device has (%s)", all_bytes);
    if (left.table && unused >= 0)
        return ta_advice_printf(advice, ": the device had %s free and the allocator held %s unused",
                                free_bytes, ta_advice_number(advice, unused, TA_UNIT_BYTES));
    if (left.table && all.table)
        return ta_advice_printf(advice, ": the device had %s of its %s free", free_bytes,
                                all_bytes);
    if (all.table && allocated.table)
        return ta_advice_printf(advice, ": %s of the device's %s were allocated",
                                ta_advice_number(advice, allocated.value, TA_UNIT_BYTES),
                                all_bytes);
    return "";
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
    const bool is_beyond = device.table && wanted->value > device.value;
    const struct ta_place *second = is_beyond      ? &device
                                    : others.table ? &others
                                    : left.table   ? &left
                                                   : wanted;
    const char *room =
        others.table && !is_beyond
            ? ta_advice_printf(advice, ": other processes hold %s of the device's %s",
                               ta_advice_number(advice, others.value, TA_UNIT_BYTES),
                               ta_advice_number(advice, device.value, TA_UNIT_BYTES))
            : room_of(in, advice, wanted, unused);
    const struct ta_evidence evidence[] = {ta_place_evidence(wanted), ta_place_evidence(second)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "failed-allocations",
            .rule = "failed_allocations",
            .title = ta_advice_printf(advice, "%s%s%s", subject_of(in, advice, wanted), room,
                                      ta_place_owner(advice, in->report, wanted)),
            .advice = is_beyond      ? beyond
                      : others.table ? held_by_others
                                     : with_less(in, advice, in_pieces ? in_fragments : too_much),
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

/* What a program says that it did in another way, without an amount. */
static void advise_retry(const struct ta_refs *in, struct ta_advice *advice)
{
    const struct ta_slice site = ta_ref_text(in, SITE, 0);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, SITE, 0)};
    ta_advise(advice, &(struct ta_finding){
                          .id = "failed-allocations",
                          .rule = "failed_allocations",
                          .title = ta_advice_printf(advice, "Device memory ran out in %.*s",
                                                    (int)site.len, site.ptr),
                          .advice = "The failed attempt was lost time: decode in tiles from the "
                                    "start, or make room before it by moving models away that "
                                    "are not in use.",
                          .severity = TA_MEDIUM,
                          .evidence = evidence,
                          .n_evidence = 1,
                          .saving_low_ns = TA_MISSING,
                          .saving_high_ns = TA_MISSING,
                          .confidence = 0.9,
                          .threshold = "a failure that was tried again in another way",
                      });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, COUNT);
    struct ta_place wanted = {0};
    struct ta_cell_rule rule = counted;
    if (!ta_look_worst(in, &look, &wanted) && ta_ref_rows(in, SITE) > 0) {
        advise_retry(in, advice);
    } else if (!wanted.table) {
        const bool known = ta_look_worst(in, &counted.look, &wanted);
        rule.after = known && wanted.value > 1 ? " allocations failed for lack of device memory"
                                               : " allocation failed for lack of device memory";
        if (known)
            ta_advise_place(in, advice, &rule, &wanted, threshold, INFINITY);
    } else if ((double)wanted.table->n_rows > threshold) {
        advise_failure(ctx, in, advice, &wanted);
    }
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, failed_allocations, &ops, .title = "Failed allocations",
          .summary = "Fires when an allocation of device memory failed", .version = "1",
          .options = options);
