/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which step takes far longer than others of its kind. */
#ifndef TA_LIB_OUTLIER_H
#define TA_LIB_OUTLIER_H

#include <stdbool.h>

/* Times in ns; `mad`: median distance from the median, not scaled. */
static inline bool ta_is_far_longer(double time, double median, double mad)
{
    const double least_share = 0.2, least_deviations = 5 * 1.4826, least_ns = 1e5;
    const double excess = time - median;
    return excess >= least_share * median && excess >= least_deviations * mad && excess >= least_ns;
}

#endif
