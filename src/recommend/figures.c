/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The headline of inputs that time neither devices nor stages: each sentence is about one table,
 * and the first that has anything to say is the headline. */
#include "recommend/line.h"

#include "report/short_name.h"
#include "traceanalyze/output.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What fits a sentence. */
enum { NAME_MOST = 60 };

static double number(const struct ta_table *table, size_t row, const char *column)
{
    return ta_row_number(table, row, column, NAN);
}

static struct ta_slice name_at(struct line *line, const struct ta_table *table, size_t row,
                               const char *column)
{
    return ta_short_name(line->arena, ta_row_text(table, row, column), NAME_MOST);
}

/* The row with the largest number in a column; SIZE_MAX without any. */
static size_t row_of_most(const struct ta_table *table, const char *column)
{
    size_t most = SIZE_MAX;
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (!isnan(number(table, i, column)) &&
            (most == SIZE_MAX || number(table, i, column) > number(table, most, column)))
            most = i;
    return most;
}

/* ---- sums over ranks ------------------------------------------------------------------------ */

static size_t row_of_metric(const struct ta_table *table, const char *metric)
{
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (ta_row_reads(table, i, "metric", metric))
            return i;
    return SIZE_MAX;
}

/* "12.5 s to 13.2 s", or one value where they read the same. */
static const char *range_of(const struct ta_table *table, size_t row, enum ta_unit unit,
                            char words[2 * TA_UNIT_TEXT_MAX + 8])
{
    char low[TA_UNIT_TEXT_MAX], high[TA_UNIT_TEXT_MAX];
    ta_unit_format(low, number(table, row, "min"), unit);
    ta_unit_format(high, number(table, row, "max"), unit);
    if (strcmp(low, high) == 0)
        snprintf(words, TA_UNIT_TEXT_MAX, "%s", low);
    else
        snprintf(words, 2 * TA_UNIT_TEXT_MAX + 8, "%s to %s", low, high);
    return words;
}

/* The rank whose session is the longest, of `*n` sessions; TA_MISSING without any. */
static int64_t slowest_session(const struct ta_report *report, size_t *n)
{
    const struct ta_table *figures = ta_report_table(report, "figures.reported");
    int64_t rank = TA_MISSING;
    double longest = 0;
    *n = 0;
    for (size_t i = 0; figures && i < figures->n_rows; i++) {
        if (!ta_row_reads(figures, i, "group", "aggregate") ||
            !ta_row_reads(figures, i, "figure", "duration_ns"))
            continue;
        ++*n;
        if (number(figures, i, "value") > longest) {
            longest = number(figures, i, "value");
            rank = ta_row_integer(figures, i, "rank");
        }
    }
    return rank;
}

static void say_sessions(struct line *line, const struct ta_report *report,
                         const struct ta_table *metrics)
{
    char words[2 * TA_UNIT_TEXT_MAX + 8];
    size_t n;
    const size_t row = row_of_metric(metrics, "session_duration");
    const int64_t rank = slowest_session(report, &n);
    if (row == SIZE_MAX || n == 0)
        return;
    range_of(metrics, row, TA_UNIT_NS, words);
    if (n == 1)
        say(line, "The session takes %s.", words);
    else if (number(metrics, row, "min") < number(metrics, row, "max"))
        say(line, "The sessions of %zu ranks take %s, that of rank %" PRId64 " the longest.", n,
            words, rank);
    else
        say(line, "The sessions of %zu ranks take %s each.", n, words);
}

static void say_aggregated(struct line *line, const struct ta_report *report)
{
    const struct ta_table *metrics = ta_report_table(report, "figures.aggregated");
    char words[2 * TA_UNIT_TEXT_MAX + 8], mean[TA_UNIT_TEXT_MAX];
    if (!metrics)
        return;
    say_sessions(line, report, metrics);
    size_t row = row_of_metric(metrics, "gpu_utilization_ratio");
    if (row != SIZE_MAX)
        say(line, "The GPUs are in use %s of the time (%s by rank).",
            ta_unit_format(mean, number(metrics, row, "mean"), TA_UNIT_RATIO),
            range_of(metrics, row, TA_UNIT_RATIO, words));
    row = row_of_metric(metrics, "gpu_memory_used_bytes");
    const size_t total = row_of_metric(metrics, "gpu_memory_total_bytes");
    if (row != SIZE_MAX && total != SIZE_MAX)
        say(line, "Up to %s of %s of GPU memory is in use.",
            ta_unit_format(mean, number(metrics, row, "max"), TA_UNIT_BYTES),
            ta_unit_format(words, number(metrics, total, "max"), TA_UNIT_BYTES));
    else if (row != SIZE_MAX)
        say(line, "Up to %s of GPU memory is in use.",
            ta_unit_format(mean, number(metrics, row, "max"), TA_UNIT_BYTES));
    row = row_of_metric(metrics, "cpu_usage_ratio");
    if (line->n == 0 && row != SIZE_MAX)
        say(line, "The processors of the host are in use %s of the time (%s by rank).",
            ta_unit_format(mean, number(metrics, row, "mean"), TA_UNIT_RATIO),
            range_of(metrics, row, TA_UNIT_RATIO, words));
}

/* ---- times ---------------------------------------------------------------------------------- */

static void say_requests(struct line *line, const struct ta_report *report)
{
    const struct ta_table *requests = ta_report_table(report, "requests.by_rank");
    const size_t row = row_of_most(requests, "ttft_mean_ns");
    char first[TA_UNIT_TEXT_MAX], next[TA_UNIT_TEXT_MAX], n[TA_UNIT_TEXT_MAX];
    if (row == SIZE_MAX)
        return;
    ta_unit_format(n, number(requests, row, "requests"), TA_UNIT_COUNT);
    ta_unit_format(first, number(requests, row, "ttft_mean_ns"), TA_UNIT_NS);
    ta_unit_format(next, number(requests, row, "tpot_mean_ns"), TA_UNIT_NS);
    if (isnan(number(requests, row, "tpot_mean_ns")))
        say(line, "The first tokens of %s requests come after %s (mean).", n, first);
    else
        say(line, "The first tokens of %s requests come after %s, then one each %s (means).", n,
            first, next);
}

static void say_loop(struct line *line, const struct ta_report *report)
{
    const struct ta_table *loops = ta_report_table(report, "iterations.by_name");
    const size_t row = row_of_most(loops, "total_ns");
    char rate[TA_UNIT_TEXT_MAX], n[TA_UNIT_TEXT_MAX], mean[TA_UNIT_TEXT_MAX];
    if (row == SIZE_MAX || isnan(number(loops, row, "per_s")))
        return;
    const struct ta_slice name = name_at(line, loops, row, "loop");
    const bool is_named = !ta_slice_equal(name, TA_LIT("iterations"));
    say(line, "The loop%s%.*s runs %s iterations per second: %s of %s each.", is_named ? " " : "",
        is_named ? (int)name.len : 0, name.ptr,
        ta_unit_format(rate, number(loops, row, "per_s"), TA_UNIT_NONE),
        ta_unit_format(n, number(loops, row, "count"), TA_UNIT_COUNT),
        ta_unit_format(mean, number(loops, row, "mean_ns"), TA_UNIT_NS));
}

static void say_layer(struct line *line, const struct ta_report *report)
{
    const struct ta_table *layers = ta_report_table(report, "layers.by_name");
    const size_t row = row_of_most(layers, "total_ns");
    char share[TA_UNIT_TEXT_MAX], total[TA_UNIT_TEXT_MAX];
    if (row == SIZE_MAX)
        return;
    const struct ta_slice name = name_at(line, layers, row, "layer");
    ta_unit_format(total, number(layers, row, "total_ns"), TA_UNIT_NS);
    if (isnan(number(layers, row, "share")))
        say(line, "The layer %.*s takes %s.", (int)name.len, name.ptr, total);
    else
        say(line, "The layer %.*s takes %s of the time in the layers (%s).", (int)name.len,
            name.ptr, ta_unit_format(share, number(layers, row, "share"), TA_UNIT_RATIO), total);
}

/* ---- call stacks ---------------------------------------------------------------------------- */

struct frame {
    struct ta_slice name;
    double weight;
};

static int by_name(const void *left, const void *right)
{
    const struct frame *a = left, *b = right;
    return ta_slice_compare(a->name, b->name);
}

/* The innermost frame of "outer;…;inner". */
static struct ta_slice innermost(struct ta_slice stack)
{
    size_t start = stack.len;
    while (start > 0 && stack.ptr[start - 1] != ';')
        start--;
    return ta_slice_from(stack, start);
}

/* The frame that is innermost for most of the time. */
static struct frame heaviest(struct frame *frames, size_t n)
{
    struct frame most = {.weight = 0};
    qsort(frames, n, sizeof *frames, by_name);
    for (size_t first = 0, end; first < n; first = end) {
        struct frame sum = {.name = frames[first].name};
        for (end = first; end < n && ta_slice_equal(frames[end].name, sum.name); end++)
            sum.weight += frames[end].weight;
        if (sum.weight > most.weight)
            most = sum;
    }
    return most;
}

static void say_stacks(struct line *line, const struct ta_report *report)
{
    const struct ta_table *stacks = ta_report_table(report, "stacks.folded");
    struct frame *frames = stacks ? calloc(stacks->n_rows + 1, sizeof *frames) : NULL;
    char share[TA_UNIT_TEXT_MAX], time[TA_UNIT_TEXT_MAX];
    double all = 0;
    for (size_t i = 0; frames && i < stacks->n_rows; i++) {
        frames[i] = (struct frame){innermost(ta_row_text(stacks, i, "stack")),
                                   fmax(0, number(stacks, i, "total_ns"))};
        all += frames[i].weight;
    }
    const struct frame most =
        frames ? heaviest(frames, stacks->n_rows) : (struct frame){.weight = 0};
    free(frames);
    if (!(most.weight > 0))
        return;
    const struct ta_slice name = ta_short_name(line->arena, most.name, NAME_MOST);
    say(line, "%.*s itself takes %s of the time of all call stacks (%s).", (int)name.len, name.ptr,
        ta_unit_format(share, most.weight / all, TA_UNIT_RATIO),
        ta_unit_format(time, most.weight, TA_UNIT_NS));
}

/* ---- caches --------------------------------------------------------------------------------- */

/* The last time of the video at which anything was found in a cache. */
static double video_length(const struct ta_report *report)
{
    const struct ta_table *hits = ta_report_table(report, "caches.hits");
    const size_t last = row_of_most(hits, "video_ns");
    return last == SIZE_MAX ? NAN : number(hits, last, "video_ns");
}

/* ", …" of the caches with the most hits, as many as fit. */
static void list_caches(struct line *line, const struct ta_table *caches, char words[400])
{
    enum { MOST_NAMED = 4 };
    size_t n = 0, named = 0;
    double below = INFINITY;
    words[0] = '\0';
    while (named < MOST_NAMED) {
        double most = -1;
        for (size_t i = 0; i < caches->n_rows; i++)
            if (number(caches, i, "hits") < below && number(caches, i, "hits") > most)
                most = number(caches, i, "hits");
        if (most < 0)
            return;
        for (size_t i = 0; i < caches->n_rows && named < MOST_NAMED; i++) {
            if (number(caches, i, "hits") != most)
                continue;
            const struct ta_slice name = name_at(line, caches, i, "cache");
            char hits[TA_UNIT_TEXT_MAX];
            const int added =
                snprintf(words + n, 400 - n, "%s%.*s %s", named ? ", " : "", (int)name.len,
                         name.ptr, ta_unit_format(hits, most, TA_UNIT_COUNT));
            n += added > 0 && n + (size_t)added < 400 ? (size_t)added : 0;
            named++;
        }
        below = most;
    }
}

static void say_caches(struct line *line, const struct ta_report *report)
{
    const struct ta_table *caches = ta_report_table(report, "caches.by_name");
    double hits = 0, misses = NAN;
    for (size_t i = 0; caches && i < caches->n_rows; i++) {
        hits += fmax(0, number(caches, i, "hits"));
        if (!isnan(number(caches, i, "misses")))
            misses = number(caches, i, "misses") + (isnan(misses) ? 0 : misses);
    }
    char sum[TA_UNIT_TEXT_MAX], of[TA_UNIT_TEXT_MAX], words[400];
    if (!caches || caches->n_rows == 0)
        return;
    list_caches(line, caches, words);
    if (hits + misses > 0)
        say(line, "The caches answer %s of %s lookups.",
            ta_unit_format(sum, hits / (hits + misses), TA_UNIT_RATIO),
            ta_unit_format(of, hits + misses, TA_UNIT_COUNT));
    else if (!isnan(video_length(report)))
        say(line,
            "%s cache hits in %s of video: %s. Misses are not recorded, so there is no hit "
            "ratio.",
            ta_unit_format(sum, hits, TA_UNIT_COUNT),
            ta_unit_format(of, video_length(report), TA_UNIT_NS), words);
    else if (hits > 0)
        say(line, "%s cache hits: %s.", ta_unit_format(sum, hits, TA_UNIT_COUNT), words);
}

/* ---- what else there may be ----------------------------------------------------------------- */

static void say_streaming(struct line *line, const struct ta_report *report)
{
    const struct ta_table *streams = ta_report_table(report, "streaming.by_rank");
    const size_t row = row_of_most(streams, "drop_ratio"), slow = row_of_most(streams, "fps");
    char text[TA_UNIT_TEXT_MAX], sent[TA_UNIT_TEXT_MAX], lost[TA_UNIT_TEXT_MAX];
    if (slow != SIZE_MAX)
        say(line, "%s frames per second are streamed, as the profiler reports.",
            ta_unit_format(text, number(streams, slow, "fps"), TA_UNIT_NONE));
    if (row != SIZE_MAX)
        say(line, "%s of %s streamed frames were dropped (%s).",
            ta_unit_format(lost, number(streams, row, "dropped"), TA_UNIT_COUNT),
            ta_unit_format(sent, number(streams, row, "frames") + number(streams, row, "dropped"),
                           TA_UNIT_COUNT),
            ta_unit_format(text, number(streams, row, "drop_ratio"), TA_UNIT_RATIO));
}

static void say_host(struct line *line, const struct ta_report *report)
{
    const struct ta_table *signals = ta_report_table(report, "telemetry.by_rank");
    char share[TA_UNIT_TEXT_MAX], used[TA_UNIT_TEXT_MAX];
    for (size_t i = 0; signals && i < signals->n_rows && line->n == 0; i++)
        if (ta_row_reads(signals, i, "signal", "cpu_utilization"))
            say(line,
                "The processors of the host are in use %s of the time; no device was sampled.",
                ta_unit_format(share, number(signals, i, "mean"), TA_UNIT_RATIO));
    for (size_t i = 0; signals && i < signals->n_rows && line->n == 0; i++)
        if (ta_row_reads(signals, i, "signal", "gpu_memory_used"))
            say(line, "Up to %s of GPU memory is in use.",
                ta_unit_format(used, number(signals, i, "max"), TA_UNIT_BYTES));
}

static void say_allocators(struct line *line, const struct ta_report *report)
{
    const struct ta_table *allocators = ta_report_table(report, "allocations.by_allocator");
    const size_t row = row_of_most(allocators, "bytes");
    char n[TA_UNIT_TEXT_MAX], bytes[TA_UNIT_TEXT_MAX], largest[TA_UNIT_TEXT_MAX];
    if (row == SIZE_MAX)
        return;
    const struct ta_slice name = name_at(line, allocators, row, "allocator");
    say(line, "The allocator %.*s serves %s requests of %s in all, the largest of %s.",
        (int)name.len, name.ptr,
        ta_unit_format(n, number(allocators, row, "allocations"), TA_UNIT_COUNT),
        ta_unit_format(bytes, number(allocators, row, "bytes"), TA_UNIT_BYTES),
        ta_unit_format(largest, number(allocators, row, "max_bytes"), TA_UNIT_BYTES));
}

static void say_models(struct line *line, const struct ta_report *report)
{
    const struct ta_table *models = ta_report_table(report, "models.parameters");
    const struct ta_scalar *all = ta_report_scalar(report, "parameters");
    const size_t row = row_of_most(models, "parameters");
    const double n = all ? ta_cell_number(&all->value, 0) : 0;
    if (row == SIZE_MAX || !(n > 0))
        return;
    const struct ta_slice name = name_at(line, models, row, "model");
    say(line, "The models have %.3g %s parameters, most of them in %.*s; no time was recorded.",
        n >= 1e9 ? n / 1e9 : n / 1e6, n >= 1e9 ? "billion" : "million", (int)name.len, name.ptr);
}

static void say_counters(struct line *line, const struct ta_report *report)
{
    const struct ta_table *counters = ta_report_table(report, "counters.by_name");
    const struct ta_table *instants = ta_report_table(report, "instants.by_name");
    const size_t row = row_of_most(counters, "samples"), instant = row_of_most(instants, "count");
    char low[TA_UNIT_TEXT_MAX], high[TA_UNIT_TEXT_MAX], n[TA_UNIT_TEXT_MAX];
    if (row != SIZE_MAX) {
        const struct ta_slice name = name_at(line, counters, row, "counter");
        say(line, "Only counters were recorded: %.*s runs from %s to %s.", (int)name.len, name.ptr,
            ta_unit_format(low, number(counters, row, "min"), TA_UNIT_NONE),
            ta_unit_format(high, number(counters, row, "max"), TA_UNIT_NONE));
    } else if (instant != SIZE_MAX) {
        const struct ta_slice name = name_at(line, instants, instant, "name");
        say(line, "Only instants were recorded: %.*s %s times.", (int)name.len, name.ptr,
            ta_unit_format(n, number(instants, instant, "count"), TA_UNIT_COUNT));
    }
}

/* A figure without a sentence of its own. */
static void say_reported(struct line *line, const struct ta_report *report)
{
    const struct ta_table *figures = ta_report_table(report, "figures.reported");
    char name[TA_WORD_TEXT_MAX], value[TA_UNIT_TEXT_MAX];
    if (!figures || figures->n_rows == 0)
        return;
    const struct ta_slice words = ta_word_text(ta_row_text(figures, 0, "figure"), name);
    const size_t column = ta_table_column(figures, "value");
    say(line, "The profiler itself reports %zu figures and no times: %.*s is %s.", figures->n_rows,
        (int)words.len, words.ptr,
        ta_unit_format(value, number(figures, 0, "value"), ta_table_unit(figures, 0, column)));
}

static void say_session(struct line *line, const struct ta_report *report)
{
    const struct ta_table *sessions = ta_report_table(report, "run.sessions");
    const size_t row = row_of_most(sessions, "dur_ns");
    char time[TA_UNIT_TEXT_MAX];
    if (row != SIZE_MAX)
        say(line, "The session takes %s; nothing in it was timed.",
            ta_unit_format(time, number(sessions, row, "dur_ns"), TA_UNIT_NS));
}

/* Why there is nothing, in the words of the first file that says so, which begin a sentence. */
static void say_nothing(struct line *line, const struct ta_report *report)
{
    const struct ta_accounts *accounts = ta_report_accounts(report);
    for (size_t f = 0; f < accounts->n_files; f++)
        for (size_t i = 0; i < accounts->files[f].n_findings; i++) {
            const struct ta_quality_finding *finding = &accounts->files[f].findings[i];
            const struct ta_slice path = ta_slice_of(accounts->files[f].path);
            const struct ta_slice name = ta_short_name(line->arena, path, NAME_MOST);
            if (finding->code != TA_Q_NO_EVENTS || !finding->text || !finding->text[0])
                continue;
            say(line, "No timed events were recorded (%.*s: %c%s).", (int)name.len, name.ptr,
                tolower((unsigned char)finding->text[0]), finding->text + 1);
            return;
        }
    say(line, "No timed events were recorded.");
}

typedef void (*sentence)(struct line *line, const struct ta_report *report);

static void say_first(const sentence *ways, size_t n, struct line *line,
                      const struct ta_report *report)
{
    for (size_t i = 0; i < n && line->n == 0; i++)
        ways[i](line, report);
}

void say_times(struct line *line, const struct ta_report *report)
{
    static const sentence ways[] = {say_requests, say_loop, say_layer, say_stacks};
    say_first(ways, sizeof ways / sizeof *ways, line, report);
}

void say_figures(struct line *line, const struct ta_report *report)
{
    static const sentence ways[] = {say_aggregated, say_streaming, say_caches,   say_host,
                                    say_allocators, say_models,    say_counters, say_reported,
                                    say_session,    say_nothing};
    say_first(ways, sizeof ways / sizeof *ways, line, report);
}
