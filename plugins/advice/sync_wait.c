/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Harmful waits: the device has nothing to do while the host waits for it, and until the host has
 * caught up again.  Larger copies are blocking_copies.c's. */
#include "lib/owners.h"
#include "lib/recorder.h"

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the run that waits cost, from which the rule fires"},
    TA_OPTIONS_END,
};

enum { DISPATCH, RETRIED, RECORDER, OWNERS = RECORDER + 3 };

static const struct ta_ref reads[] = {
    [DISPATCH] = {"gpu_idle.by_rank", "dispatch_ns"},
    [RETRIED] = {"memory.retries", "idle_ns"},
    RECORDER_READS(RECORDER),
    OWNERS_READS(OWNERS),
};

/* What reads values, by a word in the name of the operator, and what to do instead. */
static const struct {
    const char *words[8];
    const char *advice;
} readers[] = {
    {{"onvolution", "cudnn", "miopen"},
     "Keep shapes fixed, and begin the recording after a few steps: torch.backends.cudnn.benchmark "
     "tries all algorithms once for each shape."},
    {{"aten::item", "_local_scalar_dense", "is_nonzero", "equal", "allclose"},
     "Keep the values that the host needs on the host (schedules and conditions are known before "
     "the loop), or read them one step later."},
    {{"nonzero", "masked_select", "argwhere", "unique", "aten::index"},
     "Use torch.where or a mask of fixed size, or compute the indices once before the loop: the "
     "host has to wait for a result whose size depends on the data."},
    {{"aten::to", "copy_", "aten::cpu"},
     "Copy results with non_blocking=True into pinned memory and read them after the loop or a "
     "step later."},
};

static const char no_reading[] =
    "Take the wait out of the loop: no .item(), .cpu(), nonzero(), boolean mask or print() of a "
    "tensor there; read results a step later.";

static const char *what_to_do(const char *site)
{
    for (size_t i = 0; i < TA_LENGTH(readers); i++)
        for (size_t k = 0; k < TA_LENGTH(readers[i].words) && readers[i].words[k]; k++)
            if (strstr(site, readers[i].words[k]))
                return readers[i].advice;
    return no_reading;
}

/* Whether it is the first of them, a library that tries its algorithms. */
static bool tunes(const char *site)
{
    return what_to_do(site) == readers[0].advice;
}

/* What recording explains of the time in which the host hands out work after waits, as of all such
 * time of the device. */
static struct ta_recorded recorded_later(const struct ta_refs *in, const struct ta_owned *owned)
{
    static const struct ta_look dispatch = {.cells = DISPATCH};
    struct ta_place all;
    if (!ta_look_same(in, &dispatch, &owned->place, &all) || all.value <= 0)
        return (struct ta_recorded){.ns = 0};
    return ta_recorder_of(in, RECORDER, "dispatch", &owned->place,
                          fmin(1, owned->later / all.value));
}

/* From this share on a place names all of it. */
#define NEARLY_ALL 0.9

/* "aten::item waits 12 times, most in scheduler_step; each time the GPU runs out of work and …" */
static const char *why(struct ta_advice *advice, const struct ta_owned *owned,
                       const struct ta_owned_where *where)
{
    if (!*where->function || where->site_waits <= 0)
        return NULL;
    const double each = where->site_all * owned->ns / (double)where->site_waits;
    const bool is_named = strcmp(where->function, where->site) != 0;
    const bool is_everywhere = where->site_share < NEARLY_ALL * where->site_all;
    const char *in = is_named ? ta_advice_printf(advice, "%s in %s", is_everywhere ? ", most" : "",
                                                 where->function)
                              : "";
    const char *idle = ta_advice_number(advice, each, TA_UNIT_NS);
    if (where->site_waits == 1)
        return ta_advice_printf(advice,
                                "%s waits once%s; the GPU runs out of work and idles %s until the "
                                "host has launched again.",
                                where->site, in, idle);
    return ta_advice_printf(advice,
                            "%s waits %lld times%s; each time the GPU runs out of work and idles "
                            "about %s until the host has launched again.",
                            where->site, (long long)where->site_waits, in, idle);
}

static void advise_waits(const struct ta_refs *in, struct ta_advice *advice, double threshold,
                         const char *owner, bool is_read)
{
    const struct ta_owners_asked asked = {OWNERS, &owner, 1};
    const struct ta_owned owned = ta_owned_worst(in, advice, &asked, NULL, 0);
    if (!owned.place.table || owned.share <= threshold)
        return;
    /* Allocations that are tried again wait, too, and are a finding of their own. */
    static const struct ta_look retried = {.cells = RETRIED};
    const int64_t rank = ta_ref_rank(in, OWNERS + OWNERS_WINDOW, owned.window.row);
    if (!is_read && ta_look_sum(in, &retried, rank) > owned.ns / 2)
        return;
    const struct ta_owned_where where = ta_owned_where(in, advice, &asked, &owned.window);
    const struct ta_recorded recorded = recorded_later(in, &owned);
    const struct ta_evidence evidence[] = {ta_place_evidence(&owned.place),
                                           ta_place_evidence(&owned.run)};
    const bool is_one = *where.site && where.site_all >= NEARLY_ALL;
    const bool is_most = *where.site && where.site_all >= 0.5;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = is_read ? "value-read" : "sync-wait",
            .rule = "sync_wait",
            .title = ta_advice_printf(
                advice, "%s%s",
                is_one && is_read
                    ? ta_advice_printf(advice, "%s makes the host wait for the GPU", where.site)
                : is_read && is_most && tunes(where.site)
                    ? "The host waits while convolutions try their algorithms"
                : is_read ? "Operators that read values make the host wait for the GPU"
                : is_one
                    ? ta_advice_printf(advice, "The program waits for the GPU in %s", where.site)
                    : "The program waits for the GPU",
                ta_owned_cost(advice, &owned)),
            .why =
                is_one ? why(advice, &owned, &where) : ta_owned_sentence(advice, &where, owned.ns),
            .advice = !is_read ? "Take torch.cuda.synchronize() and its like out of the loop: wait "
                                 "once, where the result is needed."
                      : is_most ? what_to_do(where.site)
                                : no_reading,
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            /* The host still has to launch the work: of what comes after a wait a part may stay. */
            .saving_low_ns = ta_whole(owned.ns - owned.later / 2),
            .saving_high_ns = ta_whole(owned.ns),
            .recorder_ns = recorded.ns,
            .recorder_most_ns = recorded.most_ns,
            .confidence = 0.7,
            .threshold = ta_advice_printf(advice, "idle time that such waits own > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    advise_waits(in, advice, threshold, "value read", true);
    advise_waits(in, advice, threshold, "synchronization", false);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, sync_wait, &ops, .title = "Harmful waits",
          .summary = "Fires when devices idle around waits and reads of single values",
          .version = "2", .options = options);
