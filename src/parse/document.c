/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A JSON document as a jansson tree: the scanner of scan.h reads it, not jansson, so that numbers
 * keep their text and damage costs what is damaged and no more. */
#include "traceanalyze/document.h"

#include "parse/record.h"
#include "read/reader.h"

#include <inttypes.h>
#include <stdlib.h>

#define LARGEST (UINT64_C(256) << 20)

enum {
    BLOCK = 64 * 1024,
    DEPTH_MAX = 1000, /* of calls, here and when jansson frees a tree */
    VALUES_MAX = 1 << 24
};

/* Why reading ended before the document did. */
enum cut { CUT_NOT, CUT_SHORT, CUT_BROKEN, CUT_LIMIT, CUT_NOMEM };

struct reading {
    struct ta_quality *quality;
    struct scan scan;
    const char *start;
    size_t depth, most_depth, n_values;
    char *text; /* decoded */
    size_t text_max;
    enum cut cut;
};

/* ---- bytes --------------------------------------------------------------------------------- */

/* All bytes with TA_PADDING zeros behind them, or NULL after ta_fail(). */
static char *read_all(struct ta_ctx *ctx, struct ta_reader *reader, size_t *n)
{
    size_t max = BLOCK;
    char *bytes = malloc(max + TA_PADDING);
    *n = 0;
    while (bytes) {
        const size_t got = ta_reader_read(reader, bytes + *n, max - *n);
        *n += got;
        if (got == 0 || *n > LARGEST)
            break;
        if (*n < max)
            continue;
        max += max / 2;
        char *grown = realloc(bytes, max + TA_PADDING);
        if (!grown)
            free(bytes);
        bytes = grown;
    }
    if (!bytes) {
        ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a document: bytes=%zu", max);
    } else if (*n > LARGEST) {
        ta_fail(ctx, TA_ERR_INPUT, "The document is larger than %" PRIu64 " MiB", LARGEST >> 20);
        free(bytes);
        bytes = NULL;
    } else {
        memset(bytes + *n, 0, TA_PADDING);
    }
    return bytes;
}

/* ---- values -------------------------------------------------------------------------------- */

static uint64_t offset_of(const struct reading *r, const char *place)
{
    return (uint64_t)(place - r->start);
}

static void account_note(struct reading *r, enum scan_note note, uint64_t at)
{
    if (note == NOTE_NUMBER)
        ta_quality_add(r->quality, TA_Q_BAD_NUMBER, at,
                       "A value of the document is no number JSON has, such as NaN, at byte offset "
                       "%" PRIu64 "; it counts as missing",
                       at);
    else
        ta_quality_add(r->quality, scan_note_codes[note], at, NULL);
}

static void account_notes(struct reading *r)
{
    for (int i = 0; r->scan.notes && i < NOTE_COUNT; i++)
        if (r->scan.notes & 1u << i)
            account_note(r, (enum scan_note)i, offset_of(r, r->scan.note_place[i]));
    r->scan.notes = 0;
}

/* Whether a step of the scan came to its end; accounts for what it repaired. */
static bool went(struct reading *r, enum scan_result result)
{
    account_notes(r);
    if (result != SCAN_OK && r->cut == CUT_NOT)
        r->cut = result == SCAN_MORE ? CUT_SHORT : CUT_BROKEN;
    return result == SCAN_OK;
}

/* Remembers that memory is short. */
static json_t *made(struct reading *r, json_t *value)
{
    if (!value)
        r->cut = CUT_NOMEM;
    return value;
}

/* The text of a string token; lives until the next call. */
static struct ta_slice decode(struct reading *r, const struct ta_token *token)
{
    const struct ta_slice raw = {token->ptr, token->len};
    if (token->plain)
        return raw;
    const size_t most = record_text_max(token->len, r->scan.string_limit);
    if (r->text_max < most) {
        char *grown = realloc(r->text, most);
        if (!grown) {
            r->cut = CUT_NOMEM;
            return (struct ta_slice){"", 0};
        }
        r->text = grown;
        r->text_max = most;
    }
    return record_decode(raw, r->scan.string_limit, r->text);
}

static json_t *make_number(struct reading *r, const struct ta_token *token)
{
    char small[64];
    char *text = token->len < sizeof small ? small : malloc(token->len + 1);
    if (!text)
        return made(r, NULL);
    text[0] = TA_DOCUMENT_NUMBER;
    memcpy(text + 1, token->ptr, token->len);
    json_t *number = made(r, json_stringn_nocheck(text, token->len + 1));
    if (text != small)
        free(text);
    return number;
}

static json_t *read_scalar(struct reading *r, bool *whole)
{
    struct ta_token token;
    *whole = went(r, scan_value(&r->scan, &token));
    if (!*whole)
        return NULL;
    switch (token.type) {
    case TA_TOKEN_STRING: {
        const struct ta_slice text = decode(r, &token);
        return made(r, json_stringn_nocheck(text.ptr, text.len));
    }
    case TA_TOKEN_NUMBER:
        return make_number(r, &token);
    case TA_TOKEN_TRUE:
        return json_true();
    case TA_TOKEN_FALSE:
        return json_false();
    default:
        return json_null();
    }
}

static json_t *skip_deep(struct reading *r, bool *whole)
{
    struct blind blind = {0};
    scan_note(&r->scan, NOTE_DEEP, r->scan.p);
    *whole = went(r, scan_blind(&r->scan, &blind));
    return json_null();
}

static json_t *read_value(struct reading *r, bool *whole);

/* A key as jansson takes it, for the caller to free. */
static char *copy_key(struct reading *r, const struct ta_token *token)
{
    const struct ta_slice text = decode(r, token);
    char *key = malloc(text.len + 1);
    if (!key) {
        r->cut = CUT_NOMEM;
        return NULL;
    }
    for (size_t i = 0; i < text.len; i++)
        key[i] = text.ptr[i] ? text.ptr[i] : ' ';
    key[text.len] = '\0';
    return key;
}

/* The value of a key.  One that is cut is kept as far as it goes. */
static bool read_member(struct reading *r, json_t *object, const struct ta_token *token)
{
    const uint64_t offset = offset_of(r, token->ptr);
    char *key = copy_key(r, token);
    bool whole = false;
    json_t *value = key ? read_value(r, &whole) : NULL;
    if (value) {
        if (json_object_get(object, key))
            ta_quality_add(r->quality, TA_Q_DUPLICATE_KEY, offset, NULL);
        if (json_object_set_new_nocheck(object, key, value) != 0)
            r->cut = CUT_NOMEM;
    }
    free(key);
    return whole;
}

static json_t *read_object(struct reading *r, bool *whole)
{
    json_t *object = made(r, json_object());
    r->scan.p++;
    for (bool first = true; object; first = false) {
        struct ta_token key;
        if (!went(r, record_scan_key(&r->scan, first, &key)))
            break;
        if (key.type == TA_TOKEN_ABSENT) {
            r->scan.p++;
            *whole = true;
            break;
        }
        if (!read_member(r, object, &key) || r->cut != CUT_NOT)
            break;
    }
    return object;
}

static json_t *read_array(struct reading *r, bool *whole)
{
    json_t *array = made(r, json_array());
    r->scan.p++;
    for (bool first = true; array; first = false) {
        if (!went(r, scan_separator(&r->scan, first, ']')))
            break;
        if (*r->scan.p == ']') {
            r->scan.p++;
            *whole = true;
            break;
        }
        bool element_whole = false;
        json_t *element = read_value(r, &element_whole);
        if (!element_whole) {
            json_decref(element);
            break;
        }
        if (json_array_append_new(array, element) != 0)
            r->cut = CUT_NOMEM;
        if (r->cut != CUT_NOT)
            break;
    }
    return array;
}

/* A value at its first byte; NULL when none of it can be used. */
static json_t *read_value(struct reading *r, bool *whole)
{
    *whole = false;
    if (++r->n_values > VALUES_MAX) {
        r->cut = CUT_LIMIT;
        return NULL;
    }
    const char c = *r->scan.p;
    if (c != '{' && c != '[')
        return read_scalar(r, whole);
    if (r->depth == r->most_depth)
        return skip_deep(r, whole);
    r->depth++;
    json_t *value = c == '{' ? read_object(r, whole) : read_array(r, whole);
    r->depth--;
    return value;
}

/* ---- the document -------------------------------------------------------------------------- */

static void account_rest(struct reading *r)
{
    const enum scan_result result = scan_space(&r->scan);
    account_notes(r);
    if (result == SCAN_MORE && r->scan.p == r->scan.end)
        return;
    const uint64_t at = offset_of(r, r->scan.p);
    ta_quality_add_severity(r->quality, TA_Q_TRAILING_TEXT, TA_QUALITY_LOSS, at, TA_NO_OFFSET,
                            "What follows the document was not read, from byte offset %" PRIu64,
                            at);
}

static void account_cut(struct reading *r)
{
    const uint64_t at = offset_of(r, r->scan.p);
    if (r->cut == CUT_SHORT)
        ta_quality_add(r->quality, TA_Q_TRUNCATED, at,
                       "The document ends in the middle, at byte offset %" PRIu64,
                       offset_of(r, r->scan.end));
    else if (r->cut == CUT_BROKEN)
        ta_quality_add(r->quality, TA_Q_SYNTAX, at,
                       "Broken JSON at byte offset %" PRIu64 "; what lies beyond was not read", at);
    else
        ta_quality_add(r->quality, TA_Q_LIMIT, at,
                       "More than %d values; what lies beyond byte offset %" PRIu64 " was not read",
                       VALUES_MAX, at);
}

/* Gives the tree, or says why there is none. */
static json_t *judge(struct ta_ctx *ctx, struct reading *r, json_t *root, bool whole)
{
    const uint64_t at = offset_of(r, r->scan.p);
    if (r->cut == CUT_NOMEM) {
        ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a document: values=%zu", r->n_values);
    } else if (whole) {
        account_rest(r);
        return root;
    } else if (root && (json_object_size(root) || json_array_size(root))) {
        account_cut(r);
        return root;
    } else {
        ta_fail(ctx, TA_ERR_INPUT,
                "The JSON text %s before the first whole value, at byte offset %" PRIu64,
                r->cut == CUT_SHORT ? "ends" : "is broken", at);
    }
    json_decref(root);
    return NULL;
}

static json_t *read_document(struct ta_ctx *ctx, struct reading *r)
{
    const enum scan_result result = scan_space(&r->scan);
    account_notes(r);
    if (result != SCAN_OK || (*r->scan.p != '{' && *r->scan.p != '[')) {
        ta_fail(ctx, TA_ERR_INPUT, "No JSON document: no { or [ at byte offset %" PRIu64,
                offset_of(r, r->scan.p));
        return NULL;
    }
    bool whole;
    json_t *root = read_value(r, &whole);
    return judge(ctx, r, root, whole);
}

json_t *ta_document_read(struct ta_ctx *ctx, struct ta_reader *reader)
{
    size_t n;
    char *bytes = read_all(ctx, reader, &n);
    if (!bytes)
        return NULL;
    const uint64_t depth = ta_ctx_limit(ctx, TA_LIMIT_DEPTH);
    uint64_t stack[1]; /* only scalars are left to the scanner */
    struct reading r = {.quality = ta_reader_quality(reader),
                        .start = bytes,
                        .most_depth = depth < DEPTH_MAX ? (size_t)depth : DEPTH_MAX,
                        .scan = {.p = bytes,
                                 .end = bytes + n,
                                 .stack = stack,
                                 .stack_limit = 1,
                                 .string_limit = (size_t)ta_ctx_limit(ctx, TA_LIMIT_STRING),
                                 .number_limit = (size_t)ta_ctx_limit(ctx, TA_LIMIT_NUMBER)}};
    json_t *root = read_document(ctx, &r);
    if (r.cut != CUT_NOT)
        ta_reader_leave(reader, n - offset_of(&r, r.scan.p));
    free(r.text);
    free(bytes);
    return root;
}
