/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times from the clock of a file to that of the run, in integers. */
#include "merge/merge.h"

/* Of drift_ppt. */
#define PARTS INT64_C(1000000000000)

int64_t ta_merge_time(const struct ta_merge_clock *clock, int64_t ts_ns)
{
    int64_t drift = 0;
    if (clock->drift_ppt) {
        const __int128 gained = (__int128)clock->drift_ppt * ((__int128)ts_ns - clock->origin_ns);
        const __int128 half = gained < 0 ? -PARTS / 2 : PARTS / 2;
        drift = (int64_t)((gained + half) / PARTS);
    }
    return ta_add_sat(ta_add_sat(ts_ns, clock->offset_ns), drift);
}
