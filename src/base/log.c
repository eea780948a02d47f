/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log: one line per message, for people or as JSON. */
#include "base/log.h"

#include "base/visible.h"

#include <stdarg.h>

/* Longest line; a message is cut so that its visible form and the frame around it fit. */
enum { LINE_BYTES = 8192, FRAME_BYTES = 160, MESSAGE_BYTES = LINE_BYTES - FRAME_BYTES };

static const char *level_name(enum ta_log_level level)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    return names[level];
}

/* Puts a backslash before quotes and backslashes: all that JSON asks of text without control
 * characters.  Cuts at the last character that fits. */
static void quote(char *out, size_t max, const char *text)
{
    size_t n = 0;
    for (; *text; text++) {
        bool escaped = *text == '"' || *text == '\\';
        /* Room for an escape, the rest of a character of four bytes, and the NUL. */
        if (n + 6 > max && ((unsigned char)*text & 0xc0) != 0x80)
            break;
        if (escaped)
            out[n++] = '\\';
        out[n++] = *text;
    }
    out[n] = '\0';
}

void ta_log_line(const struct ta_shared *shared, enum ta_log_level level, const char *code,
                 const char *message)
{
    if (!shared->log || level > shared->level)
        return;
    char line[LINE_BYTES], text[MESSAGE_BYTES];
    int length;
    ta_visible(text, sizeof text, ta_slice_of(message));
    if (shared->json_log) {
        char quoted[MESSAGE_BYTES];
        quote(quoted, sizeof quoted, text);
        length = snprintf(line, sizeof line, "{\"level\":\"%s\",%s%s%s\"message\":\"%s\"}\n",
                          level_name(level), code ? "\"code\":\"" : "", code ? code : "",
                          code ? "\"," : "", quoted);
    } else if (code && level == TA_LOG_ERROR) {
        length = snprintf(line, sizeof line, "traceanalyze: error %s: %s\n", code, text);
    } else if (code) {
        length = snprintf(line, sizeof line, "traceanalyze: %s [%s]: %s\n", level_name(level), code,
                          text);
    } else {
        length = snprintf(line, sizeof line, "traceanalyze: %s: %s\n", level_name(level), text);
    }
    if (length > 0)
        fwrite(line, 1, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1,
               shared->log);
}

void ta_log(struct ta_ctx *ctx, enum ta_log_level level, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    va_list args;
    if (!ctx->shared->log || level > ctx->shared->level)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    ta_log_line(ctx->shared, level, NULL, message);
}
