/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distributions that merge exactly. */
#include "stat/dist.h"

#include "stat/numbers.h"
#include "stat/radix.h"

#include <math.h>
#include <stdlib.h>

/* Values below SUB have a bucket each; above, each octave has SUB of them.  A bucket of the
 * octave [2^e, 2^(e+1)) is 2^(e-7) wide, so its midpoint is within 2^(e-8) of any sample in it,
 * and samples are at least 2^e: relative error <= 1/256.  Integers only, so that every machine
 * puts a sample into the same bucket (a logarithm would not). */
enum { SUB = 1 << TA_DIST_SUB_BITS };

/* Samples that wait until they are put into buckets together: the next cache keeps them. */
enum { WAITING = 512 };

static size_t bucket_of(int64_t value)
{
    const uint64_t v = (uint64_t)value; /* below SUB as in the first octave: nothing is shifted */
    const unsigned shift = 63u - (unsigned)__builtin_clzll(v | SUB) - TA_DIST_SUB_BITS;
    return (size_t)shift * SUB + (size_t)(v >> shift);
}

static int64_t midpoint(size_t bucket)
{
    if (bucket < 2 * SUB)
        return (int64_t)bucket;
    const unsigned shift = (unsigned)(bucket / SUB) - 1;
    const uint64_t low = (uint64_t)(SUB + bucket % SUB) << shift;
    return (int64_t)(low + ((UINT64_C(1) << shift) >> 1));
}

void ta_dist_free(struct ta_dist *dist)
{
    free(dist->narrow);
    free(dist->wide);
    free(dist->buckets);
}

/* For a sample that is not below 2^32.  False without memory. */
static bool widen(struct ta_dist *dist)
{
    if (dist->wide)
        return true;
    const size_t room = dist->max_samples ? dist->max_samples : 1;
    dist->wide = reallocarray(NULL, room, sizeof *dist->wide);
    dist->failed |= !dist->wide;
    for (size_t i = 0; dist->wide && i < dist->n_samples; i++)
        dist->wide[i] = dist->narrow[i];
    free(dist->narrow);
    dist->narrow = NULL;
    dist->max_samples = dist->wide ? room : 0;
    if (!dist->wide)
        dist->n_samples = dist->n_summed = 0;
    return dist->wide != NULL;
}

static void sum_up_one(struct ta_dist *dist, int64_t value)
{
    dist->min = dist->n && dist->min < value ? dist->min : value;
    dist->max = dist->n && dist->max > value ? dist->max : value;
    dist->n++;
    dist->sum += (uint64_t)value;
    dist->squares += (unsigned __int128)(uint64_t)value * (uint64_t)value;
}

/* Sums up samples below 2^32, of which there are no more than that.  Squares are summed by halves,
 * so that the compiler can take several samples at a time. */
static void sum_up_narrow(struct ta_dist *dist, const uint32_t *at, size_t n)
{
    uint32_t min = UINT32_MAX, max = 0;
    uint64_t sum = 0, low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t square = (uint64_t)at[i] * at[i];
        min = at[i] < min ? at[i] : min;
        max = at[i] > max ? at[i] : max;
        sum += at[i];
        low += square & UINT32_MAX;
        high += square >> 32;
    }
    dist->min = dist->n && dist->min < min ? dist->min : min;
    dist->max = dist->n && dist->max > max ? dist->max : max;
    dist->n += n;
    dist->sum += sum;
    dist->squares += ((unsigned __int128)high << 32) + low;
}

/* Brings the figures up to the samples. */
static void sum_up(struct ta_dist *dist)
{
    const size_t from = dist->n_summed;
    if (dist->narrow && from < dist->n_samples)
        sum_up_narrow(dist, dist->narrow + from, dist->n_samples - from);
    for (size_t i = from; dist->wide && i < dist->n_samples; i++)
        sum_up_one(dist, dist->wide[i]);
    dist->n_summed = dist->n_samples;
}

/* Puts the samples, summed up, into buckets. */
static void empty(struct ta_dist *dist)
{
    sum_up(dist);
    for (size_t i = 0; i < dist->n_samples; i++)
        dist->buckets[bucket_of(ta_dist_sample(dist, i))]++;
    dist->n_samples = dist->n_summed = dist->n_sorted = 0;
}

/* Gives up single samples for the histogram. */
static bool use_buckets(struct ta_dist *dist)
{
    if (dist->buckets) {
        empty(dist);
        return true;
    }
    dist->buckets = calloc(TA_DIST_BUCKETS, sizeof *dist->buckets);
    if (!dist->buckets) {
        dist->failed = true;
        return false;
    }
    empty(dist);
    free(dist->wide);
    dist->wide = NULL;
    void *waiting = reallocarray(dist->narrow, WAITING, sizeof *dist->narrow);
    if (waiting) /* else the room of before, or each goes into its bucket at once */
        dist->narrow = waiting;
    dist->max_samples = dist->narrow ? WAITING : 0;
    return true;
}

enum { LEAST_SAMPLES = 8 };

static bool reserve(struct ta_dist *dist, size_t n)
{
    if (n <= dist->max_samples)
        return true;
    size_t more = dist->max_samples ? dist->max_samples * 2 : n; /* often all that ever come */
    while (more < n)
        more *= 2;
    if (more < LEAST_SAMPLES)
        more = LEAST_SAMPLES;
    if (more > TA_DIST_EXACT)
        more = TA_DIST_EXACT;
    void *grown = dist->wide ? (void *)reallocarray(dist->wide, more, sizeof *dist->wide)
                             : (void *)reallocarray(dist->narrow, more, sizeof *dist->narrow);
    if (!grown) {
        dist->failed = true;
        return false;
    }
    if (dist->wide)
        dist->wide = grown;
    else
        dist->narrow = grown;
    dist->max_samples = more;
    return true;
}

/* What a sample rarely needs: more room, room for large values, or a bucket. */
static __attribute__((noinline)) void keep(struct ta_dist *dist, int64_t value)
{
    if (!dist->buckets && dist->n_samples < TA_DIST_EXACT) {
        if ((value <= UINT32_MAX || widen(dist)) && reserve(dist, dist->n_samples + 1)) {
            if (dist->wide)
                dist->wide[dist->n_samples++] = value;
            else
                dist->narrow[dist->n_samples++] = (uint32_t)value;
        }
    } else if (use_buckets(dist)) {
        if (dist->narrow && value <= UINT32_MAX) {
            dist->narrow[dist->n_samples++] = (uint32_t)value;
        } else {
            dist->buckets[bucket_of(value)]++;
            sum_up_one(dist, value);
        }
    }
}

void ta_dist_add(struct ta_dist *dist, int64_t value)
{
    if (value < 0)
        value = 0;
    if (dist->narrow && dist->n_samples < dist->max_samples && value <= UINT32_MAX)
        dist->narrow[dist->n_samples++] = (uint32_t)value;
    else
        keep(dist, value);
}

/* Adds the samples of `from`, whose figures are up to date, to the samples of `into`, which stay
 * samples. */
static void merge_samples(struct ta_dist *into, const struct ta_dist *from)
{
    if ((from->max > UINT32_MAX && !widen(into)) ||
        !reserve(into, into->n_samples + from->n_samples))
        return;
    for (size_t i = 0; into->wide && i < from->n_samples; i++)
        into->wide[into->n_samples + i] = ta_dist_sample(from, i);
    for (size_t i = 0; into->narrow && i < from->n_samples; i++)
        into->narrow[into->n_samples + i] = (uint32_t)ta_dist_sample(from, i);
    into->n_samples += from->n_samples;
    into->n_summed = into->n_samples;
}

static void merge_buckets(struct ta_dist *into, const struct ta_dist *from)
{
    if (!use_buckets(into))
        return;
    for (size_t i = 0; from->buckets && i < TA_DIST_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
    for (size_t i = 0; i < from->n_samples; i++)
        into->buckets[bucket_of(ta_dist_sample(from, i))]++;
}

static void merge_values(struct ta_dist *into, const struct ta_dist *from)
{
    if (from->buckets || into->buckets || into->n_samples + from->n_samples > TA_DIST_EXACT)
        merge_buckets(into, from);
    else
        merge_samples(into, from);
}

void ta_dist_merge(struct ta_dist *into, const struct ta_dist *other)
{
    struct ta_dist from = *other; /* its figures, and the samples of the other */
    sum_up(&from);
    sum_up(into);
    into->failed |= from.failed;
    if (from.n == 0)
        return;
    merge_values(into, &from);
    into->n_sorted = 0;
    into->min = into->n && into->min < from.min ? into->min : from.min;
    into->max = into->n && into->max > from.max ? into->max : from.max;
    into->n += from.n;
    into->sum += from.sum;
    into->squares += from.squares;
}

void ta_dist_move(struct ta_dist *into, struct ta_dist *from)
{
    if (into->n || into->n_samples || into->failed) {
        ta_dist_merge(into, from);
        return;
    }
    ta_dist_free(into);
    *into = *from;
    *from = (struct ta_dist){0};
}

void ta_dist_settle(struct ta_dist *dist)
{
    if (dist->buckets)
        empty(dist);
    sum_up(dist);
    if (dist->n_sorted == dist->n_samples)
        return;
    if (dist->wide)
        ta_radix_sort(dist->wide, dist->n_samples, dist->min, dist->max);
    else
        ta_radix_sort_narrow(dist->narrow, dist->n_samples, (uint32_t)dist->min,
                             (uint32_t)dist->max);
    dist->n_sorted = dist->n_samples;
}

/* ---- reading ----------------------------------------------------------------------------- */

static double stddev_of(const struct ta_dist *dist)
{
    if (dist->n < 2)
        return (double)NAN;
    /* With q = floor(mean) the sum of (x - q)² is an exact integer of moderate size; what is left
     * of the mean corrects it by r²/n, so nothing cancels. */
    const unsigned __int128 q = dist->sum / dist->n, r = dist->sum % dist->n;
    const unsigned __int128 around = dist->squares - 2 * q * dist->sum + dist->n * q * q;
    const long double n = (long double)dist->n, rest = (long double)r;
    const long double variance = ((long double)around - rest * rest / n) / (n - 1);
    return (double)sqrtl(variance > 0 ? variance : 0);
}

struct ta_dist_figures ta_dist_figures(const struct ta_dist *dist)
{
    if (dist->n == 0)
        return (struct ta_dist_figures){0, 0, TA_MISSING, TA_MISSING, (double)NAN, (double)NAN};
    return (struct ta_dist_figures){
        .n = (int64_t)dist->n,
        .sum = dist->sum > INT64_MAX ? INT64_MAX : (int64_t)dist->sum,
        .min = dist->min,
        .max = dist->max,
        .mean = (double)((long double)dist->sum / (long double)dist->n),
        .stddev = stddev_of(dist),
    };
}

/* The sample of 0-based rank `at` in ascending order. */
static int64_t nth(const struct ta_dist *dist, uint64_t at)
{
    if (!dist->buckets)
        return ta_dist_sample(dist, at);
    uint64_t below = 0;
    for (size_t i = 0; i < TA_DIST_BUCKETS; i++) {
        below += dist->buckets[i];
        if (below > at)
            return ta_max_i64(dist->min, ta_min_i64(dist->max, midpoint(i)));
    }
    return dist->max;
}

double ta_dist_quantile(const struct ta_dist *dist, unsigned percent)
{
    if (dist->n == 0 || dist->failed)
        return (double)NAN;
    const uint64_t place = (dist->n - 1) * percent;
    const uint64_t at = place / 100, rest = place % 100;
    const int64_t low = nth(dist, at);
    if (rest == 0)
        return (double)low;
    const int64_t high = nth(dist, at + 1);
    return (double)((long double)low + (long double)rest / 100 * (long double)(high - low));
}

bool ta_dist_quantile_interval(const struct ta_dist *dist, unsigned percent, double confidence,
                               int64_t *low, int64_t *high)
{
    int64_t j = 0, k = 0;
    if (dist->failed || !ta_quantile_ranks(dist->n, percent / 100.0, confidence, &j, &k))
        return false;
    *low = nth(dist, (uint64_t)j - 1);
    *high = nth(dist, (uint64_t)k - 1);
    return true;
}

void ta_dist_walk(const struct ta_dist *dist,
                  void (*each)(void *user, int64_t value, int64_t at_or_below), void *user)
{
    for (size_t i = 0; i < dist->n_samples; i++)
        if (i + 1 == dist->n_samples || ta_dist_sample(dist, i + 1) != ta_dist_sample(dist, i))
            each(user, ta_dist_sample(dist, i), (int64_t)i + 1);
    uint64_t below = 0;
    for (size_t i = 0; dist->buckets && i < TA_DIST_BUCKETS; i++) {
        below += dist->buckets[i];
        if (dist->buckets[i])
            each(user, midpoint(i), (int64_t)below);
    }
}

struct steps {
    void (*each)(void *user, int64_t value, int64_t at_or_below);
    void *user;
    int64_t n, every, next; /* samples in all, per step, and the count at which the next is due */
};

static void take_step(void *user, int64_t value, int64_t at_or_below)
{
    struct steps *s = user;
    if (at_or_below < s->next && at_or_below < s->n)
        return;
    s->each(s->user, value, at_or_below);
    s->next = at_or_below + s->every;
}

void ta_dist_steps(const struct ta_dist *dist, int64_t steps,
                   void (*each)(void *user, int64_t value, int64_t at_or_below), void *user)
{
    const int64_t n = ta_dist_count(dist);
    struct steps s = {each, user, n, (n + steps - 1) / steps, 0};
    ta_dist_walk(dist, take_step, &s);
}
