/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a simulated rank records: the rows between the timeline and the writer. */
#ifndef GENERATOR_EVENT_H
#define GENERATOR_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum event_kind {
    EVENT_OP,         /* detail = op, level = nesting below the outermost operator */
    EVENT_RANGE,      /* user_annotation; name and number */
    EVENT_GPU_RANGE,  /* its projection on a stream */
    EVENT_CALL,       /* runtime or driver; detail = api */
    EVENT_KERNEL,     /* detail = kernel */
    EVENT_COLLECTIVE, /* device side of a collective; detail = collective */
    EVENT_COMMS_OP,   /* record_param_comms; detail = collective */
    EVENT_COPY,       /* detail = copy_kind, value = bytes */
    EVENT_MEMORY,     /* allocator instant; value = bytes, total = allocated after it */
    EVENT_OVERHEAD,   /* time of the profiler itself */
};

/* Times are true ns of the simulated machine; the writer adds the clock error of the rank. */
struct event {
    int64_t start;
    int64_t duration;
    const char *name;
    int64_t value;
    int64_t total;
    int32_t number;       /* written after the name; negative = none */
    int32_t track;        /* host thread or device stream */
    uint32_t external_id; /* 0 = outside any operator, the key is then left out */
    uint32_t correlation;
    uint32_t index;   /* Ev Idx; for a collective its number in the group */
    int32_t sequence; /* negative = recorded without autograd */
    uint8_t kind;
    uint8_t detail;
    uint8_t level;
};

/* Events of one rank since the last flush. */
struct batch {
    struct event *events;
    size_t count;
    size_t capacity;
};

/* A zeroed new event; the pointer is valid until the next one. Ends the program without memory. */
struct event *batch_add(struct batch *batch);

#endif
