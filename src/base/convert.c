/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of documents and cells as numbers and texts. */
#include "base/convert.h"
#include "base/number.h"
#include "base/utf8.h"
#include "traceanalyze/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* No number of a profiler is longer, however its writer pads it. */
enum { NUMBER_MAX = 1100, SHOWN_MAX = 200 };

/* ---- texts --------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

struct ta_slice ta_text_trim(struct ta_slice text)
{
    while (text.len && is_blank(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len && is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* What a number is read from: JSON has no plus sign, tables do. */
static struct ta_slice number_in(struct ta_slice text)
{
    text = ta_text_trim(text);
    if (text.len > 1 && text.ptr[0] == '+' && text.ptr[1] != '-') {
        text.ptr++;
        text.len--;
    }
    return text;
}

int64_t ta_text_decimal(struct ta_slice text, int shift)
{
    int64_t value;
    text = number_in(text);
    if (text.len > NUMBER_MAX || ta_decimal_parse(text, shift, &value) != TA_DECIMAL_OK)
        return TA_MISSING;
    return value;
}

/* Multiplies the digits of a number by 2^20 as on paper, so that it stays exact; the point and the
 * exponent stay where they are.  `out` has room for seven digits more. */
static struct ta_slice times_mib(struct ta_slice text, char *out)
{
    size_t end = 0; /* of the digits */
    while (end < text.len && (text.ptr[end] | 0x20) != 'e')
        end++;
    const size_t minus = text.ptr[0] == '-';
    char *const stop = out + text.len + 7;
    char *p = stop - (text.len - end);
    memcpy(p, ta_slice_at(text, end), text.len - end);
    uint64_t carry = 0;
    for (size_t i = end; i > minus; i--) {
        if (text.ptr[i - 1] == '.') {
            *--p = '.';
            continue;
        }
        carry += (uint64_t)(text.ptr[i - 1] - '0') << 20;
        *--p = (char)('0' + carry % 10);
        carry /= 10;
    }
    for (; carry; carry /= 10)
        *--p = (char)('0' + carry % 10);
    if (minus)
        *--p = '-';
    return (struct ta_slice){p, (size_t)(stop - p)};
}

int64_t ta_text_mib(struct ta_slice text)
{
    char product[NUMBER_MAX + 8];
    int64_t value;
    text = number_in(text);
    if (text.len == 0 || text.len > NUMBER_MAX ||
        ta_decimal_parse(text, 0, &value) == TA_DECIMAL_NOT_A_NUMBER)
        return TA_MISSING;
    return ta_decimal_parse(times_mib(text, product), 0, &value) == TA_DECIMAL_OK ? value
                                                                                  : TA_MISSING;
}

double ta_text_double(struct ta_slice text)
{
    char copy[NUMBER_MAX + 1];
    int64_t ignored;
    text = number_in(text);
    /* strtod() alone would take hexadecimal numbers and infinities. */
    if (text.len > NUMBER_MAX || ta_decimal_parse(text, 0, &ignored) == TA_DECIMAL_NOT_A_NUMBER)
        return NAN;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    const double value = strtod(copy, NULL);
    return isfinite(value) ? value : NAN;
}

/* Whether only zeros follow the point. */
static bool is_whole(struct ta_slice text, int64_t value)
{
    if (memchr(text.ptr, 'e', text.len) || memchr(text.ptr, 'E', text.len))
        return ta_text_double(text) == (double)value;
    const char *p = memchr(text.ptr, '.', text.len);
    for (const char *end = ta_slice_end(text); p && ++p < end;)
        if (*p != '0')
            return false;
    return true;
}

int64_t ta_text_integer(struct ta_slice text)
{
    text = number_in(text);
    const int64_t value = ta_text_decimal(text, 0);
    return value != TA_MISSING && is_whole(text, value) ? value : TA_MISSING;
}

/* ---- values of a document ------------------------------------------------------------------ */

/* The text of a number or string; NULL for others. */
static struct ta_slice scalar_text(const json_t *value)
{
    const struct ta_slice none = {NULL, 0};
    if (!json_is_string(value))
        return none;
    const struct ta_slice text = {json_string_value(value), json_string_length(value)};
    const size_t mark = ta_document_is_number(value);
    return ta_slice_from(text, mark);
}

int64_t ta_document_mib(const json_t *value)
{
    const struct ta_slice text = scalar_text(value);
    return text.ptr ? ta_text_mib(text) : TA_MISSING;
}

struct ta_slice ta_document_text(const json_t *value)
{
    if (json_is_true(value))
        return TA_LIT("true");
    if (json_is_false(value))
        return TA_LIT("false");
    return scalar_text(value);
}

/* ---- showing ------------------------------------------------------------------------------- */

/* Text that ends where its room ends. */
struct shown {
    char *at;
    size_t n, max;
    bool full;
};

static void put(struct shown *out, struct ta_slice text)
{
    const size_t room = out->max - out->n;
    if (text.len > room) {
        out->full = true;
        text.len = room;
    }
    if (text.len)
        memcpy(out->at + out->n, text.ptr, text.len);
    out->n += text.len;
}

static void put_quoted(struct shown *out, struct ta_slice text)
{
    put(out, TA_LIT("\""));
    for (size_t i = 0; i < text.len && !out->full; i++) {
        const unsigned char c = (unsigned char)text.ptr[i];
        char escape[8];
        if (c < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", c);
        else
            snprintf(escape, sizeof escape, c == '"' || c == '\\' ? "\\%c" : "%c", c);
        put(out, ta_slice_of(escape));
    }
    put(out, TA_LIT("\""));
}

static void put_value(struct shown *out, const json_t *value);

static void put_object(struct shown *out, json_t *object)
{
    const char *key;
    json_t *member;
    put(out, TA_LIT("{"));
    json_object_foreach(object, key, member)
    {
        if (out->full)
            return;
        if (out->n && out->at[out->n - 1] != '{')
            put(out, TA_LIT(","));
        put_quoted(out, ta_slice_of(key));
        put(out, TA_LIT(":"));
        put_value(out, member);
    }
    put(out, TA_LIT("}"));
}

static void put_array(struct shown *out, const json_t *array)
{
    put(out, TA_LIT("["));
    for (size_t i = 0; i < json_array_size(array) && !out->full; i++) {
        if (i)
            put(out, TA_LIT(","));
        put_value(out, json_array_get(array, i));
    }
    put(out, TA_LIT("]"));
}

/* Every level writes a bracket first, so that the room bounds the depth. */
static void put_value(struct shown *out, const json_t *value)
{
    if (out->full)
        return;
    if (json_is_object(value))
        put_object(out, (json_t *)(uintptr_t)value);
    else if (json_is_array(value))
        put_array(out, value);
    else if (ta_document_is_text(value))
        put_quoted(out, scalar_text(value));
    else
        put(out, ta_document_text(value).ptr ? ta_document_text(value) : TA_LIT("null"));
}

/* A cut text ends with a whole code point. */
static size_t whole_characters(const char *text, size_t n)
{
    size_t start = n;
    while (start > 0 && n - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0x80)
        return n;
    start--;
    return ta_utf8_length(text + start, n - start) == n - start ? n : start;
}

struct ta_slice ta_document_show(const json_t *value, char *buffer, size_t size)
{
    struct shown out = {.at = buffer, .max = size < SHOWN_MAX ? size : SHOWN_MAX};
    if (ta_document_is_text(value))
        put(&out, scalar_text(value));
    else if (value)
        put_value(&out, value);
    return (struct ta_slice){buffer, out.full ? whole_characters(buffer, out.n) : out.n};
}
