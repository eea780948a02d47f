/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slow reader: a trace by jansson, event after event, plain to see that it is right.
 *
 * It shares no code with src/parse.  The document is split by quotes and brackets alone, jansson
 * judges and decodes every part, and times come from the digits as they are written.  It recovers
 * from nothing: a document that jansson refuses is not for it. */
#ifndef TA_ORACLE_SLOW_READER_H
#define TA_ORACLE_SLOW_READER_H

#include "reading.h"

#include "base/vec.h"

struct slow_event {
    uint64_t offset, end; /* in the inflated text */
    int64_t ts;           /* ns, or TA_MISSING */
};

struct slow_reading {
    struct outcome outcome;
    TA_VEC(struct slow_event) events; /* elements of the event arrays, used or not */
    bool accepted;                    /* false: nothing else means anything */
};

/* Reads an inflated text. */
void slow_read(struct fixture *f, const char *text, size_t size, struct slow_reading *slow);
/* Only finds the events, without jansson: there is no outcome. */
void slow_split(struct fixture *f, const char *text, size_t size, struct slow_reading *slow);
void slow_free(struct slow_reading *slow);

/* The event that became a span of its trace. */
size_t slow_event_of(const struct slow_reading *slow, ta_row row);

/* A whole file inflated by zlib; the caller frees it.  NULL when it cannot be read. */
char *slow_inflate(const char *path, size_t *size);

enum exact { EXACT, EXACT_NOT_A_NUMBER, EXACT_TOO_LARGE };

/* Decimal text times 10^shift, halves away from zero. */
enum exact slow_decimal(struct ta_slice text, int shift, int64_t *value);

#endif
