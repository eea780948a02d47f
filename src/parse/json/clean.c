/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text as the scanner takes it, written as JSON: a value that it repairs or skips becomes what
 * readers of this program see. */
#include "parse/json/clean.h"

#include "parse/json/walk.h"

#include <stdio.h>
#include <stdlib.h>

void ta_clean_free(struct ta_clean *clean)
{
    free(clean->at);
    free(clean->decoded);
    *clean = (struct ta_clean){0};
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Room for n more bytes, and for the padding that scanning needs after them. */
static bool reserve(struct ta_clean *clean, size_t n)
{
    const size_t wanted = clean->n + n + TA_PADDING;
    if (wanted > clean->max) {
        const size_t more = wanted + wanted / 2;
        char *grown = realloc(clean->at, more);
        clean->failed |= !grown;
        if (!grown)
            return false;
        clean->at = grown;
        clean->max = more;
    }
    return true;
}

static void put(struct ta_clean *clean, const char *bytes, size_t n)
{
    if (!reserve(clean, n))
        return;
    memcpy(clean->at + clean->n, bytes, n);
    clean->n += n;
}

/* A character that cannot stand for itself between quotes. */
static void put_escape(struct ta_clean *clean, unsigned char c)
{
    char text[8];
    const int n = c == '"' || c == '\\' ? snprintf(text, sizeof text, "\\%c", c)
                                        : snprintf(text, sizeof text, "\\u%04x", c);
    put(clean, text, (size_t)n);
}

static void put_string(struct ta_clean *clean, const struct scan *scan,
                       const struct ta_token *token)
{
    const size_t most = record_text_max(token->len, scan->string_limit);
    if (most > clean->decoded_max) {
        free(clean->decoded);
        clean->decoded = malloc(most);
        clean->decoded_max = clean->decoded ? most : 0;
        clean->failed |= !clean->decoded;
        if (!clean->decoded)
            return;
    }
    const struct ta_slice text = record_decode((struct ta_slice){token->ptr, token->len},
                                               scan->string_limit, clean->decoded);
    put(clean, "\"", 1);
    size_t plain = 0;
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.ptr[i];
        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        put(clean, ta_slice_at(text, plain), i - plain);
        put_escape(clean, c);
        plain = i + 1;
    }
    put(clean, ta_slice_at(text, plain), text.len - plain);
    put(clean, "\"", 1);
}

static void put_scalar(struct ta_clean *clean, const struct scan *scan,
                       const struct ta_token *token)
{
    if (token->type == TA_TOKEN_STRING)
        put_string(clean, scan, token);
    else if (token->type == TA_TOKEN_BAD)
        put(clean, "null", 4);
    else
        put(clean, token->ptr, token->len);
}

/* ---- values -------------------------------------------------------------------------------- */

/* Brackets that are open: a bit each, 1 for an object. */
struct open {
    uint64_t *bits;
    size_t n;
};

static bool is_object(const struct open *open)
{
    return open->bits[(open->n - 1) / 64] >> (open->n - 1) % 64 & 1;
}

/* A value at the cursor; of an object or array only the bracket, unless it is so deep that its
 * grammar may never have been looked at. */
static bool begin_value(struct ta_clean *clean, struct scan *scan, struct open *open, bool *first)
{
    const char c = *scan->p;
    struct ta_token token = {.type = TA_TOKEN_BAD};
    struct blind blind = {0};
    *first = (c == '{' || c == '[') && open->n < scan->stack_limit;
    if (*first) {
        put(clean, scan->p++, 1);
        const uint64_t bit = UINT64_C(1) << open->n % 64;
        uint64_t *word = &open->bits[open->n++ / 64];
        *word = c == '{' ? *word | bit : *word & ~bit;
        return true;
    }
    const enum scan_result result =
        c == '{' || c == '[' ? scan_blind(scan, &blind) : scan_value(scan, &token);
    put_scalar(clean, scan, &token);
    return result == SCAN_OK;
}

/* Moves on to the next value, over brackets that close; false when none is left or at an error. */
static bool next_value(struct ta_clean *clean, struct scan *scan, struct open *open, bool *first)
{
    while (open->n) {
        const char close = is_object(open) ? '}' : ']';
        if (scan_separator(scan, *first, close) != SCAN_OK)
            return false;
        if (*scan->p != close)
            break;
        put(clean, scan->p++, 1);
        open->n--;
        *first = false;
    }
    if (!open->n)
        return false;
    if (!*first)
        put(clean, ",", 1);
    struct ta_token key;
    if (!is_object(open))
        return true;
    if (*scan->p != '"' || scan_string(scan, &key) != SCAN_OK)
        return false;
    put_string(clean, scan, &key);
    put(clean, ":", 1);
    return scan_colon(scan) == SCAN_OK;
}

/* Appends the value in `text`, which has been scanned before. */
static bool append(struct ta_json *json, struct ta_slice text, struct ta_clean *clean)
{
    struct scan scan = json->state->scan;
    scan.p = text.ptr;
    scan.end = ta_slice_end(text);
    scan.stack = calloc(2 * (scan.stack_limit / 64 + 1), sizeof *scan.stack);
    struct open open = {scan.stack ? scan.stack + scan.stack_limit / 64 + 1 : NULL, 0};
    clean->failed |= !scan.stack;
    bool first = true, goes_on = scan.stack && begin_value(clean, &scan, &open, &first);
    while (goes_on && next_value(clean, &scan, &open, &first))
        goes_on = begin_value(clean, &scan, &open, &first);
    free(scan.stack);
    return !clean->failed;
}

bool ta_clean_value(struct ta_json *json, const struct ta_token *value, struct ta_clean *clean)
{
    if (value->type >= TA_TOKEN_OBJECT)
        return append(json, (struct ta_slice){value->ptr, value->len}, clean);
    put_scalar(clean, &json->state->scan, value);
    return !clean->failed;
}

/* ---- records ------------------------------------------------------------------------------- */

bool ta_clean_record(struct ta_json *json, struct ta_clean *clean, struct ta_slice *text)
{
    const struct window *window = &json->state->window;
    const struct ta_record *record = &json->record;
    const char *const start = window->buffer + (record->offset - window->base);
    *text = (struct ta_slice){start, (size_t)(record->end - record->offset)};
    if (!record->repaired)
        return true;
    clean->n = 0;
    if (!append(json, *text, clean) || !reserve(clean, 0))
        return false;
    memset(clean->at + clean->n, 0, TA_PADDING);
    *text = (struct ta_slice){clean->at, clean->n};
    /* Finds the values of the record in its clean text. */
    struct scan scan = json->state->scan;
    scan.p = clean->at;
    scan.end = clean->at + clean->n;
    return record_scan(&json->state->keys, &scan, &json->record) == SCAN_OK;
}
