/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How kinds of results are called in products and schemas. */
#include "report/words.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/output.h"

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
        [TA_CHART_LANES] = "lanes",
        [TA_CHART_AREAS] = "areas",
    };
    return names[kind];
}

const char *ta_ink_name(enum ta_ink ink)
{
    static const char *const names[TA_INK_COUNT] = {
        [TA_INK_NONE] = "paper",
        [TA_INK_TEXT] = "text",
        [TA_INK_MUTED] = "muted",
        [TA_INK_GRID] = "grid",
        [TA_INK_COMPUTE] = "compute",
        [TA_INK_COMM] = "comm",
        [TA_INK_MEMCPY] = "memcpy",
        [TA_INK_MEMSET] = "memset",
        [TA_INK_IDLE] = "idle",
        [TA_INK_COMM_HIDDEN] = "comm-hidden",
        [TA_INK_WAIT] = "wait",
        [TA_INK_OTHER] = "other",
        [TA_INK_BAND] = "band",
        [TA_INK_WORSE_1] = "worse-1",
        [TA_INK_WORSE_2] = "worse-2",
        [TA_INK_BETTER_1] = "better-1",
        [TA_INK_BETTER_2] = "better-2",
        [TA_INK_SERIES_1] = "series-1",
        [TA_INK_SERIES_2] = "series-2",
        [TA_INK_SERIES_3] = "series-3",
        [TA_INK_SERIES_4] = "series-4",
        [TA_INK_SERIES_5] = "series-5",
        [TA_INK_SERIES_6] = "series-6",
        [TA_INK_SERIES_7] = "series-7",
        [TA_INK_OP] = "op",
        [TA_INK_RUNTIME] = "runtime",
        [TA_INK_HOST] = "host",
        [TA_INK_RANGE] = "range",
        [TA_INK_SYNC] = "sync",
        [TA_INK_ATTENTION] = "attention",
        [TA_INK_CONV] = "conv",
        [TA_INK_POINTWISE] = "pointwise",
        [TA_INK_KERNEL] = "kernel",
        [TA_INK_NORM] = "norm",
        [TA_INK_FUSED] = "fused",
        [TA_INK_MOVE] = "move",
        [TA_INK_REDUCE] = "reduce",
        [TA_INK_IDLE_SYNC] = "idle-sync",
        [TA_INK_IDLE_INPUT] = "idle-input",
        [TA_INK_IDLE_COMPUTE] = "idle-compute",
        [TA_INK_IDLE_LATENCY] = "idle-latency",
        [TA_INK_IDLE_EARLIER] = "idle-earlier",
        [TA_INK_IDLE_QUEUED] = "idle-queued",
        [TA_INK_IDLE_UNKNOWN] = "idle-unknown",
        [TA_INK_IDLE_AROUND] = "idle-around",
        [TA_INK_IDLE_SETUP] = "idle-setup",
        [TA_INK_IDLE_ALLOCATE] = "idle-allocate",
        [TA_INK_IDLE_HOST] = "idle-host",
        [TA_INK_WORSE] = "worse",
        [TA_INK_BETTER] = "better",
        [TA_INK_HEAT_1] = "heat-1",
        [TA_INK_HEAT_2] = "heat-2",
        [TA_INK_HEAT_3] = "heat-3",
        [TA_INK_HEAT_4] = "heat-4",
        [TA_INK_HEAT_5] = "heat-5",
        [TA_INK_HEAT_6] = "heat-6",
        [TA_INK_HEAT_7] = "heat-7",
    };
    return names[(unsigned)ink < TA_INK_COUNT ? ink : TA_INK_OTHER];
}
