/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integers and texts of pickles, from the forms that the protocols write them in. */
#include "base/utf8.h"
#include "parse/pickle/object.h"

#define REPLACEMENT UINT32_C(0xfffd)

/* ---- integers ------------------------------------------------------------------------------ */

static void set_integer(struct object *object, bool negative, uint64_t magnitude, bool fits)
{
    object->kind = TA_OBJECT_INT;
    object->integer = INTEGER_HUGE;
    object->value = 0;
    if (!fits || (negative && magnitude > (uint64_t)INT64_MAX + 1))
        return;
    const bool is_signed = negative || magnitude <= INT64_MAX;
    object->integer = is_signed ? INTEGER_SIGNED : INTEGER_UNSIGNED;
    object->value = (int64_t)(negative ? 0 - magnitude : magnitude);
}

bool integer_parse(struct ta_slice text, struct object *object)
{
    const bool negative = text.len && text.ptr[0] == '-';
    if (text.len && (negative || text.ptr[0] == '+')) {
        text.ptr++;
        text.len--;
    }
    if (text.len > 1 && text.ptr[text.len - 1] == 'L')
        text.len--;
    uint64_t magnitude = 0;
    bool fits = true;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (c < '0' || c > '9')
            return false;
        fits &= !__builtin_mul_overflow(magnitude, 10u, &magnitude) &&
                !__builtin_add_overflow(magnitude, (uint64_t)(c - '0'), &magnitude);
    }
    set_integer(object, negative, magnitude, fits);
    return text.len > 0;
}

void integer_decode(struct ta_slice bytes, struct object *object)
{
    const bool negative = bytes.len && (bytes.ptr[bytes.len - 1] & 0x80);
    const unsigned char filler = negative ? 0xff : 0;
    uint64_t value = negative ? UINT64_MAX : 0;
    bool fits = true;
    for (size_t i = bytes.len; i-- > 0;) {
        const unsigned char byte = (unsigned char)bytes.ptr[i];
        if (i >= sizeof value)
            fits &= byte == filler;
        else
            value = value << 8 | byte;
    }
    /* The sign of a negative number must not have been among the bytes passed over. */
    fits &= !negative || value > INT64_MAX;
    set_integer(object, negative, negative ? 0 - value : value, fits);
}

/* ---- texts --------------------------------------------------------------------------------- */

struct ta_slice text_repair(struct ta_arena *arena, struct ta_slice text, bool *repaired)
{
    size_t valid = ta_utf8_valid(text.ptr, text.len);
    if (valid == text.len)
        return text;
    char *copy = ta_arena_alloc(arena, text.len * 3 + 1); /* U+FFFD takes three bytes */
    size_t n = 0;
    for (size_t at = 0; copy;) {
        memcpy(copy + n, ta_slice_at(text, at), valid);
        n += valid;
        at += valid;
        if (at == text.len)
            break;
        n += ta_utf8_encode(REPLACEMENT, copy + n);
        at++;
        valid = ta_utf8_valid(ta_slice_at(text, at), text.len - at);
    }
    *repaired = true;
    return (struct ta_slice){copy, n};
}

/* The value of up to `most` digits, and how many there were. */
static size_t read_digits(struct ta_slice text, unsigned base, size_t most, uint32_t *value)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;
    *value = 0;
    for (; n < most && n < text.len; n++) {
        const char c = text.ptr[n];
        const char *digit = memchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c, base);
        if (!digit)
            break;
        *value = *value * base + (uint32_t)(digit - digits);
    }
    return n;
}

/* The byte that a backslash escape means; returns how much of the text it took. */
static size_t unescape_byte(struct ta_slice text, char *out, size_t *n)
{
    static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    uint32_t value;
    size_t length = read_digits(text, 8, 3, &value);
    if (text.ptr[0] == 'x') {
        struct ta_slice hex = ta_slice_from(text, 1);
        length = read_digits(hex, 16, 2, &value) == 2 ? 3 : 0;
    }
    const char *name = memchr(names, text.ptr[0], sizeof names - 1);
    if (length) {
        out[(*n)++] = (char)value;
        return length;
    }
    if (name) {
        out[(*n)++] = values[name - names];
        return 1;
    }
    out[(*n)++] = '\\'; /* unknown ones stand for themselves */
    return 0;
}

bool text_unquote(struct ta_arena *arena, struct ta_slice line, struct ta_slice *text)
{
    if (line.len < 2 || (line.ptr[0] != '\'' && line.ptr[0] != '"') ||
        line.ptr[line.len - 1] != line.ptr[0])
        return false;
    char *out = ta_arena_alloc(arena, line.len);
    *text = (struct ta_slice){out, 0};
    for (size_t i = 1; out && i + 1 < line.len;) {
        const struct ta_slice rest = ta_slice_part(line, i + 1, line.len - 1);
        if (line.ptr[i++] != '\\' || rest.len == 0)
            out[text->len++] = line.ptr[i - 1];
        else
            i += unescape_byte(rest, out, &text->len);
    }
    return true;
}

bool text_unescape(struct ta_arena *arena, struct ta_slice line, struct ta_slice *text)
{
    char *out = ta_arena_alloc(arena, line.len * 2 + 1); /* Latin-1 takes two bytes at most */
    *text = (struct ta_slice){out, 0};
    for (size_t i = 0; out && i < line.len; i++) {
        uint32_t code = (unsigned char)line.ptr[i];
        const char next = i + 1 < line.len ? line.ptr[i + 1] : '\0';
        const size_t digits = next == 'u' ? 4 : 8;
        if (code == '\\' && (next == 'u' || next == 'U')) {
            struct ta_slice rest = ta_slice_from(line, i + 2);
            if (read_digits(rest, 16, digits, &code) != digits)
                return false;
            i += 1 + digits;
        }
        if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            code = REPLACEMENT;
        text->len += ta_utf8_encode(code, out + text->len);
    }
    return true;
}
