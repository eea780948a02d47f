/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who came last to each collective, and how long the transfer took from then on (Wait at N×N of
 * Scalasca).  A rank waits from its own start to the start of the last one; from there to the
 * median of the ends data moves. */
#include "ranks/stage.h"
#include "stat/interval.h"

#include <math.h>

/* Whether the clock of a record's member is on an axis with others. */
static bool is_placed(const struct ta_ranks *ranks, const struct ta_coll_record *record)
{
    const enum ta_clock_state state = ranks->members[record->member].clock.state;
    return state == TA_CLOCK_REFERENCE || state == TA_CLOCK_OFFSET || state == TA_CLOCK_DRIFT;
}

const struct ta_collective *ta_coll_synchronizing(const struct ta_ranks *ranks, uint32_t record)
{
    const struct ta_coll_record *of = &ranks->records[record];
    if (of->collective == TA_COLL_NONE || !ranks->collectives[of->collective].is_synchronizing ||
        !is_placed(ranks, of))
        return NULL;
    return &ranks->collectives[of->collective];
}

const struct ta_collective *ta_coll_with_waits(const struct ta_ranks *ranks, uint32_t record)
{
    const struct ta_coll_record *of = &ranks->records[record];
    if (of->collective == TA_COLL_NONE ||
        ranks->collectives[of->collective].transfer == TA_MISSING || !is_placed(ranks, of))
        return NULL;
    return &ranks->collectives[of->collective];
}

/* Whether waiting can be told from transfer: nearly all data comes from, and goes to, all.  Of two
 * the one that sends may be gone before the other comes, if the data fits in a buffer. */
static bool has_waits(const struct ta_ranks *ranks, const struct ta_collective *collective)
{
    const enum ta_coll_kind kind = ranks->shapes[collective->shape].kind;
    bool together = ta_coll_is_between_two(kind) && collective->n_placed == 2;
    for (size_t i = 0; together && i < collective->n; i++)
        together =
            ranks->records[ranks->entries[collective->first + i]].end >= collective->last_start;
    return together || ta_coll_synchronizes(kind) || kind == TA_COLL_ALL_TO_ALLV;
}

/* The transfer is one of all ranks; where most of the group were not read it is not known who
 * came last. */
static bool is_mostly_there(const struct ta_ranks *ranks, const struct ta_collective *collective)
{
    const struct ta_coll_shape *shape = &ranks->shapes[collective->shape];
    const int64_t size = ta_coll_is_between_two(shape->kind) ? 2 : shape->size;
    return collective->n_placed > 1 &&
           (size == TA_MISSING || (int64_t)collective->n_placed * 2 >= size);
}

static void note_arrival(struct ta_ranks *ranks, struct ta_collective *collective, uint32_t entry,
                         double *uncertainty)
{
    const struct ta_coll_record *record = &ranks->records[entry];
    *uncertainty = fmax(*uncertainty, ranks->members[record->member].clock.uncertainty);
    if (collective->n_placed++ == 0) {
        collective->first_start = collective->last_start = record->start;
        collective->last = entry;
    }
    collective->first_start = ta_min_i64(collective->first_start, record->start);
    if (record->start > collective->last_start) {
        collective->last_start = record->start;
        collective->last = entry;
    }
}

static int64_t median_of(int64_t *ends, size_t n)
{
    ta_sort_times(ends, n);
    return n % 2 ? ends[n / 2] : ends[n / 2 - 1] + (ends[n / 2] - ends[n / 2 - 1]) / 2;
}

static void arrive(struct ta_ranks *ranks, struct ta_collective *collective, int64_t *ends)
{
    double uncertainty = 0;
    for (size_t i = 0; i < collective->n; i++) {
        const uint32_t entry = ranks->entries[collective->first + i];
        if (!is_placed(ranks, &ranks->records[entry]))
            continue;
        ends[collective->n_placed] = ranks->records[entry].end;
        note_arrival(ranks, collective, entry, &uncertainty);
    }
    if (collective->n_placed < 2)
        return;
    collective->median_end = median_of(ends, collective->n_placed);
    collective->uncertainty = ta_whole(uncertainty);
    collective->is_simultaneous =
        (double)(collective->last_start - collective->first_start) < 2 * uncertainty ||
        collective->last_start == collective->first_start;
    collective->is_synchronizing = ta_coll_synchronizes(ranks->shapes[collective->shape].kind);
    if (has_waits(ranks, collective) && is_mostly_there(ranks, collective))
        collective->transfer = ta_max_i64(collective->median_end - collective->last_start, 0);
}

int64_t ta_coll_wait(const struct ta_collective *collective, const struct ta_coll_record *record)
{
    const int64_t wait = collective->last_start - record->start;
    return ta_max_i64(0, ta_min_i64(wait, record->end - record->start));
}

bool ta_coll_is_before(const struct ta_ranks *ranks, const struct ta_coll_record *record)
{
    const struct ta_rank_member *member = &ranks->members[record->member];
    if (record->start < member->began)
        return true;
    if (record->collective == TA_COLL_NONE || !is_placed(ranks, record))
        return false;
    const struct ta_collective *collective = &ranks->collectives[record->collective];
    if (collective->last == TA_COLL_NONE)
        return false;
    const struct ta_rank_member *last = &ranks->members[ranks->records[collective->last].member];
    const bool is_first =
        record == &ranks->records[member->first] && collective->last == last->first;
    return record->start < last->began ||
           (is_first && last->began - member->began > ta_coll_wait(collective, record) / 2);
}

bool find_arrivals(struct ta_ranks *ranks)
{
    int64_t *ends = calloc(ranks->n_members + 1, sizeof *ends);
    for (size_t i = 0; ends && i < ranks->n_collectives; i++)
        arrive(ranks, &ranks->collectives[i], ends);
    free(ends);
    return ends != NULL;
}
