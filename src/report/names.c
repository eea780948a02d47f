/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How kinds of results are called in products and schemas. */
#include "traceanalyze/chart.h"
#include "traceanalyze/output.h"

const char *ta_severity_name(enum ta_severity severity)
{
    static const char *const names[] = {
        [TA_INFO] = "info", [TA_LOW] = "low",           [TA_MEDIUM] = "medium",
        [TA_HIGH] = "high", [TA_CRITICAL] = "critical",
    };
    return names[severity];
}

const char *ta_type_name(enum ta_type type)
{
    static const char *const names[] = {
        [TA_TYPE_STRING] = "string",   [TA_TYPE_INTEGER] = "integer", [TA_TYPE_NUMBER] = "number",
        [TA_TYPE_BOOLEAN] = "boolean", [TA_TYPE_WORD] = "string",     [TA_TYPE_ID] = "string",
        [TA_TYPE_SENTENCE] = "string",
    };
    return names[type];
}

const char *ta_chart_kind_name(enum ta_chart_kind kind)
{
    static const char *const names[TA_CHART_KINDS] = {
        [TA_CHART_STACKED_BARS] = "stacked-bars",
        [TA_CHART_PARETO] = "pareto",
        [TA_CHART_BARS] = "bars",
        [TA_CHART_DOTS] = "dots",
        [TA_CHART_ECDF] = "ecdf",
        [TA_CHART_LINES] = "lines",
        [TA_CHART_SCATTER] = "scatter",
        [TA_CHART_HEAT] = "heat",
        [TA_CHART_TREE] = "tree",
        [TA_CHART_WATERFALL] = "waterfall",
        [TA_CHART_FOREST] = "forest",
        [TA_CHART_HEATMAP] = "heatmap",
    };
    return names[kind];
}

const char *ta_accounts_noun(const struct ta_accounts *accounts, bool one)
{
    for (size_t i = 0; i < accounts->n_files; i++)
        if (accounts->files[i].is_dump)
            return one ? "record" : "records";
    return one ? "event" : "events";
}
