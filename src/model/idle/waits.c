/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a wait of the host costs a device. */
#include "model/idle/waits.h"

#include "base/vec.h"
#include "traceanalyze/table.h"

#include <stdlib.h>

/* A thread that is so far ahead of the device, or that has launched so often without getting there,
 * is late for what it does itself. */
enum { AHEAD_NS = 3000000, LAUNCHES_MOST = 100 };

static int64_t end_of(const struct idle_waits *waits, ta_row row)
{
    return waits->spans.ts[row] + waits->spans.dur[row];
}

static bool is_wait(const struct idle_waits *waits, ta_row row)
{
    return row != TA_NO_ROW &&
           (waits->spans.work[row] == TA_HOST_SYNC || waits->spans.work[row] == TA_HOST_COPY);
}

/* Not what is part of another wait. */
static void add(struct idle_waits *waits, const struct ta_categories *categories, ta_row row)
{
    const ta_row parent = waits->spans.parent[row];
    if (categories->at[waits->spans.cat[row]].class != TA_CLASS_RUNTIME ||
        (is_wait(waits, parent) &&
         categories->at[waits->spans.cat[parent]].class == TA_CLASS_RUNTIME))
        return;
    if (!ta_vec_grow((void **)&waits->at, &waits->max, waits->n, sizeof *waits->at))
        waits->failed = true;
    else
        waits->at[waits->n++] = row;
}

/* The driver stages pageable memory while the caller waits. */
static void add_pageable(struct idle_waits *waits, const struct ta_trace *trace,
                         const struct ta_categories *categories)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    ta_str looked_at = TA_STR_ABSENT;
    bool is_pageable = false;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel != TA_NO_KERNEL || a->launch == TA_NO_ROW || is_wait(waits, a->launch))
            continue;
        const ta_str id = waits->spans.name[a->span];
        if (id != looked_at) {
            const struct ta_slice name = ta_trace_text(trace, id);
            is_pageable = memmem(name.ptr, name.len, "Pageable", strlen("Pageable")) != NULL;
            looked_at = id;
        }
        if (is_pageable)
            add(waits, categories, a->launch);
    }
}

static int by_row(const void *left, const void *right)
{
    const ta_row a = *(const ta_row *)left, b = *(const ta_row *)right;
    return (a > b) - (a < b);
}

void idle_waits_open(struct idle_waits *waits, const struct ta_trace *trace)
{
    const struct ta_categories categories = ta_trace_categories(trace);
    *waits =
        (struct idle_waits){.spans = ta_trace_spans(trace), .n_tracks = ta_trace_tracks(trace).n};
    if (!waits->spans.work)
        return;
    waits->debts = calloc(waits->n_tracks + 1, sizeof(struct idle_debt *));
    waits->failed = !waits->debts;
    static const enum ta_host_work kinds[] = {TA_HOST_SYNC, TA_HOST_COPY};
    for (size_t i = 0; i < TA_LENGTH(kinds); i++)
        for (ta_row row = 0; (row = ta_host_next(&waits->spans, row, kinds[i])) < waits->spans.n;
             row++)
            add(waits, &categories, row);
    add_pageable(waits, trace, &categories);
    if (waits->n)
        qsort(waits->at, waits->n, sizeof *waits->at, by_row);
}

void idle_waits_restart(struct idle_waits *waits)
{
    for (size_t i = 0; waits->debts && i < waits->n_tracks; i++) {
        free(waits->debts[i]);
        waits->debts[i] = NULL;
    }
}

void idle_waits_close(struct idle_waits *waits)
{
    idle_waits_restart(waits);
    free(waits->debts);
    free(waits->at);
}

/* Goes to the wait `next` of the list, when it is one of the track. */
static void go_to(const struct idle_waits *waits, struct idle_debt *debt, uint32_t track,
                  size_t next)
{
    debt->next = next;
    debt->starts = debt->ends = INT64_MAX;
    if (next == waits->n || waits->spans.track[waits->at[next]] != track)
        return;
    debt->starts = waits->spans.ts[waits->at[next]];
    debt->ends = end_of(waits, waits->at[next]);
}

static void make_debt(struct idle_waits *waits, uint32_t track)
{
    struct idle_debt *debt = calloc(1, sizeof *debt);
    waits->debts[track] = debt;
    waits->failed = !debt;
    size_t from = 0;
    for (size_t to = waits->n; debt && from < to;) { /* the first of the track */
        const size_t middle = from + (to - from) / 2;
        if (waits->spans.track[waits->at[middle]] < track)
            from = middle + 1;
        else
            to = middle;
    }
    if (debt) {
        go_to(waits, debt, track, from);
        debt->last_launch = debt->computing = TA_NO_ROW;
    }
}

/* Takes in the waits that have ended by `time`. */
static void advance(struct idle_waits *waits, struct idle_debt *debt, uint32_t track, int64_t time)
{
    while (debt->ends <= time) {
        const ta_row wait = waits->at[debt->next];
        const int64_t left = waits->spans.dur[wait] - debt->used;
        debt->used = 0;
        debt->n_launches = 0;
        go_to(waits, debt, track, debt->next + 1);
        if (left <= 0 || waits->spans.ts[wait] < waits->first_launch)
            continue;
        if (debt->n == IDLE_WAITS_OPEN_MOST)
            memmove(&debt->at[0], &debt->at[1], --debt->n * sizeof debt->at[0]);
        debt->at[debt->n].wait = wait;
        debt->at[debt->n++].left = left;
    }
}

/* What the thread owes at `time`; NULL without memory. */
static inline struct idle_debt *debt_at(struct idle_waits *waits, uint32_t track, int64_t time)
{
    if (!waits->debts || waits->failed)
        return NULL;
    if (!waits->debts[track])
        make_debt(waits, track);
    struct idle_debt *debt = waits->debts[track];
    if (debt && debt->ends <= time)
        advance(waits, debt, track, time);
    return debt;
}

ta_row idle_waits_at(struct idle_waits *waits, uint32_t track, int64_t time)
{
    const struct idle_debt *debt = debt_at(waits, track, time);
    return debt && debt->starts <= time ? waits->at[debt->next] : TA_NO_ROW;
}

void idle_waits_use(struct idle_waits *waits, uint32_t track, int64_t ns)
{
    struct idle_debt *debt = debt_at(waits, track, INT64_MIN);
    if (debt)
        debt->used += ns;
}

int64_t idle_waits_take(struct idle_waits *waits, uint32_t track, int64_t time, int64_t ns,
                        ta_row *wait)
{
    struct idle_debt *debt = debt_at(waits, track, time);
    if (!debt || debt->n == 0)
        return 0;
    *wait = debt->at[debt->n - 1].wait;
    const int64_t taken = ta_min_i64(ns, debt->at[debt->n - 1].left);
    debt->at[debt->n - 1].left -= taken;
    debt->n -= debt->at[debt->n - 1].left == 0;
    return taken;
}

void idle_waits_owe(struct idle_waits *waits, uint32_t track, ta_row row, int64_t ns)
{
    struct idle_debt *debt = debt_at(waits, track, INT64_MIN);
    if (!debt)
        return;
    /* Spans that compute in a row owe together. */
    const bool goes_on = debt->n && row != TA_NO_ROW && debt->at[0].wait == debt->computing;
    const int64_t before = goes_on ? debt->at[0].left : 0;
    const int64_t left =
        row == TA_NO_ROW ? 0 : before - ns + (row == debt->computing ? 0 : waits->spans.dur[row]);
    debt->computing = row;
    debt->n = 0;
    if (left > 0) {
        debt->at[debt->n].wait = row;
        debt->at[debt->n++].left = left;
        debt->n_launches = 0;
    }
}

void idle_waits_launched(struct idle_waits *waits, ta_row launch, int64_t lead)
{
    if (launch == TA_NO_ROW)
        return;
    const uint32_t track = waits->spans.track[launch];
    struct idle_debt *debt = debt_at(waits, track, waits->spans.ts[launch]);
    if (!debt || debt->n == 0 ||
        end_of(waits, debt->at[debt->n - 1].wait) > waits->spans.ts[launch])
        return; /* it was launched before the host waited */
    debt->n_launches += launch != debt->last_launch;
    debt->last_launch = launch;
    if (lead >= AHEAD_NS || debt->n_launches > LAUNCHES_MOST)
        debt->n = 0;
}
