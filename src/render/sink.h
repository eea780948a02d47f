/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The place where products go: all of them appear whole, or none. */
#ifndef TA_RENDER_SINK_H
#define TA_RENDER_SINK_H

#include "traceanalyze/output.h"

/* What -o means for the formats that were asked for. */
enum ta_sink_kind {
    TA_SINK_FOLDER, /* products by their own names below `path`, which is made if missing */
    TA_SINK_FILE,   /* the one product goes to exactly `path` */
    TA_SINK_APPEND, /* the one product is added to the end of the file at `path`, which is no link
                     */
    TA_SINK_STDOUT, /* the one product goes to standard output, written directly */
    TA_SINK_STDERR  /* the same to standard error */
};

/* Prepares a place; nothing is created yet.  NULL after ta_fail(). */
struct ta_sink *ta_sink_new(struct ta_ctx *ctx, enum ta_sink_kind kind,
                            const char *path) TA_MUST_CHECK;

/* fsync and rename everything into place, report.json last of all.  On failure nothing of this
 * run remains and earlier products are as they were. */
enum ta_status ta_sink_commit(struct ta_ctx *ctx, struct ta_sink *sink) TA_MUST_CHECK;

/* The same for several places at once. */
enum ta_status ta_sinks_commit(struct ta_ctx *ctx, struct ta_sink *const *sinks,
                               size_t n) TA_MUST_CHECK;

/* Removes what was not committed, and folders this sink made that are empty. */
void ta_sink_free(struct ta_sink *sink);

#endif
