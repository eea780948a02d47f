/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank is late when three things come together: it takes more time of its own than its peers do
 * by their spread, it takes at least 2 % more, and it is the one that takes longest more often than
 * chance would have it.  Each by itself is common among ranks that are all alike: some member of 4
 * to 16 passes the first in 6 to 8 % of runs. */
#include "judge.h"

#include "stat/sample.h"

#include <math.h>

static const double Z_MOST = 3.5;        /* from Z_FROM ranks on */
static const double EXCESS_OF_FEW = 0.1; /* of fewer ranks */
static const double EXCESS_LEAST = 0.02;
static const double CHANCE_MOST = 0.05;

enum { Z_FROM = 5 };

/* ---- sums ----------------------------------------------------------------------------------- */

static bool number_ranks(const struct coll_run *run, struct coll_ranks *ranks)
{
    ranks->at = calloc(run->n_members + 1, sizeof *ranks->at);
    ranks->of = calloc(run->n_members + 1, sizeof *ranks->of);
    if (!ranks->at || !ranks->of)
        return false;
    for (size_t i = 0; i < run->n_members; i++) {
        const struct coll_member *member = &run->members[i];
        if (i == 0 || member->rank != run->members[i - 1].rank)
            ranks->at[ranks->n++] =
                (struct coll_rank){.rank = member->rank, .axis = member->clock.axis};
        ranks->of[i] = (uint32_t)ranks->n - 1;
    }
    return true;
}

static void add_record(const struct coll_run *run, uint32_t index, struct coll_rank *to)
{
    const struct coll_record *record = &run->records[index];
    const struct coll_instance *instance = coll_telling(run, index);
    if (run->excess[index] != TA_MISSING) {
        to->more += (double)run->excess[index];
        to->usual += (double)record->before - (double)run->excess[index];
    }
    if (!instance)
        return;
    const int64_t lateness = record->start - instance->first_start;
    to->n++;
    to->last += instance->last == index && !instance->is_tie;
    to->lateness += (double)lateness;
    to->most = ta_max_i64(to->most, lateness);
    to->wait = ta_add_sat(to->wait, coll_wait_of(instance, record));
    to->own = ta_add_sat(to->own, record->before);
    to->host_late = ta_add_sat(to->host_late, coll_parts_of(run, record).host_late);
}

/* The last one holds up the others until the second last had come, at most by what it takes more
 * than the typical rank. */
static void add_instance(const struct coll_run *run, const struct coll_instance *instance,
                         struct coll_ranks *ranks, double *befores)
{
    if (!instance->is_telling || instance->is_tie)
        return;
    const struct coll_record *last = &run->records[instance->last];
    int64_t second = INT64_MIN;
    size_t n = 0;
    for (size_t i = 0; i < instance->n; i++) {
        const uint32_t entry = run->entries[instance->first + i];
        if (entry == instance->last || !coll_telling(run, entry))
            continue;
        second = ta_max_i64(second, run->records[entry].start);
        befores[n++] = (double)run->records[entry].before;
    }
    ta_sort_numbers(befores, n);
    const double excess = (double)last->before - ta_quantile(befores, n, 0.5);
    const double gap = (double)(last->start - second);
    struct coll_rank *rank = &ranks->at[ranks->of[last->member]];
    rank->held_up = ta_add_sat(rank->held_up, ta_whole(fmax(0, fmin(gap, excess))));
}

/* ---- the verdict ---------------------------------------------------------------------------- */

static bool has_peers(const struct coll_rank *rank)
{
    return rank->usual > 0;
}

static void pass_verdict(struct coll_ranks *ranks, double *sorted)
{
    size_t n = 0;
    for (size_t i = 0; i < ranks->n; i++)
        if (has_peers(&ranks->at[i]))
            sorted[n++] = ranks->at[i].excess = ranks->at[i].more / ranks->at[i].usual;
    ta_sort_numbers(sorted, n);
    for (size_t i = 0; i < ranks->n; i++) {
        struct coll_rank *rank = &ranks->at[i];
        rank->z = NAN;
        if (!has_peers(rank)) {
            rank->excess = rank->p = NAN;
            continue;
        }
        if (n >= Z_FROM)
            ta_modified_z(sorted, n, &rank->excess, 1, &rank->z);
        rank->p = fmin(1, rank->p * (double)n);
        const bool stands_out = n >= Z_FROM ? rank->z > Z_MOST : rank->excess > EXCESS_OF_FEW;
        rank->is_late = stands_out && rank->excess >= EXCESS_LEAST && rank->p < CHANCE_MOST;
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

bool coll_judge(const struct coll_run *run, struct coll_ranks *ranks)
{
    *ranks = (struct coll_ranks){0};
    double *work = calloc(run->n_members + 1, sizeof *work);
    double *sorted = calloc(run->n_members + 1, sizeof *sorted);
    bool done = work && sorted && number_ranks(run, ranks);
    for (uint32_t i = 0; done && i < run->n_records; i++)
        add_record(run, i, &ranks->at[ranks->of[run->records[i].member]]);
    for (size_t i = 0; done && i < run->n_instances; i++)
        add_instance(run, &run->instances[i], ranks, work);
    if ((done = done && coll_weigh(run, ranks)))
        pass_verdict(ranks, sorted);
    done = done && coll_date(run, ranks) && coll_cost(run, ranks);
    free(work);
    free(sorted);
    return done;
}

void coll_ranks_free(struct coll_ranks *ranks)
{
    free(ranks->at);
    free(ranks->of);
}
