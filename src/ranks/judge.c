/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank is late when three things come together: it takes more time of its own than its peers do
 * by their spread, it takes at least 2 % more, and it is the one that takes longest more often than
 * chance would have it.  Each by itself is common among ranks that are all alike: some member of 4
 * to 16 passes the first in 6 to 8 % of runs. */
#include "ranks/stage.h"

#include "stat/sample.h"

#include <math.h>

static const double Z_MOST = 3.5;        /* from Z_FROM ranks on */
static const double EXCESS_OF_FEW = 0.1; /* of fewer ranks */
static const double EXCESS_LEAST = 0.02;
static const double CHANCE_MOST = 0.05;

enum { Z_FROM = 5 };

/* ---- sums ----------------------------------------------------------------------------------- */

static bool number_ranks(const struct ta_ranks *ranks, struct ta_lateness *lateness)
{
    lateness->at = calloc(ranks->n_members + 1, sizeof *lateness->at);
    lateness->of = calloc(ranks->n_members + 1, sizeof *lateness->of);
    if (!lateness->at || !lateness->of)
        return false;
    for (size_t i = 0; i < ranks->n_members; i++) {
        const struct ta_rank_member *member = &ranks->members[i];
        if (i == 0 || member->rank != ranks->members[i - 1].rank)
            lateness->at[lateness->n++] =
                (struct ta_late_rank){.rank = member->rank, .axis = member->clock.axis};
        lateness->of[i] = (uint32_t)lateness->n - 1;
    }
    return true;
}

static void add_record(const struct ta_ranks *ranks, uint32_t index, struct ta_late_rank *to)
{
    const struct ta_coll_record *record = &ranks->records[index];
    const struct ta_collective *collective = ta_coll_synchronizing(ranks, index);
    if (ranks->excess[index] != TA_MISSING) {
        to->own_excess += (double)ranks->excess[index];
        to->reference += (double)record->before - (double)ranks->excess[index];
    }
    if (!collective)
        return;
    const int64_t lateness = record->start - collective->first_start;
    to->n++;
    to->last += collective->last == index && !collective->is_simultaneous;
    to->lateness += (double)lateness;
    to->most = ta_max_i64(to->most, lateness);
    to->wait = ta_add_sat(to->wait, ta_coll_wait(collective, record));
    to->own = ta_add_sat(to->own, record->before);
    to->host_late = ta_add_sat(to->host_late, ta_coll_parts(ranks, record).host_late);
}

/* The last one holds up the others until the second last had come, at most by what it takes more
 * than the typical rank. */
static void add_collective(const struct ta_ranks *ranks, const struct ta_collective *collective,
                           struct ta_lateness *lateness, double *befores)
{
    if (!collective->is_synchronizing || collective->is_simultaneous)
        return;
    const struct ta_coll_record *last = &ranks->records[collective->last];
    int64_t second = INT64_MIN;
    size_t n = 0;
    for (size_t i = 0; i < collective->n; i++) {
        const uint32_t entry = ranks->entries[collective->first + i];
        if (entry == collective->last || !ta_coll_synchronizing(ranks, entry) ||
            ta_coll_is_before(ranks, &ranks->records[entry]))
            continue;
        second = ta_max_i64(second, ranks->records[entry].start);
        befores[n++] = (double)ranks->records[entry].before;
    }
    if (n == 0) /* all had come before its recording began */
        return;
    ta_sort_numbers(befores, n);
    const double excess = (double)last->before - ta_quantile(befores, n, 0.5);
    const double gap = (double)(last->start - second);
    struct ta_late_rank *rank = &lateness->at[lateness->of[last->member]];
    rank->held_up = ta_add_sat(rank->held_up, ta_whole(fmax(0, fmin(gap, excess))));
}

/* ---- the verdict ---------------------------------------------------------------------------- */

static bool has_peers(const struct ta_late_rank *rank)
{
    return rank->reference > 0;
}

static void pass_verdict(struct ta_lateness *lateness, double *sorted)
{
    size_t n = 0;
    for (size_t i = 0; i < lateness->n; i++)
        if (has_peers(&lateness->at[i]))
            sorted[n++] = lateness->at[i].excess =
                lateness->at[i].own_excess / lateness->at[i].reference;
    ta_sort_numbers(sorted, n);
    for (size_t i = 0; i < lateness->n; i++) {
        struct ta_late_rank *rank = &lateness->at[i];
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

bool judge_ranks(const struct ta_ranks *ranks, struct ta_lateness *lateness)
{
    *lateness = (struct ta_lateness){0};
    double *work = calloc(ranks->n_members + 1, sizeof *work);
    double *sorted = calloc(ranks->n_members + 1, sizeof *sorted);
    bool done = work && sorted && number_ranks(ranks, lateness);
    for (uint32_t i = 0; done && i < ranks->n_records; i++)
        add_record(ranks, i, &lateness->at[lateness->of[ranks->records[i].member]]);
    for (size_t i = 0; done && i < ranks->n_collectives; i++)
        add_collective(ranks, &ranks->collectives[i], lateness, work);
    if ((done = done && lateness_weigh(ranks, lateness)))
        pass_verdict(lateness, sorted);
    done = done && lateness_date(ranks, lateness) && lateness_cost(ranks, lateness);
    free(work);
    free(sorted);
    return done;
}
