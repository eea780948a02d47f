/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several analyses want to know of a frozen trace: found for the first that asks, kept as long
 * as the trace.  Stages above the model find it. */
#ifndef TA_MODEL_FACT_H
#define TA_MODEL_FACT_H

#include "traceanalyze/base.h"

#include <pthread.h>

struct ta_trace;

enum ta_fact {
    TA_FACT_LOST,
    TA_FACT_GAPS,
    TA_FACT_BUSY,
    TA_FACT_BACKWARD,
    TA_FACT_LAUNCHED,
    TA_FACT_EXTENTS,
    TA_FACT_NAMES,
    TA_FACT_MARKED_STEPS,
    TA_FACT_GENERATION,
    TA_FACT_STEPS,
    TA_FACT_PROGRAM,
    TA_FACT_COUNT
};

struct ta_facts {
    struct {
        pthread_mutex_t lock;
        void *at;
        void (*free)(void *at);
    } of[TA_FACT_COUNT];
};

/* NULL without memory; NULL may be freed. */
struct ta_facts *ta_facts_new(void);
void ta_facts_free(struct ta_facts *facts);

/* What `make` gives for the trace, or gave before; NULL when it gives NULL, for want of memory.
 * Threads may ask at the same time: one makes it, the others wait. */
const void *ta_trace_fact(const struct ta_trace *trace, enum ta_fact fact,
                          void *(*make)(const struct ta_trace *trace), void (*free)(void *at));

#endif
