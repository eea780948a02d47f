/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices whose clock is lowered while they work: by heat, by the hardware, by the power cap. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>
#include <traceanalyze/stat.h>

#include <math.h>
#include <stdlib.h>

enum { SHARE, POWER_SHARE, LOSS };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
               "Share of the busy samples in which heat or the hardware lowers the clock, above "
               "which the rule fires"},
    [POWER_SHARE] = {"power_share", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
                     "Share of the busy samples at the power cap, above which the rule fires"},
    [LOSS] =
        {"loss", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
         "Share of the busy time that a low clock without a known reason takes, above which the "
         "rule fires"},
    TA_OPTIONS_END,
};

enum {
    LIMIT,
    PART,
    SAMPLE,
    SINCE,
    HEAT,
    CLOCK,
    CLOCK_ELSE,
    CLOCK_MAX,
    POWER,
    POWER_ELSE,
    POWER_LIMIT,
    IN_TRACE,
    TIME,
    WINDOW,
    STEP_START,
    STEP_TIME,
    STEP_COUNTED,
    STEP_PART,
    STEP_KINDS,
    LOST,
    STEPS,
    RHO,
    SAMPLED
};

static const struct ta_ref reads[] = {
    [LIMIT] = {"telemetry.limits", "limit"},
    [SAMPLED] = {"telemetry.by_rank", "signal"},
    [PART] = {"telemetry.limits", "share"},
    [SAMPLE] = {"telemetry.limits", "sample"},
    [SINCE] = {"telemetry.limits", "since_ns"},
    [HEAT] = {"telemetry.limits", "temperature"},
    [CLOCK] = {"telemetry.limits", "clock"},
    [CLOCK_ELSE] = {"telemetry.limits", "clock_else"},
    [CLOCK_MAX] = {"telemetry.limits", "clock_max"},
    [POWER] = {"telemetry.limits", "power"},
    [POWER_ELSE] = {"telemetry.limits", "power_else"},
    [POWER_LIMIT] = {"telemetry.limits", "power_limit"},
    [IN_TRACE] = {"telemetry.limits", "in_trace_ns"},
    [TIME] = {"telemetry.limits", "time_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [STEP_START] = {"steps.by_step", "host_start_ns"},
    [STEP_TIME] = {"steps.by_step", "host_dur_ns"},
    [STEP_COUNTED] = {"steps.by_step", "counted_ns"},
    [STEP_PART] = {"steps.by_step", "part"},
    [STEP_KINDS] = {"steps.by_kind", "steps"},
    [LOST] = {"telemetry.limits", "lost_ns"},
    [STEPS] = {"telemetry.limits", "steps"},
    [RHO] = {"telemetry.limits", "step_rho"},
};

enum cause { BY_HEAT, BY_HARDWARE, BY_POWER, BY_NOTHING, CAUSES };

static const struct limit {
    const char *word;
    enum cause cause;
    const char *called;
} limits[] = {
    {"gpu_thermal_slowdown", BY_HEAT, "The driver reports a thermal slowdown"},
    {"gpu_hardware_thermal_slowdown", BY_HEAT, "The hardware reports a thermal slowdown"},
    {"temperature", BY_HEAT,
     "The clock falls for good on a hot GPU, and the driver does not say why"},
    {"gpu_hardware_slowdown", BY_HARDWARE, "The driver reports a hardware slowdown"},
    {"gpu_power_brake", BY_HARDWARE, "The driver reports the power brake of the supply"},
    {"gpu_power_cap", BY_POWER, "power cap"},
    {"power_limit", BY_POWER, "power at its limit"},
    {"low_clock", BY_NOTHING, "Nothing that was recorded says why"},
};

static const struct {
    const char *id, *advice, *predicate;
    enum ta_severity severity;
} causes[CAUSES] = {
    [BY_HEAT] = {"heat-slowdown",
                 "Improve the cooling (air flow, fans); a lower power limit (nvidia-smi -pl) "
                 "keeps the clock steady and costs less than the slowdown.",
                 "share of busy samples", TA_HIGH},
    [BY_HARDWARE] = {"hardware-slowdown",
                     "Check the power supply, its cables and the cooling; nvidia-smi -q -d "
                     "PERFORMANCE names the reason.",
                     "share of busy samples", TA_HIGH},
    [BY_POWER] = {"power-cap",
                  "Raise the limit where the GPU allows it (nvidia-smi -pl); a cap is usual under "
                  "full load.",
                  "share of busy samples", TA_INFO},
    [BY_NOTHING] = {"low-clock",
                    "Record why with nvidia-smi "
                    "--query-gpu=clocks_event_reasons.active,power.draw,temperature.gpu; the usual "
                    "cause is another process on the GPU or a fixed clock.",
                    "busy time that the low clock takes", TA_LOW},
};

static const struct limit *limit_of(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (ta_ref_reads(in, LIMIT, row, limits[i].word))
            return &limits[i];
    return NULL;
}

/* The clock that the device has without the limit: else, or the most it may have. */
static double free_clock(const struct ta_refs *in, size_t row)
{
    const double otherwise = ta_ref_number(in, CLOCK_ELSE, row, NAN);
    const double most = ta_ref_number(in, CLOCK_MAX, row, NAN);
    const struct limit *limit = limit_of(in, row);
    const bool is_power = limit && limit->cause == BY_POWER;
    return isnan(otherwise) || (is_power && !isnan(most)) ? most : otherwise;
}

/* A flag slows nothing while the clock stays. */
static bool is_slower(const struct ta_refs *in, size_t row)
{
    return !(ta_ref_number(in, CLOCK, row, NAN) > 0.98 * free_clock(in, row));
}

static const char *number(struct ta_advice *advice, double value, enum ta_unit unit)
{
    return ta_advice_number(advice, value, unit);
}

/* "; before it, the power cap of 350 W held the clock" */
static const char *before_it(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, LIMIT); i++) {
        const double watt = ta_ref_number(in, POWER_LIMIT, i, NAN);
        if (ta_ref_reads(in, LIMIT, i, "gpu_power_cap") &&
            ta_ref_rank(in, LIMIT, i) == ta_ref_rank(in, LIMIT, row) &&
            ta_ref_device(in, LIMIT, i) == ta_ref_device(in, LIMIT, row) &&
            ta_ref_integer(in, SAMPLE, i) < ta_ref_integer(in, SAMPLE, row))
            return isnan(watt)
                       ? "; before it, the power cap held the clock"
                       : ta_advice_printf(advice, "; before it, the power cap of %s held the clock",
                                          number(advice, watt, TA_UNIT_WATT));
    }
    return "";
}

/* The median time of the steps that begin before a moment of the trace, or from it on; those that
 * set the run up are none.  NAN for too few. */
static double median_step(const struct ta_refs *in, double *times, int64_t moment, bool after)
{
    enum { LEAST = 3 };
    size_t n = 0, column = STEP_TIME;
    for (size_t i = 0; i < ta_ref_rows(in, STEP_COUNTED); i++)
        if (!isnan(ta_ref_number(in, STEP_COUNTED, i, NAN)))
            column = STEP_COUNTED; /* where markers are not the time of their steps */
    for (size_t i = 0; i < ta_ref_rows(in, STEP_START); i++) {
        const int64_t start = ta_ref_integer(in, STEP_START, i);
        const double time = ta_ref_number(in, column, i, NAN);
        if (start != TA_MISSING && !isnan(time) && (start >= moment) == after &&
            ta_ref_text(in, STEP_PART, i).len == 0)
            times[n++] = time;
    }
    ta_sort_numbers(times, n);
    return n >= LEAST ? ta_quantile(times, n, 0.5) : NAN;
}

/* Whether a rank has steps of several kinds, such as prefill and decoding. */
static bool has_kinds(const struct ta_refs *in)
{
    for (size_t i = 1; i < ta_ref_rows(in, STEP_KINDS); i++)
        if (ta_ref_rank(in, STEP_KINDS, i) == ta_ref_rank(in, STEP_KINDS, i - 1))
            return true;
    return false;
}

/* "; steps take 1.50 s from there on, 1.00 s before"; nothing where they are of several kinds. */
static const char *what_it_costs(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const int64_t moment = ta_ref_integer(in, IN_TRACE, row);
    const size_t n = ta_ref_rows(in, STEP_START);
    if (moment == TA_MISSING || n == 0 || has_kinds(in))
        return "";
    double *times = calloc(n, sizeof *times);
    if (!times) {
        ta_advice_fail(advice);
        return "";
    }
    const double before = median_step(in, times, moment, false);
    const double after = median_step(in, times, moment, true);
    free(times);
    return after > 1.03 * before
               ? ta_advice_printf(advice, "; steps take %s from there on, %s before",
                                  number(advice, after, TA_UNIT_NS),
                                  number(advice, before, TA_UNIT_NS))
               : "";
}

/* " from 1740 MHz to 1185 MHz", as far as it is known. */
static const char *fall_of(struct ta_advice *advice, double from, double to, enum ta_unit unit)
{
    const char *before =
        isnan(from) ? "" : ta_advice_printf(advice, " from %s", number(advice, from, unit));
    return isnan(to) ? before
                     : ta_advice_printf(advice, "%s to %s", before, number(advice, to, unit));
}

static const char *title_of(const struct ta_refs *in, struct ta_advice *advice, size_t row,
                            const struct ta_place *part)
{
    const struct limit *limit = limit_of(in, row);
    const double clock = ta_ref_number(in, CLOCK, row, NAN),
                 heat = ta_ref_number(in, HEAT, row, NAN);
    const double otherwise = free_clock(in, row), watt = ta_ref_number(in, POWER_LIMIT, row, NAN);
    const char *owner = ta_place_owner(advice, in->report, part);
    const char *share = number(advice, part->value, TA_UNIT_RATIO);
    const char *cap =
        isnan(watt) ? "" : ta_advice_printf(advice, " of %s", number(advice, watt, TA_UNIT_WATT));
    if (limit->cause == BY_POWER && isnan(clock))
        return ta_advice_printf(advice, "The power cap%s holds the GPU in %s of the busy samples%s",
                                cap, share, owner);
    if (limit->cause == BY_POWER)
        return ta_advice_printf(
            advice, "The power cap%s holds the GPU clock at %s%s in %s of the busy samples%s", cap,
            number(advice, clock, TA_UNIT_HERTZ),
            isnan(otherwise)
                ? ""
                : ta_advice_printf(advice, " of %s", number(advice, otherwise, TA_UNIT_HERTZ)),
            share, owner);
    if (limit->cause == BY_NOTHING)
        return ta_advice_printf(advice, "The GPU clock falls%s in %s of the busy samples%s",
                                fall_of(advice, otherwise, clock, TA_UNIT_HERTZ), share, owner);
    const bool is_power = isnan(clock) && !isnan(ta_ref_number(in, POWER, row, NAN));
    const double since = ta_ref_number(in, SINCE, row, 0);
    return ta_advice_printf(
        advice, "%s lowers the GPU %s%s in %s of the busy samples%s%s%s%s",
        limit->cause == BY_HEAT ? "Heat" : "The hardware", is_power ? "power" : "clock",
        is_power ? fall_of(advice, ta_ref_number(in, POWER_ELSE, row, NAN),
                           ta_ref_number(in, POWER, row, NAN), TA_UNIT_WATT)
                 : fall_of(advice, otherwise, clock, TA_UNIT_HERTZ),
        share,
        since > 0 ? ta_advice_printf(advice, ", from %s on", number(advice, since, TA_UNIT_NS))
                  : "",
        isnan(heat) ? "" : " at ", isnan(heat) ? "" : number(advice, heat, TA_UNIT_CELSIUS), owner);
}

/* From this correlation on the clock slows the steps. */
#define FOLLOWS (-0.5)

/* "; steps take longer the lower the clock is (correlation −0.82 over 40 steps)" */
static const char *how_steps_follow(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const double rho = ta_ref_number(in, RHO, row, NAN);
    if (isnan(rho))
        return "";
    return rho <= FOLLOWS
               ? ta_advice_printf(
                     advice,
                     "; steps take longer the lower the clock is (correlation %.2f over %.0f "
                     "steps)",
                     rho, ta_ref_number(in, STEPS, row, 0))
               : ta_advice_printf(advice,
                                  "; the times of steps do not follow the clock (correlation %.2f "
                                  "over %.0f steps)",
                                  rho, ta_ref_number(in, STEPS, row, 0));
}

static const char *why_of(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const struct limit *limit = limit_of(in, row);
    if (limit->cause == BY_POWER)
        return NULL;
    return ta_advice_printf(advice, "%s%s%s%s.", limit->called,
                            limit->cause == BY_NOTHING ? "" : before_it(in, advice, row),
                            what_it_costs(in, advice, row), how_steps_follow(in, advice, row));
}

/* A power cap at full load is usual: what it costs counts where the clock falls because of it, or
 * is far below what the device can do. */
#define FALLS 0.9
#define FAR_BELOW 0.75

/* What the lower clock takes, of the run where one was recorded: work that computes gains all of
 * it, work that memory or the host bounds little.  NAN where it is not known or usual. */
static double lost_ns(const struct ta_refs *in, size_t row)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const double clock = ta_ref_number(in, CLOCK, row, NAN);
    const double otherwise = ta_ref_number(in, CLOCK_ELSE, row, NAN);
    const double most = ta_ref_number(in, CLOCK_MAX, row, NAN);
    const double window = ta_look_most(in, &windows, TA_MISSING);
    const double time =
        window > 0 ? ta_ref_number(in, PART, row, 0) * window : ta_ref_number(in, TIME, row, NAN);
    if (limit_of(in, row)->cause == BY_NOTHING)
        return time * ta_ref_number(in, LOST, row, NAN) / ta_ref_number(in, TIME, row, NAN);
    if (limit_of(in, row)->cause != BY_POWER)
        return time * (1 - clock / free_clock(in, row));
    if (clock < FALLS * otherwise)
        return time * (1 - clock / otherwise);
    return clock < FAR_BELOW * most ? time * (1 - clock / most) : NAN;
}

/* Whether the power cap is what limits a device: most of the time, and nothing says which
 * clock it may have at most. */
static bool is_held(const struct ta_refs *in, size_t row)
{
    return ta_ref_number(in, PART, row, 0) >= 0.5 && isnan(ta_ref_number(in, CLOCK_MAX, row, NAN));
}

/* The hardware says that it slows down, and in a flag of its own that heat is why. */
static bool is_said_by_heat(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, LIMIT); i++)
        if (ta_ref_reads(in, LIMIT, row, "gpu_hardware_slowdown") &&
            ta_ref_reads(in, LIMIT, i, "gpu_hardware_thermal_slowdown") &&
            ta_ref_rank(in, LIMIT, i) == ta_ref_rank(in, LIMIT, row) &&
            ta_ref_device(in, LIMIT, i) == ta_ref_device(in, LIMIT, row))
            return true;
    return false;
}

/* The device that a cause holds longest. */
static size_t worst_of(const struct ta_refs *in, enum cause cause)
{
    size_t worst = SIZE_MAX;
    for (size_t row = 0; row < ta_ref_rows(in, LIMIT); row++) {
        const struct limit *limit = limit_of(in, row);
        if (limit && limit->cause == cause && is_slower(in, row) && !is_said_by_heat(in, row) &&
            (worst == SIZE_MAX ||
             ta_ref_number(in, PART, row, 0) > ta_ref_number(in, PART, worst, 0)))
            worst = row;
    }
    return worst;
}

/* Of the busy time, by samples. */
static double lost_share(const struct ta_refs *in, size_t row)
{
    return ta_ref_number(in, LOST, row, 0) / ta_ref_number(in, TIME, row, NAN) *
           ta_ref_number(in, PART, row, 0);
}

/* A low clock that the steps do not follow takes nothing that anybody saw. */
static bool is_remark(const struct ta_refs *in, size_t row)
{
    return limit_of(in, row)->cause == BY_NOTHING && ta_ref_number(in, RHO, row, NAN) > FOLLOWS;
}

/* Whether a cause lowers the clock of this device alone, so that it is slower than the others. */
static bool is_alone(const struct ta_refs *in, enum cause cause, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, LIMIT); i++) {
        const struct limit *limit = limit_of(in, i);
        const bool is_same = ta_ref_rank(in, LIMIT, i) == ta_ref_rank(in, LIMIT, row) &&
                             ta_ref_device(in, LIMIT, i) == ta_ref_device(in, LIMIT, row);
        if (!is_same && limit && limit->cause == cause && is_slower(in, i) &&
            2 * ta_ref_number(in, PART, i, 0) > ta_ref_number(in, PART, row, 0))
            return false;
    }
    return cause != BY_POWER; /* a cap is set for all */
}

/* The rank of a device: where one rank sampled all devices, each has the rank of its number. */
static int64_t rank_of(const struct ta_refs *in, size_t row)
{
    bool is_of_all = false;
    for (size_t i = 0; i < ta_ref_rows(in, SAMPLED); i++) {
        if (ta_ref_rank(in, SAMPLED, i) != ta_ref_rank(in, LIMIT, row))
            return ta_ref_rank(in, LIMIT, row);
        is_of_all |= ta_ref_device(in, SAMPLED, i) != ta_ref_device(in, LIMIT, row);
    }
    return is_of_all ? ta_ref_device(in, LIMIT, row) : ta_ref_rank(in, LIMIT, row);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    for (enum cause cause = BY_HEAT; cause < CAUSES; cause++) {
        const double least = ta_ctx_option(ctx, cause == BY_POWER ? POWER_SHARE : SHARE);
        const size_t row = worst_of(in, cause);
        if (row == SIZE_MAX ||
            (cause == BY_NOTHING ? lost_share(in, row) <= ta_ctx_option(ctx, LOSS)
                                 : ta_ref_number(in, PART, row, 0) <= least))
            continue;
        const struct ta_place part = ta_place_at(in, PART, row);
        const double lost = is_remark(in, row) ? NAN : lost_ns(in, row);
        const struct ta_evidence evidence[] = {
            ta_place_evidence(&part),
            ta_ref_evidence(in, isnan(ta_ref_number(in, CLOCK, row, NAN)) ? POWER : CLOCK, row)};
        ta_advise(
            advice,
            &(struct ta_finding){
                .id = causes[cause].id,
                .rule = "device_limits",
                .title = title_of(in, advice, row, &part),
                .why = why_of(in, advice, row),
                .advice = causes[cause].advice,
                .details = isnan(lost)
                               ? NULL
                               : "The saving is the limited time times the share of the clock that "
                                 "is lost; what memory or the host bounds gains less.",
                .severity = is_remark(in, row) ? TA_INFO
                            : cause == BY_POWER && (!isnan(lost) || is_held(in, row))
                                ? TA_LOW
                                : causes[cause].severity,
                .evidence = evidence,
                .n_evidence = 2,
                .effect = is_alone(in, cause, row) ? TA_EFFECT_SLOWED_DEVICE : TA_EFFECT_OTHER,
                .rank = rank_of(in, row),
                .saving_low_ns = isnan(lost) ? TA_MISSING : ta_whole(0.45 * lost),
                .saving_high_ns =
                    isnan(lost) ? TA_MISSING : ta_whole((cause == BY_NOTHING ? 1 : 1.35) * lost),
                .confidence =
                    ta_ref_reads(in, LIMIT, row, "temperature") || cause == BY_NOTHING ? 0.6 : 0.9,
                .threshold = ta_advice_printf(
                    advice, "%s > %s", causes[cause].predicate,
                    number(advice, cause == BY_NOTHING ? ta_ctx_option(ctx, LOSS) : least,
                           TA_UNIT_RATIO)),
            });
    }
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, device_limits, &ops, .title = "Lowered clocks",
          .summary = "Fires when heat, the hardware or the power cap lowers the clock of a device "
                     "that works",
          .version = "1", .options = options);
