/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launch-bound: the device waits because the host hands out work too slowly. */
#include "lib/gaps.h"
#include "lib/recorder.h"
#include "recommend/rule.h"

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
                   "Launch-bound share of the window from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    LATE,
    DISPATCH,
    DISPATCH_RANK,
    IN_FLIGHT,
    SITE,
    SITE_CAUSE,
    SITE_TIME,
    WAIT_SAVING,
    WAIT_IDLE,
    GRAPH_SHARE,
    GPU_WINDOW,
    WINDOW,
    RECORDER,
    GAPS = RECORDER + 3
};

static const struct ta_ref reads[] = {
    [RANK] = {"launch_queue.by_rank", "rank"},
    [LATE] = {"launch_queue.by_rank", "launch_bound"},
    [DISPATCH] = {"gpu_idle.by_rank", "dispatch_ns"},
    [DISPATCH_RANK] = {"gpu_idle.by_rank", "rank"},
    [IN_FLIGHT] = {"gpu_idle.by_rank", "latency_ns"},
    [SITE] = {"gpu_idle.by_site", "site"},
    [SITE_CAUSE] = {"gpu_idle.by_site", "cause"},
    [SITE_TIME] = {"gpu_idle.by_site", "total_ns"},
    [WAIT_SAVING] = {"sync.by_kind", "saving_ns"},
    [WAIT_IDLE] = {"sync.by_kind", "idle_during_ns"},
    [GRAPH_SHARE] = {"launches.graphs", "device_share"},
    [GPU_WINDOW] = {"gpu_time.by_rank", "window_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    RECORDER_READS(RECORDER),
    GAPS_READS(GAPS),
};

static const struct ta_look dispatch_look = {.cells = DISPATCH};

static const char *const causes[] = {"python", "operator dispatch", "launch calls",
                                     "runtime calls"};

/* ", the largest part in aten::mm" for the place with most time among the causes of dispatch. */
static const char *where(const struct ta_refs *in, struct ta_advice *advice)
{
    struct ta_place best = {0};
    for (size_t i = 0; i < TA_LENGTH(causes); i++) {
        struct ta_place place;
        const struct ta_look look = {.cells = SITE_TIME, .where = {{SITE_CAUSE, causes[i]}}};
        if (ta_look_worst(in, &look, &place) && (!best.table || place.value > best.value))
            best = place;
    }
    if (!best.table)
        return "";
    const char *site = ta_place_text(advice, in, &best, SITE);
    return *site ? ta_advice_printf(advice, ", the largest part in %s", site) : "";
}

/* What to do; a device that gets most of its work from graphs needs no others. */
static const char *what_to_do(const struct ta_refs *in, const struct ta_place *dispatch)
{
    static const struct ta_look graphs = {.cells = GRAPH_SHARE};
    const int64_t rank = ta_whole(ta_place_beside(in, dispatch, DISPATCH_RANK).value);
    return ta_look_sum(in, &graphs, rank) >= 0.5
               ? "Most of the work comes from graphs already: prepare and launch the next one "
                 "while the device is busy with the last (overlapped scheduling), let graphs hold "
                 "what "
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

/* A share of the window of a device as one of the program's window. */
static double of_program(const struct ta_refs *in, const struct ta_place *share)
{
    static const struct ta_look of_device = {.cells = GPU_WINDOW}, of_all = {.cells = WINDOW};
    struct ta_place device, program;
    if (!ta_look_same(in, &of_device, share, &device) ||
        !ta_look_same(in, &of_all, share, &program) || program.value <= 0)
        return share->value;
    return share->value * device.value / program.value;
}

/* The device that waits for the largest share of its window.  Of the time in which it waits for the
 * host to hand out work, what follows waits of the host for the device is the cost of these waits
 * (sync_wait.c, blocking_copies.c). */
static bool find_worst(const struct ta_refs *in, struct ta_place *worst, double *rest)
{
    static const struct ta_look saving = {.cells = WAIT_SAVING}, during = {.cells = WAIT_IDLE};
    double most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, LATE); row++) {
        const struct ta_place share = ta_place_at(in, LATE, row);
        const int64_t rank = ta_whole(ta_ref_number(in, RANK, row, 0));
        struct ta_place dispatch;
        if (!share.table || share.value <= 0 ||
            !ta_look_same(in, &dispatch_look, &share, &dispatch))
            continue;
        const double after_waits =
            fmax(0, ta_look_sum(in, &saving, rank) - ta_look_sum(in, &during, rank));
        const double left = dispatch.value - after_waits;
        const double part = of_program(in, &share) * left / dispatch.value;
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
    if (!find_worst(in, &share, &rest) || !ta_look_same(in, &dispatch_look, &share, &dispatch))
        return TA_OK;
    const double part = of_program(in, &share) * rest / dispatch.value;
    if (part <= threshold)
        return TA_OK;
    const struct ta_place latency = ta_place_beside(in, &dispatch, IN_FLIGHT);
    const double in_flight = latency.table ? latency.value : 0;
    const struct ta_gaps_asked asked = {GAPS, dispatch, rest, causes, TA_LENGTH(causes)};
    const struct ta_gaps gaps = ta_gaps_find(in, &asked);
    const struct ta_recorded recorded =
        ta_recorder_of(in, RECORDER, "dispatch", &dispatch, rest / dispatch.value);
    const struct ta_evidence evidence[] = {ta_place_evidence(&share), ta_place_evidence(&dispatch),
                                           ta_place_evidence(gaps.n ? &gaps.longest : &dispatch)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "launch-bound",
            .rule = "launch_bound",
            .title = ta_advice_printf(
                advice,
                "The GPU%s waits %s of the program's window (%s) for the host to hand out work%s",
                ta_place_owner(advice, in->report, &share),
                ta_advice_number(advice, part, TA_UNIT_RATIO),
                ta_advice_number(advice, rest, TA_UNIT_NS), where(in, advice)),
            .advice = ta_advice_printf(
                advice, "%s%s Idle time by place lists where the host spends the time.%s",
                ta_gaps_sentence(in, advice, &asked, &gaps), what_to_do(in, &dispatch),
                remark(advice, share.value, part)),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = gaps.n ? 3 : 2,
            /* Graphs leave a rest of the dispatch; without any the launches start at once.  Of gaps
             * that recording explains the way to the device is hidden, too. */
            .saving_low_ns = ta_whole(rest / 2),
            .saving_high_ns =
                ta_whole(rest + in_flight / 2 * fmax(0, 1 - (double)recorded.ns / rest)),
            .recorder_ns = recorded.ns,
            .recorder_most_ns = recorded.most_ns,
            .confidence = 0.6,
            .threshold = ta_advice_printf(
                advice, "launch-bound share of the window, less what follows waits, > %s",
                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, launch_bound, &ops, .title = "Launch-bound",
          .summary = "Fires when a device waits for the host to hand out work", .version = "1",
          .options = options);
