/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks that an output shares out among the threads that are free. */
#ifndef TRACEANALYZE_SHARE_H
#define TRACEANALYZE_SHARE_H

#include "status.h"

TA_BEGIN_DECLS

/* Does task `i`.  Tasks of one call run at the same time, each in one thread, whose context it
 * gets; they write to places of their own. */
typedef enum ta_status ta_task(struct ta_ctx *ctx, size_t i, void *user);

/* Does `n` tasks, begun in order, on the calling thread and the helpers of its context, and returns
 * when all are done.  After a failure no more are begun; that of the first task that failed, which
 * does not depend on the number of threads, becomes that of `ctx`.  Their time counts as
 * rendering.  What a task shares out in turn it does alone. */
TA_API enum ta_status ta_share_tasks(struct ta_ctx *ctx, size_t n, ta_task *task,
                                     void *user) TA_MUST_CHECK;

struct ta_file;

/* Writes piece `i` of a file to `out`, with the context of its thread. */
typedef enum ta_status ta_piece(struct ta_ctx *ctx, struct ta_file *out, size_t i, void *user);

/* Writes `n` pieces to `out` in their order.  With helpers several are written at the same time,
 * and kept in memory until those before them are in place.  After a failure no more are begun. */
TA_API enum ta_status ta_put_pieces(struct ta_ctx *ctx, struct ta_file *out, size_t n,
                                    ta_piece *put, void *user) TA_MUST_CHECK;

TA_END_DECLS

#endif
