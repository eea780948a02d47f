/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scanning a record by its learned layout (layout.h): gap, value, gap, value … up to the gap that
 * ends the record.  The one loop that touches every byte of a trace.
 *
 * A file that includes this one defines LAYOUT_SCAN, the name of the function, and is compiled for
 * one instruction set (vector.h).
 *
 * What is plain is done here: strings of printable ASCII without escapes, decimal numbers without
 * exponent, arrays of these, true, false and null.  All else, and all that is wrong, is left to the
 * grammar of scan.h, which starts again at the first byte of the value.  The zeros after the
 * window look wrong as well, so its end needs no care here. */
#include "parse/json/layout.h"
#include "parse/json/layout_bucket.h"
#include "parse/json/vector.h"

/* ---- values ---------------------------------------------------------------------------------- */

/* What follows a value is not looked at: the gap after it, or the comma or bracket in an array,
 * would not match.  So 1e5 stops at the e, and then goes to the grammar. */

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* The end of a plain number of up to 31 characters after its sign, with the digits before its
 * point; NULL for the grammar. */
static inline const char *skip_digits(const char *p, uint8_t *whole)
{
    uint32_t others = vector_no_digits32(p);
    if (others == 0)
        return NULL;
    unsigned end = (unsigned)__builtin_ctz(others);
    *whole = (uint8_t)end;
    if (end == 0 || (*p == '0' && end > 1))
        return NULL;
    if (p[end] == '.') {
        others &= others - 1;
        if (others == 0)
            return NULL;
        const unsigned point = end;
        end = (unsigned)__builtin_ctz(others);
        if (end == point + 1)
            return NULL;
    }
    return p + end;
}

/* The closing quote of a plain string at its opening one; NULL for the grammar. */
static inline const char *skip_string(const char *p, size_t limit)
{
    const char *const quote = vector_skip_plain(p + 1);
    return *quote == '"' && (size_t)(quote - p - 1) <= limit ? quote : NULL;
}

/* The end of true, false or null; NULL when it is none of them. */
static inline const char *skip_word(const char *p)
{
    return memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0 ? p + 4
           : memcmp(p, "false", 5) == 0                           ? p + 5
                                                                  : NULL;
}

/* One space or none, as there mostly is, costs no wait. */
static inline const char *skip_space(const char *p)
{
    if ((unsigned char)p[0] > ' ')
        return p;
    return p[0] == ' ' && (unsigned char)p[1] > ' ' ? p + 1 : vector_skip_space(p);
}

/* The end of a plain value of an array, no array itself; NULL for the grammar. */
static inline const char *skip_element(const char *p, const struct scan *scan)
{
    uint8_t whole;
    if (*p != '"')
        return is_digit(*p) || *p == '-' ? skip_digits(p + (*p == '-'), &whole) : skip_word(p);
    p = skip_string(p, scan->string_limit);
    return p ? p + 1 : NULL;
}

/* The end of an array of plain values and such arrays, one element after the other; NULL for the
 * grammar. */
static const char *skip_elements(const char *p, const struct scan *scan)
{
    size_t depth = 0;
    for (;;) {
        /* Before a value, or before the bracket that closes an empty array. */
        if (*p == '[') {
            if (++depth > scan->stack_limit)
                return NULL;
            p = skip_space(p + 1);
            if (*p != ']')
                continue;
        } else {
            while ((p = skip_element(p, scan)) && memcmp(p, ", \"", 3) == 0)
                p += 2; /* names of types, as they are mostly written */
            if (!p)
                return NULL;
        }
        /* After a value. */
        for (p = skip_space(p); *p == ']'; p = skip_space(p))
            if (p++, --depth == 0)
                return p;
        if (*p != ',')
            return NULL;
        p = skip_space(p + 1);
        if (*p == ']')
            return NULL;
    }
}

#if VECTOR_BITMAPS

/* Bit of the bracket that closes the array at bit 0; 0 when it is not among these bits. */
static inline uint64_t closing_bit(uint64_t open, uint64_t close, size_t depth_limit)
{
    size_t depth = 0;
    for (uint64_t left = open | close; left; left &= left - 1) {
        const uint64_t bit = left & -left;
        if (bit & close) {
            if (--depth == 0)
                return bit;
        } else if (++depth > depth_limit) {
            return 0;
        }
    }
    return 0;
}

/* The end of an array of whole numbers and such arrays, as shapes and strides are, in the 64 bytes
 * from `p` on: a bit for each byte, and rules about neighbors.  NULL when it is another one. */
static inline const char *skip_numbers(const char *p, size_t depth_limit)
{
    const uint64_t open = vector_equal64(p, TA_EACH(open)),
                   close = vector_equal64(p, TA_EACH(close));
    const uint64_t last = closing_bit(open, close, depth_limit);
    const uint64_t digit = vector_digits64(p), comma = vector_equal64(p, TA_EACH(comma));
    const uint64_t zero = vector_equal64(p, TA_EACH(zero)),
                   space = vector_equal64(p, TA_EACH(space));
    /* A space belongs to the comma before it. */
    const uint64_t behind_comma = comma << 1 | space << 1;
    const uint64_t right = (digit & (digit << 1 | open << 1 | behind_comma)) |
                           (comma & (digit << 1 | close << 1)) | (space & comma << 1) |
                           (open & (open << 1 | behind_comma | 1)) |
                           (close & (digit << 1 | close << 1 | open << 1));
    const uint64_t leading_zero = zero & ~(digit << 1) & digit >> 1;
    const uint64_t all = last | (last - 1);
    if (last == 0 || (~right & all) || (leading_zero & all))
        return NULL;
    return p + __builtin_ctzll(last) + 1;
}

static inline const char *skip_array(const char *p, const struct scan *scan)
{
    const char *const end = skip_numbers(p, scan->stack_limit);
    return end ? end : skip_elements(p, scan);
}

#else

static inline const char *skip_array(const char *p, const struct scan *scan)
{
    return skip_elements(p, scan);
}

#endif

/* The end of a plain value at `p`, which becomes *token if that is wanted; NULL for the grammar. */
__attribute__((always_inline)) static inline const char *
take_plain(const char *p, const struct scan *scan, struct ta_token *token)
{
    const char *end, *text = p;
    uint8_t type, whole = 0, quotes = 0;
    if (is_digit(*p)) {
        type = TA_TOKEN_NUMBER;
        end = skip_digits(p, &whole);
    } else if (*p == '"') {
        type = TA_TOKEN_STRING;
        quotes = 1;
        end = skip_string(p, scan->string_limit);
    } else if (*p == '[') {
        type = TA_TOKEN_ARRAY;
        end = skip_array(p, scan);
    } else if (*p == '-') {
        type = TA_TOKEN_NUMBER;
        end = skip_digits(p + 1, &whole);
    } else {
        type = *p == 't' ? TA_TOKEN_TRUE : *p == 'f' ? TA_TOKEN_FALSE : TA_TOKEN_NULL;
        end = skip_word(p);
    }
    if (!end)
        return NULL;
    text += quotes;
    if (token)
        *token = (struct ta_token){text, (uint32_t)(end - text), type, 1, whole, 0};
    return end + quotes;
}

/* ---- the record ------------------------------------------------------------------------------ */

/* The gap at `p` when it is one of a list; it comes first from now on, but for those that it is the
 * beginning of. */
static inline struct gap *expected_gap(struct gap **next, const char *p)
{
    struct gap *const last = next[0];
    if (vector_matches(p, last->text, last->length, last->mask))
        return last;
    for (int i = 1; i < GAPS_AFTER; i++) {
        struct gap *const gap = next[i];
        if (!vector_matches(p, gap->text, gap->length, gap->mask))
            continue;
        for (; i > 0 && !layout_is_longer(next[i - 1], gap); i--)
            next[i] = next[i - 1];
        return next[i] = gap;
    }
    return NULL;
}

/* `end`, but by the width of the last value after this gap if that is the same.  A processor
 * guesses that it is, and works on what follows before it has found the end of the value: else
 * every value would wait for the one before. */
static inline const char *by_width(const char *p, const char *end, struct gap *gap)
{
    uint32_t width = gap->width;
    if (end == p + width) {
        __asm__("" : "+r"(width)); /* so that the compiler does not see that both are equal */
        return p + width;
    }
    gap->width = (uint32_t)(end - p);
    return end;
}

static inline struct ta_token *token_at(struct ta_record *record, uint16_t place)
{
    return (struct ta_token *)(void *)((char *)record + place);
}

/* The contents of a gap at `start`: values, and the brackets of the nested object. */
static inline void turn(const struct gap *gap, const char *start, struct ta_record *record,
                        struct ta_token *object)
{
    const struct piece *piece = gap->piece;
    for (size_t left = gap->n_pieces; left > 0; left--, piece++) {
        struct ta_token *const token = token_at(record, piece->token);
        token->ptr = start + piece->at;
        memcpy(&token->len, &piece->rest, sizeof piece->rest);
    }
    if (gap->opens)
        *object = (struct ta_token){start + gap->opens - 1, 0, TA_TOKEN_OBJECT, 1, 0, 0};
    if (gap->closes)
        object->len = (uint32_t)(start + gap->closes - 1 - object->ptr);
}

/* A value that is not plain, by the grammar; NULL when that fails. */
static inline const char *take_other(const char *p, struct scan *scan, struct ta_token *token,
                                     enum scan_result *result)
{
    struct ta_token ignored;
    scan->p = p;
    *result = p < scan->end ? scan_value(scan, token ? token : &ignored) : SCAN_MORE;
    return *result == SCAN_OK ? scan->p : NULL;
}

/* The end of the value at `p` after a gap; NULL with *result set when there is none.  *seen is
 * where a plain value goes that nobody wants; NULL: nowhere. */
__attribute__((always_inline)) static inline const char *
take_value(const char *p, struct gap *gap, struct scan *scan, struct ta_token *token,
           struct ta_token *seen, enum scan_result *result)
{
    const char *const end = token ? take_plain(p, scan, token) : take_plain(p, scan, seen);
    if (end)
        return by_width(p, end, gap);
    if (seen)
        seen->type = TA_TOKEN_ABSENT;
    return take_other(p, scan, token, result);
}

/* The record has these values and no others: forgets what the one before had. */
static inline enum scan_result has_values(struct ta_record *record, unsigned fields,
                                          uint64_t nested)
{
    record_drop(record, record->has_field & ~fields, record->has_nested & ~nested);
    record->has_field = (uint16_t)fields;
    record->has_nested = nested;
    return SCAN_OK;
}

/* Scans a record; watches it for gaps to be fused.  The place of the scan lives in a register, p,
 * while it moves over what is known and plain. */
__attribute__((always_inline)) static inline enum scan_result
scan_gaps(struct layout *layout, const struct record_keys *keys, struct scan *scan,
          struct ta_record *record, const bool watched)
{
    struct gap **next = layout->first->begins, *gap = layout->opening;
    enum scan_result result = SCAN_BAD;
    unsigned fields = 0, fields_again = 0;
    uint64_t nested = 0, nested_again = 0;
    uint8_t kind = 0;
    for (const char *p = scan->p, *start = p; p; next = gap->next[kind]) {
        struct gap *const before = gap;
        gap = layout->unordered ? layout_known(layout, start = p, before->to)
                                : expected_gap(next, start = p);
        if (__builtin_expect(gap != NULL, true)) {
            p += gap->length;
        } else {
            scan->p = start = p;
            if (!(gap = layout_find(layout, keys, scan, before->to, next, &result)))
                return result;
            p = scan->p;
        }
        fields_again |= fields & gap->fields;
        nested_again |= nested & gap->nested;
        fields |= gap->fields;
        nested |= gap->nested;
        if (before == layout->opening && gap != layout->passing)
            kind = (layout->first = gap)->kind;
        if (gap->turns) {
            turn(gap, start, record, &record->field[keys->schema->nested]);
            if (gap->ends) {
                /* Keys that come again are for the grammar. */
                if (fields_again || nested_again || gap->is_wrong)
                    return SCAN_BAD;
                if (watched)
                    layout_note(layout, next, gap, start, NULL);
                scan->p = p;
                return has_values(record, fields, nested);
            }
        }
        /* The members of an object after a gap that led to a scalar before, such as
         * "args": null, would be missed. */
        if (gap->is_object && *p == '{')
            return SCAN_BAD;
        struct ta_token *const token = gap->is_wanted ? token_at(record, gap->token) : NULL, seen;
        const char *const value = p;
        p = take_value(p, gap, scan, token, watched ? &seen : NULL, &result);
        if (watched && p)
            layout_note(layout, next, gap, start, token ? token : &seen);
        if (!p && (unsigned char)*value <= ' ' && result == SCAN_BAD) {
            scan->p = start;
            layout_lengthen(layout, keys, scan, before->to, next);
        }
    }
    return result;
}

/* Forgets what a scan has left that has failed. */
static void forget(struct ta_record *record)
{
    record_drop(record, UINT16_MAX, UINT64_MAX);
    record->has_field = 0;
    record->has_nested = 0;
}

enum scan_result LAYOUT_SCAN(struct layout *layout, const struct record_keys *keys,
                             struct scan *scan, struct ta_record *record)
{
    enum scan_result result;
    if (layout->fusing.left) {
        layout_watch(layout);
        result = scan_gaps(layout, keys, scan, record, true);
        if (result == SCAN_OK && scan->notes == 0) /* which would be noted again */
            layout_fuse(layout);
    } else {
        result = scan_gaps(layout, keys, scan, record, false);
    }
    if (result != SCAN_OK)
        forget(record);
    return result;
}
