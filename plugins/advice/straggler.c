/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank that the others wait for in collectives, with what it does meanwhile. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE, HIGH };

enum { OTHERS_MOST = 1024 }; /* that a rank is compared with */

static const double SECOND_LEAST = 0.1; /* share from which a second cause is told */
static const double CLOCK_LOW = 0.97;   /* of the clock of the others: a lower one is slower */

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
    LIMIT_RANK,
    LIMIT,
    LIMIT_CLOCK,
    LIMIT_HEAT,
    GPU_RANK,
    GPU_DEVICE,
    COMPUTE,
    WINDOW_RANK,
    WINDOW,
    ALONE_RANK,
    ALONE,
    UNEVEN_RANK,
    UNEVEN
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

/* ---- the clock of its GPU ------------------------------------------------------------------- */

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

/* The row of a signal of a rank's GPU; a rank may sample all devices of its host. */
static size_t sampled(const struct ta_refs *in, double rank, const char *signal)
{
    size_t found = SIZE_MAX, n = 0;
    double device = NAN;
    for (size_t row = 0; row < ta_ref_rows(in, GPU_RANK); row++)
        if (ta_ref_number(in, GPU_RANK, row, NAN) == rank)
            device = ta_ref_number(in, GPU_DEVICE, row, NAN);
    for (size_t row = 0; row < ta_ref_rows(in, SIGNAL); row++) {
        if (!ta_ref_reads(in, SIGNAL, row, signal) ||
            ta_ref_number(in, SAMPLE_RANK, row, NAN) != rank)
            continue;
        if (ta_ref_number(in, SAMPLE_DEVICE, row, NAN) == device)
            return row;
        found = row;
        n++;
    }
    return n == 1 ? found : SIZE_MAX;
}

/* A clock below the others, which explains at least half of what its kernels take longer.
 */
struct slow_clock {
    bool is_cause;
    double its, others; /* Hz */
    double heat;        /* °C at which the GPU lowers it; NAN where heat is not known to be why */
};

static struct slow_clock slow_clock_of(const struct ta_refs *in, double rank, double excess,
                                       const struct ta_place *blame)
{
    static const char *const by_heat[] = {"gpu_thermal_slowdown", "gpu_hardware_thermal_slowdown",
                                          "temperature"};
    static const struct ta_look clocks = {.cells = SAMPLE_MEAN, .where = {{SIGNAL, "gpu_clock"}}};
    struct slow_clock slow = {.heat = NAN};
    const size_t row = sampled(in, rank, "gpu_clock");
    if (row == SIZE_MAX || (blame->table && !ta_ref_reads(in, BLAME_KIND, blame->row, "kernel")))
        return slow;
    slow.its = ta_ref_number(in, SAMPLE_MEAN, row, NAN);
    slow.others = median_of_others(in, &clocks, row);
    slow.is_cause = slow.others / slow.its - 1 >= excess / 2 && slow.its <= CLOCK_LOW * slow.others;
    for (size_t limit = 0; slow.is_cause && limit < ta_ref_rows(in, LIMIT); limit++)
        for (size_t i = 0; i < TA_LENGTH(by_heat); i++)
            if (ta_ref_number(in, LIMIT_RANK, limit, NAN) == rank &&
                ta_ref_reads(in, LIMIT, limit, by_heat[i])) {
                slow.heat = ta_ref_number(in, LIMIT_HEAT, limit, NAN);
                slow.its = ta_ref_number(in, LIMIT_CLOCK, limit, slow.its);
            }
    return slow;
}

/* ", because heat (91 °C) lowers its GPU's clock to 1 410 MHz (the others: 1 965 MHz)" */
static const char *because(struct ta_advice *advice, const struct slow_clock *slow)
{
    const char *its = ta_advice_number(advice, slow->its, TA_UNIT_HERTZ);
    const char *others = ta_advice_number(advice, slow->others, TA_UNIT_HERTZ);
    return isnan(slow->heat)
               ? ta_advice_printf(advice,
                                  ", because its GPU runs at a lower clock (%s, the others at %s)",
                                  its, others)
               : ta_advice_printf(
                     advice, ", because heat (%s) lowers its GPU's clock to %s (the others: %s)",
                     ta_advice_number(advice, slow->heat, TA_UNIT_CELSIUS), its, others);
}

static const char *what_to_do_with_clock(const struct slow_clock *slow)
{
    return isnan(slow->heat)
               ? "Find out why that clock is lower (`nvidia-smi -q -d PERFORMANCE,CLOCK`): a power "
                 "cap, a fixed clock, heat or another process on that GPU."
               : "Improve the cooling of that GPU (air flow, fans); a lower power limit "
                 "(nvidia-smi -pl) keeps its clock steady and costs less than the slowdown.";
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
        return ta_advice_printf(advice, "idle time of its GPU (%s%s)", name, place);
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

/* ", mainly for a copy": a first cause of less than that is none that a title names. */
static const char *mainly(const struct ta_refs *in, struct ta_advice *advice,
                          const struct ta_place *blame)
{
    static const double least = 1. / 3;
    return blame->table && blame->value >= least * all_of(in, blame)
               ? ta_advice_printf(advice, ", mainly for %s", what(in, advice, blame))
               : "";
}

/* How much longer it takes, and on what. */
static const char *why(const struct ta_refs *in, struct ta_advice *advice,
                       const struct ta_place *cost, const struct ta_place *blame,
                       const struct slow_clock *slow)
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

/* A GPU that is hotter or slower than the GPUs of the other ranks. */
static const char *telemetry(const struct ta_refs *in, struct ta_advice *advice, double rank)
{
    static const struct {
        const char *name, *before;
        enum ta_unit unit;
        double least; /* of the others, or of them less */
    } signals[] = {{"gpu_clock", "runs at ", TA_UNIT_HERTZ, CLOCK_LOW},
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
            said = ta_advice_printf(
                advice, "%s%s%s%s, the others %s", said,
                *said ? ", and " : ta_advice_printf(advice, " The GPU of rank %.0f ", rank),
                signals[i].before, ta_advice_number(advice, its, signals[i].unit),
                ta_advice_number(advice, others, signals[i].unit));
    }
    return *said ? ta_advice_printf(advice, "%s.", said) : "";
}

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
        const double others = median_of_others(in, &compute, row);
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
                              const struct slow_clock *slow)
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
        pseudo_fast(in, advice, rank, blame), slow->is_cause ? "" : telemetry(in, advice, rank));
    return *text ? text + 1 : NULL; /* without the first space */
}

/* How much later it ends than the others, beyond what they wait for it in collectives. */
static double ends_later(const struct ta_refs *in, double rank)
{
    static const struct ta_look windows = {.cells = WINDOW};
    for (size_t row = 0; row < ta_ref_rows(in, WINDOW); row++)
        if (ta_ref_number(in, WINDOW_RANK, row, NAN) == rank)
            return fmax(0, ta_ref_number(in, WINDOW, row, 0) - median_of_others(in, &windows, row));
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
            return fmax(0,
                        ta_ref_number(in, COMPUTE, row, 0) - median_of_others(in, &compute, row));
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
    const struct slow_clock slow = slow_clock_of(in, rank.value, excess.value, &blame);
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
                slow.is_cause ? because(advice, &slow) : mainly(in, advice, &blame)),
            .why = why(in, advice, &cost, &blame, &slow),
            .advice = slow.is_cause ? what_to_do_with_clock(&slow)
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
