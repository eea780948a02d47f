/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trace has besides spans of threads: counters, instants, asynchronous spans. */
#include <traceanalyze/analysis.h>

#include <math.h>
#include <string.h>

enum { COUNTERS, INSTANTS, ASYNCS };

enum { RANK };

/* RANK, then */
enum { PROCESS = 1, COUNTER, SERIES, SAMPLES, LEAST, MOST, LAST, PIECES, COUNTER_FIELDS };

static const struct ta_field counter_fields[COUNTER_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},       [PROCESS] = {"process", TA_FIELD_TEXT},
    [COUNTER] = {"counter", TA_FIELD_TEXT}, [SERIES] = {"series", TA_FIELD_TEXT},
    [SAMPLES] = {"samples", TA_FIELD_SUM},  [LEAST] = {"least", TA_FIELD_MIN},
    [MOST] = {"most", TA_FIELD_MAX},        [LAST] = {"last", TA_FIELD_MAX},
    [PIECES] = {"pieces", TA_FIELD_SUM},
};

/* RANK, then */
enum { CATEGORY = 1, NAME, COUNT, INSTANT_FIELDS };

static const struct ta_field instant_fields[INSTANT_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [CATEGORY] = {"category", TA_FIELD_TEXT},
    [NAME] = {"name", TA_FIELD_TEXT},
    [COUNT] = {"count", TA_FIELD_SUM},
};

/* RANK, CATEGORY, NAME, COUNT, then */
enum { TOTAL = COUNT + 1, LONGEST, ASYNC_FIELDS };

static const struct ta_field async_fields[ASYNC_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},     [CATEGORY] = {"category", TA_FIELD_TEXT},
    [NAME] = {"name", TA_FIELD_TEXT},     [COUNT] = {"count", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM}, [LONGEST] = {"longest_ns", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    [COUNTERS] = {"counters", counter_fields, COUNTER_FIELDS},
    [INSTANTS] = {"instants", instant_fields, INSTANT_FIELDS},
    [ASYNCS] = {"asyncs", async_fields, ASYNC_FIELDS},
    {0},
};

enum {
    COUNTER_RANK,
    COUNTER_PROCESS,
    COUNTER_COUNTER,
    COUNTER_SERIES,
    COUNTER_SAMPLES,
    COUNTER_MIN,
    COUNTER_MAX,
    COUNTER_LAST
};
static const struct ta_column counter_columns[] = {
    [COUNTER_RANK] = TA_RANK_COLUMN,
    [COUNTER_PROCESS] = {"process", "Process", TA_TEXT,
                         .doc = "Name of the process, or its id if it has no name"},
    [COUNTER_COUNTER] = {"counter", "Counter", TA_TEXT, .doc = "Name of the counter"},
    [COUNTER_SERIES] = {"series", "Series", TA_TEXT, .doc = "Name of the value within the counter"},
    [COUNTER_SAMPLES] = {"samples", "Samples", TA_COUNT, .doc = "Samples with a numeric value"},
    [COUNTER_MIN] = {"min", "Min", TA_NUMBER, .doc = "Smallest value"},
    [COUNTER_MAX] = {"max", "Max", TA_NUMBER, .doc = "Largest value"},
    [COUNTER_LAST] =
        {"last", "Last", TA_NUMBER,
         .doc = "Value of the latest sample; empty if several files of the rank have the counter"},
};

static const struct ta_table_def counter = {
    "counters.by_name",
    "Counters",
    TA_COLUMNS(counter_columns),
    .doc = "One row per rank, process, counter and series.",
    .tier = TA_TIER_DETAIL,
    .brief = &(const struct ta_brief){
        .place = 440, .rows = 6, .largest = &counter_columns[COUNTER_SAMPLES], .alone = true}};

enum { INSTANT_RANK, INSTANT_CATEGORY, INSTANT_NAME, INSTANT_COUNT };
static const struct ta_column instant_columns[] = {
    [INSTANT_RANK] = TA_RANK_COLUMN,
    [INSTANT_CATEGORY] = {"category", "Category", TA_TEXT, .doc = "Category as recorded"},
    [INSTANT_NAME] = {"name", "Name", TA_TEXT, .role = TA_NOTE, .doc = "Name of the instant event"},
    [INSTANT_COUNT] = {"count", "Count", TA_COUNT, .doc = "Times that it was recorded"},
};

static const struct ta_table_def instant = {
    "instants.by_name",
    "Instants",
    TA_COLUMNS(instant_columns),
    .doc = "One row per rank, category and name of events without a duration.",
    .tier = TA_TIER_DETAIL,
    .brief = &(const struct ta_brief){
        .place = 450, .rows = 6, .largest = &instant_columns[INSTANT_COUNT], .alone = true}};

enum { ASYNC_RANK, ASYNC_CATEGORY, ASYNC_NAME, ASYNC_COUNT, ASYNC_TOTAL, ASYNC_MEAN, ASYNC_MAX };
static const struct ta_column async_columns[] = {
    [ASYNC_RANK] = TA_RANK_COLUMN,
    [ASYNC_CATEGORY] = {"category", "Category", TA_TEXT, .doc = "Category as recorded"},
    [ASYNC_NAME] = {"name", "Name", TA_TEXT, .role = TA_NOTE, .doc = "Name of the span"},
    [ASYNC_COUNT] = {"count", "Count", TA_COUNT, .doc = "Spans with both a begin and an end"},
    [ASYNC_TOTAL] = {"total_ns", "Total", TA_NS,
                     .doc = "Sum of their durations; spans may overlap"},
    [ASYNC_MEAN] = {"mean_ns", "Mean", TA_NS_MEAN, .doc = "Mean duration"},
    [ASYNC_MAX] = {"max_ns", "Max", TA_NS, .doc = "Longest duration"},
};

static const struct ta_table_def async = {
    "asyncs.by_name",
    "Asynchronous spans",
    TA_COLUMNS(async_columns),
    .doc = "One row per rank, category and name of spans that belong to no thread, such as the "
           "collectives and proxy steps in traces of NCCL's profiler plugins.",
    .tier = TA_TIER_DETAIL,
    .brief = &(const struct ta_brief){
        .place = 445, .rows = 6, .largest = &async_columns[ASYNC_TOTAL], .alone = true}};

/* ---- numbers in integer fields -------------------------------------------------------------- */

/* Integers in the order of the numbers they stand for. */
static int64_t order_of(double value)
{
    int64_t bits;
    value += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

static struct ta_cell number_of(int64_t order)
{
    double value;
    const int64_t bits = order < 0 ? order ^ INT64_MAX : order;
    memcpy(&value, &bits, sizeof value);
    return order == TA_MISSING ? ta_null() : ta_num(value);
}

static struct ta_key text_key(const struct ta_trace *trace, ta_str text)
{
    return ta_key_text(text == TA_STR_ABSENT ? (struct ta_slice){"", 0}
                                             : ta_trace_text(trace, text));
}

/* ---- map ------------------------------------------------------------------------------------ */

static void add_samples(const double *values, size_t n, int64_t *row)
{
    double least = INFINITY, most = -INFINITY, last = 0;
    int64_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const double value = values[i];
        if (!isfinite(value))
            continue;
        least = value < least ? value : least;
        most = value > most ? value : most;
        last = value;
        count++;
    }
    if (count == 0)
        return;
    ta_sum(&row[SAMPLES], count);
    ta_least(&row[LEAST], order_of(least));
    ta_most(&row[MOST], order_of(most));
    row[LAST] = order_of(last);
}

static void map_asyncs(const struct ta_trace *trace, struct ta_partial *out)
{
    const struct ta_asyncs asyncs = ta_trace_asyncs(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    struct ta_map cache = {0};
    for (size_t i = 0; i < asyncs.n; i++) {
        const struct ta_key keys[] = {
            ta_key_int(ta_trace_rank(trace)),
            text_key(trace, categories.at[asyncs.cat[i]].name),
            text_key(trace, asyncs.name[i]),
        };
        const uint64_t id = (uint64_t)asyncs.cat[i] << 32 | asyncs.name[i];
        int64_t *row = ta_partial_cached(out, &cache, id, keys);
        ta_sum(&row[COUNT], 1);
        ta_sum(&row[TOTAL], asyncs.dur[i]);
        ta_most(&row[LONGEST], asyncs.dur[i]);
    }
    ta_map_free(&cache);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    const struct ta_counters counters = ta_trace_counters(trace);
    for (size_t i = 0; i < counters.n_series; i++) {
        const struct ta_counter_series *series = &counters.series[i];
        const struct ta_track *track = &ta_trace_tracks(trace).at[series->track];
        const ta_str process =
            track->process_name != TA_STR_ABSENT ? track->process_name : track->pid;
        int64_t *row = TA_PARTIAL_ROW(out[COUNTERS], ta_key_int(ta_trace_rank(trace)),
                                      text_key(trace, process), text_key(trace, series->name),
                                      text_key(trace, series->series));
        ta_sum(&row[PIECES], 1);
        add_samples(counters.value + series->first, series->n, row);
    }
    const struct ta_instants instants = ta_trace_instants(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    struct ta_map cache = {0};
    for (size_t i = 0; i < instants.n; i++) {
        const struct ta_key keys[] = {
            ta_key_int(ta_trace_rank(trace)),
            text_key(trace, categories.at[instants.cat[i]].name),
            text_key(trace, instants.name[i]),
        };
        const uint64_t id = (uint64_t)instants.cat[i] << 32 | instants.name[i];
        ta_sum(&ta_partial_cached(out[INSTANTS], &cache, id, keys)[COUNT], 1);
    }
    ta_map_free(&cache);
    map_asyncs(trace, out[ASYNCS]);
    return TA_OK;
}

/* ---- finish --------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *counters = merged[COUNTERS];
    for (size_t i = 0; i < ta_partial_rows(counters); i++) {
        const int64_t *row = ta_partial_at(counters, i);
        TA_ROW(out, counter, [COUNTER_RANK] = ta_int(row[RANK]),
               [COUNTER_PROCESS] = ta_text(ta_partial_text(counters, row, PROCESS)),
               [COUNTER_COUNTER] = ta_text(ta_partial_text(counters, row, COUNTER)),
               [COUNTER_SERIES] = ta_text(ta_partial_text(counters, row, SERIES)),
               [COUNTER_SAMPLES] = ta_int(row[SAMPLES] == TA_MISSING ? 0 : row[SAMPLES]),
               [COUNTER_MIN] = number_of(row[LEAST]), [COUNTER_MAX] = number_of(row[MOST]),
               [COUNTER_LAST] = row[PIECES] == 1 ? number_of(row[LAST]) : ta_null());
    }
    const struct ta_partial *instants = merged[INSTANTS];
    for (size_t i = 0; i < ta_partial_rows(instants); i++) {
        const int64_t *row = ta_partial_at(instants, i);
        TA_ROW(out, instant, [INSTANT_RANK] = ta_int(row[RANK]),
               [INSTANT_CATEGORY] = ta_text(ta_partial_text(instants, row, CATEGORY)),
               [INSTANT_NAME] = ta_text(ta_partial_text(instants, row, NAME)),
               [INSTANT_COUNT] = ta_int(row[COUNT]));
    }
    const struct ta_partial *asyncs = merged[ASYNCS];
    for (size_t i = 0; i < ta_partial_rows(asyncs); i++) {
        const int64_t *row = ta_partial_at(asyncs, i);
        TA_ROW(out, async, [ASYNC_RANK] = ta_int(row[RANK]),
               [ASYNC_CATEGORY] = ta_text(ta_partial_text(asyncs, row, CATEGORY)),
               [ASYNC_NAME] = ta_text(ta_partial_text(asyncs, row, NAME)),
               [ASYNC_COUNT] = ta_int(row[COUNT]), [ASYNC_TOTAL] = ta_int(row[TOTAL]),
               [ASYNC_MEAN] = ta_num((double)row[TOTAL] / (double)row[COUNT]),
               [ASYNC_MAX] = ta_int(row[LONGEST]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&counter, &instant, &async, NULL};

static const struct ta_analysis_ops ops = {.section = "run",
                                           .place = 1,
                                           .partials = partials,
                                           .needs =
                                               TA_NEED_COUNTERS | TA_NEED_INSTANTS | TA_NEED_ASYNCS,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(
    analysis, recorded, &ops, .title = "Counters, instants, asynchronous spans",
    .summary = "What a trace has besides spans: counters.by_name, instants.by_name, asyncs.by_name",
    .version = "2");
