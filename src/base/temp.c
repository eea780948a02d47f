/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temporary files, for a signal handler. */
#include "base/temp.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { FREE, CLAIMED, LIVE };

static struct ta_temp *claim(struct ta_temps *block)
{
    for (int i = 0; i < TA_TEMPS_EACH; i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&block->at[i].state, &expected, CLAIMED))
            return &block->at[i];
    }
    return NULL;
}

/* The block after this one, made when there is none. */
static struct ta_temps *next_block(struct ta_temps *block)
{
    struct ta_temps *next = atomic_load(&block->next);
    if (next)
        return next;
    struct ta_temps *made = calloc(1, sizeof *made);
    if (!made || atomic_compare_exchange_strong(&block->next, &next, made))
        return made;
    free(made); /* another thread was faster */
    return next;
}

struct ta_temp *ta_temp_enter(struct ta_temps *temps, int folder, const char *name)
{
    for (struct ta_temps *block = temps; block; block = next_block(block)) {
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

void ta_temps_remove(struct ta_temps *temps)
{
    for (struct ta_temps *block = temps; block; block = atomic_load(&block->next))
        for (int i = 0; i < TA_TEMPS_EACH; i++)
            if (atomic_load(&block->at[i].state) == LIVE)
                unlinkat(block->at[i].folder, block->at[i].name, 0);
}

void ta_temps_free(struct ta_temps *temps)
{
    for (struct ta_temps *next = atomic_exchange(&temps->next, NULL), *block; (block = next);) {
        next = atomic_load(&block->next);
        free(block);
    }
}
