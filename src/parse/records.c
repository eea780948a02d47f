/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of a JSON document, one at a time: the walk over documents, members and the array of
 * records, and what happens when the text is damaged.
 *
 * The state machine has one place per kind of surroundings:
 *
 *     BETWEEN ──{──▶ MEMBERS ──"traceEvents": [──▶ RECORDS ──]──▶ MEMBERS ──}──▶ BETWEEN
 *        └─────[──────────────────────────────────────┘
 *
 * An object that is a record itself, one event per line, goes through LINE back to BETWEEN.  LOST,
 * entered on a syntax error anywhere: it looks for the next object that parses whole
 * and has the mark key, and goes on there with RECORDS. */
#include "traceanalyze/json.h"

#include "base/quality.h"
#include "parse/layout.h"
#include "parse/record.h"
#include "parse/scan.h"
#include "parse/window.h"
#include "traceanalyze/context.h"

#include <inttypes.h>
#include <stdlib.h>

/* A member beside the records is kept up to this size; larger ones are skipped. */
#define MEMBER_MAX (UINT64_C(1) << 20)
/* One attempt to resume looks no farther than this. */
#define RESUME_MAX (UINT64_C(4) << 20)
/* All failed attempts to resume may scan so many times the bytes read, which keeps hostile input
 * linear; afterwards the reader gives up on what an attempt has covered. */
#define RESUME_BUDGET 64

enum place { BETWEEN, LINE, MEMBERS, RECORDS, LOST, DONE };

struct ta_json_state {
    struct window window;
    struct scan scan;
    struct ta_quality *quality;
    struct record_keys keys;
    struct layout layout;
    enum place place;
    bool in_object, first; /* the document is an object; nothing stands before the next item */
    bool comma;            /* a comma stands before the next record */
    bool fresh;            /* no member of the present document was read */
    bool lines;            /* a document was a record itself */
    uint64_t event_limit;
    uint64_t documents;
    uint64_t document_start, last_end; /* of the last whole record, or of the opening bracket */
    uint64_t lost_from, error_at;      /* LOST: where to look from, what is to blame */
    bool lost_record, lost_at_end;     /* LOST: in a record; because the input ended */
    uint64_t attempts;                 /* bytes scanned by failed attempts */
    char *text;                        /* decoded string */
    size_t text_max;
};

/* ---- making ---------------------------------------------------------------------------- */

struct ta_json *ta_json_new(struct ta_ctx *ctx, struct ta_reader *reader,
                            const struct ta_record_schema *schema)
{
    struct ta_json *json = calloc(1, sizeof *json);
    struct ta_json_state *st = calloc(1, sizeof *st);
    const size_t depth = (size_t)ta_ctx_limit(ctx, TA_LIMIT_DEPTH);
    uint64_t *stack = calloc(depth / 64 + 1, sizeof *stack);
    if (!json || !st || !stack || !layout_init(&st->layout) ||
        !window_init(&st->window, reader, (size_t)ta_ctx_limit(ctx, TA_LIMIT_EVENT))) {
        if (st)
            layout_free(&st->layout);
        free(json);
        free(st);
        free(stack);
        return NULL;
    }
    st->quality = ta_reader_quality(reader);
    st->event_limit = ta_ctx_limit(ctx, TA_LIMIT_EVENT);
    st->scan = (struct scan){.stack = stack,
                             .stack_limit = depth,
                             .string_limit = (size_t)ta_ctx_limit(ctx, TA_LIMIT_STRING),
                             .number_limit = (size_t)ta_ctx_limit(ctx, TA_LIMIT_NUMBER)};
    record_keys_init(&st->keys, schema);
    json->state = st;
    return json;
}

void ta_json_free(struct ta_json *json)
{
    if (!json)
        return;
    window_free(&json->state->window);
    layout_free(&json->state->layout);
    free(json->state->scan.stack);
    free(json->state->text);
    free(json->state);
    free(json);
}

/* ---- the window and the scan ------------------------------------------------------------- */

/* Sets the scan to the bytes at the window's place. */
static void scan_here(struct ta_json_state *st)
{
    st->scan.p = window_at(&st->window);
    st->scan.end = st->window.buffer + st->window.end;
    st->scan.notes = 0;
}

/* Everything before the scan's cursor is used. */
static void use(struct ta_json_state *st)
{
    st->window.at = (size_t)(st->scan.p - st->window.buffer);
}

static uint64_t here(const struct ta_json_state *st)
{
    return st->window.base + st->window.at;
}

/* Turns what the scan repaired into accounts; true when one is worse than info. */
static bool account_notes(struct ta_json_state *st)
{
    bool repaired = false;
    for (int i = 0; st->scan.notes && i < NOTE_COUNT; i++) {
        if (!(st->scan.notes & 1u << i))
            continue;
        const uint64_t offset = window_offset(&st->window, st->scan.note_place[i]);
        ta_quality_add(st->quality, scan_note_codes[i], offset, NULL);
        repaired |= ta_quality_severity(scan_note_codes[i]) > TA_QUALITY_INFO;
    }
    st->scan.notes = 0;
    return repaired;
}

/* A comment without an end is the last thing of the input. */
static bool skip_last_comment(struct ta_json_state *st)
{
    if (!st->window.ended)
        return false;
    ta_quality_add(st->quality, TA_Q_COMMENT, here(st), NULL);
    st->window.at = st->window.end;
    return true;
}

/* Moves over white space and comments; false at the end of the input. */
static bool skip_space(struct ta_json_state *st)
{
    for (;;) {
        scan_here(st);
        enum scan_result result = scan_space(&st->scan);
        account_notes(st);
        use(st);
        /* A slash that starts no comment is left for the caller to stumble over. */
        if (result != SCAN_MORE)
            return true;
        if (!window_more(&st->window))
            return st->window.at < st->window.end && !skip_last_comment(st);
    }
}

/* Reads on until there is twice as much to scan, so that starting again adds up to no more than
 * the value is long.  False when nothing more came. */
static bool read_twice(struct ta_json_state *st)
{
    const size_t wanted = 2 * (st->window.end - st->window.at);
    if (!window_more(&st->window))
        return false;
    while (st->window.end - st->window.at < wanted && window_more(&st->window))
        ;
    return true;
}

/* Scans with `step` from the window's place, with as many bytes as it needs up to `most`. */
static enum scan_result scan_whole(struct ta_json *json, uint64_t most,
                                   enum scan_result (*step)(struct ta_json *))
{
    struct ta_json_state *st = json->state;
    for (;;) {
        scan_here(st);
        enum scan_result result = step(json);
        if (result != SCAN_MORE || st->window.end - st->window.at > most || !read_twice(st))
            return result;
    }
}

/* ---- a record ------------------------------------------------------------------------------ */

static enum scan_result step_record(struct ta_json *json)
{
    return record_scan(&json->state->keys, &json->state->scan, &json->record);
}

/* By the learned layout; what it does not take is scanned again by the grammar alone. */
static enum scan_result step_learned(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const char *const start = st->scan.p;
    if (layout_on(&st->layout)) {
        enum scan_result result = layout_scan(&st->layout, &st->keys, &st->scan, &json->record);
        if (result != SCAN_BAD)
            return result;
        st->scan.p = start;
        st->scan.notes = 0;
    }
    return step_record(json);
}

/* Whether the record just scanned is larger than the limit. */
static bool is_too_large(const struct ta_json_state *st)
{
    return (uint64_t)(st->scan.p - window_at(&st->window)) > st->event_limit;
}

static void take_record(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    json->record.offset = here(st);
    json->record.repaired = account_notes(st);
    use(st);
    json->record.end = st->last_end = here(st);
    st->comma = st->first = false;
}

/* ---- accounts of damage ------------------------------------------------------------------ */

static void truncated(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const uint64_t end = st->window.base + st->window.end;
    ta_quality_add(st->quality, TA_Q_TRUNCATED, st->last_end,
                   "The input ends early: %" PRIu64 " bytes after byte offset %" PRIu64
                   " belong to nothing whole",
                   end - st->last_end, st->last_end);
    json->truncated = true;
    json->bytes_skipped += end - st->last_end;
    st->place = DONE;
}

static void lose(struct ta_json_state *st, uint64_t from, uint64_t error_at, bool record,
                 bool at_end)
{
    st->lost_from = from;
    st->error_at = error_at;
    st->lost_record = record;
    st->lost_at_end = at_end;
    st->place = LOST;
}

/* A record or member that began at the window's place did not scan. */
static void lose_here(struct ta_json_state *st, enum scan_result result, bool record)
{
    const uint64_t start = here(st);
    const uint64_t error = window_offset(&st->window, st->scan.p);
    lose(st, start + 1, error, record, result == SCAN_MORE && st->window.ended);
}

/* ---- BETWEEN: the start of a document ------------------------------------------------------ */

/* Whether a bracket here may open a document; behind the first one text is not taken for it. */
static bool plausible_start(struct ta_json_state *st)
{
    scan_here(st);
    const char open = *st->scan.p;
    if (open != '{' && open != '[')
        return false;
    if (st->documents == 0)
        return true;
    while (st->window.end - st->window.at < 256 && window_more(&st->window))
        ;
    scan_here(st);
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
    const uint64_t start = here(st);
    do {
        st->window.at++;
    } while (find_bracket(st) && !plausible_start(st));
    json->bytes_skipped += here(st) - start;
    ta_quality_add(st->quality, TA_Q_TRAILING_TEXT, start,
                   "Text that is no part of a document, at byte offset %" PRIu64, start);
}

/* Whether the object here is a record of its own, one event per line, and no document.  Behind
 * such a line an object that has other fields of a record is one as well: it is missed aloud. */
static bool is_line(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    bool looks_like_record = false;
    if (scan_whole(json, RESUME_MAX, step_learned) != SCAN_OK || is_too_large(st))
        return false;
    for (size_t i = 0; st->lines && i < TA_RECORD_FIELDS; i++)
        looks_like_record |= json->record.field[i].type != TA_TOKEN_ABSENT;
    return looks_like_record || json->record.field[st->keys.schema->mark].type != TA_TOKEN_ABSENT;
}

static bool open_document(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    while (skip_space(st)) {
        if (!plausible_start(st)) {
            skip_text(json);
            continue;
        }
        const char open = *window_at(&st->window);
        st->document_start = here(st);
        if (st->documents++ > 0)
            ta_quality_add(st->quality, TA_Q_MULTIPLE_DOCUMENTS, st->document_start,
                           "Another document begins at byte offset %" PRIu64, st->document_start);
        json->saw_document = true;
        if (open == '{' && is_line(json)) {
            json->saw_array = st->lines = true;
            st->in_object = false;
            st->place = LINE;
            return true;
        }
        /* Behind lines and arrays nothing but records can be missing. */
        if (st->documents == 1 || st->in_object)
            st->last_end = here(st) + 1;
        st->in_object = open == '{';
        json->saw_array |= !st->in_object;
        st->first = st->fresh = true;
        st->comma = false;
        st->window.at++;
        st->place = st->in_object ? MEMBERS : RECORDS;
        return true;
    }
    return false;
}

/* ---- MEMBERS: beside the records ----------------------------------------------------------- */

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

/* A member too large for the window: counted brackets, bounded memory. */
static bool skip_large_member(struct ta_json_state *st)
{
    struct blind blind = {0};
    for (;;) {
        scan_here(st);
        enum scan_result result = scan_blind(&st->scan, &blind);
        use(st);
        if (result == SCAN_OK)
            return true;
        if (!window_more(&st->window))
            return false;
    }
}

/* Behind the key of the array of records. */
static bool enter_array(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    if (*st->scan.p == '[' && record_is_array(&st->keys, &json->member.key)) {
        st->scan.p++;
        use(st);
        st->last_end = here(st);
        json->saw_array = true;
        st->lines = false;
        st->first = true;
        st->comma = false;
        st->place = RECORDS;
        return true;
    }
    return false;
}

/* The mark among the members: a record of its own that is damaged, or large. */
static bool is_line_record(const struct ta_json *json)
{
    const struct ta_json_state *st = json->state;
    const struct ta_slice key = {json->member.key.ptr, json->member.key.len};
    return st->documents > 0 && st->document_start >= st->window.base &&
           ta_slice_equal(key, ta_slice_of(st->keys.schema->field[st->keys.schema->mark]));
}

static bool next_member(struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    enum scan_result result = scan_whole(json, MEMBER_MAX, step_key);
    if (result != SCAN_OK) {
        lose_here(st, result, st->lines);
        return false;
    }
    if (json->member.key.type == TA_TOKEN_ABSENT) {
        account_notes(st);
        st->scan.p++;
        use(st);
        st->place = BETWEEN;
        return false;
    }
    if (is_line_record(json)) {
        st->window.at = (size_t)(st->document_start - st->window.base);
        json->saw_array = st->lines = true;
        st->in_object = false;
        st->place = RECORDS;
        st->fresh = true;
        st->comma = st->first = true;
        return false;
    }
    if (enter_array(json))
        return false;
    result = scan_whole(json, MEMBER_MAX, step_member);
    st->fresh = false;
    if (result == SCAN_MORE && !st->window.ended) {
        scan_here(st);
        if (step_key(json) == SCAN_OK) {
            use(st);
            st->first = false;
            if (!skip_large_member(st))
                truncated(json);
            return false;
        }
    }
    if (result != SCAN_OK) {
        lose_here(st, result, st->lines);
        return false;
    }
    account_notes(st);
    use(st);
    st->first = false;
    *item = TA_JSON_MEMBER;
    return true;
}

/* ---- RECORDS ------------------------------------------------------------------------------- */

/* A member of the array that is no object, and what follows it. */
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
    scan->notes = notes; /* those of the space come when it is skipped */
    return SCAN_OK;
}

/* Drops a record larger than the limit without holding it. */
static void drop_large(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const uint64_t start = here(st);
    ta_quality_add(st->quality, TA_Q_LIMIT, start,
                   "An event is larger than the limit \"event\" (--limit event=…), at byte offset "
                   "%" PRIu64,
                   start);
    if (!skip_large_member(st)) {
        truncated(json);
        return;
    }
    json->bytes_skipped += here(st) - start;
    st->last_end = here(st);
    st->comma = st->first = false;
}

/* A document begins where a record should: a writer was killed and another one appended. */
static void restart_document(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    ta_quality_add(st->quality, TA_Q_TRUNCATED, st->last_end,
                   "A document ends early, at byte offset %" PRIu64 ": another one follows",
                   st->last_end);
    json->truncated = true;
    st->place = BETWEEN;
}

/* An array member that is no object.  False when what follows it shows a syntax error. */
static bool drop_value(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    const uint64_t start = here(st);
    const enum scan_result result = scan_whole(json, MEMBER_MAX, step_value);
    if (result != SCAN_OK) {
        lose_here(st, result, true);
        return false;
    }
    account_notes(st);
    use(st);
    ta_quality_add(st->quality, TA_Q_NOT_AN_EVENT, start,
                   "A member of the event array is not an object, at byte offset %" PRIu64, start);
    json->bytes_skipped += here(st) - start;
    st->comma = st->first = false;
    return true;
}

/* Commas between records: one is right, all others are noted.  False at the end of the input. */
static bool skip_commas(struct ta_json_state *st)
{
    for (;;) {
        if (!skip_space(st))
            return false;
        if (*window_at(&st->window) != ',')
            return true;
        if (st->comma || st->first)
            ta_quality_add(st->quality, TA_Q_COMMA, here(st),
                           "A comma too many between events, at byte offset %" PRIu64, here(st));
        st->comma = true;
        st->window.at++;
    }
}

static void end_of_input(struct ta_json *json)
{
    struct ta_json_state *st = json->state;
    if (st->in_object) {
        truncated(json);
    } else {
        const uint64_t end = st->window.base + st->window.end;
        ta_quality_add(st->quality, TA_Q_UNTERMINATED_ARRAY, end,
                       "The array of events has no closing bracket, at byte offset %" PRIu64, end);
        st->place = DONE;
    }
}

static bool next_record(struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    const bool line = !st->in_object && st->fresh && st->document_start == here(st);
    st->fresh = false;
    if (!line && !skip_commas(st)) {
        end_of_input(json);
        return false;
    }
    const char c = *window_at(&st->window);
    if (c == ']' && !line) {
        if (st->comma)
            ta_quality_add(st->quality, TA_Q_COMMA, here(st),
                           "A comma after the last event, at byte offset %" PRIu64, here(st));
        st->window.at++;
        st->first = false;
        st->place = st->in_object ? MEMBERS : BETWEEN;
        return false;
    }
    if (c != '{') {
        *item = TA_JSON_DROPPED;
        return drop_value(json);
    }
    if (!st->comma && !st->first)
        ta_quality_add(st->quality, TA_Q_COMMA, here(st),
                       "No comma between two events, at byte offset %" PRIu64, here(st));
    enum scan_result result = scan_whole(json, UINT64_MAX, step_learned);
    /* A line that holds an array of records would be taken for a document and again for a line. */
    if (result == SCAN_DOCUMENT && !line) {
        restart_document(json);
        return false;
    }
    if ((result == SCAN_MORE && !st->window.ended) || (result == SCAN_OK && is_too_large(st))) {
        drop_large(json);
        if (line && st->place != DONE)
            st->place = BETWEEN;
        *item = TA_JSON_DROPPED;
        return true;
    }
    if (result != SCAN_OK) {
        lose_here(st, result, true);
        return false;
    }
    take_record(json);
    if (line)
        st->place = BETWEEN;
    *item = TA_JSON_RECORD;
    return true;
}

/* ---- LOST ---------------------------------------------------------------------------------- */

/* Moves to the next opening brace; false at the end of the input. */
static bool find_brace(struct ta_json_state *st)
{
    for (;;) {
        const char *p = window_at(&st->window);
        const char *brace = memchr(p, '{', st->window.end - st->window.at);
        if (brace) {
            st->window.at = (size_t)(brace - st->window.buffer);
            return true;
        }
        st->window.at = st->window.end;
        if (!window_more(&st->window))
            return false;
    }
}

static bool try_here(struct ta_json *json, enum scan_result *result)
{
    struct ta_json_state *st = json->state;
    *result = scan_whole(json, RESUME_MAX, step_record);
    const uint8_t mark = st->keys.schema->mark;
    if (*result == SCAN_DOCUMENT ||
        (*result == SCAN_OK && json->record.field[mark].type != TA_TOKEN_ABSENT))
        return true;
    const size_t scanned = (size_t)(st->scan.p - window_at(&st->window));
    st->attempts += scanned;
    const uint64_t read = st->window.base + st->window.end;
    const bool spent = st->attempts > read * RESUME_BUDGET + MEMBER_MAX;
    st->window.at += spent && scanned ? scanned : 1;
    return false;
}

static void account_damage(struct ta_json *json, uint64_t resumed)
{
    struct ta_json_state *st = json->state;
    ta_quality_add(st->quality, TA_Q_SYNTAX, st->error_at,
                   "Syntax error at byte offset %" PRIu64 "; %" PRIu64 " bytes were skipped",
                   st->error_at, resumed - (st->lost_from - 1));
    json->bytes_skipped += resumed - (st->lost_from - 1);
}

/* Looks for a place to go on.  Gives the record lost, if one was. */
static bool resume(struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    const bool lost_record = st->lost_record;
    enum scan_result result = SCAN_BAD;
    /* lost_from lies at most one byte behind the window's place, so it is still there. */
    const size_t from = (size_t)(st->lost_from - st->window.base);
    st->window.at = from < st->window.end ? from : st->window.end;
    bool found = false;
    while (!found && find_brace(st))
        found = try_here(json, &result);
    *item = TA_JSON_DROPPED;
    if (found) {
        account_damage(json, here(st));
        json->saw_array = true;
        st->comma = true;
        st->place = result == SCAN_DOCUMENT || st->lines ? BETWEEN : RECORDS;
    } else if (st->lost_at_end) {
        truncated(json);
    } else {
        account_damage(json, st->window.base + st->window.end);
        st->place = DONE;
    }
    return lost_record;
}

/* ---- the machine --------------------------------------------------------------------------- */

enum ta_status ta_json_next(struct ta_ctx *ctx, struct ta_json *json, enum ta_json_item *item)
{
    struct ta_json_state *st = json->state;
    bool have = false;
    while (!have) {
        switch (st->place) {
        case BETWEEN:
            if (!open_document(json))
                st->place = DONE;
            break;
        case LINE:
            take_record(json);
            st->place = BETWEEN;
            *item = TA_JSON_RECORD;
            have = true;
            break;
        case MEMBERS:
            have = next_member(json, item);
            break;
        case RECORDS:
            have = next_record(json, item);
            break;
        case LOST:
            have = resume(json, item);
            break;
        case DONE:
            *item = TA_JSON_END;
            have = true;
        }
        if (st->window.failed)
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot grow the window of a file: bytes=%zu",
                           st->window.capacity * 2);
    }
    return TA_OK;
}

/* ---- text ---------------------------------------------------------------------------------- */

struct ta_slice ta_json_text(struct ta_json *json, const struct ta_token *token)
{
    struct ta_json_state *st = json->state;
    const struct ta_slice raw = {token->ptr, token->len};
    if (token->type != TA_TOKEN_STRING || token->plain)
        return raw;
    const size_t most = record_text_max(token->len, st->scan.string_limit);
    if (st->text_max < most) {
        char *grown = realloc(st->text, most);
        if (!grown) {
            st->window.failed = true;
            return (struct ta_slice){"", 0};
        }
        st->text = grown;
        st->text_max = most;
    }
    return record_decode(raw, st->scan.string_limit, st->text);
}

void ta_json_members(struct ta_json *json, const struct ta_token *object,
                     bool (*each)(void *user, const struct ta_token *key,
                                  const struct ta_token *value),
                     void *user)
{
    if (object->type != TA_TOKEN_OBJECT)
        return;
    struct scan scan = json->state->scan;
    scan.p = object->ptr + 1;
    scan.end = object->ptr + object->len;
    for (bool first = true; scan_separator(&scan, first, '}') == SCAN_OK && *scan.p == '"';
         first = false) {
        struct ta_token key, value;
        if (scan_string(&scan, &key) != SCAN_OK || scan_colon(&scan) != SCAN_OK ||
            scan_value(&scan, &value) != SCAN_OK || !each(user, &key, &value))
            return;
    }
}
