/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of one file, written at the same time and put into it in their order. */
#include "base/context.h"
#include "base/share.h"
#include "base/write/file.h"
#include "base/write/pieces.h"

#include <pthread.h>
#include <stdlib.h>

struct piece {
    struct ta_file draft;
    bool is_written;
};

struct pieces {
    struct piece *at;
    size_t n;
    ta_piece *put;
    void *user;
    pthread_mutex_t lock; /* of what follows, and of `is_written` */
    struct ta_file *out;
    size_t taken; /* pieces that are in place */
};

/* Whoever has written the piece that the others wait for puts them all in place. */
static void take(struct pieces *pieces, struct piece *written)
{
    pthread_mutex_lock(&pieces->lock);
    written->is_written = true;
    for (; pieces->taken < pieces->n && pieces->at[pieces->taken].is_written; pieces->taken++)
        ta_file_take(pieces->out, &pieces->at[pieces->taken].draft);
    pthread_mutex_unlock(&pieces->lock);
}

static enum ta_status write_piece(struct ta_ctx *ctx, size_t i, void *user)
{
    struct pieces *pieces = user;
    struct piece *piece = &pieces->at[i];
    ta_file_start_draft(&piece->draft);
    const enum ta_status status = pieces->put(ctx, &piece->draft, i, pieces->user);
    if (status == TA_OK)
        take(pieces, piece);
    else
        ta_file_end(&piece->draft);
    return status;
}

static enum ta_status write_one_by_one(struct ta_ctx *ctx, struct ta_file *out, size_t n,
                                       ta_piece *put, void *user)
{
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < n; i++)
        status = put(ctx, out, i, user);
    return status;
}

enum ta_status ta_put_pieces(struct ta_ctx *ctx, struct ta_file *out, size_t n, ta_piece *put,
                             void *user)
{
    struct pieces pieces = {.n = n, .put = put, .user = user, .out = out};
    if (ctx->helpers == 0)
        return write_one_by_one(ctx, out, n, put, user);
    pieces.at = calloc(n + 1, sizeof *pieces.at);
    if (!pieces.at)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot write a file in pieces: pieces=%zu", n);
    pthread_mutex_init(&pieces.lock, NULL);
    const enum ta_status status = ta_share_tasks(ctx, n, write_piece, &pieces);
    for (size_t i = pieces.taken; i < n; i++) /* after one that failed */
        if (pieces.at[i].is_written)
            ta_file_end(&pieces.at[i].draft);
    pthread_mutex_destroy(&pieces.lock);
    free(pieces.at);
    return status;
}
