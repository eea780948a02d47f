/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON written into memory. */
#include "analyze/summary/text.h"

#include "base/utf8.h"
#include "traceanalyze/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static bool reserve(struct ta_text *text, size_t n)
{
    if (text->failed)
        return false;
    if (text->bytes.max - text->bytes.n >= n)
        return true;
    size_t more = text->bytes.max < 4096 ? 4096 : text->bytes.max + text->bytes.max / 2;
    if (more < text->bytes.n + n)
        more = text->bytes.n + n;
    char *grown = realloc(text->bytes.at, more);
    text->failed = !grown;
    if (!grown)
        return false;
    text->bytes.at = grown;
    text->bytes.max = more;
    return true;
}

void ta_text_put(struct ta_text *text, struct ta_slice bytes)
{
    if (!bytes.len || !reserve(text, bytes.len))
        return;
    memcpy(text->bytes.at + text->bytes.n, bytes.ptr, bytes.len);
    text->bytes.n += bytes.len;
}

void ta_text_puts(struct ta_text *text, const char *bytes)
{
    ta_text_put(text, ta_slice_of(bytes));
}

void ta_text_putc(struct ta_text *text, char byte)
{
    ta_text_put(text, (struct ta_slice){&byte, 1});
}

void ta_text_comma(struct ta_text *text)
{
    const char last = text->bytes.n ? text->bytes.at[text->bytes.n - 1] : '[';
    if (last != '[' && last != '{')
        ta_text_putc(text, ',');
}

void ta_text_key(struct ta_text *text, const char *key)
{
    ta_text_comma(text);
    ta_text_putc(text, '"');
    ta_text_puts(text, key);
    ta_text_puts(text, "\":");
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* The digits of a value, and how many; `digits` ends with them. */
static struct ta_slice digits_of(unsigned __int128 value, char digits[40])
{
    char *at = digits + 40;
    do
        *--at = (char)('0' + (int)(value % 10));
    while ((value /= 10) != 0);
    return (struct ta_slice){at, (size_t)(digits + 40 - at)};
}

/* What most numbers are: division of 128 bits would take most of the time. */
static void put_magnitude(struct ta_text *text, uint64_t value)
{
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    ta_text_put(text, (struct ta_slice){at, (size_t)(digits + sizeof digits - at)});
}

void ta_text_int(struct ta_text *text, int64_t value)
{
    if (value == TA_MISSING) {
        ta_text_puts(text, "null");
        return;
    }
    if (value < 0)
        ta_text_putc(text, '-');
    put_magnitude(text, value < 0 ? (uint64_t)-value : (uint64_t)value);
}

void ta_text_uint(struct ta_text *text, uint64_t value)
{
    if (value == UINT64_MAX)
        ta_text_puts(text, "null");
    else
        put_magnitude(text, value);
}

void ta_text_wide(struct ta_text *text, unsigned __int128 value)
{
    char digits[40];
    ta_text_putc(text, '"');
    ta_text_put(text, digits_of(value, digits));
    ta_text_putc(text, '"');
}

void ta_text_real(struct ta_text *text, double value)
{
    char number[TA_UNIT_TEXT_MAX];
    if (isnan(value))
        ta_text_puts(text, "null");
    else if (isinf(value))
        ta_text_puts(text, value < 0 ? "-1e999" : "1e999");
    else
        ta_text_puts(text, ta_number_format(number, value));
}

void ta_text_bool(struct ta_text *text, bool value)
{
    ta_text_puts(text, value ? "true" : "false");
}

/* ---- strings ------------------------------------------------------------------------------- */

static void put_hex(struct ta_text *text, struct ta_slice bytes)
{
    static const char hex[] = "0123456789abcdef";
    if (bytes.len > SIZE_MAX / 4 || !reserve(text, 2 * bytes.len)) {
        text->failed = true;
        return;
    }
    char *at = text->bytes.at + text->bytes.n;
    for (size_t i = 0; i < bytes.len; i++) {
        *at++ = hex[(unsigned char)bytes.ptr[i] >> 4];
        *at++ = hex[(unsigned char)bytes.ptr[i] & 15];
    }
    text->bytes.n += 2 * bytes.len;
}

static bool needs_escape(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
}

void ta_text_string(struct ta_text *text, struct ta_slice string)
{
    if (ta_utf8_valid(string.ptr, string.len) != string.len) {
        ta_text_puts(text, "{\"hex\":\"");
        put_hex(text, string);
        ta_text_puts(text, "\"}");
        return;
    }
    ta_text_putc(text, '"');
    for (size_t i = 0, start = 0; i <= string.len; i++) {
        if (i < string.len && !needs_escape(string.ptr[i]))
            continue;
        ta_text_put(text, ta_slice_part(string, start, i));
        start = i + 1;
        if (i == string.len)
            break;
        char escape[8];
        snprintf(escape, sizeof escape,
                 string.ptr[i] == '"' || string.ptr[i] == '\\' ? "\\%c" : "\\u%04x",
                 (unsigned)(unsigned char)string.ptr[i]);
        ta_text_puts(text, escape);
    }
    ta_text_putc(text, '"');
}

void ta_text_string_or_null(struct ta_text *text, const char *string)
{
    if (string)
        ta_text_string(text, ta_slice_of(string));
    else
        ta_text_puts(text, "null");
}
