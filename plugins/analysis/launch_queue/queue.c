/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queues of one trace: their launches, and the sweep over them. */
#include "queue.h"

#include <traceanalyze/host.h>

#include <stdlib.h>

/* The launches of a stream of the device at hand: [first, end) of those of all. */
struct stream {
    size_t first, end;
    int64_t *row; /* of the partial, NULL before a launch that is not of a graph */
};

struct walk {
    const struct ta_trace *trace;
    struct ta_activities activities;
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_partial *const *out;
    int64_t *starts, *ends;    /* of the launches of the device at hand, by stream */
    struct stream *streams;    /* by track */
    struct ta_dist *delays[2]; /* of kernels, and of copies and memory sets */
    size_t n;                  /* launches */
    struct ta_map of_graph;    /* place of a launch of a graph on a stream */
    int64_t first, last;       /* of the window of the device */
};

static int64_t end_of(const struct walk *w, ta_row row)
{
    return w->spans.ts[row] + w->spans.dur[row];
}

static bool is_graph(const struct walk *w, ta_row call)
{
    return w->spans.work[call] == TA_HOST_GRAPH;
}

/* ---- launches ------------------------------------------------------------------------------- */

/* Makes room for the activities [from, to), those of a stream side by side. */
static void part_streams(struct walk *w, size_t from, size_t to)
{
    memset(w->streams, 0, (w->tracks.n + 1) * sizeof *w->streams);
    for (size_t i = from; i < to; i++)
        w->streams[w->spans.track[w->activities.at[i].span]].end++;
    for (size_t track = 0, below = 0; track < w->tracks.n; track++) {
        struct stream *stream = &w->streams[track];
        stream->first = below;
        below += stream->end;
        stream->end = stream->first;
    }
    w->n = 0;
}

/* The place of a launch; the later kernels of a graph make theirs longer. */
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

/* Closes the room that was left over: kernels of graphs share a place, and some have no launch. */
static void close_up(struct walk *w)
{
    size_t to = 0;
    for (size_t track = 0; track < w->tracks.n; track++) {
        struct stream *stream = &w->streams[track];
        const size_t n = stream->end - stream->first;
        if (stream->first != to) {
            memmove(w->starts + to, w->starts + stream->first, n * sizeof *w->starts);
            memmove(w->ends + to, w->ends + stream->first, n * sizeof *w->ends);
        }
        stream->first = to;
        stream->end = to += n;
    }
}

static int64_t *stream_row(struct walk *w, const struct ta_activity *a)
{
    const uint32_t track = w->spans.track[a->span];
    struct stream *stream = &w->streams[track];
    if (!stream->row)
        stream->row = TA_PARTIAL_ROW(w->out[QUEUE_STREAMS], ta_key_int(ta_trace_rank(w->trace)),
                                     ta_key_int(a->device),
                                     ta_key_text(ta_trace_text(w->trace, w->tracks.at[track].tid)));
    return stream->row;
}

/* One delay, in a partial whose figures are at `row`. */
static void add_delay(struct ta_partial *out, int64_t *row, size_t figures, int64_t delay,
                      int64_t idle)
{
    ta_dist_add(ta_partial_dist(out, row, figures + FIGURE_DELAY), delay);
    if (idle >= delay)
        ta_dist_add(ta_partial_dist(out, row, figures + FIGURE_BARE), delay);
    ta_sum(&row[figures + FIGURE_LATE], ta_min_i64(idle, delay) > QUEUE_LATE_NS);
}

/* The device had been idle for so long.  Kernels of graphs have no launch of their own, and calls
 * that return behind the start say nothing of a queue. */
static void take_delay(struct walk *w, const struct ta_activity *a, int64_t *row, int64_t idle)
{
    const int64_t delay = w->spans.ts[a->span] - end_of(w, a->launch);
    int64_t *const stream = stream_row(w, a);
    if (delay < 0)
        return;
    add_delay(w->out[QUEUE_DEVICES], row, DEVICE_FIGURES, delay, idle);
    add_delay(w->out[QUEUE_STREAMS], stream, STREAM_FIGURES, delay, idle);
    ta_dist_add(w->delays[a->kernel == TA_NO_KERNEL], delay);
}

/* The activities [from, to) are those of one device. */
static void collect(struct walk *w, size_t from, size_t to, int64_t *row)
{
    w->first = w->spans.ts[w->activities.at[from].span];
    w->last = w->first;
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        const int64_t start = w->spans.ts[a->span];
        if (a->launch != TA_NO_ROW) {
            const bool graph = is_graph(w, a->launch);
            int64_t *const end = &w->ends[place_of(w, a, graph)];
            *end = ta_max_i64(*end, end_of(w, a->span));
            if (!graph)
                take_delay(w, a, row, i == from ? INT64_MAX : start - w->last);
        }
        w->last = ta_max_i64(w->last, end_of(w, a->span));
    }
}

/* ---- the sweep ------------------------------------------------------------------------------ */

struct bins {
    int64_t starts[QUEUE_BINS + 1]; /* where each begins, and the last one ends */
    int64_t area[QUEUE_BINS], most[QUEUE_BINS];
    int bin;
};

static void place_bins(const struct walk *w, struct bins *bins)
{
    for (int bin = 0; bin <= QUEUE_BINS; bin++)
        bins->starts[bin] = w->first + (int64_t)((__int128)(w->last - w->first) * bin / QUEUE_BINS);
}

/* What a sweep finds; bins are those of the device, NULL for a stream. */
struct depths {
    int64_t area, most, empty, full; /* as FIGURE_… */
    struct bins *bins;
};

static void fill_bins(struct bins *bins, int64_t from, int64_t to, int64_t depth)
{
    while (from < to) {
        while (bins->starts[bins->bin + 1] <= from)
            bins->bin++;
        const int64_t end = ta_min_i64(bins->starts[bins->bin + 1], to);
        bins->area[bins->bin] = ta_add_sat(bins->area[bins->bin], (end - from) * depth);
        bins->most[bins->bin] = ta_max_i64(bins->most[bins->bin], depth);
        from = end;
    }
}

/* A stretch of the window in which `depth` launches are in the queue. */
static inline void take_stretch(const struct walk *w, struct depths *depths, int64_t from,
                                int64_t to, int64_t depth)
{
    from = ta_max_i64(from, w->first);
    to = ta_min_i64(to, w->last);
    if (from >= to)
        return;
    depths->area = ta_add_sat(depths->area, (to - from) * depth);
    depths->most = ta_max_i64(depths->most, depth);
    if (depth == 0)
        depths->empty += to - from;
    if (depth > QUEUE_FULL)
        depths->full += to - from;
    if (depths->bins)
        fill_bins(depths->bins, from, to, depth);
}

/* Goes over n starts and ends in the order of time. */
static struct depths sweep(const struct walk *w, int64_t *starts, int64_t *ends, size_t n,
                           struct bins *bins)
{
    struct depths depths = {.most = TA_MISSING, .bins = bins};
    ta_sort_times(starts, n);
    ta_sort_times(ends, n);
    int64_t now = w->first;
    size_t begun = 0, done = 0;
    while (done < n) {
        const bool is_end = begun == n || ends[done] <= starts[begun];
        const int64_t next = is_end ? ends[done] : starts[begun];
        take_stretch(w, &depths, now, next, (int64_t)(begun - done));
        now = ta_max_i64(now, next);
        done += is_end;
        begun += !is_end;
    }
    take_stretch(w, &depths, now, w->last, 0);
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
                                      ta_key_int(device), ta_key_int(bin));
        ta_least(&row[BIN_START], bins->starts[bin] - ta_trace_origin(w->trace));
        ta_sum(&row[BIN_LENGTH], bins->starts[bin + 1] - bins->starts[bin]);
        ta_sum(&row[BIN_AREA], bins->area[bin]);
        ta_most(&row[BIN_MOST], bins->most[bin]);
    }
}

/* The streams of the device, and the device as one queue.  A stream of graphs alone has no row:
 * nobody queues there. */
static void sweep_device(struct walk *w, int64_t *row, struct bins *bins)
{
    struct depths depths = {0};
    bool has_all = false;
    for (size_t track = 0; track < w->tracks.n; track++) {
        const struct stream *stream = &w->streams[track];
        const size_t n = stream->end - stream->first;
        const bool is_all = n == w->n;
        if (n > 0 && (stream->row || is_all))
            depths = sweep(w, w->starts + stream->first, w->ends + stream->first, n,
                           is_all ? bins : NULL);
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
    struct bins bins = {.bin = 0};
    part_streams(w, from, to);
    collect(w, from, to, row);
    close_up(w);
    if (w->n == 0)
        return;
    const bool long_enough = w->last - w->first >= QUEUE_BINS;
    place_bins(w, &bins);
    sweep_device(w, row + DEVICE_FIGURES, long_enough ? &bins : NULL);
    if (long_enough)
        list_bins(w, device, &bins);
}

/* ---- one trace ------------------------------------------------------------------------------ */

static bool open_walk(struct walk *w)
{
    w->starts = malloc(w->activities.n * sizeof *w->starts);
    w->ends = malloc(w->activities.n * sizeof *w->ends);
    w->streams = malloc((w->tracks.n + 1) * sizeof *w->streams);
    static const char *const whats[] = {"kernel", "copy or memory set"};
    for (int i = 0; i < 2; i++)
        w->delays[i] = ta_partial_dist(
            w->out[QUEUE_DELAYS],
            TA_PARTIAL_ROW(w->out[QUEUE_DELAYS], ta_key_text(ta_slice_of(whats[i]))), DELAY_TIMES);
    return w->starts && w->ends && w->streams;
}

enum ta_status queue_map(struct ta_ctx *ctx, const struct ta_trace *trace,
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
    bool done = open_walk(&w);
    for (size_t from = 0, to; done && from < w.activities.n; from = to) {
        to = ta_device_end(&w.activities, from);
        walk_device(&w, from, to);
        done = !w.of_graph.failed;
    }
    free(w.starts);
    free(w.ends);
    free(w.streams);
    ta_map_free(&w.of_graph);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the queue of a device");
}
