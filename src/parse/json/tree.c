/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a JSON text as a jansson tree. */
#include "parse/json/tree.h"

#include "parse/json/record.h"
#include "traceanalyze/document.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- values -------------------------------------------------------------------------------- */

void tree_account_notes(struct tree *t)
{
    for (int i = 0; t->scan.notes && i < NOTE_COUNT; i++)
        if (t->scan.notes & 1u << i) {
            const enum scan_note note = (enum scan_note)i;
            const uint64_t at = tree_offset(t, t->scan.note_place[i]);
            if (note == NOTE_NUMBER)
                ta_quality_add(
                    t->quality, TA_Q_BAD_NUMBER, at,
                    "A value of the document is no number JSON has, such as NaN, at byte offset "
                    "%" PRIu64 "; it counts as missing",
                    at);
            else
                ta_quality_add(t->quality, scan_note_codes[note], at, NULL);
        }
    t->scan.notes = 0;
}

/* Whether a step of the scan came to its end; accounts for what it repaired. */
static bool went(struct tree *t, enum scan_result result)
{
    tree_account_notes(t);
    if (result != SCAN_OK && t->cut == TREE_WHOLE)
        t->cut = result == SCAN_MORE ? TREE_SHORT : TREE_BROKEN;
    return result == SCAN_OK;
}

/* Remembers that memory is short. */
static json_t *made(struct tree *t, json_t *value)
{
    if (!value)
        t->cut = TREE_NOMEM;
    return value;
}

/* The text of a string token; lives until the next call. */
static struct ta_slice decode(struct tree *t, const struct ta_token *token)
{
    const struct ta_slice raw = {token->ptr, token->len};
    if (token->plain)
        return raw;
    const size_t most = record_text_max(token->len, t->scan.string_limit);
    if (t->text_max < most) {
        char *grown = realloc(t->text, most);
        if (!grown) {
            t->cut = TREE_NOMEM;
            return (struct ta_slice){"", 0};
        }
        t->text = grown;
        t->text_max = most;
    }
    return record_decode(raw, t->scan.string_limit, t->text);
}

static json_t *make_number(struct tree *t, const struct ta_token *token)
{
    char small[64];
    char *text = token->len < sizeof small ? small : malloc(token->len + 1);
    if (!text)
        return made(t, NULL);
    text[0] = TA_DOCUMENT_NUMBER;
    memcpy(text + 1, token->ptr, token->len);
    json_t *number = made(t, json_stringn_nocheck(text, token->len + 1));
    if (text != small)
        free(text);
    return number;
}

static json_t *read_scalar(struct tree *t, bool *whole)
{
    struct ta_token token;
    *whole = went(t, scan_value(&t->scan, &token));
    if (!*whole)
        return NULL;
    switch (token.type) {
    case TA_TOKEN_STRING: {
        const struct ta_slice text = decode(t, &token);
        return made(t, json_stringn_nocheck(text.ptr, text.len));
    }
    case TA_TOKEN_NUMBER:
        return make_number(t, &token);
    case TA_TOKEN_TRUE:
        return json_true();
    case TA_TOKEN_FALSE:
        return json_false();
    default:
        return json_null();
    }
}

static json_t *skip_deep(struct tree *t, bool *whole)
{
    struct blind blind = {0};
    scan_note(&t->scan, NOTE_DEEP, t->scan.p);
    *whole = went(t, scan_blind(&t->scan, &blind));
    return json_null();
}

/* A key as jansson takes it, for the caller to free. */
static char *copy_key(struct tree *t, const struct ta_token *token)
{
    const struct ta_slice text = decode(t, token);
    char *key = malloc(text.len + 1);
    if (!key) {
        t->cut = TREE_NOMEM;
        return NULL;
    }
    for (size_t i = 0; i < text.len; i++)
        key[i] = text.ptr[i] ? text.ptr[i] : ' ';
    key[text.len] = '\0';
    return key;
}

bool tree_is_member(const struct tree *t)
{
    struct scan scan = t->scan;
    struct ta_token key;
    return *scan.p == '"' && scan_string(&scan, &key) == SCAN_OK && scan_colon(&scan) == SCAN_OK;
}

/* Moves to the next item, or to the bracket that closes what it is in. */
static bool move_to_item(struct tree *t, bool first, char close)
{
    enum scan_result result = scan_separator(&t->scan, first, close);
    if (result == SCAN_BAD &&
        (close == '}' ? tree_is_member(t) : *t->scan.p == '{' || *t->scan.p == '[')) {
        /* The text here is an item although the comma before it is missing. */
        scan_note(&t->scan, NOTE_COMMA, t->scan.p);
        result = SCAN_OK;
    }
    if (result == SCAN_OK && close == '}' && *t->scan.p != '"' && *t->scan.p != close)
        result = SCAN_BAD;
    return went(t, result);
}

void tree_account_damage(struct tree *t, const char *lost, const char *error)
{
    const uint64_t at = tree_offset(t, error);
    const uint64_t skipped = t->scan.p > lost ? (uint64_t)(t->scan.p - lost) : 0;
    ta_quality_add(t->quality, TA_Q_SYNTAX, at,
                   "Broken JSON at byte offset %" PRIu64 "; %" PRIu64 " bytes were skipped", at,
                   skipped);
    t->n_skipped += skipped;
    t->damage_at = t->damaged ? t->damage_at : at;
    t->damaged = true;
    t->scan.notes = 0;
    t->cut = TREE_WHOLE;
}

/* Goes on after the broken item at `start`, which is lost or was kept as far as it goes; `like` is
 * the one before when that is an object. */
static bool resume(struct tree *t, const char *start, bool lost, char close, json_t *like)
{
    const struct mend_item item = {start, close, t->start, like};
    const char *const error = t->scan.p;
    if (t->cut != TREE_BROKEN || !mend_go_on(&t->mend, &t->scan, &item))
        return false;
    tree_account_damage(t, lost ? start : error, error);
    return true;
}

/* Whether a value is valid although something is wrong after it: 12 of "12,5" is not. */
static bool stands(const struct tree *t, const json_t *value)
{
    return t->cut != TREE_BROKEN || json_is_object(value) || json_is_array(value);
}

/* A member at its key, and what separates it from the next.  One that is cut or broken is kept as
 * far as it goes. */
static bool read_member(struct tree *t, json_t *object)
{
    struct ta_token key;
    bool whole = false;
    json_t *value = NULL;
    if (went(t, scan_string(&t->scan, &key)) && went(t, scan_colon(&t->scan)))
        value = tree_read_value(t, &whole);
    const bool moved = whole && move_to_item(t, false, '}');
    if (value && stands(t, value) && t->cut != TREE_NOMEM) {
        char *name = copy_key(t, &key);
        if (name && json_object_get(object, name))
            ta_quality_add(t->quality, TA_Q_DUPLICATE_KEY, tree_offset(t, key.ptr), NULL);
        if (!name || json_object_set_nocheck(object, name, value) != 0)
            t->cut = TREE_NOMEM;
        free(name);
    }
    json_decref(value);
    return moved && t->cut == TREE_WHOLE;
}

/* Up to the closing brace; true when it was found. */
bool tree_read_members(struct tree *t, json_t *object, bool first)
{
    const char *start = t->scan.p;
    bool moved = move_to_item(t, first, '}'), lost = true;
    while (!moved || *t->scan.p != '}') {
        if (!moved && (t->arrays || !resume(t, start, lost, '}', NULL)))
            return false;
        if (*t->scan.p == '}')
            break;
        const size_t n = json_object_size(object);
        start = t->scan.p;
        moved = read_member(t, object);
        lost = json_object_size(object) == n;
    }
    t->scan.p++;
    return true;
}

/* An element, and what separates it from the next. */
static bool read_element(struct tree *t, json_t *array)
{
    bool whole;
    json_t *element = tree_read_value(t, &whole);
    const bool moved = whole && move_to_item(t, false, ']');
    if (whole && stands(t, element) && json_array_append(array, element) != 0)
        t->cut = TREE_NOMEM;
    json_decref(element);
    return moved && t->cut == TREE_WHOLE;
}

/* Up to the closing bracket; true when it was found. */
static bool read_elements(struct tree *t, json_t *array)
{
    const char *start = t->scan.p;
    bool moved = move_to_item(t, true, ']'), lost = false;
    while (!moved || *t->scan.p != ']') {
        const size_t n_before = json_array_size(array);
        json_t *last = n_before ? json_array_get(array, n_before - 1) : NULL;
        const bool resumed =
            !moved && resume(t, start, lost, ']', json_is_object(last) ? last : NULL);
        t->n_lost += lost && (resumed || t->arrays == 1);
        if (!moved && !resumed)
            return false;
        if (*t->scan.p == ']')
            break;
        start = t->scan.p;
        moved = read_element(t, array);
        lost = json_array_size(array) == n_before;
    }
    t->scan.p++;
    return true;
}

/* A value at its first byte; NULL when none of it can be used. */
json_t *tree_read_value(struct tree *t, bool *whole)
{
    *whole = false;
    if (++t->n_values > TREE_VALUES_MAX) {
        t->cut = TREE_LIMIT;
        return NULL;
    }
    const char c = *t->scan.p;
    if (c != '{' && c != '[')
        return read_scalar(t, whole);
    if (t->depth == t->most_depth)
        return skip_deep(t, whole);
    json_t *value = made(t, c == '{' ? json_object() : json_array());
    t->scan.p++;
    t->depth++;
    t->arrays += c == '[';
    *whole = value && (c == '{' ? tree_read_members(t, value, true) : read_elements(t, value));
    t->arrays -= c == '[';
    t->depth--;
    return value;
}
