/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many tests at once: false discovery rate. */
#include "stat/compare.h"
#include "stat/numbers.h"

#include <gsl/gsl_sort.h>
#include <stdlib.h>

bool ta_benjamini_hochberg(const double *p, size_t n, double *q)
{
    double *known = ta_numbers(n);
    size_t *place = reallocarray(NULL, n ? n : 1, 2 * sizeof *place), m = 0;
    const bool done = known && place;
    size_t *const order = done ? place + n : NULL;
    for (size_t i = 0; done && i < n; i++) {
        if (!isnan(p[i])) {
            known[m] = p[i];
            place[m++] = i;
        }
        q[i] = TA_NAN;
    }
    if (done && m)
        gsl_sort_index(order, known, 1, m);
    double least = 1;
    for (size_t rank = m; done && rank > 0; rank--) {
        const size_t at = order[rank - 1];
        least = fmin(least, (double)m * known[at] / (double)rank);
        q[place[at]] = least;
    }
    free(known);
    free(place);
    return done;
}
