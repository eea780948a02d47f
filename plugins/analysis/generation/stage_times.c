/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time of a phase is counted on the device, from the first activity that was launched in it
 * to the end of the last: a host that launches ahead finishes a step long before the device
 * does.  Host work of a phase while the device is in no phase also counts: an encoder on the
 * host, writing a video. */
#include "stage_times.h"

#include "stat/interval.h"

/* Length of the part of [start, end) that a united set does not cover. */
static int64_t length_outside(const struct ta_intervals *set, int64_t start, int64_t end)
{
    return end - start - ta_intervals_within(set, start, end);
}

/* The part of a stage's time that no earlier stage of its phase covers: images may be denoised
 * in turns. */
static int64_t new_time(const struct ta_generation *found, size_t i,
                        const struct ta_intervals *devices, struct ta_intervals *before)
{
    const struct ta_generation_time *time = &found->stages[i].time;
    const bool in_turns = found->n_at_once > 1;
    int64_t ns = 0;
    if (time->gpu_start != TA_MISSING) {
        ns = in_turns ? length_outside(before, time->gpu_start, time->gpu_end)
                      : time->gpu_end - time->gpu_start;
        if (in_turns)
            ta_intervals_add(before, time->gpu_start, time->gpu_end);
    }
    if (time->host_start != TA_MISSING)
        ns += length_outside(devices, time->host_start, time->host_end);
    ta_intervals_unite(before);
    return ns;
}

bool generation_stage_times(const struct ta_generation *found, int64_t *times, int64_t *covered)
{
    struct ta_intervals devices = {0}, all = {0};
    for (size_t i = 0; i < found->n_stages; i++) {
        const struct ta_generation_time *time = &found->stages[i].time;
        if (time->gpu_start != TA_MISSING)
            ta_intervals_add(&devices, time->gpu_start, time->gpu_end);
        if (time->host_start != TA_MISSING)
            ta_intervals_add(&all, time->host_start, time->host_end);
    }
    ta_intervals_unite(&devices);
    for (size_t i = 0; i < devices.n; i++)
        ta_intervals_add(&all, devices.at[i].start, devices.at[i].end);
    ta_intervals_unite(&all);
    struct ta_intervals before[TA_GENERATION_PHASES] = {0};
    for (size_t i = 0; i < found->n_stages; i++)
        times[i] = new_time(found, i, &devices, &before[found->stages[i].phase]);
    *covered = ta_intervals_length(&all);
    bool done = !devices.failed && !all.failed;
    for (int i = 0; i < TA_GENERATION_PHASES; i++) {
        done &= !before[i].failed;
        ta_intervals_free(&before[i]);
    }
    ta_intervals_free(&devices);
    ta_intervals_free(&all);
    return done;
}
