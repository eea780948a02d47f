/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fact.h"

#include "model/trace.h"

#include <stdlib.h>

struct ta_facts *ta_facts_new(void)
{
    struct ta_facts *facts = calloc(1, sizeof *facts);
    for (size_t i = 0; facts && i < TA_FACT_COUNT; i++)
        pthread_mutex_init(&facts->of[i].lock, NULL);
    return facts;
}

void ta_facts_free(struct ta_facts *facts)
{
    for (size_t i = 0; facts && i < TA_FACT_COUNT; i++) {
        if (facts->of[i].at)
            facts->of[i].free(facts->of[i].at);
        pthread_mutex_destroy(&facts->of[i].lock);
    }
    free(facts);
}

const void *ta_trace_fact(const struct ta_trace *trace, enum ta_fact fact,
                          void *(*make)(const struct ta_trace *trace), void (*free)(void *at))
{
    struct ta_facts *facts = trace->facts;
    pthread_mutex_lock(&facts->of[fact].lock);
    if (!facts->of[fact].at) {
        facts->of[fact].free = free;
        facts->of[fact].at = make(trace);
    }
    const void *at = facts->of[fact].at;
    pthread_mutex_unlock(&facts->of[fact].lock);
    return at;
}
