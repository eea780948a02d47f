/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Harmful waits: the device has nothing to do while the host waits for it, or right after.  Larger
 * copies are blocking_copies.c's. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the window that waits cost, from which the rule fires"},
    TA_OPTIONS_END,
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
static const char *place_of(struct ta_advice *advice, const struct ta_place *worst)
{
    const char *site = ta_old_place_text(advice, worst, "site");
    const char *caller = ta_old_place_text(advice, worst, "caller");
    if (*site && *caller && strcmp(site, caller) != 0)
        return ta_advice_printf(advice, "%s in %s", site, caller);
    return *site ? site : *caller ? caller : ta_old_place_text(advice, worst, "call");
}

/* What the waits of a row cost for certain: idle time during and right behind them, as far as the
 * host would be ahead without them. */
static double cost_of(const struct ta_place *place)
{
    const double during = ta_old_beside(place, "idle_during_ns").value;
    const double after = ta_old_beside(place, "idle_after_ns").value;
    return fmin(during + after, ta_old_beside(place, "saving_ns").value);
}

/* The row of sync.by_kind that costs the largest share of the window of its rank. */
static bool find_worst(const struct ta_report *report, const struct kind *kind,
                       struct ta_place *worst, double *window)
{
    static const struct ta_old_look windows = {.table = "sync.by_rank", .column = "window_ns"};
    const struct ta_old_look look = {
        .table = "sync.by_kind", .column = "saving_ns", .where = {{"kind", kind->kind}}};
    const struct ta_table *table = ta_report_table(report, look.table);
    double most = 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        if (!ta_old_look_takes(&look, table, i))
            continue;
        struct ta_place place = {.table = table, .row = i};
        const double rank = ta_old_beside(&place, "rank").value;
        const double length = ta_old_look_sum(report, &windows, ta_whole(rank));
        place = ta_old_beside(&place, look.column);
        place.value = cost_of(&place);
        if (length <= 0 || place.value / length <= most)
            continue;
        most = place.value / length;
        *worst = place;
        *window = length;
    }
    return most > 0;
}

static void advise_kind(const struct ta_report *report, struct ta_advice *advice,
                        const struct kind *kind, double threshold)
{
    const struct ta_old_look sites = {
        .table = "sync.by_site", .column = "harmful_ns", .where = {{"kind", kind->kind}}};
    struct ta_place worst, site;
    double window = 0;
    if (!find_worst(report, kind, &worst, &window) || worst.value <= threshold * window ||
        !ta_old_look_worst(report, &sites, &site))
        return;
    const struct ta_place during = ta_old_beside(&worst, "idle_during_ns");
    const double saving = ta_old_beside(&worst, "saving_ns").value;
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst), ta_place_evidence(&during),
                                           ta_place_evidence(&site)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = kind->finding,
                  .rule = "sync_wait",
                  .title = ta_advice_printf(
                      advice, "The GPU%s idles %s of its window (%s) because of %s, most at %s",
                      ta_place_owner(advice, report, &worst),
                      ta_advice_number(advice, worst.value / window, TA_UNIT_RATIO),
                      ta_advice_number(advice, worst.value, TA_UNIT_NS), kind->what,
                      place_of(advice, &site)),
                  .advice = kind->advice,
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 3,
                  /* What follows a wait would be shorter, not gone: the host still has to hand out
                   * the work. */
                  .saving_low_ns = ta_whole(fmin(during.value, saving)),
                  .saving_high_ns = ta_whole(saving),
                  .confidence = 0.4,
                  .threshold = ta_advice_printf(advice, "what the waits cost > %s of the window",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        advise_kind(in->report, advice, &kinds[i], ta_ctx_option(ctx, THRESHOLD));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, sync_wait, &ops, .title = "Harmful waits",
          .summary = "Fires when devices idle around waits and reads of single values",
          .version = "1", .options = options);
