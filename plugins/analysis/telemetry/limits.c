/* SPDX-License-Identifier: GPL-3.0-or-later */
/* telemetry.limits: what kept a device slow while it was busy: its clock was lowered, or it waited
 * for memory of the host. */
#include "stat/fit.h"
#include "telemetry.h"

#include <math.h>
#include <stdlib.h>

enum {
    LIMITS_RANK,
    LIMITS_DEVICE,
    LIMITS_LIMIT,
    LIMITS_SAMPLES,
    LIMITS_SHARE,
    LIMITS_SAMPLE,
    LIMITS_SINCE,
    LIMITS_TEMPERATURE,
    LIMITS_CLOCK,
    LIMITS_CLOCK_ELSE,
    LIMITS_CLOCK_MAX,
    LIMITS_POWER,
    LIMITS_POWER_ELSE,
    LIMITS_POWER_LIMIT,
    LIMITS_ACTIVITY,
    LIMITS_ACTIVITY_ELSE,
    LIMITS_MEMORY_USED,
    LIMITS_MEMORY_TOTAL,
    LIMITS_PCIE,
    LIMITS_PCIE_ELSE,
    LIMITS_UTILIZATION,
    LIMITS_SM_ACTIVITY,
    LIMITS_IN_TRACE,
    LIMITS_TIME,
    LIMITS_LOST,
    LIMITS_STEPS,
    LIMITS_RHO,
    LIMITS_P
};
#define HERTZ TA_TYPE_NUMBER, TA_UNIT_HERTZ
#define WATT TA_TYPE_NUMBER, TA_UNIT_WATT
#define BYTE_RATE TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S
static const struct ta_column telemetry_limits_columns[] = {
    [LIMITS_RANK] = TA_RANK_COLUMN_OF("Rank that works on the device; else the rank of the dump"),
    [LIMITS_DEVICE] = TA_DEVICE_COLUMN_OF("Device; empty for all devices together"),
    [LIMITS_LIMIT] =
        {"limit", "Limit", TA_WORD, .read_as = TA_AS_LIMIT,
         .doc = "What slows the device. As the driver reports: power cap, thermal slowdown (by "
                "driver or hardware), hardware slowdown, power brake, clock setting. Without such "
                "a report: temperature (a clock that falls for good on a hot device, or the power "
                "if clocks were not sampled), power limit (power at its limit), low clock (no "
                "known reason). Host memory: device memory overflows into it. Little work: kernels "
                "use little of the device"},
    [LIMITS_SAMPLES] = {"samples", "Samples", TA_COUNT, .doc = "Busy samples that show the limit"},
    [LIMITS_SHARE] = {"share", "Share of busy samples", TA_RATIO, .better = TA_LOWER,
                      .read_as = TA_AS_LIMIT_SHARE,
                      .doc = "Samples with the limit divided by all busy samples: samples with a "
                             "utilization of 50 % or more, or all samples if it was not recorded"},
    [LIMITS_SAMPLE] = {"sample", "First sample", TA_INTEGER,
                       .doc = "Number of the first sample with the limit, counted from 0 over all "
                              "samples of the device"},
    [LIMITS_SINCE] =
        {"since_ns", "Since", TA_NS,
         .doc = "Time of the first sample with the limit, since the device's first sample"},
    [LIMITS_TEMPERATURE] = {"temperature", "Temperature", TA_TYPE_NUMBER, TA_UNIT_CELSIUS,
                            .doc = "Temperature at the first sample with the limit"},
    [LIMITS_CLOCK] = {"clock", "Clock", HERTZ, .better = TA_HIGHER,
                      .doc = "Median clock in the samples with the limit, in Hz"},
    [LIMITS_CLOCK_ELSE] = {"clock_else", "Clock else", HERTZ,
                           .doc = "Median clock of the other busy samples"},
    [LIMITS_CLOCK_MAX] = {"clock_max", "Max clock", HERTZ,
                          .doc = "Highest clock that the device may use"},
    [LIMITS_POWER] = {"power", "Power", WATT, .doc = "Median power in the samples with the limit"},
    [LIMITS_POWER_ELSE] = {"power_else", "Power else", WATT,
                           .doc = "Median power of the other busy samples"},
    [LIMITS_POWER_LIMIT] = {"power_limit", "Power limit", WATT,
                            .doc = "Highest power that the device may draw"},
    [LIMITS_ACTIVITY] =
        {"memory_activity", "Memory activity", TA_RATIO,
         .doc = "Median share of time with the memory in use, in the samples with the limit"},
    [LIMITS_ACTIVITY_ELSE] = {"memory_activity_else", "Memory activity else", TA_RATIO,
                              .doc = "Median memory activity in the other busy samples"},
    [LIMITS_MEMORY_USED] = {"memory_used", "Memory", TA_BYTES_MEAN,
                            .doc = "Median memory in use, in the samples with the limit"},
    [LIMITS_MEMORY_TOTAL] = {"memory_total", "Memory total", TA_BYTES_MEAN,
                             .doc = "Total memory of the device"},
    [LIMITS_PCIE] =
        {"pcie_rate", "PCIe", BYTE_RATE,
         .doc =
             "Median bytes received and sent per second over PCIe, in the samples with the limit"},
    [LIMITS_PCIE_ELSE] = {"pcie_rate_else", "PCIe else", BYTE_RATE,
                          .doc = "Median PCIe rate in the other busy samples"},
    [LIMITS_UTILIZATION] = {"utilization", "Utilization", TA_RATIO,
                            .doc = "Median utilization in the samples with the limit"},
    [LIMITS_SM_ACTIVITY] =
        {"sm_activity", "SM activity", TA_RATIO,
         .doc = "Median share of the multiprocessors at work, in the samples with the limit"},
    [LIMITS_IN_TRACE] = {"in_trace_ns", "Since, trace time", TA_NS, .role = TA_NOTE,
                         .doc = "Time of the first sample with the limit, since the earliest span "
                                "of the trace; empty if the samples are not on the trace's clock"},
    [LIMITS_TIME] = {"time_ns", "Time", TA_NS, .better = TA_LOWER,
                     .doc = "Samples with the limit times the median sampling interval"},
    [LIMITS_LOST] = {"lost_ns", "Lost time", TA_NS, .better = TA_LOWER,
                     .doc = "Upper bound of the time lost to the lower clock: for each sample, the "
                            "interval times 1 − clock over the 95th percentile of the busy clock; "
                            "work limited by memory or the host loses less"},
    [LIMITS_STEPS] = {"steps", "Steps", TA_COUNT, .role = TA_NOTE,
                      .doc = "Steps of a trace with clock samples in them"},
    [LIMITS_RHO] = {"step_rho", "Correlation with step time", TA_NUMBER,
                    .doc = "Spearman correlation of step time with the mean clock in the step: "
                           "−0.5 or below confirms that the clock slows the steps"},
    [LIMITS_P] = {"step_p", "p", TA_NUMBER,
                  .doc = "p-value of that correlation; empty below ten steps"},
};

const struct ta_table_def telemetry_limits = {
    "telemetry.limits", "What slows devices", TA_COLUMNS(telemetry_limits_columns),
    .doc = "One row per rank, device and limit that at least three busy samples show; for long "
           "series, of which means are used, three means. \"Usual\" is the 95th percentile of the "
           "busy samples. `host_memory`: the memory is full (96 % of the total, or 98 % of the "
           "most in use if the total was not sampled), the utilization is 90 % or more, the power "
           "at most 70 % and the memory activity at most half of the usual, and PCIe carries at "
           "least 1 GB/s; if PCIe was not sampled, the total has to be known. Without memory "
           "activity, the power is at most half of the usual, and the memory is not full in the "
           "other busy samples. For a single device, power of at most 35 % of its limit and memory "
           "activity of at most 15 % are enough. `little_work`: the utilization is 95 % or more, "
           "there is no other limit except the power's, and at most 20 % of the multiprocessors "
           "work. If these were not sampled, the power is at most 45 % of its limit (35 % without "
           "memory activity, and below 85 °C), or without a limit half of the usual, and the "
           "memory activity is at most 15 % (1 % if the power says nothing). `power_limit`: 97 % "
           "of the limit or more. `low_clock`: the utilization is 90 % or more and the clock below "
           "90 % of the usual, without another limit as the reason.",
    .rank_words = "",
    .order = {&telemetry_limits_columns[LIMITS_LOST], TA_DESCENDING}};

/* The signals of a device at one moment; NAN where one was not sampled yet. */
struct state {
    int64_t time;
    double of[TA_SIGNAL_COUNT];
    bool busy, limited;
    bool explained; /* another limit says why power and activity are low */
    bool held;      /* another limit says why the clock is */
};

struct states {
    struct state *at;
    size_t n, n_busy;
    double *scratch;
    double high_clock;           /* what 95 % of the busy states stay below; NAN */
    struct ta_correlation steps; /* of the times of steps with the clock in them */
    int64_t n_steps;
};

enum { LEAST_SAMPLES = 3, LEAST_SIDE = 5 };

/* A clock is low below this part of the usual high one. */
#define LOW_CLOCK 0.9

/* ---- joining signals ----------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    const struct reading *a = left, *b = right;
    return (a->time > b->time) - (a->time < b->time);
}

/* All signals of series [first, end) at the moments of the one that says what is busy: the
 * utilization, else the clock.  False without memory. */
static bool join_series(const struct all *all, size_t first, size_t end, struct states *states)
{
    const struct series *main = NULL;
    for (size_t i = first; i < end; i++)
        if (all->at[i].used && (all->at[i].signal == TA_SIGNAL_GPU_UTILIZATION ||
                                (!main && all->at[i].signal == TA_SIGNAL_GPU_CLOCK)))
            main = &all->at[i];
    states->n = main ? main->end_mean - main->first : 0;
    if (states->n < LEAST_SAMPLES)
        return true;
    states->at = calloc(states->n, sizeof *states->at);
    states->scratch = calloc(states->n, sizeof *states->scratch);
    if (!states->at || !states->scratch)
        return false;
    /* Means of several files may be out of order. */
    for (size_t i = first; i < end; i++)
        if (all->at[i].first_mean < all->at[i].end_mean)
            qsort(all->readings + all->at[i].first, all->at[i].end_mean - all->at[i].first,
                  sizeof *all->readings, by_time);
    for (size_t k = 0; k < states->n; k++) {
        states->at[k].time = all->readings[main->first + k].time;
        for (int s = 0; s < TA_SIGNAL_COUNT; s++)
            states->at[k].of[s] = NAN;
    }
    for (size_t i = first; i < end; i++) {
        const struct series *series = &all->at[i];
        size_t at = series->first;
        double last = NAN;
        for (size_t k = 0; series->used && k < states->n; k++) {
            while (at < series->end_mean && all->readings[at].time <= states->at[k].time)
                last = all->readings[at++].value;
            states->at[k].of[series->signal] = last;
        }
    }
    for (size_t k = 0; k < states->n; k++) {
        const double used = states->at[k].of[TA_SIGNAL_GPU_UTILIZATION];
        states->at[k].busy = isnan(used) || used >= 0.5;
        states->n_busy += states->at[k].busy;
    }
    return true;
}

/* Of what a state says of a signal; of PCIe both directions. */
enum { PCIE = TA_SIGNAL_COUNT };

static double value_of(const struct state *state, int signal)
{
    return signal == PCIE
               ? state->of[TA_SIGNAL_GPU_PCIE_RECEIVED] + state->of[TA_SIGNAL_GPU_PCIE_SENT]
               : state->of[signal];
}

/* A quantile of a signal in the busy states that are limited, or are not. */
static double quantile_of(const struct states *states, int signal, double at, bool limited)
{
    size_t n = 0;
    for (size_t k = 0; k < states->n; k++) {
        const double value = value_of(&states->at[k], signal);
        if (states->at[k].busy && states->at[k].limited == limited && !isnan(value))
            states->scratch[n++] = value;
    }
    ta_sort_numbers(states->scratch, n);
    return n ? ta_quantile(states->scratch, n, at) : NAN;
}

/* ---- which states are limited -------------------------------------------------------------- */

static void mark_reason(struct states *states, enum ta_signal reason)
{
    for (size_t k = 0; k < states->n; k++)
        states->at[k].limited = states->at[k].busy && states->at[k].of[reason] >= 0.1;
}

/* Power at its limit, where the driver does not say what lowers the clock. */
static void mark_power_limit(struct states *states)
{
    for (size_t k = 0; k < states->n; k++) {
        struct state *state = &states->at[k];
        state->limited =
            state->busy && isnan(state->of[TA_SIGNAL_GPU_POWER_CAP]) &&
            state->of[TA_SIGNAL_GPU_POWER] >= 0.97 * state->of[TA_SIGNAL_GPU_POWER_LIMIT];
    }
}

static void clear(struct states *states)
{
    for (size_t k = 0; k < states->n; k++)
        states->at[k].limited = false;
}

static bool is_sampled(const struct states *states, enum ta_signal signal)
{
    for (size_t k = 0; k < states->n; k++)
        if (!isnan(states->at[k].of[signal]))
            return true;
    return false;
}

/* Values of a signal over time, at the cut that explains most of their variance. */
struct cut {
    size_t at; /* the first state after it */
    double before, after, explained;
};

/* Only a cut with several states at each side; `at` is 0 without one. */
static struct cut find_cut(const struct states *states, enum ta_signal signal)
{
    struct cut cut = {0};
    double all = 0, square = 0, best = 0, left = 0;
    size_t n = 0, seen = 0;
    for (size_t k = 0; k < states->n; k++) {
        const double value = states->at[k].of[signal];
        if (!states->at[k].busy || isnan(value))
            continue;
        all += value;
        square += value * value;
        n++;
    }
    for (size_t k = 0; k < states->n; k++) {
        const double value = states->at[k].of[signal];
        if (!states->at[k].busy || isnan(value))
            continue;
        left += value;
        seen++;
        if (seen < LEAST_SIDE || n - seen < LEAST_SIDE)
            continue;
        const double low = left / (double)seen, high = (all - left) / (double)(n - seen);
        const double gain =
            (double)seen * (double)(n - seen) / (double)n * (low - high) * (low - high);
        if (gain > best) {
            best = gain;
            cut = (struct cut){.at = k + 1, .before = low, .after = high};
        }
    }
    const double variance = square - all * all / (double)n;
    cut.explained = cut.at ? best / variance : 0;
    return cut;
}

/* A clock that falls for good while the device is hot, where the driver does not say why; where
 * clocks were not sampled, power that falls although the device gets hotter. */
static void mark_fall(struct states *states)
{
    const enum ta_signal signal =
        is_sampled(states, TA_SIGNAL_GPU_CLOCK) ? TA_SIGNAL_GPU_CLOCK : TA_SIGNAL_GPU_POWER;
    clear(states);
    for (size_t k = 0; k < states->n; k++) {
        const struct state *state = &states->at[k];
        if (state->busy && !isnan(state->of[signal]) &&
            (!isnan(state->of[TA_SIGNAL_GPU_THERMAL_SLOWDOWN]) ||
             isnan(state->of[TA_SIGNAL_GPU_TEMPERATURE])))
            return;
    }
    const struct cut cut = find_cut(states, signal);
    if (cut.at == 0 || !(cut.explained >= 0.6) || cut.after > 0.95 * cut.before)
        return;
    for (size_t k = cut.at; k < states->n; k++)
        states->at[k].limited = states->at[k].busy;
    const double warm = quantile_of(states, TA_SIGNAL_GPU_TEMPERATURE, 0.5, false);
    const double hot = quantile_of(states, TA_SIGNAL_GPU_TEMPERATURE, 0.5, true);
    const double work = quantile_of(states, TA_SIGNAL_GPU_UTILIZATION, 0.5, false);
    /* With less to do a clock may fall, too. */
    if (!(hot >= 80 && hot >= warm + 3) ||
        quantile_of(states, TA_SIGNAL_GPU_UTILIZATION, 0.5, true) < 0.9 * work)
        clear(states);
}

/* What most busy samples stay below; NAN where it was not sampled. */
struct usual {
    double power, activity, fullest;
};

/* Whether a device with full memory does less than usual, or, of a single one, hardly anything: the
 * devices of a group wait for each other, too. */
static bool is_quiet(const struct state *state, const struct usual *usual, bool is_single)
{
    const double power = state->of[TA_SIGNAL_GPU_POWER];
    const double activity = state->of[TA_SIGNAL_GPU_MEMORY_ACTIVITY];
    if (is_single && power <= 0.35 * state->of[TA_SIGNAL_GPU_POWER_LIMIT] && activity <= 0.15)
        return true;
    if (isnan(usual->activity))
        return power <= 0.5 * usual->power;
    return power <= 0.7 * usual->power && activity <= 0.5 * usual->activity;
}

/* The memory is full and kernels run, but neither they nor its memory do much: they wait for data
 * that the driver has moved to the host. */
static void mark_overflow(struct states *states, bool is_single)
{
    clear(states);
    struct usual usual = {.power = quantile_of(states, TA_SIGNAL_GPU_POWER, 0.95, false),
                          .activity =
                              quantile_of(states, TA_SIGNAL_GPU_MEMORY_ACTIVITY, 0.95, false)};
    for (size_t k = 0; k < states->n; k++)
        usual.fullest = fmax(usual.fullest, states->at[k].of[TA_SIGNAL_GPU_MEMORY_USED]);
    for (size_t k = 0; k < states->n; k++) {
        struct state *state = &states->at[k];
        const double total = state->of[TA_SIGNAL_GPU_MEMORY_TOTAL];
        const double used = state->of[TA_SIGNAL_GPU_MEMORY_USED], pcie = value_of(state, PCIE);
        state->limited = state->busy && state->of[TA_SIGNAL_GPU_UTILIZATION] >= 0.9 &&
                         used >= (isnan(total) ? 0.98 * usual.fullest : 0.96 * total) &&
                         is_quiet(state, &usual, is_single) &&
                         (isnan(pcie) ? !isnan(total) : pcie >= 1e9);
    }
    /* Without its activity the memory is why only if there was work while it was not full. */
    if (isnan(usual.activity) &&
        !(quantile_of(states, TA_SIGNAL_GPU_MEMORY_USED, 0.5, false) < 0.95 * usual.fullest))
        clear(states);
}

/* Remembers which states have a limit. */
static void explain(struct states *states)
{
    for (size_t k = 0; k < states->n; k++)
        states->at[k].explained |= states->at[k].limited;
}

/* The same of limits that are no reason for little work. */
static void hold(struct states *states)
{
    for (size_t k = 0; k < states->n; k++)
        states->at[k].held |= states->at[k].limited;
}

/* Whether what was sampled of a device in use shows that its kernels use little of it. */
static bool does_little(const struct state *state, double usual_power)
{
    const double sm = state->of[TA_SIGNAL_GPU_SM_ACTIVITY];
    const double power = state->of[TA_SIGNAL_GPU_POWER];
    const double limit = state->of[TA_SIGNAL_GPU_POWER_LIMIT];
    const double activity = state->of[TA_SIGNAL_GPU_MEMORY_ACTIVITY];
    if (!isnan(sm))
        return sm <= 0.2;
    if (isnan(activity)) /* hot devices take less power, too */
        return power <= 0.35 * limit && !(state->of[TA_SIGNAL_GPU_TEMPERATURE] >= 85);
    const bool is_low = power <= (isnan(limit) ? 0.5 * usual_power : 0.45 * limit);
    return is_low ? activity <= 0.15 : isnan(limit) && activity <= 0.01;
}

/* Kernels run all the time, but hardly use the device: one that is small or spins, as a
 * collective does which waits for other ranks, or launches that come one at a time. */
static void mark_little_work(struct states *states)
{
    clear(states);
    const double power = quantile_of(states, TA_SIGNAL_GPU_POWER, 0.95, false);
    for (size_t k = 0; k < states->n; k++) {
        struct state *state = &states->at[k];
        const bool is_slow =
            state->of[TA_SIGNAL_GPU_CLOCK] < 0.5 * state->of[TA_SIGNAL_GPU_CLOCK_MAX];
        state->limited = state->busy && !state->explained && !is_slow &&
                         state->of[TA_SIGNAL_GPU_UTILIZATION] >= 0.95 && does_little(state, power);
    }
}

/* The clock is low though the device works, and nothing that was sampled says why. */
static void mark_low_clock(struct states *states)
{
    clear(states);
    for (size_t k = 0; k < states->n; k++) {
        struct state *state = &states->at[k];
        state->limited = state->busy && !state->explained && !state->held &&
                         state->of[TA_SIGNAL_GPU_UTILIZATION] >= 0.9 &&
                         state->of[TA_SIGNAL_GPU_CLOCK] < LOW_CLOCK * states->high_clock;
    }
}

/* ---- steps --------------------------------------------------------------------------------- */

/* The mean clock in a stretch of the trace; NAN without a sample in it. */
static double clock_in(const struct all *all, const struct states *states, int64_t from, int64_t to)
{
    double sum = 0;
    size_t n = 0, low = 0, high = states->n;
    const int64_t begin = ta_add_sat(from, all->window.begin);
    const int64_t end = ta_add_sat(to, all->window.begin);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (states->at[middle].time < begin)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < states->n && states->at[low].time < end; low++)
        if (!isnan(states->at[low].of[TA_SIGNAL_GPU_CLOCK])) {
            sum += states->at[low].of[TA_SIGNAL_GPU_CLOCK];
            n++;
        }
    return n ? sum / (double)n : NAN;
}

/* How the times of the steps of the rank and the clock in them go together, where the samples are
 * on the clock of the trace.  False without memory. */
static bool correlate_steps(const struct all *all, const struct ta_refs *in,
                            const struct series *of, struct states *states)
{
    enum { LEAST_STEPS = 6 };
    const size_t most = ta_ref_rows(in, STEP_START);
    states->steps = (struct ta_correlation){.rho = NAN, .p = NAN};
    if (!all->window.is_trace || !of->is_dated || most < LEAST_STEPS)
        return true;
    double *times = calloc(most, sizeof *times), *clocks = calloc(most, sizeof *clocks);
    bool done = times && clocks;
    size_t n = 0;
    for (size_t row = 0; done && row < most; row++) {
        const int64_t start = ta_ref_integer(in, STEP_START, row);
        const int64_t time = ta_ref_integer(in, STEP_TIME, row);
        if (ta_ref_rank(in, STEP_START, row) != of->rank || start == TA_MISSING ||
            time == TA_MISSING || ta_ref_text(in, STEP_PART, row).len > 0)
            continue;
        clocks[n] = clock_in(all, states, start, ta_add_sat(start, time));
        times[n] = (double)time;
        n += (size_t)!isnan(clocks[n]);
    }
    if (done && n >= LEAST_STEPS) {
        done = ta_spearman(times, clocks, n, &states->steps);
        states->n_steps = (int64_t)n;
    }
    free(times);
    free(clocks);
    return done;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The median time between two samples; 0 where they say none. */
static double interval_of(const struct states *states)
{
    for (size_t k = 1; k < states->n; k++)
        states->scratch[k - 1] = (double)(states->at[k].time - states->at[k - 1].time);
    ta_sort_numbers(states->scratch, states->n - 1);
    return ta_quantile(states->scratch, states->n - 1, 0.5);
}

/* What the lower clock takes in the limited states; NAN where clocks were not sampled. */
static double lost_of(const struct states *states, double interval)
{
    double lost = 0;
    size_t n = 0;
    for (size_t k = 0; k < states->n; k++) {
        const double clock = states->at[k].of[TA_SIGNAL_GPU_CLOCK];
        if (!states->at[k].limited || isnan(clock))
            continue;
        lost += fmax(0, 1 - clock / states->high_clock) * interval;
        n++;
    }
    return n ? lost : NAN;
}

static void add_limit(struct ta_section_builder *out, const struct all *all,
                      const struct states *states, const struct series *of, const char *limit)
{
    const struct state *first = NULL;
    int64_t n = 0;
    for (size_t k = 0; k < states->n; k++)
        if (states->at[k].limited) {
            first = first ? first : &states->at[k];
            n++;
        }
    if (n < LEAST_SAMPLES)
        return;
#define WITH(signal) ta_num(quantile_of(states, signal, 0.5, true))
#define ELSE(signal) ta_num(quantile_of(states, signal, 0.5, false))
    TA_ROW(
        out, telemetry_limits, [LIMITS_RANK] = ta_int(of->rank),
        [LIMITS_DEVICE] = ta_int(of->device), [LIMITS_LIMIT] = ta_text(ta_slice_of(limit)),
        [LIMITS_SAMPLES] = ta_int(n), [LIMITS_SHARE] = ta_num((double)n / (double)states->n_busy),
        [LIMITS_SAMPLE] = ta_int(first - states->at),
        [LIMITS_SINCE] = ta_int(first->time - states->at[0].time),
        [LIMITS_TEMPERATURE] = ta_num(first->of[TA_SIGNAL_GPU_TEMPERATURE]),
        [LIMITS_CLOCK] = WITH(TA_SIGNAL_GPU_CLOCK), [LIMITS_CLOCK_ELSE] = ELSE(TA_SIGNAL_GPU_CLOCK),
        [LIMITS_CLOCK_MAX] = WITH(TA_SIGNAL_GPU_CLOCK_MAX),
        [LIMITS_POWER] = WITH(TA_SIGNAL_GPU_POWER), [LIMITS_POWER_ELSE] = ELSE(TA_SIGNAL_GPU_POWER),
        [LIMITS_POWER_LIMIT] = WITH(TA_SIGNAL_GPU_POWER_LIMIT),
        [LIMITS_ACTIVITY] = WITH(TA_SIGNAL_GPU_MEMORY_ACTIVITY),
        [LIMITS_ACTIVITY_ELSE] = ELSE(TA_SIGNAL_GPU_MEMORY_ACTIVITY),
        [LIMITS_MEMORY_USED] = WITH(TA_SIGNAL_GPU_MEMORY_USED),
        [LIMITS_MEMORY_TOTAL] = WITH(TA_SIGNAL_GPU_MEMORY_TOTAL), [LIMITS_PCIE] = WITH(PCIE),
        [LIMITS_PCIE_ELSE] = ELSE(PCIE), [LIMITS_UTILIZATION] = WITH(TA_SIGNAL_GPU_UTILIZATION),
        [LIMITS_SM_ACTIVITY] = WITH(TA_SIGNAL_GPU_SM_ACTIVITY),
        [LIMITS_IN_TRACE] = all->window.is_trace && of->is_dated
                                ? ta_int(ta_max_i64(ta_add_sat(first->time, -all->window.begin), 0))
                                : ta_null(),
        [LIMITS_TIME] = ta_int(ta_whole((double)n * interval_of(states))),
        [LIMITS_LOST] = ta_int(ta_whole(lost_of(states, interval_of(states)))),
        [LIMITS_STEPS] = states->n_steps ? ta_int(states->n_steps) : ta_null(),
        [LIMITS_RHO] = ta_num(states->steps.rho), [LIMITS_P] = ta_num(states->steps.p));
#undef WITH
#undef ELSE
}

static size_t count_devices(const struct all *all)
{
    size_t n = 0;
    for (size_t first = 0; first < all->n; first = telemetry_device_end(all, first))
        n += all->at[first].used && all->at[first].device != TA_MISSING;
    return n;
}

static void add_device(struct ta_section_builder *out, const struct all *all, struct states *states,
                       const struct series *of)
{
    states->high_clock = quantile_of(states, TA_SIGNAL_GPU_CLOCK, 0.95, false);
    for (int reason = TA_SIGNAL_GPU_POWER_CAP; reason <= TA_SIGNAL_GPU_CLOCK_SETTING; reason++) {
        mark_reason(states, (enum ta_signal)reason);
        add_limit(out, all, states, of, ta_signal_name((enum ta_signal)reason));
        hold(states);
        if (reason != TA_SIGNAL_GPU_POWER_CAP && reason != TA_SIGNAL_GPU_CLOCK_SETTING)
            explain(states);
    }
    mark_power_limit(states);
    add_limit(out, all, states, of, "power_limit");
    hold(states);
    mark_fall(states);
    add_limit(out, all, states, of, "temperature");
    explain(states);
    mark_overflow(states, count_devices(all) == 1);
    add_limit(out, all, states, of, "host_memory");
    explain(states);
    mark_low_clock(states);
    add_limit(out, all, states, of, "low_clock");
    mark_little_work(states);
    add_limit(out, all, states, of, "little_work");
}

bool telemetry_add_limits(struct ta_section_builder *out, const struct all *all,
                          const struct ta_refs *in)
{
    bool done = true;
    for (size_t first = 0, end; done && first < all->n; first = end) {
        struct states states = {0};
        end = telemetry_device_end(all, first);
        done = join_series(all, first, end, &states);
        done = done && (!states.at || correlate_steps(all, in, &all->at[first], &states));
        if (done && states.at)
            add_device(out, all, &states, &all->at[first]);
        free(states.at);
        free(states.scratch);
    }
    return done;
}
