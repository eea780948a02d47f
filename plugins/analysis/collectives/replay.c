/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run once more, with something changed: each rank takes its own time between collectives, and
 * goes on when the last one has come and the transfer is over. */
#include "replay.h"

#include <math.h>

/* A collective of several ranks, or a record without partners. */
struct event {
    int64_t time;
    uint32_t instance, record; /* one of them, else COLL_NONE */
};

struct coll_replay {
    const struct coll_run *run;
    struct event *events;
    size_t n;
    double *now; /* of each member; NAN before its first record */
    double *arrivals;
    const struct coll_change *change;
};

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    return (a->record > b->record) - (a->record < b->record);
}

static bool is_shared(const struct coll_run *run, const struct coll_record *record)
{
    return record->instance != COLL_NONE && run->instances[record->instance].transfer != TA_MISSING;
}

static void list_events(struct coll_replay *r)
{
    const struct coll_run *run = r->run;
    for (uint32_t i = 0; i < run->n_instances; i++)
        if (run->instances[i].transfer != TA_MISSING)
            r->events[r->n++] = (struct event){run->instances[i].last_start, i, COLL_NONE};
    for (uint32_t i = 0; i < run->n_records; i++)
        if (!is_shared(run, &run->records[i]))
            r->events[r->n++] = (struct event){run->records[i].start, COLL_NONE, i};
    qsort(r->events, r->n, sizeof *r->events, by_time);
}

/* When a member enters a collective. */
static double arrive(struct coll_replay *r, const struct coll_record *record)
{
    const size_t index = (size_t)(record - r->run->records);
    double before = (double)record->before;
    if (isnan(r->now[record->member]))
        r->now[record->member] = (double)(record->start - record->before);
    if (r->change->no_host)
        before = fmax(0, before - (double)coll_parts_of(r->run, record).host_late);
    if (r->change->like_others && r->change->like_others[record->member] &&
        r->run->excess[index] != TA_MISSING)
        before -= (double)r->run->excess[index];
    return r->now[record->member] + before;
}

static void pass_instance(struct coll_replay *r, const struct coll_instance *instance)
{
    double last = -INFINITY;
    for (size_t i = 0; i < instance->n; i++) {
        const struct coll_record *record = &r->run->records[r->run->entries[instance->first + i]];
        r->arrivals[i] = arrive(r, record);
        last = fmax(last, r->arrivals[i]);
    }
    const double leave = last + (r->change->no_transfer ? 0 : (double)instance->transfer);
    for (size_t i = 0; i < instance->n; i++) {
        const struct coll_record *record = &r->run->records[r->run->entries[instance->first + i]];
        const double hidden = (double)coll_parts_of(r->run, record).hidden;
        r->now[record->member] = fmax(leave, r->arrivals[i] + hidden);
    }
}

double coll_replay_end(struct coll_replay *r, const struct coll_change *change)
{
    double end = -INFINITY;
    r->change = change;
    for (size_t i = 0; i < r->run->n_members; i++)
        r->now[i] = NAN;
    for (size_t i = 0; i < r->n; i++) {
        if (r->events[i].instance != COLL_NONE) {
            pass_instance(r, &r->run->instances[r->events[i].instance]);
            continue;
        }
        const struct coll_record *record = &r->run->records[r->events[i].record];
        r->now[record->member] = arrive(r, record) + (double)(record->end - record->start);
    }
    for (size_t i = 0; i < r->run->n_members; i++)
        end = isnan(r->now[i]) ? end : fmax(end, r->now[i]);
    return end;
}

struct coll_replay *coll_replay_open(const struct coll_run *run)
{
    struct coll_replay *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->run = run;
    r->events = calloc(run->n_instances + run->n_records + 1, sizeof *r->events);
    r->now = calloc(run->n_members + 1, sizeof *r->now);
    r->arrivals = calloc(run->n_members + 1, sizeof *r->arrivals);
    if (r->events && r->now && r->arrivals) {
        list_events(r);
        return r;
    }
    coll_replay_close(r);
    return NULL;
}

void coll_replay_close(struct coll_replay *r)
{
    if (!r)
        return;
    free(r->events);
    free(r->now);
    free(r->arrivals);
    free(r);
}
