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

static const struct ta_cell_rule rule = {
    .look = {.cells = HOTTEST, .where = {{SIGNAL, "gpu_temperature"}}},
    .finding = "temperature",
    .rule = "temperature",
    .before = "A GPU gets as hot as ",
    .after = "",
    .advice = "Check the air flow and the fans, and whether the clock falls while the temperature "
              "is high (GPU clock under Telemetry over time): if so, a lower power limit "
              "costs little and makes times repeatable.",
    .predicate = "largest temperature",
    .severity = TA_MEDIUM,
    .confidence = 0.7,
};

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    /* A clock that heat lowers is a finding of its own. */
    for (size_t row = 0; row < ta_ref_rows(in, SLOWED); row++)
        if (ta_ref_reads(in, SLOWED, row, "gpu_thermal_slowdown") ||
            ta_ref_reads(in, SLOWED, row, "gpu_hardware_thermal_slowdown") ||
            ta_ref_reads(in, SLOWED, row, "temperature"))
            return TA_OK;
    ta_advise_cell(in, advice, &rule, ta_ctx_option(ctx, LIMIT), ta_ctx_option(ctx, HIGH));
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, temperature, &ops, .title = "Hot devices",
          .summary = "Fires when a device gets hot", .version = "1", .options = options);
