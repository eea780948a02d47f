/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of several ranks become collectives, communicator by communicator: by their numbers in
 * the sequence of the group where all records have them, else every rank against the one that has
 * most.  Transfers between two are matched by who sends to whom (pairs.c). */
#include "ranks/match.h"

/* The records of one member in a communicator from `first` on. */
static struct sequence sequence_at(const struct ta_ranks *ranks, const struct ta_communicator *comm,
                                   size_t first)
{
    const uint32_t member = ranks->records[ranks->order[first]].member;
    size_t end = first;
    while (end < comm->first + comm->n && ranks->records[ranks->order[end]].member == member)
        end++;
    return (struct sequence){ranks, ranks->order + first, end - first};
}

static struct sequence longest(const struct ta_ranks *ranks, const struct ta_communicator *comm)
{
    struct sequence best = {ranks, NULL, 0};
    for (size_t first = comm->first; first < comm->first + comm->n;) {
        const struct sequence s = sequence_at(ranks, comm, first);
        if (s.n > best.n)
            best = s;
        first += s.n;
    }
    return best;
}

bool match_add(struct matching *m, uint32_t record, int64_t place)
{
    struct ta_ranks *ranks = m->ranks;
    if (ranks->n_collectives >= TA_COLL_NONE - 1 ||
        !ta_vec_grow((void **)&ranks->collectives, &m->max_collectives, ranks->n_collectives,
                     sizeof *ranks->collectives))
        return false;
    ranks->collectives[ranks->n_collectives++] =
        (struct ta_collective){.shape = ranks->records[record].shape,
                               .place = place,
                               .last = TA_COLL_NONE,
                               .transfer = TA_MISSING};
    return true;
}

bool match_reserve(struct matching *m, size_t n)
{
    if (m->max_places >= n && m->places)
        return true;
    free(m->places);
    m->places = calloc(n + 1, sizeof *m->places);
    m->max_places = m->places ? n : 0;
    return m->places != NULL;
}

/* ---- by number ------------------------------------------------------------------------------ */

/* Whether the numbers of every member rise from record to record, as numbers of a sequence do. They
 * do not where several calls are one (coalesced), or where a rank has two files. */
static bool are_numbered(const struct ta_ranks *ranks, const struct ta_communicator *comm)
{
    if (ranks->groups[comm->group].name.len == 0 && ranks->groups[comm->group].ranks.len == 0)
        return false;
    for (size_t i = comm->first; i < comm->first + comm->n; i++) {
        const struct ta_coll_record *record = &ranks->records[ranks->order[i]];
        const struct ta_coll_record *before =
            i > comm->first ? &ranks->records[ranks->order[i - 1]] : NULL;
        if (record->seq < 0 ||
            (before && before->member == record->member && before->seq >= record->seq))
            return false;
    }
    return true;
}

static int by_number(const void *left, const void *right, void *user)
{
    const struct ta_ranks *ranks = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int32_t x = ranks->records[a].seq, y = ranks->records[b].seq;
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

static uint32_t token_of(const struct ta_ranks *ranks, uint32_t record)
{
    return ranks->shapes[ranks->records[record].shape].token;
}

/* Of records with one number the one whose shape most of them have. */
static uint32_t commonest(const struct ta_ranks *ranks, const uint32_t *at, size_t n)
{
    uint32_t best = at[0];
    size_t most = 0;
    for (size_t i = 0; i < n && most <= n / 2; i++) {
        size_t same = 0;
        for (size_t j = 0; j < n; j++)
            same += token_of(ranks, at[j]) == token_of(ranks, at[i]);
        if (same > most) {
            most = same;
            best = at[i];
        }
    }
    return best;
}

/* What has one number and one shape is one collective; where ranks disagree, the few have no
 * partner. */
static bool match_numbers(struct matching *m, const struct ta_communicator *comm)
{
    struct ta_ranks *ranks = m->ranks;
    if (!match_reserve(m, comm->n))
        return false;
    memcpy(m->places, ranks->order + comm->first, comm->n * sizeof *m->places);
    qsort_r(m->places, comm->n, sizeof *m->places, by_number, ranks);
    for (size_t from = 0, to; from < comm->n; from = to) {
        const int32_t seq = ranks->records[m->places[from]].seq;
        for (to = from + 1; to < comm->n && ranks->records[m->places[to]].seq == seq;)
            to++;
        const uint32_t base = commonest(ranks, m->places + from, to - from);
        if (!match_add(m, base, seq))
            return false;
        for (size_t i = from; i < to; i++)
            if (token_of(ranks, m->places[i]) == token_of(ranks, base))
                ranks->records[m->places[i]].collective = (uint32_t)ranks->n_collectives - 1;
            else
                ranks->n_unmatched++;
    }
    return true;
}

/* ---- by order ------------------------------------------------------------------------------- */

static bool match_order(struct matching *m, const struct ta_communicator *comm)
{
    struct ta_ranks *ranks = m->ranks;
    const struct sequence base = longest(ranks, comm);
    const size_t first_collective = ranks->n_collectives;
    for (size_t i = 0; i < base.n; i++)
        if (!match_add(m, base.at[i], (int64_t)i))
            return false;
    if (!match_reserve(m, base.n))
        return false;
    for (size_t first = comm->first; first < comm->first + comm->n;) {
        const struct sequence s = sequence_at(ranks, comm, first);
        if (!sequence_align(&base, &s, m->places))
            return false;
        for (size_t i = 0; i < s.n; i++)
            if (m->places[i] == TA_COLL_NONE)
                ranks->n_unmatched++;
            else
                ranks->records[s.at[i]].collective = (uint32_t)first_collective + m->places[i];
        first += s.n;
    }
    return true;
}

/* Whether data is divided evenly is a matter of all ranks. */
static void take_uneven(const struct ta_ranks *ranks, uint32_t shape,
                        struct ta_collective *collective)
{
    if (ranks->shapes[collective->shape].kind == TA_COLL_ALL_TO_ALL &&
        ranks->shapes[shape].kind == TA_COLL_ALL_TO_ALLV)
        collective->shape = shape;
}

/* The records of each collective, by member. */
static bool place_entries(struct ta_ranks *ranks)
{
    ranks->entries = reallocarray(NULL, ranks->n_records + 1, sizeof *ranks->entries);
    if (!ranks->entries)
        return false;
    for (size_t i = 0; i < ranks->n_records; i++)
        if (ranks->records[i].collective != TA_COLL_NONE)
            ranks->collectives[ranks->records[i].collective].n++;
    size_t first = 0;
    for (size_t i = 0; i < ranks->n_collectives; i++) {
        ranks->collectives[i].first = first;
        first += ranks->collectives[i].n;
        ranks->collectives[i].n = 0;
    }
    for (size_t i = 0; i < ranks->n_records; i++) {
        if (ranks->records[i].collective == TA_COLL_NONE)
            continue;
        struct ta_collective *collective = &ranks->collectives[ranks->records[i].collective];
        ranks->entries[collective->first + collective->n++] = (uint32_t)i;
        take_uneven(ranks, ranks->records[i].shape, collective);
    }
    return true;
}

bool match_records(struct ta_ranks *ranks)
{
    struct matching m = {.ranks = ranks};
    bool done = true;
    for (size_t i = 0; done && i < ranks->n_communicators; i++) {
        const struct ta_communicator *comm = &ranks->communicators[i];
        if (comm->n) /* none: of a pack that is damaged */
            done = comm->between_two           ? match_pairs(&m, comm)
                   : are_numbered(ranks, comm) ? match_numbers(&m, comm)
                                               : match_order(&m, comm);
    }
    free(m.places);
    return done && place_entries(ranks);
}
