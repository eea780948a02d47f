/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the events of one rank as the Chrome trace that Kineto would have written. */
#ifndef GENERATOR_KINETO_H
#define GENERATOR_KINETO_H

#include "event.h"
#include "sink.h"
#include "text.h"

#include <stdbool.h>
#include <stdint.h>

/* texts is borrowed and shared by all ranks. */
struct kineto {
    struct sink sink;
    const struct texts *texts;
    int rank;
    int device, devices, host_devices; /* its own; in the file; on the host */
    struct clock_error {
        int64_t ahead;  /* ns, at the origin */
        int64_t ppb;    /* ns per second that it gains */
        int64_t origin; /* true ns */
    } clock;
    uint64_t events;
};

/* False when the file cannot be made or without memory; kineto->sink.error says which. */
bool kineto_open(struct kineto *kineto, const char *path, int gzip_level, uint64_t trace_id);

void kineto_write(struct kineto *kineto, const struct batch *batch);

/* Metadata and window of the recording, then closes; false when anything was lost. */
bool kineto_close(struct kineto *kineto, int64_t start, int64_t end);

#endif
