/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of temporary files for a signal handler.
 *
 * A handler may interrupt anything and can neither lock nor allocate.  So the list is the one
 * mutable global of the library: entries are claimed and given up by one atomic store each and
 * are never freed, only used again. */
#include "render/temp.h"

#include "render/sink.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { FREE, CLAIMED, LIVE };

struct ta_temp {
    atomic_int state;
    int folder;
    char name[TA_TEMP_NAME_MAX];
};

enum { BLOCK = 64 };

struct block {
    struct ta_temp temps[BLOCK];
    _Atomic(struct block *) next;
};

static struct block blocks;

static struct ta_temp *claim(struct block *block)
{
    for (int i = 0; i < BLOCK; i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&block->temps[i].state, &expected, CLAIMED))
            return &block->temps[i];
    }
    return NULL;
}

/* The block after this one, made when there is none. */
static struct block *next_block(struct block *block)
{
    struct block *next = atomic_load(&block->next);
    if (next)
        return next;
    struct block *made = calloc(1, sizeof *made);
    if (!made || atomic_compare_exchange_strong(&block->next, &next, made))
        return made;
    free(made); /* another thread was faster */
    return next;
}

struct ta_temp *ta_temp_enter(int folder, const char *name)
{
    for (struct block *block = &blocks; block; block = next_block(block)) {
        struct ta_temp *temp = claim(block);
        if (!temp)
            continue;
        temp->folder = folder;
        snprintf(temp->name, sizeof temp->name, "%s", name);
        atomic_store(&temp->state, LIVE);
        return temp;
    }
    return NULL;
}

void ta_temp_forget(struct ta_temp *temp)
{
    if (temp)
        atomic_store(&temp->state, FREE);
}

void ta_temp_name(char name[TA_TEMP_NAME_MAX])
{
    /* O_EXCL makes a clash harmless, so weak bytes would do as well. */
    unsigned long long bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        bits = (unsigned long long)now.tv_nsec << 32 ^ (unsigned long long)getpid();
    }
    snprintf(name, TA_TEMP_NAME_MAX, ".traceanalyze-%016llx", bits);
}

void ta_sink_emergency_cleanup(void)
{
    for (struct block *block = &blocks; block; block = atomic_load(&block->next))
        for (int i = 0; i < BLOCK; i++)
            if (atomic_load(&block->temps[i].state) == LIVE)
                unlinkat(block->temps[i].folder, block->temps[i].name, 0);
}
