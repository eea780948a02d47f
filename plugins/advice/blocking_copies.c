/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies from or to pageable memory, and copies that return when they are done: the host waits for
 * them, and neither it nor the device goes on, nor does the device until the host has caught up. */
#include "lib/owners.h"
#include "lib/rank_rows.h"
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] =
        {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
         "Share of the window that pageable and blocking copies cost, from which the rule fires"},
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
    WEIGHTS_BACK,
    RELOADED,
    LATE_RANK,
    IS_LATE,
    LATE_COST,
    BLAME_RANK,
    BLAME_KIND,
    BLAME_EXCESS,
    OWNERS
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
    [RELOADED] = {"models.reloaded", "bytes"},
    [LATE_RANK] = {"stragglers.by_rank", "rank"},
    [IS_LATE] = {"stragglers.by_rank", "is_late"},
    [LATE_COST] = {"stragglers.by_rank", "cost_ns"},
    [BLAME_RANK] = {"stragglers.blame", "rank"},
    [BLAME_KIND] = {"stragglers.blame", "kind"},
    [BLAME_EXCESS] = {"stragglers.blame", "excess_ns"},
    OWNERS_READS(OWNERS),
};

/* Tables by rank. */
struct tables {
    struct ta_rank_rows copies, windows, weights, weights_back, reloaded, idle;
};

static struct tables sort_tables(const struct ta_refs *in, struct ta_advice *advice)
{
    return (struct tables){.copies = ta_rank_rows_of(in, advice, HOST),
                           .windows = ta_rank_rows_of(in, advice, WINDOW),
                           .weights = ta_rank_rows_of(in, advice, WEIGHTS),
                           .weights_back = ta_rank_rows_of(in, advice, WEIGHTS_BACK),
                           .reloaded = ta_rank_rows_of(in, advice, RELOADED),
                           .idle = ta_rank_rows_of(in, advice, OWNERS + OWNERS_TOTAL)};
}

/* Copies of weights are weight_copies.c's, or where a model is loaded again model_loading.c's:
 * whether most bytes of a row are theirs. */
static bool is_weights(const struct ta_refs *in, const struct tables *tables, size_t row,
                       int64_t rank)
{
    const double weights =
        ta_ref_reads(in, DIRECTION, row, "HtoD")   ? fmax(ta_rank_rows_sum(&tables->weights, rank),
                                                          ta_rank_rows_sum(&tables->reloaded, rank))
        : ta_ref_reads(in, DIRECTION, row, "DtoH") ? ta_rank_rows_sum(&tables->weights_back, rank)
                                                   : 0;
    return weights > 0.5 * ta_ref_number(in, BYTES, row, 0);
}

/* What copies would run at from pinned memory: the best that pinned copies of the direction reach
 * in these traces, else the rate of the link; 0 when neither is known. */
struct pinned {
    struct ta_slice direction;
    double rate;
};

enum { DIRECTIONS = 8 };

static double find_rate(const struct ta_refs *in, struct ta_slice direction)
{
    double pinned = 0, link = 0;
    for (size_t i = 0; i < ta_ref_rows(in, RATE); i++) {
        const double limit = ta_ref_number(in, RATE_LINK, i, 0);
        const double rate = ta_ref_number(in, RATE, i, 0);
        if (limit <= 0 || !ta_slice_equal(ta_ref_text(in, RATE_DIRECTION, i), direction))
            continue; /* small copies have no link: they are bound by latency */
        link = fmax(link, limit);
        if (ta_ref_reads(in, RATE_MEMORY, i, "pinned"))
            pinned = fmax(pinned, rate);
    }
    return pinned > 0 ? pinned : link;
}

/* There are a few directions and as many rows as ranks: each is looked for once. */
static double pinned_rate(const struct ta_refs *in, size_t row, struct pinned known[DIRECTIONS])
{
    const struct ta_slice direction = ta_ref_text(in, DIRECTION, row);
    size_t i = 0;
    for (; i < DIRECTIONS && known[i].direction.ptr; i++)
        if (ta_slice_equal(known[i].direction, direction))
            return known[i].rate;
    const double rate = find_rate(in, direction);
    if (i < DIRECTIONS)
        known[i] = (struct pinned){direction, rate};
    return rate;
}

/* What the copies of one rank cost now, and what they would without waiting. */
struct cost {
    double exposed, ideal, idle; /* ns; idle: what the device idles for them */
    double window;
    size_t worst; /* the row that costs most */
    double most;
};

/* Where a rank loses idle time to such copies, on its first device. */
static struct ta_owned_where where_of(const struct ta_refs *in, struct ta_advice *advice,
                                      int64_t rank)
{
    static const char *const owners[] = {"pageable copy", "blocking copy"};
    const struct ta_owners_asked asked = {OWNERS, owners, TA_LENGTH(owners)};
    const size_t windows = OWNERS + OWNERS_WINDOW;
    for (size_t row = 0; row < ta_ref_rows(in, windows); row++)
        if (ta_ref_rank(in, windows, row) == rank) {
            const struct ta_place window = ta_place_at(in, windows, row);
            return ta_owned_where(in, advice, &asked, &window);
        }
    return (struct ta_owned_where){.function = "", .site = ""};
}

/* "The GPU only copies for 4.24 ms, and idles 7.02 ms until the host launches again" */
static const char *what_it_does(struct ta_advice *advice, const struct cost *cost)
{
    const char *copies = ta_advice_number(advice, cost->exposed, TA_UNIT_NS);
    const char *idles = ta_advice_number(advice, cost->idle, TA_UNIT_NS);
    return cost->idle <= 0 ? ta_advice_printf(advice, "The GPU only copies for %s", copies)
           : cost->exposed <= 0
               ? ta_advice_printf(advice, "The GPU idles %s until the host launches again", idles)
               : ta_advice_printf(
                     advice,
                     "The GPU only copies for %s, and idles %s until the host launches "
                     "again",
                     copies, idles);
}

static void give(const struct ta_refs *in, struct ta_advice *advice, const struct cost *cost,
                 double threshold)
{
    const struct ta_place host = ta_place_at(in, HOST, cost->worst);
    struct ta_evidence evidence[2];
    size_t n_evidence = 0;
    if (ta_ref_number(in, EXPOSED, cost->worst, 0) > 0)
        evidence[n_evidence++] = ta_ref_evidence(in, EXPOSED, cost->worst);
    if (ta_ref_number(in, IDLE, cost->worst, 0) > 0)
        evidence[n_evidence++] = ta_ref_evidence(in, IDLE, cost->worst);
    if (n_evidence == 0)
        evidence[n_evidence++] = ta_ref_evidence(in, HOST, cost->worst);
    const bool pageable = ta_ref_reads(in, MEMORY, cost->worst, "pageable");
    const double lost = cost->exposed + cost->idle;
    const struct ta_owned_where where = where_of(in, advice, ta_ref_integer(in, RANK, cost->worst));
    const bool is_named = *where.function && strcmp(where.function, where.site) != 0;
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = pageable ? "pageable-copy" : "blocking-copy",
            .rule = "blocking_copies",
            .effect = TA_EFFECT_HOST_COPY,
            .title = ta_advice_printf(
                advice, "Copies %s hold up the host and the GPU%s: %s of the run (%s)",
                pageable ? "of pageable memory" : "that the host waits for",
                ta_owned_of(advice, &host),
                ta_advice_number(advice, lost / cost->window, TA_UNIT_RATIO),
                ta_advice_number(advice, lost, TA_UNIT_NS)),
            .why = ta_advice_printf(
                advice, "%s; %s copies by %s%s%s take most.", what_it_does(advice, cost),
                ta_place_text(advice, in, &host, PATH), ta_place_text(advice, in, &host, CALL),
                is_named ? ", in " : "", is_named ? where.function : ""),
            .advice = ta_ref_reads(in, DIRECTION, cost->worst, "DtoH")
                          ? "Copy results into pinned memory with non_blocking=True, and read them "
                            "after an event, while the GPU works on."
                      : pageable ? "Copy from pinned memory (pin_memory=True, allocated once) with "
                                   "non_blocking=True, before the data are needed."
                                 : "Copy asynchronously from pinned memory on a stream of its own, "
                                   "before the data are needed.",
            .details = pageable ? "The driver copies pageable memory through a buffer of its own, "
                                  "while the caller waits."
                                : NULL,
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = n_evidence,
            /* At the rate of pinned memory but still in the way, or while kernels run. */
            .saving_low_ns = ta_whole(cost->exposed - cost->ideal + cost->idle / 2),
            .saving_high_ns = ta_whole(lost),
            .confidence = 0.6,
            .threshold = ta_advice_printf(advice, "such copies cost > %s of the run",
                                          ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

static bool is_of_copies(const struct ta_refs *in, size_t row)
{
    const size_t name = OWNERS + OWNERS_OWNER;
    return ta_ref_reads(in, name, row, "pageable copy") ||
           ta_ref_reads(in, name, row, "blocking copy");
}

/* What a rank idles for such copies, on its device that idles most for them. */
static double idle_of(const struct ta_rank_rows *idle, int64_t rank)
{
    const struct ta_rank_rows own = ta_rank_rows_find(idle, rank);
    double most = 0;
    for (size_t i = 0; i < own.n; i++) {
        double sum = 0;
        for (size_t k = i; k < own.n; k++)
            if (ta_ref_device(own.in, own.ref, own.at[k]) ==
                    ta_ref_device(own.in, own.ref, own.at[i]) &&
                is_of_copies(own.in, own.at[k]))
                sum += ta_ref_number(own.in, own.ref, own.at[k], 0);
        most = fmax(most, sum);
    }
    return most;
}

static struct cost cost_of(const struct ta_refs *in, const struct tables *tables, int64_t rank,
                           struct pinned rates[DIRECTIONS])
{
    const struct ta_rank_rows copies = ta_rank_rows_find(&tables->copies, rank);
    struct cost cost = {.window = ta_rank_rows_most(&tables->windows, rank)};
    double host = 0, all = 0; /* of the time in such calls, the part that is not for weights */
    for (size_t i = 0; i < copies.n; i++) {
        const size_t k = copies.at[i];
        all += ta_ref_number(in, HOST, k, 0);
        if (is_weights(in, tables, k, rank))
            continue;
        host += ta_ref_number(in, HOST, k, 0);
        const double exposed = ta_ref_number(in, EXPOSED, k, 0);
        const double lost = exposed + ta_ref_number(in, IDLE, k, 0);
        const double rate = pinned_rate(in, k, rates);
        const double ideal = rate > 0 ? ta_ref_number(in, BYTES, k, 0) * 1e9 / rate : exposed;
        cost.exposed += exposed;
        cost.ideal += fmin(ideal, exposed);
        if (lost >= cost.most) {
            cost.most = lost;
            cost.worst = k;
        }
    }
    cost.idle = all > 0 ? idle_of(&tables->idle, rank) * host / all : 0;
    return cost;
}

/* The rank of the finding in straggler.c, if a copy is what makes it late: that finding is about
 * its copies.  TA_MISSING without. */
static int64_t late_by_copies(const struct ta_refs *in)
{
    static const struct ta_look windows = {.cells = WINDOW};
    static const double least = 0.01; /* of the run, as in straggler.c */
    double most = least * ta_look_most(in, &windows, TA_MISSING);
    int64_t rank = TA_MISSING;
    for (size_t row = 0; row < ta_ref_rows(in, LATE_COST); row++) {
        const struct ta_cell *late = ta_ref_cell(in, IS_LATE, row);
        if (late->kind == TA_CELL_BOOL && late->b && ta_ref_number(in, LATE_COST, row, 0) > most) {
            most = ta_ref_number(in, LATE_COST, row, 0);
            rank = ta_ref_integer(in, LATE_RANK, row);
        }
    }
    for (size_t row = 0; row < ta_ref_rows(in, BLAME_EXCESS); row++) /* largest first */
        if (ta_ref_integer(in, BLAME_RANK, row) == rank &&
            !ta_ref_reads(in, BLAME_KIND, row, "unexplained"))
            return ta_ref_reads(in, BLAME_KIND, row, "copy") ? rank : TA_MISSING;
    return TA_MISSING;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct tables tables = sort_tables(in, advice);
    struct pinned rates[DIRECTIONS] = {{.rate = 0}};
    struct cost worst = {0};
    const int64_t late = late_by_copies(in);
    int64_t last = TA_MISSING;
    for (size_t i = 0; i < ta_ref_rows(in, HOST); i++) {
        const int64_t rank = ta_ref_integer(in, RANK, i);
        if (rank == last || (rank == late && late != TA_MISSING))
            continue;
        last = rank;
        const struct cost cost = cost_of(in, &tables, rank, rates);
        if (cost.window > 0 &&
            (worst.window <= 0 || (cost.exposed + cost.idle) * worst.window >
                                      (worst.exposed + worst.idle) * cost.window))
            worst = cost;
    }
    if (worst.window > 0 && worst.exposed + worst.idle > threshold * worst.window)
        give(in, advice, &worst, threshold);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, blocking_copies, &ops, .title = "Copies the host waits for",
          .summary = "Fires when pageable or blocking copies hold up host and device",
          .version = "1", .options = options);
