/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run once more, with something changed: each rank takes its own time between collectives, and
 * goes on when the last one has come and the transfer is over. */
#include "ranks/ranks.h"

#include <math.h>
#include <stdlib.h>

/* A collective of several ranks, or a record without partners. */
struct event {
    int64_t time;
    uint32_t collective, record; /* one of them, else TA_COLL_NONE */
};

struct ta_replay {
    const struct ta_ranks *ranks;
    struct event *events;
    size_t n;
    double *now; /* of each member; NAN before its first record */
    double *arrivals;
    const struct ta_replay_change *change;
};

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->collective != b->collective)
        return a->collective < b->collective ? -1 : 1;
    return (a->record > b->record) - (a->record < b->record);
}

static bool is_shared(const struct ta_ranks *ranks, const struct ta_coll_record *record)
{
    return record->collective != TA_COLL_NONE &&
           ranks->collectives[record->collective].transfer != TA_MISSING;
}

static void list_events(struct ta_replay *r)
{
    const struct ta_ranks *ranks = r->ranks;
    for (uint32_t i = 0; i < ranks->n_collectives; i++)
        if (ranks->collectives[i].transfer != TA_MISSING)
            r->events[r->n++] = (struct event){ranks->collectives[i].last_start, i, TA_COLL_NONE};
    for (uint32_t i = 0; i < ranks->n_records; i++)
        if (!is_shared(ranks, &ranks->records[i]))
            r->events[r->n++] = (struct event){ranks->records[i].start, TA_COLL_NONE, i};
    qsort(r->events, r->n, sizeof *r->events, by_time);
}

/* When a member enters a collective. */
static double arrive(struct ta_replay *r, const struct ta_coll_record *record)
{
    const size_t index = (size_t)(record - r->ranks->records);
    double before = (double)record->before;
    if (isnan(r->now[record->member]))
        r->now[record->member] = (double)(record->start - record->before);
    if (r->change->no_host)
        before = fmax(0, before - (double)ta_coll_parts(r->ranks, record).host_late);
    if (r->change->like_others && r->change->like_others[record->member] &&
        r->ranks->excess[index] != TA_MISSING)
        before -= (double)r->ranks->excess[index];
    return r->now[record->member] + before;
}

static void pass_collective(struct ta_replay *r, const struct ta_collective *collective)
{
    double last = -INFINITY;
    for (size_t i = 0; i < collective->n; i++) {
        const struct ta_coll_record *record =
            &r->ranks->records[r->ranks->entries[collective->first + i]];
        r->arrivals[i] = arrive(r, record);
        last = fmax(last, r->arrivals[i]);
    }
    const double leave = last + (r->change->no_transfer ? 0 : (double)collective->transfer);
    for (size_t i = 0; i < collective->n; i++) {
        const struct ta_coll_record *record =
            &r->ranks->records[r->ranks->entries[collective->first + i]];
        const double hidden = (double)ta_coll_parts(r->ranks, record).hidden;
        r->now[record->member] = fmax(leave, r->arrivals[i] + hidden);
    }
}

double ta_replay_end(struct ta_replay *r, const struct ta_replay_change *change)
{
    double end = -INFINITY;
    r->change = change;
    for (size_t i = 0; i < r->ranks->n_members; i++)
        r->now[i] = NAN;
    for (size_t i = 0; i < r->n; i++) {
        if (r->events[i].collective != TA_COLL_NONE) {
            pass_collective(r, &r->ranks->collectives[r->events[i].collective]);
            continue;
        }
        const struct ta_coll_record *record = &r->ranks->records[r->events[i].record];
        r->now[record->member] = arrive(r, record) + (double)(record->end - record->start);
    }
    for (size_t i = 0; i < r->ranks->n_members; i++)
        end = isnan(r->now[i]) ? end : fmax(end, r->now[i]);
    return end;
}

struct ta_replay *ta_replay_open(const struct ta_ranks *ranks)
{
    struct ta_replay *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->ranks = ranks;
    r->events = calloc(ranks->n_collectives + ranks->n_records + 1, sizeof *r->events);
    r->now = calloc(ranks->n_members + 1, sizeof *r->now);
    r->arrivals = calloc(ranks->n_members + 1, sizeof *r->arrivals);
    if (r->events && r->now && r->arrivals) {
        list_events(r);
        return r;
    }
    ta_replay_close(r);
    return NULL;
}

void ta_replay_close(struct ta_replay *r)
{
    if (!r)
        return;
    free(r->events);
    free(r->now);
    free(r->arrivals);
    free(r);
}
