/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lexical layer of JSON. */
#include "parse/json/scan.h"

#include "base/utf8.h"

const enum ta_quality_code scan_note_codes[NOTE_COUNT] = {
    [NOTE_COMMA] = TA_Q_COMMA,
    [NOTE_COMMENT] = TA_Q_COMMENT,
    [NOTE_ENCODING] = TA_Q_TEXT_ENCODING,
    [NOTE_CONTROL] = TA_Q_TEXT_CONTROL,
    [NOTE_ESCAPE] = TA_Q_TEXT_ESCAPE,
    [NOTE_NUMBER] = TA_Q_BAD_NUMBER,
    [NOTE_DEEP] = TA_Q_TOO_DEEP,
    [NOTE_LONG] = TA_Q_TOO_LONG,
    [NOTE_DUPLICATE] = TA_Q_DUPLICATE_KEY,
};

void scan_note(struct scan *scan, enum scan_note note, const char *place)
{
    if (!(scan->notes & 1u << note)) {
        scan->notes |= 1u << note;
        scan->note_place[note] = place;
    }
}

/* ---- space ----------------------------------------------------------------------------- */

static enum scan_result skip_comment(struct scan *scan)
{
    const char *start = scan->p;
    if (scan->end - start < 2)
        return SCAN_MORE;
    const char *stop;
    if (start[1] == '/') {
        stop = memchr(start, '\n', (size_t)(scan->end - start));
    } else if (start[1] == '*') {
        stop = memmem(start + 2, (size_t)(scan->end - start) - 2, "*/", 2);
        stop = stop ? stop + 2 : NULL;
    } else {
        return SCAN_BAD;
    }
    if (!stop)
        return SCAN_MORE;
    scan_note(scan, NOTE_COMMENT, start);
    scan->p = stop;
    return SCAN_OK;
}

enum scan_result scan_space_slow(struct scan *scan)
{
    while (scan->p < scan->end && *scan->p == '/') {
        enum scan_result result = skip_comment(scan);
        if (result != SCAN_OK)
            return result;
        while (scan->p < scan->end &&
               (*scan->p == ' ' || *scan->p == '\n' || *scan->p == '\r' || *scan->p == '\t'))
            scan->p++;
    }
    return scan->p == scan->end ? SCAN_MORE : SCAN_OK;
}

/* ---- strings --------------------------------------------------------------------------- */

/* High bit of each byte of `word` that is a quote, a backslash, a control or not ASCII. */
static inline uint64_t special_bytes(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';
    return (((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) |
            ((word - ones * 0x20) & ~word) | word) &
           high;
}

static inline const char *skip_plain(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        uint64_t special = special_bytes(word);
        if (special)
            return p + (__builtin_ctzll(special) >> 3);
        p += 8;
    }
    while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return p;
}

static int hex4(const char *p)
{
    int code = 0;
    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)p[i], digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            digit = (c | 0x20) - 'a' + 10;
        else
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* An escape at its backslash.  Sets *length, or notes what is wrong and takes one byte. */
static enum scan_result scan_escape(struct scan *scan, const char *p, size_t *length)
{
    size_t left = (size_t)(scan->end - p);
    if (left < 2)
        return SCAN_MORE;
    *length = 2;
    if (p[1] != 'u') {
        if (!memchr("\"\\/bfnrt", p[1], 8)) {
            scan_note(scan, NOTE_ESCAPE, p);
            *length = 1;
        }
        return SCAN_OK;
    }
    if (left < 6)
        return memchr(p, '"', left) ? (scan_note(scan, NOTE_ESCAPE, p), *length = 1, SCAN_OK)
                                    : SCAN_MORE;
    int code = hex4(p + 2);
    if (code < 0) {
        scan_note(scan, NOTE_ESCAPE, p);
        *length = 1;
        return SCAN_OK;
    }
    *length = 6;
    if (code < 0xd800 || code > 0xdfff)
        return SCAN_OK;
    if (code <= 0xdbff) {
        if (left < 12 && !memchr(p + 6, '"', left - 6))
            return SCAN_MORE;
        int low = left >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
        if (low >= 0xdc00 && low <= 0xdfff) {
            *length = 12;
            return SCAN_OK;
        }
    }
    scan_note(scan, NOTE_ENCODING, p);
    return SCAN_OK;
}

enum scan_result scan_string(struct scan *scan, struct ta_token *token)
{
    const char *const start = scan->p + 1, *p = start;
    bool plain = true;
    for (;;) {
        p = skip_plain(p, scan->end);
        if (p == scan->end)
            return SCAN_MORE;
        const unsigned char c = (unsigned char)*p;
        if (c == '"')
            break;
        if (c == '\\') {
            size_t length;
            if (scan_escape(scan, p, &length) == SCAN_MORE)
                return SCAN_MORE;
            plain = false;
            p += length;
        } else if (c >= 0x80) {
            size_t length = ta_utf8_length(p, (size_t)(scan->end - p));
            if (length == 0 && scan->end - p < 4 && !memchr(p, '"', (size_t)(scan->end - p)))
                return SCAN_MORE;
            if (length == 0) {
                scan_note(scan, NOTE_ENCODING, p);
                plain = false;
            }
            p += length ? length : 1;
        } else {
            scan_note(scan, c ? NOTE_CONTROL : NOTE_ENCODING, p);
            plain &= c != 0;
            p++;
        }
    }
    size_t length = (size_t)(p - start);
    if (length > scan->string_limit) {
        scan_note(scan, NOTE_LONG, start);
        plain = false;
    }
    *token = (struct ta_token){start, (uint32_t)length, TA_TOKEN_STRING, plain, 0, 0};
    scan->p = p + 1;
    return SCAN_OK;
}

/* ---- numbers and words ----------------------------------------------------------------- */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ends_scalar(char c)
{
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t' ||
           c == ':' || c == '/';
}

/* true, false, null, and the words that writers put where JSON has no number. */
static enum scan_result scan_word(struct scan *scan, struct ta_token *token)
{
    static const struct {
        const char *text;
        enum ta_token_type type;
    } words[] = {
        {"true", TA_TOKEN_TRUE}, {"false", TA_TOKEN_FALSE},  {"null", TA_TOKEN_NULL},
        {"NaN", TA_TOKEN_BAD},   {"nan", TA_TOKEN_BAD},      {"-nan", TA_TOKEN_BAD},
        {"-NaN", TA_TOKEN_BAD},  {"Infinity", TA_TOKEN_BAD}, {"-Infinity", TA_TOKEN_BAD},
        {"inf", TA_TOKEN_BAD},   {"-inf", TA_TOKEN_BAD},     {"Inf", TA_TOKEN_BAD},
        {"-Inf", TA_TOKEN_BAD},  {"infinity", TA_TOKEN_BAD}, {"-infinity", TA_TOKEN_BAD},
        {"N/A", TA_TOKEN_BAD},   {"n/a", TA_TOKEN_BAD},      {"NA", TA_TOKEN_BAD},
    };
    const size_t left = (size_t)(scan->end - scan->p);
    bool prefix = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].text);
        if (left <= length) {
            prefix |= memcmp(scan->p, words[i].text, left < length ? left : length) == 0;
            continue;
        }
        if (memcmp(scan->p, words[i].text, length) != 0 || !ends_scalar(scan->p[length]))
            continue;
        if (words[i].type == TA_TOKEN_BAD)
            scan_note(scan, NOTE_NUMBER, scan->p);
        *token = (struct ta_token){scan->p, (uint32_t)length, (uint8_t)words[i].type, 1, 0, 0};
        scan->p += length;
        return SCAN_OK;
    }
    return prefix ? SCAN_MORE : SCAN_BAD;
}

static enum scan_result scan_number(struct scan *scan, struct ta_token *token)
{
    const char *const start = scan->p, *const end = scan->end, *p = start;
    p += *p == '-';
    if (p < end && !is_digit(*p))
        return scan_word(scan, token);
    if (p + 1 < end && *p == '0' && is_digit(p[1])) {
        scan->p = p;
        return SCAN_BAD;
    }
    while (p < end && is_digit(*p))
        p++;
    if (p < end && *p == '.') {
        if (p + 1 < end && !is_digit(p[1])) {
            scan->p = p + 1;
            return SCAN_BAD;
        }
        for (p++; p < end && is_digit(*p); p++)
            ;
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        if (p < end && !is_digit(*p)) {
            scan->p = p;
            return SCAN_BAD;
        }
        while (p < end && is_digit(*p))
            p++;
    }
    if (p == end)
        return SCAN_MORE;
    scan->p = p;
    if (!ends_scalar(*p))
        return SCAN_BAD;
    const size_t length = (size_t)(p - start);
    const bool fits = length <= scan->number_limit;
    if (!fits)
        scan_note(scan, NOTE_NUMBER, start);
    *token =
        (struct ta_token){start, (uint32_t)length, fits ? TA_TOKEN_NUMBER : TA_TOKEN_BAD, 1, 0, 0};
    return SCAN_OK;
}

static enum scan_result scan_scalar(struct scan *scan, struct ta_token *token)
{
    const char c = *scan->p;
    if (c == '"')
        return scan_string(scan, token);
    if (c == '-' || is_digit(c))
        return scan_number(scan, token);
    return scan_word(scan, token);
}

/* ---- structure ------------------------------------------------------------------------- */

enum scan_result scan_colon(struct scan *scan)
{
    enum scan_result result = scan_space(scan);
    if (result != SCAN_OK)
        return result;
    if (*scan->p != ':')
        return SCAN_BAD;
    scan->p++;
    return scan_space(scan);
}

enum scan_result scan_separator(struct scan *scan, bool first, char close)
{
    bool comma = first;
    for (;;) {
        enum scan_result result = scan_space(scan);
        if (result != SCAN_OK)
            return result;
        const char c = *scan->p;
        if (c == ',') {
            if (comma)
                scan_note(scan, NOTE_COMMA, scan->p);
            comma = true;
            scan->p++;
            continue;
        }
        if (c == close) {
            if (comma && !first)
                scan_note(scan, NOTE_COMMA, scan->p);
            return SCAN_OK;
        }
        return comma ? SCAN_OK : SCAN_BAD;
    }
}

enum scan_result scan_blind(struct scan *scan, struct blind *state)
{
    for (; scan->p < scan->end; scan->p++) {
        const char c = *scan->p;
        if (state->escaped) {
            state->escaped = false;
        } else if (state->in_string) {
            state->escaped = c == '\\';
            state->in_string = c != '"';
        } else if (c == '"') {
            state->in_string = true;
        } else if (c == '{' || c == '[') {
            state->depth++;
        } else if ((c == '}' || c == ']') && state->depth > 0) {
            state->depth--;
        }
        state->started = true;
        if (state->depth == 0 && !state->in_string && !state->escaped) {
            scan->p++;
            return SCAN_OK;
        }
    }
    return SCAN_MORE;
}

static inline void push(struct scan *scan, size_t depth, bool object)
{
    uint64_t bit = UINT64_C(1) << (depth & 63), *word = &scan->stack[depth >> 6];
    *word = object ? *word | bit : *word & ~bit;
}

static inline bool is_object(const struct scan *scan, size_t depth)
{
    return scan->stack[depth >> 6] >> (depth & 63) & 1;
}

/* scan_separator() with what writers nearly always write taken first. */
static inline enum scan_result next_item(struct scan *scan, bool first, char close)
{
    const char *p = scan->p, *const end = scan->end;
    if (p < end && *p == close)
        return SCAN_OK;
    if (p < end && !first && *p == ',') {
        for (p++; p < end && (*p == ' ' || *p == '\n'); p++)
            ;
        if (p<end && * p> '/' && *p != close) {
            scan->p = p;
            return SCAN_OK;
        }
        if (p < end && (*p == '"' || *p == '-')) {
            scan->p = p;
            return SCAN_OK;
        }
    }
    return scan_separator(scan, first, close);
}

/* Moves over a plain whole number, as array dimensions are; false leaves it to the grammar. */
static inline bool skip_whole(struct scan *scan)
{
    const char *p = scan->p, *const end = scan->end;
    if (*p < '1' || *p > '9')
        return false;
    while (p < end && is_digit(*p))
        p++;
    if (p == end || (*p != ',' && *p != ']') || (size_t)(p - scan->p) > scan->number_limit)
        return false;
    scan->p = p;
    return true;
}

/* An object or array with all that is in it; iterative, so hostile nesting costs no stack. */
static enum scan_result scan_nested(struct scan *scan)
{
    size_t depth = 0;
    bool first = true;
    push(scan, 0, *scan->p++ == '{');
    for (;;) {
        const bool object = is_object(scan, depth);
        enum scan_result result = next_item(scan, first, object ? '}' : ']');
        if (result != SCAN_OK)
            return result;
        first = false;
        if (*scan->p == (object ? '}' : ']')) {
            scan->p++;
            if (depth-- == 0)
                return SCAN_OK;
            continue;
        }
        struct ta_token ignored;
        if (object) {
            if (*scan->p != '"')
                return SCAN_BAD;
            if ((result = scan_string(scan, &ignored)) != SCAN_OK ||
                (result = scan_colon(scan)) != SCAN_OK)
                return result;
        }
        if (*scan->p != '{' && *scan->p != '[') {
            if (!skip_whole(scan) && (result = scan_scalar(scan, &ignored)) != SCAN_OK)
                return result;
        } else if (depth + 1 < scan->stack_limit) {
            push(scan, ++depth, *scan->p++ == '{');
            first = true;
        } else {
            scan_note(scan, NOTE_DEEP, scan->p);
            struct blind blind = {0};
            if ((result = scan_blind(scan, &blind)) != SCAN_OK)
                return result;
        }
    }
}

enum scan_result scan_value(struct scan *scan, struct ta_token *token)
{
    const char *const start = scan->p;
    if (*start != '{' && *start != '[')
        return scan_scalar(scan, token);
    enum scan_result result = scan_nested(scan);
    if (result == SCAN_OK)
        *token = (struct ta_token){start,
                                   (uint32_t)(scan->p - start),
                                   *start == '{' ? TA_TOKEN_OBJECT : TA_TOKEN_ARRAY,
                                   1,
                                   0,
                                   0};
    return result;
}
