/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which send of one rank is which receive of another: of all that go from one rank to another the
 * n-th is the n-th, or, where one of them lacks some, the one whose end keeps its distance
 * (sequence.c).  Records that do not name the other end stay by themselves. */
#include "ranks/match.h"

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

/* The transfers of a communicator that name the other end; returns how many. */
static size_t list_ends(const struct ta_ranks *ranks, const struct ta_communicator *comm,
                        struct end *ends)
{
    size_t n = 0;
    for (size_t i = comm->first; i < comm->first + comm->n; i++) {
        const struct ta_coll_record *record = &ranks->records[ranks->order[i]];
        const struct ta_coll_shape *shape = &ranks->shapes[record->shape];
        const int64_t rank = ranks->members[record->member].rank;
        const bool receives = shape->kind == TA_COLL_RECV;
        if (shape->peer == TA_MISSING || shape->peer == rank || rank == TA_MISSING)
            continue;
        ends[n++] = (struct end){receives ? shape->peer : rank, receives ? rank : shape->peer,
                                 receives, ranks->order[i]};
    }
    if (n)
        qsort(ends, n, sizeof *ends, by_way);
    return n;
}

/* `ends` are all of one way, sends first; `at` takes their records. */
static bool match_way(struct matching *m, const struct end *ends, size_t n, uint32_t *at)
{
    struct ta_ranks *ranks = m->ranks;
    size_t sends = 0;
    while (sends < n && !ends[sends].receives)
        sends++;
    if (sends == 0 || sends == n)
        return true; /* the other rank was not read */
    for (size_t i = 0; i < n; i++)
        at[i] = ends[i].record;
    const struct sequence sent = {ranks, at, sends}, received = {ranks, at + sends, n - sends};
    if (!match_reserve(m, received.n) || !sequence_align(&sent, &received, m->places))
        return false;
    for (size_t i = 0; i < received.n; i++) {
        if (m->places[i] == TA_COLL_NONE) {
            ranks->n_unmatched++;
            continue;
        }
        const uint32_t from = sent.at[m->places[i]];
        if (!match_add(m, from, (int64_t)m->places[i]))
            return false;
        ranks->records[from].collective = ranks->records[received.at[i]].collective =
            (uint32_t)ranks->n_collectives - 1;
    }
    return true;
}

bool match_pairs(struct matching *m, const struct ta_communicator *comm)
{
    struct end *ends = calloc(comm->n + 1, sizeof *ends);
    uint32_t *at = calloc(comm->n + 1, sizeof *at);
    bool done = ends && at;
    const size_t n = done ? list_ends(m->ranks, comm, ends) : 0;
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
