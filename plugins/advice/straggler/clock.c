/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock and the temperature of a straggler's GPU, next to the other GPUs'. */
#include "recommend/rule.h"
#include "straggler.h"

#include <math.h>

enum { OTHERS_MOST = 1024 }; /* that a rank is compared with */

double straggler_median_of_others(const struct ta_refs *in, const struct ta_look *look, size_t row)
{
    double values[OTHERS_MOST];
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, look->cells) && n < OTHERS_MOST; i++)
        if (i != row && ta_look_takes(in, look, i))
            values[n++] = ta_ref_number(in, look->cells, i, NAN);
    ta_sort_numbers(values, n);
    return ta_quantile(values, n, 0.5);
}

/* The row of a signal of a rank's GPU; a rank may sample all devices of its host. */
static size_t sampled(const struct ta_refs *in, double rank, const char *signal)
{
    size_t found = SIZE_MAX, n = 0;
    double device = NAN;
    for (size_t row = 0; row < ta_ref_rows(in, GPU_RANK); row++)
        if (ta_ref_number(in, GPU_RANK, row, NAN) == rank)
            device = ta_ref_number(in, GPU_DEVICE, row, NAN);
    for (size_t row = 0; row < ta_ref_rows(in, SIGNAL); row++) {
        if (!ta_ref_reads(in, SIGNAL, row, signal) ||
            ta_ref_number(in, SAMPLE_RANK, row, NAN) != rank)
            continue;
        if (ta_ref_number(in, SAMPLE_DEVICE, row, NAN) == device)
            return row;
        found = row;
        n++;
    }
    return n == 1 ? found : SIZE_MAX;
}

struct ta_slow_clock straggler_clock(const struct ta_refs *in, double rank, double excess,
                                     const struct ta_place *blame)
{
    static const char *const by_heat[] = {"gpu_thermal_slowdown", "gpu_hardware_thermal_slowdown",
                                          "temperature"};
    static const struct ta_look clocks = {.cells = SAMPLE_MEAN, .where = {{SIGNAL, "gpu_clock"}}};
    const size_t row = sampled(in, rank, "gpu_clock");
    if (row == SIZE_MAX || (blame->table && !ta_ref_reads(in, BLAME_KIND, blame->row, "kernel")))
        return (struct ta_slow_clock){.heat = NAN};
    struct ta_slow_clock slow =
        ta_slow_clock_judge(ta_ref_number(in, SAMPLE_MEAN, row, NAN),
                            straggler_median_of_others(in, &clocks, row), excess);
    for (size_t limit = 0; slow.is_cause && limit < ta_ref_rows(in, LIMIT); limit++)
        for (size_t i = 0; i < TA_LENGTH(by_heat); i++)
            if (ta_ref_number(in, LIMIT_RANK, limit, NAN) == rank &&
                ta_ref_reads(in, LIMIT, limit, by_heat[i])) {
                slow.heat = ta_ref_number(in, LIMIT_HEAT, limit, NAN);
                slow.its = ta_ref_number(in, LIMIT_CLOCK, limit, slow.its);
                slow.is_lowered_by_it = true;
            }
    return slow;
}

/* A GPU that is hotter or slower than the GPUs of the other ranks. */
const char *straggler_telemetry(const struct ta_refs *in, struct ta_advice *advice, double rank)
{
    static const struct {
        const char *name, *before;
        enum ta_unit unit;
        double least; /* of the others, or of them less */
    } signals[] = {{"gpu_clock", "runs at ", TA_UNIT_HERTZ, TA_CLOCK_LOW},
                   {"gpu_temperature", "is at ", TA_UNIT_CELSIUS, 1.1}};
    const char *said = "";
    for (size_t i = 0; i < TA_LENGTH(signals); i++) {
        const struct ta_look look = {.cells = SAMPLE_MEAN, .where = {{SIGNAL, signals[i].name}}};
        const size_t row = sampled(in, rank, signals[i].name);
        if (row == SIZE_MAX)
            continue;
        const double its = ta_ref_number(in, SAMPLE_MEAN, row, NAN);
        const double others = straggler_median_of_others(in, &look, row);
        if (signals[i].least < 1 ? its <= signals[i].least * others
                                 : its >= signals[i].least * others)
            said = ta_advice_printf(
                advice, "%s%s%s%s, the others %s", said,
                *said ? ", and " : ta_advice_printf(advice, " The GPU of rank %.0f ", rank),
                signals[i].before, ta_advice_number(advice, its, signals[i].unit),
                ta_advice_number(advice, others, signals[i].unit));
    }
    return *said ? ta_advice_printf(advice, "%s.", said) : "";
}
