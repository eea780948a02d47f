/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ring of blocks between the thread that fills them and the one that takes them.
 *
 * Blocks are numbered on and on.  Those from `taken` up to `filled` belong to the thread that
 * takes, the others to the one that fills.  Both numbers are guarded by the lock and only grow;
 * everything else is handed over with them. */
#include "read/ahead.h"

#include "base/quality.h"
#include "base/thread.h"
#include "read/reader.h"

#include <pthread.h>
#include <stdlib.h>

/* Blocks as large as what the parser asks for; four of them even out the speeds of both. */
enum { BLOCKS = 4 };

/* Blocks in use at which the thread that fills goes on once all of them were: waking it costs the
 * one that takes more than a lock does, so it is done for two blocks at a time. */
enum { GO_ON = BLOCKS / 2 };

struct block {
    char *bytes;
    size_t n;
    struct ta_content_facts facts; /* after its last byte */
    struct ta_quality quality;     /* found while it was filled */
};

struct ta_ahead {
    struct ta_content *content;
    struct block blocks[BLOCKS];
    char *bytes;       /* of all blocks, each with room before and after it */
    size_t block_size; /* without that */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t filled, taken; /* blocks filled, and of these given back */
    bool closed;            /* nobody takes any more */
    struct ta_lap spent;    /* on filling; of the thread that does until it has ended */
    /* Of the taking thread: */
    struct block *block; /* the present one, or NULL before the first */
    size_t at;
    uint64_t present, given_back; /* its number, and up to where blocks were given back */
};

/* ---- the thread that fills ------------------------------------------------------------------- */

/* The next free block, or NULL when no more are wanted. */
static struct block *await_room(struct ta_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    if (ahead->filled - ahead->taken == BLOCKS)
        while (ahead->filled - ahead->taken > GO_ON && !ahead->closed)
            pthread_cond_wait(&ahead->changed, &ahead->lock);
    struct block *block = ahead->closed ? NULL : &ahead->blocks[ahead->filled % BLOCKS];
    pthread_mutex_unlock(&ahead->lock);
    return block;
}

static void *fill_blocks(void *argument)
{
    struct ta_ahead *ahead = argument;
    for (bool ended = false; !ended;) {
        struct block *block = await_room(ahead);
        if (!block)
            break;
        const struct ta_lap start = ta_lap_now();
        struct ta_content *content = ahead->content;
        block->n = 0;
        content->quality = &block->quality;
        while (block->n < ahead->block_size && !content->facts.ended)
            block->n +=
                ta_content_read(content, block->bytes + block->n, ahead->block_size - block->n);
        memset(block->bytes + block->n, 0, TA_PADDING);
        block->facts = content->facts;
        ta_lap_add(&ahead->spent, start);
        ended = block->facts.ended;
        pthread_mutex_lock(&ahead->lock);
        ahead->filled++;
        pthread_cond_signal(&ahead->changed);
        pthread_mutex_unlock(&ahead->lock);
    }
    return NULL;
}

/* ---- the thread that takes ------------------------------------------------------------------- */

/* Whether bytes are left, in the present block or in the next one, which it waits for.  The
 * block before stays as it is until give_back(). */
static bool has_bytes(struct ta_ahead *ahead, struct ta_quality *quality,
                      struct ta_content_facts *facts)
{
    if (ahead->block && (ahead->at < ahead->block->n || ahead->block->facts.ended))
        return ahead->at < ahead->block->n;
    const uint64_t next = ahead->block ? ahead->present + 1 : 0;
    pthread_mutex_lock(&ahead->lock);
    while (ahead->filled <= next)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
    struct block *block = &ahead->blocks[next % BLOCKS];
    ahead->block = block;
    ahead->present = next;
    ahead->at = 0;
    *facts = block->facts;
    ta_quality_merge(quality, &block->quality);
    ta_quality_free(&block->quality);
    return block->n > 0;
}

/* Gives back the blocks before the present one. */
static void give_back(struct ta_ahead *ahead)
{
    if (ahead->given_back == ahead->present)
        return;
    ahead->given_back = ahead->present;
    pthread_mutex_lock(&ahead->lock);
    ahead->taken = ahead->present;
    if (ahead->filled - ahead->taken <= GO_ON)
        pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

size_t ta_ahead_read(struct ta_ahead *ahead, struct ta_quality *quality,
                     struct ta_content_facts *facts, char *out, size_t max)
{
    if (!has_bytes(ahead, quality, facts))
        return 0;
    give_back(ahead);
    const size_t left = ahead->block->n - ahead->at, n = left < max ? left : max;
    memcpy(out, ahead->block->bytes + ahead->at, n);
    ahead->at += n;
    return n;
}

size_t ta_ahead_lend(struct ta_ahead *ahead, struct ta_quality *quality,
                     struct ta_content_facts *facts, const char *kept, size_t n_kept, char **bytes)
{
    if (!has_bytes(ahead, quality, facts))
        return 0;
    char *const place = ahead->block->bytes + ahead->at - n_kept;
    memmove(place, kept, n_kept);
    give_back(ahead);
    *bytes = place;
    const size_t n = ahead->block->n - ahead->at;
    ahead->at = ahead->block->n;
    return n;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void destroy(struct ta_ahead *ahead)
{
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->changed);
    for (int i = 0; i < BLOCKS; i++)
        ta_quality_free(&ahead->blocks[i].quality);
    free(ahead->bytes);
    free(ahead);
}

struct ta_ahead *ta_ahead_start(struct ta_content *content, size_t block)
{
    struct ta_ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead)
        return NULL;
    const size_t stride = TA_AHEAD_KEPT + block + TA_PADDING;
    ahead->content = content;
    ahead->block_size = block;
    ahead->bytes = stride > block ? reallocarray(NULL, BLOCKS, stride) : NULL;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    for (size_t i = 0; i < BLOCKS; i++) {
        if (ahead->bytes)
            ahead->blocks[i].bytes = ahead->bytes + i * stride + TA_AHEAD_KEPT;
        ta_quality_init(&ahead->blocks[i].quality);
    }
    if (ahead->bytes && ta_thread_start(&ahead->thread, fill_blocks, ahead))
        return ahead;
    destroy(ahead);
    return NULL;
}

void ta_ahead_close(struct ta_ahead *ahead, struct ta_lap *spent)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->closed = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    spent->wall_ns += ahead->spent.wall_ns;
    spent->cpu_ns += ahead->spent.cpu_ns;
    destroy(ahead);
}
