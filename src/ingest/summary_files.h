/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries in a worker: writing the summary of a file, and reading one in place of its files. */
#ifndef TA_SUMMARY_FILES_H
#define TA_SUMMARY_FILES_H

#include "analyze/summary/summary.h"
#include "ingest/worker.h"

/* The text of a summary, packed. */
enum ta_status ta_summary_write_packed(struct ta_ctx *ctx, const struct ta_summary_scope *scope,
                                       struct ta_text *packed) TA_MUST_CHECK;

/* Packs what is kept of a file, as ta_run_options.summaries asks, and empties the worker. */
enum ta_status ta_summary_file_write(struct ta_worker *w, struct ta_ingested *file) TA_MUST_CHECK;

/* Reads the summary that `file` is the first file of.  When it cannot be used its files are
 * refused, which is no failure. */
enum ta_status ta_summary_file_read(struct ta_worker *w, struct ta_ingested *file) TA_MUST_CHECK;

#endif
