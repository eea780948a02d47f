/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a table is drawn, out of JSON.  A chart names columns of its table: one that names others is
 * refused, since drawing takes them for granted. */
#include "report/fields.h"
#include "report/report.h"

#include <string.h>

/* Charts of a table, kinds of a tree, rows that a chart may ask for. */
enum { CHARTS_MAX = 8, KINDS_MAX = 64, TOP_MAX = 1000000 };

static void read_labels(struct decode *in, const json_t *chart, const char *labels[TA_CHART_LABELS])
{
    const json_t *list = json_object_get(chart, "label");
    if (list && (!json_is_array(list) || json_array_size(list) > TA_CHART_LABELS))
        decode_fail(in, "\"label\" of the chart is no list of one to three columns");
    for (size_t i = 0; i < json_array_size(list) && in->status == TA_OK; i++) {
        labels[i] = decode_show(json_array_get(list, i));
        const struct ta_column *column = decode_find_column(in, labels[i]);
        if (!column)
            decode_fail(in, "\"label\" of the chart is no column of the table: \"%.100s\"",
                        labels[i]);
        else
            labels[i] = column->key; /* lives as long as the report */
    }
}

static void read_series(struct decode *in, const json_t *chart,
                        struct ta_series y[TA_CHART_SERIES_MAX])
{
    const json_t *list = json_object_get(chart, "y");
    if (list && (!json_is_array(list) || json_array_size(list) > TA_CHART_SERIES_MAX))
        decode_fail(in, "\"y\" of the chart is no list of up to %d columns", TA_CHART_SERIES_MAX);
    for (size_t i = 0; i < json_array_size(list) && in->status == TA_OK; i++) {
        fields_read(in, &shape_series, json_array_get(list, i), &y[i]);
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
    for (size_t i = 0; i < n && in->status == TA_OK; i++)
        fields_read(in, &shape_kind, json_array_get(list, i), &kinds[i]);
    return kinds;
}

static uint64_t count_or_0(struct decode *in, const json_t *chart, const char *key)
{
    return json_object_get(chart, key) ? decode_count(in, chart, key) : 0;
}

static struct ta_chart read_chart(struct decode *in, const json_t *from)
{
    struct ta_chart chart = {.id = NULL};
    fields_read(in, &shape_chart, from, &chart);
    fields_read(in, &shape_chart_x, from, &chart);
    fields_read(in, &shape_chart_rest, from, &chart);
    fields_read(in, &shape_roof, json_object_get(from, "roof"), &chart.roof);
    const uint64_t whole = count_or_0(in, from, "whole"), top = count_or_0(in, from, "top");
    if (in->status == TA_OK && top > TOP_MAX)
        decode_fail(in, "\"top\" of the chart is above %d", TOP_MAX);
    chart.whole = whole <= INT64_MAX ? (int64_t)whole : 0;
    chart.top = (uint32_t)top;
    chart.kinds = read_kinds(in, from);
    read_labels(in, from, chart.label);
    read_series(in, from, chart.y);
    /* The inks of a tree and of lanes go by texts. */
    const struct ta_column *group = chart.group ? decode_find_column(in, chart.group) : NULL;
    const bool by_text = chart.kind == TA_CHART_TREE || chart.kind == TA_CHART_LANES;
    if (by_text && group && group->type != TA_TYPE_STRING)
        decode_fail(in, "\"group\" of a tree or of lanes is no column of texts");
    return chart;
}

void decode_charts(struct decode *in, struct ta_table_builder *table, const json_t *chart)
{
    for (size_t n = 0; chart && !json_is_null(chart) && in->status == TA_OK; n++) {
        const struct ta_chart read = read_chart(in, chart);
        if (n == CHARTS_MAX)
            decode_fail(in, "A table has more than %d charts", CHARTS_MAX);
        if (in->status == TA_OK)
            ta_add_chart(table, &read);
        chart = json_object_get(chart, "next");
    }
}
