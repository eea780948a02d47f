/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts and the chain of causes. */
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGE_BYTES = 1024 };

void ta_shared_init(struct ta_shared *shared)
{
    *shared = (struct ta_shared){.level = TA_LOG_WARNING, .space = TA_SPACE_INIT};
    for (int i = 0; i < TA_LIMIT_COUNT; i++)
        shared->limits[i] = ta_limit_default((enum ta_limit)i);
}

void ta_shared_end(struct ta_shared *shared)
{
    ta_temps_free(&shared->temps);
}

void ta_ctx_init(struct ta_ctx *ctx, struct ta_shared *shared)
{
    *ctx = (struct ta_ctx){.shared = shared};
}

/* Whether a byte goes on with a character of UTF-8. */
static bool is_inside(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Formats a message. A message that does not fit loses its middle, which belongs to a long path or
 * value: what was being done comes before it, and why it failed after it. */
static size_t print(char message[MESSAGE_BYTES], const char *format, va_list args)
{
    static const char gap[] = " … ";
    char *whole = NULL;
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(message, MESSAGE_BYTES, format, args);
    if (length < 0)
        message[0] = '\0';
    else if (length >= MESSAGE_BYTES && vasprintf(&whole, format, again) >= 0) {
        size_t head = MESSAGE_BYTES / 2 - sizeof gap;
        const char *tail = whole + length - MESSAGE_BYTES / 2;
        while (head > 0 && is_inside(whole[head]))
            head--;
        while (is_inside(*tail))
            tail++;
        snprintf(message + head, MESSAGE_BYTES - head, "%s%s", gap, tail);
        free(whole);
    }
    va_end(again);
    return strlen(message);
}

/* Puts a message in front of the chain, so that it reads from the outside in.  What does not
 * fit falls off the end: the outer causes tell the user what was being done. */
static void prepend(struct ta_ctx *ctx, const char *format, va_list args)
{
    char message[MESSAGE_BYTES];
    const size_t n = print(message, format, args);
    size_t old = strlen(ctx->buffer), gap = old ? 2 : 0;
    if (old + n + gap >= sizeof ctx->buffer)
        old = sizeof ctx->buffer - n - gap - 1;
    memmove(ctx->buffer + n + gap, ctx->buffer, old);
    memcpy(ctx->buffer, message, n);
    if (gap)
        memcpy(ctx->buffer + n, ": ", 2);
    ctx->buffer[n + gap + old] = '\0';
}

enum ta_status(ta_fail)(struct ta_ctx *ctx, enum ta_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ctx->buffer[0] = '\0';
    prepend(ctx, format, args);
    va_end(args);
    return ctx->status = status;
}

enum ta_status ta_cause(struct ta_ctx *ctx, enum ta_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    prepend(ctx, format, args);
    va_end(args);
    return ctx->status = status;
}

const char *ta_ctx_causes(const struct ta_ctx *ctx)
{
    return ctx->buffer;
}

void ta_ctx_adopt(struct ta_ctx *ctx, const struct ta_ctx *from)
{
    ctx->status = from->status;
    memcpy(ctx->buffer, from->buffer, sizeof ctx->buffer);
}

const char *ta_status_code(enum ta_status status)
{
    static const char *const codes[TA_STATUS_COUNT] = {
        [TA_OK] = "TA-OK",
        [TA_ERR_USAGE] = "TA-E002",
        [TA_ERR_INPUT] = "TA-E003",
        [TA_ERR_OUTPUT] = "TA-E005",
        [TA_ERR_PLUGIN] = "TA-E008",
        [TA_ERR_NOMEM] = "TA-E070",
        [TA_ERR_INTERNAL] = "TA-E071",
        [TA_ERR_CANCELED] = "TA-E128",
    };
    return codes[status];
}

bool ta_ctx_canceled(const struct ta_ctx *ctx)
{
    return atomic_load_explicit(&ctx->shared->canceled, memory_order_relaxed) != 0;
}

uint64_t ta_ctx_limit(const struct ta_ctx *ctx, enum ta_limit limit)
{
    return ctx->shared->limits[limit];
}

enum ta_status ta_ctx_status(const struct ta_ctx *ctx)
{
    return ctx->status;
}

double ta_ctx_option(const struct ta_ctx *ctx, size_t index)
{
    return ctx->option_values[index];
}
