/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figures.reported, figures.aggregated and advice.reported: what the profiler itself computed and
 * advised, next to ours and never in their place. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <math.h>
#include <stdio.h>

/* Files of one rank keep their own figures: two sessions have different ones. */
enum { RANK, GROUP, NAME, FILE_KEY, UNIT, VALUE, FIGURE_FIELDS };
enum { GIVEN_RANK, GIVEN_FILE, ORDER, CATEGORY, PRIORITY, ISSUE, SUGGESTION, GIVEN_FIELDS };

static const struct ta_field figure_fields[FIGURE_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},   [GROUP] = {"group", TA_FIELD_TEXT},
    [NAME] = {"figure", TA_FIELD_TEXT}, [FILE_KEY] = {"file", TA_FIELD_FILE},
    [UNIT] = {"unit", TA_FIELD_MAX},    [VALUE] = {"value", TA_FIELD_MAX},
};

static const struct ta_field advice_fields[GIVEN_FIELDS] = {
    [GIVEN_RANK] = {"rank", TA_FIELD_RANK},
    [GIVEN_FILE] = {"file", TA_FIELD_FILE},
    [ORDER] = {"order", TA_FIELD_INT},
    [CATEGORY] = {"category", TA_FIELD_TEXT},
    [PRIORITY] = {"priority", TA_FIELD_TEXT},
    [ISSUE] = {"issue", TA_FIELD_TEXT},
    [SUGGESTION] = {"suggestion", TA_FIELD_TEXT},
};

static const struct ta_partial_def partials[] = {
    {"figures", figure_fields, FIGURE_FIELDS}, {"advice", advice_fields, GIVEN_FIELDS}, {0}};

enum { FIGURE_RANK, FIGURE_GROUP, FIGURE_NAME, FIGURE_FILE, FIGURE_VALUE, FIGURE_UNIT };
static const struct ta_column figure_table_columns[] = {
    [FIGURE_RANK] = TA_DUMP_RANK_COLUMN,
    [FIGURE_GROUP] = {"group", "Topic", TA_WORD, .doc = "What the figure is about"},
    [FIGURE_NAME] = {"figure", "Figure", TA_WORD, .doc = "Name of the figure"},
    [FIGURE_FILE] =
        {"file", "File", TA_INTEGER, .role = TA_NOTE,
         .doc = "Number of the dump among the rank's dumps with this figure, starting at 0"},
    [FIGURE_VALUE] = {"value", "Value", TA_NUMBER, .doc = "Value of the figure, in its unit"},
    [FIGURE_UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit of the value"},
};

static const struct ta_table_def figure_table = {
    "figures.reported", "Figures the profiler reported", TA_COLUMNS(figure_table_columns),
    .doc = "One row per figure that a profiler computed itself, converted to our units and never "
           "used in place of our own.",
    .brief = &(const struct ta_brief){.place = 460, .rows = 12, .alone = true}};

enum { AGGREGATE_METRIC, AGGREGATE_MIN, AGGREGATE_MEAN, AGGREGATE_MAX, AGGREGATE_UNIT };
static const struct ta_column aggregate_table_columns[] = {
    [AGGREGATE_METRIC] = {"metric", "Metric", TA_WORD, .doc = "What was measured on each rank"},
    [AGGREGATE_MIN] = {"min", "Min", TA_NUMBER, .doc = "Smallest value over all ranks"},
    [AGGREGATE_MEAN] = {"mean", "Mean", TA_NUMBER, .doc = "Mean over all ranks"},
    [AGGREGATE_MAX] = {"max", "Max", TA_NUMBER, .doc = "Largest value over all ranks"},
    [AGGREGATE_UNIT] = {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW,
                        .doc = "Unit of the values"},
};

static const struct ta_table_def aggregate_table = {
    "figures.aggregated", "Metrics over all ranks", TA_COLUMNS(aggregate_table_columns),
    .doc = "One row per metric that a profiler aggregated over all ranks, and one for the "
           "durations of the sessions that it lists.",
    .brief = &(const struct ta_brief){.place = 390,
                                      .rows = 12,
                                      .first = {&aggregate_table_columns[AGGREGATE_MIN],
                                                &aggregate_table_columns[AGGREGATE_MEAN],
                                                &aggregate_table_columns[AGGREGATE_MAX]}}};

enum {
    ADVICE_RANK,
    ADVICE_INDEX,
    ADVICE_CATEGORY,
    ADVICE_PRIORITY,
    ADVICE_ISSUE,
    ADVICE_SUGGESTION
};
static const struct ta_column advice_table_columns[] = {
    [ADVICE_RANK] = TA_DUMP_RANK_COLUMN,
    [ADVICE_INDEX] = {"index", "Index", TA_INTEGER, .role = TA_IN_SERIES,
                      .doc = "Position in the profiler's list, starting at 0"},
    [ADVICE_CATEGORY] = {"category", "Topic", TA_TEXT, .doc = "What the advice is about"},
    [ADVICE_PRIORITY] = {"priority", "Priority", TA_TEXT,
                         .doc = "Priority that the profiler assigned"},
    [ADVICE_ISSUE] = {"issue", "Problem", TA_SENTENCE, .doc = "What the profiler found"},
    [ADVICE_SUGGESTION] = {"suggestion", "Suggestion", TA_SENTENCE,
                           .doc = "What the profiler suggested"},
};

static const struct ta_table_def advice_table = {
    "advice.reported", "Advice from the profiler", TA_COLUMNS(advice_table_columns),
    .doc = "Advice of the profiler, in its own words and order. This program's findings are in "
           "section `findings`."};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_figure *figures = ta_trace_figure_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row =
            TA_PARTIAL_ROW(out[0], ta_row_rank(trace, figures[i].rank),
                           ta_key_text(ta_trace_text(trace, figures[i].group)),
                           ta_key_text(ta_trace_text(trace, figures[i].name)), ta_row_file(trace));
        row[UNIT] = figures[i].unit;
        row[VALUE] = ta_real_cell(figures[i].value);
    }
    const struct ta_given_advice *advice = ta_trace_advice_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        TA_PARTIAL_ROW(out[1], ta_row_rank(trace, advice[i].rank), ta_row_file(trace),
                       ta_key_int((int64_t)i),
                       ta_key_text(ta_trace_text(trace, advice[i].category)),
                       ta_key_text(ta_trace_text(trace, advice[i].priority)),
                       ta_key_text(ta_trace_text(trace, advice[i].issue)),
                       ta_key_text(ta_trace_text(trace, advice[i].suggestion)));
    return TA_OK;
}

/* ---- aggregated ----------------------------------------------------------------------------- */

enum { LEAST, MEAN, MOST, MADE };

static const char *const endings[MADE] = {[LEAST] = "_min", [MEAN] = "_avg", [MOST] = "_max"};

/* What an aggregation made of one metric. Its sum is left out: a sum of temperatures means nothing,
 * and each rank of a host repeats the memory of all its devices. */
struct aggregated {
    struct ta_slice metric; /* empty: none yet */
    double made[MADE];      /* NAN: not made */
    int64_t unit;
};

static struct ta_cell number_or_null(double value)
{
    return isfinite(value) ? ta_num(value) : ta_null();
}

static struct ta_cell unit_cell(int64_t unit)
{
    const bool known = unit >= 0 && unit < TA_UNIT_COUNT_OF_UNITS;
    return ta_text(ta_slice_of(ta_unit_name(known ? (enum ta_unit)unit : TA_UNIT_NONE)));
}

static void put_aggregated(struct ta_section_builder *out, const struct aggregated *of)
{
    char metric[100]; /* "gpu_utilization_ratio" of "gpu/utilization_ratio" */
    const int length = snprintf(metric, sizeof metric, "%.*s",
                                (int)(of->metric.len < 99 ? of->metric.len : 99), of->metric.ptr);
    for (char *c = metric; *c; c++)
        *c = *c == '/' ? '_' : *c;
    if (length > 0)
        TA_ROW(out, aggregate_table,
               [AGGREGATE_METRIC] = ta_text((struct ta_slice){metric, (size_t)length}),
               [AGGREGATE_MIN] = number_or_null(of->made[LEAST]),
               [AGGREGATE_MEAN] = number_or_null(of->made[MEAN]),
               [AGGREGATE_MAX] = number_or_null(of->made[MOST]),
               [AGGREGATE_UNIT] = unit_cell(of->unit));
}

static void begin_aggregated(struct aggregated *of, struct ta_slice metric, int64_t unit)
{
    *of = (struct aggregated){metric, {NAN, NAN, NAN}, unit};
}

/* A figure of no rank, "gpu/utilization_ratio_max": the first file that has it counts. */
static void take_aggregated(struct ta_section_builder *out, struct aggregated *of,
                            struct ta_slice name, const int64_t *row)
{
    for (int made = 0; made < MADE; made++) {
        const size_t n = strlen(endings[made]);
        if (name.len <= n || memcmp(ta_slice_end(name) - n, endings[made], n) != 0)
            continue;
        const struct ta_slice metric = {name.ptr, name.len - n};
        if (!ta_slice_equal(metric, of->metric)) {
            put_aggregated(out, of);
            begin_aggregated(of, metric, row[UNIT]);
        }
        if (isnan(of->made[made]))
            of->made[made] = ta_real_of(row[VALUE]);
    }
}

/* Metrics that the profiler put together over ranks, and the durations of their sessions, which it
 * lists one by one.  Rows of figures are by rank, group and name. */
static void add_aggregated(struct ta_section_builder *out, const struct ta_partial *figures)
{
    struct aggregated durations, of;
    double sum = 0;
    size_t n = 0;
    begin_aggregated(&durations, TA_LIT("session_duration"), TA_UNIT_NS);
    begin_aggregated(&of, (struct ta_slice){0}, TA_UNIT_NONE);
    for (size_t i = 0; i < ta_partial_rows(figures); i++) {
        const int64_t *row = ta_partial_at(figures, i);
        const struct ta_slice name = ta_partial_text(figures, row, NAME);
        const double value = ta_real_of(row[VALUE]);
        if (!ta_slice_equal(ta_partial_text(figures, row, GROUP), TA_LIT("aggregate")))
            continue;
        if (!ta_slice_equal(name, TA_LIT("duration_ns"))) {
            take_aggregated(out, &of, name, row);
            continue;
        }
        durations.made[LEAST] = fmin(durations.made[LEAST], value);
        durations.made[MOST] = fmax(durations.made[MOST], value);
        sum += value;
        n++;
    }
    put_aggregated(out, &of);
    if (n == 0)
        return;
    durations.made[MEAN] = sum / (double)n;
    put_aggregated(out, &durations);
}

/* ---- as reported ---------------------------------------------------------------------------- */

static bool same_figure(const struct ta_partial *figures, size_t i)
{
    const int64_t *row = ta_partial_at(figures, i), *last = ta_partial_at(figures, i - 1);
    return row[RANK] == last[RANK] && row[GROUP] == last[GROUP] && row[NAME] == last[NAME];
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *figures = merged[0], *advice = merged[1];
    int64_t index = 0;
    for (size_t i = 0; i < ta_partial_rows(advice); i++) {
        const int64_t *row = ta_partial_at(advice, i);
        index = i && row[GIVEN_RANK] == ta_partial_at(advice, i - 1)[GIVEN_RANK] ? index + 1 : 0;
        TA_ROW(
            out,
            advice_table, [ADVICE_RANK] = ta_int(row[GIVEN_RANK]), [ADVICE_INDEX] = ta_int(index),
            [ADVICE_CATEGORY] = ta_text_or_null(ta_partial_text(advice, row, CATEGORY)),
            [ADVICE_PRIORITY] = ta_text_or_null(ta_partial_text(advice, row, PRIORITY)),
            [ADVICE_ISSUE] = ta_text_or_null(ta_partial_text(advice, row, ISSUE)),
            [ADVICE_SUGGESTION] = ta_text_or_null(ta_partial_text(advice, row, SUGGESTION)));
    }
    for (size_t i = 0; i < ta_partial_rows(figures); i++) {
        const int64_t *row = ta_partial_at(figures, i);
        index = i && same_figure(figures, i) ? index + 1 : 0;
        TA_ROW(out, figure_table, [FIGURE_RANK] = ta_int(row[RANK]),
               [FIGURE_GROUP] = ta_text_or_null(ta_partial_text(figures, row, GROUP)),
               [FIGURE_NAME] = ta_text_or_null(ta_partial_text(figures, row, NAME)),
               [FIGURE_FILE] = ta_int(index), [FIGURE_VALUE] = ta_num(ta_real_of(row[VALUE])),
               [FIGURE_UNIT] = unit_cell(row[UNIT]));
    }
    add_aggregated(out, figures);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&advice_table, &figure_table, &aggregate_table,
                                                    NULL};

static const struct ta_analysis_ops ops = {
    .section = "reported", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, reported, &ops, .title = "As the profiler reported",
          .summary = "Figures and advice from the profiler itself: figures.reported, "
                     "figures.aggregated, advice.reported",
          .version = "1");
