/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices whose kernels run all the time and use little of them. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { SHARE, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
               "Share of the busy samples above which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
              "Share of the busy samples above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum { LIMIT, PART, USED, POWER, POWER_ELSE, POWER_LIMIT, ACTIVITY, SM, TIME, SIGNAL, MEAN };

static const struct ta_ref reads[] = {
    [LIMIT] = {"telemetry.limits", "limit"},
    [PART] = {"telemetry.limits", "share"},
    [USED] = {"telemetry.limits", "utilization"},
    [POWER] = {"telemetry.limits", "power"},
    [POWER_ELSE] = {"telemetry.limits", "power_else"},
    [POWER_LIMIT] = {"telemetry.limits", "power_limit"},
    [ACTIVITY] = {"telemetry.limits", "memory_activity"},
    [SM] = {"telemetry.limits", "sm_activity"},
    [TIME] = {"telemetry.limits", "time_ns"},
    [SIGNAL] = {"telemetry.by_rank", "signal"},
    [MEAN] = {"telemetry.by_rank", "mean"},
};

static const struct ta_look look = {.cells = PART, .where = {{LIMIT, "little_work"}}};

static const char *number(struct ta_advice *advice, double value, enum ta_unit unit)
{
    return ta_advice_number(advice, value, unit);
}

/* How many devices do little, in more than that share of their busy samples. */
static size_t count_devices(const struct ta_refs *in, double least)
{
    size_t n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, LIMIT); row++)
        n += ta_ref_reads(in, LIMIT, row, "little_work") && ta_ref_number(in, PART, row, 0) > least;
    return n;
}

/* "it draws 118 W of 450 W and its memory works 1 % of the time" */
static const char *what_it_does(const struct ta_refs *in, struct ta_advice *advice, size_t row,
                                const char *it)
{
    const double sm = ta_ref_number(in, SM, row, NAN), power = ta_ref_number(in, POWER, row, NAN);
    const double limit = ta_ref_number(in, POWER_LIMIT, row, NAN),
                 otherwise = ta_ref_number(in, POWER_ELSE, row, NAN);
    const double activity = ta_ref_number(in, ACTIVITY, row, NAN);
    const char *draws = "";
    if (!isnan(power))
        draws = ta_advice_printf(advice, "%s draws %s%s%s", it, number(advice, power, TA_UNIT_WATT),
                                 isnan(limit) && !(otherwise > power) ? "" : " of ",
                                 !isnan(limit)       ? number(advice, limit, TA_UNIT_WATT)
                                 : otherwise > power ? number(advice, otherwise, TA_UNIT_WATT)
                                                     : "");
    const char *and = *draws ? " and " : "";
    if (!isnan(sm))
        return ta_advice_printf(advice, "%s%s%s of its multiprocessors work", draws, and,
                                number(advice, sm, TA_UNIT_RATIO));
    return isnan(activity) ? draws
                           : ta_advice_printf(advice, "%s%sits memory works %s of the time", draws,
                                              and, number(advice, activity, TA_UNIT_RATIO));
}

/* Whether a device does little, too. */
static bool is_one_of_them(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < ta_ref_rows(in, LIMIT); i++)
        if (ta_ref_reads(in, LIMIT, i, "little_work") &&
            ta_ref_rank(in, LIMIT, i) == ta_ref_rank(in, MEAN, row) &&
            ta_ref_device(in, LIMIT, i) == ta_ref_device(in, MEAN, row))
            return true;
    return false;
}

/* The row of the power of the device that draws most of those that work, which they may
 * wait for; SIZE_MAX without. */
static size_t who_works(const struct ta_refs *in, size_t row)
{
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, MEAN); i++)
        if (ta_ref_reads(in, SIGNAL, i, "gpu_power") && !is_one_of_them(in, i) &&
            ta_ref_device(in, MEAN, i) != TA_MISSING &&
            ta_ref_number(in, MEAN, i, 0) > 1.5 * ta_ref_number(in, POWER, row, INFINITY) &&
            (most == SIZE_MAX || ta_ref_number(in, MEAN, i, 0) > ta_ref_number(in, MEAN, most, 0)))
            most = i;
    return most;
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double least = ta_ctx_option(ctx, SHARE);
    struct ta_place part;
    if (!ta_look_worst(in, &look, &part) || part.value <= least)
        return TA_OK;
    const size_t n = count_devices(in, least), worker = who_works(in, part.row);
    const double time = ta_ref_number(in, TIME, part.row, 0);
    const long long device = worker == SIZE_MAX ? 0 : (long long)ta_ref_device(in, MEAN, worker);
    const struct ta_evidence evidence[] = {
        ta_place_evidence(&part), ta_ref_evidence(in, USED, part.row),
        ta_ref_evidence(in, isnan(ta_ref_number(in, POWER, part.row, NAN)) ? SM : POWER, part.row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "little-work",
            .rule = "little_work",
            .title = ta_advice_printf(
                advice, "%s %s utilization but do%s little in %s%s of the busy samples%s: %s%s%s",
                n > 1 ? ta_advice_printf(advice, "%zu GPUs show", n) : "The GPU shows",
                number(advice, ta_ref_number(in, USED, part.row, 1), TA_UNIT_RATIO),
                n > 1 ? "" : "es", n > 1 ? "up to " : "", number(advice, part.value, TA_UNIT_RATIO),
                time > 0 ? ta_advice_printf(advice, " (%s)", number(advice, time, TA_UNIT_NS)) : "",
                what_it_does(in, advice, part.row, n > 1 ? "one" : "it"),
                ta_place_owner(advice, in->report, &part),
                worker == SIZE_MAX
                    ? ""
                    : ta_advice_printf(
                          advice, ", while device %lld draws %s", device,
                          number(advice, ta_ref_number(in, MEAN, worker, 0), TA_UNIT_WATT))),
            .why = worker == SIZE_MAX ? "Utilization counts all time with a kernel on the GPU, "
                                        "even a tiny one or one that waits."
                                      : "Utilization counts all time with a kernel on the GPU, "
                                        "even a collective that waits for another rank.",
            .advice =
                worker == SIZE_MAX
                    ? "Record a torch trace of a few steps: it shows whether kernels are small "
                      "(larger batches, CUDA graphs) or wait (links, a rank that hangs)."
                    : ta_advice_printf(
                          advice,
                          "See what the process on device %lld does that the others do "
                          "not; a torch trace of all ranks names who is late.",
                          device),
            .severity = part.value > ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 3,
            .saving_low_ns = TA_MISSING,
            .saving_high_ns = TA_MISSING,
            .confidence = isnan(ta_ref_number(in, SM, part.row, NAN)) ? 0.85 : 0.9,
            .threshold = ta_advice_printf(advice, "share of busy samples > %s",
                                          number(advice, least, TA_UNIT_RATIO)),
        });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, little_work, &ops, .title = "Utilization without work",
          .summary = "Fires when a device shows full utilization and its power, memory or "
                     "multiprocessors show little work",
          .version = "1", .options = options);
