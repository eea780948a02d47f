/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much devices were in use, as sampled. */
#include <traceanalyze/headline.h>

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    const struct ta_scalar *used = ta_report_scalar(in->report, "gpu_utilization");
    const double share = used ? ta_cell_number(&used->value, -1) : -1;
    char text[TA_UNIT_TEXT_MAX];
    if (share >= 0)
        ta_say(line, "The devices are in use %s of the time.",
               ta_unit_format(text, share, TA_UNIT_RATIO));
}

static const struct ta_headline_ops ops = {.level = TA_HEADLINE_USE, .place = 1, .say = say};

TA_PLUGIN(headline, utilization, &ops, .title = "Utilization",
          .summary = "Use of devices, as sampled", .version = "1");
