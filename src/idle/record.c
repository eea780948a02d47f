/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "idle/record.h"

#include <stdlib.h>

/* ---- writing --------------------------------------------------------------------------------- */

void idle_record_reserve(struct idle_record *record, size_t n_activities)
{
    record->gaps.at = reallocarray(NULL, n_activities, sizeof *record->gaps.at);
    record->gaps.max = record->gaps.at ? n_activities : 0;
    record->pieces.at = reallocarray(NULL, n_activities, 2 * sizeof *record->pieces.at);
    record->pieces.max = record->pieces.at ? 2 * n_activities : 0;
}

static void *fit(void *at, size_t n, size_t size)
{
    void *fitted = n ? realloc(at, n * size) : NULL;
    return fitted ? fitted : at;
}

void idle_record_fit(struct idle_record *record)
{
    record->pieces.at = fit(record->pieces.at, record->pieces.n, sizeof *record->pieces.at);
    record->gaps.at = fit(record->gaps.at, record->gaps.n, sizeof *record->gaps.at);
    record->pieces.max = record->pieces.n;
    record->gaps.max = record->gaps.n;
}

void idle_record_gap(struct idle_record *record, int64_t start, size_t next)
{
    if (!ta_vec_push(&record->gaps, ((struct idle_gap){.start = start, .next = (uint32_t)next})))
        record->failed = true;
}

void idle_record_piece(struct idle_record *record, enum ta_idle_cause cause, int64_t ns,
                       ta_row place)
{
    const struct idle_piece piece = {.ns = ns, .place = place, .cause = (uint8_t)cause};
    if (record->failed || !ta_vec_push(&record->pieces, piece))
        record->failed = true;
    else
        record->gaps.at[record->gaps.n - 1].n_pieces++;
}

void idle_record_free(struct idle_record *record)
{
    free(record->gaps.at);
    free(record->pieces.at);
}

/* ---- telling --------------------------------------------------------------------------------- */

/* Few gaps have more than two causes. */
static void add_part(struct ta_idle_parts *parts, const struct idle_piece *piece)
{
    size_t i = 0;
    while (i < parts->n && parts->at[i].cause != piece->cause)
        i++;
    struct ta_idle_part *part = &parts->at[i];
    if (i == parts->n) {
        *part = (struct ta_idle_part){.cause = piece->cause, .site = TA_NO_ROW};
        parts->n++;
    }
    part->ns += piece->ns;
    if (piece->ns > part->longest) {
        part->longest = piece->ns;
        part->site = piece->place;
    }
}

/* Tells a gap; gives the first piece behind it. */
static const struct idle_piece *tell_gap(const struct idle_gap *gap, int64_t end,
                                         const struct idle_piece *piece,
                                         const struct ta_idle_watcher *watcher)
{
    struct ta_idle_gap told; /* a large one, of which little is used */
    told.start = gap->start;
    told.end = end;
    told.next = gap->next;
    told.parts.n = 0;
    for (const struct idle_piece *behind = piece + gap->n_pieces; piece < behind; piece++) {
        add_part(&told.parts, piece);
        if (watcher->piece)
            watcher->piece(watcher->user, (enum ta_idle_cause)piece->cause, piece->ns,
                           piece->place);
    }
    if (watcher->gap)
        watcher->gap(watcher->user, &told);
    return piece;
}

void idle_record_tell(const struct idle_record *record, const struct ta_trace *trace,
                      const struct ta_idle_watcher *watcher)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct idle_piece *piece = record->pieces.at;
    size_t gap = 0;
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (gap < record->gaps.n && record->gaps.at[gap].next == i)
            piece = tell_gap(&record->gaps.at[gap++], spans.ts[a->span], piece, watcher);
        const bool is_last = i + 1 == activities.n || activities.at[i + 1].device != a->device;
        if (is_last && watcher->device)
            watcher->device(watcher->user, a->device);
    }
}
