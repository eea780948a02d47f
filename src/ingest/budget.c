/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of memory. */
#include "ingest/budget.h"

/* Windows, rings of blocks and tables of a file, however small it is. */
#define FIXED (UINT64_C(8) << 20)
/* The first guess: 80 bytes of memory, normalizing included, for events of 270 bytes. */
enum { GUESS = 300 };
/* More than this many times its size a file of events is hardly ever packed. */
enum { USUAL_RATIO = 20, LEAST_RATIO = 4 };

bool ta_budget_init(struct ta_budget *budget, uint64_t limit)
{
    *budget = (struct ta_budget){.limit = limit, .per_mille = GUESS};
    if (pthread_mutex_init(&budget->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&budget->given, NULL) == 0)
        return true;
    pthread_mutex_destroy(&budget->lock);
    return false;
}

void ta_budget_free(struct ta_budget *budget)
{
    pthread_cond_destroy(&budget->given);
    pthread_mutex_destroy(&budget->lock);
}

uint64_t ta_budget_take(struct ta_budget *budget, uint64_t content)
{
    pthread_mutex_lock(&budget->lock);
    uint64_t wanted;
    /* What is known of files may change while this one waits. */
    while (wanted = FIXED + content / 1000 * budget->per_mille,
           budget->holders && (wanted > budget->limit || budget->taken > budget->limit - wanted))
        pthread_cond_wait(&budget->given, &budget->lock);
    budget->taken += wanted;
    budget->holders++;
    pthread_mutex_unlock(&budget->lock);
    return wanted;
}

void ta_budget_give(struct ta_budget *budget, uint64_t taken, uint64_t content, uint64_t used)
{
    pthread_mutex_lock(&budget->lock);
    budget->taken -= taken;
    budget->holders--;
    /* Small files say little: their tables outweigh their events. */
    if (used && content > FIXED) {
        const uint64_t per_mille = used / (content / 1000) + 1;
        if (!budget->seen || per_mille > budget->per_mille)
            budget->per_mille = per_mille;
        budget->seen = true;
    }
    pthread_cond_broadcast(&budget->given);
    pthread_mutex_unlock(&budget->lock);
}

uint64_t ta_budget_content(uint64_t size, bool is_packed, uint32_t trailer)
{
    const uint64_t turn = UINT64_C(1) << 32;
    if (!is_packed)
        return size;
    uint64_t content = trailer > size ? trailer : size;
    /* The trailer has turned over when it says less than such a large file must hold. */
    while (size > turn / USUAL_RATIO && content < size * LEAST_RATIO)
        content += turn;
    return content;
}
