/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies from or to pageable memory, and copies that return when they are done: the host waits for
 * them, and neither it nor the device goes on. */
#include <traceanalyze/rule.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the window that such copies cost, from which the rule fires"},
    TA_OPTIONS_END,
};

static double number(const struct ta_table *table, size_t row, const char *column)
{
    const size_t at = ta_table_column(table, column);
    return at == SIZE_MAX ? 0 : ta_cell_number(ta_table_cell(table, row, at), 0);
}

static bool same_text(const struct ta_table *a, size_t row, const struct ta_table *b, size_t other,
                      const char *column)
{
    const size_t left = ta_table_column(a, column), right = ta_table_column(b, column);
    return left != SIZE_MAX && right != SIZE_MAX &&
           ta_slice_equal(ta_table_cell(a, row, left)->text, ta_table_cell(b, other, right)->text);
}

/* What the copies of a row would run at from pinned memory: the best that pinned copies of the
 * direction reach in these traces, else the rate of the link; 0 when neither is known. */
static double pinned_rate(const struct ta_report *report, const struct ta_table *waits, size_t row)
{
    const struct ta_table *rates = ta_report_table(report, "copies.bandwidth");
    const size_t memory = rates ? ta_table_column(rates, "memory") : SIZE_MAX;
    double pinned = 0, link = 0;
    for (size_t i = 0; memory != SIZE_MAX && i < rates->n_rows; i++) {
        const double limit = number(rates, i, "link"), rate = number(rates, i, "bandwidth");
        if (limit <= 0 || !same_text(rates, i, waits, row, "direction"))
            continue; /* small copies have no link: they are bound by latency */
        if (limit > link)
            link = limit;
        if (rate > pinned &&
            ta_slice_equal(ta_table_cell(rates, i, memory)->text, TA_LIT("pinned")))
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

static struct cost cost_of(const struct ta_report *report, const struct ta_table *waits,
                           int64_t rank)
{
    const struct ta_old_look windows = {.table = "gpu_time.by_rank", .column = "window_ns"};
    struct cost cost = {.window = ta_old_look_most(report, &windows, rank)};
    for (size_t i = 0; i < waits->n_rows; i++) {
        if (ta_whole(number(waits, i, "rank")) != rank)
            continue;
        const double lost = number(waits, i, "exposed_ns") + number(waits, i, "idle_ns");
        const double rate = pinned_rate(report, waits, i);
        const double ideal = rate > 0 ? number(waits, i, "bytes") * 1e9 / rate : lost;
        cost.lost += lost;
        cost.ideal += ideal < lost ? ideal : lost;
        if (lost >= cost.most) {
            cost.most = lost;
            cost.worst = i;
        }
    }
    return cost;
}

static const char pinned_advice[] =
    "Copy without waiting: pinned memory (pin_memory=True, made once) and non_blocking=True, on a "
    "stream of its own and before the bytes are needed. The driver copies pageable memory through "
    "a buffer of its own, while the caller waits.";
static const char kept_advice[] =
    "Copy without waiting: pinned memory and an asynchronous copy on a stream of its own; values "
    "that the host needs are best kept on the host.";

static void give(const struct ta_report *report, struct ta_advice *advice, const struct cost *cost,
                 double threshold)
{
    const struct ta_table *waits = ta_report_table(report, "copies.blocking");
    const struct ta_place host = {
        .table = waits, .row = cost->worst, .column = ta_table_column(waits, "host_ns")};
    const struct ta_place exposed = ta_old_beside(&host, "exposed_ns");
    const struct ta_place idle = ta_old_beside(&host, "idle_ns");
    struct ta_evidence evidence[3] = {ta_place_evidence(&host)};
    size_t n_evidence = 1;
    if (exposed.value > 0)
        evidence[n_evidence++] = ta_place_evidence(&exposed);
    if (idle.value > 0)
        evidence[n_evidence++] = ta_place_evidence(&idle);
    const size_t memory = ta_table_column(waits, "memory");
    const bool pageable =
        ta_slice_equal(ta_table_cell(waits, cost->worst, memory)->text, TA_LIT("pageable"));
    const double share = cost->lost / cost->window;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = pageable ? "pageable-copy" : "blocking-copy",
            .rule = "blocking_copies",
            .title = ta_advice_printf(
                advice,
                "Copies that the host waits for cost the GPU%s %s of its window (%s), most "
                "of it %s by %s",
                ta_place_owner(advice, report, &host),
                ta_advice_number(advice, share, TA_UNIT_RATIO),
                ta_advice_number(advice, cost->lost, TA_UNIT_NS),
                ta_old_place_text(advice, &host, "path"), ta_old_place_text(advice, &host, "call")),
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
    const struct ta_table *waits = ta_report_table(in->report, "copies.blocking");
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    struct cost worst = {0};
    for (size_t i = 0; waits && i < waits->n_rows; i++) {
        const struct cost cost = cost_of(in->report, waits, ta_whole(number(waits, i, "rank")));
        if (cost.window > 0 &&
            (worst.window <= 0 || cost.lost * worst.window > worst.lost * cost.window))
            worst = cost;
    }
    if (worst.window > 0 && worst.lost > threshold * worst.window)
        give(in->report, advice, &worst, threshold);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise};

TA_PLUGIN(advice, blocking_copies, &ops, .title = "Copies that the host waits for",
          .summary = "Fires when pageable or blocking copies hold up host and device",
          .version = "1", .options = options);
