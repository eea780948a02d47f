/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parse/log/pieces.h"

#include "traceanalyze/document.h"

#include <ctype.h>
#include <math.h>

static bool is_digit(struct ta_slice text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

static size_t blanks(struct ta_slice text)
{
    size_t n = 0;
    while (n < text.len && (text.ptr[n] == ' ' || text.ptr[n] == '\t'))
        n++;
    return n;
}

struct ta_slice ta_log_after(struct ta_slice line, const char *text)
{
    const size_t n = strlen(text);
    const char *at = line.len ? memmem(line.ptr, line.len, text, n) : NULL;
    return at ? ta_slice_from(line, (size_t)(at - line.ptr) + n) : (struct ta_slice){NULL, 0};
}

/* ---- sentences ------------------------------------------------------------------------------- */

static size_t word_length(struct ta_slice text)
{
    size_t n = 0;
    while (n < text.len && (isalnum((unsigned char)text.ptr[n]) || strchr("_'", text.ptr[n])))
        n++;
    return n;
}

bool ta_log_is_prose(struct ta_slice text)
{
    static const char *const telling[] = {
        "i",     "my",     "we",    "our",     "you",    "your",    "they",   "than",
        "which", "that",   "if",    "because", "but",    "so",      "as",     "instead",
        "about", "around", "would", "could",   "should", "against", "though", NULL};
    if (memchr(text.ptr, '`', text.len) || ta_log_after(text, "**").ptr ||
        ta_slice_starts(text, "|"))
        return true;
    while (text.len) {
        const size_t n = word_length(text);
        for (size_t i = 0; n && telling[i]; i++)
            if (n == strlen(telling[i]) && strncasecmp(text.ptr, telling[i], n) == 0)
                return true;
        text = ta_slice_from(text, n < text.len ? n + 1 : n);
    }
    return false;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* How long a number at the start is: digits, a point and digits, an exponent; a comma only where
 * three digits follow each. */
static size_t number_length(struct ta_slice text)
{
    size_t n = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');
    const size_t first = n;
    while (is_digit(text, n))
        n++;
    if (n == first)
        return 0;
    while (n < text.len && text.ptr[n] == ',' && is_digit(text, n + 1) && is_digit(text, n + 2) &&
           is_digit(text, n + 3) && !is_digit(text, n + 4))
        n += 4;
    if (n < text.len && text.ptr[n] == '.' && is_digit(text, n + 1))
        for (n++; is_digit(text, n);)
            n++;
    if (n < text.len && (text.ptr[n] == 'e' || text.ptr[n] == 'E')) {
        const size_t sign = n + 1 < text.len && strchr("+-", text.ptr[n + 1]) ? 1 : 0;
        if (is_digit(text, n + 1 + sign))
            for (n += 1 + sign; is_digit(text, n);)
                n++;
    }
    return n;
}

enum { NUMBER_MOST = 48 };

/* The number without its commas. */
static struct ta_slice without_commas(struct ta_slice number, char buffer[NUMBER_MOST])
{
    size_t n = 0;
    for (size_t i = 0; i < number.len && n < NUMBER_MOST; i++)
        if (number.ptr[i] != ',')
            buffer[n++] = number.ptr[i];
    return (struct ta_slice){buffer, n};
}

/* Takes a number times 10^shift. */
static int64_t take_decimal(struct ta_slice *text, int shift)
{
    char buffer[NUMBER_MOST];
    const size_t from = blanks(*text), n = number_length(ta_slice_from(*text, from));
    if (n == 0)
        return TA_MISSING;
    const int64_t value =
        ta_text_decimal(without_commas(ta_slice_part(*text, from, from + n), buffer), shift);
    if (value != TA_MISSING)
        *text = ta_slice_from(*text, from + n);
    return value;
}

double ta_log_number(struct ta_slice *text)
{
    char buffer[NUMBER_MOST];
    const size_t from = blanks(*text), n = number_length(ta_slice_from(*text, from));
    if (n == 0)
        return NAN;
    const double value =
        ta_text_double(without_commas(ta_slice_part(*text, from, from + n), buffer));
    if (!isnan(value))
        *text = ta_slice_from(*text, from + n);
    return value;
}

int64_t ta_log_integer(struct ta_slice *text)
{
    struct ta_slice rest = *text;
    const int64_t value = take_decimal(&rest, 0);
    const size_t n = text->len - rest.len;
    if (value == TA_MISSING || memchr(text->ptr, '.', n))
        return TA_MISSING;
    *text = rest;
    return value;
}

/* ---- units ----------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    double times;
};

/* The unit that the text begins with, as a whole word; NULL without one.  `*n` is how long it is
 * with the blanks before it. */
static const struct unit *find_unit(struct ta_slice text, const struct unit *units, size_t n_units,
                                    size_t *n)
{
    const size_t from = blanks(text);
    const struct ta_slice rest = ta_slice_from(text, from);
    for (size_t i = 0; i < n_units; i++) {
        const size_t len = strlen(units[i].name);
        if (rest.len >= len && strncasecmp(rest.ptr, units[i].name, len) == 0 &&
            (rest.len == len || !isalpha((unsigned char)rest.ptr[len]))) {
            *n = from + len;
            return &units[i];
        }
    }
    return NULL;
}

static int64_t take_with_unit(struct ta_slice *text, const struct unit *units, size_t n_units)
{
    struct ta_slice rest = *text;
    size_t n = 0;
    const double value = ta_log_number(&rest);
    const struct unit *unit = isnan(value) ? NULL : find_unit(rest, units, n_units, &n);
    if (!unit || value < 0)
        return TA_MISSING;
    *text = ta_slice_from(rest, n);
    return ta_whole(round(value * unit->times));
}

int64_t ta_log_bytes(struct ta_slice *text)
{
    static const struct unit units[] = {
        {"bytes", 1},   {"byte", 1},     {"B", 1},        {"KiB", 0x1p10}, {"KB", 0x1p10},
        {"K", 0x1p10},  {"MiB", 0x1p20}, {"MB", 0x1p20},  {"M", 0x1p20},   {"GiB", 0x1p30},
        {"GB", 0x1p30}, {"G", 0x1p30},   {"TiB", 0x1p40}, {"TB", 0x1p40},
    };
    return take_with_unit(text, units, sizeof units / sizeof *units);
}

int64_t ta_log_time(struct ta_slice *text)
{
    static const struct unit units[] = {
        {"seconds", 1e9},     {"second", 1e9},  {"secs", 1e9},
        {"sec", 1e9},         {"s", 1e9},       {"milliseconds", 1e6},
        {"millisecond", 1e6}, {"ms", 1e6},      {"microseconds", 1e3},
        {"us", 1e3},          {"µs", 1e3},      {"ns", 1},
        {"minutes", 60e9},    {"minute", 60e9}, {"mins", 60e9},
        {"min", 60e9},
    };
    return take_with_unit(text, units, sizeof units / sizeof *units);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

int64_t ta_log_clock(struct ta_slice *text)
{
    struct ta_slice rest = *text;
    int64_t days = 0;
    const int64_t first = ta_log_integer(&rest);
    if (first >= 0 && (ta_slice_starts(rest, " day, ") || ta_slice_starts(rest, " days, "))) {
        days = first;
        rest = ta_slice_from(rest, rest.ptr[4] == 's' ? 7 : 6);
    } else {
        rest = *text;
    }
    rest = ta_slice_from(rest, blanks(rest));
    int64_t seconds = 0;
    size_t parts = 0, at = 0;
    while (parts < 3 && is_digit(rest, at)) {
        int64_t part = 0;
        const size_t from = at;
        for (; is_digit(rest, at) && at - from < 7; at++)
            part = part * 10 + (rest.ptr[at] - '0');
        if (parts > 0 && (at - from != 2 || part > 59))
            return TA_MISSING;
        seconds = seconds * 60 + part;
        parts++;
        if (parts == 3 || at >= rest.len || rest.ptr[at] != ':' || !is_digit(rest, at + 1))
            break;
        at++;
    }
    if (parts < 2 || days > 10000 || seconds > 10000 * INT64_C(86400))
        return TA_MISSING;
    *text = ta_slice_from(rest, at);
    return (days * 86400 + seconds) * INT64_C(1000000000);
}
