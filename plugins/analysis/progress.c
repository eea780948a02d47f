/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.bars and progress.over_time: the bars of progress of a log, their first iteration
 * against the others, and where their speed changed.
 *
 * A bar has whole seconds of elapsed time for a number of done iterations.  Two straight lines
 * through these points, one before and one after some iteration, fit best where the speed changed;
 * it did when both together leave much less than one line leaves, and differ by more than the
 * seconds are rounded. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RANK,
    FILE_KEY,
    BAR,
    ORDER,
    NAME,
    MODEL,
    DONE,
    TOTAL,
    ELAPSED,
    ITERATION,
    OFFLOADED,
    FIELDS
};

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [FILE_KEY] = {"file", TA_FIELD_FILE},
    [BAR] = {"bar", TA_FIELD_INT},
    [ORDER] = {"order", TA_FIELD_INT},
    [NAME] = {"name", TA_FIELD_TEXT},
    [MODEL] = {"model", TA_FIELD_TEXT},
    [DONE] = {"done", TA_FIELD_MAX},
    [TOTAL] = {"total", TA_FIELD_MAX},
    [ELAPSED] = {"elapsed_ns", TA_FIELD_MAX},
    [ITERATION] = {"iteration_ns", TA_FIELD_MAX},
    [OFFLOADED] = {"offloaded_bytes", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {{"states", fields, FIELDS}, {0}};

enum {
    BARS_RANK,
    BARS_BAR,
    BARS_LOOP,
    BARS_DONE,
    BARS_TOTAL,
    BARS_ELAPSED,
    BARS_MEAN,
    BARS_FIRST,
    BARS_REST,
    BARS_CHANGE,
    BARS_BEFORE,
    BARS_AFTER,
    BARS_MODEL,
    BARS_OFFLOADED
};
static const struct ta_column bars_columns[] = {
    [BARS_RANK] = TA_DUMP_RANK_COLUMN,
    [BARS_BAR] = {"bar", "Bar", TA_INTEGER, .role = TA_IN_SERIES,
                  .doc = "Position in the log, starting at 0"},
    [BARS_LOOP] = {"loop", "Loop", TA_TEXT, .read_as = TA_AS_BAR,
                   .doc = "Name of the progress bar"},
    [BARS_DONE] = {"done", "Done", TA_COUNT, .read_as = TA_AS_BAR_DONE, .doc = "Iterations done"},
    [BARS_TOTAL] = {"total", "Of", TA_COUNT, .doc = "Iterations to do"},
    [BARS_ELAPSED] =
        {"elapsed_ns", "Elapsed", TA_NS, .better = TA_LOWER,
         .doc = "Time since the bar began; in whole seconds unless each iteration is timed"},
    [BARS_MEAN] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, .read_as = TA_AS_BAR_MEAN,
                   .doc = "Elapsed time per iteration done; decimals come from the rate that the "
                          "bar shows, if the two agree within a second"},
    [BARS_FIRST] =
        {"first_ns", "First", TA_NS, .better = TA_LOWER, .read_as = TA_AS_BAR_FIRST,
         .doc = "Time of the first iteration; empty if the log does not show the bar after it"},
    [BARS_REST] = {"rest_ns", "Mean of the rest", TA_NS_MEAN, .better = TA_LOWER,
                   .read_as = TA_AS_BAR_REST, .doc = "Mean time of the iterations after the first"},
    [BARS_CHANGE] = {"change_at", "Changed at", TA_INTEGER, .role = TA_NOTE,
                     .read_as = TA_AS_BAR_CHANGE,
                     .doc = "First iteration at a different speed; empty if the speed is constant"},
    [BARS_BEFORE] = {"before_ns", "Mean before change", TA_NS_MEAN, .better = TA_LOWER,
                     .read_as = TA_AS_BAR_BEFORE, .doc = "Mean iteration time before the change"},
    [BARS_AFTER] = {"after_ns", "Mean after change", TA_NS_MEAN, .better = TA_LOWER,
                    .read_as = TA_AS_BAR_AFTER, .doc = "Mean iteration time after the change"},
    [BARS_MODEL] = {"model", "Model", TA_TEXT, .role = TA_NOTE, .read_as = TA_AS_BAR_MODEL,
                    .doc =
                        "Model that the loop runs; empty if the log does not say what was loaded"},
    [BARS_OFFLOADED] = {"offloaded_bytes", "Weights in host memory", TA_BYTES, .better = TA_LOWER,
                        .read_as = TA_AS_BAR_OFFLOADED,
                        .doc = "Bytes of the model's weights that stayed in host memory meanwhile"},
};

static const struct ta_table_def bars = {
    "progress.bars", "Progress bars", TA_COLUMNS(bars_columns),
    .doc = "One row per progress bar of a log. A bar that starts over counts as another one. The "
           "speed of a bar is said to change if two speeds fit its states much better than one."};

enum { TIME_RANK, TIME_BAR, TIME_LOOP, TIME_DONE, TIME_ELAPSED, TIME_ITERATION, TIME_SPEED };
static const struct ta_column over_time_columns[] = {
    [TIME_RANK] = TA_DUMP_RANK_COLUMN,
    [TIME_BAR] = {"bar", "Bar", TA_INTEGER, .role = TA_IN_SERIES,
                  .doc = "Position in the log, starting at 0"},
    [TIME_LOOP] = {"loop", "Loop", TA_TEXT, .doc = "Name of the progress bar and its number"},
    [TIME_DONE] = {"done", "Iterations done", TA_COUNT, .role = TA_IN_SERIES,
                   .doc = "Iterations done"},
    [TIME_ELAPSED] = {"elapsed_ns", "Elapsed", TA_NS, .doc = "Time since the bar began"},
    [TIME_ITERATION] =
        {"iteration_ns", "Iteration", TA_NS, .better = TA_LOWER,
         .doc = "Time per iteration as the bar shows it, smoothed over the last iterations"},
    [TIME_SPEED] = {"speed_ns", "Steady time", TA_NS_MEAN, .better = TA_LOWER,
                    .doc = "Mean time of the iterations at one speed that include this one: the "
                           "first alone, those before or after a change, or all others"},
};

static const struct ta_chart_def chart = {
    .id = "iteration-time",
    .title = "Time per iteration",
    .caption = "Iteration time by progress bar. Top: as the bar shows it, smoothed over the last "
               "iterations. Bottom: mean of the first iteration, and of each stretch of steady "
               "speed.",
    .kind = TA_CHART_LINES,
    .x = &over_time_columns[TIME_DONE],
    .y = {{&over_time_columns[TIME_ITERATION], "As shown", TA_INK_SERIES_1},
          {&over_time_columns[TIME_SPEED], "Steady time", TA_INK_SERIES_2}},
    .group = &over_time_columns[TIME_LOOP],
};

static const struct ta_table_def over_time = {
    "progress.over_time",
    "Progress over time",
    TA_COLUMNS(over_time_columns),
    .doc = "One row per state of a progress bar, in log order. Chart `iteration-time`.",
    .tier = TA_TIER_POINTS,
    .chart = {&chart}};

/* ---- map ----------------------------------------------------------------------------------- */

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n, n_loads;
    const struct ta_bar_state *states = ta_trace_bar_state_rows(trace, &n);
    const struct ta_model_load *loads = ta_trace_model_load_rows(trace, &n_loads);
    for (size_t i = 0; i < n; i++) {
        const bool is_known = states[i].load > 0 && (uint64_t)states[i].load <= n_loads;
        const struct ta_model_load *load = is_known ? &loads[states[i].load - 1] : NULL;
        int64_t *row = TA_PARTIAL_ROW(
            out[0], ta_row_rank(trace, states[i].rank), ta_row_file(trace),
            ta_key_int(states[i].bar), ta_key_int((int64_t)i),
            ta_key_text(ta_trace_text(trace, states[i].name)),
            ta_key_text(load ? ta_trace_text(trace, load->model) : (struct ta_slice){0}));
        row[OFFLOADED] = load ? load->offloaded_bytes : TA_MISSING;
        row[DONE] = states[i].done;
        row[TOTAL] = states[i].total;
        row[ELAPSED] = states[i].elapsed_ns;
        row[ITERATION] = states[i].iteration_ns;
    }
    return TA_OK;
}

/* ---- where the speed changed ----------------------------------------------------------------- */

/* Sums of points for a straight line through them. */
struct sums {
    double n, x, y, xx, xy, yy;
};

static struct sums plus(struct sums a, double x, double y)
{
    return (struct sums){a.n + 1, a.x + x, a.y + y, a.xx + x * x, a.xy + x * y, a.yy + y * y};
}

static struct sums minus(struct sums a, struct sums b)
{
    return (struct sums){a.n - b.n, a.x - b.x, a.y - b.y, a.xx - b.xx, a.xy - b.xy, a.yy - b.yy};
}

static double slope_of(struct sums s)
{
    const double spread = s.n * s.xx - s.x * s.x;
    return spread > 0 ? (s.n * s.xy - s.x * s.y) / spread : NAN;
}

/* What the line leaves: the sum of squares between points and line. */
static double rest_of(struct sums s)
{
    const double slope = slope_of(s);
    if (isnan(slope))
        return 0;
    const double whole = s.yy - s.y * s.y / s.n;
    return fmax(whole - slope * (s.xy - s.x * s.y / s.n), 0);
}

struct change {
    size_t at;            /* states of the first speed; 0: no change */
    double before, after; /* ns of an iteration */
};

/* States on each side at least; how much faster or slower the one is; the part of the squares that
 * one line leaves which two leave at most; ns that whole seconds may be off. */
enum { SIDE = 3 };
static const double least_ratio = 1.3, most_left = 0.25, rounding = 1e9;
static const int64_t whole_second = 1000000000;

/* States after the first, whose iteration is often slower for other reasons. */
static struct change find_change(const struct ta_partial *states, size_t first, size_t end,
                                 struct sums *to)
{
    struct change best = {0};
    double least = INFINITY;
    const size_t n = end - first;
    to[0] = (struct sums){0};
    for (size_t i = 0; i < n; i++) {
        const int64_t *row = ta_partial_at(states, first + i);
        to[i + 1] = plus(to[i], (double)row[DONE], (double)row[ELAPSED]);
    }
    /* The state at which the speed changes ends the one line and begins the other. */
    for (size_t i = SIDE - 1; n >= 2 * SIDE && i + SIDE <= n; i++) {
        const struct sums one = to[i + 1], other = minus(to[n], to[i]);
        const double rest = rest_of(one) + rest_of(other);
        if (rest >= least)
            continue;
        least = rest;
        best = (struct change){i + 1, slope_of(one), slope_of(other)};
    }
    const double slow = fmax(best.before, best.after), fast = fmin(best.before, best.after);
    const double all = best.at ? rest_of(to[n]) : 0;
    const int64_t *last = ta_partial_at(states, end - 1);
    const double after =
        best.at ? (double)(last[DONE] - ta_partial_at(states, first + best.at - 1)[DONE]) : 0;
    /* What the change costs or saves in all has to be beyond what is rounded away. */
    const bool is_clear = best.at && fast > 0 && slow > least_ratio * fast &&
                          least < most_left * all && (slow - fast) * after > 3 * rounding;
    return is_clear ? best : (struct change){0};
}

/* Between few states, each of many iterations, there is no line to fit: the speeds up to a state
 * and from there on, where the later is the slower one.  A first iteration that loads or compiles
 * makes the earlier one slower and is never taken for a change. */
static struct change find_slowdown(const struct ta_partial *states, size_t first, size_t end)
{
    enum { MANY = 5, LONG = 5 }; /* iterations on a side; seconds of it */
    struct change best = {0};
    const int64_t *last = ta_partial_at(states, end - 1);
    for (size_t i = first; i + 1 < end && end - first < 2 * SIDE; i++) {
        const int64_t *row = ta_partial_at(states, i);
        const double n = (double)row[DONE], ns = (double)row[ELAPSED];
        const double n_after = (double)(last[DONE] - row[DONE]);
        const double ns_after = (double)(last[ELAPSED] - row[ELAPSED]);
        const double before = (ns + rounding) / n, after = (ns_after - rounding) / n_after;
        if (n >= MANY && n_after >= MANY && fmin(ns, ns_after) >= LONG * rounding &&
            after > least_ratio * before && (best.at == 0 || ns_after / n_after > best.after))
            best = (struct change){i - first + 1, ns / n, ns_after / n_after};
    }
    return best;
}

/* ---- finish -------------------------------------------------------------------------------- */

static struct ta_cell mean_of(int64_t ns, int64_t n)
{
    return n > 0 && ns != TA_MISSING ? ta_num((double)ns / (double)n) : ta_null();
}

/* A bar that is closed shows its rate over all iterations, with decimals that elapsed time lacks;
 * one that is open the rate of the last ones. */
static struct ta_cell mean_of_bar(const int64_t *last)
{
    const double done = (double)last[DONE], all = (double)last[ITERATION] * done;
    const bool is_overall = last[DONE] > 0 && last[DONE] == last[TOTAL] &&
                            last[ELAPSED] % whole_second == 0 && last[ITERATION] != TA_MISSING &&
                            all >= (double)last[ELAPSED] && all < (double)last[ELAPSED] + rounding;
    return is_overall ? ta_num((double)last[ITERATION]) : mean_of(last[ELAPSED], last[DONE]);
}

static struct ta_cell mean_of_others(const int64_t *last, int64_t first_ns)
{
    const struct ta_cell mean = mean_of_bar(last);
    const double all = ta_cell_number(&mean, NAN) * (double)last[DONE];
    return last[DONE] > 1 && all > (double)first_ns
               ? ta_num((all - (double)first_ns) / (double)(last[DONE] - 1))
               : ta_null();
}

/* The speeds of a bar: of the first iteration, of the others, and of those around a change. */
struct speeds {
    int64_t first_ns; /* or TA_MISSING */
    struct ta_cell others, before, after;
    int64_t change_at; /* the first iteration of another speed, or TA_MISSING */
};

static struct speeds add_bar(struct ta_section_builder *out, const struct ta_partial *states,
                             size_t first, size_t end, int64_t place, struct sums *sums)
{
    const int64_t *head = ta_partial_at(states, first), *last = ta_partial_at(states, end - 1);
    while (first + 1 < end && head[DONE] == 0)
        head = ta_partial_at(states, ++first);
    const bool has_first = head[DONE] == 1;
    /* The rate of the first state is of this iteration alone and has decimals. */
    const int64_t one = !has_first                      ? TA_MISSING
                        : head[ITERATION] != TA_MISSING ? head[ITERATION]
                                                        : head[ELAPSED];
    struct change change = find_change(states, first, end, sums);
    if (change.at == 0)
        change = find_slowdown(states, first, end);
    const struct speeds speeds = {
        .first_ns = one,
        .others = has_first ? mean_of_others(last, one) : ta_null(),
        .before = change.at ? ta_num(change.before) : ta_null(),
        .after = change.at ? ta_num(change.after) : ta_null(),
        .change_at =
            change.at ? ta_partial_at(states, first + change.at - 1)[DONE] + 1 : TA_MISSING};
    const struct ta_slice name = ta_partial_text(states, last, NAME);
    TA_ROW(out, bars, [BARS_RANK] = ta_int(last[RANK]), [BARS_BAR] = ta_int(place),
           [BARS_LOOP] = ta_text_or_null(name), [BARS_DONE] = ta_int(last[DONE]),
           [BARS_TOTAL] = ta_int(last[TOTAL]), [BARS_ELAPSED] = ta_int(last[ELAPSED]),
           [BARS_MEAN] = mean_of_bar(last), [BARS_FIRST] = ta_int(one), [BARS_REST] = speeds.others,
           [BARS_CHANGE] = ta_int(speeds.change_at), [BARS_BEFORE] = speeds.before,
           [BARS_AFTER] = speeds.after,
           [BARS_MODEL] = ta_text_or_null(ta_partial_text(states, last, MODEL)),
           [BARS_OFFLOADED] = ta_int(last[OFFLOADED]));
    return speeds;
}

/* The mean of the iterations of one speed that iteration `n` is among. */
static struct ta_cell speed_at(const struct speeds *speeds, const int64_t *last, int64_t n)
{
    if (n == 0)
        return ta_null();
    if (n == 1 && speeds->first_ns != TA_MISSING)
        return ta_int(speeds->first_ns);
    if (speeds->change_at != TA_MISSING)
        return n < speeds->change_at ? speeds->before : speeds->after;
    return speeds->first_ns != TA_MISSING ? speeds->others : mean_of_bar(last);
}

static void add_states(struct ta_section_builder *out, const struct ta_partial *states,
                       size_t first, size_t end, int64_t place, const struct speeds *speeds)
{
    const int64_t *last = ta_partial_at(states, end - 1);
    const struct ta_slice name = ta_partial_text(states, last, NAME);
    char shown[96];
    snprintf(shown, sizeof shown, "%.*s %lld",
             name.len ? (int)ta_min_i64((int64_t)name.len, 60) : 3, name.len ? name.ptr : "bar",
             (long long)place);
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(states, i);
        TA_ROW(out, over_time, [TIME_RANK] = ta_int(row[RANK]), [TIME_BAR] = ta_int(place),
               [TIME_LOOP] = ta_text(ta_slice_of(shown)), [TIME_DONE] = ta_int(row[DONE]),
               [TIME_ELAPSED] = ta_int(row[ELAPSED]), [TIME_ITERATION] = ta_int(row[ITERATION]),
               [TIME_SPEED] = speed_at(speeds, last, row[DONE]));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    const struct ta_partial *states = merged[0];
    const size_t n = ta_partial_rows(states);
    struct sums *sums = calloc(n + 1, sizeof *sums);
    if (!sums)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot look for changes of speed");
    int64_t place = 0;
    for (size_t first = 0, end; first < n; first = end, place++) {
        const int64_t *head = ta_partial_at(states, first);
        if (first > 0 && ta_partial_at(states, first - 1)[RANK] != head[RANK])
            place = 0;
        end = ta_partial_group_end(states, first, BAR);
        const struct speeds speeds = add_bar(out, states, first, end, place, sums);
        if (end - first > 1)
            add_states(out, states, first, end, place, &speeds);
    }
    free(sums);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&bars, &over_time, NULL};

static const struct ta_analysis_ops ops = {
    .section = "diffusion", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, progress, &ops, .title = "Diffusion and throughput",
          .summary = "Progress bars of logs, slow first iterations and changes of speed: "
                     "progress.bars, progress.over_time",
          .version = "1");
