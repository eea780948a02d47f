/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal text to exact integers, never through a double: at 1.7e15 µs a double is 250 ns wide. */
#include "base/number.h"
#include "traceanalyze/document.h"

#include <stdlib.h>

/* The parts of a JSON number. */
struct decimal {
    bool negative;
    const char *digits; /* integer part, then fraction part after the point */
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
    if (text.len == 0)
        return false;
    const char *p = text.ptr, *end = p + text.len;
    *d = (struct decimal){.negative = *p == '-'};
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

enum ta_decimal ta_decimal_parse(struct ta_slice text, int shift, int64_t *value)
{
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
    /* The first digit after the point decides; halves go away from zero. */
    if (kept >= 0 && i < n && digit(&d, i) >= 5 && result++ == INT64_MAX)
        return TA_DECIMAL_OUT_OF_RANGE;
    *value = d.negative ? -(int64_t)result : (int64_t)result;
    return TA_DECIMAL_OK;
}

/* ---- tokens ------------------------------------------------------------------------------ */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* The number that 1 to 8 digits make, all at once: pairs, then fours, then eight.  Eight bytes can
 * be read; what follows the digits is shifted out, and digits 0 come before them. */
static inline uint64_t up_to_8_digits(const char *p, unsigned n)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    v = (v - UINT64_C(0x3030303030303030)) << (64 - 8 * n);
    v = v * 10 + (v >> 8);
    const uint64_t pairs = UINT64_C(0x000000ff000000ff);
    return ((v & pairs) * UINT64_C(0x000f424000000064) +
            (v >> 16 & pairs) * UINT64_C(0x0000271000000001)) >>
           32;
}

#else

static inline uint64_t up_to_8_digits(const char *p, unsigned n)
{
    uint64_t value = 0;
    while (n--)
        value = value * 10 + (uint64_t)(*p++ - '0');
    return value;
}

#endif

static inline uint64_t up_to_16_digits(const char *p, unsigned n)
{
    return n <= 8 ? up_to_8_digits(p, n)
                  : up_to_8_digits(p, n - 8) * 100000000 + up_to_8_digits(p + n - 8, 8);
}

enum ta_decimal ta_token_decimal(const struct ta_token *token, int shift, int64_t *value)
{
    static const int64_t powers[] = {1, 10, 100, 1000};
    const unsigned minus = token->ptr[0] == '-', whole = token->whole;
    const unsigned fraction = token->len - minus - whole; /* with its point */
    const char *p = token->ptr + minus;
    /* Nearly every time stamp; what is less than 9 × 10^15 times 1000 fits. */
    if (whole - 1u > 15 || (whole == 16 && *p == '9') || fraction > (unsigned)shift + 1 ||
        shift > 3)
        return ta_decimal_parse((struct ta_slice){token->ptr, token->len}, shift, value);
    int64_t result = (int64_t)up_to_16_digits(p, whole) * powers[shift];
    p += whole;
    if (fraction == 4)
        result += (p[1] * 100 + p[2] * 10 + p[3]) - '0' * 111;
    else
        for (unsigned i = 1; i < fraction; i++)
            result += (p[i] - '0') * powers[(unsigned)shift - i];
    *value = minus ? -result : result;
    return TA_DECIMAL_OK;
}

bool ta_token_integer(const struct ta_token *token, int64_t *value)
{
    if (token->whole == token->len && token->whole - 1U < 16) { /* as nearly all are */
        *value = (int64_t)up_to_16_digits(token->ptr, token->whole);
        return true;
    }
    if ((token->type != TA_TOKEN_NUMBER && token->type != TA_TOKEN_STRING) || token->len == 0)
        return false;
    const size_t minus = token->ptr[0] == '-';
    if (token->whole ? token->whole + minus != token->len
                     : digits_at(token->ptr + minus, token->ptr + token->len) + minus != token->len)
        return false;
    return ta_token_decimal(token, 0, value) == TA_DECIMAL_OK;
}

bool ta_token_double(const struct ta_token *token, double *value)
{
    enum { EXACT_DIGITS = 15 };
    char text[64];
    int64_t integer;
    if (token->type != TA_TOKEN_NUMBER || token->len >= sizeof text)
        return false;
    if (token->len <= EXACT_DIGITS && *token->ptr != '-' && ta_token_integer(token, &integer)) {
        *value = (double)integer;
        return true;
    }
    memcpy(text, token->ptr, token->len);
    text[token->len] = '\0';
    char *end;
    double result = strtod(text, &end);
    if (*end || !(result - result == 0.0))
        return false;
    *value = result;
    return true;
}
