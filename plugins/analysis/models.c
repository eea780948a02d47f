/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.parameters and layers.by_name: the models that ran, and the time of their layers. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

enum { RANK, NAME };
enum { TYPE = 2, PARAMETERS, MODEL_FIELDS };
enum { CALLS = 2, TOTAL, LEAST, MOST, LAYER_PARAMETERS, LAYER_FIELDS };

static const struct ta_field model_fields[MODEL_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [NAME] = {"model", TA_FIELD_TEXT},
    [TYPE] = {"type", TA_FIELD_TEXT},
    [PARAMETERS] = {"parameters", TA_FIELD_MAX},
};

static const struct ta_field layer_fields[LAYER_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [NAME] = {"layer", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [LEAST] = {"min_ns", TA_FIELD_MIN},
    [MOST] = {"max_ns", TA_FIELD_MAX},
    [LAYER_PARAMETERS] = {"parameters", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {
    {"models", model_fields, MODEL_FIELDS}, {"layers", layer_fields, LAYER_FIELDS}, {0}};

static const struct ta_column model_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"model", "Model", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the model"},
    {"type", "Type", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Kind of the model, as recorded"},
    {"parameters", "Parameters", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Number of parameters; no measure of the time that the model takes"},
};

static const struct ta_column layer_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"layer", "Layer", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the layer"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of calls"},
    {"total_ns", "Total", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Sum of durations"},
    {"share", "Share", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Total over the total of all layers of the rank"},
    {"mean_ns", "Mean", TA_TYPE_NUMBER, TA_UNIT_NS, TA_LOWER, "Total divided by calls"},
    {"min_ns", "Min", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Shortest call"},
    {"max_ns", "Max", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Longest call"},
    {"parameters", "Parameters", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Number of parameters"},
};

static const struct ta_chart layer_chart = {
    .id = "layers-pareto",
    .title = "Time by layer",
    .caption = "Total of each layer and rank; the percentage is cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {"layer", "rank"},
    .y = {{"total_ns", "Total", TA_INK_COMPUTE}},
    .top = 20,
};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_model_info *models = ta_trace_model_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        ta_most(&TA_PARTIAL_ROW(out[0], ta_row_rank(trace, models[i].rank),
                                ta_key_text(ta_trace_text(trace, models[i].name)),
                                ta_key_text(ta_trace_text(trace, models[i].type)))[PARAMETERS],
                models[i].parameters);
    const struct ta_layer *layers = ta_trace_layer_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[1], ta_row_rank(trace, layers[i].rank),
                                      ta_key_text(ta_trace_text(trace, layers[i].name)));
        ta_sum(&row[CALLS], layers[i].calls);
        ta_sum(&row[TOTAL], layers[i].total_ns);
        ta_least(&row[LEAST], layers[i].min_ns);
        ta_most(&row[MOST], layers[i].max_ns);
        ta_most(&row[LAYER_PARAMETERS], layers[i].parameters);
    }
    return TA_OK;
}

/* Whether rows i and i + 1 are of one rank and model: it was recorded with two types. */
static bool goes_on(const struct ta_partial *models, size_t i)
{
    if (i + 1 >= ta_partial_rows(models))
        return false;
    const int64_t *row = ta_partial_at(models, i), *next = ta_partial_at(models, i + 1);
    return row[RANK] == next[RANK] &&
           ta_slice_equal(ta_partial_text(models, row, NAME), ta_partial_text(models, next, NAME));
}

/* Rank and model are the key of the table; of several types the last by name is shown, which is
 * never an absent one. */
static void add_models(struct ta_section_builder *out, const struct ta_partial *models)
{
    struct ta_table_builder *table =
        ta_add_table(out, "models.parameters", "Models", model_columns, 4);
    int64_t most = TA_MISSING;
    for (size_t i = 0; i < ta_partial_rows(models); i++) {
        const int64_t *row = ta_partial_at(models, i);
        ta_most(&most, row[PARAMETERS]);
        if (goes_on(models, i))
            continue;
        TA_ROW(table, ta_int(row[RANK]), ta_text(ta_partial_text(models, row, NAME)),
               ta_text_or_null(ta_partial_text(models, row, TYPE)),
               most < 0 ? ta_null() : ta_int(most));
        most = TA_MISSING;
    }
}

static int64_t total_of_rank(const struct ta_partial *layers, int64_t rank)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ta_partial_rows(layers); i++) {
        const int64_t *row = ta_partial_at(layers, i);
        if (row[RANK] == rank && row[TOTAL] > 0)
            sum = ta_add_sat(sum, row[TOTAL]);
    }
    return sum;
}

static void add_layers(struct ta_section_builder *out, const struct ta_partial *layers)
{
    struct ta_table_builder *table =
        ta_add_table(out, "layers.by_name", "Layers", layer_columns, 9);
    int64_t rank = TA_MISSING, sum = 0;
    for (size_t i = 0; i < ta_partial_rows(layers); i++) {
        const int64_t *row = ta_partial_at(layers, i);
        if (i == 0 || row[RANK] != rank)
            sum = total_of_rank(layers, rank = row[RANK]);
        const bool timed = row[TOTAL] != TA_MISSING && row[TOTAL] >= 0;
        TA_ROW(table, ta_int(row[RANK]), ta_text(ta_partial_text(layers, row, NAME)),
               ta_int(row[CALLS]), ta_int(row[TOTAL]),
               timed && sum > 0 ? ta_num((double)row[TOTAL] / (double)sum) : ta_null(),
               timed && row[CALLS] > 0 ? ta_num((double)row[TOTAL] / (double)row[CALLS])
                                       : ta_null(),
               ta_int(row[LEAST]), ta_int(row[MOST]), ta_int(row[LAYER_PARAMETERS]));
    }
    ta_sort_rows(table, "total_ns", true);
    ta_add_chart(table, &layer_chart);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    add_models(out, merged[0]);
    add_layers(out, merged[1]);
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "models", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, models, &ops, .title = "Models",
          .summary = "Models with their parameters, layers with their time: models.parameters, "
                     "layers.by_name",
          .version = "1");
