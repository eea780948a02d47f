/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/price.h"

#include "base/number.h"
#include "base/utf8.h"

#include <string.h>

/* A price has this many digits at most, six after the point. */
enum { DIGITS_MOST = 16, SHIFT = 6, SHOWN_MOST = 60 };

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

/* Letters of any writing, "$", "€": no digits, blanks or control characters. */
static bool is_currency(const char *text)
{
    const size_t length = strlen(text);
    if (length >= TA_CURRENCY_ROOM || ta_utf8_valid(text, length) != length)
        return false;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f || is_of_number(*c) || strchr("-+,;<>\"'\\", *c))
            return false;
    return true;
}

enum ta_status ta_price_parse(struct ta_ctx *ctx, const char *text, struct ta_price *out)
{
    struct ta_price price = {.per_hour = 0};
    if (!text) {
        *out = price;
        return TA_OK;
    }
    const char *end = text;
    while (is_of_number(*end))
        end++;
    const struct ta_slice number = {text, (size_t)(end - text)};
    const char *currency = end;
    while (*currency == ' ')
        currency++;
    int64_t millionths = 0;
    if (number.len == 0 || number.len > DIGITS_MOST ||
        ta_decimal_parse(number, SHIFT, &millionths) != TA_DECIMAL_OK || millionths <= 0 ||
        !is_currency(currency))
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Unusable --price \"%.*s%s\": expected money per GPU and hour, such as 2.50 "
                       "or 2.50USD",
                       SHOWN_MOST, text, strlen(text) > SHOWN_MOST ? "…" : "");
    price.per_hour = (double)millionths / 1e6;
    memcpy(price.currency, currency, strlen(currency) + 1);
    *out = price;
    return TA_OK;
}
