/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of parts of a run as one report.
 *
 * Rows that belong to a rank stay as they are, next to the rows of the other ranks. Of names over
 * all ranks counts and times add up, and extremes, means and deviations follow; quantiles are lost.
 * What needs the traces of all ranks at once, such as matched collectives, cannot be made of
 * reports: such tables are left out, and the sections say so. */
#ifndef TA_JOIN_H
#define TA_JOIN_H

#include "analyze/analyze.h"
#include "ingest/inputs/inputs.h"

/* A report with the name it goes by. */
struct ta_joined {
    const struct ta_report *report;
    const char *shown;
};

/* Reads the reports among the inputs and makes one of them and of `own`, the report of the files
 * that were read, or NULL; a single report stays as it is. TA_ERR_INPUT when two of them have the
 * same rank. The caller owns *report. */
enum ta_status ta_join_inputs(struct ta_ctx *ctx, const struct ta_registry *registry,
                              const struct ta_plan *plan, const struct ta_run_options *options,
                              struct ta_inputs *inputs, const struct ta_report *own,
                              struct ta_report **report) TA_MUST_CHECK;

/* Adds the tables of the parts to the sections of `out` (join_tables.c), as they are declared;
 * false without memory. */
bool ta_join_tables(const struct ta_registry *registry, const struct ta_joined *parts, size_t n,
                    struct ta_report *out) TA_MUST_CHECK;

#endif
