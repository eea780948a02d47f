/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members of JSON objects as fields of a report. */
#include "report/decode_fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void decode_fail(struct decode *in, const char *format, ...)
{
    if (in->status != TA_OK)
        return;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    in->status = ta_fail(in->ctx, TA_ERR_INPUT, "%s", text);
}

void decode_no_memory(struct decode *in)
{
    if (in->status == TA_OK)
        in->status = ta_fail(in->ctx, TA_ERR_NOMEM, "Cannot hold the report");
}

void *decode_alloc(struct decode *in, size_t size)
{
    if (in->status != TA_OK)
        return NULL;
    void *memory = ta_arena_alloc(in->arena, size);
    if (!memory)
        decode_no_memory(in);
    return memory;
}

const json_t *decode_member(struct decode *in, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        decode_fail(in, json_is_object(object) ? "There is no \"%s\"" : "No object with a \"%s\"",
                    key);
    return value;
}

const json_t *decode_array(struct decode *in, const json_t *object, const char *key)
{
    const json_t *value = decode_member(in, object, key);
    if (value && !json_is_array(value))
        decode_fail(in, "\"%s\" is no list", key);
    return value;
}

/* ---- texts ------------------------------------------------------------------------------- */

static const char *copy_text(struct decode *in, const json_t *value, const char *key)
{
    if (!value || in->status != TA_OK)
        return "";
    const struct ta_slice text = {json_string_value(value), json_string_length(value)};
    if (!ta_document_is_text(value) || memchr(text.ptr, '\0', text.len)) {
        decode_fail(in, "\"%s\" is no text", key);
        return "";
    }
    const char *copy = ta_arena_copy(in->arena, text);
    if (!copy)
        decode_no_memory(in);
    return copy ? copy : "";
}

const char *decode_text(struct decode *in, const json_t *object, const char *key)
{
    return copy_text(in, decode_member(in, object, key), key);
}

const char *decode_text_or_null(struct decode *in, const json_t *object, const char *key)
{
    const json_t *value = decode_member(in, object, key);
    return json_is_null(value) ? NULL : copy_text(in, value, key);
}

static bool is_id_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

const char *decode_id(struct decode *in, const json_t *object, const char *key)
{
    const char *id = decode_text(in, object, key);
    bool suits = *id != '\0' && *id != '.' && strlen(id) <= 200;
    for (const char *c = id; *c; c++)
        suits = suits && is_id_byte(*c);
    if (!suits)
        decode_fail(in, "\"%s\" is no name of letters, digits, \".\", \"_\" and \"-\"", key);
    return id;
}

int decode_word(struct decode *in, const json_t *object, const char *key, int n,
                const char *(*name)(int word))
{
    const char *text = decode_text(in, object, key);
    for (int word = 0; word < n; word++)
        if (strcmp(text, name(word)) == 0)
            return word;
    decode_fail(in, "\"%s\" is unknown: \"%.100s\"", key, text);
    return 0;
}

const char *decode_show(const json_t *value)
{
    return ta_document_is_text(value) ? json_string_value(value) : "?";
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Numbers are texts behind a byte of their own. */
static bool is_whole(const json_t *value)
{
    return ta_document_is_number(value) && !strpbrk(json_string_value(value), ".eE");
}

int64_t decode_integer_or_null(struct decode *in, const json_t *object, const char *key)
{
    const json_t *value = decode_member(in, object, key);
    if (!value || json_is_null(value))
        return TA_MISSING;
    const int64_t integer = is_whole(value) ? ta_document_integer(value) : TA_MISSING;
    if (integer == TA_MISSING)
        decode_fail(in, "\"%s\" is no integer", key);
    return integer;
}

uint64_t decode_count(struct decode *in, const json_t *object, const char *key)
{
    const int64_t count = decode_integer_or_null(in, object, key);
    if (count < 0) /* missing, too */
        decode_fail(in, "\"%s\" is no count", key);
    return count < 0 ? 0 : (uint64_t)count;
}

double decode_number(struct decode *in, const json_t *object, const char *key, double least,
                     double most)
{
    const json_t *value = decode_member(in, object, key);
    const double number = ta_document_is_number(value) ? ta_document_double(value) : NAN;
    if (!(number >= least && number <= most)) {
        decode_fail(in, "\"%s\" is no number from %g to %g", key, least, most);
        return least;
    }
    return number;
}

struct ta_cell decode_cell(struct decode *in, const json_t *value)
{
    if (!value || json_is_null(value))
        return ta_null();
    if (ta_document_is_number(value)) {
        const int64_t whole = is_whole(value) ? ta_document_integer(value) : TA_MISSING;
        const struct ta_cell cell =
            whole != TA_MISSING ? ta_int(whole) : ta_num(ta_document_double(value));
        if (cell.kind == TA_CELL_NULL)
            decode_fail(in, "A number is out of range");
        return cell;
    }
    if (json_is_string(value))
        return ta_text((struct ta_slice){json_string_value(value), json_string_length(value)});
    if (json_is_boolean(value))
        return ta_bool(json_is_true(value));
    decode_fail(in, "A value is a list or an object");
    return ta_null();
}
