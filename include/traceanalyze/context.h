/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a call needs to know about the run it belongs to: limits, log, cancellation, and the
 * chain of causes of the present failure.  One context per thread; contexts of one run share
 * their settings.  Nothing in the library keeps such state in a global. */
#ifndef TRACEANALYZE_CONTEXT_H
#define TRACEANALYZE_CONTEXT_H

#include "status.h"

TA_BEGIN_DECLS

enum ta_log_level { TA_LOG_ERROR, TA_LOG_WARNING, TA_LOG_INFO, TA_LOG_DEBUG };

/* Takes a message, from any thread, several at a time.  `code` is the constant name of what it is
 * about, such as "truncated", or NULL; control characters in `text` are shown as escapes. */
typedef void ta_message(void *user, enum ta_log_level level, const char *code, const char *text);

/* One line for the user; control characters in it are shown as escapes. */
TA_API void ta_log(struct ta_ctx *ctx, enum ta_log_level level, const char *format, ...)
    TA_PRINTF(3, 4);

/* True once a signal asked the run to stop; long loops look here and return TA_ERR_CANCELED. */
TA_API bool ta_ctx_canceled(const struct ta_ctx *ctx);

/* Bounds on input, --limit NAME=VALUE; the table with names and defaults is base/limits.c. */
enum ta_limit {
    TA_LIMIT_RATIO,          /* expanded : compressed, looked at after 64 MiB */
    TA_LIMIT_EXPANDED,       /* bytes of one file after decompression */
    TA_LIMIT_DEPTH,          /* nesting of JSON values */
    TA_LIMIT_STRING,         /* bytes of one string */
    TA_LIMIT_NUMBER,         /* bytes of one number */
    TA_LIMIT_EVENT,          /* bytes of one event */
    TA_LIMIT_FILES,          /* files of one run */
    TA_LIMIT_NAMES,          /* distinct strings of one trace */
    TA_LIMIT_PICKLE_OBJECTS, /* objects of one pickle */
    TA_LIMIT_PICKLE_DEPTH,   /* nesting of them */
    TA_LIMIT_CONFIG_SIZE,    /* bytes of one configuration file */
    TA_LIMIT_CONFIG_DEPTH,   /* nesting of its values */
    TA_LIMIT_COUNT
};

TA_API uint64_t ta_ctx_limit(const struct ta_ctx *ctx, enum ta_limit limit);

/* Status of the present chain of causes, for calls that return NULL after ta_fail(). */
TA_API enum ta_status ta_ctx_status(const struct ta_ctx *ctx);

/* Value of an option of the plugin that is running, by its row in the plugin's table. */
TA_API double ta_ctx_option(const struct ta_ctx *ctx, size_t index);

TA_END_DECLS

#endif
