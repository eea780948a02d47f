/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.context_growth, diffusion.block_law and diffusion.by_block_size: how the time of a
 * block grows with the blocks before it, and with its frames. */
#include "stat/fit.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

enum {
    BLOCKS_RANK,
    BLOCKS_VIDEO,
    BLOCKS_FRAMES,
    BLOCKS_TIME,
    VIDEO_RANK,
    VIDEO_NUMBER,
    VIDEO_RATIO,
    VIDEO_PLAYBACK,
    VIDEO_DECODE,
    VIDEO_READY
};
static const struct ta_ref reads[] = {
    [BLOCKS_RANK] = {"diffusion.blocks", "rank"},
    [BLOCKS_VIDEO] = {"diffusion.blocks", "video"},
    [BLOCKS_FRAMES] = {"diffusion.blocks", "frames"},
    [BLOCKS_TIME] = {"diffusion.blocks", "dur_ns"},
    [VIDEO_RANK] = {"playback.by_video", "rank"},
    [VIDEO_NUMBER] = {"playback.by_video", "video"},
    [VIDEO_RATIO] = {"playback.by_video", "ratio"},
    [VIDEO_PLAYBACK] = {"playback.by_video", "playback"},
    [VIDEO_DECODE] = {"playback.by_video", "decode_ns"},
    [VIDEO_READY] = {"playback.by_video", "ready"},
};

#define CONFIDENCE 0.95

/* ---- tables ---------------------------------------------------------------------------------- */

enum {
    GROWTH_RANK,
    GROWTH_VIDEO,
    GROWTH_BLOCKS,
    GROWTH_BASE,
    GROWTH_SLOPE,
    GROWTH_LOW,
    GROWTH_HIGH,
    GROWTH_WINDOW,
    GROWTH_ADDED,
    GROWTH_LIMIT,
    GROWTH_UNTIL,
    GROWTH_UNTIL_LOW,
    GROWTH_UNTIL_HIGH,
    GROWTH_BEYOND
};
static const struct ta_column growth_columns[] = {
    [GROWTH_RANK] = TA_DUMP_RANK_COLUMN,
    [GROWTH_VIDEO] = {"video", "Video", TA_INTEGER, .role = TA_KEY,
                      .doc = "Number of the video on its rank"},
    [GROWTH_BLOCKS] = {"blocks", "Blocks", TA_COUNT,
                       .doc = "Blocks that the line is fitted to: all, or all but the first if it "
                              "is longer because it also warms up"},
    [GROWTH_BASE] = {"base_ns", "Block time, no context", TA_NS_MEAN, .better = TA_LOWER,
                     .doc = "Time of a block without any context: the fitted line at block 0"},
    [GROWTH_SLOPE] = {"growth_ns", "Growth per block", TA_NS_MEAN, .better = TA_LOWER,
                      .weight = 0.5,
                      .doc = "How much longer each block takes than the one before it"},
    [GROWTH_LOW] = {"growth_low_ns", "Growth (low)", TA_NS_MEAN, .role = TA_NOTE,
                    .doc = "Lower end of the 95 % confidence interval of the growth"},
    [GROWTH_HIGH] = {"growth_high_ns", "Growth (high)", TA_NS_MEAN, .role = TA_NOTE,
                     .doc = "Upper end of the 95 % confidence interval of the growth"},
    [GROWTH_WINDOW] =
        {"window", "Full from block", TA_INTEGER,
         .doc = "Block from which the time stops growing because the context window is full; empty "
                "unless this explains more than half of what a straight line leaves unexplained"},
    [GROWTH_ADDED] = {"added_ns", "Added by growth", TA_NS, .better = TA_LOWER,
                      .doc = "Time that growth adds to all fitted blocks after the first; 0 if the "
                             "growth may be chance"},
    [GROWTH_LIMIT] =
        {"limit_ns", "Real-time limit", TA_NS_MEAN,
         .doc = "Longest block time that keeps up with playback: how long the frames of a block "
                "play, minus their decoding time if each block is decoded right after it"},
    [GROWTH_UNTIL] = {"real_time_until", "Real time until", TA_INTEGER, .better = TA_HIGHER,
                      .doc = "First block that takes longer than the real-time limit according to "
                             "the line; empty if no block does"},
    [GROWTH_UNTIL_LOW] = {"until_low", "Until (low)", TA_INTEGER, .role = TA_NOTE,
                          .doc = "First block above the real-time limit if base and growth are at "
                                 "the upper ends of their intervals"},
    [GROWTH_UNTIL_HIGH] = {"until_high", "Until (high)", TA_INTEGER, .role = TA_NOTE,
                           .doc = "First block above the real-time limit if base and growth are at "
                                  "the lower ends of their intervals; empty if no block is"},
    [GROWTH_BEYOND] =
        {"extrapolated", "Extrapolated", TA_FLAG,
         .doc = "Whether the first block above the limit is later than all recorded blocks"},
};
static const struct ta_table_def growth = {
    "diffusion.context_growth",
    "Block time growth with context",
    TA_COLUMNS(growth_columns),
    .tier = TA_TIER_DETAIL,
    .rank_words = "Context",
    .doc = "One row per video with at least 6 blocks of equal size that can be fitted: time of "
           "block i = base + growth · i, up to the block at which the context window is full. The "
           "line is robust (bisquare), with 95 % confidence intervals.",
    .brief = &(const struct ta_brief){
        .place = 283,
        .rows = 4,
        .largest = &growth_columns[GROWTH_SLOPE],
        .first = {&growth_columns[GROWTH_BASE], &growth_columns[GROWTH_SLOPE],
                  &growth_columns[GROWTH_WINDOW], &growth_columns[GROWTH_LIMIT],
                  &growth_columns[GROWTH_UNTIL]},
        .nonzero = &growth_columns[GROWTH_ADDED],
        .never = {&growth_columns[GROWTH_BEYOND], &growth_columns[GROWTH_ADDED],
                  &growth_columns[GROWTH_LOW], &growth_columns[GROWTH_HIGH],
                  &growth_columns[GROWTH_UNTIL_LOW], &growth_columns[GROWTH_UNTIL_HIGH],
                  &growth_columns[GROWTH_VIDEO]}}};

enum {
    LAW_RANK,
    LAW_SIZES,
    LAW_BLOCKS,
    LAW_FIXED,
    LAW_FIXED_LOW,
    LAW_FIXED_HIGH,
    LAW_FRAME,
    LAW_FRAME_LOW,
    LAW_FRAME_HIGH,
    LAW_HALF,
    LAW_RATE
};
static const struct ta_column law_columns[] = {
    [LAW_RANK] = TA_DUMP_RANK_COLUMN,
    [LAW_SIZES] = {"sizes", "Block sizes", TA_COUNT,
                   .doc = "How many different numbers of frames the blocks have"},
    [LAW_BLOCKS] = {"blocks", "Blocks", TA_COUNT, .doc = "Blocks that the line is fitted to"},
    [LAW_FIXED] = {"fixed_ns", "Fixed part", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Part of the block time that does not depend on the number of frames: "
                          "the fitted line at 0 frames"},
    [LAW_FIXED_LOW] = {"fixed_low_ns", "Fixed (low)", TA_NS_MEAN, .role = TA_NOTE,
                       .doc = "Lower end of the 95 % confidence interval of the fixed part"},
    [LAW_FIXED_HIGH] = {"fixed_high_ns", "Fixed (high)", TA_NS_MEAN, .role = TA_NOTE,
                        .doc = "Upper end of the 95 % confidence interval of the fixed part"},
    [LAW_FRAME] = {"per_frame_ns", "Per frame", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Time that each frame adds to a block"},
    [LAW_FRAME_LOW] = {"per_frame_low_ns", "Per frame (low)", TA_NS_MEAN, .role = TA_NOTE,
                       .doc = "Lower end of the 95 % confidence interval of the time per frame"},
    [LAW_FRAME_HIGH] = {"per_frame_high_ns", "Per frame (high)", TA_NS_MEAN, .role = TA_NOTE,
                        .doc = "Upper end of the 95 % confidence interval of the time per frame"},
    [LAW_HALF] = {"half_size", "Frames at half rate", TA_NUMBER,
                  .doc = "Frames per block at which half of the largest rate is reached: fixed "
                         "part divided by time per frame (Hockney's n½)"},
    [LAW_RATE] = {"largest_rate", "Largest rate", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                  .better = TA_HIGHER, .doc = "Frames per second that ever larger blocks approach"},
};
static const struct ta_table_def law = {
    "diffusion.block_law", "Block time by frames per block", TA_COLUMNS(law_columns),
    .rank_words = "Block law",
    .doc = "One row per rank with blocks of at least 3 sizes. Time of a block of B frames = fixed "
           "part + B · time per frame: a robust line (bisquare) through all blocks but the first "
           "of each video. Frames are counted as recorded."};

enum { SIZE_RANK, SIZE_FRAMES, SIZE_BLOCKS, SIZE_TIME, SIZE_FITTED, SIZE_RATE, SIZE_FITTED_RATE };
static const struct ta_column by_size_columns[] = {
    [SIZE_RANK] = TA_DUMP_RANK_COLUMN,
    [SIZE_FRAMES] = {"frames", "Frames", TA_INTEGER, .role = TA_KEY, .doc = "Frames per block"},
    [SIZE_BLOCKS] = {"blocks", "Blocks", TA_COUNT,
                     .doc = "Blocks of this size, without the first block of each video"},
    [SIZE_TIME] =
        {"block_p50_ns", "Block p50", TA_NS_MEAN, .better = TA_LOWER,
         .doc =
             "Median block time: how long a viewer waits until something of a block can be shown"},
    [SIZE_FITTED] = {"fitted_ns", "Fitted", TA_NS_MEAN,
                     .doc = "Block time according to the fitted line"},
    [SIZE_RATE] = {"fps", "FPS", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_HIGHER,
                   .doc = "Frames per block divided by the median block time"},
    [SIZE_FITTED_RATE] = {"fitted_fps", "FPS fitted", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                          .doc = "Frames per block divided by the fitted block time"},
};
static const struct ta_chart_def size_chart = {
    .id = "block-size",
    .title = "Frames per second by block size",
    .caption = "Frames per second by block size: median of the measured blocks without the first "
               "of each video, and the fitted line; rank by rank where ranks differ.",
    .kind = TA_CHART_LINES,
    .x = &by_size_columns[SIZE_FRAMES],
    .y = {{&by_size_columns[SIZE_RATE], "measured", TA_INK_SERIES_1},
          {&by_size_columns[SIZE_FITTED_RATE], "fitted", TA_INK_SERIES_2}},
};
static const struct ta_table_def by_size = {
    "diffusion.by_block_size",
    "Blocks by size",
    TA_COLUMNS(by_size_columns),
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true,
    .doc = "One row per number of frames per block, for the ranks of `diffusion.block_law`. Chart "
           "`block-size`, if one rank has it."};

/* ---- samples --------------------------------------------------------------------------------- */

/* Points of a fit, with room for all blocks. */
struct samples {
    double *x, *y, *bent;
    size_t n;
};

static bool has_time(const struct ta_refs *in, size_t row)
{
    const int64_t frames = ta_ref_integer(in, BLOCKS_FRAMES, row);
    const int64_t time = ta_ref_integer(in, BLOCKS_TIME, row);
    return frames != TA_MISSING && frames > 0 && time != TA_MISSING && time > 0;
}

static bool is_same(const struct ta_refs *in, size_t column, size_t a, size_t b)
{
    return ta_ref_integer(in, column, a) == ta_ref_integer(in, column, b);
}

/* The first row after `first` that belongs to another rank (or video). */
static size_t end_of(const struct ta_refs *in, size_t first, bool of_video)
{
    size_t end = first + 1;
    while (end < ta_ref_rows(in, BLOCKS_RANK) && is_same(in, BLOCKS_RANK, end, first) &&
           (!of_video || is_same(in, BLOCKS_VIDEO, end, first)))
        end++;
    return end;
}

/* ---- growth ---------------------------------------------------------------------------------- */

enum { FITTED_LEAST = 6, RISING_LEAST = 2, FLAT_LEAST = 2, UNTIL_MOST = 1000000 };

/* The share of a straight line's residuals that a window has to explain. */
#define WINDOW_EXPLAINS 0.5

/* Residual sum of squares of the least squares line. */
static double residuals(const double *x, const double *y, size_t n)
{
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        mean_x += x[i] / (double)n;
        mean_y += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
    }
    return xx > 0 ? fmax(yy - xy * xy / xx, 0) : yy;
}

static void bend(const struct samples *s, double window)
{
    for (size_t i = 0; i < s->n; i++)
        s->bent[i] = fmin(s->x[i], window);
}

/* Bound on the bends tried; longer videos are bent at some of their blocks only. */
enum { BENDS_MOST = 256 };

/* The block at which growth ends, INFINITY if it does not. */
static double find_window(const struct samples *s)
{
    const double straight = residuals(s->x, s->y, s->n);
    double least = WINDOW_EXPLAINS * straight, window = INFINITY;
    const size_t stride = 1 + s->n / BENDS_MOST;
    for (size_t i = RISING_LEAST; i + FLAT_LEAST <= s->n; i += stride) {
        bend(s, s->x[i]);
        const double left = residuals(s->bent, s->y, s->n);
        if (left < least) {
            least = left;
            window = s->x[i];
        }
    }
    return window;
}

/* The first block longer than `limit` according to this line, TA_MISSING if there is none. */
static int64_t first_above(double limit, double base, double slope, double window)
{
    double at = ceil((limit - base) / slope);
    if (base > limit)
        return 0;
    if (!(slope > 0) || !(base + slope * fmin(at, window) > limit))
        at = at + 1; /* the line just reaches it there */
    if (!(slope > 0) || at > fmin(window, UNTIL_MOST))
        return TA_MISSING;
    return ta_whole(at);
}

/* How long a block may take in real time; NAN if that is not known. */
static double limit_of(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, VIDEO_RANK); i++) {
        if (ta_ref_integer(in, VIDEO_RANK, i) != ta_ref_integer(in, BLOCKS_RANK, row) ||
            ta_ref_integer(in, VIDEO_NUMBER, i) != ta_ref_integer(in, BLOCKS_VIDEO, row))
            continue;
        const double frames =
            ta_ref_number(in, BLOCKS_FRAMES, row, NAN) * ta_ref_number(in, VIDEO_RATIO, i, 1);
        const double decode =
            ta_ref_reads(in, VIDEO_READY, i, "decoded") ? ta_ref_number(in, VIDEO_DECODE, i, 0) : 0;
        return frames * 1e9 / ta_ref_number(in, VIDEO_PLAYBACK, i, NAN) - decode;
    }
    return NAN;
}

/* Time that growth adds to the fitted blocks, compared with their first. */
static double added(const struct samples *s, const struct ta_line *line)
{
    double sum = 0;
    for (size_t i = 1; i < s->n; i++)
        sum += line->slope.value * (s->bent[i] - s->bent[0]);
    return sum;
}

/* The value at block 0 of the line whose slope and height are at one end of their intervals. */
static double base_of(const struct ta_line *line, double height, double slope)
{
    return height - slope * line->mean_x;
}

static void add_growth(struct ta_section_builder *out, const struct ta_refs *in, size_t row,
                       const struct samples *s, const struct ta_line *line, double window,
                       bool grows)
{
    const double limit = limit_of(in, row), slope = line->slope.value;
    const bool is_exact = isnan(line->slope.low);
    const double low = is_exact ? slope : line->slope.low,
                 high = is_exact ? slope : line->slope.high;
    const double lower = is_exact ? line->at_mean.value : line->at_mean.low;
    const double upper = is_exact ? line->at_mean.value : line->at_mean.high;
    const double flat = grows ? 1 : 0; /* a slope whose interval reaches 0 counts as no growth */
    const int64_t until =
        first_above(limit, base_of(line, line->at_mean.value, flat * slope), flat * slope, window);
    const bool has_limit = !isnan(limit);
    TA_ROW(
        out, growth, [GROWTH_RANK] = ta_int(ta_ref_integer(in, BLOCKS_RANK, row)),
        [GROWTH_VIDEO] = ta_int(ta_ref_integer(in, BLOCKS_VIDEO, row)),
        [GROWTH_BLOCKS] = ta_count(s->n), [GROWTH_BASE] = ta_num(line->intercept),
        [GROWTH_SLOPE] = ta_num(slope), [GROWTH_LOW] = ta_num(low), [GROWTH_HIGH] = ta_num(high),
        [GROWTH_WINDOW] = grows && isfinite(window) ? ta_int(ta_whole(window)) : ta_null(),
        [GROWTH_ADDED] = ta_int(grows ? ta_whole(fmax(added(s, line), 0)) : 0),
        [GROWTH_LIMIT] = ta_num(limit), [GROWTH_UNTIL] = has_limit ? ta_int(until) : ta_null(),
        [GROWTH_UNTIL_LOW] =
            has_limit
                ? ta_int(first_above(limit, base_of(line, upper, flat * high), flat * high, window))
                : ta_null(),
        [GROWTH_UNTIL_HIGH] =
            has_limit
                ? ta_int(first_above(limit, base_of(line, lower, flat * low), flat * low, window))
                : ta_null(),
        [GROWTH_BEYOND] =
            has_limit && until != TA_MISSING ? ta_bool((double)until > s->x[s->n - 1]) : ta_null());
}

/* Whether growth is more than chance.  The window is the best of all that were tried, so its
 * slope needs that much more evidence.  False without memory. */
static bool does_grow(const struct samples *s, double window, bool *grows)
{
    struct ta_line line;
    const double tried = isfinite(window) ? (double)s->n : 1;
    if (!ta_robust_line(s->bent, s->y, s->n, 1 - (1 - CONFIDENCE) / tried, &line))
        return false;
    /* Without an interval the line goes through all points. */
    *grows = (isnan(line.slope.low) ? line.slope.value : line.slope.low) > 0;
    return true;
}

/* Blocks [first, end) of a video.  False without memory. */
static bool fit_growth(struct ta_section_builder *out, const struct ta_refs *in, size_t first,
                       size_t end, struct samples *s)
{
    struct ta_line line;
    s->n = 0;
    for (size_t i = first; i < end; i++) {
        if (!has_time(in, i) || !is_same(in, BLOCKS_FRAMES, i, first))
            return true;
        s->x[s->n] = (double)(i - first);
        s->y[s->n++] = ta_ref_number(in, BLOCKS_TIME, i, 0);
    }
    const bool warms_up = s->n > 1 && s->y[0] > s->y[1];
    struct samples fitted = {s->x + warms_up, s->y + warms_up, s->bent, s->n - warms_up};
    if (fitted.n < FITTED_LEAST)
        return true;
    const double window = find_window(&fitted);
    bend(&fitted, window);
    bool grows;
    if (!ta_robust_line(fitted.bent, fitted.y, fitted.n, CONFIDENCE, &line) ||
        !does_grow(&fitted, window, &grows))
        return false;
    if (line.method != TA_LINE_NONE)
        add_growth(out, in, first, &fitted, &line, window, grows);
    return true;
}

/* ---- size ------------------------------------------------------------------------------------ */

enum { SIZES_LEAST = 3 };

static int by_size_then_time(const void *left, const void *right)
{
    const double *a = left, *b = right;
    if (a[0] < b[0] || a[0] > b[0])
        return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

/* Orders points by size, and the times of a size. */
static bool order(struct samples *s)
{
    double(*points)[2] = calloc(s->n + 1, sizeof *points);
    if (!points)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        points[i][0] = s->x[i];
        points[i][1] = s->y[i];
    }
    qsort(points, s->n, sizeof *points, by_size_then_time);
    for (size_t i = 0; i < s->n; i++) {
        s->x[i] = points[i][0];
        s->y[i] = points[i][1];
    }
    free(points);
    return true;
}

static size_t count_sizes(const struct samples *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += i == 0 || s->x[i] > s->x[i - 1];
    return n;
}

/* Half the interval of the line at 0: slope and height at the mean are independent. */
static double fixed_reach(const struct ta_line *line)
{
    const double height = line->at_mean.high - line->at_mean.value;
    const double steep = (line->slope.high - line->slope.value) * line->mean_x;
    return sqrt(height * height + steep * steep);
}

static void add_law(struct ta_section_builder *out, int64_t rank, const struct samples *s,
                    const struct ta_line *line)
{
    const double fixed = line->intercept, frame = line->slope.value, reach = fixed_reach(line);
    TA_ROW(out, law, [LAW_RANK] = ta_int(rank), [LAW_SIZES] = ta_count(count_sizes(s)),
           [LAW_BLOCKS] = ta_count(s->n), [LAW_FIXED] = ta_num(fixed),
           [LAW_FIXED_LOW] = ta_num(fixed - reach), [LAW_FIXED_HIGH] = ta_num(fixed + reach),
           [LAW_FRAME] = ta_num(frame), [LAW_FRAME_LOW] = ta_num(line->slope.low),
           [LAW_FRAME_HIGH] = ta_num(line->slope.high),
           [LAW_HALF] = fixed > 0 && frame > 0 ? ta_num(fixed / frame) : ta_null(),
           [LAW_RATE] = frame > 0 ? ta_num(1e9 / frame) : ta_null());
}

static void add_sizes(struct ta_section_builder *out, int64_t rank, const struct samples *s,
                      const struct ta_line *line)
{
    for (size_t first = 0, end; first < s->n; first = end) {
        for (end = first + 1; end < s->n && !(s->x[end] > s->x[first]);)
            end++;
        const double median = ta_quantile(s->y + first, end - first, 0.5);
        const double fitted = line->intercept + line->slope.value * s->x[first];
        TA_ROW(out,
               by_size, [SIZE_RANK] = ta_int(rank), [SIZE_FRAMES] = ta_int(ta_whole(s->x[first])),
               [SIZE_BLOCKS] = ta_count(end - first), [SIZE_TIME] = ta_num(median),
               [SIZE_FITTED] = ta_num(fitted), [SIZE_RATE] = ta_num(s->x[first] * 1e9 / median),
               [SIZE_FITTED_RATE] = fitted > 0 ? ta_num(s->x[first] * 1e9 / fitted) : ta_null());
    }
}

/* Blocks [first, end) of a rank; counts the ranks of which there is a law.  False without memory.
 */
static bool fit_sizes(struct ta_section_builder *out, const struct ta_refs *in, size_t first,
                      size_t end, struct samples *s, size_t *n_laws)
{
    struct ta_line line;
    const int64_t rank = ta_ref_integer(in, BLOCKS_RANK, first);
    s->n = 0;
    for (size_t i = first + 1; i < end; i++)
        if (has_time(in, i) && is_same(in, BLOCKS_VIDEO, i, i - 1)) {
            s->x[s->n] = ta_ref_number(in, BLOCKS_FRAMES, i, 0);
            s->y[s->n++] = ta_ref_number(in, BLOCKS_TIME, i, 0);
        }
    if (!order(s))
        return false;
    if (count_sizes(s) < SIZES_LEAST)
        return true;
    if (!ta_robust_line(s->x, s->y, s->n, CONFIDENCE, &line))
        return false;
    add_law(out, rank, s, &line);
    add_sizes(out, rank, s, &line);
    ++*n_laws;
    return true;
}

/* ---- finish ---------------------------------------------------------------------------------- */

static bool fit(struct ta_section_builder *out, const struct ta_refs *in, struct samples *s)
{
    const size_t n = ta_ref_rows(in, BLOCKS_RANK);
    size_t n_laws = 0;
    bool done = s->x && s->y && s->bent;
    for (size_t first = 0, end; done && first < n; first = end) {
        end = end_of(in, first, true);
        done = fit_growth(out, in, first, end, s);
    }
    for (size_t first = 0, end; done && first < n; first = end) {
        end = end_of(in, first, false);
        done = fit_sizes(out, in, first, end, s, &n_laws);
    }
    if (n_laws == 1)
        ta_draw(out, &by_size, &size_chart);
    return done;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const size_t n = ta_ref_rows(in, BLOCKS_RANK) + 1;
    struct samples s = {.x = calloc(n, sizeof *s.x),
                        .y = calloc(n, sizeof *s.y),
                        .bent = calloc(n, sizeof *s.bent)};
    const bool done = fit(out, in, &s);
    free(s.x);
    free(s.y);
    free(s.bent);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot fit the times of blocks");
}

static const struct ta_table_def *const tables[] = {&growth, &law, &by_size, NULL};

static const struct ta_analysis_ops ops = {.section = "diffusion",
                                           .place = 1,
                                           .finish = finish,
                                           .of_tables = true,
                                           .tables = tables,
                                           TA_READS(reads)};

TA_PLUGIN(analysis, block_laws, &ops, .title = "Block time by context and frames",
          .summary =
              "How block time grows with the number of earlier blocks and with the number of "
              "frames: diffusion.context_growth, diffusion.block_law, diffusion.by_block_size",
          .version = "1");
