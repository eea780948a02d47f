/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/busy.h"

#include "model/fact.h"

#include <stdlib.h>

static void free_busy(void *at)
{
    ta_intervals_free(at);
    free(at);
}

static void *make_busy(const struct ta_trace *trace)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    struct ta_intervals *busy = calloc(1, sizeof *busy);
    if (!busy)
        return NULL;
    for (size_t i = 0; i < activities.n; i++) {
        const ta_row span = activities.at[i].span;
        ta_intervals_add(busy, spans.ts[span], spans.ts[span] + spans.dur[span]);
    }
    ta_intervals_unite(busy);
    if (!busy->failed)
        return busy;
    free_busy(busy);
    return NULL;
}

const struct ta_intervals *ta_trace_busy(const struct ta_trace *trace)
{
    return ta_trace_fact(trace, TA_FACT_BUSY, make_busy, free_busy);
}
