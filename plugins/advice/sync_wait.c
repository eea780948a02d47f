/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Harmful waits: the device has nothing to do while the host waits for it, or right after.  Larger
 * copies are blocking_copies.c's. */
#include "lib/recorder.h"
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the window that waits cost, from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    KIND,
    IDLE_DURING,
    IDLE_AFTER,
    SAVING,
    SITE_KIND,
    SITE,
    SITE_CALLER,
    SITE_CALL,
    SITE_HARM,
    WINDOW,
    DISPATCH,
    RETRIED,
    RECORDER
};

static const struct ta_ref reads[] = {
    [RANK] = {"sync.by_kind", "rank"},
    [KIND] = {"sync.by_kind", "kind"},
    [IDLE_DURING] = {"sync.by_kind", "idle_during_ns"},
    [IDLE_AFTER] = {"sync.by_kind", "idle_after_ns"},
    [SAVING] = {"sync.by_kind", "saving_ns"},
    [SITE_KIND] = {"sync.by_site", "kind"},
    [SITE] = {"sync.by_site", "site"},
    [SITE_CALLER] = {"sync.by_site", "caller"},
    [SITE_CALL] = {"sync.by_site", "call"},
    [SITE_HARM] = {"sync.by_site", "harmful_ns"},
    [WINDOW] = {"run.window", "window_ns"},
    [DISPATCH] = {"gpu_idle.by_rank", "dispatch_ns"},
    [RETRIED] = {"memory.retries", "idle_ns"},
    RECORDER_READS(RECORDER),
};

/* The kinds of waits, each with its own advice. */
static const struct kind {
    const char *kind, *finding, *what, *advice;
} kinds[] = {
    {"synchronization", "sync-wait", "synchronization",
     "Remove the wait, or move it out of the step loop: no .item(), .cpu(), nonzero() or "
     "torch.cuda.synchronize() there; read results one step later, when they are long done."},
    {"value read", "value-read", "reads of single values",
     "Keep the values that the host needs on the host: shapes, schedules and conditions computed "
     "before the loop, without .item(), bool() or print() of a tensor in it; read results one step "
     "later."},
};

/* "aten::item in scheduler.py(12): step", as far as it is known. */
static const char *place_of(const struct ta_refs *in, struct ta_advice *advice,
                            const struct ta_place *worst)
{
    const char *site = ta_place_text(advice, in, worst, SITE);
    const char *caller = ta_place_text(advice, in, worst, SITE_CALLER);
    if (*site && *caller && strcmp(site, caller) != 0)
        return ta_advice_printf(advice, "%s in %s", site, caller);
    return *site ? site : *caller ? caller : ta_place_text(advice, in, worst, SITE_CALL);
}

/* What the waits of a kind cost for certain, where it is the largest share of the window of a rank:
 * idle time during and right after them, as far as the host would be ahead without them. */
static bool find_worst(const struct ta_refs *in, const struct kind *kind, struct ta_place *worst,
                       double *window)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const struct ta_look look = {.cells = SAVING, .where = {{KIND, kind->kind}}};
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, SAVING); row++) {
        if (!ta_look_takes(in, &look, row))
            continue;
        const double rank = ta_ref_number(in, RANK, row, 0);
        const double length = ta_look_sum(in, &windows, ta_whole(rank));
        const double during = ta_ref_number(in, IDLE_DURING, row, 0);
        const double after = ta_ref_number(in, IDLE_AFTER, row, 0);
        const double cost = fmin(during + after, ta_ref_number(in, SAVING, row, 0));
        if (length <= 0 || cost / length <= most)
            continue;
        most = cost / length;
        *worst = ta_place_at(in, SAVING, row);
        worst->value = cost;
        *window = length;
    }
    return most > 0;
}

/* What recording explains of the time in which the host hands out work after waits, as of all such
 * time of the rank. */
static double recorded_after(const struct ta_refs *in, size_t cells, int64_t rank, double after)
{
    const struct ta_look explained = {.cells = cells,
                                      .where = {{RECORDER + RECORDER_KIND, "dispatch"}}};
    static const struct ta_look dispatch = {.cells = DISPATCH};
    const double all = ta_look_sum(in, &dispatch, rank);
    return all > 0 ? ta_look_sum(in, &explained, rank) * fmin(1, fmax(0, after) / all) : 0;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *kind = &kinds[i];
        const double threshold = ta_ctx_option(ctx, THRESHOLD);
        const struct ta_look sites = {.cells = SITE_HARM, .where = {{SITE_KIND, kind->kind}}};
        struct ta_place worst, site;
        double window = 0;
        if (!find_worst(in, kind, &worst, &window) || worst.value <= threshold * window ||
            !ta_look_worst(in, &sites, &site))
            continue;
        /* Allocations that are tried again wait, too, and are a finding of their own. */
        static const struct ta_look retried = {.cells = RETRIED};
        const int64_t waiting = ta_ref_integer(in, RANK, worst.row);
        if (i == 0 && ta_look_sum(in, &retried, waiting) > worst.value / 2)
            continue;
        const struct ta_place during = ta_place_beside(in, &worst, IDLE_DURING);
        const double saving = ta_place_beside(in, &worst, SAVING).value;
        const int64_t rank = ta_whole(ta_place_beside(in, &worst, RANK).value);
        const double after = saving - during.value;
        const struct ta_evidence evidence[] = {
            ta_place_evidence(&worst), ta_place_evidence(&during), ta_place_evidence(&site)};
        ta_advise(
            advice,
            &(struct ta_finding){
                .id = kind->finding,
                .rule = "sync_wait",
                .title = ta_advice_printf(
                    advice,
                    "The GPU%s idles %s of the program's window (%s) because of %s, most at %s",
                    ta_place_owner(advice, in->report, &worst),
                    ta_advice_number(advice, worst.value / window, TA_UNIT_RATIO),
                    ta_advice_number(advice, worst.value, TA_UNIT_NS), kind->what,
                    place_of(in, advice, &site)),
                .advice = kind->advice,
                .severity = TA_MEDIUM,
                .evidence = evidence,
                .n_evidence = 3,
                /* What follows a wait would be shorter, not gone: the host still has to hand out
                 * the work. */
                .saving_low_ns = ta_whole(fmin(during.value, saving)),
                .saving_high_ns = ta_whole(saving),
                .recorder_ns = ta_whole(recorded_after(in, RECORDER + RECORDER_NS, rank, after)),
                .recorder_most_ns =
                    ta_whole(recorded_after(in, RECORDER + RECORDER_MOST, rank, after)),
                .confidence = 0.4,
                .threshold = ta_advice_printf(advice, "what the waits cost > %s of the window",
                                              ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
            });
    }
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, sync_wait, &ops, .title = "Harmful waits",
          .summary = "Fires when devices idle around waits and reads of single values",
          .version = "1", .options = options);
