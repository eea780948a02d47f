/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of several ranks become instances: lane by lane, every rank against the one that has
 * most. */
#include "match.h"

struct matching {
    struct coll_run *run;
    uint32_t *places;
    size_t max_instances, max_places;
};

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

static bool add_instances(struct matching *m, const struct sequence *base)
{
    struct coll_run *run = m->run;
    for (size_t i = 0; i < base->n; i++) {
        if (run->n_instances >= COLL_NONE - 1 ||
            !coll_grow(&run->instances, &m->max_instances, run->n_instances,
                       sizeof *run->instances))
            return false;
        run->instances[run->n_instances++] = (struct coll_instance){
            .shape = run->records[base->at[i]].shape, .last = COLL_NONE, .transfer = TA_MISSING};
    }
    if (m->max_places < base->n) {
        free(m->places);
        m->places = calloc(base->n, sizeof *m->places);
        m->max_places = m->places ? base->n : 0;
    }
    return m->places != NULL;
}

static bool match_lane(struct matching *m, const struct coll_lane *lane)
{
    struct coll_run *run = m->run;
    const struct sequence base = longest(run, lane);
    const size_t first_instance = run->n_instances;
    if (!add_instances(m, &base))
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
    for (size_t i = 0; done && i < run->n_lanes; i++)
        if (run->lanes[i].n && !run->lanes[i].between_two) /* none: of a pack that is damaged */
            done = match_lane(&m, &run->lanes[i]);
    free(m.places);
    return done && place_entries(run);
}
