/* SPDX-License-Identifier: GPL-3.0-or-later */
/* telemetry.limits: what kept a device slow while it was busy: its clock was lowered, or it waited
 * for memory of the host. */
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
    LIMITS_PCIE_ELSE
};
#define HERTZ TA_TYPE_NUMBER, TA_UNIT_HERTZ
#define WATT TA_TYPE_NUMBER, TA_UNIT_WATT
#define BYTE_RATE TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S
static const struct ta_column telemetry_limits_columns[] = {
    [LIMITS_RANK] = TA_DUMP_RANK_COLUMN,
    [LIMITS_DEVICE] = TA_DEVICE_COLUMN_OF("Device; none for all devices together"),
    [LIMITS_LIMIT] = {"limit", "Limit", TA_WORD,
                      .doc = "What slows the device: `gpu_power_cap`, `gpu_thermal_slowdown`, "
                             "`gpu_hardware_thermal_slowdown`, `gpu_hardware_slowdown`, "
                             "`gpu_power_brake` and `gpu_clock_setting` as the driver says; "
                             "`temperature`, a clock that falls for good on a hot device, where "
                             "it does not say; `host_memory`, device memory that overflows into "
                             "host memory"},
    [LIMITS_SAMPLES] = {"samples", "Samples", TA_COUNT, .doc = "Busy samples with the limit"},
    [LIMITS_SHARE] = {"share", "Of busy samples", TA_RATIO, .better = TA_LOWER,
                      .doc = "Their share of the busy samples, which are those with a "
                             "utilization of 50 % or more, or all where it was not sampled"},
    [LIMITS_SAMPLE] = {"sample", "First sample", TA_INTEGER,
                       .doc = "The first of them, counted from 0 over all samples of the device"},
    [LIMITS_SINCE] = {"since_ns", "Since", TA_NS,
                      .doc = "Time of that one after the first sample of the device"},
    [LIMITS_TEMPERATURE] = {"temperature", "Temperature", TA_TYPE_NUMBER, TA_UNIT_CELSIUS,
                            .doc = "Temperature at that one"},
    [LIMITS_CLOCK] = {"clock", "Clock", HERTZ, .better = TA_HIGHER,
                      .doc = "Median clock with the limit, in Hz"},
    [LIMITS_CLOCK_ELSE] = {"clock_else", "Clock else", HERTZ,
                           .doc = "Median clock of the other busy samples"},
    [LIMITS_CLOCK_MAX] = {"clock_max", "Max clock", HERTZ, .doc = "Largest clock it may have"},
    [LIMITS_POWER] = {"power", "Power", WATT, .doc = "Median power with the limit"},
    [LIMITS_POWER_ELSE] = {"power_else", "Power else", WATT,
                           .doc = "Median power of the other busy samples"},
    [LIMITS_POWER_LIMIT] = {"power_limit", "Power limit", WATT, .doc = "Power it may take"},
    [LIMITS_ACTIVITY] = {"memory_activity", "Memory activity", TA_RATIO,
                         .doc = "Median share of time with memory in use, with the limit"},
    [LIMITS_ACTIVITY_ELSE] = {"memory_activity_else", "Memory activity else", TA_RATIO,
                              .doc = "The same of the other busy samples"},
    [LIMITS_MEMORY_USED] = {"memory_used", "Memory", TA_BYTES_MEAN,
                            .doc = "Median memory in use, with the limit"},
    [LIMITS_MEMORY_TOTAL] = {"memory_total", "Memory total", TA_BYTES_MEAN,
                             .doc = "Memory of the device"},
    [LIMITS_PCIE] = {"pcie_rate", "PCIe", BYTE_RATE,
                     .doc = "Median of received and sent bytes per second, with the limit"},
    [LIMITS_PCIE_ELSE] = {"pcie_rate_else", "PCIe else", BYTE_RATE,
                          .doc = "The same of the other busy samples"},
};

const struct ta_table_def telemetry_limits = {
    "telemetry.limits", "What slows devices", TA_COLUMNS(telemetry_limits_columns),
    .doc = "One row per rank, device and limit that at least three busy samples show; of long "
           "series, whose means are looked at, three means. `host_memory` are samples with the "
           "memory full (98 % of the total, or of the most in use where the total was not "
           "sampled), a utilization of 90 % or more, power of at most 70 % and memory activity of "
           "at most half of what 95 % of the busy samples stay below, and at least 1 GB/s over "
           "PCIe; where PCIe was not sampled the total has to be known, and both power and "
           "memory activity.",
    .rank_words = ""};

/* The signals of a device at one moment; NAN where one was not sampled yet. */
struct state {
    int64_t time;
    double of[TA_SIGNAL_COUNT];
    bool busy, limited;
};

struct states {
    struct state *at;
    size_t n, n_busy;
    double *scratch;
};

enum { LEAST_SAMPLES = 3, LEAST_SIDE = 5 };

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

/* A clock that falls for good while the device is hot, where the driver does not say why. */
static void mark_fall(struct states *states)
{
    double before = 0, after = 0, all = 0, square = 0, best = 0, left = 0;
    size_t n = 0, seen = 0, cut = 0;
    for (size_t k = 0; k < states->n; k++) {
        struct state *state = &states->at[k];
        const double clock = state->of[TA_SIGNAL_GPU_CLOCK];
        state->limited = false;
        if (!state->busy || isnan(clock))
            continue;
        if (!isnan(state->of[TA_SIGNAL_GPU_THERMAL_SLOWDOWN]) ||
            isnan(state->of[TA_SIGNAL_GPU_TEMPERATURE]))
            return;
        all += clock;
        square += clock * clock;
        n++;
    }
    if (n < 2 * LEAST_SIDE)
        return;
    /* The cut that explains most of the variance. */
    for (size_t k = 0; k < states->n; k++) {
        const double clock = states->at[k].of[TA_SIGNAL_GPU_CLOCK];
        if (!states->at[k].busy || isnan(clock))
            continue;
        left += clock;
        seen++;
        if (seen < LEAST_SIDE || n - seen < LEAST_SIDE)
            continue;
        const double low = left / (double)seen, high = (all - left) / (double)(n - seen);
        const double gain =
            (double)seen * (double)(n - seen) / (double)n * (low - high) * (low - high);
        if (gain > best) {
            best = gain;
            cut = k + 1;
            before = low;
            after = high;
        }
    }
    const double variance = square - all * all / (double)n;
    if (!(best >= 0.6 * variance) || after > 0.95 * before)
        return;
    for (size_t k = cut; k < states->n; k++)
        states->at[k].limited = states->at[k].busy;
    const double warm = quantile_of(states, TA_SIGNAL_GPU_TEMPERATURE, 0.5, false);
    const double hot = quantile_of(states, TA_SIGNAL_GPU_TEMPERATURE, 0.5, true);
    const double work = quantile_of(states, TA_SIGNAL_GPU_UTILIZATION, 0.5, false);
    for (size_t k = cut; k < states->n && !(hot >= 80 && hot >= warm + 3); k++)
        states->at[k].limited = false;
    /* With less to do a clock may fall, too. */
    if (quantile_of(states, TA_SIGNAL_GPU_UTILIZATION, 0.5, true) < 0.9 * work)
        for (size_t k = cut; k < states->n; k++)
            states->at[k].limited = false;
}

/* The memory is full and kernels run, but neither they nor its memory do much: they wait for data
 * that the driver has moved to the host. */
static void mark_overflow(struct states *states)
{
    double fullest = 0;
    for (size_t k = 0; k < states->n; k++) {
        states->at[k].limited = false;
        fullest = fmax(fullest, states->at[k].of[TA_SIGNAL_GPU_MEMORY_USED]);
    }
    const double power = quantile_of(states, TA_SIGNAL_GPU_POWER, 0.95, false);
    const double activity = quantile_of(states, TA_SIGNAL_GPU_MEMORY_ACTIVITY, 0.95, false);
    if (isnan(power) || isnan(activity))
        return;
    for (size_t k = 0; k < states->n; k++) {
        struct state *state = &states->at[k];
        const double total = state->of[TA_SIGNAL_GPU_MEMORY_TOTAL];
        const double pcie = value_of(state, PCIE);
        state->limited =
            state->busy && state->of[TA_SIGNAL_GPU_UTILIZATION] >= 0.9 &&
            state->of[TA_SIGNAL_GPU_MEMORY_USED] >= 0.98 * (isnan(total) ? fullest : total) &&
            state->of[TA_SIGNAL_GPU_POWER] <= 0.7 * power &&
            state->of[TA_SIGNAL_GPU_MEMORY_ACTIVITY] <= 0.5 * activity &&
            (isnan(pcie) ? !isnan(total) : pcie >= 1e9);
    }
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void add_limit(struct ta_section_builder *out, const struct states *states,
                      const struct series *of, const char *limit)
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
        [LIMITS_PCIE_ELSE] = ELSE(PCIE));
#undef WITH
#undef ELSE
}

bool telemetry_add_limits(struct ta_section_builder *out, const struct all *all)
{
    bool done = true;
    for (size_t first = 0, end; done && first < all->n; first = end) {
        struct states states = {0};
        end = telemetry_device_end(all, first);
        done = join_series(all, first, end, &states);
        if (done && states.at) {
            const struct series *of = &all->at[first];
            for (int reason = TA_SIGNAL_GPU_POWER_CAP; reason <= TA_SIGNAL_GPU_CLOCK_SETTING;
                 reason++) {
                mark_reason(&states, (enum ta_signal)reason);
                add_limit(out, &states, of, ta_signal_name((enum ta_signal)reason));
            }
            mark_fall(&states);
            add_limit(out, &states, of, "temperature");
            mark_overflow(&states);
            add_limit(out, &states, of, "host_memory");
        }
        free(states.at);
        free(states.scratch);
    }
    return done;
}
