/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much devices were in use, as sampled. */
#include <traceanalyze/headline.h>

enum { USED };
static const struct ta_ref reads[] = {[USED] = {.scalar = "gpu_utilization"}};

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    const double share = ta_ref_scalar(in, USED, -1);
    char text[TA_UNIT_TEXT_MAX];
    /* A device that waits for memory of the host only looks in use. */
    if (share >= 0 && worst && strcmp(worst->rule, "host_memory") == 0) {
        ta_say(line, "%s.", worst->title);
        ta_line_covers_finding(line);
    } else if (share >= 0)
        ta_say(line, "The devices are in use %s of the time.",
               ta_unit_format(text, share, TA_UNIT_RATIO));
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_USE, .place = 1, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, utilization, &ops, .title = "Utilization",
          .summary = "Use of devices, as sampled", .version = "1");
