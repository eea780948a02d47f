/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch_queue.by_rank, by_stream, over_time and delays: the depth of the queue between host and
 * device, and how long launched work waits. */
#include "analyze/partial.h"
#include "stat/dist.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <math.h>
#include <stdlib.h>

enum {
    QUEUE_BINS = 100, /* number of equal intervals that a window is divided into */
    QUEUE_BIN_ROWS_MOST =
        50000,         /* approximate maximum of rows: with more devices intervals are longer */
    QUEUE_FULL = 1000, /* above this depth the driver soon makes the host wait */
    QUEUE_LATE_NS = 100000, /* a launch with a longer delay while the device idles is an outlier */
};

/* The partials of the analysis, in order, and their fields. */
enum { QUEUE_DEVICES, QUEUE_STREAMS, QUEUE_OVER_TIME, QUEUE_DELAYS };
enum { DEVICE_RANK, DEVICE_DEVICE, DEVICE_FIGURES, STREAM_STREAM = DEVICE_FIGURES, STREAM_FIGURES };
/* Fields of a queue after the keys of its partial. */
enum {
    FIGURE_LAUNCHES,
    FIGURE_WINDOW,
    FIGURE_AREA, /* depth × ns */
    FIGURE_MOST,
    FIGURE_EMPTY,
    FIGURE_FULL,
    FIGURE_LATE,
    FIGURE_DELAY,
    FIGURE_BARE, /* delays of launches for which the device had nothing else to do */
    FIGURES
};
enum { BIN_RANK, BIN_DEVICE, BIN_PART, BIN_START, BIN_LENGTH, BIN_AREA, BIN_MOST, BIN_FIELDS };
enum { DELAY_WHAT, DELAY_TIMES, DELAY_FIELDS };

/* ---- queue ----------------------------------------------------------------------------------- */

/* The queues of one trace: their launches, and the sweep over them. */

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

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
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

/* ---- table ----------------------------------------------------------------------------------- */

#define FIGURE_FIELDS(at)                                                                          \
    [at + FIGURE_LAUNCHES] = {"launches", TA_FIELD_SUM},                                           \
          [at + FIGURE_WINDOW] = {"window_ns", TA_FIELD_SUM},                                      \
          [at + FIGURE_AREA] = {"area", TA_FIELD_SUM},                                             \
          [at + FIGURE_MOST] = {"most", TA_FIELD_MAX},                                             \
          [at + FIGURE_EMPTY] = {"empty_ns", TA_FIELD_SUM},                                        \
          [at + FIGURE_FULL] = {"full_ns", TA_FIELD_SUM},                                          \
          [at + FIGURE_LATE] = {"late", TA_FIELD_SUM},                                             \
          [at + FIGURE_DELAY] = {"delay", TA_FIELD_DIST},                                          \
          [at + FIGURE_BARE] = {"bare", TA_FIELD_DIST}

static const struct ta_field device_fields[DEVICE_FIGURES + FIGURES] = {
    [DEVICE_RANK] = {"rank", TA_FIELD_RANK},
    [DEVICE_DEVICE] = {"device", TA_FIELD_INT},
    FIGURE_FIELDS(DEVICE_FIGURES),
};

static const struct ta_field stream_fields[STREAM_FIGURES + FIGURES] = {
    [DEVICE_RANK] = {"rank", TA_FIELD_RANK},
    [DEVICE_DEVICE] = {"device", TA_FIELD_INT},
    [STREAM_STREAM] = {"stream", TA_FIELD_TEXT},
    FIGURE_FIELDS(STREAM_FIGURES),
};

static const struct ta_field bin_fields[BIN_FIELDS] = {
    [BIN_RANK] = {"rank", TA_FIELD_RANK},       [BIN_DEVICE] = {"device", TA_FIELD_INT},
    [BIN_PART] = {"part", TA_FIELD_INT},        [BIN_START] = {"start_ns", TA_FIELD_MIN},
    [BIN_LENGTH] = {"length_ns", TA_FIELD_SUM}, [BIN_AREA] = {"area", TA_FIELD_SUM},
    [BIN_MOST] = {"most", TA_FIELD_MAX},
};

static const struct ta_field delay_fields[DELAY_FIELDS] = {
    [DELAY_WHAT] = {"what", TA_FIELD_TEXT},
    [DELAY_TIMES] = {"delay", TA_FIELD_DIST},
};

static const struct ta_partial_def partials[] = {
    [QUEUE_DEVICES] = {"devices", device_fields, DEVICE_FIGURES + FIGURES},
    [QUEUE_STREAMS] = {"streams", stream_fields, STREAM_FIGURES + FIGURES},
    [QUEUE_OVER_TIME] = {"over_time", bin_fields, BIN_FIELDS},
    [QUEUE_DELAYS] = {"delays", delay_fields, DELAY_FIELDS},
    {0},
};

/* ---- columns -------------------------------------------------------------------------------- */

static const char depth_doc[] = "Mean number of launches whose work is not yet finished, over the "
                                "window; a graph launch is one";
static const char most_doc[] = "Largest number of launches whose work is not yet finished";
static const char empty_doc[] = "Share of the window in which no launch was pending or running";
static const char floor_doc[] =
    "Launch delay without a queue: 5th percentile of the time from the end of a launch to the "
    "start of its activity, over launches for which the device had nothing else to do";
static const char late_doc[] =
    "Activities that began more than 100 µs after their launch although the device had been idle "
    "for as long: they waited for something else";

/* clang-format off */
/* Three columns of both tables, from enumerator `mean` on, with the weights of the means and of the
 * empty queues between ranks. */
#define DEPTH_COLUMNS(mean, mean_weight, empty_weight) \
    [(mean)] = {"depth_mean", "Mean depth", TA_NUMBER, .weight = (mean_weight), \
                .doc = depth_doc}, \
    [(mean) + 1] = {"depth_max", "Max depth", TA_COUNT, .doc = most_doc}, \
    [(mean) + 2] = {"empty_share", "Queue empty", TA_RATIO, .better = TA_LOWER, \
                    .weight = (empty_weight), .doc = empty_doc}
/* clang-format on */

enum {
    RANK_RANK,
    RANK_DEVICE,
    RANK_DEPTH,
    RANK_DEPTH_MAX,
    RANK_EMPTY,
    RANK_FULL,
    RANK_FLOOR,
    RANK_SHORT,
    RANK_LATE,
    RANK_LAUNCH_BOUND
};
static const struct ta_column by_rank_columns[] = {
    [RANK_RANK] = TA_RANK_COLUMN,
    [RANK_DEVICE] = TA_DEVICE_COLUMN,
    DEPTH_COLUMNS(RANK_DEPTH, 0.1, 0.2),
    [RANK_FULL] = {"full_share", "Queue full", TA_RATIO, .better = TA_LOWER,
                   .doc = "Share of the window with more than 1000 unfinished launches: a launch "
                          "soon has to wait for a free slot"},
    [RANK_FLOOR] = {"floor_ns", "Minimum launch delay", TA_NS, .better = TA_LOWER,
                    .doc = floor_doc},
    [RANK_SHORT] = {"short_share", "Unqueued launches", TA_RATIO, .better = TA_LOWER,
                    .doc = "Share of activities that began within twice the minimum launch delay: "
                           "the device was waiting for them"},
    [RANK_LATE] = {"late", "Delayed activities", TA_COUNT, .better = TA_LOWER, .doc = late_doc},
    [RANK_LAUNCH_BOUND] =
        {"launch_bound", "Launch-bound", TA_RATIO, .better = TA_LOWER, .weight = 0.2,
         .doc = "Share of the window in which the device was idle because the host was still "
                "preparing or launching work; moderate above 3 %, high above 15 %"},
};

static const struct ta_table_def by_rank = {
    "launch_queue.by_rank",
    "Launch queue by rank",
    TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank and device with linked activities. A launch is in the queue from the "
           "start of its call to the end of its last activity on a stream; a graph launch is one.",
    .tier = TA_TIER_DETAIL,
    .rank_words = "Launch queue"};

enum {
    STREAM_RANK,
    STREAM_DEVICE,
    STREAM_NAME,
    STREAM_LAUNCHES,
    STREAM_DEPTH,
    STREAM_DEPTH_MAX,
    STREAM_EMPTY,
    STREAM_FLOOR,
    STREAM_P50,
    STREAM_P95,
    STREAM_LATE
};
static const struct ta_column by_stream_columns[] = {
    [STREAM_RANK] = TA_RANK_COLUMN,
    [STREAM_DEVICE] = TA_DEVICE_COLUMN,
    [STREAM_NAME] = {"stream", "Stream", TA_TEXT, .doc = "Stream of the device, as recorded"},
    [STREAM_LAUNCHES] = {"launches", "Launches", TA_COUNT, .doc = "Launches of work on the stream"},
    DEPTH_COLUMNS(STREAM_DEPTH, 0, 0),
    [STREAM_FLOOR] = {"floor_ns", "Minimum launch delay", TA_NS, .better = TA_LOWER,
                      .doc = floor_doc},
    [STREAM_P50] =
        {"delay_p50_ns", "Delay p50", TA_NS_MEAN,
         .doc = "Median time from the end of a launch to the start of its activity, without graphs "
                "and without activities that start before their launch ends"},
    [STREAM_P95] =
        {"delay_p95_ns", "Delay p95", TA_NS_MEAN,
         .doc =
             "95th percentile of the time from the end of a launch to the start of its activity"},
    [STREAM_LATE] = {"late", "Delayed activities", TA_COUNT, .better = TA_LOWER, .doc = late_doc},
};

static const struct ta_table_def by_stream = {
    "launch_queue.by_stream", "Launch queue by stream", TA_COLUMNS(by_stream_columns),
    .doc = "One row per rank, device and stream on which single kernels, copies or memory sets "
           "were launched.",
    .tier = TA_TIER_DETAIL};

enum { PART_RANK, PART_DEVICE, PART_NUMBER, PART_START, PART_DEPTH, PART_DEPTH_MAX };
static const struct ta_column over_time_columns[] = {
    [PART_RANK] = TA_RANK_COLUMN,
    [PART_DEVICE] = TA_DEVICE_COLUMN,
    [PART_NUMBER] = {"part", "Interval", TA_INTEGER, .role = TA_IN_SERIES,
                     .doc = "Number of the interval: the window is divided into 100 of equal "
                            "length (fewer if there are more than 500 devices)"},
    [PART_START] = {"start_ns", "Time", TA_NS, .role = TA_IN_SERIES,
                    .doc =
                        "Start of the interval, counted from the earliest span in the rank's file"},
    [PART_DEPTH] =
        {"depth_mean", "Queue length", TA_NUMBER,
         .doc = "Mean number of launches whose work is not yet finished, over the interval"},
    [PART_DEPTH_MAX] = {"depth_max", "Max depth", TA_COUNT, .doc = most_doc},
};

static const struct ta_chart_def bin_chart = {
    .id = "launch-queue",
    .title = "Launch queue depth",
    .caption = "Activities that are launched and not finished, mean of each interval (1 % of the "
               "program window or more). Near 0 the device waits for the host.",
    .kind = TA_CHART_LINES,
    .steps = true, /* each value holds for its interval */
    .label = {&over_time_columns[PART_RANK]},
    .x = &over_time_columns[PART_START],
    .y = {{&over_time_columns[PART_DEPTH], "Launches in the queue", TA_INK_SERIES_1}},
    .group = &over_time_columns[PART_RANK],
};

static const struct ta_table_def over_time = {
    "launch_queue.over_time",
    "Launch queue over time",
    TA_COLUMNS(over_time_columns),
    .tier = TA_TIER_POINTS,
    .doc = "One row per rank, device and hundredth of its window. Chart `launch-queue`.",
    .chart = {&bin_chart}};

enum { CURVE_WHAT, CURVE_DELAY, CURVE_SHARE, CURVE_LAUNCHES };
static const struct ta_column delay_ecdf_columns[] = {
    [CURVE_WHAT] = {"what", "Activities", TA_TEXT, .doc = "Kernels, or copies and memory sets"},
    [CURVE_DELAY] = {"delay_ns", "Delay", TA_NS,
                     .doc = "Time from the end of a launch to the start of its activity"},
    [CURVE_SHARE] = {"share", "Share", TA_RATIO,
                     .doc = "Share of the launches with at most this delay"},
    [CURVE_LAUNCHES] = {"launches", "Launches", TA_COUNT,
                        .doc = "Number of launches with at most this delay"},
};

static const struct ta_chart_def delay_chart = {
    .id = "launch-delay",
    .title = "Launch delay",
    .caption = "Cumulative distribution of the time from launch to start, all ranks (log scale). "
               "Short: the device was waiting; long: work was queued ahead of it.",
    .kind = TA_CHART_ECDF,
    .x = &delay_ecdf_columns[CURVE_DELAY],
    .y = {{&delay_ecdf_columns[CURVE_SHARE], "Share of launches", TA_INK_SERIES_1}},
    .group = &delay_ecdf_columns[CURVE_WHAT],
    .log_x = true,
};

static const struct ta_table_def delay_ecdf = {
    "launch_queue.delays",
    "Distribution of launch delays",
    TA_COLUMNS(delay_ecdf_columns),
    .tier = TA_TIER_POINTS,
    .doc = "Points of the cumulative distribution of launch delays, all ranks: about 200 per kind "
           "of activity. Chart `launch-delay`.",
    .chart = {&delay_chart}};

enum { DISPATCH };

static const struct ta_ref reads[] = {[DISPATCH] = {"gpu_idle.by_rank", "dispatch_ns"}};

/* ---- finish --------------------------------------------------------------------------------- */

struct below {
    int64_t bound, n;
};

static void count_below(void *user, int64_t value, int64_t at_or_below)
{
    struct below *below = user;
    if (value <= below->bound)
        below->n = at_or_below;
}

/* Share of delays up to twice the minimum launch delay. */
static struct ta_cell short_share(const struct ta_dist *delays, double floor)
{
    struct below below = {.bound = ta_whole(2 * floor)};
    ta_dist_walk(delays, count_below, &below);
    return ta_num((double)below.n / (double)ta_dist_count(delays));
}

/* Time in which a device was idle while the host was preparing or launching work; NAN if
 * unknown.  `next` is where the search begins, and becomes the position after the match. */
static double dispatch_of(const struct ta_refs *in, size_t *next, const int64_t *device)
{
    const struct ta_table *idle = ta_ref_table(in, DISPATCH);
    if (!ta_ref_exists(in, DISPATCH))
        return idle ? 0 : NAN;
    const struct ta_cell rank = ta_int(device[DEVICE_RANK]), number = ta_int(device[DEVICE_DEVICE]);
    const size_t row = ta_table_row_of(idle, *next, &rank, &number);
    if (row == SIZE_MAX)
        return 0;
    *next = row + 1;
    return ta_ref_number(in, DISPATCH, row, NAN);
}

/* The cells that both tables have. */
struct shown {
    struct ta_cell depth, most, empty, floor, late;
};

static struct shown show(const int64_t *figures, const struct ta_dist *bare)
{
    return (struct shown){
        .depth = ta_share(figures[FIGURE_AREA], figures[FIGURE_WINDOW]),
        .most = ta_int(figures[FIGURE_MOST]),
        .empty = ta_share(figures[FIGURE_EMPTY], figures[FIGURE_WINDOW]),
        .floor = bare ? ta_int(ta_whole(ta_dist_quantile(bare, 5))) : ta_null(),
        .late = ta_int(figures[FIGURE_LATE]),
    };
}

static void add_bins(const struct ta_partial *bins, struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(bins), width = 1 + n / QUEUE_BIN_ROWS_MOST;
    for (size_t i = 0; i < n;) {
        int64_t row[BIN_FIELDS];
        i = ta_partial_fold(bins, i, (int64_t)width, row);
        TA_ROW(
            out,
            over_time, [PART_RANK] = ta_int(row[BIN_RANK]), [PART_DEVICE] = ta_int(row[BIN_DEVICE]),
            [PART_NUMBER] = ta_int(row[BIN_PART]), [PART_START] = ta_int(row[BIN_START]),
            [PART_DEPTH] = ta_share(row[BIN_AREA], row[BIN_LENGTH]),
            [PART_DEPTH_MAX] = ta_int(row[BIN_MOST]));
    }
}

/* Enough points for a smooth curve on paper. */
enum { DELAY_STEPS = 200 };

struct curve {
    struct ta_section_builder *out;
    struct ta_slice what;
    int64_t n;
};

static void add_step(void *user, int64_t value, int64_t at_or_below)
{
    const struct curve *curve = user;
    TA_ROW(curve->out,
           delay_ecdf, [CURVE_WHAT] = ta_text(curve->what), [CURVE_DELAY] = ta_int(value),
           [CURVE_SHARE] = ta_num((double)at_or_below / (double)curve->n),
           [CURVE_LAUNCHES] = ta_int(at_or_below));
}

static void add_delays(const struct ta_partial *delays, struct ta_section_builder *out)
{
    for (size_t i = 0; i < ta_partial_rows(delays); i++) {
        const int64_t *row = ta_partial_at(delays, i);
        const struct ta_dist *times = ta_partial_dist_at(delays, row, DELAY_TIMES);
        if (!times)
            continue;
        struct curve curve = {out, ta_partial_text(delays, row, DELAY_WHAT), ta_dist_count(times)};
        ta_dist_steps(times, DELAY_STEPS, add_step, &curve);
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    const struct ta_partial *devices = merged[QUEUE_DEVICES];
    size_t next = 0;
    for (size_t i = 0; i < ta_partial_rows(devices); i++) {
        const int64_t *row = ta_partial_at(devices, i), *figures = row + DEVICE_FIGURES;
        const struct ta_dist *delays =
            ta_partial_dist_at(devices, row, DEVICE_FIGURES + FIGURE_DELAY);
        if (figures[FIGURE_WINDOW] == TA_MISSING || figures[FIGURE_WINDOW] <= 0)
            continue;
        const struct shown shown =
            show(figures, ta_partial_dist_at(devices, row, DEVICE_FIGURES + FIGURE_BARE));
        const double window = (double)figures[FIGURE_WINDOW];
        TA_ROW(out, by_rank, [RANK_RANK] = ta_int(row[DEVICE_RANK]),
               [RANK_DEVICE] = ta_int(row[DEVICE_DEVICE]), [RANK_DEPTH] = shown.depth,
               [RANK_DEPTH_MAX] = shown.most, [RANK_EMPTY] = shown.empty,
               [RANK_FULL] = ta_share(figures[FIGURE_FULL], figures[FIGURE_WINDOW]),
               [RANK_FLOOR] = shown.floor,
               [RANK_SHORT] = shown.floor.kind == TA_CELL_NULL
                                  ? ta_null()
                                  : short_share(delays, ta_cell_number(&shown.floor, 0)),
               [RANK_LATE] = shown.late,
               [RANK_LAUNCH_BOUND] = ta_num(dispatch_of(in, &next, row) / window));
    }
    const struct ta_partial *streams = merged[QUEUE_STREAMS];
    for (size_t i = 0; i < ta_partial_rows(streams); i++) {
        const int64_t *row = ta_partial_at(streams, i), *figures = row + STREAM_FIGURES;
        const struct ta_dist *delays =
            ta_partial_dist_at(streams, row, STREAM_FIGURES + FIGURE_DELAY);
        const struct shown shown =
            show(figures, ta_partial_dist_at(streams, row, STREAM_FIGURES + FIGURE_BARE));
        TA_ROW(out, by_stream, [STREAM_RANK] = ta_int(row[DEVICE_RANK]),
               [STREAM_DEVICE] = ta_int(row[DEVICE_DEVICE]),
               [STREAM_NAME] = ta_text(ta_partial_text(streams, row, STREAM_STREAM)),
               [STREAM_LAUNCHES] = ta_int(figures[FIGURE_LAUNCHES]), [STREAM_DEPTH] = shown.depth,
               [STREAM_DEPTH_MAX] = shown.most, [STREAM_EMPTY] = shown.empty,
               [STREAM_FLOOR] = shown.floor,
               [STREAM_P50] = delays ? ta_num(ta_dist_quantile(delays, 50)) : ta_null(),
               [STREAM_P95] = delays ? ta_num(ta_dist_quantile(delays, 95)) : ta_null(),
               [STREAM_LATE] = shown.late);
    }
    add_bins(merged[QUEUE_OVER_TIME], out);
    add_delays(merged[QUEUE_DELAYS], out);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_rank, &by_stream, &over_time, &delay_ecdf,
                                                    NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "launches",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           TA_READS(reads),
                                           .tables = tables};

TA_PLUGIN(analysis, launch_queue, &ops, .title = "Launch queue",
          .summary = "How far the host is ahead of the devices, and how long launched work waits: "
                     "launch_queue.by_rank, launch_queue.by_stream",
          .version = "1");
