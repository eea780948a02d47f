/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Harmful waits: the device has nothing to do while the host waits for it, or right after. */
#include <traceanalyze/rule.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Harmful share of the windows from which the rule fires"},
    TA_OPTIONS_END,
};

/* The kinds of waits, each with its own advice. */
static const struct kind {
    const char *kind, *finding, *what, *advice;
} kinds[] = {
    {"synchronization", "sync-wait", "synchronization",
     "Remove the wait, or move it out of the step loop: no .item(), .cpu(), nonzero() or "
     "torch.cuda.synchronize() there; read results one step later, when they are long done."},
    {"blocking copy", "blocking-copy", "blocking copies",
     "Copy without waiting: pinned memory and non_blocking=True, values the host needs kept on "
     "the host, shapes and schedules computed before the loop."},
    {"pageable copy", "pageable-copy", "copies from pageable memory",
     "Allocate the host side with pin_memory=True: the driver copies pageable memory through a "
     "buffer of its own while the caller waits."},
};

static double sum(const struct ta_report *report, const struct ta_look *look)
{
    const struct ta_table *table = ta_report_table(report, look->table);
    const size_t column = table ? ta_table_column(table, look->column) : SIZE_MAX;
    double total = 0;
    for (size_t i = 0; column != SIZE_MAX && i < table->n_rows; i++)
        if (ta_look_takes(look, table, i))
            total += ta_cell_number(ta_table_cell(table, i, column), 0);
    return total;
}

/* "aten::item in scheduler.py(12): step", as far as it is known. */
static const char *place_of(struct ta_advice *advice, const struct ta_place *worst)
{
    const char *site = ta_place_text(advice, worst, "site");
    const char *caller = ta_place_text(advice, worst, "caller");
    if (*site && *caller && strcmp(site, caller) != 0)
        return ta_advice_printf(advice, "%s in %s", site, caller);
    return *site ? site : *caller ? caller : ta_place_text(advice, worst, "call");
}

static void advise_kind(const struct ta_report *report, struct ta_advice *advice,
                        const struct kind *kind, double window, double threshold)
{
    const struct ta_look look = {
        .table = "sync.by_site", .column = "harmful_ns", .where = {{"kind", kind->kind}}};
    struct ta_place worst;
    const double harm = sum(report, &look);
    if (!ta_look_worst(report, &look, &worst) || harm <= threshold * window)
        return;
    struct ta_look during = look;
    during.column = "idle_during_ns";
    const struct ta_evidence evidence[] = {ta_place_evidence(&worst)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = kind->finding,
            .rule = "sync_wait",
            .title = ta_advice_printf(
                advice, "Devices idle %s of their windows (%s) around %s, most at %s",
                ta_advice_number(advice, harm / window, TA_UNIT_RATIO),
                ta_advice_number(advice, harm, TA_UNIT_NS), kind->what, place_of(advice, &worst)),
            .advice = kind->advice,
            .severity = harm > 0.1 * window ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 1,
            /* The time behind a wait would be shorter, not gone: the host still has to hand out
             * the work. */
            .saving_low_ns = (int64_t)sum(report, &during),
            .saving_high_ns = (int64_t)harm,
            .confidence = 0.4,
            .threshold = ta_advice_printf(advice, "harmful part > %s of the windows",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_report *report,
                             struct ta_advice *advice)
{
    static const struct ta_look windows = {.table = "sync.by_rank", .column = "window_ns"};
    const double window = sum(report, &windows);
    for (size_t i = 0; window > 0 && i < sizeof kinds / sizeof *kinds; i++)
        advise_kind(report, advice, &kinds[i], window, ta_ctx_option(ctx, THRESHOLD));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, sync_wait, &ops, .title = "Harmful waits",
          .summary = "Fires when devices idle around waits and blocking copies", .version = "1",
          .options = options);
