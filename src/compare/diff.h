/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparison of two sides, each of one run or several: reports in, a report out.
 *
 * Everything is taken from the tables of the reports, so it makes no difference whether a run was
 * just read or its report was saved.  Start reading at diff.c. */
#ifndef TA_COMPARE_DIFF_H
#define TA_COMPARE_DIFF_H

#include "compare/evidence.h"

struct ta_ctx;
struct ta_part;
struct ta_registry;

/* The frozen reports of the runs of one side. */
struct ta_diff_side {
    const struct ta_report *const *runs;
    size_t n; /* at least 1 */
};

enum { TA_DIFF_BASE, TA_DIFF_NEW, TA_DIFF_SIDES };

/* What a comparison declares: the tables that it makes, and those that it reads; ends with NULL. */
extern const struct ta_part *const ta_diff_parts[];

/* Makes the report of a comparison; `title` NULL is made from the titles of the runs. On TA_OK the
 * caller owns *report. */
enum ta_status ta_diff(struct ta_ctx *ctx, const struct ta_registry *registry,
                       const struct ta_diff_side sides[TA_DIFF_SIDES],
                       const struct ta_judging *judging, const char *title,
                       struct ta_report **report) TA_MUST_CHECK;

/* Adds the comparison with a baseline to the frozen report of the only run of the new side. */
enum ta_status ta_diff_add(struct ta_ctx *ctx, const struct ta_registry *registry,
                           const struct ta_diff_side sides[TA_DIFF_SIDES],
                           const struct ta_judging *judging,
                           struct ta_report *report) TA_MUST_CHECK;

#endif
