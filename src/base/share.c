/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing out tasks: whoever is free takes the next one. */
#include "base/share.h"

#include "base/thread.h"

#include <stdlib.h>

struct sharing {
    size_t n;
    ta_task *task;
    void *user;
    enum ta_stage stage;
    atomic_size_t next;
    atomic_bool failed;
};

struct helper {
    struct sharing *all;
    struct ta_ctx ctx;
    size_t failed; /* the task that did, when its context says that one did */
    pthread_t thread;
};

/* Does tasks until none is left.  All before a failed one have been begun by then. */
static enum ta_status take_tasks(struct sharing *all, struct ta_ctx *ctx, size_t *failed)
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
    struct helper *helper = argument;
    ta_times_start(&helper->ctx.times);
    helper->ctx.status = take_tasks(helper->all, &helper->ctx, &helper->failed);
    ta_times_lap(&helper->ctx.times, helper->all->stage);
    return NULL;
}

/* Starts helpers, as many as there is work and memory for; fewer do the work as well. */
static size_t start(struct sharing *all, struct ta_ctx *ctx, struct helper *helpers, size_t most)
{
    size_t n = 0;
    for (; helpers && n < most; n++) {
        helpers[n].all = all;
        ta_ctx_init(&helpers[n].ctx, ctx->shared);
        if (!ta_thread_start(&helpers[n].thread, help, &helpers[n]))
            break;
    }
    return n;
}

enum ta_status ta_share_out(struct ta_ctx *ctx, enum ta_stage stage, size_t n, ta_task *task,
                            void *user)
{
    struct sharing all = {.n = n, .task = task, .user = user, .stage = stage};
    const size_t most = n < ctx->helpers + 1 ? n : ctx->helpers + 1;
    struct helper *helpers = most > 1 ? calloc(most - 1, sizeof *helpers) : NULL;
    const size_t n_helpers = start(&all, ctx, helpers, most > 1 ? most - 1 : 0);
    size_t first = 0;
    const size_t had = ctx->helpers;
    if (n_helpers)
        ctx->helpers = 0; /* they are at work: what a task shares out it does alone */
    enum ta_status status = take_tasks(&all, ctx, &first);
    ctx->helpers = had;
    for (size_t i = 0; i < n_helpers; i++) {
        pthread_join(helpers[i].thread, NULL);
        ta_times_add(&ctx->times, &helpers[i].ctx.times);
        if (helpers[i].ctx.status == TA_OK || (status != TA_OK && helpers[i].failed > first))
            continue;
        status = helpers[i].ctx.status;
        first = helpers[i].failed;
        ta_ctx_adopt(ctx, &helpers[i].ctx);
    }
    free(helpers);
    return status;
}

enum ta_status ta_share_tasks(struct ta_ctx *ctx, size_t n, ta_task *task, void *user)
{
    return ta_share_out(ctx, TA_STAGE_RENDER, n, task, user);
}
