/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members of JSON objects as fields of a report. */
#include "report/fields.h"

#include <inttypes.h>
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

unsigned decode_word(struct decode *in, const json_t *object, const char *key, unsigned n,
                     const char *(*name)(unsigned word))
{
    const char *text = decode_text(in, object, key);
    for (unsigned word = 0; word < n; word++)
        if (strcmp(text, name(word)) == 0)
            return word;
    decode_fail(in, "\"%s\" is unknown: \"%.100s\"", key, text);
    return 0;
}

const struct ta_column *decode_find_column(const struct decode *in, const char *key)
{
    for (size_t i = 0; i < in->n_columns; i++)
        if (strcmp(in->columns[i].key, key) == 0)
            return &in->columns[i];
    return NULL;
}

/* NULL for no member or null. */
static const char *decode_column(struct decode *in, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return NULL;
    const char *name = decode_text(in, object, key);
    if (in->status == TA_OK && !decode_find_column(in, name))
        decode_fail(in, "\"%s\" of the chart is no column of the table: \"%.100s\"", key, name);
    return name;
}

const char *decode_show(const json_t *value)
{
    return ta_document_is_text(value) ? json_string_value(value) : "?";
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Numbers are texts after a byte of their own. */
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

/* ---- lists of members --------------------------------------------------------------------- */

void fields_put(const struct writer *w, const char *lead, const struct fields *fields,
                const void *from)
{
    for (const struct field *field = fields->at; field < fields->at + fields->n; field++) {
        const void *const at = (const char *)from + field->offset;
        const char *const text = field->kind <= FIELD_COLUMN ? *(const char *const *)at : NULL;
        if (field->is_optional &&
            (field->kind <= FIELD_COLUMN ? !text
             : field->kind == FIELD_FLAG ? !*(const bool *)at
                                         : *(const uint64_t *)at == TA_NO_OFFSET))
            continue;
        put_key(w, lead ? lead : field->lead ? field->lead : ", ", field->key);
        lead = NULL;
        switch (field->kind) {
        case FIELD_TEXT:
        case FIELD_ID:
            put_text(w, text ? text : "");
            break;
        case FIELD_TEXT_OR_NULL:
        case FIELD_COLUMN:
            put_text(w, text);
            break;
        case FIELD_WORD:
            put_text(w, field->word(*(const unsigned *)at));
            break;
        case FIELD_CELL:
            ta_put_json_cell(w->out, at, w->in_script);
            break;
        case FIELD_SHARE:
            put_cell(w, ta_num(*(const double *)at));
            break;
        case FIELD_INTEGER:
            put_cell(w, ta_int(*(const int64_t *)at));
            break;
        case FIELD_COUNT:
            ta_putf(w->out, "%" PRIu64, *(const uint64_t *)at);
            break;
        case FIELD_OFFSET:
            if (*(const uint64_t *)at == TA_NO_OFFSET)
                ta_puts(w->out, "null");
            else
                ta_putf(w->out, "%" PRIu64, *(const uint64_t *)at);
            break;
        case FIELD_FLAG:
            ta_puts(w->out, *(const bool *)at ? "true" : "false");
            break;
        }
    }
}

static void read_field(struct decode *in, const struct field *field, const json_t *object, void *to)
{
    const char *const key = field->key;
    void *const at = (char *)to + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
        *(const char **)at = decode_text(in, object, key);
        break;
    case FIELD_TEXT_OR_NULL:
        *(const char **)at = decode_text_or_null(in, object, key);
        break;
    case FIELD_ID:
        *(const char **)at = decode_id(in, object, key);
        break;
    case FIELD_COLUMN:
        *(const char **)at = decode_column(in, object, key);
        break;
    case FIELD_WORD:
        *(unsigned *)at = decode_word(in, object, key, field->n_words, field->word);
        break;
    case FIELD_CELL:
        *(struct ta_cell *)at = decode_cell(in, decode_member(in, object, key));
        break;
    case FIELD_SHARE:
        *(double *)at = decode_number(in, object, key, 0, 1);
        break;
    case FIELD_INTEGER:
        *(int64_t *)at = decode_integer_or_null(in, object, key);
        break;
    case FIELD_COUNT:
        *(uint64_t *)at = decode_count(in, object, key);
        break;
    case FIELD_OFFSET:
        *(uint64_t *)at = json_is_null(json_object_get(object, key))
                              ? TA_NO_OFFSET
                              : decode_count(in, object, key);
        break;
    case FIELD_FLAG:
        *(bool *)at = json_is_true(json_object_get(object, key));
        break;
    }
}

void fields_read(struct decode *in, const struct fields *fields, const json_t *object, void *to)
{
    for (const struct field *field = fields->at; field < fields->at + fields->n; field++)
        if (!field->is_optional || json_object_get(object, field->key))
            read_field(in, field, object, to);
        else if (field->kind == FIELD_OFFSET)
            *(uint64_t *)((char *)to + field->offset) = TA_NO_OFFSET;
}
