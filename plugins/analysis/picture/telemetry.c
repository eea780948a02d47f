/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Telemetry alone: the signals of a device over time that show what the first finding says. */
#include "picture.h"

#include <math.h>

enum { TIME, CLOCK, HEAT, POWER, MEMORY, LIMIT };
static const struct ta_column picture_telemetry_columns[] = {
    [TIME] = {"time_ns", "Time", TA_NS, .role = TA_IN_SERIES,
              .doc = "Time since the first sample of the run"},
    [CLOCK] = {"gpu_clock", "GPU clock", TA_TYPE_NUMBER, TA_UNIT_HERTZ,
               .doc = "Clock of the multiprocessors in Hz"},
    [HEAT] = {"gpu_temperature", "GPU temperature", TA_TYPE_NUMBER, TA_UNIT_CELSIUS,
              .doc = "Temperature of the device"},
    [POWER] = {"gpu_power", "GPU power", TA_TYPE_NUMBER, TA_UNIT_WATT,
               .doc = "Power that the device draws"},
    [MEMORY] = {"gpu_memory_used", "GPU memory", TA_BYTES_MEAN, .doc = "Device memory in use"},
    [LIMIT] = {"limit", "Limit", TA_TEXT, .role = TA_NOTE,
               .doc = "What lowers the clock at that time, as the driver reports; where memory "
                      "overflows into the host, whether it is full"},
};

const struct ta_table_def picture_telemetry = {
    "overview.telemetry",
    "Clock, temperature, power and memory of the device in the first screen's picture",
    TA_COLUMNS(picture_telemetry_columns),
    .tier = TA_TIER_POINTS,
    .joining = TA_JOIN_NOT,
    .doc =
        "Where telemetry is all that was recorded: the samples of one device as in "
        "`telemetry.timeline`, of the device that is slowed most, else of the first. The chart has "
        "its memory and power where memory overflows into the host, else the clock, with the "
        "power at a power cap, else with the temperature. Chart `picture`."};

#define TELEMETRY_CHART(titled, captioned, first, first_label, second, second_label)               \
    .id = "picture", .title = (titled), .caption = (captioned), .kind = TA_CHART_LINES,            \
    .steps = true, .x = &picture_telemetry_columns[TIME],                                          \
    .y = {{&picture_telemetry_columns[first], (first_label), TA_INK_SERIES_1},                     \
          {&picture_telemetry_columns[second], (second_label), TA_INK_SERIES_2}}
#define CLOCK_CHART(titled, second, second_label)                                                  \
    TELEMETRY_CHART(titled,                                                                        \
                    "Samples of one device; shaded and named where something lowers its "          \
                    "clock.",                                                                      \
                    CLOCK, "GPU clock", second, second_label),                                     \
        .band = &picture_telemetry_columns[LIMIT]

/* What a picture shows; the columns of telemetry.timeline that it needs. */
enum view { BY_HEAT, BY_POWER, BY_MEMORY };
static const struct {
    size_t first, second;
    struct ta_chart_def chart;
} views[] = {
    [BY_HEAT] = {SAMPLE_CLOCK,
                 SAMPLE_HEAT,
                 {CLOCK_CHART("The GPU's clock and temperature", HEAT, "GPU temperature")}},
    [BY_POWER] = {SAMPLE_CLOCK,
                  SAMPLE_POWER,
                  {CLOCK_CHART("The GPU's clock and power", POWER, "GPU power")}},
    [BY_MEMORY] = {SAMPLE_MEMORY,
                   SAMPLE_POWER,
                   {TELEMETRY_CHART(
                        "The GPU's memory and power",
                        "Samples of one device, shaded while its memory is full: then it "
                        "waits for the host's and draws less power.",
                        MEMORY, "GPU memory", POWER, "GPU power"),
                    .band = &picture_telemetry_columns[LIMIT]}},
};

/* What limits are shown by; others by heat.  Those with `least` come before all others where more
 * than this share of the busy samples shows them: their findings are the first. */
static const struct limit {
    const char *word;
    double least;
    enum view view;
} limits[] = {
    {"host_memory", 0.05, BY_MEMORY},
    {"gpu_thermal_slowdown", 0.03, BY_HEAT},
    {"gpu_hardware_thermal_slowdown", 0.03, BY_HEAT},
    {"temperature", 0.03, BY_HEAT},
    {"gpu_power_cap", 1, BY_POWER},
    {"power_limit", 1, BY_POWER},
};

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

static bool is_same_device(const struct picture *picture, size_t a, size_t b)
{
    return ta_ref_integer(picture->in, SAMPLE_RANK, a) ==
               ta_ref_integer(picture->in, SAMPLE_RANK, b) &&
           ta_ref_integer(picture->in, SAMPLE_DEVICE, a) ==
               ta_ref_integer(picture->in, SAMPLE_DEVICE, b);
}

/* Of memory that overflowed, this part of the most that was in use is full. */
#define FULL 0.98

static double most_memory(const struct picture *picture, size_t device)
{
    double most = 0;
    for (size_t i = device; i < ta_ref_rows(picture->in, SAMPLE_TIME); i++)
        if (is_same_device(picture, i, device))
            most = fmax(most, ta_ref_number(picture->in, SAMPLE_MEMORY, i, 0));
    return most;
}

/* The row of telemetry.limits that matters most; SIZE_MAX without any. */
static size_t find_limit(const struct picture *picture)
{
    for (size_t k = 0; k < TA_LENGTH(limits); k++) {
        size_t best = SIZE_MAX;
        double most = limits[k].least;
        for (size_t i = 0; i < ta_ref_rows(picture->in, LIMIT_SHARE); i++)
            if (ta_ref_reads(picture->in, LIMIT_NAME, i, limits[k].word) &&
                ta_ref_number(picture->in, LIMIT_SHARE, i, 0) > most) {
                most = ta_ref_number(picture->in, LIMIT_SHARE, i, 0);
                best = i;
            }
        if (best != SIZE_MAX)
            return best;
    }
    return ta_ref_largest(picture->in, LIMIT_SHARE);
}

static enum view view_of(const struct picture *picture, size_t limit)
{
    for (size_t k = 0; k < TA_LENGTH(limits) && limit != SIZE_MAX; k++)
        if (ta_ref_reads(picture->in, LIMIT_NAME, limit, limits[k].word))
            return limits[k].view;
    return BY_HEAT;
}

/* A sample of the device of a limit, else of the first device, of those whose signal is known;
 * SIZE_MAX without any. */
static size_t find_device(const struct picture *picture, size_t limit, size_t signal)
{
    const bool is_limited = limit < ta_ref_rows(picture->in, LIMIT_SHARE);
    for (size_t i = 0; i < ta_ref_rows(picture->in, signal); i++) {
        const int64_t device = ta_ref_integer(picture->in, SAMPLE_DEVICE, i);
        if (device == TA_MISSING || isnan(sample(picture, signal, i)))
            continue;
        if (!is_limited || (device == ta_ref_integer(picture->in, LIMIT_DEVICE, limit) &&
                            ta_ref_integer(picture->in, SAMPLE_RANK, i) ==
                                ta_ref_integer(picture->in, LIMIT_RANK, limit)))
            return i;
    }
    return SIZE_MAX;
}

/* Draws the device of a limit; false where too little was sampled for it. */
static bool draw(const struct picture *picture, size_t limit, enum view view)
{
    const size_t device = find_device(picture, limit, views[view].first);
    const size_t rows = ta_ref_rows(picture->in, SAMPLE_TIME);
    size_t n = 0, both = 0;
    for (size_t i = device; i < rows; i++)
        if (is_same_device(picture, i, device)) {
            n++;
            both += isnan(sample(picture, views[view].second, i)) ? 0 : 1;
        }
    if (n < SAMPLES_LEAST || both < SAMPLES_LEAST)
        return false;
    const double full = view == BY_MEMORY ? FULL * most_memory(picture, device) : INFINITY;
    for (size_t i = device; i < rows; i++)
        if (is_same_device(picture, i, device))
            TA_ROW(picture->out,
                   picture_telemetry, [TIME] = ta_int(ta_ref_integer(picture->in, SAMPLE_TIME, i)),
                   [CLOCK] = ta_num(sample(picture, SAMPLE_CLOCK, i)),
                   [HEAT] = ta_num(sample(picture, SAMPLE_HEAT, i)),
                   [POWER] = ta_num(sample(picture, SAMPLE_POWER, i)),
                   [MEMORY] = ta_num(sample(picture, SAMPLE_MEMORY, i)),
                   [LIMIT] = view != BY_MEMORY                           ? limit_of(picture, i)
                             : sample(picture, SAMPLE_MEMORY, i) >= full ? ta_string("memory full")
                                                                         : ta_null());
    ta_draw(picture->out, &picture_telemetry, &views[view].chart);
    return true;
}

bool picture_of_telemetry(const struct picture *picture)
{
    const size_t limit = find_limit(picture);
    return ta_ref_rows(picture->in, LEVELS_BYTES) == 0 &&
           (draw(picture, limit, view_of(picture, limit)) || draw(picture, limit, BY_HEAT) ||
            draw(picture, limit, BY_POWER));
}
