/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that take turns at a stream, and the blocks that they fill. */
#include "read/relay.h"

#include "base/quality.h"

#include <stdlib.h>

/* A cut is looked for so far before the end of a block, half of it at most. */
enum { SEARCH = 64 * 1024 };

struct ta_relay_block {
    char *bytes;    /* room for TA_PART_KEPT lies before them, for TA_PADDING after */
    uint64_t start; /* offset of the first one */
    size_t n;
    struct ta_quality quality; /* found while it was filled */
    /* Guarded by the lock: */
    size_t users;                /* parts that look at it */
    struct ta_relay_block *next; /* in a list */
};

struct ta_relay {
    struct ta_reader *source;
    size_t size;   /* bytes of a block */
    size_t search; /* of them for the cut */
    bool in_object;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct ta_part *first; /* of the queue */
    struct ta_part *turn;  /* who has it */
    struct ta_relay_block *unused;
    bool over; /* nothing more is to be read */
    /* Of the part that has the turn: */
    uint64_t end; /* offset of what comes next from the source */
    char *tail;   /* what was filled after the last cut */
    size_t n_tail;
    bool ended; /* the source */
    size_t n_blocks;
    char *bytes; /* of all blocks */
    struct ta_relay_block blocks[];
};

/* ---- life ------------------------------------------------------------------------------------ */

/* Whether the stream is JSON from its first byte on, and which bracket opens it. */
static bool opens_document(struct ta_reader *source, bool *in_object)
{
    const struct ta_slice head = ta_reader_probe(source).head;
    size_t at = 0;
    while (at < head.len && head.ptr[at] && strchr(" \t\r\n", head.ptr[at]))
        at++;
    if (at == head.len || (head.ptr[at] != '{' && head.ptr[at] != '['))
        return false;
    *in_object = head.ptr[at] == '{';
    return ta_reader_is_utf8(source);
}

/* Each thread holds one block, and the first one up to two more while it goes from one to the
 * next. */
struct ta_relay *ta_relay_new(struct ta_reader *source, size_t n, size_t size)
{
    bool in_object;
    if (!opens_document(source, &in_object))
        return NULL;
    const size_t n_blocks = n + TA_RELAY_SPARE, stride = TA_PART_KEPT + size + TA_PADDING;
    struct ta_relay *relay = calloc(1, sizeof *relay + n_blocks * sizeof *relay->blocks);
    if (!relay)
        return NULL;
    relay->source = source;
    relay->size = size;
    relay->search = size / 2 < SEARCH ? size / 2 : SEARCH;
    relay->in_object = in_object;
    relay->n_blocks = n_blocks;
    relay->tail = malloc(relay->search + 1);
    relay->bytes = stride > size ? reallocarray(NULL, n_blocks, stride) : NULL;
    pthread_mutex_init(&relay->lock, NULL);
    pthread_cond_init(&relay->changed, NULL);
    for (size_t i = 0; relay->bytes && i < n_blocks; i++) {
        struct ta_relay_block *block = &relay->blocks[i];
        block->bytes = relay->bytes + i * stride + TA_PART_KEPT;
        block->next = relay->unused;
        relay->unused = block;
        ta_quality_init(&block->quality);
    }
    if (relay->bytes && relay->tail)
        return relay;
    ta_relay_free(relay);
    return NULL;
}

void ta_relay_free(struct ta_relay *relay)
{
    if (!relay)
        return;
    for (size_t i = 0; relay->bytes && i < relay->n_blocks; i++)
        ta_quality_free(&relay->blocks[i].quality);
    pthread_cond_destroy(&relay->changed);
    pthread_mutex_destroy(&relay->lock);
    free(relay->bytes);
    free(relay->tail);
    free(relay);
}

void ta_relay_close(struct ta_relay *relay)
{
    pthread_mutex_lock(&relay->lock);
    relay->over = true;
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
}

/* ---- blocks, with the lock held -------------------------------------------------------------- */

static void release(struct ta_relay *relay, struct ta_relay_block *block)
{
    if (!block || --block->users > 0)
        return;
    ta_quality_free(&block->quality);
    block->next = relay->unused;
    relay->unused = block;
}

static void release_all(struct ta_relay *relay, struct ta_part *part)
{
    release(relay, part->before);
    release(relay, part->block);
    while (part->followed) {
        struct ta_relay_block *block = part->followed;
        part->followed = block->next;
        release(relay, block);
    }
    part->before = part->block = NULL;
}

static struct ta_relay_block *take_unused(struct ta_relay *relay)
{
    while (!relay->unused && !relay->over)
        pthread_cond_wait(&relay->changed, &relay->lock);
    struct ta_relay_block *block = relay->over ? NULL : relay->unused;
    if (block) {
        relay->unused = block->next;
        block->users = 1;
        block->next = NULL;
    }
    return block;
}

/* Waits until all parts before this one were handed in.  False when it was passed, or all is
 * over. */
static bool await_first(struct ta_relay *relay, const struct ta_part *part)
{
    while (relay->first != part && !part->passed && !relay->over)
        pthread_cond_wait(&relay->changed, &relay->lock);
    return relay->first == part && !relay->over;
}

/* ---- filling ----------------------------------------------------------------------------------*/

/* The tail of the block before, and what follows from the source. */
static void fill(struct ta_relay *relay, struct ta_relay_block *block)
{
    memcpy(block->bytes, relay->tail, relay->n_tail);
    block->start = relay->end - relay->n_tail;
    block->n = relay->n_tail;
    ta_reader_account_to(relay->source, &block->quality);
    while (block->n < relay->size && !relay->ended) {
        const size_t got =
            ta_reader_read(relay->source, block->bytes + block->n, relay->size - block->n);
        block->n += got;
        relay->ended = got == 0;
    }
    memset(block->bytes + block->n, 0, TA_PADDING);
    relay->end = block->start + block->n;
    relay->n_tail = 0;
}

/* Looks for the cut and keeps what follows it; UINT64_MAX without one. */
static uint64_t cut(struct ta_relay *relay, const struct ta_relay_block *block,
                    const struct ta_part *part)
{
    const size_t search = relay->search < block->n ? relay->search : block->n;
    const char *const from = block->bytes + block->n - search;
    const size_t at = relay->ended || !part->find ? 0 : part->find(part->json, from, search);
    if (at == 0)
        return UINT64_MAX;
    relay->n_tail = search - at;
    memcpy(relay->tail, from + at, relay->n_tail);
    return relay->end - relay->n_tail;
}

/* Fills a block for the part that has the turn, and hands the turn over if there is a cut. */
static struct ta_relay_block *fill_for(struct ta_relay *relay, struct ta_part *part)
{
    struct ta_relay_block *block = take_unused(relay);
    if (!block)
        return NULL;
    pthread_mutex_unlock(&relay->lock);
    const struct ta_lap start = ta_lap_now();
    fill(relay, block);
    const uint64_t border = cut(relay, block, part);
    part->share = *ta_reader_share(relay->source);
    ta_lap_add(&part->filling, start);
    pthread_mutex_lock(&relay->lock);
    part->border = border;
    if (border < UINT64_MAX)
        relay->turn = NULL;
    return block;
}

/* ---- turns ------------------------------------------------------------------------------------*/

bool ta_relay_begin(struct ta_relay *relay, struct ta_part *part)
{
    pthread_mutex_lock(&relay->lock);
    while (relay->turn && !relay->over)
        pthread_cond_wait(&relay->changed, &relay->lock);
    const bool goes_on = !relay->over;
    if (goes_on) {
        const struct ta_part old = *part;
        *part = (struct ta_part){.relay = relay,
                                 .start = relay->end - relay->n_tail,
                                 .in_object = relay->in_object,
                                 .border = UINT64_MAX,
                                 .parked = old.parked,
                                 .filling = old.filling};
        part->given = part->start;
        struct ta_part **last = &relay->first;
        while (*last)
            last = &(*last)->next;
        *last = relay->turn = part;
    }
    pthread_mutex_unlock(&relay->lock);
    return goes_on;
}

bool ta_relay_await(struct ta_part *part)
{
    struct ta_relay *relay = part->relay;
    pthread_mutex_lock(&relay->lock);
    const bool wanted = await_first(relay, part);
    if (!wanted)
        release_all(relay, part);
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
    return wanted;
}

void ta_relay_end(struct ta_part *part)
{
    struct ta_relay *relay = part->relay;
    pthread_mutex_lock(&relay->lock);
    relay->first = part->next;
    release_all(relay, part);
    relay->over |= !part->reached;
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
}

/* ---- borders ----------------------------------------------------------------------------------*/

/* The part reads on beyond its border, in the place of the next one; with the lock held.  False
 * when its own guess was wrong, or all is over. */
static bool pass(struct ta_relay *relay, struct ta_part *part)
{
    if (!await_first(relay, part))
        return false;
    struct ta_part *wrong = part->next;
    while (wrong && !wrong->block && !relay->over) /* it has the turn */
        pthread_cond_wait(&relay->changed, &relay->lock);
    if (relay->over)
        return false;
    if (wrong) {
        struct ta_relay_block **last = &part->followed;
        while (*last)
            last = &(*last)->next;
        *last = wrong->block;
        wrong->block->users++;
        wrong->passed = true;
        part->next = wrong->next;
        part->border = wrong->border;
    } else {
        part->border = UINT64_MAX;
    }
    if (!wrong || relay->turn == wrong)
        relay->turn = part;
    pthread_cond_broadcast(&relay->changed);
    return true;
}

bool ta_part_at_border(struct ta_part *part, uint64_t place, bool as_guessed)
{
    while (!part->reached && !part->unsure && place >= part->border) {
        part->reached = place == part->border && as_guessed;
        if (part->reached)
            break;
        pthread_mutex_lock(&part->relay->lock);
        part->unsure = !pass(part->relay, part);
        pthread_mutex_unlock(&part->relay->lock);
    }
    return part->reached || part->unsure;
}

/* ---- bytes ------------------------------------------------------------------------------------*/

static uint64_t end_of(const struct ta_relay_block *block)
{
    return block ? block->start + block->n : 0;
}

/* The block after the present one, with the lock held; NULL at the end, and when nobody wants the
 * part. */
static struct ta_relay_block *next_block(struct ta_relay *relay, struct ta_part *part)
{
    if (part->block && !await_first(relay, part))
        return NULL;
    if (!part->followed && relay->turn != part && !pass(relay, part))
        return NULL;
    struct ta_relay_block *block = part->followed;
    part->in_vain = block != NULL;
    if (block) {
        part->followed = block->next;
        block->next = NULL;
    } else if (!relay->ended) {
        block = fill_for(relay, part);
    }
    return block;
}

/* Whether there are bytes that were not given yet, in the present block or after it. */
static bool has_bytes(struct ta_part *part, struct ta_quality *quality)
{
    struct ta_relay *relay = part->relay;
    while (part->given >= end_of(part->block)) {
        pthread_mutex_lock(&relay->lock);
        struct ta_relay_block *block = next_block(relay, part);
        if (block) {
            release(relay, part->before);
            part->before = part->block;
            part->block = block;
        }
        pthread_cond_broadcast(&relay->changed);
        pthread_mutex_unlock(&relay->lock);
        if (!block)
            return false;
        ta_quality_merge(quality, &block->quality);
    }
    return true;
}

static void release_before(struct ta_part *part)
{
    if (!part->before)
        return;
    pthread_mutex_lock(&part->relay->lock);
    release(part->relay, part->before);
    part->before = NULL;
    pthread_cond_broadcast(&part->relay->changed);
    pthread_mutex_unlock(&part->relay->lock);
}

bool ta_part_lends(struct ta_part *part, struct ta_quality *quality)
{
    return !has_bytes(part, quality) || !part->in_vain;
}

size_t ta_part_lend(struct ta_part *part, const char *kept, size_t n_kept, char **bytes)
{
    struct ta_relay_block *block = part->block;
    if (part->given >= end_of(block))
        return 0;
    const size_t n = (size_t)(end_of(block) - part->given);
    char *const place = block->bytes + (block->n - n) - n_kept;
    memmove(place, kept, n_kept);
    release_before(part);
    part->given += n;
    *bytes = place;
    return n;
}

size_t ta_part_read(struct ta_part *part, struct ta_quality *quality, char *out, size_t max)
{
    if (!has_bytes(part, quality))
        return 0;
    release_before(part);
    const struct ta_relay_block *block = part->block;
    const size_t left = (size_t)(end_of(block) - part->given), n = left < max ? left : max;
    memcpy(out, block->bytes + (block->n - left), n);
    part->given += n;
    return n;
}
