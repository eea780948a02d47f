/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finding while findings are ranked and joined. */
#ifndef TA_FOUND_H
#define TA_FOUND_H

#include "recommend/rank_bound.h"

#include <math.h>

/* A finding, and what of it belongs to one rank. */
struct ta_found {
    struct ta_finding finding;
    struct ta_rank_bound ranks;
};

/* Confidence × mean saving, in ns; findings about risk have none. */
static inline double ta_finding_worth(const struct ta_finding *finding)
{
    if (finding->saving_high_ns == TA_MISSING)
        return 0;
    return finding->confidence *
           ((double)finding->saving_low_ns + (double)finding->saving_high_ns) / 2;
}

#endif
