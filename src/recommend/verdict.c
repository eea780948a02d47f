/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first line of a report: how busy the devices were, and what costs most. */
#include "recommend/recommend.h"

#include "result/report.h"

#include <stdio.h>

static double scalar(const struct ta_report *report, const char *id)
{
    const struct ta_scalar *found = ta_report_scalar(report, id);
    return found ? ta_cell_number(&found->value, -1) : -1;
}

void ta_verdict_set(struct ta_report *report, const struct ta_finding *worst)
{
    char line[1024], window[TA_UNIT_TEXT_MAX], share[TA_UNIT_TEXT_MAX];
    const double busy = scalar(report, "gpu_busy_share");
    const double longest = scalar(report, "gpu_window_ns");
    if (busy < 0) {
        snprintf(line, sizeof line, "%s",
                 ta_report_table(report, "ops.by_name")
                     ? "No device activity was recorded: host figures only."
                     : "No timed events were recorded.");
    } else {
        ta_unit_format(window, longest, TA_UNIT_NS);
        ta_unit_format(share, busy, TA_UNIT_RATIO);
        snprintf(line, sizeof line, "GPU busy %s of %s. %s.", share, window,
                 worst ? worst->title : "No rule found anything worth changing");
    }
    ta_report_set_verdict(report, line, worst ? worst->id : NULL);
}
