/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strict reader of JSON in memory. */
#include "analyze/summary/scan.h"

#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>

bool ta_scan_fail(struct ta_scan *scan, const char *problem)
{
    if (!scan->problem)
        scan->problem = problem;
    return false;
}

static void skip_blanks(struct ta_scan *scan)
{
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t'))
        scan->at++;
}

/* The next byte that is no blank, 0 at the end and after a failure. */
static char peek(struct ta_scan *scan)
{
    skip_blanks(scan);
    return scan->problem || scan->at == scan->end ? '\0' : *scan->at;
}

static bool take(struct ta_scan *scan, char expected, const char *problem)
{
    if (peek(scan) != expected)
        return ta_scan_fail(scan, scan->at == scan->end ? "it ends early" : problem);
    scan->at++;
    return true;
}

/* ---- structure ----------------------------------------------------------------------------- */

bool ta_scan_open(struct ta_scan *scan, char bracket)
{
    scan->fresh = take(scan, bracket, bracket == '[' ? "expected an array" : "expected an object");
    return scan->fresh;
}

bool ta_scan_item(struct ta_scan *scan, char closing)
{
    const bool fresh = scan->fresh;
    scan->fresh = false;
    if (peek(scan) == closing) {
        scan->at++;
        return false;
    }
    return !scan->problem && (fresh || take(scan, ',', "expected a comma"));
}

bool ta_scan_member(struct ta_scan *scan, struct ta_slice *key)
{
    if (!ta_scan_item(scan, '}'))
        return false;
    if (peek(scan) != '"')
        return ta_scan_fail(scan, scan->at == scan->end ? "it ends early" : "expected a key");
    *key = ta_scan_string(scan);
    return take(scan, ':', "expected a colon");
}

bool ta_scan_null(struct ta_scan *scan)
{
    if (peek(scan) != 'n')
        return false;
    if (scan->end - scan->at < 4 || memcmp(scan->at, "null", 4) != 0)
        return ta_scan_fail(scan, "expected a value");
    scan->at += 4;
    return true;
}

/* ---- numbers ------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits up to a largest value, which is beyond all that SAFE digits can be. */
static uint64_t take_digits(struct ta_scan *scan, uint64_t most)
{
    enum { SAFE = 18 };
    const char *start = scan->at, *end = scan->end;
    const char *safe = end - start > SAFE ? start + SAFE : end;
    uint64_t value = 0;
    for (; scan->at < safe && is_digit(*scan->at); scan->at++)
        value = value * 10 + (uint64_t)(*scan->at - '0');
    for (; scan->at < end && is_digit(*scan->at); scan->at++) {
        const uint64_t digit = (uint64_t)(*scan->at - '0');
        if (value > (most - digit) / 10) {
            ta_scan_fail(scan, "a number is out of range");
            return 0;
        }
        value = value * 10 + digit;
    }
    if (scan->at == start)
        ta_scan_fail(scan, "expected a whole number");
    else if (scan->at < end && (*scan->at == '.' || (*scan->at | 0x20) == 'e'))
        ta_scan_fail(scan, "expected a whole number");
    return value;
}

int64_t ta_scan_int(struct ta_scan *scan)
{
    const char first = peek(scan);
    if (first == 'n')
        return ta_scan_null(scan) ? TA_MISSING : 0;
    if (scan->problem)
        return 0;
    scan->at += first == '-';
    const int64_t value = (int64_t)take_digits(scan, INT64_MAX);
    return first == '-' ? -value : value;
}

int64_t ta_scan_within(struct ta_scan *scan, int64_t least, int64_t most, bool or_missing)
{
    const char *place = scan->at;
    const int64_t value = ta_scan_int(scan);
    if (scan->problem || (value >= least && value <= most) || (or_missing && value == TA_MISSING))
        return value;
    scan->at = place;
    ta_scan_fail(scan, "a number is out of range");
    return least;
}

uint64_t ta_scan_uint(struct ta_scan *scan)
{
    const char first = peek(scan);
    if (first == 'n')
        return ta_scan_null(scan) ? UINT64_MAX : 0;
    return scan->problem ? 0 : take_digits(scan, UINT64_MAX);
}

unsigned __int128 ta_scan_wide(struct ta_scan *scan)
{
    const unsigned __int128 most = ~(unsigned __int128)0;
    unsigned __int128 value = 0;
    const struct ta_slice digits = ta_scan_string(scan);
    for (size_t i = 0; i < digits.len; i++) {
        const unsigned digit = (unsigned)(unsigned char)digits.ptr[i] - '0';
        if (digit > 9 || value > (most - digit) / 10) {
            ta_scan_fail(scan, "expected a whole number in a string");
            return 0;
        }
        value = value * 10 + digit;
    }
    if (!digits.len)
        ta_scan_fail(scan, "expected a whole number in a string");
    return value;
}

double ta_scan_real(struct ta_scan *scan)
{
    enum { LONGEST = 64 };
    char text[LONGEST];
    size_t n = 0;
    if (peek(scan) == 'n')
        return ta_scan_null(scan) ? (double)NAN : 0;
    while (n < LONGEST - 1 && scan->at + n < scan->end &&
           memchr("+-.eE0123456789", scan->at[n], 15))
        n++;
    memcpy(text, scan->at, scan->problem ? 0 : n);
    text[n] = '\0';
    char *end;
    const double value = strtod(text, &end);
    if (scan->problem || n == 0 || *end) {
        ta_scan_fail(scan, "expected a number");
        return 0;
    }
    scan->at += n;
    return value;
}

bool ta_scan_bool(struct ta_scan *scan)
{
    const bool value = peek(scan) == 't';
    const struct ta_slice word = value ? TA_LIT("true") : TA_LIT("false");
    if (scan->problem || (size_t)(scan->end - scan->at) < word.len ||
        memcmp(scan->at, word.ptr, word.len) != 0)
        return ta_scan_fail(scan, "expected true or false");
    scan->at += word.len;
    return value;
}

/* ---- strings ------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One escape behind its backslash, as we write them; returns how many bytes it is, 0: none. */
static size_t unescape(const char *at, size_t n, char *out)
{
    if (n >= 1 && (*at == '"' || *at == '\\' || *at == '/')) {
        *out = *at;
        return 1;
    }
    if (n < 5 || *at != 'u' || at[1] != '0' || at[2] != '0')
        return 0;
    const int high = hex_digit(at[3]), low = hex_digit(at[4]);
    if (high < 0 || low < 0 || high > 7)
        return 0;
    *out = (char)(high << 4 | low);
    return 5;
}

/* Text between quotes that holds a backslash at `first`. */
static struct ta_slice take_escaped(struct ta_scan *scan, const char *close, const char *first)
{
    char *copy = ta_arena_alloc(scan->arena, (size_t)(close - scan->at) + 1);
    if (!copy) {
        ta_scan_fail(scan, "no memory for it");
        return (struct ta_slice){"", 0};
    }
    size_t n = (size_t)(first - scan->at);
    memcpy(copy, scan->at, n);
    for (scan->at = first; scan->at < close;) {
        if (*scan->at != '\\') {
            copy[n++] = *scan->at++;
            continue;
        }
        const size_t size = unescape(scan->at + 1, (size_t)(close - scan->at) - 1, copy + n);
        if (!size) {
            ta_scan_fail(scan, "a string holds an unknown escape");
            break;
        }
        n++;
        scan->at += 1 + size;
    }
    return (struct ta_slice){copy, n};
}

static struct ta_slice take_string(struct ta_scan *scan)
{
    struct ta_slice text = {"", 0};
    if (!take(scan, '"', "expected a string"))
        return text;
    const char *at = scan->at, *escape = NULL;
    for (; at < scan->end && *at != '"'; at++) {
        if (*at != '\\')
            continue;
        escape = escape ? escape : at;
        at += at + 1 < scan->end;
    }
    if (at == scan->end) {
        ta_scan_fail(scan, "it ends early");
        return text;
    }
    text = escape ? take_escaped(scan, at, escape)
                  : (struct ta_slice){scan->at, (size_t)(at - scan->at)};
    if (!scan->problem && ta_utf8_valid(text.ptr, text.len) != text.len)
        ta_scan_fail(scan, "a string is no UTF-8");
    if (scan->problem)
        return (struct ta_slice){"", 0};
    scan->at = at + 1;
    return text;
}

static struct ta_slice take_hex(struct ta_scan *scan)
{
    struct ta_slice key, bytes = {"", 0};
    if (!ta_scan_open(scan, '{') || !ta_scan_member(scan, &key))
        return bytes;
    const struct ta_slice digits = take_string(scan);
    char *copy = ta_arena_alloc(scan->arena, digits.len / 2 + 1);
    bool is_hex = ta_slice_equal(key, TA_LIT("hex")) && digits.len % 2 == 0 && copy;
    for (size_t i = 0; is_hex && i < digits.len; i += 2) {
        const int high = hex_digit(digits.ptr[i]), low = hex_digit(digits.ptr[i + 1]);
        is_hex = high >= 0 && low >= 0;
        if (is_hex)
            copy[i / 2] = (char)((unsigned)high << 4 | (unsigned)low);
    }
    if (!is_hex)
        ta_scan_fail(scan, copy ? "expected a string or bytes" : "no memory for it");
    else if (ta_scan_item(scan, '}'))
        ta_scan_fail(scan, "expected the end of an object");
    else
        bytes = (struct ta_slice){copy, digits.len / 2};
    return bytes;
}

struct ta_slice ta_scan_string(struct ta_scan *scan)
{
    return peek(scan) == '{' ? take_hex(scan) : take_string(scan);
}

const char *ta_scan_copy(struct ta_scan *scan)
{
    if (ta_scan_null(scan))
        return NULL;
    const char *copy = ta_arena_copy(scan->arena, ta_scan_string(scan));
    if (!copy)
        ta_scan_fail(scan, "no memory for it");
    return copy;
}

bool ta_scan_at_end(struct ta_scan *scan)
{
    skip_blanks(scan);
    return scan->at == scan->end;
}

/* ---- what is not known --------------------------------------------------------------------- */

/* Passes over a number, true, false or null. */
static void skip_word(struct ta_scan *scan)
{
    const char *start = scan->at;
    while (scan->at < scan->end &&
           memchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *scan->at, 40))
        scan->at++;
    if (scan->at == start)
        ta_scan_fail(scan, scan->at == scan->end ? "it ends early" : "expected a value");
}

void ta_scan_skip(struct ta_scan *scan)
{
    size_t depth = 0;
    scan->fresh = false;
    do {
        const char next = peek(scan);
        if (next == '[' || next == '{') {
            depth++;
            scan->at++;
        } else if (depth && (next == ']' || next == '}')) {
            depth--;
            scan->at++;
        } else if (depth && (next == ',' || next == ':')) {
            scan->at++;
        } else if (next == '"') {
            take_string(scan);
        } else {
            skip_word(scan);
        }
    } while (depth && !scan->problem);
}
