/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log: one message after the other, to whoever wants them. */
#include "base/context.h"
#include "base/visible.h"

#include <stdarg.h>
#include <stdio.h>

/* Longest message; a longer one is cut. */
enum { MESSAGE_BYTES = 8032 };

void ta_log(struct ta_ctx *ctx, enum ta_log_level level, const char *format, ...)
{
    char message[MESSAGE_BYTES], text[MESSAGE_BYTES];
    const struct ta_shared *shared = ctx->shared;
    va_list args;
    if (!shared->message || level > shared->level)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    ta_visible(text, sizeof text, ta_slice_of(message));
    shared->message(shared->message_user, level, NULL, text);
}
