/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of other profilers, which say what their runs are. */
#ifndef TA_RECORDINGS_WITNESSES_H
#define TA_RECORDINGS_WITNESSES_H

#include "model/trace.h"
#include "recordings/traces.h"

/* Since 1970; TA_MISSING without dates. */
struct period {
    int64_t start, end;
};

/* A dump of which its profiler writes one per process and run. */
struct witness {
    size_t file;
    const struct ta_ingested *facts;
    const char *family;     /* of its name */
    struct ta_slice folder; /* that copies of it lie in */
    int64_t rank;           /* or TA_MISSING */
    struct period period;
    size_t run; /* from 0 */
};

/* Reads what any dump says of its place; false without memory. */
bool read_witness(const struct deciding *d, size_t file, struct witness *witness) TA_MUST_CHECK;

/* Whether any trace counts in a run. */
static inline bool has_traces(const struct deciding *d, size_t run)
{
    for (size_t i = 0; i < d->n; i++)
        if (!d->traces[i].aside && d->traces[i].run == run)
            return true;
    return false;
}

#endif
