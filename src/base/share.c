/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing out tasks: whoever is free takes the next one. */
#include "base/share.h"

#include "base/thread.h"

#include <stdlib.h>

struct ta_helper {
    struct ta_sharing *all;
    struct ta_ctx ctx;
    size_t failed; /* the task that did, when its context says that one did */
    pthread_t thread;
};

/* Does tasks until none is left.  All before a failed one have been begun by then. */
static enum ta_status take_tasks(struct ta_sharing *all, struct ta_ctx *ctx, size_t *failed)
{
    enum ta_status status = TA_OK;
    while (status == TA_OK && !atomic_load(&all->failed)) {
        const size_t i = atomic_fetch_add(&all->next, 1);
        if (i >= all->n)
            break;
        status = all->task(ctx, i, all->user);
        *failed = i;
    }
    if (status != TA_OK)
        atomic_store(&all->failed, true);
    return status;
}

static void *help(void *argument)
{
    struct ta_helper *helper = argument;
    ta_times_start(&helper->ctx.times);
    helper->ctx.status = take_tasks(helper->all, &helper->ctx, &helper->failed);
    if (helper->all->stage < TA_STAGE_COUNT)
        ta_times_lap(&helper->ctx.times, helper->all->stage);
    return NULL;
}

void ta_share_start(struct ta_sharing *all, size_t most)
{
    all->helpers = most ? calloc(most, sizeof *all->helpers) : NULL;
    for (size_t *n = &all->n_helpers; all->helpers && *n < most; ++*n) {
        struct ta_helper *const helper = &all->helpers[*n];
        helper->all = all;
        ta_ctx_init(&helper->ctx, all->ctx->shared);
        if (!ta_thread_start(&helper->thread, help, helper))
            break;
    }
    all->had = all->ctx->helpers;
    if (all->n_helpers)
        all->ctx->helpers = 0; /* they are at work: what a task shares out it does alone */
}

enum ta_status ta_share_finish(struct ta_sharing *all)
{
    struct ta_ctx *const ctx = all->ctx;
    size_t first = 0;
    enum ta_status status = take_tasks(all, ctx, &first);
    ctx->helpers = all->had;
    for (size_t i = 0; i < all->n_helpers; i++) {
        struct ta_helper *const helper = &all->helpers[i];
        pthread_join(helper->thread, NULL);
        ta_times_add(&ctx->times, &helper->ctx.times);
        if (helper->ctx.status == TA_OK || (status != TA_OK && helper->failed > first))
            continue;
        status = helper->ctx.status;
        first = helper->failed;
        ta_ctx_adopt(ctx, &helper->ctx);
    }
    free(all->helpers);
    return status;
}

enum ta_status ta_share_out(struct ta_ctx *ctx, enum ta_stage stage, size_t n, ta_task *task,
                            void *user)
{
    struct ta_sharing all = {.ctx = ctx, .n = n, .task = task, .user = user, .stage = stage};
    const size_t others = n ? n - 1 : 0;
    ta_share_start(&all, others < ctx->helpers ? others : ctx->helpers);
    return ta_share_finish(&all);
}

enum ta_status ta_share_tasks(struct ta_ctx *ctx, size_t n, ta_task *task, void *user)
{
    return ta_share_out(ctx, TA_STAGE_RENDER, n, task, user);
}
