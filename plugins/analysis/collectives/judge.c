/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rank is late when three things come together: it takes more time of its own than the others do
 * by their spread, it takes at least 2 % more, and it is the last one to come more often than
 * chance would have it.  Each by itself is common among ranks that are all alike: some member of 4
 * to 16 passes the first in 6 to 8 % of runs. */
#include "judge.h"

#include <traceanalyze/stat_sample.h>
#include <traceanalyze/stat_series.h>

#include <math.h>

static const double Z_MOST = 3.5;        /* from Z_FROM ranks on */
static const double EXCESS_OF_FEW = 0.1; /* of fewer ranks */
static const double EXCESS_LEAST = 0.02;
static const double CHANCE_MOST = 0.05;
static const double LONG_SHARE = 0.9; /* of all waiting for the last one, by the longest waits */

enum { Z_FROM = 5, SERIES_LEAST = 12 };

/* ---- sums -------------------------------------------------------------------------------------
 */

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
    struct coll_detail detail;
    if (!instance)
        return;
    const int64_t lateness = record->start - instance->first_start;
    coll_detail_of(run, record, &detail);
    to->n++;
    to->last += instance->last == index && !instance->is_tie;
    to->chance += 1 / (double)instance->n_placed;
    to->lateness += (double)lateness;
    to->most = ta_max_i64(to->most, lateness);
    to->wait = ta_add_sat(to->wait, coll_wait_of(instance, record));
    to->own = ta_add_sat(to->own, record->before);
    to->host_late = ta_add_sat(to->host_late, detail.host_late);
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
    rank->held_up = ta_add_sat(rank->held_up, (int64_t)fmax(0, fmin(gap, excess)));
}

/* From the second last one to the last; negative where nobody waited for anyone. */
static double wait_for_last(const struct coll_run *run, const struct coll_instance *instance)
{
    int64_t second = INT64_MIN;
    if (!instance->is_telling || instance->is_tie)
        return -1;
    for (size_t i = 0; i < instance->n; i++) {
        const uint32_t entry = run->entries[instance->first + i];
        if (entry != instance->last && coll_telling(run, entry))
            second = ta_max_i64(second, run->records[entry].start);
    }
    return second == INT64_MIN ? -1 : (double)(run->records[instance->last].start - second);
}

static void add_long_wait(const struct coll_run *run, const struct coll_instance *instance,
                          struct coll_ranks *ranks)
{
    for (size_t i = 0; i < instance->n; i++) {
        const uint32_t entry = run->entries[instance->first + i];
        if (!coll_telling(run, entry))
            continue;
        struct coll_rank *rank = &ranks->at[ranks->of[run->records[entry].member]];
        rank->n_long++;
        rank->last_long += entry == instance->last;
        rank->chance_long += 1 / (double)instance->n_placed;
    }
}

/* The shortest of the longest waits that make up LONG_SHARE of all. */
static double least_long(const double *sorted, size_t n)
{
    double all = 0, longest = 0;
    for (size_t i = 0; i < n; i++)
        all += sorted[i];
    while (n > 0 && longest < LONG_SHARE * all)
        longest += sorted[--n];
    return all > 0 ? sorted[n] : INFINITY;
}

/* A rank that is late once per step is the last one of few collectives, but of those that wait. */
static bool add_long_waits(const struct coll_run *run, struct coll_ranks *ranks)
{
    double *waits = calloc(run->n_instances + 1, sizeof *waits);
    size_t n = 0;
    if (!waits)
        return false;
    for (size_t i = 0; i < run->n_instances; i++) {
        const double wait = wait_for_last(run, &run->instances[i]);
        if (wait >= 0)
            waits[n++] = wait;
    }
    ta_sort_numbers(waits, n);
    const double least = least_long(waits, n);
    for (size_t i = 0; i < run->n_instances; i++)
        if (wait_for_last(run, &run->instances[i]) >= least)
            add_long_wait(run, &run->instances[i], ranks);
    free(waits);
    return true;
}

/* ---- the verdict ------------------------------------------------------------------------------
 */

static double own_of(const struct coll_rank *rank)
{
    return (double)rank->own / (double)rank->n;
}

/* P(Bin(n, p) >= k). */
static double upper_tail(int64_t n, double p, int64_t k)
{
    double tail = 0;
    if (k <= 0 || p >= 1)
        return 1;
    for (int64_t i = k; i <= n; i++) {
        const double term =
            exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                (double)i * log(p) + (double)(n - i) * log1p(-p));
        tail += term;
        if (term < tail * 1e-17)
            break; /* terms only fall beyond the mean */
    }
    return fmin(tail, 1);
}

static void compare(struct coll_rank *rank, const double *sorted, size_t n, double *others)
{
    const double own = own_of(rank);
    size_t n_others = 0;
    bool left_out = false;
    for (size_t i = 0; i < n; i++)
        if (!left_out && sorted[i] == own)
            left_out = true;
        else
            others[n_others++] = sorted[i];
    rank->excess = own / ta_quantile(others, n_others, 0.5) - 1;
    rank->z = NAN;
    if (n >= Z_FROM)
        ta_modified_z(sorted, n, &own, 1, &rank->z);
    const double of_all = upper_tail(rank->n, rank->chance / (double)rank->n, rank->last);
    const double of_long =
        upper_tail(rank->n_long, rank->chance_long / (double)rank->n_long, rank->last_long);
    rank->p = fmin(1, 2 * fmin(of_all, of_long) * (double)n);
    const bool stands_out = n >= Z_FROM ? rank->z > Z_MOST : n > 1 && rank->excess > EXCESS_OF_FEW;
    rank->is_late = stands_out && rank->excess >= EXCESS_LEAST && rank->p < CHANCE_MOST;
}

/* Ranks of one axis are compared with each other. */
static void compare_axis(struct coll_ranks *ranks, uint32_t axis, double *sorted, double *others)
{
    size_t n = 0;
    for (size_t i = 0; i < ranks->n; i++)
        if (ranks->at[i].axis == axis && ranks->at[i].n > 0)
            sorted[n++] = own_of(&ranks->at[i]);
    ta_sort_numbers(sorted, n);
    for (size_t i = 0; i < ranks->n; i++)
        if (ranks->at[i].axis == axis && ranks->at[i].n > 0)
            compare(&ranks->at[i], sorted, n, others);
}

/* ---- since when -------------------------------------------------------------------------------
 */

struct series {
    double *excess; /* own time less the median of the others, per collective */
    uint32_t *records;
    size_t n;
};

static void collect_series(const struct coll_run *run, const struct coll_ranks *ranks,
                           uint32_t rank, struct series *series, double *befores)
{
    series->n = 0;
    for (uint32_t r = 0; r < run->n_records; r++) {
        const struct coll_instance *instance =
            ranks->of[run->records[r].member] == rank ? coll_telling(run, r) : NULL;
        size_t n = 0;
        if (!instance)
            continue;
        for (size_t i = 0; i < instance->n; i++) {
            const uint32_t entry = run->entries[instance->first + i];
            if (entry != r && coll_telling(run, entry))
                befores[n++] = (double)run->records[entry].before;
        }
        ta_sort_numbers(befores, n);
        series->records[series->n] = r;
        series->excess[series->n++] = (double)run->records[r].before - ta_quantile(befores, n, 0.5);
    }
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* A rank is late from the start unless its excess before some change is less than a quarter of that
 * behind it. */
static bool find_since(const struct coll_run *run, struct coll_rank *rank,
                       const struct series *series)
{
    struct ta_changes changes = {0};
    rank->from_start = true;
    rank->since_step = -1;
    if (series->n < SERIES_LEAST)
        return true;
    if (!ta_change_points(series->excess, series->n, &changes))
        return false;
    for (size_t i = 0; i < changes.n && rank->from_start; i++) {
        const size_t at = changes.at[i];
        const double before = mean_of(series->excess, at);
        const double behind = mean_of(series->excess + at, series->n - at);
        if (behind <= 0 || before > behind / 4)
            continue;
        const struct coll_record *first = &run->records[series->records[at]];
        rank->from_start = false;
        rank->since_ns = first->start - run->records[series->records[0]].start;
        rank->since_step = first->step;
    }
    free(changes.at);
    return true;
}

static bool date_late(const struct coll_run *run, struct coll_ranks *ranks, double *befores)
{
    struct series series = {calloc(run->n_records + 1, sizeof *series.excess),
                            calloc(run->n_records + 1, sizeof *series.records), 0};
    bool done = series.excess && series.records;
    for (uint32_t i = 0; done && i < ranks->n; i++) {
        if (!ranks->at[i].is_late)
            continue;
        collect_series(run, ranks, i, &series, befores);
        done = find_since(run, &ranks->at[i], &series);
    }
    free(series.excess);
    free(series.records);
    return done;
}

/* ---- all --------------------------------------------------------------------------------------
 */

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
    done = done && add_long_waits(run, ranks);
    for (uint32_t axis = 0; done && axis < run->n_axes; axis++)
        compare_axis(ranks, axis, sorted, work);
    done = done && date_late(run, ranks, work);
    free(work);
    free(sorted);
    return done;
}

void coll_ranks_free(struct coll_ranks *ranks)
{
    free(ranks->at);
    free(ranks->of);
}
