/* SPDX-License-Identifier: GPL-3.0-or-later */
/* telemetry.timeline: all signals of a rank and device over time, few enough to draw. */
#include "telemetry.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TIMELINE_RANK,
    TIMELINE_DEVICE,
    TIMELINE_SOURCE,
    TIMELINE_POINT,
    TIMELINE_TIME,
    TIMELINE_GPU_UTILIZATION,
    TIMELINE_GPU_MEMORY_USED,
    TIMELINE_GPU_POWER,
    TIMELINE_GPU_TEMPERATURE,
    TIMELINE_GPU_CLOCK,
    TIMELINE_CPU_UTILIZATION,
    TIMELINE_CPU_MEMORY_USED,
    TIMELINE_GPU_POWER_CAP,
    TIMELINE_GPU_THERMAL_SLOWDOWN
};
static const struct ta_column telemetry_timeline_columns[] = {
    [TIMELINE_RANK] = TA_DUMP_RANK_COLUMN,
    [TIMELINE_DEVICE] =
        TA_DEVICE_COLUMN_OF("Device; empty for the host, and for sums or maxima over all devices"),
    [TIMELINE_SOURCE] = {"source", "Source", TA_ID, .role = TA_NOTE,
                         .doc = "Rank and device in one text, which names the line in the chart"},
    [TIMELINE_POINT] = {"point", "Point", TA_INTEGER, .role = TA_IN_SERIES,
                        .doc = "Position in the series, starting at 0"},
    [TIMELINE_TIME] = {"time_ns", "Time", TA_NS,
                       .doc = "Time since the rank's first sample; for samples without timestamps, "
                              "since the file's first sample"},
    [TIMELINE_GPU_UTILIZATION] = {"gpu_utilization", "GPU utilization", TA_RATIO,
                                  .better = TA_HIGHER,
                                  .doc = "Share of time with a kernel running"},
    [TIMELINE_GPU_MEMORY_USED] = {"gpu_memory_used", "GPU memory", TA_BYTES_MEAN,
                                  .better = TA_LOWER, .doc = "Device memory in use"},
    [TIMELINE_GPU_POWER] = {"gpu_power", "GPU power", TA_TYPE_NUMBER, TA_UNIT_WATT,
                            .better = TA_LOWER, .doc = "Power that the device draws"},
    [TIMELINE_GPU_TEMPERATURE] = {"gpu_temperature", "GPU temperature", TA_TYPE_NUMBER,
                                  TA_UNIT_CELSIUS, .better = TA_LOWER,
                                  .doc = "Temperature of the device"},
    [TIMELINE_GPU_CLOCK] = {"gpu_clock", "GPU clock", TA_TYPE_NUMBER, TA_UNIT_HERTZ,
                            .better = TA_HIGHER, .doc = "Clock of the multiprocessors in Hz"},
    [TIMELINE_CPU_UTILIZATION] = {"cpu_utilization", "CPU utilization", TA_RATIO,
                                  .doc = "Share of the CPU cores in use"},
    [TIMELINE_CPU_MEMORY_USED] = {"cpu_memory_used", "Host memory", TA_BYTES_MEAN,
                                  .better = TA_LOWER, .doc = "Host memory in use"},
    [TIMELINE_GPU_POWER_CAP] = {"gpu_power_cap", "At the power cap", TA_RATIO, .better = TA_LOWER,
                                .doc = "Share of the samples at which the power cap lowers the "
                                       "clock, as the driver reports; empty if it never does"},
    [TIMELINE_GPU_THERMAL_SLOWDOWN] = {"gpu_thermal_slowdown", "Slowed by heat", TA_RATIO,
                                       .better = TA_LOWER,
                                       .doc = "Share of the samples at which the driver slows the "
                                              "device because of heat; empty if it never does"},
};

/* The signals of the last columns, in their order. */
static const enum ta_signal drawn[] = {
    TA_SIGNAL_GPU_UTILIZATION, TA_SIGNAL_GPU_MEMORY_USED, TA_SIGNAL_GPU_POWER,
    TA_SIGNAL_GPU_TEMPERATURE, TA_SIGNAL_GPU_CLOCK,       TA_SIGNAL_CPU_UTILIZATION,
    TA_SIGNAL_CPU_MEMORY_USED, TA_SIGNAL_GPU_POWER_CAP,   TA_SIGNAL_GPU_THERMAL_SLOWDOWN};
enum { DRAWN = TA_LENGTH(drawn), FIRST_DRAWN = TIMELINE_GPU_UTILIZATION };
_Static_assert(FIRST_DRAWN + DRAWN == TA_LENGTH(telemetry_timeline_columns), "a column per signal");

static const struct ta_chart_def devices_chart = {
    .id = "device-telemetry",
    .title = "Telemetry of each GPU",
    .caption = "Samples by rank and device; long series are averaged over equal intervals.",
    .kind = TA_CHART_LINES,
    .steps = true,
    .x = &telemetry_timeline_columns[TIMELINE_TIME],
    .y = {{&telemetry_timeline_columns[TIMELINE_GPU_UTILIZATION], "GPU utilization",
           TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_MEMORY_USED], "GPU memory", TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_POWER], "GPU power", TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_TEMPERATURE], "GPU temperature",
           TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_CLOCK], "GPU clock", TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_THERMAL_SLOWDOWN], "Slowed by heat",
           TA_INK_SERIES_1}},
    .group = &telemetry_timeline_columns[TIMELINE_SOURCE],
    .with = &telemetry_timeline_columns[TIMELINE_DEVICE],
};

/* Sums over devices would dwarf single ones. */
static const struct ta_chart_def host_chart = {
    .id = "host-telemetry",
    .title = "Telemetry of each host",
    .caption =
        "Samples of the host and of all its GPUs together: sums of memory and power, the "
        "highest utilization and temperature. Long series are averaged over equal intervals.",
    .kind = TA_CHART_LINES,
    .steps = true,
    .x = &telemetry_timeline_columns[TIMELINE_TIME],
    .y = {{&telemetry_timeline_columns[TIMELINE_CPU_UTILIZATION], "CPU utilization",
           TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_CPU_MEMORY_USED], "Host memory", TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_UTILIZATION], "Busiest GPU", TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_MEMORY_USED], "Memory, all GPUs",
           TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_POWER], "Power, all GPUs", TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_TEMPERATURE], "Hottest GPU", TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_CLOCK], "GPU clock", TA_INK_SERIES_1},
          {&telemetry_timeline_columns[TIMELINE_GPU_THERMAL_SLOWDOWN], "Slowed by heat",
           TA_INK_SERIES_1}},
    .group = &telemetry_timeline_columns[TIMELINE_SOURCE],
    .without = &telemetry_timeline_columns[TIMELINE_DEVICE],
};

const struct ta_table_def telemetry_timeline = {
    "telemetry.timeline", "Telemetry over time", TA_COLUMNS(telemetry_timeline_columns),
    .tier = TA_TIER_POINTS,
    .doc = "The samples over time, for the chart: all of them, or means over 600 equal intervals "
           "if a device has more than 600. Charts `device-telemetry` and "
           "`host-telemetry`."};

/* The samples and means of a series, which stand side by side. */
static struct readings readings_of(const struct all *all, const struct series *series)
{
    return (struct readings){all->readings + series->first, series->end_mean - series->first};
}

/* ---- timeline ------------------------------------------------------------------------------ */

/* Points of a series that are drawn at most. */
enum { POINTS = 600 };

/* Means of the signals of one rank and device, over equal spans of time. */
struct point {
    double sum[DRAWN];
    int64_t n[DRAWN], first_ns;
};

struct span {
    int64_t from, to;
    size_t points;
};

static int column_of(enum ta_signal signal)
{
    for (int i = 0; i < DRAWN; i++)
        if (drawn[i] == signal)
            return i;
    return -1;
}

static bool is_zero(struct readings readings)
{
    size_t i = 0;
    while (i < readings.n && readings.at[i].value == 0)
        i++;
    return i == readings.n;
}

/* A limit that never holds is no line. */
static bool is_drawn(const struct all *all, const struct series *series)
{
    const struct readings r = readings_of(all, series);
    const int column = column_of(series->signal);
    const bool is_limit = FIRST_DRAWN + column >= TIMELINE_GPU_POWER_CAP;
    return series->used && column >= 0 && r.n && r.at->time != TA_MISSING &&
           !(is_limit && is_zero(r));
}

/* From the first to the last sample; as many points as the longest series has, POINTS at most. */
static struct span span_of(const struct all *all, size_t first, size_t end)
{
    struct span span = {.from = INT64_MAX, .to = INT64_MIN};
    for (size_t s = first; s < end; s++) {
        const struct series *series = &all->at[s];
        const struct readings r = readings_of(all, series);
        for (size_t i = 0; is_drawn(all, series) && i < r.n; i++) {
            span.from = ta_min_i64(span.from, r.at[i].time);
            span.to = ta_max_i64(span.to, r.at[i].time);
        }
        if (is_drawn(all, series) && r.n > span.points)
            span.points = r.n;
    }
    return span;
}

/* Short series keep their samples: each moment is a point of its own. */
static size_t point_of(const struct span *span, struct ta_map *moments, int64_t time)
{
    if (!moments)
        return ta_whole_size((double)(time - span->from) / ((double)(span->to - span->from) + 1) *
                             POINTS);
    const uint64_t *known = ta_map_find(moments, (uint64_t)time);
    return known ? (size_t)*known : SIZE_MAX;
}

static int by_time(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* All moments at which something of rows [first, end) of series was sampled, ascending.  Returns
 * their number; 0 without memory. */
static size_t find_moments(const struct all *all, size_t first, size_t end, int64_t *times,
                           struct ta_map *moments)
{
    size_t n = 0, distinct = 0;
    for (size_t s = first; s < end; s++) {
        const struct readings r = readings_of(all, &all->at[s]);
        for (size_t i = 0; is_drawn(all, &all->at[s]) && i < r.n; i++)
            times[n++] = r.at[i].time;
    }
    qsort(times, n, sizeof *times, by_time);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || times[i] != times[i - 1]) {
            ta_map_at(moments, (uint64_t)times[i], distinct);
            distinct++;
        }
    return moments->failed ? 0 : distinct;
}

static void fill_points(const struct all *all, size_t first, size_t end, const struct span *span,
                        struct ta_map *moments, struct point *points)
{
    for (size_t s = first; s < end; s++) {
        const struct series *series = &all->at[s];
        const struct readings r = readings_of(all, series);
        const int column = column_of(series->signal);
        for (size_t i = 0; is_drawn(all, series) && i < r.n; i++) {
            const size_t at = point_of(span, moments, r.at[i].time);
            if (at == SIZE_MAX)
                continue;
            struct point *point = &points[at];
            point->first_ns = ta_min_i64(point->first_ns, r.at[i].time);
            point->sum[column] += r.at[i].value;
            point->n[column]++;
        }
    }
}

/* The timeline of one rank and device. */
static bool add_device(struct ta_section_builder *out, const struct all *all, size_t first,
                       size_t end, int64_t *times, int64_t origin)
{
    const struct span span = span_of(all, first, end);
    if (span.points == 0)
        return true;
    struct ta_map moments = {0};
    const bool is_short = span.points <= POINTS;
    const size_t n = is_short ? find_moments(all, first, end, times, &moments) : POINTS + 1;
    struct point *points = calloc(n + 1, sizeof *points);
    const bool done = points && n;
    if (done) {
        for (size_t i = 0; i < n; i++)
            points[i].first_ns = INT64_MAX;
        fill_points(all, first, end, &span, is_short ? &moments : NULL, points);
        const struct series *of = &all->at[first];
        char source[80] = "";
        size_t used = 0;
        int64_t index = 0;
        if (of->rank != TA_MISSING)
            used = (size_t)snprintf(source, sizeof source, "rank %lld", (long long)of->rank);
        if (of->device != TA_MISSING)
            snprintf(source + used, sizeof source - used, "%sdevice %lld", used ? " · " : "",
                     (long long)of->device);
        for (size_t i = 0; i < n; i++) {
            struct ta_cell cells[TA_LENGTH(telemetry_timeline_columns)] = {
                [TIMELINE_RANK] = ta_int(of->rank),
                [TIMELINE_DEVICE] = ta_int(of->device),
                [TIMELINE_SOURCE] = ta_text(ta_slice_of(source)),
                [TIMELINE_POINT] = ta_int(index),
                [TIMELINE_TIME] = ta_int(points[i].first_ns - origin)};
            bool any = false;
            for (int c = 0; c < DRAWN; c++) {
                const bool has = points[i].n[c] > 0;
                any |= has;
                cells[FIRST_DRAWN + c] =
                    has ? ta_num(points[i].sum[c] / (double)points[i].n[c]) : ta_null();
            }
            index += any;
            if (any)
                ta_add_row(ta_rows(out, &telemetry_timeline), cells);
        }
    }
    free(points);
    ta_map_free(&moments);
    return done;
}

bool telemetry_add_timeline(struct ta_section_builder *out, const struct all *all, int64_t *times)
{
    bool done = true, line = false;
    for (size_t first = 0, end; done && first < all->n; first = end) {
        for (end = first; end < all->n && all->at[end].rank == all->at[first].rank; end++)
            ;
        const int64_t origin = span_of(all, first, end).from;
        for (size_t device = first, next; done && device < end; device = next) {
            next = telemetry_device_end(all, device);
            line |= span_of(all, device, next).points > 1;
            done = add_device(out, all, device, next, times, origin);
        }
    }
    if (line) {
        ta_draw(out, &telemetry_timeline, &devices_chart);
        ta_draw(out, &telemetry_timeline, &host_chart);
    }
    return done;
}
