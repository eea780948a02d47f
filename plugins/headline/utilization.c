/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much devices were in use, as sampled; before it, what keeps them slow meanwhile. */
#include <traceanalyze/headline.h>

enum { USED, SIGNAL, SAMPLES };
static const struct ta_ref reads[] = {
    [USED] = {.scalar = "gpu_utilization"},
    [SIGNAL] = {"telemetry.by_rank", "signal"},
    [SAMPLES] = {"telemetry.by_rank", "samples"},
};

static bool is_of(const struct ta_finding *worst, const char *rule)
{
    return worst && strcmp(worst->rule, rule) == 0;
}

/* Most samples of the utilization of a device. */
static int64_t most_samples(const struct ta_refs *in)
{
    int64_t most = 0;
    for (size_t row = 0; row < ta_ref_rows(in, SIGNAL); row++)
        if (ta_ref_reads(in, SIGNAL, row, "gpu_utilization"))
            most = ta_max_i64(most, ta_ref_integer(in, SAMPLES, row));
    return most;
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const double share = ta_ref_scalar(in, USED, -1);
    char text[TA_UNIT_TEXT_MAX];
    /* A device that waits for memory of the host or for other ranks only looks in use. */
    const bool only_looks = is_of(worst, "host_memory") || is_of(worst, "little_work");
    if (share < 0)
        return;
    if (only_looks || (is_of(worst, "device_limits") && worst->severity > TA_INFO)) {
        ta_say(line, "%s.", worst->title);
        ta_line_covers_finding(line);
    }
    ta_unit_format(text, share, TA_UNIT_RATIO);
    if (!only_looks && most_samples(in) == 1)
        ta_say(line, "The devices were in use %s when they were sampled, once.", text);
    else if (!only_looks)
        ta_say(line, "The devices are in use %s of the time.", text);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_USE, .place = 1, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, utilization, &ops, .title = "Utilization",
          .summary = "Use of devices, as sampled", .version = "1");
