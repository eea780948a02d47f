/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Since when a late rank is late, and what it costs: the run once more, with its peers'
 * own time in place of its own. */
#include "ranks/stage.h"

#include "stat/series.h"

#include <math.h>

enum { SERIES_LEAST = 12 };

struct series {
    double *excess;
    uint32_t *records;
    size_t n;
};

static void collect_series(const struct ta_ranks *ranks, const struct ta_lateness *lateness,
                           uint32_t rank, struct series *series)
{
    series->n = 0;
    for (uint32_t r = 0; r < ranks->n_records; r++) {
        if (lateness->of[ranks->records[r].member] != rank || ranks->excess[r] == TA_MISSING)
            continue;
        series->records[series->n] = r;
        series->excess[series->n++] = (double)ranks->excess[r];
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
 * after it. */
static bool find_since(const struct ta_ranks *ranks, struct ta_late_rank *rank,
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
        const double after = mean_of(series->excess + at, series->n - at);
        if (after <= 0 || before > after / 4)
            continue;
        const struct ta_coll_record *first = &ranks->records[series->records[at]];
        rank->from_start = false;
        rank->since_ns = first->start - ranks->records[series->records[0]].start;
        rank->since_step = first->step;
    }
    free(changes.at);
    return true;
}

bool lateness_date(const struct ta_ranks *ranks, struct ta_lateness *lateness)
{
    struct series series = {calloc(ranks->n_records + 1, sizeof *series.excess),
                            calloc(ranks->n_records + 1, sizeof *series.records), 0};
    bool done = series.excess && series.records;
    for (uint32_t i = 0; done && i < lateness->n; i++) {
        if (!lateness->at[i].is_late)
            continue;
        collect_series(ranks, lateness, i, &series);
        done = find_since(ranks, &lateness->at[i], &series);
    }
    free(series.excess);
    free(series.records);
    return done;
}

/* ---- cost ----------------------------------------------------------------------------------- */

static bool any_late(const struct ta_lateness *lateness)
{
    for (size_t i = 0; i < lateness->n; i++)
        if (lateness->at[i].is_late)
            return true;
    return false;
}

/* Whether ranks are missing that take part in collectives: more than a record that was lost here
 * and there. */
static bool lacks_ranks(const struct ta_ranks *ranks)
{
    size_t lacking = 0, all = 0;
    for (size_t i = 0; i < ranks->n_collectives; i++) {
        const struct ta_coll_shape *shape = &ranks->shapes[ranks->collectives[i].shape];
        if (ta_coll_is_between_two(shape->kind) || shape->size == TA_MISSING)
            continue;
        all++;
        lacking += (int64_t)ranks->collectives[i].n < shape->size;
    }
    return lacking > all / 20;
}

/* In how many steps a rank has collectives. */
static int64_t count_steps(const struct ta_ranks *ranks, const struct ta_lateness *lateness,
                           uint32_t rank)
{
    int32_t last = -1;
    int64_t n = 0;
    for (size_t i = 0; i < ranks->n_records; i++) {
        const int32_t step = ranks->records[i].step;
        if (lateness->of[ranks->records[i].member] != rank || step < 0 || step == last)
            continue;
        last = step;
        n++;
    }
    return n;
}

bool lateness_cost(const struct ta_ranks *ranks, struct ta_lateness *lateness)
{
    if (!any_late(lateness))
        return true;
    struct ta_replay *replay = ta_replay_open(ranks);
    bool *like_others = calloc(ranks->n_members + 1, sizeof *like_others);
    const bool done = replay && like_others;
    const bool partly = lacks_ranks(ranks);
    const double end = done ? ta_replay_end(replay, &(struct ta_replay_change){0}) : 0;
    for (uint32_t i = 0; done && i < lateness->n; i++) {
        if (!lateness->at[i].is_late)
            continue;
        for (size_t m = 0; m < ranks->n_members; m++)
            like_others[m] = lateness->of[m] == i;
        const double without =
            ta_replay_end(replay, &(struct ta_replay_change){.like_others = like_others});
        struct ta_late_rank *rank = &lateness->at[i];
        const int64_t steps = count_steps(ranks, lateness, i);
        rank->cost = ta_whole(fmax(0, partly ? rank->own_excess : end - without));
        rank->cost_step = steps ? rank->cost / steps : TA_MISSING;
    }
    ta_replay_close(replay);
    free(like_others);
    return done;
}
