/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

/* Of drift_ppt. */
#define PARTS INT64_C(1000000000000)

static int64_t gained(const struct ta_clock_shift *shift, int64_t ts_ns)
{
    if (!shift->drift_ppt)
        return 0;
    const __int128 parts = (__int128)shift->drift_ppt * ((__int128)ts_ns - shift->origin_ns);
    return (int64_t)((parts + (parts < 0 ? -PARTS / 2 : PARTS / 2)) / PARTS);
}

int64_t ta_clock_forth(const struct ta_clock_shift *shift, int64_t ts_ns)
{
    return ta_add_sat(ta_add_sat(ts_ns, shift->offset_ns), gained(shift, ts_ns));
}

int64_t ta_clock_back(const struct ta_clock_shift *shift, int64_t ts_ns)
{
    const int64_t moved = ta_add_sat(ts_ns, -shift->offset_ns);
    int64_t back = moved;
    /* A drift is far below one: what it gains by the error of a guess is far below that error. */
    for (int i = 0; i < 4; i++)
        back = ta_add_sat(moved, -gained(shift, back));
    return back;
}
