/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of parts of a run as one report.
 *
 * Rows that belong to a rank stay as they are, beside those of the other ranks.  Of names over all
 * ranks counts and times add up, and extremes, means and deviations follow; quantiles are lost.
 * What needs the traces of all ranks at once, such as matched collectives, cannot be made of
 * reports: such tables are left out, and the sections say so. */
#ifndef TA_JOIN_H
#define TA_JOIN_H

#include "analyze/analyze.h"
#include "ingest/inputs/options.h"

struct ta_quality;

/* A report with the name it goes by. */
struct ta_joined {
    const struct ta_report *report;
    const char *shown;
};

/* The reports in any order: the outcome is the same.  TA_ERR_INPUT when two of them have the same
 * rank.  `job` is what was noticed about all inputs; `world_size` is TA_MISSING or what the user
 * says. */
enum ta_status ta_join(struct ta_ctx *ctx, const struct ta_registry *registry,
                       const struct ta_run_options *options, const struct ta_plan *plan,
                       struct ta_joined *parts, size_t n, struct ta_quality *job,
                       struct ta_report **report) TA_MUST_CHECK;

/* Adds the tables of the parts to the sections of `out` (join_tables.c); false without memory. */
bool ta_join_tables(const struct ta_joined *parts, size_t n, struct ta_report *out) TA_MUST_CHECK;

#endif
