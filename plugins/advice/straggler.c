/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank that the others wait for in collectives, with what it does meanwhile. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE, HIGH };

enum { OTHERS_MOST = 1024 }; /* that a rank is compared with */

static const double SECOND_LEAST = 0.1; /* share from which a second cause is told */

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
               "Time that it costs the run, over the longest window of a device, from "
               "which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
              "The same share above which it is severe"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    IS_LATE,
    COST,
    STEP_COST,
    HELD_UP,
    EXCESS,
    LAST_ARRIVALS,
    COLLECTIVES,
    SINCE_STEP,
    SINCE,
    BLAME_RANK,
    BLAME_KIND,
    BLAME_NAME,
    BLAME_WITHIN,
    BLAME_EXCESS,
    SAMPLE_RANK,
    SAMPLE_DEVICE,
    SIGNAL,
    SAMPLE_MEAN,
    GPU_RANK,
    GPU_DEVICE,
    COMPUTE,
    WINDOW
};

static const struct ta_ref reads[] = {
    [RANK] = {"stragglers.by_rank", "rank"},
    [IS_LATE] = {"stragglers.by_rank", "is_late"},
    [COST] = {"stragglers.by_rank", "cost_ns"},
    [STEP_COST] = {"stragglers.by_rank", "cost_step_ns"},
    [HELD_UP] = {"stragglers.by_rank", "held_up_ns"},
    [EXCESS] = {"stragglers.by_rank", "excess"},
    [LAST_ARRIVALS] = {"stragglers.by_rank", "last_arrivals"},
    [COLLECTIVES] = {"stragglers.by_rank", "collectives"},
    [SINCE_STEP] = {"stragglers.by_rank", "since_step"},
    [SINCE] = {"stragglers.by_rank", "since_ns"},
    [BLAME_RANK] = {"stragglers.blame", "rank"},
    [BLAME_KIND] = {"stragglers.blame", "kind"},
    [BLAME_NAME] = {"stragglers.blame", "name"},
    [BLAME_WITHIN] = {"stragglers.blame", "within"},
    [BLAME_EXCESS] = {"stragglers.blame", "excess_ns"},
    [SAMPLE_RANK] = {"telemetry.by_rank", "rank"},
    [SAMPLE_DEVICE] = {"telemetry.by_rank", "device"},
    [SIGNAL] = {"telemetry.by_rank", "signal"},
    [SAMPLE_MEAN] = {"telemetry.by_rank", "mean"},
    [GPU_RANK] = {"gpu_time.by_rank", "rank"},
    [GPU_DEVICE] = {"gpu_time.by_rank", "device"},
    [COMPUTE] = {"gpu_time.by_rank", "compute_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
};

/* What the late rank costs that costs most; no table without one. */
static struct ta_place find_worst(const struct ta_refs *in)
{
    struct ta_place worst = {0};
    for (size_t row = 0; row < ta_ref_rows(in, COST); row++) {
        const struct ta_place cost = ta_place_at(in, COST, row);
        const struct ta_cell *late = ta_ref_cell(in, IS_LATE, row);
        if (cost.table && late->kind == TA_CELL_BOOL && late->b &&
            (!worst.table || cost.value > worst.value))
            worst = cost;
    }
    return worst;
}

/* The largest row of the blame that is about a rank; rows come by their excess. */
static struct ta_place blame_of(const struct ta_refs *in, double rank)
{
    for (size_t row = 0; row < ta_ref_rows(in, BLAME_EXCESS); row++)
        if (ta_ref_number(in, BLAME_RANK, row, NAN) == rank &&
            !ta_ref_reads(in, BLAME_KIND, row, "unexplained"))
            return ta_place_at(in, BLAME_EXCESS, row);
    return (struct ta_place){0};
}

/* ---- what is said --------------------------------------------------------------------------- */

/* "step 12" where it is not late from the start; NULL where it is. */
static const char *since(const struct ta_refs *in, struct ta_advice *advice,
                         const struct ta_place *rank)
{
    const double step = ta_ref_number(in, SINCE_STEP, rank->row, NAN);
    const double time = ta_ref_number(in, SINCE, rank->row, NAN);
    if (!isnan(step))
        return ta_advice_printf(advice, "step %.0f", step);
    if (!isnan(time))
        return ta_advice_printf(advice, "%s after its first collective",
                                ta_advice_number(advice, time, TA_UNIT_NS));
    return NULL;
}

static const char *what(const struct ta_refs *in, struct ta_advice *advice,
                        const struct ta_place *blame)
{
    const char *within = ta_place_text(advice, in, blame, BLAME_WITHIN);
    return ta_advice_printf(advice, "%s%s%s", ta_place_text(advice, in, blame, BLAME_NAME),
                            *within ? " in " : "", within);
}

/* Which rank, since when, how much; when it comes last tells something where it mostly does. */
static const char *verdict(const struct ta_refs *in, struct ta_advice *advice,
                           const struct ta_place *cost)
{
    const char *from = since(in, advice, cost);
    const double last = ta_place_beside(in, cost, LAST_ARRIVALS).value;
    const double all = ta_place_beside(in, cost, COLLECTIVES).value;
    const char *arrivals =
        last > all / 2
            ? ta_advice_printf(advice, ", and was the last to enter %.0f of %.0f", last, all)
            : "";
    return ta_advice_printf(
        advice, "%s%s rank %.0f takes %s longer between collectives than ranks that do the same%s.",
        from ? "Since " : "From the start of the recording", from ? from : "",
        ta_place_beside(in, cost, RANK).value,
        ta_advice_number(advice, ta_place_beside(in, cost, EXCESS).value, TA_UNIT_RATIO), arrivals);
}

static const char *kind_of(const struct ta_refs *in, const struct ta_place *blame)
{
    return ta_ref_reads(in, BLAME_KIND, blame->row, "gap")    ? "idle time of its device: "
           : ta_ref_reads(in, BLAME_KIND, blame->row, "copy") ? "the copy "
           : ta_ref_reads(in, BLAME_KIND, blame->row, "host") ? "the host, on "
                                                              : "the kernel ";
}

/* What it does meanwhile: the first of its rows, and the second where it tells something. */
static const char *chain(const struct ta_refs *in, struct ta_advice *advice,
                         const struct ta_place *blame)
{
    const double rank = ta_place_beside(in, blame, BLAME_RANK).value;
    struct ta_place second = {0};
    double all = 0;
    if (!blame->table)
        return "";
    for (size_t row = 0; row < ta_ref_rows(in, BLAME_EXCESS); row++) {
        const double excess = ta_ref_number(in, BLAME_EXCESS, row, 0);
        if (ta_ref_number(in, BLAME_RANK, row, NAN) != rank)
            continue;
        all += excess;
        if (row > blame->row && !second.table && !ta_ref_reads(in, BLAME_KIND, row, "unexplained"))
            second = ta_place_at(in, BLAME_EXCESS, row);
    }
    const bool both = second.table && second.value > SECOND_LEAST * all;
    return ta_advice_printf(advice, " Of what makes it late, %s (%s) goes to %s%s%s%s%s%s.",
                            ta_advice_number(advice, blame->value / all, TA_UNIT_RATIO),
                            ta_advice_number(advice, blame->value, TA_UNIT_NS), kind_of(in, blame),
                            what(in, advice, blame), both ? ", " : "",
                            both ? ta_advice_number(advice, second.value / all, TA_UNIT_RATIO) : "",
                            both ? ta_advice_printf(advice, " to %s", kind_of(in, &second)) : "",
                            both ? what(in, advice, &second) : "");
}

/* What it costs all of them. */
static const char *price(const struct ta_refs *in, struct ta_advice *advice,
                         const struct ta_place *cost)
{
    const double step = ta_ref_number(in, STEP_COST, cost->row, NAN);
    return ta_advice_printf(advice, " Without it the run would be %s shorter%s%s. ",
                            ta_advice_number(advice, cost->value, TA_UNIT_NS),
                            isnan(step) ? "" : ", each step ",
                            isnan(step) ? "" : ta_advice_number(advice, step, TA_UNIT_NS));
}

/* ---- what else is known of it --------------------------------------------------------------- */

/* Of a column, in the rows that a look takes but one. */
static double median_of_others(const struct ta_refs *in, const struct ta_look *look, size_t row)
{
    double values[OTHERS_MOST];
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, look->cells) && n < OTHERS_MOST; i++)
        if (i != row && ta_look_takes(in, look, i))
            values[n++] = ta_ref_number(in, look->cells, i, NAN);
    ta_sort_numbers(values, n);
    return ta_quantile(values, n, 0.5);
}

/* Its row of a signal that was sampled; samples of a tool beside the run have no rank, but the
 * number of the device, which tells where no other rank has the same. */
static size_t sampled(const struct ta_refs *in, double rank, const char *signal)
{
    double device = NAN;
    size_t same = 0;
    for (size_t row = 0; row < ta_ref_rows(in, GPU_RANK); row++)
        if (ta_ref_number(in, GPU_RANK, row, NAN) == rank)
            device = ta_ref_number(in, GPU_DEVICE, row, NAN);
    for (size_t row = 0; row < ta_ref_rows(in, GPU_DEVICE); row++)
        same += ta_ref_number(in, GPU_DEVICE, row, NAN) == device;
    for (size_t row = 0; row < ta_ref_rows(in, SIGNAL); row++) {
        const double of = ta_ref_number(in, SAMPLE_RANK, row, NAN);
        if (ta_ref_reads(in, SIGNAL, row, signal) &&
            (isnan(of) ? same == 1 && ta_ref_number(in, SAMPLE_DEVICE, row, NAN) == device
                       : of == rank))
            return row;
    }
    return SIZE_MAX;
}

/* A GPU that is hotter or slower than those of the others. */
static const char *telemetry(const struct ta_refs *in, struct ta_advice *advice, double rank)
{
    static const struct {
        const char *name, *before;
        enum ta_unit unit;
        double least; /* of the others, or of them less */
    } signals[] = {{"gpu_clock", "runs at ", TA_UNIT_HERTZ, 0.97},
                   {"gpu_temperature", "is at ", TA_UNIT_CELSIUS, 1.1}};
    const char *said = "";
    for (size_t i = 0; i < TA_LENGTH(signals); i++) {
        const struct ta_look look = {.cells = SAMPLE_MEAN, .where = {{SIGNAL, signals[i].name}}};
        const size_t row = sampled(in, rank, signals[i].name);
        if (row == SIZE_MAX)
            continue;
        const double its = ta_ref_number(in, SAMPLE_MEAN, row, NAN);
        const double others = median_of_others(in, &look, row);
        if (signals[i].least < 1 ? its <= signals[i].least * others
                                 : its >= signals[i].least * others)
            said = ta_advice_printf(advice, "%s%s%s%s, the others %s", said,
                                    *said ? ", and " : " Its GPU ", signals[i].before,
                                    ta_advice_number(advice, its, signals[i].unit),
                                    ta_advice_number(advice, others, signals[i].unit));
    }
    return *said ? ta_advice_printf(advice, "%s.", said) : "";
}

/* A rank whose device computes less than those of the others looks fast, while it is late. */
static const char *pseudo_fast(const struct ta_refs *in, struct ta_advice *advice, double rank,
                               const struct ta_place *blame)
{
    static const struct ta_look compute = {.cells = COMPUTE};
    if (!blame->table || !ta_ref_reads(in, BLAME_KIND, blame->row, "gap"))
        return "";
    for (size_t row = 0; row < ta_ref_rows(in, COMPUTE); row++) {
        if (ta_ref_number(in, GPU_RANK, row, NAN) != rank)
            continue;
        const double its = ta_ref_number(in, COMPUTE, row, NAN);
        const double others = median_of_others(in, &compute, row);
        if (its < 0.98 * others)
            return ta_advice_printf(
                advice,
                " It only looks fast: its device computes for %s, those of the others for %s.",
                ta_advice_number(advice, its, TA_UNIT_NS),
                ta_advice_number(advice, others, TA_UNIT_NS));
    }
    return "";
}

static const char *what_to_do(const struct ta_refs *in, const struct ta_place *blame)
{
    if (ta_ref_rows(in, WINDOW) == 0)
        return "Compare what its host does between collectives with the others, function by "
               "function, other processes on its cores, and the sizes of its inputs; a recording "
               "with device activities tells more.";
    if (!blame->table || ta_ref_reads(in, BLAME_KIND, blame->row, "kernel"))
        return "The same kernels take longer there, or it has more to compute: compare clocks, "
               "temperature and power of its GPU with the others (nvidia-smi dmon), other "
               "processes on it, and the sizes of its inputs.";
    if (ta_ref_reads(in, BLAME_KIND, blame->row, "copy"))
        return "Only this rank copies, or its link is slower: look where the copy is made, pin its "
               "host memory, and overlap it with computation.";
    const struct ta_slice name = ta_ref_text(in, BLAME_NAME, blame->row);
    if (name.len > 6 && ta_slice_starts(name, "queued"))
        return "Its device had work in its queue that waited for other work: look at what that "
               "stream waits for (events, copies, collectives of other groups) on this rank alone.";
    return "Its host comes late: look at what it does there, such as work for rank 0 alone "
           "(logging, saving, tokenizing), other processes on its cores, its NUMA node, garbage "
           "collection.";
}

/* ---- the rule ------------------------------------------------------------------------------- */

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const struct ta_place cost = find_worst(in);
    if (!cost.table)
        return TA_OK;
    const double window = ta_look_most(in, &windows, TA_MISSING);
    const double threshold = ta_ctx_option(ctx, SHARE);
    if (window > 0 && cost.value / window <= threshold)
        return TA_OK;
    const struct ta_place rank = ta_place_beside(in, &cost, RANK);
    const struct ta_place last = ta_place_beside(in, &cost, LAST_ARRIVALS);
    const struct ta_place all = ta_place_beside(in, &cost, COLLECTIVES);
    const struct ta_place excess = ta_place_beside(in, &cost, EXCESS);
    const struct ta_place held = ta_place_beside(in, &cost, HELD_UP);
    const struct ta_place blame = blame_of(in, rank.value);
    const struct ta_evidence evidence[] = {ta_place_evidence(&cost), ta_place_evidence(&excess),
                                           blame.table ? ta_place_evidence(&blame)
                                                       : ta_place_evidence(&rank),
                                           ta_place_evidence(&last), ta_place_evidence(&all)};
    const char *from = since(in, advice, &cost);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "straggler",
            .rule = "straggler",
            .title = ta_advice_printf(advice, "Rank %.0f holds up the others for %s%s%s%s%s",
                                      rank.value, ta_advice_number(advice, cost.value, TA_UNIT_NS),
                                      from ? ", since " : "", from ? from : "",
                                      blame.table ? ", most on " : "",
                                      blame.table ? what(in, advice, &blame) : ""),
            .advice = ta_advice_printf(
                advice, "%s%s%s%s%s%s", verdict(in, advice, &cost), chain(in, advice, &blame),
                pseudo_fast(in, advice, rank.value, &blame), telemetry(in, advice, rank.value),
                price(in, advice, &cost), what_to_do(in, &blame)),
            .severity =
                window > 0 && cost.value / window > ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns =
                ta_whole(fmin(cost.value, held.value / 2)), /* if others are late, too */
            .saving_high_ns = ta_whole(cost.value),
            .confidence = 0.9,
            .threshold = ta_advice_printf(
                advice, "late by the verdict on ranks, and costs > %s of the window",
                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, straggler, &ops, .title = "Straggler",
          .summary = "Fires when one rank makes the others wait in collectives", .version = "1",
          .options = options);
