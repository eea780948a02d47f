/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much the processors and disks of the host are used, or how much memory, where nothing else
 * was recorded. */
#include <traceanalyze/headline.h>

#include <math.h>

enum { MEAN, MAX, SIGNAL, PEAK };
static const struct ta_ref reads[] = {
    [MEAN] = {"telemetry.by_rank", "mean"},
    [MAX] = {"telemetry.by_rank", "max"},
    [SIGNAL] = {"telemetry.by_rank", "signal"},
    [PEAK] = {"memory.by_rank", "peak_allocated_bytes"},
};

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    char share[TA_UNIT_TEXT_MAX], used[TA_UNIT_TEXT_MAX];
    for (size_t i = 0; i < ta_ref_rows(in, MEAN) && ta_line_is_empty(line); i++)
        if (ta_ref_reads(in, SIGNAL, i, "cpu_utilization"))
            ta_say(line,
                   "The processors of the host are in use %s of the time; no device was sampled.",
                   ta_unit_format(share, ta_ref_number(in, MEAN, i, NAN), TA_UNIT_RATIO));
    for (size_t i = 0; i < ta_ref_rows(in, MEAN) && ta_line_is_empty(line); i++)
        if (ta_ref_reads(in, SIGNAL, i, "gpu_memory_used"))
            ta_say(line, "Up to %s of GPU memory is in use.",
                   ta_unit_format(used, ta_ref_number(in, MAX, i, NAN), TA_UNIT_BYTES));
    for (size_t i = 0; i < ta_ref_rows(in, MEAN) && ta_line_is_empty(line); i++)
        if (ta_ref_reads(in, SIGNAL, i, "disk_read"))
            ta_say(line, "%s are read from disks on average, up to %s.",
                   ta_unit_format(share, ta_ref_number(in, MEAN, i, NAN), TA_UNIT_BYTES_PER_S),
                   ta_unit_format(used, ta_ref_number(in, MAX, i, NAN), TA_UNIT_BYTES_PER_S));
    const size_t peak = ta_ref_largest(in, PEAK);
    if (peak != SIZE_MAX && ta_line_is_empty(line))
        ta_say(line, "Memory in use peaks at %s.",
               ta_unit_format(used, ta_ref_number(in, PEAK, peak, NAN), TA_UNIT_BYTES));
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 4, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, host, &ops, .title = "Host",
          .summary = "Use of processors, disks or memory, where nothing else was recorded",
          .version = "1");
