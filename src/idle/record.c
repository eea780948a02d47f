/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "idle/record.h"

#include <stdlib.h>

/* ---- writing --------------------------------------------------------------------------------- */

static bool resize(struct idle_record *record, size_t max)
{
    int64_t *ns = reallocarray(record->ns, max, sizeof *ns);
    record->ns = ns ? ns : record->ns;
    ta_row *place = reallocarray(record->place, max, sizeof *place);
    record->place = place ? place : record->place;
    uint8_t *cause = reallocarray(record->cause, max, sizeof *cause);
    record->cause = cause ? cause : record->cause;
    if (!ns || !place || !cause)
        return false;
    record->max = max;
    return true;
}

void idle_record_open(struct idle_record *record, size_t n_activities)
{
    enum { PIECES_EACH = 2 };
    record->n_pieces = calloc(n_activities + 1, sizeof *record->n_pieces);
    record->failed = !record->n_pieces || !resize(record, PIECES_EACH * n_activities + 1);
}

void idle_record_fit(struct idle_record *record)
{
    if (record->n < record->max)
        (void)resize(record, record->n + 1); /* as large as it was is no harm */
}

void idle_record_gap(struct idle_record *record, size_t next)
{
    record->gap = &record->n_pieces[next];
}

void idle_record_piece(struct idle_record *record, enum ta_idle_cause cause, int64_t ns,
                       ta_row place)
{
    if (record->failed || (record->n == record->max && !resize(record, 2 * record->max))) {
        record->failed = true;
        return;
    }
    record->ns[record->n] = ns;
    record->place[record->n] = place;
    record->cause[record->n++] = (uint8_t)cause;
    ++*record->gap;
}

void idle_record_free(struct idle_record *record)
{
    free(record->n_pieces);
    free(record->ns);
    free(record->place);
    free(record->cause);
}

/* ---- telling --------------------------------------------------------------------------------- */

/* Few gaps have more than two causes. */
static void add_part(struct ta_idle_parts *parts, enum ta_idle_cause cause, int64_t ns,
                     ta_row place)
{
    size_t i = 0;
    while (i < parts->n && parts->at[i].cause != cause)
        i++;
    struct ta_idle_part *part = &parts->at[i];
    if (i == parts->n) {
        *part = (struct ta_idle_part){.cause = cause, .site = TA_NO_ROW};
        parts->n++;
    }
    part->ns += ns;
    if (ns > part->longest) {
        part->longest = ns;
        part->site = place;
    }
}

/* Tells the gap [start, end) of the pieces [from, to). */
static void tell_gap(const struct idle_record *record, size_t from, size_t to, int64_t start,
                     int64_t end, size_t next, const struct ta_idle_watcher *watcher)
{
    struct ta_idle_gap told; /* a large one, of which little is used */
    told.start = start;
    told.end = end;
    told.next = next;
    told.parts.n = 0;
    for (size_t i = from; i < to; i++) {
        const enum ta_idle_cause cause = (enum ta_idle_cause)record->cause[i];
        add_part(&told.parts, cause, record->ns[i], record->place[i]);
        if (watcher->piece)
            watcher->piece(watcher->user, cause, record->ns[i], record->place[i]);
    }
    if (watcher->gap)
        watcher->gap(watcher->user, &told);
}

void idle_record_tell(const struct idle_record *record, const struct ta_trace *trace,
                      const struct ta_idle_watcher *watcher)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    int64_t end = INT64_MIN; /* of all of the device so far */
    size_t piece = 0;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        const int64_t start = spans.ts[a->span];
        const size_t n = record->n_pieces[i];
        if (n)
            tell_gap(record, piece, piece + n, end, start, i, watcher);
        piece += n;
        end = ta_max_i64(end, start + spans.dur[a->span]);
        if (i + 1 < activities.n && activities.at[i + 1].device == a->device)
            continue;
        if (watcher->device)
            watcher->device(watcher->user, a->device);
        end = INT64_MIN;
    }
}
