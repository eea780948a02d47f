/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How several runs of different world size compare: reports in, a report out.
 *
 *     read     report of a run   → what a step of it takes, and what it gets done
 *     speed    runs              → speed-up and efficiency, relative to the smallest world size
 *     laws     speed-ups         → what Amdahl's law and the universal scalability law say of more
 *
 * Ranks of different runs never meet: each run has gone through the pipeline alone, or its report
 * was saved.  Start reading at scaling.c. */
#ifndef TA_SCALING_SCALING_H
#define TA_SCALING_SCALING_H

#include "plugin/registry.h"
#include "traceanalyze/report.h"

struct ta_ctx;
struct ta_part;

/* What a comparison of world sizes declares: the tables that it makes, and those that it reads;
 * ends with NULL. */
extern const struct ta_part *const ta_scaling_parts[];

/* What larger runs do more of. */
enum ta_scaling_kind {
    TA_SCALING_AUTO,   /* as recorded: frames, or FLOPs; else nothing */
    TA_SCALING_STRONG, /* nothing: the same work by more ranks */
    TA_SCALING_WEAK    /* everything: the same work for each rank */
};

/* Makes the report of a comparison of `n` frozen reports; `title` NULL is made from the titles of
 * the runs. On TA_OK the caller owns *report. */
enum ta_status ta_scaling(struct ta_ctx *ctx, const struct ta_registry *registry,
                          const struct ta_report *const *runs, size_t n, enum ta_scaling_kind kind,
                          const char *title, struct ta_report **report) TA_MUST_CHECK;

#endif
