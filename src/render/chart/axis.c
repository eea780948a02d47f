/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes: round tick values for linear and logarithmic scales. */
#include "render/chart/axis.h"

#include "report/unit.h"

#include <math.h>

/* Rounding noise allowed when a tick is compared with the end of its axis. */
#define SLACK 1e-9

/* What one of the unit's prefix words is worth where that is no power of ten, so that ticks are
 * round in the unit shown: sizes go by 1024. */
static double prefix_value(double largest, enum ta_unit unit)
{
    double value = 1;
    while (unit == TA_UNIT_BYTES && largest >= value * 1024 && value < 0x1p40)
        value *= 1024;
    return value;
}

/* The smallest of 1, 2, 5 × 10^k that divides `span` into at most `want` steps. */
static double round_step(double span, size_t want)
{
    double rough = span / (double)want;
    double power = pow(10, floor(log10(rough)));
    for (int i = 0; i < 3; i++) {
        static const double factors[] = {1, 2, 5};
        if (factors[i] * power >= rough * (1 - SLACK))
            return factors[i] * power;
    }
    return 10 * power;
}

struct ta_axis ta_axis_linear(double low, double high, enum ta_unit unit, size_t want,
                              enum ta_axis_ends ends)
{
    struct ta_axis axis = {.unit = unit, .from = low, .to = high};
    if (!isfinite(low) || !isfinite(high) || !(low < high) || !isfinite(high - low)) {
        /* One value or none: an axis of some length, with a tick where the value is. */
        axis.from = isfinite(low) ? low : 0;
        axis.to = axis.from + fmax(1, fabs(axis.from));
        axis.ticks[axis.n_ticks++] = axis.from;
        return axis;
    }
    if (want < 1)
        want = 1;
    if (want > TA_AXIS_TICKS_MAX / 2)
        want = TA_AXIS_TICKS_MAX / 2;
    double value = prefix_value(fmax(fabs(low), fabs(high)), unit);
    double step = round_step((high - low) / value, want) * value;
    bool whole = unit == TA_UNIT_COUNT || unit == TA_UNIT_BYTES || unit == TA_UNIT_NS;
    if (whole && step < 1)
        step = 1; /* there is no half event, byte or nanosecond */
    if (ends == TA_AXIS_ROUND) {
        axis.from = floor(low / step + SLACK) * step;
        axis.to = ceil(high / step - SLACK) * step;
        axis.to = axis.from < axis.to ? axis.to : axis.from + step;
    }

    double first = ceil(axis.from / step - SLACK);
    for (size_t i = 0; i < TA_AXIS_TICKS_MAX; i++) {
        double tick = (first + (double)i) * step;
        if (tick > axis.to + step * SLACK)
            break;
        axis.ticks[axis.n_ticks++] = tick == 0 ? 0 : tick;
    }
    if (axis.n_ticks == 0) /* the range lies between two multiples */
        axis.ticks[axis.n_ticks++] = axis.from;
    return axis;
}

static void add_tick(struct ta_axis *axis, double tick)
{
    bool inside = tick >= axis->from * (1 - SLACK) && tick <= axis->to * (1 + SLACK);
    if (inside && axis->n_ticks < TA_AXIS_TICKS_MAX)
        axis->ticks[axis->n_ticks++] = tick;
}

/* Three ticks per decade when they fit, else one per `stride` decades. */
static void fill_decades(struct ta_axis *axis, size_t want)
{
    static const double all[] = {1, 2, 5};
    double decades = log10(axis->to / axis->from);
    bool fine = decades * 3 <= (double)want;
    int stride = ta_whole_int(fmax(1, ceil(decades / (double)want)));
    int first = ta_whole_int(floor(log10(axis->from))) - 1,
        last = ta_whole_int(ceil(log10(axis->to))) + 1;
    for (int power = first; power <= last; power++)
        for (int i = 0; i < (fine ? 3 : 1); i++)
            if (fine || (power % stride + stride) % stride == 0)
                add_tick(axis, all[i] * pow(10, power));
}

/* Sizes have prefixes of 1024, between which powers of two are round. */
static void fill_octaves(struct ta_axis *axis, size_t want)
{
    static const int strides[] = {1, 2, 5, 10, 20, 40, 80, 160, 320};
    size_t i = 0;
    while (i + 1 < sizeof strides / sizeof *strides &&
           log2(axis->to / axis->from) / strides[i] > (double)want)
        i++;
    const int first = ta_whole_int(floor(log2(axis->from) / strides[i]));
    const int last = ta_whole_int(ceil(log2(axis->to) / strides[i]));
    for (int power = first; power <= last; power++)
        add_tick(axis, exp2((double)power * strides[i]));
}

struct ta_axis ta_axis_log(double low, double high, enum ta_unit unit, size_t want)
{
    struct ta_axis axis = {.unit = unit, .log = true, .from = low, .to = fmax(low * 2, high)};
    /* Numbers of ranks double. */
    const bool doubles = unit == TA_UNIT_COUNT && axis.to / axis.from < 1024;
    if (unit == TA_UNIT_BYTES || doubles)
        fill_octaves(&axis, want < 2 ? 2 : want);
    else
        fill_decades(&axis, want < 2 ? 2 : want);
    /* Less than a decade has hardly a tick that is 1, 2 or 5. */
    if (axis.n_ticks < 2 && unit != TA_UNIT_BYTES && !doubles) {
        static const double all[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
        const int first = ta_whole_int(floor(log10(axis.from))),
                  last = ta_whole_int(ceil(log10(axis.to)));
        axis.n_ticks = 0;
        for (int power = first; power <= last; power++)
            for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                add_tick(&axis, all[i] * pow(10, power));
    }
    return axis;
}

double ta_axis_share(const struct ta_axis *axis, double value)
{
    double share = axis->log
                       ? log(fmax(value, axis->from) / axis->from) / log(axis->to / axis->from)
                       : (value - axis->from) / (axis->to - axis->from);
    return fmin(1, fmax(0, share));
}

char *ta_axis_format(char text[TA_UNIT_TEXT_MAX], const struct ta_axis *axis, double tick)
{
    if (axis->log)
        return ta_unit_format_tick(text, tick, tick, axis->unit, true);
    return ta_unit_format_tick(text, tick, fmax(fabs(axis->from), fabs(axis->to)), axis->unit,
                               false);
}

const char *ta_axis_symbol(const struct ta_axis *axis)
{
    if (axis->log)
        return "";
    return ta_unit_symbol(fmax(fabs(axis->from), fabs(axis->to)), axis->unit);
}
