/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a table is drawn, out of JSON.  A chart names columns of its table: one that names others is
 * refused, since drawing takes them for granted. */
#include "report/decode_fields.h"
#include "traceanalyze/chart.h"

#include <string.h>

/* Charts of a table, kinds of a tree, rows that a chart may ask for. */
enum { CHARTS_MAX = 8, KINDS_MAX = 12, TOP_MAX = 1000000 };

struct columns {
    const struct ta_column *at;
    size_t n;
};

static const char *kind_name(int kind)
{
    return ta_chart_kind_name((enum ta_chart_kind)kind);
}

static const char *ink_name(int ink)
{
    return ta_ink_name((enum ta_ink)ink);
}

static const struct ta_column *column_of(const struct columns *columns, const char *key)
{
    for (size_t i = 0; i < columns->n; i++)
        if (strcmp(columns->at[i].key, key) == 0)
            return &columns->at[i];
    return NULL;
}

/* NULL for no member or null. */
static const char *column_or_null(struct decode *in, const struct columns *columns,
                                  const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return NULL;
    const char *name = decode_text(in, object, key);
    if (in->status == TA_OK && !column_of(columns, name))
        decode_fail(in, "\"%s\" of the chart is no column of the table: \"%.100s\"", key, name);
    return name;
}

static bool flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static void read_labels(struct decode *in, const struct columns *columns, const json_t *chart,
                        const char *labels[2])
{
    const json_t *list = json_object_get(chart, "label");
    if (list && (!json_is_array(list) || json_array_size(list) > 2))
        decode_fail(in, "\"label\" of the chart is no list of one or two columns");
    for (size_t i = 0; i < json_array_size(list) && in->status == TA_OK; i++) {
        labels[i] = decode_show(json_array_get(list, i));
        const struct ta_column *column = column_of(columns, labels[i]);
        if (!column)
            decode_fail(in, "\"label\" of the chart is no column of the table: \"%.100s\"",
                        labels[i]);
        else
            labels[i] = column->key; /* lives as long as the report */
    }
}

static void read_series(struct decode *in, const struct columns *columns, const json_t *chart,
                        struct ta_series y[TA_CHART_SERIES_MAX])
{
    const json_t *list = json_object_get(chart, "y");
    if (list && (!json_is_array(list) || json_array_size(list) > TA_CHART_SERIES_MAX))
        decode_fail(in, "\"y\" of the chart is no list of up to %d columns", TA_CHART_SERIES_MAX);
    for (size_t i = 0; i < json_array_size(list) && in->status == TA_OK; i++) {
        const json_t *series = json_array_get(list, i);
        y[i] = (struct ta_series){
            .column = column_or_null(in, columns, series, "column"),
            .label = decode_text_or_null(in, series, "label"),
            .ink = (enum ta_ink)decode_word(in, series, "ink", TA_INK_COUNT, ink_name),
        };
        if (!y[i].column)
            decode_fail(in, "A series of the chart has no column");
    }
}

static const struct ta_kind *read_kinds(struct decode *in, const json_t *chart)
{
    const json_t *list = json_object_get(chart, "kinds");
    const size_t n = json_array_size(list);
    if (!list)
        return NULL;
    if (!json_is_array(list) || n > KINDS_MAX)
        decode_fail(in, "\"kinds\" of the chart is no list of up to %d", KINDS_MAX);
    struct ta_kind *kinds = decode_alloc(in, (n + 1) * sizeof *kinds);
    for (size_t i = 0; i < n && in->status == TA_OK; i++) {
        const json_t *kind = json_array_get(list, i);
        kinds[i] = (struct ta_kind){
            .value = decode_text(in, kind, "value"),
            .label = decode_text(in, kind, "label"),
            .ink = (enum ta_ink)decode_word(in, kind, "ink", TA_INK_COUNT, ink_name),
        };
    }
    return kinds;
}

static struct ta_roof read_roof(struct decode *in, const struct columns *columns,
                                const json_t *chart)
{
    const json_t *roof = json_object_get(chart, "roof");
    return (struct ta_roof){
        .level = column_or_null(in, columns, roof, "level"),
        .slope = column_or_null(in, columns, roof, "slope"),
        .name = column_or_null(in, columns, roof, "name"),
    };
}

static uint32_t read_top(struct decode *in, const json_t *chart)
{
    if (!json_object_get(chart, "top"))
        return 0;
    const uint64_t top = decode_count(in, chart, "top");
    if (in->status == TA_OK && top > TOP_MAX)
        decode_fail(in, "\"top\" of the chart is above %d", TOP_MAX);
    return (uint32_t)top;
}

static int64_t read_whole(struct decode *in, const json_t *chart)
{
    const uint64_t whole = json_object_get(chart, "whole") ? decode_count(in, chart, "whole") : 0;
    return whole <= INT64_MAX ? (int64_t)whole : 0;
}

static void read_chart(struct decode *in, const struct columns *columns, const json_t *from,
                       struct ta_chart *chart)
{
    *chart = (struct ta_chart){
        .id = decode_id(in, from, "id"),
        .title = decode_text(in, from, "title"),
        .caption = json_object_get(from, "caption") ? decode_text(in, from, "caption") : NULL,
        .kind = (enum ta_chart_kind)decode_word(in, from, "kind", TA_CHART_KINDS, kind_name),
        .x = column_or_null(in, columns, from, "x"),
        .group = column_or_null(in, columns, from, "group"),
        .size = column_or_null(in, columns, from, "size"),
        .log_x = flag(from, "log_x"),
        .log_y = flag(from, "log_y"),
        .whole = read_whole(in, from),
        .top = read_top(in, from),
        .roof = read_roof(in, columns, from),
        .kinds = read_kinds(in, from),
    };
    read_labels(in, columns, from, chart->label);
    read_series(in, columns, from, chart->y);
    /* The inks of a tree go by texts. */
    const struct ta_column *group = chart->group ? column_of(columns, chart->group) : NULL;
    if (chart->kind == TA_CHART_TREE && group && group->type != TA_TYPE_STRING)
        decode_fail(in, "\"group\" of a tree is no column of texts");
}

void decode_charts(struct decode *in, struct ta_table_builder *table,
                   const struct ta_column *columns, size_t n_columns, const json_t *chart)
{
    const struct columns all = {columns, n_columns};
    for (size_t n = 0; chart && !json_is_null(chart) && in->status == TA_OK; n++) {
        struct ta_chart read;
        read_chart(in, &all, chart, &read);
        if (n == CHARTS_MAX)
            decode_fail(in, "A table has more than %d charts", CHARTS_MAX);
        if (in->status == TA_OK)
            ta_add_chart(table, &read);
        chart = json_object_get(chart, "next");
    }
}
