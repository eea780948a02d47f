/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading JSON in memory by pulling the values that are expected. */
#include "parse/json/pull.h"

#include "parse/json/record.h"

#include <math.h>

struct ta_pull ta_pull_of(struct ta_slice text, struct ta_arena *arena)
{
    enum { LONGEST_NUMBER = 63 };
    return (struct ta_pull){.scan = {.p = text.ptr,
                                     .end = ta_slice_end(text),
                                     .string_limit = UINT32_MAX,
                                     .number_limit = LONGEST_NUMBER,
                                     .stack_limit = PULL_DEPTH},
                            .start = text.ptr,
                            .arena = arena};
}

bool ta_pull_fail(struct ta_pull *pull, const char *problem)
{
    if (!pull->problem)
        pull->problem = problem;
    return false;
}

static bool fail_early(struct ta_pull *pull)
{
    if (!pull->problem)
        pull->scan.p = pull->scan.end;
    return ta_pull_fail(pull, "it ends early");
}

/* The next byte that is no blank, 0 at the end and after a failure. */
static char peek(struct ta_pull *pull)
{
    struct scan *scan = &pull->scan;
    const char *p = scan->p;
    while (p < scan->end && (unsigned char)*p <= ' ' && scan_is_space(*p))
        p++;
    scan->p = p;
    return pull->problem || p == scan->end ? '\0' : *p;
}

static bool take(struct ta_pull *pull, char expected, const char *problem)
{
    if (peek(pull) != expected)
        return pull->scan.p == pull->scan.end ? fail_early(pull) : ta_pull_fail(pull, problem);
    pull->scan.p++;
    return true;
}

/* Takes a value of any kind; false leaves the place at what is wrong. */
static bool take_value(struct ta_pull *pull, struct ta_token *token, const char *problem)
{
    if (!peek(pull))
        return fail_early(pull);
    pull->scan.stack = pull->stack;
    /* What a scan found; what it repaired is a problem. */
    const enum scan_result result = scan_value(&pull->scan, token);
    static const char *const notes[NOTE_COUNT] = {
        [NOTE_COMMA] = "a comma too many",
        [NOTE_COMMENT] = "a comment",
        [NOTE_ENCODING] = "a string is no UTF-8",
        [NOTE_CONTROL] = "a string holds a control character",
        [NOTE_ESCAPE] = "a string holds an unknown escape",
        [NOTE_NUMBER] = "a number is out of range",
        [NOTE_DEEP] = "it is nested too deeply",
        [NOTE_LONG] = "a string is too long",
        [NOTE_DUPLICATE] = "a key comes twice",
    };
    struct scan *scan = &pull->scan;
    if (result == SCAN_OK && !scan->notes)
        return true;
    if (result == SCAN_MORE)
        return fail_early(pull);
    if (!scan->notes)
        return ta_pull_fail(pull, problem);
    const int note = __builtin_ctz(scan->notes);
    scan->p = scan->note_place[note];
    return ta_pull_fail(pull, notes[note]);
}

/* ---- structure ----------------------------------------------------------------------------- */

bool ta_pull_open(struct ta_pull *pull, char bracket)
{
    pull->fresh = take(pull, bracket, bracket == '[' ? "expected an array" : "expected an object");
    return pull->fresh;
}

bool ta_pull_item(struct ta_pull *pull, char closing)
{
    const bool fresh = pull->fresh;
    const char next = peek(pull);
    pull->fresh = false;
    if (next == closing || (next == ',' && !fresh)) {
        pull->scan.p++;
        return next != closing;
    }
    return !pull->problem && (fresh || take(pull, ',', "expected a comma"));
}

bool ta_pull_member(struct ta_pull *pull, struct ta_slice *key)
{
    if (!ta_pull_item(pull, '}'))
        return false;
    if (peek(pull) && *pull->scan.p != '"')
        return ta_pull_fail(pull, "expected a key");
    *key = ta_pull_string(pull);
    return take(pull, ':', "expected a colon");
}

bool ta_pull_at_end(struct ta_pull *pull)
{
    peek(pull);
    return pull->scan.p == pull->scan.end;
}

void ta_pull_skip(struct ta_pull *pull)
{
    struct ta_token ignored;
    pull->fresh = false;
    take_value(pull, &ignored, "expected a value");
}

/* ---- scalars ------------------------------------------------------------------------------- */

bool ta_pull_null(struct ta_pull *pull)
{
    struct scan *scan = &pull->scan;
    if (peek(pull) != 'n')
        return false;
    if (scan->end - scan->p < 4)
        return fail_early(pull);
    if (memcmp(scan->p, "null", 4) != 0)
        return ta_pull_fail(pull, "expected a value");
    scan->p += 4;
    return true;
}

/* A whole number of at most 19 digits, which nearly all are; false leaves it to the grammar. */
static bool take_digits(struct scan *scan, int64_t *value)
{
    enum { DIGITS = 19 };
    const char *p = scan->p;
    const bool minus = p < scan->end && *p == '-';
    const char *const first = p += minus;
    const char *const most = scan->end - p > DIGITS ? p + DIGITS + 1 : scan->end;
    uint64_t digits = 0;
    for (; p < most && *p >= '0' && *p <= '9'; p++)
        digits = digits * 10 + (uint64_t)(*p - '0');
    /* Nothing that could not be predicted, as which of comma and bracket follows. */
    if (p == first || p == most || *p == '.' || (*p | 0x20) == 'e' || digits > INT64_MAX ||
        ((*first == '0') & (p - first > 1)))
        return false;
    *value = minus ? -(int64_t)digits : (int64_t)digits;
    scan->p = p;
    return true;
}

int64_t ta_pull_int(struct ta_pull *pull)
{
    static const char problem[] = "expected a whole number";
    struct ta_token token;
    int64_t value = 0;
    if (peek(pull) == 'n')
        return ta_pull_null(pull) ? TA_MISSING : 0;
    if (pull->problem || take_digits(&pull->scan, &value))
        return value;
    const char *const place = pull->scan.p;
    if (!take_value(pull, &token, problem))
        return 0;
    if (token.type == TA_TOKEN_NUMBER && ta_token_integer(&token, &value))
        return value;
    const bool is_whole = token.type == TA_TOKEN_NUMBER && !memchr(token.ptr, '.', token.len) &&
                          !memchr(token.ptr, 'e', token.len) && !memchr(token.ptr, 'E', token.len);
    pull->scan.p = place;
    ta_pull_fail(pull, is_whole ? "a number is out of range" : problem);
    return 0;
}

int64_t ta_pull_within(struct ta_pull *pull, int64_t least, int64_t most, bool or_missing)
{
    const char *const place = pull->scan.p;
    const int64_t value = ta_pull_int(pull);
    if (pull->problem || (value >= least && value <= most) || (or_missing && value == TA_MISSING))
        return value;
    pull->scan.p = place;
    ta_pull_fail(pull, "a number is out of range");
    return least;
}

uint64_t ta_pull_uint(struct ta_pull *pull)
{
    const int64_t value = ta_pull_within(pull, 0, INT64_MAX, true);
    return value == TA_MISSING ? UINT64_MAX : (uint64_t)value;
}

unsigned __int128 ta_pull_wide(struct ta_pull *pull)
{
    const unsigned __int128 most = ~(unsigned __int128)0;
    unsigned __int128 value = 0;
    const struct ta_slice digits = ta_pull_string(pull);
    for (size_t i = 0; i < digits.len; i++) {
        const unsigned digit = (unsigned)(unsigned char)digits.ptr[i] - '0';
        if (digit > 9 || value > (most - digit) / 10) {
            ta_pull_fail(pull, "expected a whole number in a string");
            return 0;
        }
        value = value * 10 + digit;
    }
    if (!digits.len)
        ta_pull_fail(pull, "expected a whole number in a string");
    return value;
}

double ta_pull_real(struct ta_pull *pull)
{
    struct ta_token token;
    double value;
    if (peek(pull) == 'n')
        return ta_pull_null(pull) ? (double)NAN : 0;
    const char *const place = pull->scan.p;
    if (!take_value(pull, &token, "expected a number"))
        return 0;
    if (ta_token_double(&token, &value))
        return value;
    if (token.type == TA_TOKEN_NUMBER) /* 1e999 and the like */
        return *token.ptr == '-' ? (double)-INFINITY : (double)INFINITY;
    pull->scan.p = place;
    ta_pull_fail(pull, "expected a number");
    return 0;
}

bool ta_pull_bool(struct ta_pull *pull)
{
    struct ta_token token;
    const char next = peek(pull);
    if (next && next != 't' && next != 'f')
        return ta_pull_fail(pull, "expected true or false");
    return take_value(pull, &token, "expected true or false") && token.type == TA_TOKEN_TRUE;
}

/* ---- strings ------------------------------------------------------------------------------- */

static struct ta_slice take_string(struct ta_pull *pull)
{
    const struct ta_slice none = {"", 0};
    struct ta_token token;
    if (peek(pull) && *pull->scan.p != '"')
        ta_pull_fail(pull, "expected a string");
    if (!take_value(pull, &token, "expected a string"))
        return none;
    if (token.plain)
        return (struct ta_slice){token.ptr, token.len};
    char *copy = ta_arena_alloc(pull->arena, record_text_max(token.len, token.len));
    if (copy)
        return record_decode((struct ta_slice){token.ptr, token.len}, token.len, copy);
    ta_pull_fail(pull, "no memory for it");
    return none;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct ta_slice take_hex(struct ta_pull *pull)
{
    struct ta_slice key, bytes = {"", 0};
    if (!ta_pull_open(pull, '{') || !ta_pull_member(pull, &key))
        return bytes;
    const struct ta_slice digits = take_string(pull);
    char *copy = ta_arena_alloc(pull->arena, digits.len / 2 + 1);
    bool is_hex = ta_slice_equal(key, TA_LIT("hex")) && digits.len % 2 == 0 && copy;
    for (size_t i = 0; is_hex && i < digits.len; i += 2) {
        const int high = hex_digit(digits.ptr[i]), low = hex_digit(digits.ptr[i + 1]);
        is_hex = high >= 0 && low >= 0;
        if (is_hex)
            copy[i / 2] = (char)((unsigned)high << 4 | (unsigned)low);
    }
    if (!is_hex)
        ta_pull_fail(pull, copy ? "expected a string or bytes" : "no memory for it");
    else if (ta_pull_item(pull, '}'))
        ta_pull_fail(pull, "expected the end of an object");
    else
        bytes = (struct ta_slice){copy, digits.len / 2};
    return bytes;
}

struct ta_slice ta_pull_string(struct ta_pull *pull)
{
    return peek(pull) == '{' ? take_hex(pull) : take_string(pull);
}

const char *ta_pull_copy(struct ta_pull *pull)
{
    if (ta_pull_null(pull))
        return NULL;
    const char *copy = ta_arena_copy(pull->arena, ta_pull_string(pull));
    if (!copy)
        ta_pull_fail(pull, "no memory for it");
    return copy;
}
