/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results of calls that can fail, and the chain of causes that explains a failure.
 *
 * A failure is made where it is seen (ta_fail) and each caller adds what it was doing
 * (ta_cause).  The chain lives in the context of the calling thread, never in a global.
 * Messages have the form "Sentence: name=value, ...".  Out-parameters come last and are
 * untouched on failure. */
#ifndef TRACEANALYZE_STATUS_H
#define TRACEANALYZE_STATUS_H

#include "base.h"

TA_BEGIN_DECLS

enum ta_status {
    TA_OK = 0,
    TA_ERR_USAGE,    /* wrong option, argument or configuration */
    TA_ERR_INPUT,    /* no usable input: missing, unreadable, corrupt, of unknown format */
    TA_ERR_OUTPUT,   /* a product could not be written */
    TA_ERR_PLUGIN,   /* a plugin was refused or broke its contract */
    TA_ERR_NOMEM,    /* out of memory, or --memory-limit reached */
    TA_ERR_INTERNAL, /* a broken invariant of our own */
    TA_ERR_CANCELED, /* a signal asked the run to stop */
    TA_STATUS_COUNT
};

struct ta_ctx;

/* Starts a new chain of causes with this message and returns `status`. */
TA_API enum ta_status ta_fail(struct ta_ctx *ctx, enum ta_status status, const char *format, ...)
    TA_PRINTF(3, 4);

#ifdef __clang_analyzer__ /* shows it that a failure is no success */
#define ta_fail(ctx, status, ...) (ta_fail((ctx), (status), __VA_ARGS__), (status))
#endif

/* Adds what the caller was doing to the present chain and returns `status`. */
TA_API enum ta_status ta_cause(struct ta_ctx *ctx, enum ta_status status, const char *format, ...)
    TA_PRINTF(3, 4);

/* The stable code shown to users, such as "TA-E003"; a constant. */
TA_API const char *ta_status_code(enum ta_status status);

TA_END_DECLS

#endif
