/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times by stage. */
#include "base/stopwatch.h"

#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

struct ta_lap ta_lap_now(void)
{
    return (struct ta_lap){.wall_ns = read_clock(CLOCK_MONOTONIC),
                           .cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID)};
}

static void add(struct ta_lap *sum, struct ta_lap start, struct ta_lap end)
{
    sum->wall_ns += end.wall_ns - start.wall_ns;
    sum->cpu_ns += end.cpu_ns - start.cpu_ns;
}

void ta_lap_add(struct ta_lap *sum, struct ta_lap start)
{
    add(sum, start, ta_lap_now());
}

void ta_times_start(struct ta_times *times)
{
    times->since = ta_lap_now();
}

void ta_times_lap(struct ta_times *times, enum ta_stage stage)
{
    const struct ta_lap now = ta_lap_now();
    add(&times->stages[stage], times->since, now);
    times->since = now;
}

void ta_times_add(struct ta_times *times, const struct ta_times *more)
{
    for (int i = 0; i < TA_STAGE_COUNT; i++)
        add(&times->stages[i], (struct ta_lap){0}, more->stages[i]);
}
