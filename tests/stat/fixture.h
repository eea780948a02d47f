/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of the statistics share: seeded samples. */
#ifndef TA_TEST_STAT_FIXTURE_H
#define TA_TEST_STAT_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stat/compare.h"
#include "stat/fit.h"
#include "stat/resample.h"
#include "stat/sample.h"
#include "stat/series.h"
#include "traceanalyze/stat.h"

struct noise {
    uint64_t state;
};

/* splitmix64: not the generator of the library. */
static inline uint64_t noise_next(struct noise *noise)
{
    uint64_t x = noise->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Between 0 and 1, neither of them. */
static inline double noise_uniform(struct noise *noise)
{
    return ((double)(noise_next(noise) >> 12) + 0.5) / 0x1p52;
}

static inline double noise_normal(struct noise *noise)
{
    const double radius = sqrt(-2 * log(noise_uniform(noise)));
    return radius * cos(6.283185307179586 * noise_uniform(noise));
}

static inline void fill_normal(struct noise *noise, double *values, size_t n, double mean,
                               double sd)
{
    for (size_t i = 0; i < n; i++)
        values[i] = mean + sd * noise_normal(noise);
}

static inline void shuffle(struct noise *noise, double *values, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const size_t other = (size_t)(noise_next(noise) % i);
        const double value = values[i - 1];
        values[i - 1] = values[other];
        values[other] = value;
    }
}

static inline double *numbers(size_t n)
{
    double *values = calloc(n ? n : 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static inline void assert_near(double value, double expected, double rel)
{
    if (isnan(expected) ? isnan(value) : value == expected)
        return;
    if (!(fabs(value - expected) <= rel * fabs(expected)))
        fail_msg("%.17g is not near %.17g", value, expected);
}

static inline void assert_within(double value, double low, double high)
{
    if (!(value >= low && value <= high))
        fail_msg("%.6g is not within [%g, %g]", value, low, high);
}

#endif
