/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several runs of one input, or several recordings of one run, in one table: runs.overview. */
#ifndef TA_COMPARE_OVERVIEW_H
#define TA_COMPARE_OVERVIEW_H

#include "compare/compare.h"

/* One of them, in the order in which they were recorded. */
struct ta_overview_row {
    const char *run, *recording, *kind;
    size_t n_files;
    int64_t start_ns;               /* since 1970, or TA_MISSING */
    bool is_chosen;                 /* the report of its run is of this recording */
    const struct ta_report *report; /* frozen */
    struct ta_report *made;         /* the same, where it is to be freed */
};

extern const struct ta_part *const ta_overview_parts[]; /* ends with NULL */

/* Puts runs in the order of time, those without dates last by name. */
void ta_overview_order(struct ta_overview_row *rows, size_t n);

/* Adds the tables runs.overview and, of recordings of one run, runs.spread to a report, and freezes
 * it again. */
enum ta_status ta_overview_add(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_overview_row *rows, size_t n,
                               struct ta_report *report) TA_MUST_CHECK;

/* What a report on several runs says in one sentence: how many, and how long each takes. */
enum ta_status ta_overview_conclude(struct ta_ctx *ctx, const struct ta_registry *registry,
                                    const struct ta_overview_row *rows, size_t n,
                                    struct ta_report *report) TA_MUST_CHECK;

#endif
