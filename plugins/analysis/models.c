/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.parameters and layers.by_name: the models that ran, and the time of their layers. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

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

enum { MODEL_RANK, MODEL_NAME, MODEL_TYPE, MODEL_PARAMETERS };
static const struct ta_column model_columns[] = {
    [MODEL_RANK] = TA_DUMP_RANK_COLUMN,
    [MODEL_NAME] = {"model", "Model", TA_TEXT, .read_as = TA_AS_MODEL, .doc = "Name of the model"},
    [MODEL_TYPE] = {"type", "Type", TA_TEXT, .doc = "Kind of the model, as recorded"},
    [MODEL_PARAMETERS] = {"parameters", "Parameters", TA_COUNT, .read_as = TA_AS_MODEL_PARAMETERS,
                          .doc = "Number of parameters; does not say how long the model takes"},
};

static const struct ta_table_def model = {
    "models.parameters",
    "Models",
    TA_COLUMNS(model_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and model.",
    .brief = &(const struct ta_brief){.place = 430, .rows = 6, .alone = true}};

enum {
    LAYERS_RANK,
    LAYERS_NAME,
    LAYERS_CALLS,
    LAYERS_TOTAL,
    LAYERS_SHARE,
    LAYERS_MEAN,
    LAYERS_MIN,
    LAYERS_MAX,
    LAYERS_PARAMETERS
};
static const struct ta_column layer_columns[] = {
    [LAYERS_RANK] = TA_DUMP_RANK_COLUMN,
    [LAYERS_NAME] = {"layer", "Layer", TA_TEXT, .doc = "Name of the layer"},
    [LAYERS_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of calls"},
    [LAYERS_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .weight = 0.8,
                      .doc = "Sum of durations"},
    [LAYERS_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                      .doc = "Time of the layer divided by the time of all layers of the rank"},
    [LAYERS_MEAN] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.3,
                     .doc = "Total divided by calls"},
    [LAYERS_MIN] = {"min_ns", "Min", TA_NS, .better = TA_LOWER, .doc = "Shortest call"},
    [LAYERS_MAX] = {"max_ns", "Max", TA_NS, .better = TA_LOWER, .doc = "Longest call"},
    [LAYERS_PARAMETERS] = {"parameters", "Parameters", TA_COUNT, .doc = "Number of parameters"},
};

static const struct ta_chart_def layer_chart = {
    .id = "layers-pareto",
    .title = "Time by layer",
    .caption = "Time by layer, summed over all ranks; percentages are cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {&layer_columns[LAYERS_NAME]},
    .y = {{&layer_columns[LAYERS_TOTAL], "Total", TA_INK_COMPUTE}},
    .top = 20,
};

static const struct ta_table_def layer = {
    "layers.by_name",
    "Layers",
    TA_COLUMNS(layer_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and layer. Chart `layers-pareto`.",
    .chart = {&layer_chart},
    .order = {&layer_columns[LAYERS_TOTAL], TA_DESCENDING},
    .rank_words = "Layer",
    .parts_of_whole = true,
    .brief =
        &(const struct ta_brief){.place = 310, .rows = 6, .largest = &layer_columns[LAYERS_TOTAL]}};

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

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    /* Rank and model are the key of the table; of several types the last by name is shown, which is
     * never an absent one. */
    const struct ta_partial *models = merged[0];
    int64_t most = TA_MISSING;
    for (size_t i = 0; i < ta_partial_rows(models); i++) {
        const int64_t *row = ta_partial_at(models, i);
        ta_most(&most, row[PARAMETERS]);
        if (goes_on(models, i))
            continue;
        TA_ROW(out, model, [MODEL_RANK] = ta_int(row[RANK]),
               [MODEL_NAME] = ta_text(ta_partial_text(models, row, NAME)),
               [MODEL_TYPE] = ta_text_or_null(ta_partial_text(models, row, TYPE)),
               [MODEL_PARAMETERS] = most < 0 ? ta_null() : ta_int(most));
        most = TA_MISSING;
    }
    const struct ta_partial *layers = merged[1];
    int64_t rank = TA_MISSING, sum = 0;
    for (size_t i = 0; i < ta_partial_rows(layers); i++) {
        const int64_t *row = ta_partial_at(layers, i);
        if (i == 0 || row[RANK] != rank)
            sum = total_of_rank(layers, rank = row[RANK]);
        const bool timed = row[TOTAL] != TA_MISSING && row[TOTAL] >= 0;
        TA_ROW(out, layer, [LAYERS_RANK] = ta_int(row[RANK]),
               [LAYERS_NAME] = ta_text(ta_partial_text(layers, row, NAME)),
               [LAYERS_CALLS] = ta_int(row[CALLS]), [LAYERS_TOTAL] = ta_int(row[TOTAL]),
               [LAYERS_SHARE] =
                   timed && sum > 0 ? ta_num((double)row[TOTAL] / (double)sum) : ta_null(),
               [LAYERS_MEAN] = timed && row[CALLS] > 0
                                   ? ta_num((double)row[TOTAL] / (double)row[CALLS])
                                   : ta_null(),
               [LAYERS_MIN] = ta_int(row[LEAST]), [LAYERS_MAX] = ta_int(row[MOST]),
               [LAYERS_PARAMETERS] = ta_int(row[LAYER_PARAMETERS]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&model, &layer, NULL};

static const struct ta_analysis_ops ops = {
    .section = "models", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, models, &ops, .title = "Models",
          .summary = "Models with their parameters, layers with their time: models.parameters, "
                     "layers.by_name",
          .version = "1");
