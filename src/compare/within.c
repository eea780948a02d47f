/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Confidence of a change from the steps of one run on each side: a bootstrap of blocks of steps. */
#include "compare/evidence.h"

#include "stat/resample.h"
#include "traceanalyze/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS_LEAST = 6,     /* for an interval */
    ROUNDS_MOST = 10000, /* of the bootstrap, as for all gates */
    ROUNDS_LEAST = 400
};

/* Values drawn in all rounds together, about: long runs have steps enough for fewer rounds. */
#define DRAWN_MOST 1e6

/* The bootstrap draws numbers of steps: steps of the base from 0, steps of the new run after them.
 * The median of what was drawn is where half of it is counted: no round sorts. */
struct drawn {
    const struct ta_durations *side[2];
    double *sorted[2];  /* durations of a side in ascending order */
    uint32_t *place[2]; /* of each duration among them; NO_PLACE: a rank has no such step */
    size_t n[2];        /* of `sorted` */
    uint32_t *count;    /* how often each was drawn, room for the longer side */
};

#define NO_PLACE UINT32_MAX

static double median_of_counted(const double *sorted, const uint32_t *count, size_t n)
{
    size_t below = 0, i = 0;
    if (n == 0)
        return (double)NAN;
    while (below + count[i] <= (n - 1) / 2)
        below += count[i++];
    size_t k = i;
    while (below + count[k] <= n / 2)
        below += count[k++];
    return (sorted[i] + sorted[k]) / 2;
}

static double median_of_drawn(double *steps, size_t n, const void *user)
{
    const struct drawn *drawn = user;
    const int side = n && ta_whole_size(steps[0]) >= drawn->side[0]->n;
    const size_t first = side ? drawn->side[0]->n : 0, ranks = drawn->side[side]->ranks;
    size_t count = 0;
    memset(drawn->count, 0, drawn->n[side] * sizeof *drawn->count);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *places = drawn->place[side] + (ta_whole_size(steps[i]) - first) * ranks;
        for (size_t rank = 0; rank < ranks; rank++)
            if (places[rank] != NO_PLACE) {
                drawn->count[places[rank]]++;
                count++;
            }
    }
    return median_of_counted(drawn->sorted[side], drawn->count, count);
}

static size_t place_of(const double *sorted, size_t n, double value)
{
    size_t low = 0;
    for (size_t high = n; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool sort_side(struct drawn *drawn, int side)
{
    const struct ta_durations *series = drawn->side[side];
    const size_t all = series->n * series->ranks;
    double *sorted = drawn->sorted[side] = reallocarray(NULL, all, sizeof *sorted);
    uint32_t *place = drawn->place[side] = reallocarray(NULL, all, sizeof *place);
    size_t n = 0;
    if (!sorted || !place || all >= NO_PLACE)
        return false;
    for (size_t i = 0; i < all; i++)
        if (!isnan(series->at[i]))
            sorted[n++] = series->at[i];
    ta_sort_numbers(sorted, n);
    for (size_t i = 0; i < all; i++)
        place[i] = isnan(series->at[i]) ? NO_PLACE : (uint32_t)place_of(sorted, n, series->at[i]);
    drawn->n[side] = n;
    return true;
}

/* The step as its ranks have it on average: shows whether neighbors depend on each other. */
static size_t block_length(const struct ta_durations *series, double *scratch)
{
    for (size_t i = 0; i < series->n; i++) {
        double sum = 0;
        size_t n = 0;
        for (size_t rank = 0; rank < series->ranks; rank++) {
            const double value = series->at[i * series->ranks + rank];
            if (!isnan(value)) {
                sum += value;
                n++;
            }
        }
        scratch[i] = sum / (double)n;
    }
    return ta_block_length(scratch, series->n);
}

static size_t rounds_for(const struct ta_durations *base, const struct ta_durations *new)
{
    const double each = (double)(base->n * base->ranks + new->n *new->ranks);
    const double rounds = DRAWN_MOST / each;
    if (rounds > ROUNDS_MOST)
        return ROUNDS_MOST;
    return rounds < ROUNDS_LEAST ? ROUNDS_LEAST : ta_whole_size(rounds);
}

static bool resample(const struct ta_judging *judging, const char *figure,
                     const struct drawn *drawn, double *steps, double *scratch,
                     struct ta_estimate *ratio)
{
    const struct ta_durations *base = drawn->side[0], *new = drawn->side[1];
    const size_t before = block_length(base, scratch), after = block_length(new, scratch);
    for (size_t i = 0; i < base->n + new->n; i++)
        steps[i] = (double)i;
    const struct ta_bootstrap how = {
        .rounds = rounds_for(base, new),
        .seed = ta_seed(TA_LIT("diff"), ta_slice_of(figure)),
        .block = before > after ? before : after,
        .confidence = judging->confidence,
        .percentile = true,
    };
    return ta_bootstrap_ratio(steps, base->n, steps + base->n, new->n, median_of_drawn, drawn, &how,
                              ratio);
}

bool ta_evidence_within_runs(const struct ta_judging *judging, const char *figure,
                             const struct ta_durations *base, const struct ta_durations *new,
                             struct ta_evidence_of_change *evidence)
{
    if (base->n < STEPS_LEAST || new->n < STEPS_LEAST)
        return true;
    struct drawn drawn = {.side = {base, new}};
    struct ta_estimate ratio;
    bool done = sort_side(&drawn, 0) && sort_side(&drawn, 1);
    const size_t most = drawn.n[0] > drawn.n[1] ? drawn.n[0] : drawn.n[1];
    const size_t longer = base->n > new->n ? base->n : new->n;
    double *steps = reallocarray(NULL, base->n + new->n, sizeof *steps);
    double *scratch = reallocarray(NULL, longer, sizeof *scratch);
    drawn.count = reallocarray(NULL, most + 1, sizeof *drawn.count);
    done = done && steps && scratch && drawn.count &&
           resample(judging, figure, &drawn, steps, scratch, &ratio);
    for (int side = 0; side < 2; side++) {
        free(drawn.sorted[side]);
        free(drawn.place[side]);
    }
    free(drawn.count);
    free(steps);
    free(scratch);
    if (done && !isnan(ratio.low)) {
        evidence->basis = TA_BASIS_WITHIN;
        evidence->ratio = ratio;
    }
    return done;
}
