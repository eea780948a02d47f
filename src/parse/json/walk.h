/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine behind ta_json_next() (json.c): where the walk over a stream of JSON stands, and what
 * the files it is made of share.
 *
 *     BETWEEN ──{──▶ MEMBERS ──"traceEvents": [──▶ RECORDS ──]──▶ MEMBERS ──}──▶ BETWEEN
 *        └─────[──────────────────────────────────────┘
 *
 * There is one place per kind of surroundings.  Each is left with the window standing on the first
 * byte that the next one looks at, and says what comes there:
 *
 *     BETWEEN  nothing is open; what comes is a document, or text that is none     (documents.c)
 *     LINE     the document that was just scanned is a record itself, one event per line: give it
 *              out and go back to BETWEEN
 *     MEMBERS  an object is open, between two of its members                       (documents.c)
 *     RECORDS  the array of records is open, between two of its elements           (records.c)
 *     LOST     the text is damaged from `lost_from` on: look for the next object that parses whole
 *              and has the mark key, and go on there with RECORDS                  (resume.c)
 *     DONE     nothing more is said
 *
 * No place has a state within a value.  Every scan starts at a value's first byte; when the window
 * ends before the value does, the scan says SCAN_MORE, more bytes are read and it starts again at
 * that byte (walk_whole()).  So block borders need no state of their own.  Whether a value is too
 * large is decided by its length and never by what the window happens to hold.
 *
 * Damage is accounted for once, where it ends.  A scan that fails only calls walk_lose(), which
 * remembers where and why; resume.c then makes one account of everything from there to the place
 * where reading goes on, or, when nothing follows and the input was cut, one of TA_Q_TRUNCATED.
 * Small repairs are noted by the scan (enum scan_note) and become accounts when the value is used
 * (walk_account_notes()), so that starting again does not count them twice.
 *
 * The usual record costs next to nothing here: the text between two records is remembered and
 * compared as a whole (struct separator), and the layout reads the rest. */
#ifndef TA_PARSE_WALK_H
#define TA_PARSE_WALK_H

#include "base/quality.h"
#include "parse/json/layout.h"
#include "parse/json/record.h"
#include "parse/json/scan.h"
#include "parse/json/window.h"
#include "read/relay.h"

/* A member beside the records is kept up to this size; larger ones are skipped. */
#define WALK_MEMBER_MAX (UINT64_C(1) << 20)
/* One attempt to resume looks no farther than this. */
#define WALK_RESUME_MAX (UINT64_C(4) << 20)
/* All failed attempts to resume may scan so many times the bytes read, which keeps hostile input
 * linear; afterwards the reader gives up on what an attempt has covered. */
#define WALK_RESUME_BUDGET 64

enum place { PLACE_BETWEEN, PLACE_LINE, PLACE_MEMBERS, PLACE_RECORDS, PLACE_LOST, PLACE_DONE };

/* A comma and white space as they stood between the last two records, and the opening brace after
 * them: up to 16 bytes, compared under a mask. */
struct separator {
    uint64_t text[2], mask[2];
    size_t length; /* up to the brace, SEPARATOR_MAX at most */
};

enum { SEPARATOR_MAX = 15 };

struct ta_json_state {
    struct window window;
    struct scan scan;
    struct ta_quality *quality;
    struct record_keys keys;
    struct layout layout;
    struct separator separator;
    enum place place;
    bool in_object, first; /* the document is an object; nothing stands before the next item */
    bool comma;            /* a comma stands before the next record */
    bool fresh;            /* no member of the present document was read */
    bool lines;            /* a document was a record itself */
    bool opened;           /* the array of the present document was opened */
    bool beyond;           /* the value that walk_whole() looked at is larger than allowed */
    uint64_t event_limit;
    uint64_t documents;
    uint64_t document_start, last_end; /* of the last whole record, or of the opening bracket */
    uint64_t lost_from, error_at;      /* LOST: where to look from, where the error is */
    bool lost_record, lost_at_end;     /* LOST: in a record; because the input ended */
    struct ta_part *part;              /* what is read of the stream: &everything, or a part */
    struct ta_part everything;
    char *text; /* decoded string */
    size_t text_max;
};

/* ---- window and scan (walk.c) -------------------------------------------------------------- */

/* Sets the scan to the bytes at a place in the window. */
static inline void walk_scan_from(struct ta_json_state *st, const char *place)
{
    st->scan.p = place;
    st->scan.end = st->window.buffer + st->window.end;
    st->scan.notes = 0;
}

static inline void walk_scan_here(struct ta_json_state *st)
{
    walk_scan_from(st, window_at(&st->window));
}

/* Everything before the scan's cursor is used. */
static inline void walk_use(struct ta_json_state *st)
{
    st->window.at = (size_t)(st->scan.p - st->window.buffer);
}

static inline uint64_t walk_here(const struct ta_json_state *st)
{
    return st->window.base + st->window.at;
}

/* Turns what the scan repaired into accounts; true when one is worse than info. */
bool walk_account_notes(struct ta_json_state *st);

/* Moves over white space and comments; false at the end of the input. */
bool walk_space(struct ta_json_state *st);

/* Reads on until there is twice as much to scan, so that starting again adds up to no more than
 * the value is long.  False when nothing more came, and that was known. */
bool walk_read_twice(struct ta_json_state *st);

/* What a step found that may look at `most` bytes.  A longer value counts as SCAN_MORE with
 * `beyond` set and the cursor past that many bytes, however much of it the window holds. */
enum scan_result walk_bounded(struct ta_json_state *st, enum scan_result result, uint64_t most);

/* Scans with `step` from the window's place, with as many bytes as it needs up to `most`. */
static inline enum scan_result walk_whole(struct ta_json *json, uint64_t most,
                                          enum scan_result (*step)(struct ta_json *))
{
    struct ta_json_state *st = json->state;
    enum scan_result result;
    do {
        walk_scan_here(st);
        result = step(json);
    } while (result == SCAN_MORE && st->window.end - st->window.at <= most && walk_read_twice(st));
    if (most < UINT64_MAX)
        return walk_bounded(st, result, most);
    st->beyond = false;
    return result;
}

/* ---- records (records.c) ------------------------------------------------------------------- */

/* RECORDS: false when no item came of it, and the place may have changed. */
bool walk_next_element(struct ta_json *json, enum ta_json_item *item);

/* Gives out the record just scanned. */
void walk_take_record(struct ta_json *json);

/* Expects these `length` bytes and a brace, which follows them, before the next record. */
void walk_set_usual(struct ta_json_state *st, const char *text, size_t length);

/* Scans a record by the grammar; by the learned layout, and what that does not take by the grammar
 * all the same. */
enum scan_result walk_step_record(struct ta_json *json);
enum scan_result walk_step_learned(struct ta_json *json);

/* Whether the record just scanned has a value for a field, and for the mark. */
static inline bool walk_has_field(const struct ta_json *json, size_t field)
{
    return json->record.field[field].type != TA_TOKEN_ABSENT;
}

static inline bool walk_has_mark(const struct ta_json *json)
{
    return walk_has_field(json, json->state->keys.schema->mark);
}

/* Whether the record just scanned is larger than the limit. */
static inline bool walk_is_too_large(const struct ta_json_state *st)
{
    return (uint64_t)(st->scan.p - window_at(&st->window)) > st->event_limit;
}

/* ---- documents and members (documents.c) ---------------------------------------------------- */

/* BETWEEN: false at the end of the input. */
bool walk_open_document(struct ta_json *json);

/* MEMBERS: false when the item is none for the caller, and the place may have changed. */
bool walk_next_member(struct ta_json *json, enum ta_json_item *item);

/* Skips a value that is too large for the window: counted brackets, bounded memory.  False at the
 * end of the input. */
bool walk_skip_large(struct ta_json_state *st);

/* ---- damage (resume.c) --------------------------------------------------------------------- */

/* Accounts for an input that ends within a document; nothing follows. */
void walk_truncated(struct ta_json *json);

/* A record or member that began at the window's place did not scan: go to LOST. */
void walk_lose(struct ta_json_state *st, enum scan_result result, bool record);

/* LOST: looks for a place to go on.  Gives the record lost, if one was. */
bool walk_resume(struct ta_json *json, enum ta_json_item *item);

/* For parts of a stream: the last object in `bytes` that could be a record, as resuming would take
 * it; 0 when there is none after the first byte.  TA_PADDING bytes follow that can be read. */
size_t walk_find_cut(struct ta_json *json, const char *bytes, size_t n);

/* Frees what a part left behind for the next one (struct ta_part). */
void walk_free_parked(struct ta_json *json);

#endif
