/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RECORDS: the array of records, its contents and the text between them. */
#include "parse/json/walk.h"

#include <inttypes.h>

/* ---- a record ------------------------------------------------------------------------------ */

enum scan_result walk_step_record(struct ta_json *json)
{
    return record_scan(&json->state->keys, &json->state->scan, &json->record);
}

static inline enum scan_result step_learned(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const char *const start = st->scan.p;
    if (layout_on(&st->layout)) {
        enum scan_result result = st->layout.scan(&st->layout, &st->keys, &st->scan, &json->record);
        if (result != SCAN_BAD)
            return result;
        st->scan.p = start;
        st->scan.notes = 0;
    }
    return walk_step_record(json);
}

enum scan_result walk_step_learned(struct ta_json *json)
{
    return step_learned(json);
}

void walk_take_record(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    json->record.offset = walk_here(st);
    json->record.repaired = st->scan.notes && walk_account_notes(st);
    walk_use(st);
    json->record.end = st->last_end = walk_here(st);
    st->comma = st->first = false;
}

/* Drops a record larger than the limit without holding it. */
static void drop_large(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const uint64_t start = walk_here(st);
    ta_quality_add(st->quality, TA_Q_LIMIT, start,
                   "An event is larger than the limit \"event\" (--limit event=…), at byte offset "
                   "%" PRIu64,
                   start);
    if (!walk_skip_large(st)) {
        walk_truncated(json);
        return;
    }
    json->bytes_skipped += walk_here(st) - start;
    st->last_end = walk_here(st);
    st->comma = st->first = false;
}

/* What scanned as anything but a record of allowed size. */
static __attribute__((noinline, cold)) bool no_record(struct ta_json *json, enum scan_result result,
                                                      bool line, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    /* A line that holds an array of records would be taken for a document and again for a line. */
    if (result == SCAN_DOCUMENT && !line) {
        /* It begins where a record should: a writer was killed and another one appended. */
        ta_quality_add(st->quality, TA_Q_TRUNCATED, st->last_end,
                       "A document ends early, at byte offset %" PRIu64 ": another one follows",
                       st->last_end);
        json->truncated = true;
        st->place = PLACE_BETWEEN;
        return false;
    }
    if (result == SCAN_OK || (result == SCAN_MORE && !st->window.ended)) {
        drop_large(json);
        if (line && st->place != PLACE_DONE)
            st->place = PLACE_BETWEEN;
        *item = TA_JSON_DROPPED;
        return true;
    }
    walk_lose(st, result, true);
    return false;
}

/* The record at the window's place, which is `brace`.  `line` when it is a document of its own. */
static inline bool next_record(struct ta_json *json, const char *brace, bool line,
                               enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    walk_scan_from(st, brace);
    enum scan_result result = step_learned(json);
    if (result == SCAN_MORE)
        result = walk_whole(json, UINT64_MAX, walk_step_learned);
    if (result != SCAN_OK || walk_is_too_large(st))
        return no_record(json, result, line, item);
    walk_take_record(json);
    if (line)
        st->place = PLACE_BETWEEN;
    *item = TA_JSON_RECORD;
    return true;
}

/* ---- text between records -------------------------------------------------------------------- */

void walk_set_usual(struct ta_json_state *st, const char *text, size_t length)
{
    struct separator *usual = &st->separator;
    *usual = (struct separator){.length = length};
    memcpy(usual->text, text, length + 1);
    memset(usual->mask, 0xff, length + 1);
}

/* Moves to the brace of the next record when the text before the last one is found here again, and
 * returns its place; NULL otherwise. After the bytes of the window lie zeros, so 16 of them can be
 * compared, and none is a brace. */
static inline const char *skip_usual(struct ta_json_state *st)
{
    const struct separator *usual = &st->separator;
    const char *const here = window_at(&st->window);
    uint64_t text[2];
    memcpy(text, here, sizeof text);
    if (((text[0] ^ usual->text[0]) & usual->mask[0]) |
        ((text[1] ^ usual->text[1]) & usual->mask[1]))
        return NULL;
    st->window.at += usual->length;
    st->comma = true;
    return here + usual->length;
}

/* Remembers the text between `start` and the brace here, if it is a comma and white space. */
static void remember_usual(struct ta_json_state *st, uint64_t start)
{
    const uint64_t length = walk_here(st) - start;
    const char *const text = window_at(&st->window) - length;
    if (length == 0 || length > SEPARATOR_MAX || start < st->window.base || text[0] != ',')
        return;
    for (size_t i = 1; i < length; i++)
        if (!scan_is_space(text[i]))
            return;
    walk_set_usual(st, text, (size_t)length);
}

/* Commas between records: one is right, all others are noted.  False at the end of the input. */
static bool skip_commas(struct ta_json_state *st)
{
    const uint64_t start = walk_here(st);
    for (;;) {
        if (!walk_space(st))
            return false;
        if (*window_at(&st->window) != ',')
            break;
        if (st->comma || st->first)
            ta_quality_add(st->quality, TA_Q_COMMA, walk_here(st),
                           "A comma too many between events, at byte offset %" PRIu64,
                           walk_here(st));
        st->comma = true;
        st->window.at++;
    }
    if (*window_at(&st->window) == '{')
        remember_usual(st, start);
    return true;
}

static void end_of_input(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    if (st->in_object) {
        walk_truncated(json);
    } else {
        const uint64_t end = st->window.base + st->window.end;
        json->unclosed = true;
        ta_quality_add(st->quality, TA_Q_UNTERMINATED_ARRAY, end,
                       "The array of events has no closing bracket, at byte offset %" PRIu64, end);
        st->place = PLACE_DONE;
    }
}

/* An element and what follows it. */
static enum scan_result step_value(struct ta_json *json)
{
    struct scan *scan = &json->state->scan;
    struct ta_token ignored;
    enum scan_result result = scan_value(scan, &ignored);
    if (result != SCAN_OK)
        return result;
    const char *const end = scan->p;
    const uint32_t notes = scan->notes;
    result = scan_space(scan);
    if (result == SCAN_MORE && !json->state->window.ended)
        return SCAN_MORE;
    if (result == SCAN_OK && *scan->p != ',' && *scan->p != ']')
        return SCAN_BAD;
    scan->p = end;
    scan->notes = notes; /* notes about the space come when it is skipped */
    return SCAN_OK;
}

/* An element that is no object.  False when what follows it shows a syntax error. */
static bool drop_value(struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    const uint64_t start = walk_here(st);
    const enum scan_result result = walk_whole(json, WALK_MEMBER_MAX, step_value);
    *item = TA_JSON_DROPPED;
    if (result != SCAN_OK) {
        walk_lose(st, result, true);
        return false;
    }
    walk_account_notes(st);
    walk_use(st);
    ta_quality_add(st->quality, TA_Q_NOT_AN_EVENT, start,
                   "A member of the event array is not an object, at byte offset %" PRIu64, start);
    json->bytes_skipped += walk_here(st) - start;
    st->comma = st->first = false;
    return true;
}

/* ---- RECORDS ------------------------------------------------------------------------------- */

/* Whether reading ends here, before a record, since the next part begins with it. */
static __attribute__((noinline, cold)) bool is_start_of_next_part(struct ta_json_state *st)
{
    const bool as_guessed =
        st->comma && !st->first && !st->lines && st->in_object == st->part->in_object;
    if (!ta_part_at_border(st->part, walk_here(st), as_guessed))
        return false;
    st->place = PLACE_DONE;
    return true;
}

/* An element after anything but the usual comma and white space. */
static __attribute__((noinline)) bool next_unusual(struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    const bool line = !st->in_object && st->fresh && st->document_start == walk_here(st);
    st->fresh = false;
    if (!line && !skip_commas(st)) {
        end_of_input(json);
        return false;
    }
    const char c = *window_at(&st->window);
    if (c == ']' && !line) {
        if (st->comma)
            ta_quality_add(st->quality, TA_Q_COMMA, walk_here(st),
                           "A comma after the last event, at byte offset %" PRIu64, walk_here(st));
        st->window.at++;
        st->first = false;
        st->place = st->in_object ? PLACE_MEMBERS : PLACE_BETWEEN;
        return false;
    }
    if (c != '{')
        return drop_value(json, item);
    if (walk_here(st) >= ta_part_border(st->part) && is_start_of_next_part(st))
        return false;
    if (!st->comma && !st->first)
        ta_quality_add(st->quality, TA_Q_COMMA, walk_here(st),
                       "No comma between two events, at byte offset %" PRIu64, walk_here(st));
    return next_record(json, window_at(&st->window), line, item);
}

/* The shortest way from one record to the next comes first. */
bool walk_next_element(struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    const char *const brace = st->comma || st->first ? NULL : skip_usual(st);
    if (!brace)
        return next_unusual(json, item);
    if (walk_here(st) >= ta_part_border(st->part) && is_start_of_next_part(st))
        return false;
    return next_record(json, brace, false, item);
}
