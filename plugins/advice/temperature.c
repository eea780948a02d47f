/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hot devices, which lower their clocks to protect themselves. */
#include <traceanalyze/rule.h>

enum { LIMIT, HIGH };

static const struct ta_option options[] = {
    [LIMIT] = {"limit", TA_OPTION_NUMBER, 85, 0, 200, TA_OPTION_PLAIN,
               "Degrees Celsius above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 90, 0, 200, TA_OPTION_PLAIN,
              "Degrees Celsius above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { SIGNAL, HOTTEST, SLOWED };

static const struct ta_ref reads[] = {
    [SIGNAL] = {"telemetry.by_rank", "signal"},
    [HOTTEST] = {"telemetry.by_rank", "max"},
    [SLOWED] = {"telemetry.limits", "limit"},
};

/* Whether the samples say that heat lowers a clock, which is a finding of its own, or that it
 * lowers none: the driver was asked. */
static bool is_known(const struct ta_refs *in)
{
    static const char *const slowed[] = {"gpu_thermal_slowdown", "gpu_hardware_thermal_slowdown",
                                         "temperature"};
    static const char *const asked[] = {"gpu_thermal_slowdown", "gpu_clock"};
    for (size_t row = 0; row < ta_ref_rows(in, SLOWED); row++)
        for (size_t i = 0; i < TA_LENGTH(slowed); i++)
            if (ta_ref_reads(in, SLOWED, row, slowed[i]))
                return true;
    for (size_t row = 0; row < ta_ref_rows(in, SIGNAL); row++)
        for (size_t i = 0; i < TA_LENGTH(asked); i++)
            if (ta_ref_reads(in, SIGNAL, row, asked[i]))
                return true;
    return false;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look look = {.cells = HOTTEST, .where = {{SIGNAL, "gpu_temperature"}}};
    const double limit = ta_ctx_option(ctx, LIMIT);
    struct ta_place hottest;
    if (is_known(in) || !ta_look_worst(in, &look, &hottest) || hottest.value <= limit)
        return TA_OK;
    const struct ta_evidence evidence = ta_place_evidence(&hottest);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "temperature",
            .rule = "temperature",
            .title = ta_advice_printf(advice, "A GPU reaches %s, where GPUs lower their clock%s",
                                      ta_advice_number(advice, hottest.value, TA_UNIT_CELSIUS),
                                      ta_place_owner(advice, in->report, &hottest)),
            .why = "Clocks were not sampled, so what it costs is not known.",
            .advice =
                "Sample clocks and their limits (nvidia-smi dmon -s pucv), check air flow and "
                "fans, and lower the power limit if the clock falls.",
            .severity = hottest.value > ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = &evidence,
            .n_evidence = 1,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = 0.7,
            .threshold = ta_advice_printf(advice, "largest temperature > %.0f °C", limit),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, temperature, &ops, .title = "Hot devices",
          .summary = "Fires when a device gets hot", .version = "1", .options = options);
