/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole run as one call: paths in, frozen reports out.  Start reading at pipeline.c. */
#ifndef TA_PIPELINE_H
#define TA_PIPELINE_H

#include "ingest/inputs/options.h"
#include "traceanalyze/report.h"

struct ta_ctx;
struct ta_registry;

/* One of several runs of the inputs. */
struct ta_made_run {
    const char *name;
    struct ta_report *report;
};

/* What a call makes: the report of the run that the inputs are; of inputs that are several runs one
 * that lists them, and the report of each. */
struct ta_made {
    struct ta_report *report;
    struct ta_made_run *runs;
    size_t n;           /* 0: the inputs are one run */
    const char **names; /* of the runs; ends with NULL; from the arena */
    struct ta_arena arena;
};

/* discover → read → parse → normalize → analyze → recommend.  On TA_OK the caller frees *made; on
 * failure the chain of causes is in ctx.  TA_ERR_INPUT when nothing was usable.  Of a team only the
 * first process gets a report, all others NULL. */
enum ta_status ta_pipeline_make(struct ta_ctx *ctx, const struct ta_registry *registry,
                                const struct ta_run_options *options,
                                struct ta_made *made) TA_MUST_CHECK;
void ta_made_free(struct ta_made *made);

/* The same where that report alone is wanted, which the caller owns. */
enum ta_status ta_pipeline_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                               const struct ta_run_options *options,
                               struct ta_report **report) TA_MUST_CHECK;

/* The same of several runs that are to be compared, one per input, with reports[] in their order,
 * which is all NULL before.  Files of different runs are read at the same time where a run has
 * fewer than there are threads.  Whatever it returns, what is in reports[] is the caller's. */
enum ta_status ta_pipeline_run_each(struct ta_ctx *ctx, const struct ta_registry *registry,
                                    const struct ta_run_options *options,
                                    struct ta_report **reports) TA_MUST_CHECK;

#endif
