/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole run as one call: paths in, a frozen report out.  Start reading at pipeline.c. */
#ifndef TA_PIPELINE_H
#define TA_PIPELINE_H

#include "ingest/inputs/options.h"
#include "traceanalyze/report.h"

struct ta_ctx;
struct ta_registry;

/* discover → read → parse → normalize → analyze → recommend.  On TA_OK the caller owns
 * *report; on failure the chain of causes is in ctx.  TA_ERR_INPUT when nothing was usable.  Of a
 * team only the first process gets a report, all others NULL. */
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
