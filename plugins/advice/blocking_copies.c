/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies from or to pageable memory, and copies that return when they are done: the host waits for
 * them, and neither it nor the device goes on. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the window that such copies cost, from which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    DIRECTION,
    MEMORY,
    PATH,
    CALL,
    BYTES,
    HOST,
    EXPOSED,
    IDLE,
    RATE,
    RATE_LINK,
    RATE_DIRECTION,
    RATE_MEMORY,
    WINDOW,
    WEIGHTS,
    WEIGHTS_BACK
};

static const struct ta_ref reads[] = {
    [RANK] = {"copies.blocking", "rank"},
    [DIRECTION] = {"copies.blocking", "direction"},
    [MEMORY] = {"copies.blocking", "memory"},
    [PATH] = {"copies.blocking", "path"},
    [CALL] = {"copies.blocking", "call"},
    [BYTES] = {"copies.blocking", "bytes"},
    [HOST] = {"copies.blocking", "host_ns"},
    [EXPOSED] = {"copies.blocking", "exposed_ns"},
    [IDLE] = {"copies.blocking", "idle_ns"},
    [RATE] = {"copies.bandwidth", "bandwidth"},
    [RATE_LINK] = {"copies.bandwidth", "link"},
    [RATE_DIRECTION] = {"copies.bandwidth", "direction"},
    [RATE_MEMORY] = {"copies.bandwidth", "memory"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [WEIGHTS] = {"copies.weights", "bytes"},
    [WEIGHTS_BACK] = {"copies.weights", "back_bytes"},
};

/* Copies of weights are weight_copies.c's: whether most bytes of a row are theirs. */
static bool is_weights(const struct ta_refs *in, size_t row, int64_t rank)
{
    const struct ta_look there = {.cells = WEIGHTS}, back = {.cells = WEIGHTS_BACK};
    const double weights = ta_ref_reads(in, DIRECTION, row, "HtoD") ? ta_look_sum(in, &there, rank)
                           : ta_ref_reads(in, DIRECTION, row, "DtoH") ? ta_look_sum(in, &back, rank)
                                                                      : 0;
    return weights > 0.5 * ta_ref_number(in, BYTES, row, 0);
}

/* What the copies of a row would run at from pinned memory: the best that pinned copies of the
 * direction reach in these traces, else the rate of the link; 0 when neither is known. */
static double pinned_rate(const struct ta_refs *in, size_t row)
{
    const struct ta_slice direction = ta_ref_text(in, DIRECTION, row);
    double pinned = 0, link = 0;
    for (size_t i = 0; i < ta_ref_rows(in, RATE); i++) {
        const double limit = ta_ref_number(in, RATE_LINK, i, 0);
        const double rate = ta_ref_number(in, RATE, i, 0);
        if (limit <= 0 || !ta_slice_equal(ta_ref_text(in, RATE_DIRECTION, i), direction))
            continue; /* small copies have no link: they are bound by latency */
        if (limit > link)
            link = limit;
        if (rate > pinned && ta_ref_reads(in, RATE_MEMORY, i, "pinned"))
            pinned = rate;
    }
    return pinned > 0 ? pinned : link;
}

/* What the copies of one rank cost now, and what they would without waiting. */
struct cost {
    double lost, ideal; /* ns */
    double window;
    size_t worst; /* the row that costs most */
    double most;
};

static const char pinned_advice[] =
    "Copy without waiting: pinned memory (pin_memory=True, made once) and non_blocking=True, on a "
    "stream of its own and before the bytes are needed. The driver copies pageable memory through "
    "a buffer of its own, while the caller waits.";
static const char kept_advice[] =
    "Copy without waiting: pinned memory and an asynchronous copy on a stream of its own; values "
    "that the host needs are best kept on the host.";

static void give(const struct ta_refs *in, struct ta_advice *advice, const struct cost *cost,
                 double threshold)
{
    const struct ta_place host = ta_place_at(in, HOST, cost->worst);
    struct ta_evidence evidence[3] = {ta_ref_evidence(in, HOST, cost->worst)};
    size_t n_evidence = 1;
    if (ta_ref_number(in, EXPOSED, cost->worst, 0) > 0)
        evidence[n_evidence++] = ta_ref_evidence(in, EXPOSED, cost->worst);
    if (ta_ref_number(in, IDLE, cost->worst, 0) > 0)
        evidence[n_evidence++] = ta_ref_evidence(in, IDLE, cost->worst);
    const bool pageable = ta_ref_reads(in, MEMORY, cost->worst, "pageable");
    const double share = cost->lost / cost->window;
    ta_advise(advice,
              &(struct ta_finding){
                  .id = pageable ? "pageable-copy" : "blocking-copy",
                  .rule = "blocking_copies",
                  .title = ta_advice_printf(advice,
                                            "Copies that the host waits for cost the GPU%s %s of "
                                            "the program's window (%s), most "
                                            "of it %s by %s",
                                            ta_place_owner(advice, in->report, &host),
                                            ta_advice_number(advice, share, TA_UNIT_RATIO),
                                            ta_advice_number(advice, cost->lost, TA_UNIT_NS),
                                            ta_place_text(advice, in, &host, PATH),
                                            ta_place_text(advice, in, &host, CALL)),
                  .advice = pageable ? pinned_advice : kept_advice,
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = n_evidence,
                  /* At the rate of pinned memory but still in the way, or beside the work. */
                  .saving_low_ns = ta_whole(cost->lost - cost->ideal),
                  .saving_high_ns = ta_whole(cost->lost),
                  .confidence = 0.6,
                  .threshold = ta_advice_printf(advice, "such copies cost > %s of the window",
                                                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct cost worst = {0};
    for (size_t i = 0; i < ta_ref_rows(in, HOST); i++) {
        const int64_t rank = ta_whole(ta_ref_number(in, RANK, i, 0));
        struct cost cost = {.window = ta_look_most(in, &windows, rank)};
        for (size_t k = 0; k < ta_ref_rows(in, HOST); k++) {
            if (ta_whole(ta_ref_number(in, RANK, k, 0)) != rank || is_weights(in, k, rank))
                continue;
            const double lost = ta_ref_number(in, EXPOSED, k, 0) + ta_ref_number(in, IDLE, k, 0);
            const double rate = pinned_rate(in, k);
            const double ideal = rate > 0 ? ta_ref_number(in, BYTES, k, 0) * 1e9 / rate : lost;
            cost.lost += lost;
            cost.ideal += ideal < lost ? ideal : lost;
            if (lost >= cost.most) {
                cost.most = lost;
                cost.worst = k;
            }
        }
        if (cost.window > 0 &&
            (worst.window <= 0 || cost.lost * worst.window > worst.lost * cost.window))
            worst = cost;
    }
    if (worst.window > 0 && worst.lost > threshold * worst.window)
        give(in, advice, &worst, threshold);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, blocking_copies, &ops, .title = "Copies that the host waits for",
          .summary = "Fires when pageable or blocking copies hold up host and device",
          .version = "1", .options = options);
