/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A few names have most of the spans of a trace; the rows of all others are listed once, for all
 * who look for some of them. */
#include "model/named.h"

#include "model/fact.h"

#include <stdlib.h>

/* Names with more than one span in so many are frequent. */
enum { SELDOM = 2048 };

struct names {
    uint32_t *count; /* of the spans, by name */
    ta_row *rows;    /* of the spans whose names are not frequent */
    size_t n_rows, most;
};

static void free_names(void *at)
{
    struct names *names = at;
    free(names->count);
    free(names->rows);
    free(names);
}

static bool list(struct names *names, const struct ta_spans *spans, size_t n_names)
{
    size_t n = 0;
    names->count = calloc(n_names + 1, sizeof *names->count);
    if (!names->count)
        return false;
    for (size_t row = 0; row < spans->n; row++)
        names->count[spans->name[row]]++;
    names->most = spans->n / SELDOM;
    for (size_t name = 0; name <= n_names; name++)
        n += names->count[name] <= names->most ? names->count[name] : 0;
    names->rows = malloc((n + 1) * sizeof *names->rows);
    for (size_t row = 0; names->rows && names->n_rows < n; row++)
        if (names->count[spans->name[row]] <= names->most)
            names->rows[names->n_rows++] = (ta_row)row;
    return names->rows != NULL;
}

static void *make_names(const struct ta_trace *trace)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    struct names *names = calloc(1, sizeof *names);
    if (names && list(names, &spans, ta_trace_string_count(trace)))
        return names;
    if (names)
        free_names(names);
    return NULL;
}

bool ta_each_named(const struct ta_trace *trace, ta_name_kind *kind,
                   void (*report)(void *user, ta_row row, uint8_t kind), void *user)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const size_t n_names = ta_trace_string_count(trace);
    const struct names *names = ta_trace_fact(trace, TA_FACT_NAMES, make_names, free_names);
    uint8_t *kinds = names ? calloc(n_names + 1, sizeof *kinds) : NULL;
    bool any = false, any_frequent = false;
    if (!kinds)
        return false;
    for (size_t name = 0; name < n_names; name++) {
        kinds[name] = names->count[name] ? kind(ta_trace_text(trace, (ta_str)name)) : 0;
        any |= kinds[name];
        any_frequent |= kinds[name] && names->count[name] > names->most;
    }
    const size_t n = any_frequent ? spans.n : any ? names->n_rows : 0;
    for (size_t i = 0; i < n; i++) {
        const ta_row row = any_frequent ? (ta_row)i : names->rows[i];
        if (kinds[spans.name[row]])
            report(user, row, kinds[spans.name[row]]);
    }
    free(kinds);
    return true;
}

bool ta_count_named(const struct ta_trace *trace, ta_name_kind *kind, int64_t *counts)
{
    const struct names *names = ta_trace_fact(trace, TA_FACT_NAMES, make_names, free_names);
    for (size_t name = 0; names && name < ta_trace_string_count(trace); name++) {
        const uint8_t wanted = names->count[name] ? kind(ta_trace_text(trace, (ta_str)name)) : 0;
        if (wanted)
            counts[wanted] += names->count[name];
    }
    return names;
}
