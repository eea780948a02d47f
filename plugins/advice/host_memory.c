/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices whose memory overflows into host memory. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
               "Share of the busy samples above which the rule fires"},
    TA_OPTIONS_END,
};

enum { LIMIT, PART, SINCE, MEMORY, TOTAL, PCIE, POWER, POWER_ELSE, POWER_LIMIT, TIME };

static const struct ta_ref reads[] = {
    [LIMIT] = {"telemetry.limits", "limit"},
    [PART] = {"telemetry.limits", "share"},
    [SINCE] = {"telemetry.limits", "since_ns"},
    [MEMORY] = {"telemetry.limits", "memory_used"},
    [TOTAL] = {"telemetry.limits", "memory_total"},
    [PCIE] = {"telemetry.limits", "pcie_rate"},
    [POWER] = {"telemetry.limits", "power"},
    [POWER_ELSE] = {"telemetry.limits", "power_else"},
    [POWER_LIMIT] = {"telemetry.limits", "power_limit"},
    [TIME] = {"telemetry.limits", "time_ns"},
};

static const struct ta_look look = {.cells = PART, .where = {{LIMIT, "host_memory"}}};

static const char *number(const struct ta_refs *in, struct ta_advice *advice, size_t ref,
                          size_t row, enum ta_unit unit)
{
    return ta_advice_number(advice, ta_ref_number(in, ref, row, 0), unit);
}

/* "power falls from 153 W to 47.5 W", or where it was always low "it draws 50 W of 250 W". */
static const char *what_it_draws(const struct ta_refs *in, struct ta_advice *advice, size_t row)
{
    const char *power = number(in, advice, POWER, row, TA_UNIT_WATT);
    if (ta_ref_number(in, POWER_ELSE, row, 0) > ta_ref_number(in, POWER, row, 0))
        return ta_advice_printf(advice, "power falls from %s to %s",
                                number(in, advice, POWER_ELSE, row, TA_UNIT_WATT), power);
    return ta_advice_printf(advice, "it draws %s of %s", power,
                            number(in, advice, POWER_LIMIT, row, TA_UNIT_WATT));
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double least = ta_ctx_option(ctx, SHARE);
    struct ta_place part;
    if (!ta_look_worst(in, &look, &part) || part.value <= least)
        return TA_OK;
    const size_t row = part.row;
    const double pcie = ta_ref_number(in, PCIE, row, NAN);
    const double time = ta_ref_number(in, TIME, row, 0), total = ta_ref_number(in, TOTAL, row, NAN);
    /* How fast the work would be without is not in the samples: power is the nearest that is. */
    const double speed =
        ta_ref_number(in, POWER, row, NAN) / ta_ref_number(in, POWER_ELSE, row, NAN);
    const bool has_gain = time > 0 && speed > 0 && speed < 1;
    const struct ta_evidence evidence[] = {
        ta_place_evidence(&part), ta_ref_evidence(in, POWER, row), ta_ref_evidence(in, PCIE, row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "host-memory",
            .rule = "host_memory",
            .title = ta_advice_printf(
                advice,
                "GPU memory overflows into host memory in %s of the busy samples%s: it is full "
                "(%s%s), and %s%s",
                ta_advice_number(advice, part.value, TA_UNIT_RATIO),
                ta_ref_number(in, SINCE, row, 0) > 0
                    ? ta_advice_printf(advice, ", from %s on",
                                       number(in, advice, SINCE, row, TA_UNIT_NS))
                    : "",
                number(in, advice, MEMORY, row, TA_UNIT_BYTES),
                isnan(total) ? ""
                             : ta_advice_printf(advice, " of %s",
                                                ta_advice_number(advice, total, TA_UNIT_BYTES)),
                what_it_draws(in, advice, row), ta_place_owner(advice, in->report, &part)),
            .why = isnan(pcie)
                       ? "Kernels wait for data over PCIe, which the utilization counts as work."
                       : ta_advice_printf(
                             advice,
                             "PCIe carries %s, both directions together: kernels wait for these "
                             "data, which the utilization counts as work.",
                             ta_advice_number(advice, pcie, TA_UNIT_BYTES_PER_S)),
            .advice =
                "Use less GPU memory (fewer frames or tiles at a time, weights in 8 bit, idle "
                "models moved away); \"Prefer No Sysmem Fallback\" in the NVIDIA driver for "
                "Windows turns the overflow into an error.",
            .details = has_gain
                           ? ta_advice_printf(
                                 advice,
                                 "The saving assumes that at %s of the power at most that share of "
                                 "the work is done, since an idle GPU draws power too.",
                                 ta_advice_number(advice, speed, TA_UNIT_RATIO))
                           : NULL,
            .severity = TA_HIGH,
            .evidence = evidence,
            .n_evidence = isnan(pcie) ? 2 : 3,
            .saving_low_ns = has_gain ? ta_whole((1 - speed) * time) : TA_MISSING,
            .saving_high_ns = has_gain ? ta_whole(fmax(1 - speed, 0.95) * time) : TA_MISSING,
            .confidence = isnan(pcie) ? 0.4 : 0.5,
            .threshold = ta_advice_printf(advice, "share of busy samples > %s",
                                          ta_advice_number(advice, least, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, host_memory, &ops, .title = "GPU memory that overflows into the host",
          .summary = "Fires when a device works on host memory because its own is full",
          .version = "1", .options = options);
