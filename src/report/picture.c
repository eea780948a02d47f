/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which chart is the picture of the first screen. */
#include "report/tables.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/output.h"

#include <stdio.h>

static bool is_called(const struct ta_chart *chart, const char *id)
{
    return id ? strcmp(chart->id, id) == 0 : chart->kind == TA_CHART_WATERFALL;
}

/* The first chart of an id, NULL for the first waterfall; NULL for none. */
static const struct ta_chart *find(const struct ta_report *report, const char *id,
                                   const struct ta_table **table)
{
    for (*table = NULL; (*table = ta_report_table_after(report, *table)) != NULL;)
        for (const struct ta_chart *chart = (*table)->chart; chart; chart = chart->next)
            if ((*table)->n_rows && chart->y[0].column && is_called(chart, id))
                return chart;
    return NULL;
}

const struct ta_chart *ta_report_picture(const struct ta_report *report,
                                         const struct ta_table **table)
{
    /* What there is of the first is drawn. */
    static const char *const ids[] = {"picture", "memory-levels"};
    const struct ta_chart *chart = NULL;
    if (ta_report_kind(report) == TA_REPORT_DIFF)
        return find(report, NULL, table);
    for (size_t i = 0; i < TA_LENGTH(ids) && !chart; i++)
        chart = find(report, ids[i], table);
    return chart;
}

/* ---- stacked areas --------------------------------------------------------------------------- */

/* "step (/a/b/optimizers.py:82)" becomes "step (optimizers.py:82)". */
static void put_short(char name[TA_AREA_NAME_MAX], struct ta_slice group)
{
    const char *open = group.len ? memrchr(group.ptr, '(', group.len) : NULL;
    const size_t before = open ? (size_t)(open - group.ptr) + 1 : 0;
    const char *folders =
        open ? memrchr(ta_slice_at(group, before), '/', group.len - before) : NULL;
    const size_t from = folders ? (size_t)(folders - group.ptr) + 1 : before;
    const struct ta_slice first = ta_slice_head(ta_slice_part(group, 0, before), 80);
    const struct ta_slice last = ta_slice_head(ta_slice_from(group, from), 76);
    snprintf(name, TA_AREA_NAME_MAX, "%.*s%.*s", (int)first.len, first.len ? first.ptr : "",
             (int)last.len, last.len ? last.ptr : "");
}

struct ta_area ta_area_of(const struct ta_chart *chart, struct ta_slice group, size_t *next)
{
    static const enum ta_ink inks[] = {TA_INK_SERIES_1, TA_INK_SERIES_2, TA_INK_SERIES_3,
                                       TA_INK_SERIES_4, TA_INK_SERIES_7, TA_INK_SERIES_6};
    struct ta_area area;
    for (const struct ta_kind *kind = chart->kinds; kind && kind->value; kind++)
        if (ta_slice_equal(group, ta_slice_of(kind->value))) {
            snprintf(area.name, sizeof area.name, "%s", kind->label);
            area.ink = kind->ink;
            return area;
        }
    put_short(area.name, group);
    area.ink = inks[*next < TA_LENGTH(inks) ? *next : TA_LENGTH(inks) - 1];
    ++*next;
    return area;
}
