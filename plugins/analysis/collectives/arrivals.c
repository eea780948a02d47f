/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who came last to each collective, and how long the transfer took from then on (Wait at N×N of
 * Scalasca).  A rank waits from its start to that of the last one; from there to the median of the
 * ends data moves. */
#include "collectives.h"

#include <math.h>

/* Whether the clock of a record's member is on an axis with others. */
static bool is_placed(const struct coll_run *run, const struct coll_record *record)
{
    const enum coll_clock_state state = run->members[record->member].clock.state;
    return state == COLL_CLOCK_REFERENCE || state == COLL_CLOCK_OFFSET || state == COLL_CLOCK_DRIFT;
}

const struct coll_instance *coll_telling(const struct coll_run *run, uint32_t record)
{
    const struct coll_record *of = &run->records[record];
    if (of->instance == COLL_NONE || !run->instances[of->instance].is_telling ||
        !is_placed(run, of))
        return NULL;
    return &run->instances[of->instance];
}

const struct coll_instance *coll_waits(const struct coll_run *run, uint32_t record)
{
    const struct coll_record *of = &run->records[record];
    if (of->instance == COLL_NONE || run->instances[of->instance].transfer == TA_MISSING ||
        !is_placed(run, of))
        return NULL;
    return &run->instances[of->instance];
}

/* Whether waiting can be told from transfer: nearly all data comes from, and goes to, all.  Of two
 * the one that sends may be gone before the other comes, if the data fits in a buffer. */
static bool has_waits(const struct coll_run *run, const struct coll_instance *instance)
{
    const enum coll_kind kind = run->shapes[instance->shape].kind;
    bool together = coll_is_between_two(kind) && instance->n_placed == 2;
    for (size_t i = 0; together && i < instance->n; i++)
        together = run->records[run->entries[instance->first + i]].end >= instance->last_start;
    return together || coll_is_even(kind) || kind == COLL_ALL_TO_ALLV;
}

/* The transfer is that of all ranks; where most of the group are not there it is not known who
 * came last. */
static bool is_mostly_there(const struct coll_run *run, const struct coll_instance *instance)
{
    const struct coll_shape *shape = &run->shapes[instance->shape];
    const int64_t size = coll_is_between_two(shape->kind) ? 2 : shape->size;
    return instance->n_placed > 1 &&
           (size == TA_MISSING || (int64_t)instance->n_placed * 2 >= size);
}

static void note_arrival(struct coll_run *run, struct coll_instance *instance, uint32_t entry,
                         double *uncertainty)
{
    const struct coll_record *record = &run->records[entry];
    *uncertainty = fmax(*uncertainty, run->members[record->member].clock.uncertainty);
    if (instance->n_placed++ == 0) {
        instance->first_start = instance->last_start = record->start;
        instance->last = entry;
    }
    instance->first_start = ta_min_i64(instance->first_start, record->start);
    if (record->start > instance->last_start) {
        instance->last_start = record->start;
        instance->last = entry;
    }
}

static int64_t median_of(int64_t *ends, size_t n)
{
    ta_sort_times(ends, n);
    return n % 2 ? ends[n / 2] : ends[n / 2 - 1] + (ends[n / 2] - ends[n / 2 - 1]) / 2;
}

static void arrive(struct coll_run *run, struct coll_instance *instance, int64_t *ends)
{
    double uncertainty = 0;
    for (size_t i = 0; i < instance->n; i++) {
        const uint32_t entry = run->entries[instance->first + i];
        if (!is_placed(run, &run->records[entry]))
            continue;
        ends[instance->n_placed] = run->records[entry].end;
        note_arrival(run, instance, entry, &uncertainty);
    }
    if (instance->n_placed < 2)
        return;
    instance->median_end = median_of(ends, instance->n_placed);
    instance->uncertainty = ta_whole(uncertainty);
    instance->is_tie = (double)(instance->last_start - instance->first_start) < 2 * uncertainty ||
                       instance->last_start == instance->first_start;
    instance->is_telling = coll_is_even(run->shapes[instance->shape].kind);
    if (has_waits(run, instance) && is_mostly_there(run, instance))
        instance->transfer = ta_max_i64(instance->median_end - instance->last_start, 0);
}

int64_t coll_wait_of(const struct coll_instance *instance, const struct coll_record *record)
{
    const int64_t wait = instance->last_start - record->start;
    return ta_max_i64(0, ta_min_i64(wait, record->end - record->start));
}

bool coll_arrive(struct coll_run *run)
{
    int64_t *ends = calloc(run->n_members + 1, sizeof *ends);
    for (size_t i = 0; ends && i < run->n_instances; i++)
        arrive(run, &run->instances[i], ends);
    free(ends);
    return ends != NULL;
}
