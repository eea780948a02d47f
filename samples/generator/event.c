/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The growing array of recorded events; it is emptied once per batch, so it stays small. */
#include "event.h"

#include <stdio.h>
#include <stdlib.h>

struct event *batch_add(struct batch *batch)
{
    if (batch->count == batch->capacity) {
        const size_t capacity = batch->capacity != 0 ? 2 * batch->capacity : 4096;
        struct event *events = realloc(batch->events, capacity * sizeof *events);
        if (events == NULL) {
            fputs("traceanalyze-generate: out of memory\n", stderr);
            exit(EXIT_FAILURE);
        }
        batch->events = events;
        batch->capacity = capacity;
    }
    struct event *event = &batch->events[batch->count++];
    *event = (struct event){.number = -1, .sequence = -1};
    return event;
}
