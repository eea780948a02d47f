/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Since when a late rank is late, and what it costs: the run once more, with its own time that of
 * its peers. */
#include "judge.h"
#include "replay.h"
#include "stat/series.h"

#include <math.h>

enum { SERIES_LEAST = 12 };

struct series {
    double *excess;
    uint32_t *records;
    size_t n;
};

static void collect_series(const struct coll_run *run, const struct coll_ranks *ranks,
                           uint32_t rank, struct series *series)
{
    series->n = 0;
    for (uint32_t r = 0; r < run->n_records; r++) {
        if (ranks->of[run->records[r].member] != rank || run->excess[r] == TA_MISSING)
            continue;
        series->records[series->n] = r;
        series->excess[series->n++] = (double)run->excess[r];
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

bool coll_date(const struct coll_run *run, struct coll_ranks *ranks)
{
    struct series series = {calloc(run->n_records + 1, sizeof *series.excess),
                            calloc(run->n_records + 1, sizeof *series.records), 0};
    bool done = series.excess && series.records;
    for (uint32_t i = 0; done && i < ranks->n; i++) {
        if (!ranks->at[i].is_late)
            continue;
        collect_series(run, ranks, i, &series);
        done = find_since(run, &ranks->at[i], &series);
    }
    free(series.excess);
    free(series.records);
    return done;
}

/* ---- cost ----------------------------------------------------------------------------------- */

static bool any_late(const struct coll_ranks *ranks)
{
    for (size_t i = 0; i < ranks->n; i++)
        if (ranks->at[i].is_late)
            return true;
    return false;
}

/* Whether ranks are missing that take part in collectives: more than a record that was lost here
 * and there. */
static bool lacks_ranks(const struct coll_run *run)
{
    size_t lacking = 0, all = 0;
    for (size_t i = 0; i < run->n_instances; i++) {
        const struct coll_shape *shape = &run->shapes[run->instances[i].shape];
        if (coll_is_between_two(shape->kind) || shape->size == TA_MISSING)
            continue;
        all++;
        lacking += (int64_t)run->instances[i].n < shape->size;
    }
    return lacking > all / 20;
}

/* In how many steps of the profiler a rank has collectives. */
static int64_t count_steps(const struct coll_run *run, const struct coll_ranks *ranks,
                           uint32_t rank)
{
    int32_t last = -1;
    int64_t n = 0;
    for (size_t i = 0; i < run->n_records; i++) {
        const int32_t step = run->records[i].step;
        if (ranks->of[run->records[i].member] != rank || step < 0 || step == last)
            continue;
        last = step;
        n++;
    }
    return n;
}

bool coll_cost(const struct coll_run *run, struct coll_ranks *ranks)
{
    if (!any_late(ranks))
        return true;
    struct coll_replay *replay = coll_replay_open(run);
    bool *like_others = calloc(run->n_members + 1, sizeof *like_others);
    const bool done = replay && like_others;
    const bool partly = lacks_ranks(run);
    const double end = done ? coll_replay_end(replay, &(struct coll_change){0}) : 0;
    for (uint32_t i = 0; done && i < ranks->n; i++) {
        if (!ranks->at[i].is_late)
            continue;
        for (size_t m = 0; m < run->n_members; m++)
            like_others[m] = ranks->of[m] == i;
        const double without =
            coll_replay_end(replay, &(struct coll_change){.like_others = like_others});
        struct coll_rank *rank = &ranks->at[i];
        const int64_t steps = count_steps(run, ranks, i);
        rank->cost = ta_whole(fmax(0, partly ? rank->more : end - without));
        rank->cost_step = steps ? rank->cost / steps : TA_MISSING;
    }
    coll_replay_close(replay);
    free(like_others);
    return done;
}
