/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launch-bound: the device waits because the host hands out work too slowly. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
                   "Launch-bound share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

static const struct ta_old_look share_look = {
    .table = "launch_queue.by_rank", .column = "launch_bound", .lowest = false};
static const struct ta_old_look dispatch_look = {
    .table = "gpu_idle.by_rank", .column = "dispatch_ns", .lowest = false};

static const char *const causes[] = {"python", "operator dispatch", "launch calls",
                                     "runtime calls"};
enum { N_CAUSES = sizeof causes / sizeof *causes };

/* ", the largest part in aten::mm" for the place with most time among the causes of dispatch. */
static const char *where(const struct ta_report *report, struct ta_advice *advice)
{
    struct ta_place best = {0};
    for (size_t i = 0; i < N_CAUSES; i++) {
        struct ta_place place;
        const struct ta_old_look look = {
            .table = "gpu_idle.by_site", .column = "total_ns", .where = {{"cause", causes[i]}}};
        if (ta_old_look_worst(report, &look, &place) && (!best.table || place.value > best.value))
            best = place;
    }
    if (!best.table)
        return "";
    const char *site = ta_old_place_text(advice, &best, "site");
    return *site ? ta_advice_printf(advice, ", the largest part in %s", site) : "";
}

/* Of the time in which a device waits for the host to hand out work, what follows waits of the host
 * for the device: that is the cost of the waits (sync_wait.c, blocking_copies.c). */
static double behind_waits(const struct ta_report *report, int64_t rank)
{
    static const struct ta_old_look saving = {.table = "sync.by_kind", .column = "saving_ns"};
    static const struct ta_old_look during = {.table = "sync.by_kind", .column = "idle_during_ns"};
    return fmax(0, ta_old_look_sum(report, &saving, rank) - ta_old_look_sum(report, &during, rank));
}

/* What to do; a device that gets most of its work from graphs needs no others. */
static const char *what_to_do(const struct ta_report *report, const struct ta_place *dispatch)
{
    static const struct ta_old_look graphs = {.table = "launches.graphs", .column = "device_share"};
    const int64_t rank = ta_whole(ta_old_beside(dispatch, "rank").value);
    return ta_old_look_sum(report, &graphs, rank) >= 0.5
               ? "Most of the work comes from graphs already: prepare and launch the next one "
                 "while "
                 "the device is busy with the last (overlapped scheduling), let graphs hold what "
                 "runs between them, and upload large ones ahead (cudaGraphUpload)."
               : "Launch less or cheaper: CUDA graphs or torch.compile(mode=\"reduce-overhead\") "
                 "for the step loop, fused operators, larger batches; keep Python out of the "
                 "loop.";
}

/* Says where the rest of the cited share is. */
static const char *remark(struct ta_advice *advice, double share, double part)
{
    return share - part < 0.0005
               ? ""
               : ta_advice_printf(advice,
                                  " The share of launches that come late is larger: %s of the "
                                  "window follow waits of the host for the device, which are the "
                                  "finding about those waits.",
                                  ta_advice_number(advice, share - part, TA_UNIT_RATIO));
}

/* The device with the largest share of its window. */
static bool find_worst(const struct ta_report *report, struct ta_place *worst, double *rest)
{
    const struct ta_table *table = ta_report_table(report, share_look.table);
    double most = 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        struct ta_place share = {.table = table, .row = i}, dispatch;
        const struct ta_place rank = ta_old_beside(&share, "rank");
        share = ta_old_beside(&share, share_look.column);
        if (!share.table || share.value <= 0 ||
            !ta_old_look_same(report, &dispatch_look, &share, &dispatch))
            continue;
        const double left = dispatch.value - behind_waits(report, ta_whole(rank.value));
        const double part = share.value * left / dispatch.value;
        if (part <= most)
            continue;
        most = part;
        *worst = share;
        *rest = left;
    }
    return most > 0;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct ta_place share, dispatch;
    double rest = 0;
    if (!find_worst(in->report, &share, &rest) ||
        !ta_old_look_same(in->report, &dispatch_look, &share, &dispatch))
        return TA_OK;
    const double part = share.value * rest / dispatch.value;
    if (part <= threshold)
        return TA_OK;
    const struct ta_place latency = ta_old_beside(&dispatch, "latency_ns");
    const double in_flight = latency.table ? latency.value : 0;
    const struct ta_gaps gaps = ta_gaps_standing_out(
        in->report, &(struct ta_gaps_asked){
                        .device = dispatch, .time = rest, .causes = causes, .n_causes = N_CAUSES});
    const struct ta_evidence evidence[] = {ta_place_evidence(&share), ta_place_evidence(&dispatch),
                                           ta_place_evidence(gaps.n ? &gaps.longest : &dispatch)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "launch-bound",
            .rule = "launch_bound",
            .title = ta_advice_printf(
                advice, "The GPU%s waits %s of its window (%s) for the host to hand out work%s",
                ta_place_owner(advice, in->report, &share),
                ta_advice_number(advice, part, TA_UNIT_RATIO),
                ta_advice_number(advice, rest, TA_UNIT_NS), where(in->report, advice)),
            .advice = ta_advice_printf(
                advice, "%s%s Idle time by place lists where the host spends the time.%s",
                ta_gaps_sentence(advice, &gaps), what_to_do(in->report, &dispatch),
                remark(advice, share.value, part)),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = gaps.n ? 3 : 2,
            /* Graphs leave a rest of the dispatch; without any the launches start at once. */
            .saving_low_ns = ta_whole(rest / 2),
            .saving_high_ns = ta_whole(rest + in_flight / 2),
            .confidence = 0.6,
            .threshold = ta_advice_printf(
                advice, "launch-bound share of the window, less what follows waits, > %s",
                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, launch_bound, &ops, .title = "Launch-bound",
          .summary = "Fires when a device waits for the host to hand out work", .version = "1",
          .options = options);
