/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.loads: weights that were brought to a device, and what of them stayed in host memory. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

enum { RANK, FILE_KEY, ORDER, MODEL, DEVICE, EXTENT, USABLE, LOADED, OFFLOADED, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [FILE_KEY] = {"file", TA_FIELD_FILE},
    [ORDER] = {"order", TA_FIELD_INT},
    [MODEL] = {"model", TA_FIELD_TEXT},
    [DEVICE] = {"device", TA_FIELD_TEXT},
    [EXTENT] = {"extent", TA_FIELD_TEXT},
    [USABLE] = {"usable_bytes", TA_FIELD_MAX},
    [LOADED] = {"loaded_bytes", TA_FIELD_MAX},
    [OFFLOADED] = {"offloaded_bytes", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {{"loads", fields, FIELDS}, {0}};

enum {
    LOADS_RANK,
    LOADS_INDEX,
    LOADS_MODEL,
    LOADS_WHERE,
    LOADS_EXTENT,
    LOADS_USABLE,
    LOADS_LOADED,
    LOADS_OFFLOADED,
    LOADS_SHARE
};
static const struct ta_column loads_columns[] = {
    [LOADS_RANK] = TA_DUMP_RANK_COLUMN,
    [LOADS_INDEX] = {"index", "Index", TA_INTEGER, .role = TA_IN_SERIES,
                     .doc = "Position in the log, starting at 0"},
    [LOADS_MODEL] = {"model", "Model", TA_TEXT, .doc = "Name of the model as its loader prints it"},
    [LOADS_WHERE] = {"where", "Runs on", TA_TEXT,
                     .doc = "Device on which the model runs; empty if the log does not say"},
    [LOADS_EXTENT] = {"extent", "Loaded", TA_TEXT,
                      .doc = "`complete`, or `partial` if some weights stay in host memory"},
    [LOADS_USABLE] = {"usable_bytes", "Usable", TA_BYTES,
                      .doc = "Bytes of device memory that the loader may use for the weights"},
    [LOADS_LOADED] = {"loaded_bytes", "On the device", TA_BYTES,
                      .doc = "Bytes of the weights on the device"},
    [LOADS_OFFLOADED] = {"offloaded_bytes", "In host memory", TA_BYTES, .better = TA_LOWER,
                         .doc = "Bytes of the weights that stay in host memory and are copied to "
                                "the device when used"},
    [LOADS_SHARE] = {"offloaded_share", "Share in host memory", TA_RATIO, .better = TA_LOWER,
                     .doc = "Weights in host memory divided by all weights of the model, in bytes"},
};

static const struct ta_table_def loads = {
    "models.loads", "Loaded models", TA_COLUMNS(loads_columns),
    .doc = "One row per model that a log reports as loaded, in log order.",
    .brief = &(const struct ta_brief){.place = 420,
                                      .rows = 6,
                                      .largest = &loads_columns[LOADS_OFFLOADED],
                                      .first = {&loads_columns[LOADS_LOADED],
                                                &loads_columns[LOADS_OFFLOADED],
                                                &loads_columns[LOADS_SHARE]}}};

static const struct ta_scalar_def scalars[] = {
    {"offloaded_bytes", "Weights in host memory", TA_UNIT_BYTES, TA_LOWER,
     .doc = "Most bytes that one loaded model kept in host memory while in use"},
};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_model_load *rows = ta_trace_model_load_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row =
            TA_PARTIAL_ROW(out[0], ta_row_rank(trace, rows[i].rank), ta_row_file(trace),
                           ta_key_int((int64_t)i), ta_key_text(ta_trace_text(trace, rows[i].model)),
                           ta_key_text(ta_trace_text(trace, rows[i].device)),
                           ta_key_text(ta_trace_text(trace, rows[i].extent)));
        row[USABLE] = rows[i].usable_bytes;
        row[LOADED] = rows[i].loaded_bytes;
        row[OFFLOADED] = rows[i].offloaded_bytes;
    }
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    int64_t place = 0, most = TA_MISSING;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        if (i > 0 && ta_partial_at(merged[0], i - 1)[RANK] != row[RANK])
            place = 0;
        ta_most(&most, row[OFFLOADED]);
        const double all = (double)row[LOADED] + (double)row[OFFLOADED];
        const bool is_known = row[LOADED] >= 0 && row[OFFLOADED] >= 0 && all > 0;
        TA_ROW(out, loads, [LOADS_RANK] = ta_int(row[RANK]), [LOADS_INDEX] = ta_int(place++),
               [LOADS_MODEL] = ta_text_or_null(ta_partial_text(merged[0], row, MODEL)),
               [LOADS_WHERE] = ta_text_or_null(ta_partial_text(merged[0], row, DEVICE)),
               [LOADS_EXTENT] = ta_text_or_null(ta_partial_text(merged[0], row, EXTENT)),
               [LOADS_USABLE] = ta_int(row[USABLE]), [LOADS_LOADED] = ta_int(row[LOADED]),
               [LOADS_OFFLOADED] = ta_int(row[OFFLOADED]),
               [LOADS_SHARE] = is_known ? ta_num((double)row[OFFLOADED] / all) : ta_null());
    }
    if (most != TA_MISSING)
        ta_set_scalar(out, &scalars[0], ta_int(most));
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&loads, NULL};

static const struct ta_analysis_ops ops = {.section = "models",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables,
                                           TA_SCALARS(scalars)};

TA_PLUGIN(analysis, model_loads, &ops, .title = "Models",
          .summary = "Weights brought to devices, and what of them is offloaded: models.loads",
          .version = "1");
