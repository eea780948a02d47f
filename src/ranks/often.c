/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How likely it is that a rank takes longest so often, were all ranks alike: of the collectives,
 * and of the steps, that make up most of the excess of those who take longest.  Shared noise within
 * a step makes collectives one event, and what happens once per step shows in steps alone, so both
 * are looked at.
 *
 * Of many ranks another one has a pause in every step, so that a rank that is always slow is never
 * the slowest: there it counts, too, how often a rank is among the slowest part.  And since a pause
 * lasts over several collectives, and some rank of thousands has a long one, all of a rank in one
 * step are one event there. */
#include "ranks/stage.h"

#include <math.h>

static const double LONG_SHARE = 0.9; /* of all excess, by the largest */

/* Rounds of a run: steps of the profiler, or parts where there are fewer steps than that. */
enum { ROUNDS_LEAST = 4, ROUNDS_MOST = 256, PARTS = 32 };

/* From so many ranks on one of so many of them is among the slowest. */
enum { MANY = 32, SLOWEST_PART = 16 };

/* A stretch, or a round: who takes longest, by how much, and of how many. */
struct top {
    double excess, chance;
    uint32_t rank, round;
};

struct tops {
    struct top *at;
    size_t n;
    double *sorted; /* work, as long */
};

static bool open_tops(struct tops *tops, size_t n)
{
    *tops = (struct tops){calloc(n + 1, sizeof *tops->at), 0, calloc(n + 1, sizeof(double))};
    return tops->at && tops->sorted;
}

static void close_tops(struct tops *tops)
{
    free(tops->at);
    free(tops->sorted);
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

/* The shortest of the longest that make up LONG_SHARE of all. */
static double least_long(struct tops *tops)
{
    double all = 0, longest = 0;
    size_t n = tops->n;
    for (size_t i = 0; i < n; i++)
        tops->sorted[i] = tops->at[i].excess;
    ta_sort_numbers(tops->sorted, n);
    for (size_t i = 0; i < n; i++)
        all += tops->sorted[i];
    while (n > 0 && longest < LONG_SHARE * all)
        longest += tops->sorted[--n];
    return all > 0 ? tops->sorted[n] : INFINITY;
}

static int by_event(const void *left, const void *right)
{
    const struct top *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->round > b->round) - (a->round < b->round);
}

/* Leaves one of those that are of one rank in one round. */
static void unite_events(struct tops *tops)
{
    size_t n = 0;
    if (tops->n)
        qsort(tops->at, tops->n, sizeof *tops->at, by_event);
    for (size_t i = 0; i < tops->n; i++)
        if (n == 0 || by_event(&tops->at[n - 1], &tops->at[i]) != 0)
            tops->at[n++] = tops->at[i];
    tops->n = n;
}

/* Of the tops that make up most of the excess: a rank that is late once per step takes longest in
 * few stretches, but in those that matter. */
static void weigh_tops(struct tops *tops, struct ta_lateness *lateness, int64_t *counts)
{
    const double least = least_long(tops);
    double chance = 0;
    size_t n = 0;
    memset(counts, 0, lateness->n * sizeof *counts);
    for (size_t i = 0; i < tops->n; i++)
        if (tops->at[i].excess >= least)
            tops->at[n++] = tops->at[i];
    tops->n = n;
    if (lateness->n >= MANY)
        unite_events(tops);
    for (size_t i = 0; i < tops->n; i++) {
        chance += tops->at[i].chance / (double)tops->n;
        counts[tops->at[i].rank]++;
    }
    for (size_t i = 0; i < lateness->n; i++)
        if (counts[i])
            lateness->at[i].p =
                fmin(lateness->at[i].p, upper_tail((int64_t)tops->n, chance, counts[i]));
}

/* ---- by round ------------------------------------------------------------------------------- */

/* Steps, neighbors together where there are many; parts of the collectives of each
 * rank where there are none, or a few. */
struct rounds {
    int64_t first, last; /* step; -1: parts */
    size_t n;
    double *sums; /* excess by round, rank; NAN without */
};

static struct rounds divide(const struct ta_ranks *ranks)
{
    const struct rounds parts = {.last = -1, .n = PARTS};
    struct rounds r = {INT64_MAX, -1, 0, NULL};
    for (size_t i = 0; i < ranks->n_records; i++) {
        if (ranks->excess[i] == TA_MISSING)
            continue;
        if (ranks->records[i].step < 0)
            return parts;
        r.first = ta_min_i64(r.first, ranks->records[i].step);
        r.last = ta_max_i64(r.last, ranks->records[i].step);
    }
    if (r.last - r.first + 1 < ROUNDS_LEAST)
        return parts;
    r.n = (size_t)ta_min_i64(r.last - r.first + 1, ROUNDS_MOST);
    return r;
}

static size_t round_of(const struct rounds *r, const struct ta_ranks *ranks, size_t record)
{
    const struct ta_coll_record *of = &ranks->records[record];
    const struct ta_rank_member *member = &ranks->members[of->member];
    if (r->last < 0)
        return (record - member->first) * r->n / member->n;
    return (size_t)((of->step - r->first) * (int64_t)r->n / (r->last - r->first + 1));
}

static bool weigh_stretches(const struct ta_ranks *ranks, const struct rounds *r,
                            struct ta_lateness *lateness, int64_t *counts)
{
    struct tops tops;
    const bool done = open_tops(&tops, ranks->n_stretches);
    for (size_t i = 0; done && i < ranks->n_stretches; i++) {
        const struct ta_coll_stretch *s = &ranks->stretches[i];
        const uint32_t last = ranks->by_stretch[s->first + s->n - 1];
        tops.at[tops.n++] = (struct top){(double)ranks->excess[last], 1 / (double)s->n,
                                         lateness->of[ranks->records[last].member],
                                         (uint32_t)round_of(r, ranks, last)};
    }
    if (done)
        weigh_tops(&tops, lateness, counts);
    close_tops(&tops);
    return done;
}

static void add_round(const struct rounds *r, size_t round, const struct ta_lateness *lateness,
                      struct tops *tops)
{
    const double *sums = r->sums + round * lateness->n;
    struct top top = {-INFINITY, 0, 0, (uint32_t)round};
    size_t n = 0;
    for (uint32_t i = 0; i < lateness->n; i++) {
        n += isnan(sums[i]) ? 0 : 1;
        if (sums[i] > top.excess)
            top = (struct top){sums[i], 0, i, top.round};
    }
    top.chance = 1 / (double)n;
    if (n > 1)
        tops->at[tops->n++] = top;
}

/* Adds to `counts` the ranks that are among the slowest of a round, ties included; returns how
 * likely that is for each. */
static double count_slowest(const double *sums, size_t n, double *sorted, int64_t *counts)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(sums[i]))
            sorted[known++] = sums[i];
    if (known < MANY)
        return NAN;
    ta_sort_numbers(sorted, known);
    const double least = sorted[known - known / SLOWEST_PART];
    size_t slowest = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_slow = sums[i] >= least; /* NAN is not */
        counts[i] += is_slow;
        slowest += is_slow;
    }
    return (double)slowest / (double)known;
}

/* The second look at the same ranks, which is why it counts half. */
static bool weigh_slowest(const struct rounds *r, struct ta_lateness *lateness, int64_t *counts)
{
    double *sorted = calloc(lateness->n + 1, sizeof *sorted);
    double chance = 0;
    int64_t n = 0;
    memset(counts, 0, lateness->n * sizeof *counts);
    for (size_t i = 0; sorted && i < r->n; i++) {
        const double of_round =
            count_slowest(r->sums + i * lateness->n, lateness->n, sorted, counts);
        chance += isnan(of_round) ? 0 : of_round;
        n += !isnan(of_round);
    }
    for (size_t i = 0; n && i < lateness->n; i++)
        if (counts[i])
            lateness->at[i].p =
                fmin(lateness->at[i].p, 2 * upper_tail(n, chance / (double)n, counts[i]));
    const bool done = sorted;
    free(sorted);
    return done;
}

static bool weigh_rounds(const struct ta_ranks *ranks, struct rounds r,
                         struct ta_lateness *lateness, int64_t *counts)
{
    struct tops tops;
    r.sums = reallocarray(NULL, r.n * lateness->n + 1, sizeof *r.sums);
    const bool done = open_tops(&tops, r.n) && r.sums;
    for (size_t i = 0; done && i < r.n * lateness->n; i++)
        r.sums[i] = NAN;
    for (size_t i = 0; done && i < ranks->n_records; i++) {
        if (ranks->excess[i] == TA_MISSING)
            continue;
        double *sum =
            &r.sums[round_of(&r, ranks, i) * lateness->n + lateness->of[ranks->records[i].member]];
        *sum = (isnan(*sum) ? 0 : *sum) + (double)ranks->excess[i];
    }
    for (size_t i = 0; done && i < r.n; i++)
        add_round(&r, i, lateness, &tops);
    if (done)
        weigh_tops(&tops, lateness, counts);
    const bool weighed = done && weigh_slowest(&r, lateness, counts);
    close_tops(&tops);
    free(r.sums);
    return weighed;
}

bool lateness_weigh(const struct ta_ranks *ranks, struct ta_lateness *lateness)
{
    int64_t *counts = calloc(lateness->n + 1, sizeof *counts);
    const struct rounds rounds = divide(ranks);
    for (size_t i = 0; i < lateness->n; i++)
        lateness->at[i].p = 1;
    const bool done = counts && weigh_stretches(ranks, &rounds, lateness, counts) &&
                      weigh_rounds(ranks, rounds, lateness, counts);
    free(counts);
    return done;
}
