/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the host of a rank without devices does between its collectives: the innermost span of its
 * busiest thread at each time. */
#include "ranks/map.h"

#include "model/idle/idle.h"
#include "traceanalyze/model.h"

/* Whether a span is work, not a phase, a collective, or waiting. */
static bool is_work(const struct ta_spans *spans, ta_row row)
{
    return spans->work[row] != TA_HOST_COLLECTIVE && spans->work[row] != TA_HOST_UNTRACED;
}

/* The thread that works most; the first of equals. */
void host_work_open(struct host_work *w, const struct ta_trace *trace)
{
    const struct ta_tracks tracks = ta_trace_tracks(trace);
    int64_t most = 0;
    *w = (struct host_work){.spans = ta_trace_spans(trace), .top = TA_NO_ROW, .now = INT64_MIN};
    for (size_t i = 0; i < tracks.n; i++) {
        const ta_row end = tracks.at[i].first + tracks.at[i].n;
        int64_t busy = 0;
        for (ta_row row = tracks.at[i].first; row < end; row++)
            if (w->spans.self[row] != TA_MISSING && is_work(&w->spans, row))
                busy = ta_add_sat(busy, w->spans.self[row]);
        if (busy <= most)
            continue;
        most = busy;
        w->next = tracks.at[i].first;
        w->end = end;
    }
}

static int64_t end_of(const struct host_work *w, ta_row row)
{
    return w->spans.ts[row] + w->spans.dur[row];
}

/* Adds the time to another in which a span is the innermost one, or none is. */
static void spend(const struct host_work *w, ta_row row, int64_t ns, struct items *items)
{
    if (!items || ns <= 0)
        return;
    const ta_str name = row == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[row];
    const ta_row parent = row == TA_NO_ROW ? row : w->spans.parent[row];
    if (row == TA_NO_ROW || w->spans.work[row] == TA_HOST_UNTRACED)
        items_add(items, TA_COLL_ITEM_GAP, TA_IDLE_UNTRACED, name, ns);
    else
        items_add(items, TA_COLL_ITEM_HOST, name,
                  parent == TA_NO_ROW ? TA_STR_ABSENT : w->spans.name[parent], ns);
}

static void go_to(struct host_work *w, int64_t time, struct items *items)
{
    for (; w->top != TA_NO_ROW && end_of(w, w->top) <= time; w->top = w->spans.parent[w->top]) {
        spend(w, w->top, end_of(w, w->top) - w->now, items);
        w->now = ta_max_i64(w->now, end_of(w, w->top));
    }
    spend(w, w->top, time - w->now, items);
    w->now = ta_max_i64(w->now, time);
}

void host_work_until(struct host_work *w, int64_t time, struct items *items)
{
    if (w->now == INT64_MIN)
        w->now = time;
    for (; w->next < w->end && w->spans.ts[w->next] <= time; w->next++) {
        go_to(w, w->spans.ts[w->next], items);
        w->top = w->next;
    }
    go_to(w, time, items);
}
