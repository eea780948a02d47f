/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal text to exact integers, never through a double: at 1.7e15 µs a double is 250 ns wide. */
#include "traceanalyze/json.h"

#include <stdlib.h>

/* The parts of a JSON number. */
struct decimal {
    bool negative;
    const char *digits; /* integer part, then fraction part behind the point */
    size_t whole, fraction;
    int64_t exponent;
};

static size_t digits_at(const char *p, const char *end)
{
    const char *start = p;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return (size_t)(p - start);
}

static bool split(struct ta_slice text, struct decimal *d)
{
    const char *p = text.ptr, *end = p + text.len;
    *d = (struct decimal){.negative = p < end && *p == '-'};
    p += d->negative;
    d->digits = p;
    d->whole = digits_at(p, end);
    if (d->whole == 0)
        return false;
    p += d->whole;
    if (p < end && *p == '.') {
        d->fraction = digits_at(p + 1, end);
        if (d->fraction == 0)
            return false;
        p += 1 + d->fraction;
    }
    if (p < end && (*p | 0x20) == 'e') {
        bool minus = p + 1 < end && p[1] == '-';
        p += 1 + (p + 1 < end && (p[1] == '-' || p[1] == '+'));
        size_t n = digits_at(p, end);
        if (n == 0)
            return false;
        /* Beyond any exponent that could matter; keeps the sum below in range. */
        for (size_t i = 0; i < n; i++)
            if (d->exponent < 1000000)
                d->exponent = d->exponent * 10 + (p[i] - '0');
        if (minus)
            d->exponent = -d->exponent;
        p += n;
    }
    return p == end;
}

/* Digit number i of the significand, the point left out. */
static int digit(const struct decimal *d, size_t i)
{
    return d->digits[i < d->whole ? i : i + 1] - '0';
}

/* Nearly every time stamp: at most 15 digits, and no more behind the point than the shift keeps. */
static bool parse_plain(struct ta_slice text, int shift, int64_t *value)
{
    static const int64_t powers[] = {1, 10, 100, 1000};
    const char *p = text.ptr, *const end = p + text.len;
    const bool negative = p < end && *p == '-';
    p += negative;
    if (p == end || end - p > 16 || shift < 0 || shift > 3)
        return false;
    const char *point = NULL;
    int64_t digits = 0;
    for (; p < end; p++) {
        const unsigned digit = (unsigned)*p - '0';
        if (digit <= 9)
            digits = digits * 10 + digit;
        else if (*p == '.' && !point && end - p > 1 && p > text.ptr + negative)
            point = p;
        else
            return false;
    }
    const ptrdiff_t fraction = point ? end - point - 1 : 0;
    if (fraction > shift || digits > INT64_MAX / 1000)
        return false;
    digits *= powers[shift - fraction];
    *value = negative ? -digits : digits;
    return true;
}

enum ta_decimal ta_decimal_parse(struct ta_slice text, int shift, int64_t *value)
{
    if (parse_plain(text, shift, value))
        return TA_DECIMAL_OK;
    struct decimal d;
    if (!split(text, &d))
        return TA_DECIMAL_NOT_A_NUMBER;
    const size_t n = d.whole + d.fraction;
    /* Digits before the point once it has moved by shift and exponent. */
    const int64_t kept = (int64_t)d.whole + d.exponent + shift;
    uint64_t result = 0;
    size_t i = 0;
    for (; (int64_t)i < kept && i < n; i++) {
        if (__builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, (uint64_t)digit(&d, i), &result))
            return TA_DECIMAL_OUT_OF_RANGE;
    }
    for (int64_t zeros = kept - (int64_t)n; zeros > 0 && result; zeros--)
        if (__builtin_mul_overflow(result, 10, &result))
            return TA_DECIMAL_OUT_OF_RANGE;
    if (result > INT64_MAX)
        return TA_DECIMAL_OUT_OF_RANGE;
    /* The first digit behind the point decides; halves go away from zero. */
    if (kept >= 0 && i < n && digit(&d, i) >= 5 && result++ == INT64_MAX)
        return TA_DECIMAL_OUT_OF_RANGE;
    *value = d.negative ? -(int64_t)result : (int64_t)result;
    return TA_DECIMAL_OK;
}

bool ta_token_integer(const struct ta_token *token, int64_t *value)
{
    if ((token->type != TA_TOKEN_NUMBER && token->type != TA_TOKEN_STRING) || token->len == 0)
        return false;
    size_t minus = token->ptr[0] == '-';
    if (digits_at(token->ptr + minus, token->ptr + token->len) + minus != token->len)
        return false;
    return ta_decimal_parse((struct ta_slice){token->ptr, token->len}, 0, value) == TA_DECIMAL_OK;
}

bool ta_token_double(const struct ta_token *token, double *value)
{
    char text[64];
    if (token->type != TA_TOKEN_NUMBER || token->len >= sizeof text)
        return false;
    memcpy(text, token->ptr, token->len);
    text[token->len] = '\0';
    char *end;
    double result = strtod(text, &end);
    if (*end || !(result - result == 0.0))
        return false;
    *value = result;
    return true;
}
