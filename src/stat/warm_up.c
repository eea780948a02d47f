/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the warm-up of a series ends: MSER. */
#include "stat/numbers.h"
#include "stat/series.h"

/* Mean and sum of squares around it, of the values from some place to the end. */
struct tail {
    long double n, mean, squares;
};

static void take(struct tail *t, long double value)
{
    const long double from_old = value - t->mean;
    t->n += 1;
    t->mean += from_old / t->n;
    t->squares += from_old * (value - t->mean);
}

void ta_warm_up(const double *series, size_t n, struct ta_warm_up *out)
{
    *out = (struct ta_warm_up){0, false, TA_NAN, TA_NAN};
    if (n == 0 || !ta_all_finite(series, n))
        return;
    const size_t bound = n / 2;
    struct tail tail = {0};
    long double best = (long double)INFINITY;
    size_t cut = 0;
    /* From the end, so that each step adds a value; of equal criteria the earlier cut is kept. */
    for (size_t at = n; n >= 4 && at-- > 0;) {
        take(&tail, (long double)series[at]);
        const long double criterion = tail.squares / (tail.n * tail.n);
        if (at <= bound && criterion <= best) {
            best = criterion;
            cut = at;
        }
    }
    struct ta_moments rest;
    ta_moments(series + cut, n - cut, &rest);
    *out = (struct ta_warm_up){cut, n >= 4 && cut < bound, rest.mean, rest.stddev};
}
