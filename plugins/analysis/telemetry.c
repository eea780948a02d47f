/* SPDX-License-Identifier: GPL-3.0-or-later */
/* telemetry.by_rank, telemetry.timeline and energy.by_rank: what was sampled beside a run.
 *
 * Samples of single devices win over sums and largest values of all of them.  A stamped sample that
 * several files hold, such as those of an earlier session of the process, counts once.  A power of
 * 0 is no sample, and a device of which all samples are 0 is none.
 *
 * A row of the partial holds a whole series of a file, packed into a text: files have millions of
 * samples, and what is said of them needs all of them in the order of time. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

#include <stdio.h>
#include <stdlib.h>

/* FILE_KEY is TA_MISSING for stamped samples, so that equal series of several files are one. */
enum { RANK, DEVICE, SIGNAL, FILE_KEY, READINGS, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},         [DEVICE] = {"device", TA_FIELD_INT},
    [SIGNAL] = {"signal", TA_FIELD_INT},      [FILE_KEY] = {"file", TA_FIELD_INT},
    [READINGS] = {"readings", TA_FIELD_TEXT}, /* struct reading, in the order of the file */
};

/* A sample of a series. */
struct reading {
    int64_t time;
    double value;
};

static const struct ta_partial_def partials[] = {{"samples", fields, FIELDS}, {0}};

static const struct {
    const char *name;
    enum ta_unit unit;
    bool of_gpu;
} signals[TA_SIGNAL_COUNT] = {
    [TA_SIGNAL_GPU_UTILIZATION] = {"gpu_utilization", TA_UNIT_RATIO, true},
    [TA_SIGNAL_GPU_MEMORY_ACTIVITY] = {"gpu_memory_activity", TA_UNIT_RATIO, true},
    [TA_SIGNAL_GPU_MEMORY_USED] = {"gpu_memory_used", TA_UNIT_BYTES, true},
    [TA_SIGNAL_GPU_MEMORY_TOTAL] = {"gpu_memory_total", TA_UNIT_BYTES, true},
    [TA_SIGNAL_GPU_TEMPERATURE] = {"gpu_temperature", TA_UNIT_CELSIUS, true},
    [TA_SIGNAL_GPU_POWER] = {"gpu_power", TA_UNIT_WATT, true},
    [TA_SIGNAL_GPU_CLOCK] = {"gpu_clock", TA_UNIT_PER_S, true},
    [TA_SIGNAL_GPU_MEMORY_CLOCK] = {"gpu_memory_clock", TA_UNIT_PER_S, true},
    [TA_SIGNAL_TORCH_ALLOCATED] = {"torch_allocated", TA_UNIT_BYTES, true},
    [TA_SIGNAL_TORCH_RESERVED] = {"torch_reserved", TA_UNIT_BYTES, true},
    [TA_SIGNAL_CPU_UTILIZATION] = {"cpu_utilization", TA_UNIT_RATIO, false},
    [TA_SIGNAL_CPU_MEMORY_USED] = {"cpu_memory_used", TA_UNIT_BYTES, false},
    [TA_SIGNAL_CPU_MEMORY_TOTAL] = {"cpu_memory_total", TA_UNIT_BYTES, false},
};

static const struct ta_column rank_columns[] = {
    {"rank", "Rank", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL, "Rank of the dump"},
    {"device", "Device", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Device; none for the host, and for sums or largest values of all devices"},
    {"signal", "Signal", TA_TYPE_WORD, TA_UNIT_NONE, TA_NEUTRAL, "What was sampled"},
    {"samples", "Samples", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of samples"},
    {"min", "Min", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Smallest sample"},
    {"max", "Max", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Largest sample"},
    {"mean", "Mean", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "Mean of the samples"},
    {"p95", "p95", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_NEUTRAL, "95th percentile (type 7)"},
    {"unit", "Unit", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Unit of the four values"},
};

/* Signals of the timeline, in the order of its columns. */
static const enum ta_signal drawn[] = {TA_SIGNAL_GPU_UTILIZATION, TA_SIGNAL_GPU_MEMORY_USED,
                                       TA_SIGNAL_GPU_POWER,       TA_SIGNAL_GPU_TEMPERATURE,
                                       TA_SIGNAL_GPU_CLOCK,       TA_SIGNAL_CPU_UTILIZATION,
                                       TA_SIGNAL_CPU_MEMORY_USED};
enum { DRAWN = sizeof drawn / sizeof *drawn };

static const struct ta_column timeline_columns[] = {
    {"rank", "Rank", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL, "Rank of the dump"},
    {"device", "Device", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Device; none for the host, and for sums or largest values of all devices"},
    {"source", "Source", TA_TYPE_ID, TA_UNIT_NONE, TA_NEUTRAL,
     "Rank and device in one text, for the chart"},
    {"point", "Point", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL, "Place in the series, from 0"},
    {"time_ns", "Time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "Time since the first sample of the rank; without stamps since that of the file"},
    {"gpu_utilization", "GPU utilization", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_HIGHER,
     "Share of time with a kernel running"},
    {"gpu_memory_used", "GPU memory", TA_TYPE_NUMBER, TA_UNIT_BYTES, TA_LOWER,
     "Memory of the device in use"},
    {"gpu_power", "GPU power", TA_TYPE_NUMBER, TA_UNIT_WATT, TA_LOWER, "Power drawn"},
    {"gpu_temperature", "GPU temperature", TA_TYPE_NUMBER, TA_UNIT_CELSIUS, TA_LOWER,
     "Temperature of the device"},
    {"gpu_clock", "GPU clock", TA_TYPE_NUMBER, TA_UNIT_HERTZ, TA_HIGHER,
     "Clock of the multiprocessors, in Hz"},
    {"cpu_utilization", "CPU utilization", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_NEUTRAL,
     "Share of the processors in use"},
    {"cpu_memory_used", "Host memory", TA_TYPE_NUMBER, TA_UNIT_BYTES, TA_LOWER,
     "Memory of the host in use"},
};

static const struct ta_column energy_columns[] = {
    {"rank", "Rank", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL, "Rank of the dump"},
    {"device", "Device", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Device; none for the sum over devices"},
    {"samples", "Samples", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Samples of the power"},
    {"span_ns", "Span", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL, "First to last sample"},
    {"covered_ns", "Covered", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "Part of the span that counts: gaps of more than three median intervals do not"},
    {"energy_j", "Energy", TA_TYPE_NUMBER, TA_UNIT_JOULE, TA_LOWER,
     "Power integrated over the times of the samples (trapezoids)"},
    {"energy_wh", "Wh", TA_TYPE_NUMBER, TA_UNIT_NONE, TA_LOWER, "The same in watt hours"},
    {"mean_w", "Mean power", TA_TYPE_NUMBER, TA_UNIT_WATT, TA_LOWER, "Energy over covered time"},
    {"frame_j", "Per frame", TA_TYPE_NUMBER, TA_UNIT_JOULE, TA_LOWER,
     "Energy over the frames of the rank's blocks"},
};

static const struct ta_chart chart = {
    .id = "device-telemetry",
    .title = "Devices and host over time",
    .caption = "Samples of each rank and device; long series are means over equal spans of time.",
    .kind = TA_CHART_LINES,
    .x = "time_ns",
    .y = {{"gpu_utilization", "GPU utilization", TA_INK_SERIES_1},
          {"gpu_memory_used", "GPU memory", TA_INK_SERIES_1},
          {"gpu_power", "GPU power", TA_INK_SERIES_1},
          {"gpu_temperature", "GPU temperature", TA_INK_SERIES_1},
          {"gpu_clock", "GPU clock", TA_INK_SERIES_1},
          {"cpu_utilization", "CPU utilization", TA_INK_SERIES_1},
          {"cpu_memory_used", "Host memory", TA_INK_SERIES_1}},
    .group = "source",
};

/* ---- map ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The samples of a file that are of one rank, device and signal. */
struct group {
    const struct ta_sample *like;
    bool stamped;
    size_t n, end; /* of the readings; `end` moves on as they are filled in */
};

struct packing {
    struct group *groups;
    size_t n_groups, most;
    struct ta_map known;      /* number of a group by a hash, in the next free place */
    size_t *group_of;         /* by sample; SIZE_MAX: does not count */
    struct reading *readings; /* group by group */
};

static bool is_stamped(const struct ta_sample *sample)
{
    return !sample->relative && sample->time_ns != TA_MISSING;
}

static bool counts(const struct ta_sample *sample)
{
    return (unsigned)sample->signal < TA_SIGNAL_COUNT && isfinite(sample->value) &&
           (sample->signal != TA_SIGNAL_GPU_POWER || sample->value != 0);
}

static bool is_of(const struct group *group, const struct ta_sample *sample)
{
    return group->like->signal == sample->signal && group->like->device == sample->device &&
           group->like->rank == sample->rank && group->stamped == is_stamped(sample);
}

static bool add_group(struct packing *p, const struct ta_sample *sample)
{
    if (p->n_groups == p->most) {
        const size_t most = p->most * 2 + 64;
        struct group *grown = reallocarray(p->groups, most, sizeof *grown);
        if (!grown)
            return false;
        p->groups = grown;
        p->most = most;
    }
    p->groups[p->n_groups++] = (struct group){.like = sample, .stamped = is_stamped(sample)};
    return true;
}

/* The number of the group of a sample, SIZE_MAX without memory. */
static size_t find_group(struct packing *p, const struct ta_sample *sample)
{
    uint64_t key = mix((uint64_t)sample->rank, (uint64_t)sample->device);
    key = mix(key, (uint64_t)sample->signal << 1 | is_stamped(sample));
    for (;; key++) {
        const uint64_t *known = ta_map_at(&p->known, key, p->n_groups);
        if (!known)
            return SIZE_MAX;
        const size_t group = (size_t)*known;
        if (group == p->n_groups && !add_group(p, sample))
            return SIZE_MAX;
        if (is_of(&p->groups[group], sample))
            return group;
    }
}

static bool group_samples(struct packing *p, const struct ta_sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p->group_of[i] = SIZE_MAX;
        if (!counts(&samples[i]))
            continue;
        p->group_of[i] = find_group(p, &samples[i]);
        if (p->group_of[i] == SIZE_MAX)
            return false;
        p->groups[p->group_of[i]].n++;
    }
    return true;
}

static void fill_readings(struct packing *p, const struct ta_sample *samples, size_t n)
{
    size_t end = 0;
    for (size_t i = 0; i < p->n_groups; i++) {
        p->groups[i].end = end;
        end += p->groups[i].n;
    }
    for (size_t i = 0; i < n; i++)
        if (p->group_of[i] != SIZE_MAX)
            p->readings[p->groups[p->group_of[i]].end++] =
                (struct reading){samples[i].time_ns, samples[i].value + 0.0}; /* −0 is 0 */
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    size_t n;
    const struct ta_sample *samples = ta_trace_sample_rows(trace, &n);
    struct packing p = {.group_of = calloc(n + 1, sizeof *p.group_of),
                        .readings = calloc(n + 1, sizeof *p.readings)};
    const bool done = p.group_of && p.readings && group_samples(&p, samples, n);
    if (done)
        fill_readings(&p, samples, n);
    for (size_t i = 0; done && i < p.n_groups; i++) {
        const struct group *group = &p.groups[i];
        const struct reading *first = p.readings + (group->end - group->n);
        TA_PARTIAL_ROW(
            out[0], ta_row_rank(trace, group->like->rank), ta_key_int(group->like->device),
            ta_key_int(group->like->signal),
            group->stamped ? ta_key_int(TA_MISSING) : ta_row_file(trace),
            ta_key_text((struct ta_slice){(const char *)first, group->n * sizeof *first}));
    }
    free(p.groups);
    free(p.group_of);
    free(p.readings);
    ta_map_free(&p.known);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the samples of a file");
}

/* ---- series -------------------------------------------------------------------------------- */

/* The samples of a rank, device and signal: readings [first, end) by time. */
struct series {
    int64_t rank, device;
    enum ta_signal signal;
    size_t first, end;
    bool used;
};

struct all {
    struct reading *readings;
    size_t n_readings;
    struct series *at; /* by rank, device, signal; no device first */
    size_t n;
};

static double value_at(const struct all *all, size_t index)
{
    return all->readings[index].value;
}

static int64_t time_at(const struct all *all, size_t index)
{
    return all->readings[index].time;
}

/* A reading and what tells it apart from others of its moment: the file, if it has no stamp, and
 * how many of that moment came before in the file. */
struct moment {
    struct reading reading;
    int64_t file;
    size_t order;
};

static int by_moment(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    if (a->reading.time != b->reading.time)
        return a->reading.time < b->reading.time ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* The text of a row lies at no particular address. */
static size_t unpack(const struct ta_partial *samples, size_t row, struct reading *readings)
{
    const struct ta_slice text = ta_partial_text(samples, ta_partial_at(samples, row), READINGS);
    if (readings)
        memcpy(readings, text.ptr, text.len);
    return text.len / sizeof *readings;
}

/* The moments of the readings of one file, ascending. */
static void order_file(struct moment *moments, const struct reading *readings, size_t n,
                       int64_t file)
{
    bool ascending = true;
    for (size_t i = 0; i < n; i++) {
        moments[i] = (struct moment){readings[i], file, i};
        ascending &= i == 0 || readings[i - 1].time <= readings[i].time;
    }
    if (!ascending)
        qsort(moments, n, sizeof *moments, by_moment);
    for (size_t i = 0; i < n; i++)
        moments[i].order = i > 0 && moments[i - 1].reading.time == moments[i].reading.time
                               ? moments[i - 1].order + 1
                               : 0;
}

/* Puts sorted moments back, those that several files have once: the larger.  Returns how many. */
static size_t join(struct reading *readings, const struct moment *moments, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct reading reading = moments[i].reading;
        if (i > 0 && by_moment(&moments[i - 1], &moments[i]) == 0)
            readings[kept - 1].value = fmax(readings[kept - 1].value, reading.value);
        else
            readings[kept++] = reading;
    }
    return kept;
}

/* Adds the series of rows [first, end); `moments` has room for it. */
static void add_series(struct all *all, const struct ta_partial *samples, size_t first, size_t end,
                       struct moment *moments)
{
    const int64_t *row = ta_partial_at(samples, first);
    struct reading *readings = all->readings + all->n_readings;
    size_t n = 0;
    for (size_t i = first; i < end; i++) {
        const size_t more = unpack(samples, i, readings + n);
        order_file(moments + n, readings + n, more, ta_partial_at(samples, i)[FILE_KEY]);
        n += more;
    }
    if (end - first > 1)
        qsort(moments, n, sizeof *moments, by_moment);
    n = join(readings, moments, n);
    all->at[all->n++] = (struct series){.rank = row[RANK],
                                        .device = row[DEVICE],
                                        .signal = (enum ta_signal)row[SIGNAL],
                                        .first = all->n_readings,
                                        .end = all->n_readings + n,
                                        .used = true};
    all->n_readings += n;
}

static size_t series_end(const struct ta_partial *samples, size_t first)
{
    const int64_t *row = ta_partial_at(samples, first);
    size_t end = first;
    for (; end < ta_partial_rows(samples); end++) {
        const int64_t *next = ta_partial_at(samples, end);
        if (next[RANK] != row[RANK] || next[DEVICE] != row[DEVICE] || next[SIGNAL] != row[SIGNAL])
            break;
    }
    return end;
}

static bool find_series(struct all *all, const struct ta_partial *samples)
{
    const size_t n = ta_partial_rows(samples);
    size_t most = 0;
    for (size_t first = 0, end; first < n; first = end) {
        size_t length = 0;
        end = series_end(samples, first);
        for (size_t i = first; i < end; i++)
            length += unpack(samples, i, NULL);
        most = length > most ? length : most;
    }
    struct moment *moments = calloc(most + 1, sizeof *moments);
    for (size_t first = 0, end; moments && first < n; first = end) {
        end = series_end(samples, first);
        add_series(all, samples, first, end, moments);
    }
    free(moments);
    return moments != NULL;
}

static bool is_zero(const struct all *all, const struct series *series)
{
    for (size_t i = series->first; i < series->end; i++)
        if (value_at(all, i) != 0)
            return false;
    return true;
}

/* Series of one rank and device: first of them, end. */
static size_t device_end(const struct all *all, size_t first)
{
    size_t end = first;
    while (end < all->n && all->at[end].rank == all->at[first].rank &&
           all->at[end].device == all->at[first].device)
        end++;
    return end;
}

/* Where there is no device, profilers write zeros. */
static void drop_absent_devices(struct all *all)
{
    for (size_t first = 0, end; first < all->n; first = end) {
        bool any = false;
        end = device_end(all, first);
        for (size_t i = first; i < end; i++)
            any |= signals[all->at[i].signal].of_gpu && !is_zero(all, &all->at[i]);
        for (size_t i = first; i < end; i++)
            all->at[i].used = any || !signals[all->at[i].signal].of_gpu;
    }
}

/* A series over all devices is not used where the rank has one per device, of any signal: the sum
 * is of the same samples. */
static void drop_sums(struct all *all)
{
    for (size_t first = 0, end; first < all->n; first = end) {
        bool named = false;
        for (end = first; end < all->n && all->at[end].rank == all->at[first].rank; end++)
            named |= all->at[end].used && all->at[end].device != TA_MISSING &&
                     signals[all->at[end].signal].of_gpu;
        for (size_t i = first; named && i < end; i++)
            if (all->at[i].device == TA_MISSING && signals[all->at[i].signal].of_gpu)
                all->at[i].used = false;
    }
}

/* ---- by rank ------------------------------------------------------------------------------- */

static void add_ranks(struct ta_section_builder *out, const struct all *all, double *values)
{
    struct ta_table_builder *table =
        ta_add_table(out, "telemetry.by_rank", "Device telemetry", rank_columns, 9);
    for (size_t s = 0; s < all->n; s++) {
        const struct series *series = &all->at[s];
        const size_t n = series->end - series->first;
        double sum = 0;
        if (!series->used)
            continue;
        for (size_t i = 0; i < n; i++)
            values[i] = value_at(all, series->first + i);
        ta_sort_numbers(values, n);
        for (size_t i = 0; i < n; i++)
            sum += values[i];
        TA_ROW(table, ta_int(series->rank), ta_int(series->device),
               ta_text(ta_slice_of(signals[series->signal].name)), ta_int((int64_t)n),
               ta_num(values[0]), ta_num(values[n - 1]), ta_num(sum / (double)n),
               ta_num(ta_quantile(values, n, 0.95)),
               ta_text(ta_slice_of(ta_unit_name(signals[series->signal].unit))));
    }
}

/* ---- energy -------------------------------------------------------------------------------- */

/* Steps of time between the samples of a series, ascending; their number. */
static size_t intervals_of(const struct all *all, const struct series *series, double *steps)
{
    size_t n = 0;
    for (size_t i = series->first + 1; i < series->end; i++)
        steps[n++] = (double)(time_at(all, i) - time_at(all, i - 1));
    ta_sort_numbers(steps, n);
    return n;
}

static int64_t frames_of(const struct ta_table *ranks, int64_t rank)
{
    const size_t of = ranks ? ta_table_column(ranks, "rank") : SIZE_MAX;
    for (size_t i = 0; ranks && i < ranks->n_rows; i++) {
        const struct ta_cell *cell = ta_table_cell(ranks, i, of);
        const struct ta_cell *frames = ta_table_cell(ranks, i, ta_table_column(ranks, "frames"));
        if (cell->kind == TA_CELL_INT && cell->i == rank && frames->kind == TA_CELL_INT)
            return frames->i;
    }
    return 0;
}

static void add_energy(struct ta_table_builder *table, const struct all *all,
                       const struct series *series, const struct ta_table *ranks, double *scratch)
{
    const size_t n = intervals_of(all, series, scratch);
    const double longest = 3 * ta_quantile(scratch, n, 0.5);
    double joules = 0;
    int64_t covered = 0;
    for (size_t i = series->first + 1; i < series->end; i++) {
        const int64_t step = time_at(all, i) - time_at(all, i - 1);
        if (step <= 0 || (double)step > longest)
            continue;
        covered += step;
        joules += (value_at(all, i - 1) + value_at(all, i)) / 2 * (double)step / 1e9;
    }
    if (covered == 0)
        return;
    const int64_t frames = frames_of(ranks, series->rank);
    TA_ROW(table, ta_int(series->rank), ta_int(series->device), ta_int((int64_t)n + 1),
           ta_int(time_at(all, series->end - 1) - time_at(all, series->first)), ta_int(covered),
           ta_num(joules), ta_num(joules / 3600), ta_num(joules / ((double)covered / 1e9)),
           frames > 0 ? ta_num(joules / (double)frames) : ta_null());
}

static void add_energies(struct ta_section_builder *out, const struct all *all,
                         const struct ta_report *prior, double *scratch)
{
    const struct ta_table *ranks = ta_report_table(prior, "diffusion.by_rank");
    struct ta_table_builder *table =
        ta_add_table(out, "energy.by_rank", "Energy", energy_columns, 9);
    for (size_t s = 0; s < all->n; s++) {
        const struct series *series = &all->at[s];
        if (series->used && series->signal == TA_SIGNAL_GPU_POWER &&
            series->end - series->first > 1 && time_at(all, series->first) != TA_MISSING)
            add_energy(table, all, series, ranks, scratch);
    }
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

static bool is_drawn(const struct all *all, const struct series *series)
{
    return series->used && column_of(series->signal) >= 0 &&
           time_at(all, series->first) != TA_MISSING;
}

/* From the first to the last sample; as many points as the longest series has, POINTS at most. */
static struct span span_of(const struct all *all, size_t first, size_t end)
{
    struct span span = {.from = INT64_MAX, .to = INT64_MIN};
    for (size_t s = first; s < end; s++) {
        const struct series *series = &all->at[s];
        const size_t n = series->end - series->first;
        if (!is_drawn(all, series))
            continue;
        span.from = ta_min_i64(span.from, time_at(all, series->first));
        span.to = ta_max_i64(span.to, time_at(all, series->end - 1));
        span.points = n > span.points ? n : span.points;
    }
    return span;
}

/* Short series keep their samples: each moment is a point of its own. */
static size_t point_of(const struct span *span, struct ta_map *moments, int64_t time)
{
    if (!moments)
        return (size_t)((double)(time - span->from) / ((double)(span->to - span->from) + 1) *
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
    for (size_t s = first; s < end; s++)
        for (size_t i = all->at[s].first; is_drawn(all, &all->at[s]) && i < all->at[s].end; i++)
            times[n++] = time_at(all, i);
    qsort(times, n, sizeof *times, by_time);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || times[i] != times[i - 1]) {
            ta_map_at(moments, (uint64_t)times[i], distinct);
            distinct++;
        }
    return moments->failed ? 0 : distinct;
}

static void add_points(struct ta_table_builder *table, const struct series *of,
                       const struct point *points, size_t n, int64_t origin)
{
    char source[80] = "";
    size_t used = 0;
    int64_t index = 0;
    if (of->rank != TA_MISSING)
        used = (size_t)snprintf(source, sizeof source, "rank %lld", (long long)of->rank);
    if (of->device != TA_MISSING)
        snprintf(source + used, sizeof source - used, "%sdevice %lld", used ? " · " : "",
                 (long long)of->device);
    for (size_t i = 0; i < n; i++) {
        struct ta_cell cells[5 + DRAWN] = {ta_int(of->rank), ta_int(of->device),
                                           ta_text(ta_slice_of(source)), ta_int(index),
                                           ta_int(points[i].first_ns - origin)};
        bool any = false;
        for (int c = 0; c < DRAWN; c++) {
            const bool has = points[i].n[c] > 0;
            any |= has;
            cells[5 + c] = has ? ta_num(points[i].sum[c] / (double)points[i].n[c]) : ta_null();
        }
        index += any;
        if (any)
            ta_add_row(table, cells);
    }
}

static void fill_points(const struct all *all, size_t first, size_t end, const struct span *span,
                        struct ta_map *moments, struct point *points)
{
    for (size_t s = first; s < end; s++) {
        const struct series *series = &all->at[s];
        const int column = column_of(series->signal);
        for (size_t i = series->first; is_drawn(all, series) && i < series->end; i++) {
            const size_t at = point_of(span, moments, time_at(all, i));
            if (at == SIZE_MAX)
                continue;
            struct point *point = &points[at];
            point->first_ns = ta_min_i64(point->first_ns, time_at(all, i));
            point->sum[column] += value_at(all, i);
            point->n[column]++;
        }
    }
}

/* The timeline of one rank and device. */
static bool add_device(struct ta_table_builder *table, const struct all *all, size_t first,
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
        add_points(table, &all->at[first], points, n, origin);
    }
    free(points);
    ta_map_free(&moments);
    return done;
}

static bool add_timeline(struct ta_section_builder *out, const struct all *all, int64_t *times)
{
    struct ta_table_builder *table =
        ta_add_table(out, "telemetry.timeline", "Telemetry over time", timeline_columns, 5 + DRAWN);
    bool done = true, line = false;
    for (size_t first = 0, end; done && first < all->n; first = end) {
        for (end = first; end < all->n && all->at[end].rank == all->at[first].rank; end++)
            ;
        const int64_t origin = span_of(all, first, end).from;
        for (size_t device = first, next; done && device < end; device = next) {
            next = device_end(all, device);
            line |= span_of(all, device, next).points > 1;
            done = add_device(table, all, device, next, times, origin);
        }
    }
    if (line)
        ta_add_chart(table, &chart);
    return done;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    const size_t n_rows = ta_partial_rows(merged[0]);
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++)
        n += unpack(merged[0], i, NULL);
    struct all all = {.readings = calloc(n + 1, sizeof *all.readings),
                      .at = calloc(n_rows + 1, sizeof *all.at)};
    double *values = calloc(n + 1, sizeof *values);
    int64_t *times = calloc(n + 1, sizeof *times);
    bool done = all.readings && all.at && values && times && find_series(&all, merged[0]);
    if (done) {
        drop_absent_devices(&all);
        drop_sums(&all);
        add_ranks(out, &all, values);
        add_energies(out, &all, prior, values);
        done = add_timeline(out, &all, times);
    }
    free(all.readings);
    free(all.at);
    free(values);
    free(times);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the telemetry");
}

static const char *const after[] = {"diffusion", NULL};

static const struct ta_analysis_ops ops = {
    .after = after, .section = "telemetry", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, telemetry, &ops, .title = "Device telemetry",
          .summary = "Samples of devices and host, and the energy: telemetry.by_rank, "
                     "telemetry.timeline, energy.by_rank",
          .version = "1");
