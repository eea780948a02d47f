/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queues of one trace: their launches, and the sweep over them. */
#include "queue.h"

#include <traceanalyze/host.h>

#include <stdlib.h>

struct launch {
    int64_t start, end;
    uint32_t track; /* stream */
};

struct walk {
    const struct ta_trace *trace;
    struct ta_activities activities;
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_partial *const *out;
    struct launch *launches;   /* of the device at hand */
    int64_t *starts, *ends;    /* of the queue at hand, ascending */
    int64_t **streams;         /* by track: row of the partial, NULL before the first launch */
    struct ta_dist *delays[2]; /* of kernels, and of copies and memory sets */
    size_t n;
    struct ta_map of_graph; /* place of a launch of a graph on a stream */
    int64_t first, last;    /* of the window of the device */
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

/* The place of a launch; the later kernels of a graph make theirs longer. */
static struct launch *place_of(struct walk *w, const struct ta_activity *a, bool graph)
{
    const uint32_t track = w->spans.track[a->span];
    if (graph) {
        uint64_t *at = ta_map_at(&w->of_graph, (uint64_t)a->launch << 32 | track, w->n);
        if (at && *at < w->n)
            return &w->launches[*at];
    }
    w->launches[w->n] = (struct launch){
        .start = ta_min_i64(w->spans.ts[a->launch], w->spans.ts[a->span]), .track = track};
    return &w->launches[w->n++];
}

static int64_t *stream_row(struct walk *w, const struct ta_activity *a)
{
    const uint32_t track = w->spans.track[a->span];
    if (!w->streams[track])
        w->streams[track] = TA_PARTIAL_ROW(
            w->out[QUEUE_STREAMS], ta_key_int(ta_trace_rank(w->trace)), ta_key_int(a->device),
            ta_key_text(ta_trace_text(w->trace, w->tracks.at[track].tid)));
    return w->streams[track];
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
    w->n = 0;
    for (size_t i = from; i < to; i++) {
        const struct ta_activity *a = &w->activities.at[i];
        const int64_t start = w->spans.ts[a->span];
        if (a->launch != TA_NO_ROW) {
            const bool graph = is_graph(w, a->launch);
            struct launch *launch = place_of(w, a, graph);
            launch->end = ta_max_i64(launch->end, end_of(w, a->span));
            if (!graph)
                take_delay(w, a, row, i == from ? INT64_MAX : start - w->last);
        }
        w->last = ta_max_i64(w->last, end_of(w, a->span));
    }
}

/* ---- the sweep ------------------------------------------------------------------------------ */

struct bins {
    int64_t area[QUEUE_BINS], most[QUEUE_BINS];
    int bin;
};

static int64_t bin_start(const struct walk *w, int bin)
{
    return w->first + (int64_t)((__int128)(w->last - w->first) * bin / QUEUE_BINS);
}

static void fill_bins(const struct walk *w, struct bins *bins, int64_t from, int64_t to,
                      int64_t depth)
{
    while (from < to) {
        while (bins->bin + 1 < QUEUE_BINS && bin_start(w, bins->bin + 1) <= from)
            bins->bin++;
        const int64_t end =
            bins->bin + 1 < QUEUE_BINS ? ta_min_i64(bin_start(w, bins->bin + 1), to) : to;
        bins->area[bins->bin] = ta_add_sat(bins->area[bins->bin], (end - from) * depth);
        bins->most[bins->bin] = ta_max_i64(bins->most[bins->bin], depth);
        from = end;
    }
}

/* A stretch of the window in which `depth` launches are in the queue. */
static void take_stretch(const struct walk *w, int64_t *row, struct bins *bins, int64_t from,
                         int64_t to, int64_t depth)
{
    from = ta_max_i64(from, w->first);
    to = ta_min_i64(to, w->last);
    if (from >= to)
        return;
    ta_sum(&row[FIGURE_AREA], (to - from) * depth);
    ta_most(&row[FIGURE_MOST], depth);
    if (depth == 0)
        ta_sum(&row[FIGURE_EMPTY], to - from);
    if (depth > QUEUE_FULL)
        ta_sum(&row[FIGURE_FULL], to - from);
    if (bins)
        fill_bins(w, bins, from, to, depth);
}

/* Goes over the first n starts and ends in the order of time. */
static void sweep(struct walk *w, size_t n, int64_t *row, struct bins *bins)
{
    ta_sort_times(w->starts, n);
    ta_sort_times(w->ends, n);
    int64_t now = w->first;
    size_t begun = 0, done = 0;
    while (done < n) {
        const bool ends = begun == n || w->ends[done] <= w->starts[begun];
        const int64_t next = ends ? w->ends[done] : w->starts[begun];
        take_stretch(w, row, bins, now, next, (int64_t)(begun - done));
        now = ta_max_i64(now, next);
        if (ends)
            done++;
        else
            begun++;
    }
    take_stretch(w, row, bins, now, w->last, 0);
    ta_sum(&row[FIGURE_LAUNCHES], (int64_t)n);
    ta_sum(&row[FIGURE_WINDOW], w->last - w->first);
    ta_sum(&row[FIGURE_AREA], 0);
    ta_sum(&row[FIGURE_EMPTY], 0);
    ta_sum(&row[FIGURE_FULL], 0);
    ta_sum(&row[FIGURE_LATE], 0);
}

static void list_bins(const struct walk *w, int64_t device, const struct bins *bins)
{
    for (int bin = 0; bin < QUEUE_BINS; bin++) {
        const int64_t start = bin_start(w, bin);
        const int64_t end = bin + 1 < QUEUE_BINS ? bin_start(w, bin + 1) : w->last;
        int64_t *row = TA_PARTIAL_ROW(w->out[QUEUE_OVER_TIME], ta_key_int(ta_trace_rank(w->trace)),
                                      ta_key_int(device), ta_key_int(bin));
        ta_least(&row[BIN_START], start - ta_trace_origin(w->trace));
        ta_sum(&row[BIN_LENGTH], end - start);
        ta_sum(&row[BIN_AREA], bins->area[bin]);
        ta_most(&row[BIN_MOST], bins->most[bin]);
    }
}

static int by_track(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    return (a->track > b->track) - (a->track < b->track);
}

/* The streams of the device, one after the other. */
static void sweep_streams(struct walk *w)
{
    bool one = true;
    for (size_t i = 1; i < w->n; i++)
        one &= w->launches[i].track == w->launches[0].track;
    if (!one)
        qsort(w->launches, w->n, sizeof *w->launches, by_track);
    for (size_t from = 0, to; from < w->n; from = to) {
        const uint32_t track = w->launches[from].track;
        for (to = from; to < w->n && w->launches[to].track == track; to++) {
            w->starts[to - from] = w->launches[to].start;
            w->ends[to - from] = w->launches[to].end;
        }
        if (w->streams[track]) /* not one of graphs alone: nobody queues there */
            sweep(w, to - from, w->streams[track] + STREAM_FIGURES, NULL);
    }
}

static void walk_device(struct walk *w, size_t from, size_t to)
{
    const int64_t device = w->activities.at[from].device;
    int64_t *row = TA_PARTIAL_ROW(w->out[QUEUE_DEVICES], ta_key_int(ta_trace_rank(w->trace)),
                                  ta_key_int(device));
    struct bins bins = {.bin = 0};
    collect(w, from, to, row);
    if (w->n == 0)
        return;
    for (size_t i = 0; i < w->n; i++) {
        w->starts[i] = w->launches[i].start;
        w->ends[i] = w->launches[i].end;
    }
    const bool long_enough = w->last - w->first >= QUEUE_BINS;
    sweep(w, w->n, row + DEVICE_FIGURES, long_enough ? &bins : NULL);
    if (long_enough)
        list_bins(w, device, &bins);
    sweep_streams(w);
}

/* ---- one trace ------------------------------------------------------------------------------ */

static bool open_walk(struct walk *w)
{
    w->launches = malloc(w->activities.n * sizeof *w->launches);
    w->starts = malloc(w->activities.n * sizeof *w->starts);
    w->ends = malloc(w->activities.n * sizeof *w->ends);
    w->streams = calloc(w->tracks.n + 1, sizeof *w->streams);
    static const char *const whats[] = {"kernel", "copy or memory set"};
    for (int i = 0; i < 2; i++)
        w->delays[i] = ta_partial_dist(
            w->out[QUEUE_DELAYS],
            TA_PARTIAL_ROW(w->out[QUEUE_DELAYS], ta_key_text(ta_slice_of(whats[i]))), DELAY_TIMES);
    return w->launches && w->starts && w->ends && w->streams;
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
        for (to = from + 1;
             to < w.activities.n && w.activities.at[to].device == w.activities.at[from].device;)
            to++;
        walk_device(&w, from, to);
        done = !w.of_graph.failed;
    }
    free(w.launches);
    free(w.starts);
    free(w.ends);
    free(w.streams);
    ta_map_free(&w.of_graph);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the queue of a device");
}
