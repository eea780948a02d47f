/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch_queue.by_rank, by_stream, over_time and delays: the depth of the queue between host and
 * device, and how long launched work waits. */
#include "launch_queue.h"

#include "analyze/partial.h"
#include "stat/dist.h"

#include <math.h>

/* Approximate maximum of rows of launch_queue.over_time: with more devices the intervals are
 * longer. */
enum { QUEUE_BIN_ROWS_MOST = 50000 };

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
                                           .map = launch_queue_map,
                                           .finish = finish,
                                           TA_READS(reads),
                                           .tables = tables};

TA_PLUGIN(analysis, launch_queue, &ops, .title = "Launch queue",
          .summary = "How far the host is ahead of the devices, and how long launched work waits: "
                     "launch_queue.by_rank, launch_queue.by_stream",
          .version = "1");
