/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison comes to, in one line. */
#include "diff/compare.h"
#include "result/report.h"

#include <math.h>
#include <stdio.h>

/* Changes of less than this say nothing. */
#define SAME_SHARE 0.005

static const char *direction(double change)
{
    if (fabs(change) < SAME_SHARE)
        return "No change";
    return change > 0 ? "Slower" : "Faster";
}

void diff_add_verdict(struct diff *diff)
{
    const bool known = diff->window_ns[TA_DIFF_BASE] != TA_MISSING;
    const int64_t base =
        known ? diff->window_ns[TA_DIFF_BASE] : ta_run_time(diff->shown[TA_DIFF_BASE]);
    const int64_t new =
        known ? diff->window_ns[TA_DIFF_NEW] : ta_run_time(diff->shown[TA_DIFF_NEW]);
    char line[512], pair[TA_UNIT_PAIR_MAX], change[TA_UNIT_TEXT_MAX];
    if (base == TA_MISSING || new == TA_MISSING || base <= 0) {
        ta_report_set_verdict(diff->out, "Nothing says how long the runs took", NULL);
        return;
    }
    const double share = (double)(new - base) / (double)base;
    snprintf(line, sizeof line, "%s: %s (%s)", direction(share),
             ta_unit_format_pair(pair, (double)base, (double)new, TA_UNIT_NS),
             ta_unit_format(change, share, TA_UNIT_RATIO_CHANGE));
    ta_report_set_verdict(diff->out, line, NULL);
}
