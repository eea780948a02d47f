/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many files may be in memory at a time: each takes its share of --memory-limit before it is
 * read, and waits while it does not fit in with the others. */
#ifndef TA_BUDGET_H
#define TA_BUDGET_H

#include "traceanalyze/base.h"

#include <pthread.h>

struct ta_budget {
    uint64_t limit;
    pthread_mutex_t lock;
    pthread_cond_t given;
    uint64_t taken;
    size_t holders;
    uint64_t per_mille; /* memory per 1000 bytes of content: first a guess, then the most seen */
    bool seen;
};

bool ta_budget_init(struct ta_budget *budget, uint64_t limit);
void ta_budget_free(struct ta_budget *budget);

/* Takes what a file of `content` inflated bytes is likely to need, and waits until that fits; one
 * file alone always does.  Returns what was taken. */
uint64_t ta_budget_take(struct ta_budget *budget, uint64_t content);

/* Gives it back.  `used` says what the file did need for its `content` bytes; 0 when nothing was
 * learned. */
void ta_budget_give(struct ta_budget *budget, uint64_t taken, uint64_t content, uint64_t used);

/* Bytes that a file is likely to inflate to, by its size and the trailer of gzip, the size of the
 * content modulo 2^32. */
uint64_t ta_budget_content(uint64_t size, bool is_packed, uint32_t trailer);

#endif
