/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/slow_clock.h"

#include <math.h>

struct ta_slow_clock ta_slow_clock_judge(double its, double others, double excess)
{
    return (struct ta_slow_clock){.is_cause = others / its - 1 >= excess / 2 &&
                                              its <= TA_CLOCK_LOW * others,
                                  .its = its,
                                  .others = others,
                                  .heat = NAN};
}

const char *ta_slow_clock_because(struct ta_advice *advice, const struct ta_slow_clock *slow)
{
    if (!slow->is_cause)
        return "";
    const char *its = ta_advice_number(advice, slow->its, TA_UNIT_HERTZ);
    const char *others = ta_advice_number(advice, slow->others, TA_UNIT_HERTZ);
    if (isnan(slow->heat))
        return ta_advice_printf(
            advice, ", because its GPU runs at a lower clock (%s, the others at %s)", its, others);
    return ta_advice_printf(
        advice,
        slow->is_lowered_by_it ? ", because heat (%s) lowers its GPU's clock to %s (the others: %s)"
                               : ", because its GPU is hot (%s) and runs at %s (the others: %s)",
        ta_advice_number(advice, slow->heat, TA_UNIT_CELSIUS), its, others);
}

const char *ta_slow_clock_advice(struct ta_advice *advice, const struct ta_slow_clock *slow,
                                 double rank)
{
    return ta_advice_printf(
        advice,
        isnan(slow->heat)
            ? "Find out why the clock of the GPU of rank %.0f is lower (`nvidia-smi -q -d "
              "PERFORMANCE,CLOCK`): a power cap, a fixed clock, heat or another process on that "
              "GPU."
            : "Improve the cooling of the GPU of rank %.0f (air flow, fans), lower its power limit "
              "(`nvidia-smi -pl`) for a steady clock, or leave that GPU out.",
        rank);
}
