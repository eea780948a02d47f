/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the numbers of a kernel say of how it fills its device. */
#include "wave_efficiency.h"

#include <math.h>

struct shape {
    double blocks, units, resident; /* 0 when not known */
};

/* Waves and the share of time that is lost; false when it is not known. */
static bool judge(struct shape shape, double *waves, double *lost)
{
    if (shape.blocks <= 0 || shape.units <= 0)
        return false;
    *waves = shape.blocks / shape.units;
    *lost = *waves < 1 ? 1 - *waves : 0;
    if (*waves <= 1)
        return true;
    if (shape.resident <= 0)
        return false;
    *waves = fmax(1, *waves / shape.resident);
    *lost = 1 - *waves / ceil(*waves);
    return true;
}

struct filling filling_of(const struct kernel_numbers *of, struct ta_device_units device)
{
    struct shape shape = {.blocks = of->at[GRID]};
    const double per_unit = of->at[PER_UNIT];
    shape.units = device.multiprocessors > 0 ? (double)device.multiprocessors
                  : per_unit > 0             ? nearbyint(shape.blocks / per_unit)
                                             : 0;
    const double threads = of->at[BLOCK], occupancy = of->at[OCCUPANCY];
    /* The profiler's occupancy is of min(blocks per multiprocessor, what it can hold). */
    if (threads > 0 && occupancy > 0 && device.threads > 0)
        shape.resident = fmax(1, nearbyint(occupancy / 100 * (double)device.threads / threads));
    const double in_use = fmin(of->at[PER_UNIT], 1);
    double waves = 0, lost = 0;
    struct filling f = {
        .blocks = shape.blocks > 0 && shape.blocks < 1e15 ? ta_whole(shape.blocks) : TA_MISSING,
        .milliwaves = TA_MISSING,
        .units = in_use > 0 ? ta_whole(nearbyint(in_use * UNITS_WHOLE)) : TA_MISSING,
        .has_warps = of->has[OCCUPANCY],
        .warps = of->at[OCCUPANCY] / 100,
    };
    f.is_known = judge(shape, &waves, &lost);
    if (!f.is_known)
        return f;
    f.lost = lost;
    f.is_under = shape.blocks < shape.units;
    if (waves < 1e12)
        f.milliwaves = ta_whole(nearbyint(waves * 1000));
    return f;
}
