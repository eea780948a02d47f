/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queues of one trace: their launches, and the sweep over them. */
#include "analyze/partial.h"
#include "launch_queue.h"
#include "stat/dist.h"
#include "stat/interval.h"

#include <traceanalyze/model.h>

#include <math.h>
#include <stdlib.h>

enum {
    QUEUE_BINS = 100,       /* number of equal intervals that a window is divided into */
    QUEUE_FULL = 1000,      /* above this depth the driver soon makes the host wait */
    QUEUE_LATE_NS = 100000, /* a launch with a longer delay while the device idles is an outlier */
};

/* Rows that delays go to, as FIGURE_…; NULL before the first. */
struct delays {
    struct ta_dist *all, *bare;
};

/* A stream of the current device: its launches are [first, end) of all. */
struct stream {
    size_t first, end;
    int64_t *row; /* row of the partial, NULL before a launch that is not of a graph */
    struct delays delays;
};

struct walk {
    const struct ta_trace *trace;
    struct ta_activities activities;
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_partial *const *out;
    int64_t *starts, *ends; /* launches of the current device, by stream */
    struct stream *streams; /* by track; zeros for tracks of other devices */
    uint32_t *used;         /* the tracks of the device */
    size_t n_used;
    struct ta_dist *delays[2]; /* delays of kernels, and of copies and memory sets */
    size_t n;                  /* launches */
    struct ta_map of_graph;    /* index of a graph launch on a stream */
    int64_t first, last;       /* window of the device */
    int bin_width;             /* number of bins that make one row */
};

static int64_t end_of(const struct walk *w, ta_row row)
{
    return w->spans.ts[row] + w->spans.dur[row];
}

/* ---- launches ------------------------------------------------------------------------------- */

/* Index of a launch; later kernels of a graph extend the graph's. */
static size_t place_of(struct walk *w, const struct ta_activity *a, bool graph)
{
    const uint32_t track = w->spans.track[a->span];
    struct stream *stream = &w->streams[track];
    if (graph) {
        uint64_t *at = ta_map_at(&w->of_graph, (uint64_t)a->launch << 32 | track, stream->end);
        if (at && *at < stream->end)
            return *at;
    }
    const size_t place = stream->end++;
    w->starts[place] = ta_min_i64(w->spans.ts[a->launch], w->spans.ts[a->span]);
    w->ends[place] = INT64_MIN;
    w->n++;
    return place;
}

/* Closes unused space: kernels of a graph share an entry, and some have no launch. */
static void close_up(struct walk *w)
{
    size_t to = 0;
    for (size_t i = 0; i < w->n_used; i++) {
        struct stream *stream = &w->streams[w->used[i]];
        const size_t n = stream->end - stream->first;
        if (stream->first != to) {
            memmove(w->starts + to, w->starts + stream->first, n * sizeof *w->starts);
            memmove(w->ends + to, w->ends + stream->first, n * sizeof *w->ends);
        }
        stream->first = to;
        stream->end = to += n;
    }
}

/* Adds a delay to a partial whose fields are at `row`. */
static void add_delay(struct ta_partial *out, int64_t *row, size_t figures, struct delays *to,
                      int64_t delay, int64_t idle)
{
    if (!to->all)
        to->all = ta_partial_dist(out, row, figures + FIGURE_DELAY);
    ta_dist_add(to->all, delay);
    if (idle >= delay) {
        if (!to->bare)
            to->bare = ta_partial_dist(out, row, figures + FIGURE_BARE);
        ta_dist_add(to->bare, delay);
    }
    ta_sum(&row[figures + FIGURE_LATE], ta_min_i64(idle, delay) > QUEUE_LATE_NS);
}

/* Adds a delay if it says something; `idle`: how long the device had been idle.  Kernels of
 * graphs have no launch of their own, and calls that return after the start say nothing about a
 * queue. */
static void take_delay(struct walk *w, const struct ta_activity *a, int64_t *row,
                       struct delays *delays, int64_t idle)
{
    const int64_t delay = w->spans.ts[a->span] - end_of(w, a->launch);
    const uint32_t track = w->spans.track[a->span];
    struct stream *stream = &w->streams[track];
    if (!stream->row)
        stream->row = TA_PARTIAL_ROW(w->out[QUEUE_STREAMS], ta_key_int(ta_trace_rank(w->trace)),
                                     ta_key_int(a->device),
                                     ta_key_text(ta_trace_text(w->trace, w->tracks.at[track].tid)));
    if (delay < 0)
        return;
    add_delay(w->out[QUEUE_DEVICES], row, DEVICE_FIGURES, delays, delay, idle);
    add_delay(w->out[QUEUE_STREAMS], stream->row, STREAM_FIGURES, &stream->delays, delay, idle);
    ta_dist_add(w->delays[a->kernel == TA_NO_KERNEL], delay);
}

/* ---- how many wait or run ------------------------------------------------------------------- */

/* The starts of intervals of the window and the end of the last; and what is found in each. */
struct bins {
    int n;
    int64_t starts[QUEUE_BINS + 1];
    int64_t area[QUEUE_BINS], most[QUEUE_BINS];
};

/* Divides the window into n equal intervals. */
static void place_bins(const struct walk *w, int n, struct bins *bins)
{
    bins->n = n;
    for (int bin = 0; bin <= n; bin++)
        bins->starts[bin] = w->first + (int64_t)((__int128)(w->last - w->first) * bin / n);
}

/* The starts and ends of launches, each in the order of time.  Start i and end i need not be of one
 * launch: depths are the same whichever of them ends.  All ends lie in the window. */
struct times {
    const int64_t *starts, *ends;
    size_t n;
};

/* Time in a window from `first` on with at least `depth` launches in the queue: up to each end,
 * from the start of the launch `depth` entries later, unless the end before it was later. */
static int64_t time_above(const struct times *t, size_t depth, int64_t first)
{
    int64_t time = 0;
    for (size_t i = 0; i + depth <= t->n; i++) {
        time += ta_max_i64(0, t->ends[i] - ta_max_i64(first, t->starts[i + depth - 1]));
        first = t->ends[i];
    }
    return time;
}

/* Number of times at or before `time`; the first `from` are known to be. */
static size_t count_until(const int64_t *times, size_t n, size_t from, int64_t time)
{
    while (from < n && times[from] <= time)
        from++;
    return from;
}

/* Results for the whole window, as FIGURE_…. */
struct depths {
    int64_t area, most, empty, full;
};

/* Sweeps n starts and ends, which it sorts. */
static struct depths sweep(const struct walk *w, int64_t *starts, int64_t *ends, size_t n,
                           struct bins *bins)
{
    struct depths depths = {.most = TA_MISSING};
    const struct times times = {starts, ends, n};
    ta_sort_times(starts, n);
    ta_sort_times(ends, n);
    if (w->first == w->last)
        return depths;
    /* Bins are consecutive, so each continues where the one before ended.  What starts within a
     * bin is there until the bin's end, less what ends within it; so is what was in the queue
     * before.  When launch i starts, more than `most` are in the queue if the end `most` entries
     * earlier is still to come: one comparison, which is rarely true. */
    size_t begun = 0, done = 0;
    for (int bin = 0; bin < bins->n; bin++) {
        const int64_t from = bins->starts[bin], to = bins->starts[bin + 1];
        begun = count_until(times.starts, times.n, begun, from);
        done = count_until(times.ends, times.n, done, from);
        size_t most = begun - done;
        __int128 area = (__int128)most * (to - from);
        for (; begun < times.n && times.starts[begun] < to; begun++) {
            area += to - times.starts[begun];
            while (most <= begun && times.ends[begun - most] > times.starts[begun])
                most++;
        }
        for (; done < times.n && times.ends[done] < to; done++)
            area -= to - times.ends[done];
        bins->area[bin] = (int64_t)(area < INT64_MAX ? area : INT64_MAX);
        bins->most[bin] = (int64_t)most;
    }
    for (int bin = 0; bin < bins->n; bin++) {
        depths.area = ta_add_sat(depths.area, bins->area[bin]);
        depths.most = ta_max_i64(depths.most, bins->most[bin]);
    }
    depths.empty = w->last - w->first - time_above(&times, 1, w->first);
    if (depths.most > QUEUE_FULL)
        depths.full = time_above(&times, QUEUE_FULL + 1, w->first);
    return depths;
}

static void add_depths(const struct walk *w, const struct depths *depths, size_t n, int64_t *row)
{
    ta_sum(&row[FIGURE_LAUNCHES], (int64_t)n);
    ta_sum(&row[FIGURE_WINDOW], w->last - w->first);
    ta_sum(&row[FIGURE_AREA], depths->area);
    ta_most(&row[FIGURE_MOST], depths->most);
    ta_sum(&row[FIGURE_EMPTY], depths->empty);
    ta_sum(&row[FIGURE_FULL], depths->full);
    ta_sum(&row[FIGURE_LATE], 0);
}

static void list_bins(const struct walk *w, int64_t device, const struct bins *bins)
{
    for (int bin = 0; bin < QUEUE_BINS; bin++) {
        int64_t *row = TA_PARTIAL_ROW(w->out[QUEUE_OVER_TIME], ta_key_int(ta_trace_rank(w->trace)),
                                      ta_key_int(device), ta_key_int(bin / w->bin_width));
        ta_least(&row[BIN_START], bins->starts[bin] - ta_trace_origin(w->trace));
        ta_sum(&row[BIN_LENGTH], bins->starts[bin + 1] - bins->starts[bin]);
        ta_sum(&row[BIN_AREA], bins->area[bin]);
        ta_most(&row[BIN_MOST], bins->most[bin]);
    }
}

/* Sweeps the streams of the device, and the device as one queue.  A stream with graphs alone has
 * no row: nothing queues there. */
static void sweep_device(struct walk *w, int64_t *row, struct bins *bins)
{
    struct depths depths = {0};
    struct bins whole;
    bool has_all = false;
    place_bins(w, 1, &whole);
    for (size_t i = 0; i < w->n_used; i++) {
        const struct stream *stream = &w->streams[w->used[i]];
        const size_t n = stream->end - stream->first;
        const bool is_all = n == w->n;
        if (n > 0 && (stream->row || is_all))
            depths = sweep(w, w->starts + stream->first, w->ends + stream->first, n,
                           is_all ? bins : &whole);
        if (n > 0 && stream->row)
            add_depths(w, &depths, n, stream->row + STREAM_FIGURES);
        has_all |= is_all;
    }
    if (!has_all)
        depths = sweep(w, w->starts, w->ends, w->n, bins);
    add_depths(w, &depths, w->n, row);
}

static void walk_device(struct walk *w, size_t from, size_t to)
{
    const int64_t device = w->activities.at[from].device;
    int64_t *row = TA_PARTIAL_ROW(w->out[QUEUE_DEVICES], ta_key_int(ta_trace_rank(w->trace)),
                                  ta_key_int(device));
    struct bins bins;
    /* Makes space for the activities [from, to), one block per stream.  A trace of many devices
     * has many tracks, so each device visits only its own. */
    for (size_t i = 0; i < w->n_used; i++) /* tracks of the previous device */
        w->streams[w->used[i]] = (struct stream){0};
    w->n_used = 0;
    for (size_t i = from; i < to; i++) {
        const uint32_t track = w->spans.track[w->activities.at[i].span];
        if (w->streams[track].end++ == 0)
            w->used[w->n_used++] = track;
    }
    for (size_t i = 0, below = 0; i < w->n_used; i++) {
        struct stream *stream = &w->streams[w->used[i]];
        stream->first = below;
        below += stream->end;
        stream->end = stream->first;
    }
    w->n = 0;
    w->first = w->spans.ts[w->activities.at[from].span];
    w->last = w->first;
    struct delays delays = {0};
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        const int64_t start = w->spans.ts[a->span];
        if (a->launch != TA_NO_ROW) {
            const bool graph = w->spans.work[a->launch] == TA_HOST_GRAPH;
            int64_t *const end = &w->ends[place_of(w, a, graph)];
            *end = ta_max_i64(*end, end_of(w, a->span));
            if (!graph)
                take_delay(w, a, row, &delays, i == from ? INT64_MAX : start - w->last);
        }
        w->last = ta_max_i64(w->last, end_of(w, a->span));
    }
    close_up(w);
    if (w->n == 0)
        return;
    const bool long_enough = w->last - w->first >= QUEUE_BINS;
    place_bins(w, long_enough ? QUEUE_BINS : 1, &bins);
    sweep_device(w, row + DEVICE_FIGURES, &bins);
    if (long_enough)
        list_bins(w, device, &bins);
}

/* ---- one trace ------------------------------------------------------------------------------ */

enum ta_status launch_queue_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                                struct ta_partial *const *out)
{
    struct walk w = {
        .trace = trace,
        .activities = ta_trace_activities(trace),
        .spans = ta_trace_spans(trace),
        .tracks = ta_trace_tracks(trace),
        .out = out,
    };
    if (w.activities.n == 0)
        return TA_OK;
    w.bin_width = ta_parts_as_one(&w.activities);
    w.starts = malloc(w.activities.n * sizeof *w.starts);
    w.ends = malloc(w.activities.n * sizeof *w.ends);
    w.streams = calloc(w.tracks.n + 1, sizeof *w.streams);
    w.used = malloc((w.tracks.n + 1) * sizeof *w.used);
    static const char *const whats[] = {"kernel", "copy or memory set"};
    for (int i = 0; i < 2; i++)
        w.delays[i] = ta_partial_dist(
            w.out[QUEUE_DELAYS],
            TA_PARTIAL_ROW(w.out[QUEUE_DELAYS], ta_key_text(ta_slice_of(whats[i]))), DELAY_TIMES);
    bool done = w.starts && w.ends && w.streams && w.used;
    for (size_t from = 0, to; done && from < w.activities.n; from = to) {
        to = ta_device_end(&w.activities, from);
        walk_device(&w, from, to);
        done = !w.of_graph.failed;
    }
    free(w.starts);
    free(w.ends);
    free(w.streams);
    free(w.used);
    ta_map_free(&w.of_graph);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the queue of a device");
}
