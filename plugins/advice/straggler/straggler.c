/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank that the others wait for in collectives, with what it does meanwhile. */
#include "recommend/rule.h"
#include "straggler.h"

#include <math.h>

enum { SHARE, HIGH };

static const double SECOND_LEAST = 0.1; /* share from which a second cause is told */

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
               "Time that it costs the run, over the longest window of a device, from "
               "which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
              "The same share above which it is severe"},
    TA_OPTIONS_END,
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
    [LIMIT_RANK] = {"telemetry.limits", "rank"},
    [LIMIT] = {"telemetry.limits", "limit"},
    [LIMIT_CLOCK] = {"telemetry.limits", "clock"},
    [LIMIT_HEAT] = {"telemetry.limits", "temperature"},
    [GPU_RANK] = {"gpu_time.by_rank", "rank"},
    [GPU_DEVICE] = {"gpu_time.by_rank", "device"},
    [COMPUTE] = {"gpu_time.by_rank", "compute_ns"},
    [WINDOW_RANK] = {"gpu_time.program", "rank"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [ALONE_RANK] = {"phases.alone", "rank"},
    [ALONE] = {"phases.alone", "time_ns"},
    [UNEVEN_RANK] = {"phases.uneven", "rank"},
    [UNEVEN] = {"phases.uneven", "extra_ns"},
};

/* Whether at least half of what it costs is a phase that the rank is in alone, such as decoding, or
 * works longer in than the others: that is no slow rank, and has a finding. */
static bool is_in_phase(const struct ta_refs *in, size_t row)
{
    double alone = 0;
    for (size_t i = 0; i < ta_ref_rows(in, ALONE); i++)
        if (ta_ref_number(in, ALONE_RANK, i, NAN) == ta_ref_number(in, RANK, row, -1))
            alone += ta_ref_number(in, ALONE, i, 0);
    for (size_t i = 0; i < ta_ref_rows(in, UNEVEN); i++)
        if (ta_ref_number(in, UNEVEN_RANK, i, NAN) == ta_ref_number(in, RANK, row, -1))
            alone += ta_ref_number(in, UNEVEN, i, 0);
    return 2 * alone >= ta_ref_number(in, COST, row, 0);
}

/* What the late rank costs that costs most; no table without one. */
static struct ta_place find_worst(const struct ta_refs *in)
{
    struct ta_place worst = {0};
    for (size_t row = 0; row < ta_ref_rows(in, COST); row++) {
        const struct ta_place cost = ta_place_at(in, COST, row);
        const struct ta_cell *late = ta_ref_cell(in, IS_LATE, row);
        if (cost.table && late->kind == TA_CELL_BOOL && late->b &&
            (!worst.table || cost.value > worst.value) && !is_in_phase(in, row))
            worst = cost;
    }
    return worst;
}

/* The largest root cause of a rank; rows come by their excess. */
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

/* "a pageable host-to-device copy" for "Memcpy HtoD (Pageable -> Device)". */
static const char *copy_name(struct ta_advice *advice, struct ta_slice name)
{
    static const struct {
        const char *word, *said;
    } ways[] = {{"HtoD", "host-to-device "},
                {"DtoH", "device-to-host "},
                {"PtoP", "peer-to-peer "},
                {"DtoD", "device-to-device "}};
    const char *way = "";
    for (size_t i = 0; i < TA_LENGTH(ways) && !*way; i++)
        way = ta_slice_has_word(name, ways[i].word) ? ways[i].said : "";
    return ta_advice_printf(advice, "a %s%scopy",
                            ta_slice_has_word(name, "pageable") ? "pageable " : "", way);
}

/* "a pageable host-to-device copy in `aten::copy_`", "`gemm` in `aten::mm`", "idle time of its GPU
 * (operator dispatch in `aten::cat`)". */
static const char *what(const struct ta_refs *in, struct ta_advice *advice,
                        const struct ta_place *blame)
{
    const char *within = ta_place_text(advice, in, blame, BLAME_WITHIN);
    const char *name = ta_place_text(advice, in, blame, BLAME_NAME);
    const char *place = *within ? ta_advice_printf(advice, " in `%s`", within) : "";
    if (ta_ref_reads(in, BLAME_KIND, blame->row, "gap"))
        return ta_ref_reads(in, BLAME_NAME, blame->row, "host computation")
                   ? ta_advice_printf(advice, "host computation%s", place)
                   : ta_advice_printf(advice, "idle time of its GPU (%s%s)", name, place);
    if (ta_ref_reads(in, BLAME_KIND, blame->row, "copy"))
        return ta_advice_printf(advice, "%s%s",
                                copy_name(advice, ta_ref_text(in, BLAME_NAME, blame->row)), place);
    return ta_advice_printf(advice, "%s`%s`%s",
                            ta_ref_reads(in, BLAME_KIND, blame->row, "host") ? "its host in " : "",
                            name, place);
}

/* Sum of what makes it late. */
static double all_of(const struct ta_refs *in, const struct ta_place *blame)
{
    const double rank = ta_place_beside(in, blame, BLAME_RANK).value;
    double all = 0;
    for (size_t row = 0; row < ta_ref_rows(in, BLAME_EXCESS); row++)
        if (ta_ref_number(in, BLAME_RANK, row, NAN) == rank)
            all += ta_ref_number(in, BLAME_EXCESS, row, 0);
    return all;
}

/* Rows of the rank, and their sum, with the same kind and name: one cause in several places. */
static size_t count_alike(const struct ta_refs *in, const struct ta_place *blame, double *excess)
{
    const double rank = ta_place_beside(in, blame, BLAME_RANK).value;
    size_t n = 0;
    *excess = 0;
    for (size_t row = 0; row < ta_ref_rows(in, BLAME_EXCESS); row++)
        if (ta_ref_number(in, BLAME_RANK, row, NAN) == rank &&
            ta_slice_equal(ta_ref_text(in, BLAME_KIND, row),
                           ta_ref_text(in, BLAME_KIND, blame->row)) &&
            ta_slice_equal(ta_ref_text(in, BLAME_NAME, row),
                           ta_ref_text(in, BLAME_NAME, blame->row))) {
            *excess += ta_ref_number(in, BLAME_EXCESS, row, 0);
            n++;
        }
    return n;
}

/* The next row that explains the delay of the rank, where it matters. */
static struct ta_place second_of(const struct ta_refs *in, const struct ta_place *blame, double all)
{
    const double rank = ta_place_beside(in, blame, BLAME_RANK).value;
    for (size_t row = blame->row + 1; row < ta_ref_rows(in, BLAME_EXCESS); row++)
        if (ta_ref_number(in, BLAME_RANK, row, NAN) == rank &&
            !ta_ref_reads(in, BLAME_KIND, row, "unexplained"))
            return ta_ref_number(in, BLAME_EXCESS, row, 0) > SECOND_LEAST * all
                       ? ta_place_at(in, BLAME_EXCESS, row)
                       : (struct ta_place){0};
    return (struct ta_place){0};
}

/* ", mainly for a copy", or ", for a copy and `gemm`" where two causes matter: a first cause of
 * less than that is none that a title names. */
static const char *mainly(const struct ta_refs *in, struct ta_advice *advice,
                          const struct ta_place *blame)
{
    static const double least = 1. / 3;
    if (!blame->table || blame->value < least * all_of(in, blame))
        return "";
    const struct ta_place second = second_of(in, blame, all_of(in, blame));
    const char *first = what(in, advice, blame);
    return second.table && 2 * second.value >= blame->value
               ? ta_advice_printf(advice, ", for %s and %s", first, what(in, advice, &second))
               : ta_advice_printf(advice, ", mainly for %s", first);
}

/* How much longer it takes, and on what. */
static const char *why(const struct ta_refs *in, struct ta_advice *advice,
                       const struct ta_place *cost, const struct ta_place *blame,
                       const struct ta_slow_clock *slow)
{
    const char *longer = ta_advice_printf(
        advice, "Rank %.0f takes %s longer between collectives than ranks that do the same",
        ta_place_beside(in, cost, RANK).value,
        ta_advice_number(advice, ta_place_beside(in, cost, EXCESS).value, TA_UNIT_RATIO));
    if (slow->is_cause)
        return ta_advice_printf(
            advice, "%s, at a clock that is %s lower.", longer,
            ta_advice_number(advice, 1 - slow->its / slow->others, TA_UNIT_RATIO));
    if (!blame->table)
        return ta_advice_printf(advice, "%s.", longer);
    const double all = all_of(in, blame);
    double alike;
    const size_t places = count_alike(in, blame, &alike);
    if (places > 1 && ta_ref_reads(in, BLAME_KIND, blame->row, "gap"))
        return ta_advice_printf(advice,
                                "%s: %s of that is idle time of its GPU (%s in %zu places).",
                                longer, ta_advice_number(advice, alike / all, TA_UNIT_RATIO),
                                ta_place_text(advice, in, blame, BLAME_NAME), places);
    const struct ta_place second = second_of(in, blame, all);
    return ta_advice_printf(
        advice, "%s: %s of that is %s%s%s%s%s.", longer,
        ta_advice_number(advice, blame->value / all, TA_UNIT_RATIO), what(in, advice, blame),
        second.table ? ", " : "",
        second.table ? ta_advice_number(advice, second.value / all, TA_UNIT_RATIO) : "",
        second.table ? " " : "", second.table ? what(in, advice, &second) : "");
}

/* ---- what else is known of it --------------------------------------------------------------- */

/* A rank whose device computes less than the others' looks fast, while it is late. */
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
        const double others = straggler_median_of_others(in, &compute, row);
        if (its < 0.98 * others)
            return ta_advice_printf(
                advice,
                " The GPU of rank %.0f computes for %s, the others' for %s: it only looks fast.",
                rank, ta_advice_number(advice, its, TA_UNIT_NS),
                ta_advice_number(advice, others, TA_UNIT_NS));
    }
    return "";
}

static const char *what_to_do(const struct ta_refs *in, struct ta_advice *advice, double rank,
                              const struct ta_place *blame)
{
    if (ta_ref_rows(in, WINDOW) == 0)
        return ta_advice_printf(advice,
                                "Compare what the host of rank %.0f does between collectives with "
                                "the others, and the sizes of its inputs; record device "
                                "activities, too.",
                                rank);
    if (!blame->table || ta_ref_reads(in, BLAME_KIND, blame->row, "kernel"))
        return ta_advice_printf(advice,
                                "Give rank %.0f the same work (sizes of its inputs), and compare "
                                "clock, temperature and power of its GPU with the others "
                                "(`nvidia-smi dmon`).",
                                rank);
    if (ta_ref_reads(in, BLAME_KIND, blame->row, "copy"))
        return ta_advice_printf(
            advice,
            ta_slice_has_word(ta_ref_text(in, BLAME_NAME, blame->row), "pageable")
                ? "Pin the host memory that rank %.0f copies, and copy with `non_blocking=True` on "
                  "a stream of its own, or leave the copy out: the other ranks make none as long."
                : "Leave that copy of rank %.0f out, or make it on a stream of its own while the "
                  "rank computes: the other ranks make none as long.",
            rank);
    const struct ta_slice name = ta_ref_text(in, BLAME_NAME, blame->row);
    if (ta_slice_starts(name, "queued"))
        return ta_advice_printf(advice,
                                "Look at what that stream of rank %.0f waits for (events, copies, "
                                "collectives of other groups) and the others do not.",
                                rank);
    if (ta_slice_equal(name, TA_LIT("late start")))
        return ta_advice_printf(advice,
                                "Look for kernels, copies or events that the collectives of rank "
                                "%.0f wait for and the others do not: these collectives were "
                                "launched in time and begin late.",
                                rank);
    return ta_advice_printf(advice,
                            "Look at what the host of rank %.0f does there that the others do not: "
                            "work of one rank alone (logging, saving, tokenizing), other processes "
                            "on its cores, its NUMA node, garbage collection.",
                            rank);
}

/* How often it comes last is worth saying where it mostly does. */
static const char *details_of(const struct ta_refs *in, struct ta_advice *advice,
                              const struct ta_place *cost, const struct ta_place *blame,
                              const struct ta_slow_clock *slow)
{
    const double last = ta_place_beside(in, cost, LAST_ARRIVALS).value;
    const double all = ta_place_beside(in, cost, COLLECTIVES).value;
    const double step = ta_ref_number(in, STEP_COST, cost->row, NAN);
    const double rank = ta_place_beside(in, cost, RANK).value;
    const char *text = ta_advice_printf(
        advice, "%s%s%s%s",
        last > all / 2
            ? ta_advice_printf(advice, " Rank %.0f comes last to %.0f of %.0f collectives.", rank,
                               last, all)
            : "",
        isnan(step) ? ""
                    : ta_advice_printf(advice, " Without its delay a step is %s shorter.",
                                       ta_advice_number(advice, step, TA_UNIT_NS)),
        pseudo_fast(in, advice, rank, blame),
        slow->is_cause ? "" : straggler_telemetry(in, advice, rank));
    return *text ? text + 1 : NULL; /* without the first space */
}

/* How much later it ends than the others, beyond what they wait for it in collectives. */
static double ends_later(const struct ta_refs *in, double rank)
{
    static const struct ta_look windows = {.cells = WINDOW};
    for (size_t row = 0; row < ta_ref_rows(in, WINDOW); row++)
        if (ta_ref_number(in, WINDOW_RANK, row, NAN) == rank)
            return fmax(0, ta_ref_number(in, WINDOW, row, 0) -
                               straggler_median_of_others(in, &windows, row));
    return 0;
}

/* How much longer its GPU computes than the others: by that it is late before its first collective
 * and after its last one, too. */
static double computes_longer(const struct ta_refs *in, double rank, const struct ta_place *blame)
{
    static const struct ta_look compute = {.cells = COMPUTE};
    if (!blame->table || !ta_ref_reads(in, BLAME_KIND, blame->row, "kernel"))
        return 0;
    for (size_t row = 0; row < ta_ref_rows(in, COMPUTE); row++)
        if (ta_ref_number(in, GPU_RANK, row, NAN) == rank)
            return fmax(0, ta_ref_number(in, COMPUTE, row, 0) -
                               straggler_median_of_others(in, &compute, row));
    return 0;
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
    const double delay =
        fmax(cost.value + ends_later(in, rank.value), computes_longer(in, rank.value, &blame));
    const struct ta_slow_clock slow = straggler_clock(in, rank.value, excess.value, &blame);
    const char *from = since(in, advice, &cost);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "straggler",
            .rule = "straggler",
            .effect = blame.table && ta_ref_reads(in, BLAME_KIND, blame.row, "copy")
                          ? TA_EFFECT_HOST_COPY
                          : TA_EFFECT_OTHER,
            .title = ta_advice_printf(
                advice,
                "Rank %.0f is the straggler%s%s: waiting for it makes the run %s longer%s%s",
                rank.value, from ? " since " : "", from ? from : "",
                ta_advice_number(advice, cost.value, TA_UNIT_NS),
                window > 0
                    ? ta_advice_printf(advice, " (%s of the run)",
                                       ta_advice_number(advice, cost.value / window, TA_UNIT_RATIO))
                    : "",
                slow.is_cause ? ta_slow_clock_because(advice, &slow) : mainly(in, advice, &blame)),
            .why = why(in, advice, &cost, &blame, &slow),
            .advice = slow.is_cause ? ta_slow_clock_advice(advice, &slow, rank.value)
                                    : what_to_do(in, advice, rank.value, &blame),
            .details = details_of(in, advice, &cost, &blame, &slow),
            .severity =
                window > 0 && cost.value / window > ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = sizeof evidence / sizeof *evidence,
            .saving_low_ns = ta_whole(
                fmax(delay / 3, fmin(cost.value, held.value / 2))), /* others are late, too */
            .saving_high_ns = ta_whole(delay),
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
