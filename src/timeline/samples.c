/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters: the series of a trace, and what was sampled beside a run.
 *
 * Of a long series each of 2048 parts of its time keeps its first, last, least and largest sample
 * (M4: Jugel and others, VLDB 2014), which draw the same line at that resolution as all of them. */
#include "timeline/samples.h"

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
    const int64_t width = (from->ts[from->n - 1] - start) / PARTS + 1;
    for (size_t first = 0, end; first < from->n; first = end) {
        end = first + 1;
        while (end < from->n &&
               (from->ts[end] - start) / width == (from->ts[first] - start) / width)
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

static bool is_same_series(const struct ta_counters *c, size_t a, size_t b)
{
    return c->track[a] == c->track[b] && c->name[a] == c->name[b] && c->series[a] == c->series[b];
}

static size_t end_of_series(const struct ta_counters *c, size_t first)
{
    size_t end = first + 1;
    while (end < c->n && is_same_series(c, first, end))
        end++;
    return end;
}

static const char *text_of(struct ta_timeline_part *part, const struct ta_trace *trace, ta_str id)
{
    return ta_arena_copy(&part->arena, id == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(trace, id));
}

static bool pack_counters(struct ta_timeline_part *part, const struct ta_trace *trace,
                          const struct ta_counters *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i = end_of_series(all, i))
        n++;
    struct ta_timeline_counter *counters = make_room(part, n);
    for (size_t i = 0, end; counters && i < all->n; i = end) {
        end = end_of_series(all, i);
        const struct ta_track *track = &ta_trace_tracks(trace).at[all->track[i]];
        const bool is_named = track->process_name != TA_STR_ABSENT;
        struct ta_timeline_counter *counter = &counters[part->file.n_counters++];
        *counter = (struct ta_timeline_counter){
            .process = text_of(part, trace, is_named ? track->process_name : track->pid),
            .name = text_of(part, trace, all->name[i]),
            .series = text_of(part, trace, all->series[i])};
        const struct series series = {all->ts + i, all->value + i, end - i, ta_trace_origin(trace)};
        if (!pack_series(part, &series, counter))
            return false;
    }
    return counters != NULL;
}

/* ---- samples of a dump --------------------------------------------------------------------- */

static int by_signal(const void *left, const void *right)
{
    const struct ta_sample *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->signal != b->signal)
        return a->signal < b->signal ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* Those of the rank of the file that have a time, by signal; malloc'd. */
static struct ta_sample *sort_samples(const struct ta_sample *rows, size_t n, size_t *kept)
{
    struct ta_sample *sorted = reallocarray(NULL, n + 1, sizeof *sorted);
    *kept = 0;
    for (size_t i = 0; sorted && i < n; i++)
        if (rows[i].rank == TA_MISSING && rows[i].time_ns != TA_MISSING)
            sorted[(*kept)++] = rows[i];
    if (sorted)
        qsort(sorted, *kept, sizeof *sorted, by_signal);
    return sorted;
}

static bool is_same_signal(const struct ta_sample *a, const struct ta_sample *b)
{
    return a->device == b->device && a->signal == b->signal;
}

static void name_signal(struct ta_timeline_part *part, const struct ta_sample *sample,
                        struct ta_timeline_counter *counter)
{
    char buffer[TA_WORD_TEXT_MAX];
    const struct ta_slice word = ta_slice_of(ta_signal_name(sample->signal));
    *counter = (struct ta_timeline_counter){
        .process = sample->device == TA_MISSING
                       ? ""
                       : ta_arena_printf(&part->arena, "GPU %" PRId64, sample->device),
        .name = ta_arena_copy(&part->arena, ta_word_text(word, buffer)),
        .series = "",
        .unit = ta_signal_unit(sample->signal)};
}

/* One counter per signal of a device; `times` and `values` have room for all samples. */
static bool pack_signals(struct ta_timeline_part *part, const struct ta_sample *sorted, size_t n,
                         int64_t *times, double *values)
{
    struct ta_timeline_counter *counters = make_room(part, n);
    int64_t origin = sorted[0].time_ns;
    for (size_t i = 0; i < n; i++) {
        origin = ta_min_i64(origin, sorted[i].time_ns);
        times[i] = sorted[i].time_ns;
        values[i] = sorted[i].value;
    }
    part->origin_ns = sorted[0].relative ? TA_MISSING : origin;
    for (size_t i = 0, end; counters && i < n; i = end) {
        for (end = i + 1; end < n && is_same_signal(&sorted[i], &sorted[end]);)
            end++;
        const struct series series = {times + i, values + i, end - i, origin};
        struct ta_timeline_counter *counter = &counters[part->file.n_counters++];
        name_signal(part, &sorted[i], counter);
        if (!pack_series(part, &series, counter))
            return false;
    }
    return counters != NULL;
}

static bool pack_samples(struct ta_timeline_part *part, const struct ta_sample *rows, size_t n)
{
    size_t kept;
    struct ta_sample *sorted = sort_samples(rows, n, &kept);
    int64_t *times = reallocarray(NULL, n + 1, sizeof *times);
    double *values = reallocarray(NULL, n + 1, sizeof *values);
    bool done = sorted && times && values;
    if (done && kept)
        done = pack_signals(part, sorted, kept, times, values);
    free(sorted);
    free(times);
    free(values);
    return done;
}

bool ta_timeline_pack_samples(struct ta_timeline_part *part, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_sample *samples = ta_trace_sample_rows(trace, &n);
    const struct ta_counters counters = ta_trace_counters(trace);
    return n ? pack_samples(part, samples, n) : pack_counters(part, trace, &counters);
}
