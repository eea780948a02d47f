/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bootstrap intervals: percentile and BCa, of single values or moving blocks. */
#include "stat/numbers.h"
#include "stat/random.h"
#include "stat/resample.h"
#include "stat/series.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics.h>
#include <stdlib.h>

enum {
    FEWEST_ROUNDS = 20,
    GROUPS = 1000 /* of the jackknife */
};

double ta_statistic_mean(double *values, size_t n, const void *user)
{
    (void)user;
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (long double)values[i];
    return (double)(sum / (long double)n);
}

double ta_statistic_median(double *values, size_t n, const void *user)
{
    (void)user;
    return n ? gsl_stats_median(values, 1, n) : TA_NAN;
}

size_t ta_block_length(const double *series, size_t n)
{
    if (!(ta_autocorrelation(series, n, 1) > 0.2))
        return 1;
    size_t length =
        ta_whole_size(floor(cbrt((double)n))); /* a cube root may be off by a rounding */
    while (length * length * length < n)
        length++;
    return length;
}

/* ---- resampling -------------------------------------------------------------------------- */

struct sample {
    const double *at;
    size_t n, block;
    double *copy; /* n values */
};

static bool open_sample(struct sample *s, const double *values, size_t n, size_t block)
{
    const size_t length = block ? block : ta_block_length(values, n);
    *s = (struct sample){values, n, length < n ? length : n, ta_numbers(n)};
    return s->copy;
}

/* Blocks from random places, the last one cut to fit. */
static void resample(const struct sample *s, struct ta_random *random)
{
    for (size_t at = 0; at < s->n; at += s->block) {
        const size_t from = ta_random_below(random, s->n - s->block + 1);
        const size_t size = s->n - at < s->block ? s->n - at : s->block;
        memcpy(s->copy + at, s->at + from, size * sizeof *s->copy);
    }
}

static double original(const struct sample *s, ta_statistic *statistic, const void *user)
{
    memcpy(s->copy, s->at, s->n * sizeof *s->copy);
    return statistic(s->copy, s->n, user);
}

/* ---- BCa --------------------------------------------------------------------------------- */

/* Σ d³/(6 (Σ d²)^1.5) of how much leaving out each value, or group, lowers the statistic; 0 where
 * nothing does.  Groups of equal size give the same as single values would, in expectation. */
static double acceleration(const struct sample *s, ta_statistic *statistic, const void *user,
                           double *scratch)
{
    const size_t groups = s->n < GROUPS ? s->n : GROUPS;
    long double mean = 0, squares = 0, cubes = 0;
    for (size_t g = 0; g < groups; g++) {
        const size_t from = s->n * g / groups, to = s->n * (g + 1) / groups;
        memcpy(s->copy, s->at, from * sizeof *s->copy);
        memcpy(s->copy + from, s->at + to, (s->n - to) * sizeof *s->copy);
        scratch[g] = statistic(s->copy, s->n - (to - from), user);
        mean += (long double)scratch[g] / (long double)groups;
    }
    for (size_t g = 0; g < groups; g++) {
        const long double lowers = mean - (long double)scratch[g];
        squares += lowers * lowers;
        cubes += lowers * lowers * lowers;
    }
    const double a = (double)(cubes / (6 * squares * sqrtl(squares)));
    return isfinite(a) ? a : 0;
}

/* z0: how the replicates lie around the figure; not finite when all are on one side. */
static double bias(const double *replicates, size_t n, double figure)
{
    size_t twice = 0;
    for (size_t i = 0; i < n; i++)
        twice += replicates[i] < figure ? 2 : replicates[i] == figure;
    return gsl_cdf_ugaussian_Pinv((double)twice / (2 * (double)n));
}

static double moved_level(double level, double z0, double a)
{
    const double z = z0 + gsl_cdf_ugaussian_Pinv(level);
    return gsl_cdf_ugaussian_P(z0 + z / (1 - a * z));
}

/* ---- the calls --------------------------------------------------------------------------- */

/* Interval between two levels of the replicates. */
static struct ta_estimate between(double *replicates, size_t n, double figure, double low,
                                  double high)
{
    if (!ta_all_finite(replicates, n) || !(low >= 0 && high <= 1))
        return ta_estimate_of(figure, TA_NAN, TA_NAN);
    ta_sort_numbers(replicates, n);
    return ta_estimate_of(figure, ta_quantile(replicates, n, low),
                          ta_quantile(replicates, n, high));
}

static bool has_interval(const struct ta_bootstrap *how, size_t n)
{
    return n >= 2 && n <= UINT32_MAX && how->rounds >= FEWEST_ROUNDS && how->confidence > 0 &&
           how->confidence < 1;
}

static struct ta_estimate intervals(const struct sample *s, ta_statistic *statistic,
                                    const void *user, const struct ta_bootstrap *how,
                                    double *replicates, double *scratch, struct ta_random *random)
{
    const double figure = original(s, statistic, user);
    for (size_t i = 0; i < how->rounds; i++) {
        resample(s, random);
        replicates[i] = statistic(s->copy, s->n, user);
    }
    const double tail = (1 - how->confidence) / 2;
    const double z0 = how->percentile ? TA_NAN : bias(replicates, how->rounds, figure);
    if (!isfinite(z0))
        return between(replicates, how->rounds, figure, tail, 1 - tail);
    const double a = acceleration(s, statistic, user, scratch);
    return between(replicates, how->rounds, figure, moved_level(tail, z0, a),
                   moved_level(1 - tail, z0, a));
}

bool ta_bootstrap(const double *x, size_t n, ta_statistic *statistic, const void *user,
                  const struct ta_bootstrap *how, struct ta_estimate *out)
{
    if (n == 0 || !ta_all_finite(x, n)) {
        *out = TA_NO_ESTIMATE;
        return true;
    }
    struct sample s;
    bool done = open_sample(&s, x, n, how->block);
    if (done && !has_interval(how, n)) {
        *out = ta_estimate_of(original(&s, statistic, user), TA_NAN, TA_NAN);
    } else if (done) {
        double *replicates = ta_numbers(how->rounds), *scratch = ta_numbers(GROUPS);
        struct ta_random *random = ta_random_new(how->seed);
        done = replicates && scratch && random;
        if (done)
            *out = intervals(&s, statistic, user, how, replicates, scratch, random);
        ta_random_free(random);
        free(replicates);
        free(scratch);
    }
    free(s.copy);
    return done;
}

static struct ta_estimate ratios(const struct sample *base, const struct sample *other,
                                 ta_statistic *statistic, const void *user,
                                 const struct ta_bootstrap *how, double *replicates,
                                 struct ta_random *random)
{
    const double below = original(base, statistic, user);
    const double figure = original(other, statistic, user) / below;
    const size_t rounds =
        has_interval(how, base->n) && has_interval(how, other->n) ? how->rounds : 0;
    for (size_t i = 0; i < rounds; i++) {
        resample(base, random);
        resample(other, random);
        const double divisor = statistic(base->copy, base->n, user);
        replicates[i] = statistic(other->copy, other->n, user) / divisor;
    }
    const double tail = (1 - how->confidence) / 2;
    return rounds ? between(replicates, rounds, figure, tail, 1 - tail)
                  : ta_estimate_of(figure, TA_NAN, TA_NAN);
}

bool ta_bootstrap_ratio(const double *x, size_t n, const double *y, size_t m,
                        ta_statistic *statistic, const void *user, const struct ta_bootstrap *how,
                        struct ta_estimate *out)
{
    if (n == 0 || m == 0 || !ta_all_finite(x, n) || !ta_all_finite(y, m)) {
        *out = TA_NO_ESTIMATE;
        return true;
    }
    struct sample base, other;
    const bool opened = open_sample(&base, x, n, how->block);
    const bool both = open_sample(&other, y, m, how->block) && opened;
    double *replicates = ta_numbers(how->rounds);
    struct ta_random *random = ta_random_new(how->seed);
    const bool done = both && replicates && random;
    if (done)
        *out = ratios(&base, &other, statistic, user, how, replicates, random);
    ta_random_free(random);
    free(replicates);
    free(base.copy);
    free(other.copy);
    return done;
}
