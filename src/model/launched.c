/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/launched.h"

#include "model/fact.h"

#include <stdlib.h>

static void free_launched(void *at)
{
    struct ta_launched *launched = at;
    free(launched->rows);
    free(launched);
}

static void *make_launched(const struct ta_trace *trace)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const size_t n_words = ta_row_set_words(ta_trace_spans(trace).n);
    struct ta_launched *launched = calloc(1, sizeof *launched);
    if (!launched)
        return NULL;
    launched->rows = calloc(n_words, sizeof *launched->rows);
    if (!launched->rows) {
        free_launched(launched);
        return NULL;
    }
    for (size_t i = 0; i < activities.n; i++)
        if (activities.at[i].launch != TA_NO_ROW) {
            ta_row_set_add(launched->rows, activities.at[i].launch);
            launched->n_activities++;
        }
    launched->n = ta_row_set_sum(launched->rows, n_words);
    return launched;
}

const struct ta_launched *ta_trace_launched(const struct ta_trace *trace)
{
    return ta_trace_fact(trace, TA_FACT_LAUNCHED, make_launched, free_launched);
}
