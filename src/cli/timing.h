/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What -v says at the end: where the time went, how fast files were read, and the memory. */
#ifndef TA_CLI_TIMING_H
#define TA_CLI_TIMING_H

#include "base/stopwatch.h"

#include <stddef.h>

struct ta_ctx;

enum { TA_TIMING_OUTPUTS = 32 };

/* What the commands add to the times of the context. */
struct ta_timing {
    struct ta_lap start; /* of the program */
    struct {
        const char *id; /* must live as long */
        struct ta_lap spent;
    } outputs[TA_TIMING_OUTPUTS];
    size_t n_outputs;
    uint64_t events, bytes; /* read, and what the files hold when inflated */
};

/* Adds the time since `start` to that of an output. */
void ta_timing_add(struct ta_timing *timing, const char *id, struct ta_lap start);

/* Logs a table, or with --log-format=json a message per row; nothing when no run has ended. */
void ta_timing_say(const struct ta_timing *timing, struct ta_ctx *ctx);

#endif
