/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which charts of a table are worth drawing; all outputs ask here. */
#ifndef TA_RENDER_CHART_SAYS_H
#define TA_RENDER_CHART_SAYS_H

#include "traceanalyze/chart.h"

/* False where a chart would have a single bar, dot or point, or nothing at all. */
bool ta_chart_says(const struct ta_table *table, const struct ta_chart *chart);

/* Whether a chart is of this row. */
bool ta_chart_draws(const struct ta_table *table, const struct ta_chart *chart, size_t row);

/* The next chart of a table that says something; of `chart` NULL the first. */
const struct ta_chart *ta_chart_after(const struct ta_table *table, const struct ta_chart *chart);

#endif
