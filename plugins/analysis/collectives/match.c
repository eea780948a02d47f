/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of several ranks become instances, lane by lane: by their numbers in the sequence of the
 * group where all records have them, else every rank against the one that has most.  Transfers
 * between two are matched by who sends to whom (pairs.c). */
#include "match.h"

/* The records of one member in a lane from `first` on. */
static struct sequence sequence_at(const struct coll_run *run, const struct coll_lane *lane,
                                   size_t first)
{
    const uint32_t member = run->records[run->order[first]].member;
    size_t end = first;
    while (end < lane->first + lane->n && run->records[run->order[end]].member == member)
        end++;
    return (struct sequence){run, run->order + first, end - first};
}

static struct sequence longest(const struct coll_run *run, const struct coll_lane *lane)
{
    struct sequence best = {run, NULL, 0};
    for (size_t first = lane->first; first < lane->first + lane->n;) {
        const struct sequence s = sequence_at(run, lane, first);
        if (s.n > best.n)
            best = s;
        first += s.n;
    }
    return best;
}

bool match_add(struct matching *m, uint32_t record, int64_t place)
{
    struct coll_run *run = m->run;
    if (run->n_instances >= COLL_NONE - 1 ||
        !coll_grow(&run->instances, &m->max_instances, run->n_instances, sizeof *run->instances))
        return false;
    run->instances[run->n_instances++] = (struct coll_instance){.shape = run->records[record].shape,
                                                                .place = place,
                                                                .last = COLL_NONE,
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

/* Whether the numbers of every member rise from record to record, as those of a sequence do.  They
 * do not where several calls are one (coalesced), or where a rank has two files. */
static bool are_numbered(const struct coll_run *run, const struct coll_lane *lane)
{
    if (run->groups[lane->group].name.len == 0 && run->groups[lane->group].ranks.len == 0)
        return false;
    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        const struct coll_record *record = &run->records[run->order[i]];
        const struct coll_record *before =
            i > lane->first ? &run->records[run->order[i - 1]] : NULL;
        if (record->seq < 0 ||
            (before && before->member == record->member && before->seq >= record->seq))
            return false;
    }
    return true;
}

static int by_number(const void *left, const void *right, void *user)
{
    const struct coll_run *run = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int32_t x = run->records[a].seq, y = run->records[b].seq;
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

static uint32_t token_of(const struct coll_run *run, uint32_t record)
{
    return run->shapes[run->records[record].shape].token;
}

/* Of records with one number the one whose shape most of them have. */
static uint32_t commonest(const struct coll_run *run, const uint32_t *at, size_t n)
{
    uint32_t best = at[0];
    size_t most = 0;
    for (size_t i = 0; i < n && most <= n / 2; i++) {
        size_t same = 0;
        for (size_t j = 0; j < n; j++)
            same += token_of(run, at[j]) == token_of(run, at[i]);
        if (same > most) {
            most = same;
            best = at[i];
        }
    }
    return best;
}

/* What has one number and one shape is one collective; where ranks disagree, the few have no
 * partner. */
static bool match_numbers(struct matching *m, const struct coll_lane *lane)
{
    struct coll_run *run = m->run;
    if (!match_reserve(m, lane->n))
        return false;
    memcpy(m->places, run->order + lane->first, lane->n * sizeof *m->places);
    qsort_r(m->places, lane->n, sizeof *m->places, by_number, run);
    for (size_t from = 0, to; from < lane->n; from = to) {
        const int32_t seq = run->records[m->places[from]].seq;
        for (to = from + 1; to < lane->n && run->records[m->places[to]].seq == seq;)
            to++;
        const uint32_t base = commonest(run, m->places + from, to - from);
        if (!match_add(m, base, seq))
            return false;
        for (size_t i = from; i < to; i++)
            if (token_of(run, m->places[i]) == token_of(run, base))
                run->records[m->places[i]].instance = (uint32_t)run->n_instances - 1;
            else
                run->n_unmatched++;
    }
    return true;
}

/* ---- by order ------------------------------------------------------------------------------- */

static bool match_order(struct matching *m, const struct coll_lane *lane)
{
    struct coll_run *run = m->run;
    const struct sequence base = longest(run, lane);
    const size_t first_instance = run->n_instances;
    for (size_t i = 0; i < base.n; i++)
        if (!match_add(m, base.at[i], (int64_t)i))
            return false;
    if (!match_reserve(m, base.n))
        return false;
    for (size_t first = lane->first; first < lane->first + lane->n;) {
        const struct sequence s = sequence_at(run, lane, first);
        if (!sequence_align(&base, &s, m->places))
            return false;
        for (size_t i = 0; i < s.n; i++)
            if (m->places[i] == COLL_NONE)
                run->n_unmatched++;
            else
                run->records[s.at[i]].instance = (uint32_t)first_instance + m->places[i];
        first += s.n;
    }
    return true;
}

/* The records of each instance, by member. */
static bool place_entries(struct coll_run *run)
{
    run->entries = reallocarray(NULL, run->n_records + 1, sizeof *run->entries);
    if (!run->entries)
        return false;
    for (size_t i = 0; i < run->n_records; i++)
        if (run->records[i].instance != COLL_NONE)
            run->instances[run->records[i].instance].n++;
    size_t first = 0;
    for (size_t i = 0; i < run->n_instances; i++) {
        run->instances[i].first = first;
        first += run->instances[i].n;
        run->instances[i].n = 0;
    }
    for (size_t i = 0; i < run->n_records; i++) {
        if (run->records[i].instance == COLL_NONE)
            continue;
        struct coll_instance *instance = &run->instances[run->records[i].instance];
        run->entries[instance->first + instance->n++] = (uint32_t)i;
    }
    return true;
}

bool coll_match(struct coll_run *run)
{
    struct matching m = {.run = run};
    bool done = true;
    for (size_t i = 0; done && i < run->n_lanes; i++) {
        const struct coll_lane *lane = &run->lanes[i];
        if (lane->n) /* none: of a pack that is damaged */
            done = lane->between_two         ? match_pairs(&m, lane)
                   : are_numbered(run, lane) ? match_numbers(&m, lane)
                                             : match_order(&m, lane);
    }
    free(m.places);
    return done && place_entries(run);
}
