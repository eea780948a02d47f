/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first steps of a run that set it up: each takes clearly longer than any later one. */
#include "stat/series.h"

#include <math.h>

size_t ta_first_steps(const double *times, size_t n, double *later)
{
    static const double longer = 1.5;
    const size_t most = n / 4;
    double shortest = (double)INFINITY;
    size_t first = 0;
    later[n] = (double)NAN;
    for (size_t i = n; i-- > 0;)
        later[i] = fmax(later[i + 1], times[i]);
    for (size_t i = 0; i < most; i++) {
        shortest = fmin(shortest, times[i]);
        if (shortest > longer * later[i + 1])
            first = i + 1;
    }
    return first;
}
