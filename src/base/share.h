/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks that a thread shares out among itself and its helpers. */
#ifndef TA_BASE_SHARE_H
#define TA_BASE_SHARE_H

#include "base/context.h"

/* Does task `i`.  Tasks of one call run at the same time, each in one thread, whose context it
 * gets; they write to places of their own. */
typedef enum ta_status ta_task(struct ta_ctx *ctx, size_t i, void *user);

/* Does `n` tasks, begun in order, on the calling thread and the helpers of its context, and returns
 * when all are done. After a failure no more are begun; the failure of the first task that failed,
 * which does not depend on the number of threads, becomes the failure of `ctx`. Their time counts
 * as rendering. What a task shares out in turn it does alone. */
enum ta_status ta_share_tasks(struct ta_ctx *ctx, size_t n, ta_task *task,
                              void *user) TA_MUST_CHECK;

/* ta_share_tasks() for any stage: what helpers spend counts for it, unless it is TA_STAGE_COUNT, as
 * the tasks count it themselves. */
enum ta_status ta_share_out(struct ta_ctx *ctx, enum ta_stage stage, size_t n, ta_task *task,
                            void *user) TA_MUST_CHECK;

/* The same in two steps, for a caller with something else to do while its helpers are at work. */
struct ta_sharing {
    struct ta_ctx *ctx;
    size_t n;
    ta_task *task;
    void *user;
    enum ta_stage stage;
    struct ta_helper *helpers;
    size_t n_helpers, had;
    atomic_size_t next;
    atomic_bool failed;
};

/* Starts up to `most` helpers, as many as there is memory for: none, perhaps. */
void ta_share_start(struct ta_sharing *all, size_t most);
/* Does what they have left, and waits for them. */
enum ta_status ta_share_finish(struct ta_sharing *all) TA_MUST_CHECK;

#endif
