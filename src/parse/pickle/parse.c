/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a pickle opcode by opcode. */
#include "parse/pickle/machine.h"

#include "traceanalyze/quality.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- failing ------------------------------------------------------------------------------- */

bool machine_refuse(struct machine *m, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    m->status = ta_fail(m->ctx, TA_ERR_INPUT, "%s: opcode %s at byte offset %zu", text,
                        m->opcode->name, m->offset);
    return false;
}

bool machine_no_memory(struct machine *m)
{
    m->status = ta_fail(m->ctx, TA_ERR_NOMEM, "Cannot hold the objects of a pickle");
    return false;
}

/* ---- arguments ----------------------------------------------------------------------------- */

/* The next n bytes; every length of a file goes through here. */
static bool take(struct machine *m, uint64_t n, struct ta_slice *bytes)
{
    const size_t left = m->objects->n_bytes - m->at;
    if (n > left)
        return machine_refuse(m, "The file is cut: %" PRIu64 " bytes should follow, %zu are left",
                              n, left);
    *bytes = (struct ta_slice){m->objects->bytes + m->at, (size_t)n};
    m->at += (size_t)n;
    return true;
}

static bool take_number(struct machine *m, size_t width)
{
    struct ta_slice bytes = {0};
    if (!take(m, width, &bytes))
        return false;
    m->number = 0;
    for (size_t i = width; i-- > 0;)
        m->number = m->number << 8 | (unsigned char)bytes.ptr[i];
    return true;
}

static bool take_text_line(struct machine *m)
{
    const char *start = m->objects->bytes + m->at;
    const char *end = memchr(start, '\n', m->objects->n_bytes - m->at);
    if (!end)
        return machine_refuse(m, "The file is cut: a line has no end");
    if (!take(m, (uint64_t)(end - start) + 1, &m->bytes))
        return false;
    m->bytes.len--;
    if (m->bytes.len && m->bytes.ptr[m->bytes.len - 1] == '\r')
        m->bytes.len--;
    return true;
}

/* BINSTRING and LONG4 have signed lengths; read as unsigned, a negative one is beyond any file. */
static bool take_argument(struct machine *m)
{
    switch (m->opcode->argument) {
    case ARGUMENT_1:
        return take_number(m, 1);
    case ARGUMENT_2:
        return take_number(m, 2);
    case ARGUMENT_4:
        return take_number(m, 4);
    case ARGUMENT_8:
        return take_number(m, 8);
    case ARGUMENT_DOUBLE:
        if (!take_number(m, 8))
            return false;
        m->number = __builtin_bswap64(m->number);
        return true;
    case ARGUMENT_LINE:
        return take_text_line(m);
    case ARGUMENT_SIZED_1:
        return take_number(m, 1) && take(m, m->number, &m->bytes);
    case ARGUMENT_SIZED_4:
        return take_number(m, 4) && take(m, m->number, &m->bytes);
    case ARGUMENT_SIZED_8:
        return take_number(m, 8) && take(m, m->number, &m->bytes);
    case ARGUMENT_NONE:
        break;
    }
    return true;
}

/* ---- the loop ------------------------------------------------------------------------------ */

static bool run(struct machine *m)
{
    enum { CANCEL_EVERY = 1 << 16 };
    static const struct opcode unknown = {"unknown", ARGUMENT_NONE, 0, NULL};
    for (uint64_t i = 1; !m->stopped; i++) {
        m->offset = m->at;
        m->opcode = &unknown;
        if (m->at == m->objects->n_bytes)
            return machine_refuse(m, "The file is cut: it has no STOP");
        const unsigned char byte = (unsigned char)m->objects->bytes[m->at++];
        if (!pickle_opcodes[byte].run)
            return machine_refuse(m, "Not an opcode of a pickle: byte=0x%02x", byte);
        m->opcode = &pickle_opcodes[byte];
        if (!take_argument(m) || !m->opcode->run(m))
            return false;
        if (i % CANCEL_EVERY == 0 && ta_ctx_canceled(m->ctx)) {
            m->status = ta_fail(m->ctx, TA_ERR_CANCELED, "Interrupted");
            return false;
        }
    }
    return true;
}

enum ta_status pickle_parse(struct ta_ctx *ctx, struct ta_objects *objects,
                            struct ta_quality *quality)
{
    struct machine m = {
        .ctx = ctx,
        .quality = quality,
        .objects = objects,
        .limit = ta_ctx_limit(ctx, TA_LIMIT_PICKLE_OBJECTS),
    };
    if (run(&m)) {
        objects->unread = objects->n_bytes - m.at;
        if (objects->unread)
            ta_quality_add(quality, TA_Q_TRAILING_TEXT, m.at,
                           "%zu bytes follow the end of the pickle, at byte offset %zu",
                           objects->unread, m.at);
    }
    free(m.stack.at);
    free(m.marks.at);
    ta_map_free(&m.memo);
    return m.status;
}
