/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which send of one rank is which receive of another: of all that go from one rank to another the
 * n-th is the n-th, or, where one of them lacks some, the one whose end keeps its distance
 * (sequence.c).  Records that do not name the other end stay by themselves. */
#include "match.h"

/* A record of a transfer and who sends it to whom. */
struct end {
    int64_t from, to;
    bool receives;
    uint32_t record;
};

static int by_way(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->receives != b->receives)
        return a->receives - b->receives;
    return (a->record > b->record) - (a->record < b->record);
}

/* The transfers of a lane that name the other end; returns how many. */
static size_t list_ends(const struct coll_run *run, const struct coll_lane *lane, struct end *ends)
{
    size_t n = 0;
    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        const struct coll_record *record = &run->records[run->order[i]];
        const struct coll_shape *shape = &run->shapes[record->shape];
        const int64_t rank = run->members[record->member].rank;
        const bool receives = shape->kind == COLL_RECV;
        if (shape->peer == TA_MISSING || shape->peer == rank || rank == TA_MISSING)
            continue;
        ends[n++] = (struct end){receives ? shape->peer : rank, receives ? rank : shape->peer,
                                 receives, run->order[i]};
    }
    if (n)
        qsort(ends, n, sizeof *ends, by_way);
    return n;
}

/* `ends` are those of one way, sends first; `at` takes their records. */
static bool match_way(struct matching *m, const struct end *ends, size_t n, uint32_t *at)
{
    struct coll_run *run = m->run;
    size_t sends = 0;
    while (sends < n && !ends[sends].receives)
        sends++;
    if (sends == 0 || sends == n)
        return true; /* the other rank was not read */
    for (size_t i = 0; i < n; i++)
        at[i] = ends[i].record;
    const struct sequence sent = {run, at, sends}, received = {run, at + sends, n - sends};
    if (!match_reserve(m, received.n) || !sequence_align(&sent, &received, m->places))
        return false;
    for (size_t i = 0; i < received.n; i++) {
        if (m->places[i] == COLL_NONE) {
            run->n_unmatched++;
            continue;
        }
        const uint32_t from = sent.at[m->places[i]];
        if (!match_add(m, from, (int64_t)m->places[i]))
            return false;
        run->records[from].instance = run->records[received.at[i]].instance =
            (uint32_t)run->n_instances - 1;
    }
    return true;
}

bool match_pairs(struct matching *m, const struct coll_lane *lane)
{
    struct end *ends = calloc(lane->n + 1, sizeof *ends);
    uint32_t *at = calloc(lane->n + 1, sizeof *at);
    bool done = ends && at;
    const size_t n = done ? list_ends(m->run, lane, ends) : 0;
    for (size_t from = 0, to; done && from < n; from = to) {
        for (to = from + 1;
             to < n && ends[to].from == ends[from].from && ends[to].to == ends[from].to;)
            to++;
        done = match_way(m, ends + from, to - from, at);
    }
    free(ends);
    free(at);
    return done;
}
