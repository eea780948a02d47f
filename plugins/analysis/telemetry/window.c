/* SPDX-License-Identifier: GPL-3.0-or-later */
/* telemetry.window: what the devices did while the run was recorded.
 *
 * Samples of nvidia-smi have the local time of a zone that nobody wrote down.  A log of the same
 * machine has the same clock.  A trace is dated in UTC: the zone is a multiple of half an hour, and
 * where the samples meet the trace in one zone only, that is the one.  Samples before and after the
 * run are not of it, so they do not count. */
#include "telemetry.h"

#include "model/program/window.h"

#define SECOND INT64_C(1000000000)

/* What a sample says is of up to a second before it: it counts where no sample is of a short run.
 */
static const int64_t reach_ns = SECOND;

/* ---- map ------------------------------------------------------------------------------------- */

const struct ta_field telemetry_run_fields[RUN_FIELDS] = {
    [RUN_ZONE] = {"clock", TA_FIELD_INT},
    [RUN_ORIGIN] = {"origin_ns", TA_FIELD_MIN},
    [RUN_FIRST] = {"first_ns", TA_FIELD_MIN},
    [RUN_LAST] = {"last_ns", TA_FIELD_MAX},
};

static void take_run(struct ta_partial *runs, int64_t clock, int64_t origin, int64_t first,
                     int64_t last)
{
    int64_t *row = TA_PARTIAL_ROW(runs, ta_key_int(clock));
    const bool is_new = row[RUN_FIRST] == TA_MISSING;
    row[RUN_ORIGIN] = is_new ? origin : ta_min_i64(row[RUN_ORIGIN], origin);
    row[RUN_FIRST] = is_new ? first : ta_min_i64(row[RUN_FIRST], first);
    row[RUN_LAST] = is_new ? last : ta_max_i64(row[RUN_LAST], last);
}

bool telemetry_map_run(const struct ta_trace *trace, struct ta_partial *runs)
{
    const int64_t base = ta_trace_base_ns(trace), origin = ta_trace_origin(trace);
    const int64_t date = base == TA_MISSING ? 0 : base;
    size_t n;
    const struct ta_bar_state *bar = ta_trace_bar_state_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        if (bar[i].time_ns != TA_MISSING) {
            const int64_t begun =
                bar[i].elapsed_ns == TA_MISSING ? 0 : ta_max_i64(bar[i].elapsed_ns, 0);
            const int64_t first = ta_add_sat(bar[i].time_ns, -begun);
            take_run(runs, RUN_LOCAL, first, first, bar[i].time_ns);
        }
    if (ta_trace_spans(trace).n == 0 || ta_add_sat(date, origin) < TA_DATED_FROM_NS)
        return true;
    const struct ta_program_window *window = ta_program_window(trace);
    if (window && window->start < window->end)
        take_run(runs, RUN_UTC, ta_add_sat(date, origin), ta_add_sat(date, window->start),
                 ta_add_sat(date, window->end));
    return window != NULL;
}

/* ---- finish ---------------------------------------------------------------------------------- */

/* From the first to the last dated sample, and the earliest origin; false without one. */
static bool find_samples(const struct all *all, int64_t *origin, int64_t *first, int64_t *last)
{
    bool any = false;
    for (size_t i = 0; i < ta_partial_rows(all->partial); i++) {
        const int64_t *row = ta_partial_at(all->partial, i);
        size_t n;
        const struct reading *at = telemetry_row_readings(all, i, &n);
        if (row[ORIGIN] == TA_MISSING || n == 0)
            continue;
        *origin = any ? ta_min_i64(*origin, row[ORIGIN]) : row[ORIGIN];
        for (size_t k = 0; k < n; k++) {
            const int64_t time = ta_add_sat(row[ORIGIN], at[k].time);
            *first = any ? ta_min_i64(*first, time) : time;
            *last = any ? ta_max_i64(*last, time) : time;
            any = true;
        }
    }
    return any;
}

/* Whether samples are of a run in that zone. */
static bool meets(const int64_t *run, int64_t zone, int64_t first, int64_t last)
{
    return ta_add_sat(run[RUN_FIRST], zone) <= last &&
           ta_add_sat(run[RUN_LAST], ta_add_sat(zone, reach_ns)) >= first;
}

/* Whether one of both was all the time while the other was. */
static bool contains(const int64_t *run, int64_t zone, int64_t first, int64_t last)
{
    const int64_t begin = ta_add_sat(run[RUN_FIRST], zone), end = ta_add_sat(run[RUN_LAST], zone);
    return (ta_add_sat(begin, reach_ns) >= first && ta_add_sat(end, -reach_ns) <= last) ||
           (begin <= first && end >= last);
}

/* The only zone in which they are, by the half hour from UTC-12 to UTC+14; TA_MISSING where there
 * are several or none, or where they meet in part only, which may be chance. */
static int64_t find_zone(const int64_t *run, int64_t first, int64_t last)
{
    int64_t zone = TA_MISSING;
    if (run[RUN_ZONE] == RUN_LOCAL && meets(run, 0, first, last))
        return 0;
    for (int64_t half = -24; half <= 28; half++) {
        if (!meets(run, half * 1800 * SECOND, first, last))
            continue;
        if (zone != TA_MISSING)
            return TA_MISSING;
        zone = half * 1800 * SECOND;
    }
    return zone != TA_MISSING && contains(run, zone, first, last) ? zone : TA_MISSING;
}

static bool has_sample(const struct all *all, const struct window *window)
{
    for (size_t i = 0; i < ta_partial_rows(all->partial); i++) {
        const int64_t *row = ta_partial_at(all->partial, i);
        size_t n;
        const struct reading *at = telemetry_row_readings(all, i, &n);
        for (size_t k = 0; row[ORIGIN] != TA_MISSING && k < n; k++) {
            const int64_t time = ta_add_sat(at[k].time, ta_add_sat(row[ORIGIN], -window->origin));
            if (time >= window->from && time < window->to)
                return true;
        }
    }
    return false;
}

void telemetry_find_window(struct all *all)
{
    int64_t origin = 0, first = 0, last = 0;
    const int64_t *run = NULL;
    all->window = (struct window){.from = INT64_MIN, .to = INT64_MAX};
    if (!find_samples(all, &origin, &first, &last))
        return;
    all->window.origin = origin;
    /* The trace of a run says best when it was. */
    for (size_t i = 0; i < ta_partial_rows(all->runs); i++) {
        const int64_t *row = ta_partial_at(all->runs, i);
        if (row[RUN_FIRST] != TA_MISSING && (!run || row[RUN_ZONE] == RUN_UTC))
            run = row;
    }
    const int64_t zone = run ? find_zone(run, first, last) : TA_MISSING;
    if (zone == TA_MISSING)
        return;
    const int64_t shift = ta_add_sat(zone, -origin);
    struct window window = {
        .origin = origin,
        .known = true,
        .is_trace = run[RUN_ZONE] == RUN_UTC,
        .zone_ns = zone,
        .begin = ta_add_sat(run[RUN_ORIGIN], shift),
        .from = ta_add_sat(run[RUN_FIRST], shift),
        /* The last line of a log is of the run. */
        .to = ta_add_sat(ta_add_sat(run[RUN_LAST], shift), run[RUN_ZONE] == RUN_LOCAL),
        .span_ns = ta_add_sat(run[RUN_LAST], -run[RUN_FIRST])};
    if (!has_sample(all, &window))
        window.to = ta_add_sat(window.to, reach_ns);
    if (has_sample(all, &window))
        all->window = window;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum {
    WINDOW_RANK,
    WINDOW_DEVICE,
    WINDOW_OF,
    WINDOW_ZONE,
    WINDOW_SPAN,
    WINDOW_SAMPLES,
    WINDOW_OUTSIDE,
    WINDOW_UTILIZATION,
    WINDOW_POWER,
    WINDOW_CLOCK,
    WINDOW_TEMPERATURE
};
static const struct ta_column telemetry_window_columns[] = {
    [WINDOW_RANK] = TA_DUMP_RANK_COLUMN,
    [WINDOW_DEVICE] = TA_DEVICE_COLUMN_OF("Device; empty for all devices together"),
    [WINDOW_OF] = {"of", "During", TA_WORD,
                   .doc = "What shows when the run took place: `trace`, or `log` with dated lines"},
    [WINDOW_ZONE] = {"zone_hours", "Time zone difference (h)", TA_NUMBER, .role = TA_NOTE,
                     .doc = "Hours by which the samples' clock is ahead of the run's clock: the "
                            "only multiple of half an hour at which the two overlap"},
    [WINDOW_SPAN] = {"span_ns", "Run", TA_NS, .doc = "Duration of the run"},
    [WINDOW_SAMPLES] = {"samples", "Samples", TA_COUNT,
                        .doc = "Samples during the run, of the signal with the most"},
    [WINDOW_OUTSIDE] =
        {"outside", "Not counted", TA_COUNT,
         .doc = "Samples of that signal before and after the run, which no table counts"},
    [WINDOW_UTILIZATION] = {"gpu_utilization", "GPU utilization", TA_RATIO,
                            .doc = "Mean share of time with a kernel running"},
    [WINDOW_POWER] = {"gpu_power", "GPU power", TA_TYPE_NUMBER, TA_UNIT_WATT, .doc = "Mean power"},
    [WINDOW_CLOCK] = {"gpu_clock", "GPU clock", TA_TYPE_NUMBER, TA_UNIT_HERTZ,
                      .doc = "Mean clock of the multiprocessors in Hz"},
    [WINDOW_TEMPERATURE] = {"gpu_temperature", "Max GPU temperature", TA_TYPE_NUMBER,
                            TA_UNIT_CELSIUS, .doc = "Highest temperature"},
};

const struct ta_table_def telemetry_window = {
    "telemetry.window",
    "Devices during the run",
    TA_COLUMNS(telemetry_window_columns),
    .doc = "One row per rank and device whose samples have a local time, next to a dated trace or "
           "log that they overlap. Samples do not state their time zone: a log is taken to have "
           "the same one; for a trace it is the only one, in half hours, at which they overlap. "
           "All telemetry tables count only the samples from the time of the run.",
    .rank_words = "",
    .brief = &(const struct ta_brief){.place = 365,
                                      .rows = 8,
                                      .rows_are = "the first ranks and devices",
                                      .first = {&telemetry_window_columns[WINDOW_UTILIZATION],
                                                &telemetry_window_columns[WINDOW_POWER],
                                                &telemetry_window_columns[WINDOW_CLOCK]}}};

/* The mean of a signal of a device, or its largest value; NAN without samples. */
static double value_of(const struct all *all, size_t first, size_t end, enum ta_signal signal,
                       bool largest)
{
    double sum = 0, most = -INFINITY;
    size_t n = 0;
    for (size_t s = first; s < end; s++)
        for (size_t i = all->at[s].first; all->at[s].signal == signal && i < all->at[s].end; i++) {
            sum += all->readings[i].value;
            most = fmax(most, all->readings[i].value);
            n++;
        }
    return n == 0 ? NAN : largest ? most : sum / (double)n;
}

void telemetry_add_window(struct ta_section_builder *out, const struct all *all)
{
    const struct window *window = &all->window;
    for (size_t first = 0, end; window->known && first < all->n; first = end) {
        size_t samples = 0, outside = 0;
        end = telemetry_device_end(all, first);
        for (size_t s = first; s < end; s++)
            if (all->at[s].end - all->at[s].first + all->at[s].outside > samples + outside) {
                samples = all->at[s].end - all->at[s].first;
                outside = all->at[s].outside;
            }
        if (!all->at[first].used || samples == 0 || !all->at[first].is_dated)
            continue;
        TA_ROW(out, telemetry_window, [WINDOW_RANK] = ta_int(all->at[first].rank),
               [WINDOW_DEVICE] = ta_int(all->at[first].device),
               [WINDOW_OF] = ta_text(window->is_trace ? TA_LIT("trace") : TA_LIT("log")),
               [WINDOW_ZONE] = ta_num((double)window->zone_ns / 3600e9),
               [WINDOW_SPAN] = ta_int(window->span_ns), [WINDOW_SAMPLES] = ta_int((int64_t)samples),
               [WINDOW_OUTSIDE] = ta_int((int64_t)outside),
               [WINDOW_UTILIZATION] =
                   ta_num(value_of(all, first, end, TA_SIGNAL_GPU_UTILIZATION, false)),
               [WINDOW_POWER] = ta_num(value_of(all, first, end, TA_SIGNAL_GPU_POWER, false)),
               [WINDOW_CLOCK] = ta_num(value_of(all, first, end, TA_SIGNAL_GPU_CLOCK, false)),
               [WINDOW_TEMPERATURE] =
                   ta_num(value_of(all, first, end, TA_SIGNAL_GPU_TEMPERATURE, true)));
    }
}
