/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BETWEEN and MEMBERS: where documents begin, and what they hold besides the records. */
#include "parse/json/walk.h"

#include <inttypes.h>

/* ---- BETWEEN ------------------------------------------------------------------------------- */

/* Whether a bracket here may open a document; after the first one text is not taken for it. */
static bool plausible_start(struct ta_json_state *st)
{
    walk_scan_here(st);
    const char open = *st->scan.p;
    if (open != '{' && open != '[')
        return false;
    if (st->documents == 0)
        return true;
    while (st->window.end - st->window.at < 256 && window_more(&st->window))
        ;
    walk_scan_here(st);
    st->scan.p++;
    const enum scan_result result = scan_space(&st->scan);
    if (result != SCAN_OK) /* true when what was to follow is cut off */
        return result == SCAN_MORE && st->window.ended;
    return open == '{' ? *st->scan.p == '"' || *st->scan.p == '}' : *st->scan.p == '{';
}

/* Moves to the next opening bracket; false at the end of the input. */
static bool find_bracket(struct ta_json_state *st)
{
    do {
        while (st->window.at < st->window.end) {
            const char c = *window_at(&st->window);
            if (c == '{' || c == '[')
                return true;
            st->window.at++;
        }
    } while (window_more(&st->window));
    return false;
}

/* Skips text that is no JSON up to the next bracket that may open a document. */
static void skip_text(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const uint64_t start = walk_here(st);
    do {
        st->window.at++;
    } while (find_bracket(st) && !plausible_start(st));
    json->bytes_skipped += walk_here(st) - start;
    ta_quality_add(st->quality, TA_Q_TRAILING_TEXT, start,
                   "Text that is no part of a document, at byte offset %" PRIu64, start);
}

/* Whether the object here is a record of its own, one event per line, and no document.  After
 * such a line an object that has other fields of a record is one as well: it is missed aloud. */
static bool is_line(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    bool looks_like_record = false;
    if (walk_whole(json, WALK_RESUME_MAX, walk_step_learned) != SCAN_OK || walk_is_too_large(st))
        return false;
    for (size_t i = 0; st->lines && i < TA_RECORD_FIELDS; i++)
        looks_like_record |= walk_has_field(json, i);
    return looks_like_record || walk_has_mark(json);
}

static void enter_document(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const char open = *window_at(&st->window);
    st->document_start = walk_here(st);
    if (st->documents++ > 0)
        ta_quality_add(st->quality, TA_Q_MULTIPLE_DOCUMENTS, st->document_start,
                       "Another document begins at byte offset %" PRIu64, st->document_start);
    json->saw_document = true;
    if (open == '{' && is_line(json)) {
        json->saw_array = st->lines = true;
        st->in_object = false;
        st->place = PLACE_LINE;
        return;
    }
    /* After lines and arrays nothing but records can be missing. */
    if (st->documents == 1 || st->in_object)
        st->last_end = walk_here(st) + 1;
    st->in_object = open == '{';
    st->opened = false;
    json->saw_array |= !st->in_object;
    st->first = st->fresh = true;
    st->comma = false;
    st->window.at++;
    st->place = st->in_object ? PLACE_MEMBERS : PLACE_RECORDS;
}

bool walk_open_document(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    while (walk_space(st)) {
        if (plausible_start(st)) {
            enter_document(json);
            return true;
        }
        skip_text(json);
    }
    return false;
}

/* ---- MEMBERS ------------------------------------------------------------------------------- */

static enum scan_result step_key(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    return record_scan_key(&st->scan, st->first, &json->member.key);
}

static enum scan_result step_member(struct ta_json *json)
{
    enum scan_result result = step_key(json);
    if (result != SCAN_OK || json->member.key.type == TA_TOKEN_ABSENT)
        return result;
    json->member.offset = window_offset(&json->state->window, json->member.key.ptr - 1);
    return scan_value(&json->state->scan, &json->member.value);
}

bool walk_skip_large(struct ta_json_state *st)
{
    struct blind blind = {0};
    for (;;) {
        walk_scan_here(st);
        enum scan_result result = scan_blind(&st->scan, &blind);
        walk_use(st);
        if (result == SCAN_OK)
            return true;
        if (!window_more(&st->window))
            return false;
    }
}

/* After the key of the array of records. */
static bool enter_array(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    if (*st->scan.p != '[' || !record_is_array(&st->keys, &json->member.key))
        return false;
    st->scan.p++;
    walk_use(st);
    st->last_end = walk_here(st);
    json->saw_array = st->opened = true;
    st->lines = false;
    st->first = true;
    st->comma = false;
    st->place = PLACE_RECORDS;
    return true;
}

/* The mark among the members: a record of its own that is damaged, or large, unless there was an
 * array already.  Its start has to be in the window still, which a part cannot tell of what lies
 * before its start. */
static bool enter_line(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const struct ta_slice key = {json->member.key.ptr, json->member.key.len};
    if (st->documents == 0 || st->opened ||
        !ta_slice_equal(key, ta_slice_of(st->keys.schema->field[st->keys.schema->mark])))
        return false;
    st->part->unsure |= st->part->start > 0;
    if (st->document_start < st->window.base)
        return false;
    st->window.at = (size_t)(st->document_start - st->window.base);
    json->saw_array = st->lines = true;
    st->in_object = false;
    st->place = PLACE_RECORDS;
    st->fresh = true;
    st->comma = st->first = true;
    return true;
}

/* A member that is larger than what is kept: moves over it by its key alone.  False when the key
 * does not end. */
static bool skip_member(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    walk_scan_here(st);
    if (step_key(json) != SCAN_OK)
        return false;
    walk_use(st);
    st->first = false;
    if (!walk_skip_large(st))
        walk_truncated(json);
    return true;
}

bool walk_next_member(struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    enum scan_result result = walk_whole(json, WALK_MEMBER_MAX, step_key);
    if (result != SCAN_OK) {
        walk_lose(st, result, st->lines);
        return false;
    }
    if (json->member.key.type == TA_TOKEN_ABSENT) {
        walk_account_notes(st);
        st->scan.p++;
        walk_use(st);
        st->place = PLACE_BETWEEN;
        return false;
    }
    if (enter_line(json) || enter_array(json))
        return false;
    result = walk_whole(json, WALK_MEMBER_MAX, step_member);
    st->fresh = false;
    if (result == SCAN_MORE && (st->beyond || !st->window.ended) && skip_member(json))
        return false;
    if (result != SCAN_OK) {
        walk_lose(st, result, st->lines);
        return false;
    }
    walk_account_notes(st);
    walk_use(st);
    st->first = false;
    *item = TA_JSON_MEMBER;
    return true;
}
