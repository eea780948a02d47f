/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters: the series of a trace, and what was sampled during a run.
 *
 * Of a long series each of 2048 parts of its time keeps its first, last, least and largest sample
 * (M4: Jugel and others, VLDB 2014), which draw the same line at that resolution as all of them. */
#include "analyze/timeline/samples.h"

#include "base/vec.h"
#include "report/words.h"
#include "traceanalyze/base.h"
#include "traceanalyze/dump.h"
#include "traceanalyze/output.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PARTS = TA_TIMELINE_SAMPLES / 4 };

/* Samples by time. */
struct series {
    const int64_t *ts;
    const double *values;
    size_t n;
    int64_t origin_ns;
};

/* ---- thinning ------------------------------------------------------------------------------ */

struct samples {
    int64_t *ts_ns;
    double *values;
    size_t n;
};

static void keep(struct samples *to, const struct series *from, size_t at)
{
    to->ts_ns[to->n] = from->ts[at] - from->origin_ns;
    to->values[to->n++] = from->values[at];
}

/* Keeps up to four of the samples [first, end), in their order. */
static void keep_extremes(struct samples *to, const struct series *from, size_t first, size_t end)
{
    size_t least = first, most = first;
    for (size_t i = first + 1; i < end; i++) {
        if (from->values[i] < from->values[least])
            least = i;
        if (from->values[i] > from->values[most])
            most = i;
    }
    const size_t wanted[4] = {first, least < most ? least : most, least < most ? most : least,
                              end - 1};
    for (int i = 0; i < 4; i++)
        if (i == 0 || wanted[i] > wanted[i - 1])
            keep(to, from, wanted[i]);
}

static void thin(struct samples *to, const struct series *from)
{
    const int64_t start = from->ts[0];
    const uint64_t width = (uint64_t)(from->ts[from->n - 1] - start) / PARTS + 1;
    for (size_t first = 0, end; first < from->n; first = end) {
        const uint64_t part = (uint64_t)(from->ts[first] - start) / width;
        end = first + 1;
        while (end < from->n && (uint64_t)(from->ts[end] - start) < (part + 1) * width)
            end++;
        keep_extremes(to, from, first, end);
    }
}

/* Fills in the samples of a counter; false without memory. */
static bool pack_series(struct ta_timeline_part *part, const struct series *series,
                        struct ta_timeline_counter *counter)
{
    const size_t room = series->n > TA_TIMELINE_SAMPLES ? TA_TIMELINE_SAMPLES : series->n;
    struct samples kept = {.ts_ns = ta_arena_alloc(&part->arena, room * sizeof *kept.ts_ns),
                           .values = ta_arena_alloc(&part->arena, room * sizeof *kept.values)};
    if (!kept.ts_ns || !kept.values)
        return false;
    if (series->n > room)
        thin(&kept, series);
    else
        for (size_t i = 0; i < series->n; i++)
            keep(&kept, series, i);
    counter->ts_ns = kept.ts_ns;
    counter->values = kept.values;
    counter->n = kept.n;
    counter->n_recorded = series->n;
    part->file.end_ns = ta_max_i64(part->file.end_ns, kept.ts_ns[kept.n - 1]);
    return !part->arena.failed;
}

static struct ta_timeline_counter *make_room(struct ta_timeline_part *part, size_t n)
{
    struct ta_timeline_counter *counters = ta_arena_alloc(&part->arena, (n + 1) * sizeof *counters);
    part->file.counters = counters;
    return counters;
}

/* ---- counters of a trace ------------------------------------------------------------------- */

static const char *text_of(struct ta_timeline_part *part, const struct ta_trace *trace, ta_str id)
{
    return ta_arena_copy(&part->arena, id == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(trace, id));
}

/* Names say when values are bytes; torch's allocator and others call them so. */
static enum ta_unit unit_of(const struct ta_trace *trace, const struct ta_counter_series *of)
{
    const bool is_bytes =
        (of->series != TA_STR_ABSENT && ta_slice_ends(ta_trace_text(trace, of->series), "bytes")) ||
        (of->name != TA_STR_ABSENT &&
         ta_slice_starts(ta_trace_text(trace, of->name), TA_MEMORY_COUNTER));
    return is_bytes ? TA_UNIT_BYTES : TA_UNIT_NONE;
}

static bool pack_counters(struct ta_timeline_part *part, const struct ta_trace *trace,
                          const struct ta_counters *all)
{
    struct ta_timeline_counter *counters = make_room(part, all->n_series);
    for (size_t i = 0; counters && i < all->n_series; i++) {
        const struct ta_counter_series *of = &all->series[i];
        const struct ta_track *track = &ta_trace_tracks(trace).at[of->track];
        const bool is_named = track->process_name != TA_STR_ABSENT;
        struct ta_timeline_counter *counter = &counters[part->file.n_counters++];
        *counter = (struct ta_timeline_counter){
            .process = text_of(part, trace, is_named ? track->process_name : track->pid),
            .name = text_of(part, trace, of->name),
            .series = text_of(part, trace, of->series),
            .unit = unit_of(trace, of)};
        const struct series series = {all->ts + of->first, all->value + of->first, of->n,
                                      ta_trace_origin(trace)};
        if (!pack_series(part, &series, counter))
            return false;
    }
    return counters != NULL;
}

/* ---- samples of a dump --------------------------------------------------------------------- */

/* The samples, and then what torch held at labelled moments, which are samples of the same kind. */
struct stream {
    struct ta_sample sample; /* after next_sample() */
    struct ta_samples samples;
    const struct ta_memory_mark *marks;
    size_t n_marks, at; /* two of each mark */
};

static struct stream stream_of(const struct ta_trace *dump)
{
    struct stream stream = {.samples = ta_trace_samples(dump)};
    stream.marks = ta_trace_memory_mark_rows(dump, &stream.n_marks);
    return stream;
}

static size_t left_in(const struct stream *stream)
{
    return stream->samples.left + 2 * stream->n_marks - stream->at;
}

static bool next_sample(struct stream *stream)
{
    if (ta_samples_next(&stream->samples)) {
        stream->sample = stream->samples.sample;
        return true;
    }
    if (stream->at == 2 * stream->n_marks)
        return false;
    const struct ta_memory_mark *mark = &stream->marks[stream->at / 2];
    const bool reserved = stream->at++ % 2 != 0;
    const int64_t bytes = reserved ? mark->reserved_bytes : mark->allocated_bytes;
    stream->sample = (struct ta_sample){
        .rank = mark->rank,
        .device = mark->device,
        .signal = reserved ? TA_SIGNAL_TORCH_RESERVED : TA_SIGNAL_TORCH_ALLOCATED,
        .time_ns = bytes == TA_MISSING ? TA_MISSING : mark->time_ns,
        .value = (double)bytes,
    };
    return true;
}

/* The samples of one signal of a device, in the order of the file and then of time. */
struct signal {
    int64_t device;
    enum ta_signal signal;
    size_t n, first; /* of the readings */
};

struct reading {
    int64_t time_ns;
    double value;
};

struct signals {
    TA_VEC(struct signal) all;
    struct ta_map known; /* number of a signal */
    struct reading *readings;
    int64_t origin; /* the earliest time */
    bool relative;
};

/* Whether the timeline shows it: it is of the rank of the file, has a time, and may change. */
static bool is_shown(const struct ta_sample *sample)
{
    return sample->rank == TA_MISSING && sample->time_ns != TA_MISSING &&
           sample->signal != TA_SIGNAL_GPU_MEMORY_TOTAL &&
           sample->signal != TA_SIGNAL_CPU_MEMORY_TOTAL &&
           sample->signal != TA_SIGNAL_GPU_POWER_LIMIT && sample->signal != TA_SIGNAL_GPU_CLOCK_MAX;
}

/* Where the samples of that signal and device are; NULL without memory. */
static struct signal *find_signal(struct signals *signals, const struct ta_sample *sample)
{
    const uint64_t key = (uint64_t)sample->device * TA_SIGNAL_COUNT + sample->signal;
    const uint64_t *known = ta_map_at(&signals->known, key, signals->all.n);
    if (!known || (*known == signals->all.n &&
                   !ta_vec_push(&signals->all, (struct signal){.device = sample->device,
                                                               .signal = sample->signal})))
        return NULL;
    return &signals->all.at[*known];
}

static bool count_samples(struct signals *signals, struct stream samples)
{
    signals->origin = INT64_MAX;
    while (next_sample(&samples)) {
        if (!is_shown(&samples.sample))
            continue;
        struct signal *signal = find_signal(signals, &samples.sample);
        if (!signal)
            return false;
        signal->n++;
        signals->origin = ta_min_i64(signals->origin, samples.sample.time_ns);
        signals->relative |= samples.sample.relative;
    }
    return true;
}

static void fill_in(struct signals *signals, struct stream samples)
{
    size_t end = 0;
    for (size_t i = 0; i < signals->all.n; i++) {
        struct signal *signal = &signals->all.at[i];
        signal->first = end;
        end += signal->n;
        signal->n = 0;
    }
    while (next_sample(&samples)) {
        if (!is_shown(&samples.sample))
            continue;
        struct signal *signal = find_signal(signals, &samples.sample);
        signals->readings[signal->first + signal->n++] =
            (struct reading){samples.sample.time_ns, samples.sample.value};
    }
}

static int by_signal(const void *left, const void *right)
{
    const struct signal *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->signal > b->signal) - (a->signal < b->signal);
}

static int by_time(const void *left, const void *right)
{
    const struct reading *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

static void name_signal(struct ta_timeline_part *part, const struct signal *signal,
                        struct ta_timeline_counter *counter)
{
    char buffer[TA_WORD_TEXT_MAX];
    const struct ta_slice word = ta_slice_of(ta_signal_name(signal->signal));
    const bool is_clock = ta_signal_unit(signal->signal) == TA_UNIT_PER_S;
    *counter = (struct ta_timeline_counter){
        .process = signal->device == TA_MISSING
                       ? ""
                       : ta_arena_printf(&part->arena, "GPU %" PRId64, signal->device),
        .name = ta_arena_copy(&part->arena, ta_word_text(word, buffer)),
        .series = "",
        .unit = is_clock ? TA_UNIT_HERTZ : ta_signal_unit(signal->signal)};
}

/* Adds the counter of a signal; what was sampled at one moment only is no line and left out. */
static bool pack_signal(struct ta_timeline_part *part, const struct signals *signals,
                        const struct signal *signal, struct ta_timeline_counter *counters)
{
    struct reading *readings = signals->readings + signal->first;
    qsort(readings, signal->n, sizeof *readings, by_time);
    if (readings[0].time_ns == readings[signal->n - 1].time_ns)
        return true;
    int64_t *times = reallocarray(NULL, signal->n, sizeof *times);
    double *values = reallocarray(NULL, signal->n, sizeof *values);
    bool done = times && values;
    for (size_t i = 0; done && i < signal->n; i++) {
        times[i] = readings[i].time_ns;
        values[i] = readings[i].value;
    }
    if (done) {
        const struct series series = {times, values, signal->n, signals->origin};
        struct ta_timeline_counter *counter = &counters[part->file.n_counters++];
        name_signal(part, signal, counter);
        done = pack_series(part, &series, counter);
    }
    free(times);
    free(values);
    return done;
}

/* One counter per signal of a device. */
static bool pack_signals(struct ta_timeline_part *part, struct signals *signals)
{
    const bool has_slices = part->file.n_tracks > 0;
    if (has_slices && signals->relative) /* on another clock */
        return true;
    struct ta_timeline_counter *counters = make_room(part, signals->all.n);
    if (has_slices) /* they begin before the samples */
        signals->origin = part->origin_ns;
    part->origin_ns = signals->relative ? TA_MISSING : signals->origin;
    qsort(signals->all.at, signals->all.n, sizeof *signals->all.at, by_signal);
    for (size_t i = 0; counters && i < signals->all.n; i++)
        if (!pack_signal(part, signals, &signals->all.at[i], counters))
            return false;
    return counters != NULL;
}

static bool pack_samples(struct ta_timeline_part *part, struct stream samples)
{
    struct signals signals = {0};
    bool done = count_samples(&signals, samples);
    if (done && signals.all.n) {
        signals.readings = reallocarray(NULL, left_in(&samples), sizeof *signals.readings);
        done = signals.readings != NULL;
    }
    if (signals.readings) {
        fill_in(&signals, samples);
        done = pack_signals(part, &signals);
    }
    ta_map_free(&signals.known);
    free(signals.all.at);
    free(signals.readings);
    return done;
}

bool ta_timeline_has_samples(const struct ta_trace *dump)
{
    struct stream stream = stream_of(dump);
    while (next_sample(&stream))
        if (is_shown(&stream.sample))
            return true;
    return false;
}

int64_t ta_timeline_first_sample(const struct ta_trace *dump)
{
    int64_t first = INT64_MAX;
    struct stream stream = stream_of(dump);
    while (next_sample(&stream))
        if (stream.sample.time_ns != TA_MISSING && !stream.sample.relative)
            first = ta_min_i64(first, stream.sample.time_ns);
    return first;
}

bool ta_timeline_pack_samples(struct ta_timeline_part *part, const struct ta_trace *trace)
{
    const struct stream stream = stream_of(trace);
    const struct ta_counters counters = ta_trace_counters(trace);
    return left_in(&stream) ? pack_samples(part, stream) : pack_counters(part, trace, &counters);
}
