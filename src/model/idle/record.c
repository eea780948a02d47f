/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/idle/record.h"

#include <stdlib.h>

/* ---- writing --------------------------------------------------------------------------------- */

enum { FIRST = 1024 }; /* elements to begin with */

static bool resize(struct idle_record *record, size_t max)
{
    int64_t *ns = reallocarray(record->ns, max, sizeof *ns);
    record->ns = ns ? ns : record->ns;
    ta_row *place = reallocarray(record->place, max, sizeof *place);
    record->place = place ? place : record->place;
    ta_row *wait = reallocarray(record->wait, max, sizeof *wait);
    record->wait = wait ? wait : record->wait;
    uint8_t *cause = reallocarray(record->cause, max, sizeof *cause);
    record->cause = cause ? cause : record->cause;
    uint32_t *times = record->names ? reallocarray(record->times, max, sizeof *times) : NULL;
    record->times = times ? times : record->times;
    if (!ns || !place || !wait || !cause || (record->names && !times))
        return false;
    record->max = max;
    return true;
}

void idle_record_fit(struct idle_record *record)
{
    record->failed |= record->merged.failed;
    ta_map_free(&record->merged);
    if (record->n < record->max)
        (void)resize(record, record->n + 1); /* as large as it was is no harm */
}

void idle_record_gap(struct idle_record *record)
{
    if (!record->failed && record->n_gaps == record->max_gaps) {
        const size_t max = 2 * record->max_gaps + FIRST;
        uint32_t *n_pieces = reallocarray(record->n_pieces, max, sizeof *n_pieces);
        record->failed = !n_pieces;
        if (n_pieces) {
            record->n_pieces = n_pieces;
            record->max_gaps = max;
        }
    }
    if (!record->failed)
        record->n_pieces[record->n_gaps++] = 0;
}

/* Adds a piece to one like it of the same gap, or notes that it is the first; false for that. */
static bool merge_piece(struct idle_record *record, const struct ta_idle_piece *piece)
{
    const ta_str name = piece->place == TA_NO_ROW ? TA_STR_ABSENT : record->names[piece->place];
    const uint64_t key = ((uint64_t)record->n_gaps << 8 | piece->cause) << 32 | name;
    uint64_t *at = ta_map_at(&record->merged, key, record->n + 1);
    if (!at || *at == record->n + 1)
        return false;
    record->ns[*at - 1] += piece->ns;
    record->times[*at - 1]++;
    return true;
}

void idle_record_piece(struct idle_record *record, const struct ta_idle_piece *piece)
{
    if (record->names && !record->failed && merge_piece(record, piece))
        return;
    if (record->failed || (record->n == record->max && !resize(record, 2 * record->max + FIRST))) {
        record->failed = true;
        return;
    }
    record->ns[record->n] = piece->ns;
    record->place[record->n] = piece->place;
    record->wait[record->n] = piece->wait;
    if (record->names)
        record->times[record->n] = 1;
    record->cause[record->n++] = (uint8_t)piece->cause;
    record->n_pieces[record->n_gaps - 1]++;
}

void idle_record_free(struct idle_record *record)
{
    free(record->n_pieces);
    free(record->ns);
    free(record->place);
    free(record->wait);
    free(record->cause);
    free(record->times);
    ta_map_free(&record->merged);
}

/* ---- reporting to the watcher ---------------------------------------------------------------- */

/* Few gaps have more than two causes. */
static void add_part(struct ta_idle_parts *parts, const struct ta_idle_piece *piece)
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

/* Reports a piece to the watcher, and the gap that it is of. */
static void tell_piece(const struct ta_idle_watcher *watcher, struct ta_idle_parts *parts,
                       const struct ta_idle_piece *piece)
{
    if (watcher->gap)
        add_part(parts, piece);
    if (watcher->piece)
        watcher->piece(watcher->user, piece);
}

/* What is told, in the order of the record. */
struct telling {
    const struct idle_record *record;
    const struct ta_idle_watcher *watcher;
    size_t gap, piece; /* the next ones */
};

static void tell_gap(struct telling *t, int64_t start, int64_t end, size_t next)
{
    const struct idle_record *const record = t->record;
    struct ta_idle_gap told; /* a large one, of which little is used */
    told.start = start;
    told.end = end;
    told.next = next;
    told.parts.n = 0;
    if (end - start < TA_IDLE_MICRO_NS)
        tell_piece(
            t->watcher, &told.parts,
            &(struct ta_idle_piece){TA_IDLE_MICRO, end - start, .place = TA_NO_ROW, TA_NO_ROW});
    else
        for (uint32_t n = record->n_pieces[t->gap++]; n > 0; n--, t->piece++)
            tell_piece(t->watcher, &told.parts,
                       &(struct ta_idle_piece){.cause = (enum ta_idle_cause)record->cause[t->piece],
                                               .ns = record->ns[t->piece],
                                               .place = record->place[t->piece],
                                               .wait = record->wait[t->piece]});
    if (t->watcher->gap)
        t->watcher->gap(t->watcher->user, &told);
}

void idle_record_tell(const struct idle_record *record, const struct ta_trace *trace,
                      const struct ta_idle_watcher *watcher)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    struct telling telling = {.record = record, .watcher = watcher};
    for (size_t from = 0, to; from < activities.n; from = to) {
        int64_t end = spans.ts[activities.at[from].span]; /* of all of the device so far */
        to = ta_device_end(&activities, from);
        for (size_t i = from; i < to; i++) {
            const ta_row span = activities.at[i].span;
            const int64_t start = spans.ts[span];
            if (start > end)
                tell_gap(&telling, end, start, i);
            end = ta_max_i64(end, start + spans.dur[span]);
        }
        if (watcher->device)
            watcher->device(watcher->user, activities.at[from].device);
    }
}
