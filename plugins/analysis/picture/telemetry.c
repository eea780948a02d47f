/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Telemetry alone: the clock of a device over time, and what lowers it. */
#include "picture.h"

#include <math.h>

enum { TIME, CLOCK, HEAT, POWER, LIMIT };
static const struct ta_column picture_telemetry_columns[] = {
    [TIME] = {"time_ns", "Time", TA_NS, .role = TA_IN_SERIES,
              .doc = "Time since the first sample of the run"},
    [CLOCK] = {"gpu_clock", "GPU clock", TA_TYPE_NUMBER, TA_UNIT_HERTZ,
               .doc = "Clock of the multiprocessors in Hz"},
    [HEAT] = {"gpu_temperature", "GPU temperature", TA_TYPE_NUMBER, TA_UNIT_CELSIUS,
              .doc = "Temperature of the device"},
    [POWER] = {"gpu_power", "GPU power", TA_TYPE_NUMBER, TA_UNIT_WATT,
               .doc = "Power that the device draws"},
    [LIMIT] = {"limit", "Limit", TA_TEXT, .role = TA_NOTE,
               .doc = "What lowers the clock at that time, as the driver reports"},
};

const struct ta_table_def picture_telemetry = {
    "overview.telemetry",
    "Clock, temperature and power of the device in the first screen's picture",
    TA_COLUMNS(picture_telemetry_columns),
    .tier = TA_TIER_POINTS,
    .joining = TA_JOIN_NOT,
    .doc = "Where telemetry is all that was recorded: the samples of one device as in "
           "`telemetry.timeline`, of the device whose clock is limited most, else of the first. "
           "Chart `picture`."};

#define TELEMETRY_CHART(titled, column, labelled)                                                  \
    {                                                                                              \
        .id = "picture", .title = (titled),                                                        \
        .caption = "Samples of one device; shaded and named where something lowers its clock.",    \
        .kind = TA_CHART_LINES, .steps = true, .x = &picture_telemetry_columns[TIME],             \
        .y = {{&picture_telemetry_columns[CLOCK], "GPU clock", TA_INK_SERIES_1},                  \
              {&picture_telemetry_columns[column], (labelled), TA_INK_SERIES_2}},                 \
        .band = &picture_telemetry_columns[LIMIT]                                                 \
    }
static const struct ta_chart_def by_heat =
    TELEMETRY_CHART("The GPU's clock and temperature", HEAT, "GPU temperature");
static const struct ta_chart_def by_power =
    TELEMETRY_CHART("The GPU's clock and power", POWER, "GPU power");

/* Less of a device is no line. */
enum { SAMPLES_LEAST = 3 };

static double sample(const struct picture *picture, size_t ref, size_t row)
{
    return ta_ref_number(picture->in, ref, row, NAN);
}

/* What lowers the clock in most of the samples of a row. */
static struct ta_cell limit_of(const struct picture *picture, size_t row)
{
    const double heat = ta_ref_number(picture->in, SAMPLE_SLOWED, row, 0);
    const double power = ta_ref_number(picture->in, SAMPLE_CAPPED, row, 0);
    if (heat < 0.5 && power < 0.5)
        return ta_null();
    return ta_string(heat >= power ? "slowed by heat" : "power cap");
}

/* The row of telemetry.limits that matters most: heat where there is any, whose finding is
 * the first, else the limit of most samples; SIZE_MAX without any. */
static size_t find_limit(const struct picture *picture)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(picture->in, LIMIT_SHARE); i++)
        if (ta_ref_reads(picture->in, LIMIT_NAME, i, "gpu_thermal_slowdown") &&
            (best == SIZE_MAX || ta_ref_number(picture->in, LIMIT_SHARE, i, 0) >
                                     ta_ref_number(picture->in, LIMIT_SHARE, best, 0)))
            best = i;
    return best == SIZE_MAX ? ta_ref_largest(picture->in, LIMIT_SHARE) : best;
}

/* A sample of the device: of the one whose clock is limited most, else of the first whose clock is
 * known; SIZE_MAX without any. */
static size_t find_device(const struct picture *picture)
{
    const size_t limit = find_limit(picture);
    const bool is_limited = limit < ta_ref_rows(picture->in, LIMIT_SHARE);
    for (size_t i = 0; i < ta_ref_rows(picture->in, SAMPLE_CLOCK); i++) {
        const int64_t device = ta_ref_integer(picture->in, SAMPLE_DEVICE, i);
        if (device == TA_MISSING || isnan(sample(picture, SAMPLE_CLOCK, i)))
            continue;
        if (!is_limited || (device == ta_ref_integer(picture->in, LIMIT_DEVICE, limit) &&
                            ta_ref_integer(picture->in, SAMPLE_RANK, i) ==
                                ta_ref_integer(picture->in, LIMIT_RANK, limit)))
            return i;
    }
    return SIZE_MAX;
}

static bool is_same_device(const struct picture *picture, size_t a, size_t b)
{
    return ta_ref_integer(picture->in, SAMPLE_RANK, a) ==
               ta_ref_integer(picture->in, SAMPLE_RANK, b) &&
           ta_ref_integer(picture->in, SAMPLE_DEVICE, a) ==
               ta_ref_integer(picture->in, SAMPLE_DEVICE, b);
}

bool picture_of_telemetry(const struct picture *picture)
{
    const size_t device = find_device(picture);
    size_t n = 0, hot = 0, power = 0;
    if (device == SIZE_MAX || ta_ref_rows(picture->in, LEVELS_BYTES) > 0)
        return false;
    for (size_t i = device; i < ta_ref_rows(picture->in, SAMPLE_CLOCK); i++)
        if (is_same_device(picture, i, device)) {
            n++;
            hot += isnan(sample(picture, SAMPLE_HEAT, i)) ? 0 : 1;
            power += isnan(sample(picture, SAMPLE_POWER, i)) ? 0 : 1;
        }
    const size_t limit = find_limit(picture);
    const bool is_capped =
        limit != SIZE_MAX && ta_ref_reads(picture->in, LIMIT_NAME, limit, "gpu_power_cap");
    if (n < SAMPLES_LEAST || (hot < SAMPLES_LEAST && power < SAMPLES_LEAST))
        return false;
    for (size_t i = device; i < ta_ref_rows(picture->in, SAMPLE_CLOCK); i++)
        if (is_same_device(picture, i, device))
            TA_ROW(picture->out, picture_telemetry,
                   [TIME] = ta_int(ta_ref_integer(picture->in, SAMPLE_TIME, i)),
                   [CLOCK] = ta_num(sample(picture, SAMPLE_CLOCK, i)),
                   [HEAT] = ta_num(sample(picture, SAMPLE_HEAT, i)),
                   [POWER] = ta_num(sample(picture, SAMPLE_POWER, i)),
                   [LIMIT] = limit_of(picture, i));
    const bool is_power = power >= SAMPLES_LEAST && (is_capped || hot < SAMPLES_LEAST);
    ta_draw(picture->out, &picture_telemetry, is_power ? &by_power : &by_heat);
    return true;
}
