/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Permutation test on the difference of medians. */
#include "stat/numbers.h"
#include "stat/random.h"
#include "stat/resample.h"

#include <gsl/gsl_statistics.h>
#include <stdlib.h>

struct block {
    size_t from, size;
};

struct pool {
    double *all, *copy; /* n + m each: both samples; as arranged, which taking medians disturbs */
    struct block *blocks;
    size_t n, m, n_blocks;
};

static double difference(struct pool *p)
{
    const double base = gsl_stats_median(p->copy, 1, p->n);
    return gsl_stats_median(p->copy + p->n, 1, p->m) - base;
}

static double observed(struct pool *p)
{
    memcpy(p->copy, p->all, (p->n + p->m) * sizeof *p->copy);
    return difference(p);
}

/* ---- all arrangements -------------------------------------------------------------------- */

/* C(all, n), or `most` + 1 where it exceeds that. */
static uint64_t choices(size_t all, size_t n, uint64_t most)
{
    const size_t least = n < all - n ? n : all - n;
    unsigned __int128 ways = 1;
    for (size_t i = 1; i <= least; i++) {
        ways = ways * (all - least + i) / i;
        if (ways > most)
            return most + 1;
    }
    return (uint64_t)ways;
}

/* The next choice of p->n places in lexicographic order; false after the last. */
static bool next_choice(const struct pool *p, size_t *places)
{
    const size_t all = p->n + p->m;
    size_t i = p->n;
    while (i > 0 && places[i - 1] == all - p->n + i - 1)
        i--;
    if (i == 0)
        return false;
    places[i - 1]++;
    for (; i < p->n; i++)
        places[i] = places[i - 1] + 1;
    return true;
}

static void arrange(struct pool *p, const size_t *places)
{
    size_t chosen = 0, rest = p->n;
    for (size_t i = 0; i < p->n + p->m; i++) {
        const bool is_base = chosen < p->n && places[chosen] == i;
        p->copy[is_base ? chosen++ : rest++] = p->all[i];
    }
}

static bool all_choices(struct pool *p, uint64_t ways, struct ta_permutation *out)
{
    size_t *places = reallocarray(NULL, p->n, sizeof *places);
    if (!places)
        return false;
    for (size_t i = 0; i < p->n; i++)
        places[i] = i;
    uint64_t far = 0;
    do {
        arrange(p, places);
        far += fabs(difference(p)) >= fabs(out->difference);
    } while (next_choice(p, places));
    free(places);
    out->p = (double)far / (double)ways;
    out->rounds = ways;
    out->exact = true;
    return true;
}

/* ---- shuffles ---------------------------------------------------------------------------- */

static void cut(struct pool *p, size_t from, size_t to, size_t length)
{
    for (size_t at = from; at < to; at += length)
        p->blocks[p->n_blocks++] = (struct block){at, to - at < length ? to - at : length};
}

/* Fisher & Yates from the last one down, as gsl_ran_shuffle(). */
static void shuffle(struct pool *p, struct ta_random *random)
{
    for (size_t i = p->n_blocks - 1; i > 0; i--) {
        const size_t other = ta_random_below(random, i + 1);
        const struct block block = p->blocks[i];
        p->blocks[i] = p->blocks[other];
        p->blocks[other] = block;
    }
    size_t at = 0;
    for (size_t i = 0; i < p->n_blocks; i++) {
        const struct block block = p->blocks[i];
        memcpy(p->copy + at, p->all + block.from, block.size * sizeof *p->copy);
        at += block.size;
    }
}

static bool some_shuffles(struct pool *p, size_t rounds, size_t block, uint32_t seed,
                          struct ta_permutation *out)
{
    struct ta_random *random = ta_random_new(seed);
    p->blocks = reallocarray(NULL, p->n + p->m, sizeof *p->blocks);
    const bool done = random && p->blocks;
    if (done) {
        cut(p, 0, p->n, block);
        cut(p, p->n, p->n + p->m, block);
    }
    uint64_t far = 0;
    for (size_t i = 0; done && i < rounds; i++) {
        shuffle(p, random);
        far += fabs(difference(p)) >= fabs(out->difference);
    }
    out->p = ((double)far + 1) / ((double)rounds + 1);
    out->rounds = rounds;
    ta_random_free(random);
    return done;
}

/* ---- the call ---------------------------------------------------------------------------- */

static bool test(struct pool *p, size_t rounds, size_t block, uint32_t seed,
                 struct ta_permutation *out)
{
    out->difference = observed(p);
    if (!isfinite(out->difference))
        return true;
    const uint64_t ways = choices(p->n + p->m, p->n, rounds);
    if (block <= 1 && ways <= rounds)
        return all_choices(p, ways, out);
    return some_shuffles(p, rounds, block ? block : 1, seed, out);
}

bool ta_permutation_test(const double *x, size_t n, const double *y, size_t m, size_t rounds,
                         size_t block, uint32_t seed, struct ta_permutation *out)
{
    struct ta_permutation result = {TA_NAN, TA_NAN, 0, false};
    if (n == 0 || m == 0 || n + m > UINT32_MAX || !ta_all_finite(x, n) || !ta_all_finite(y, m)) {
        *out = result;
        return true;
    }
    struct pool p = {ta_numbers(n + m), ta_numbers(n + m), NULL, n, m, 0};
    bool done = p.all && p.copy;
    if (done) {
        memcpy(p.all, x, n * sizeof *x);
        memcpy(p.all + n, y, m * sizeof *y);
        done = test(&p, rounds, block, seed, &result);
        result.difference = ta_if_finite(result.difference);
    }
    if (done)
        *out = result;
    free(p.all);
    free(p.copy);
    free(p.blocks);
    return done;
}
