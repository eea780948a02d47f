/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lexical layer of JSON: one value at a cursor, validated, without building anything.
 *
 * A scan works on the bytes [p, end) of a window.  When they end before the value does it says
 * SCAN_MORE and the caller starts again at the value's first byte with more bytes, so the scan
 * itself keeps no state across blocks.  What it repairs is noted, and becomes an account only when
 * the value is used. */
#ifndef TA_PARSE_SCAN_H
#define TA_PARSE_SCAN_H

#include "traceanalyze/document.h"

enum scan_result {
    SCAN_OK,
    SCAN_MORE,    /* the bytes end inside the value */
    SCAN_BAD,     /* syntax error at p */
    SCAN_DOCUMENT /* the object turns out to be a document of its own (records.c) */
};

/* Repairs, in the order of scan_note_codes[]. */
enum scan_note {
    NOTE_COMMA,
    NOTE_COMMENT,
    NOTE_ENCODING,
    NOTE_CONTROL,
    NOTE_ESCAPE,
    NOTE_NUMBER,
    NOTE_DEEP,
    NOTE_LONG,
    NOTE_DUPLICATE,
    NOTE_COUNT
};

struct scan {
    const char *p, *end;
    size_t string_limit, number_limit;
    uint64_t *stack; /* a bit per open bracket: 1 for an object */
    size_t stack_limit;
    uint32_t notes;                     /* bit set of enum scan_note */
    const char *note_place[NOTE_COUNT]; /* of the first case of each */
};

/* The account of a note. */
extern const enum ta_quality_code scan_note_codes[NOTE_COUNT];

void scan_note(struct scan *scan, enum scan_note note, const char *place);

/* Moves p to the next byte that is neither white space nor comment. */
enum scan_result scan_space_slow(struct scan *scan);

static inline bool scan_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline enum scan_result scan_space(struct scan *scan)
{
    while (scan->p < scan->end && scan_is_space(*scan->p))
        scan->p++;
    if (scan->p == scan->end)
        return SCAN_MORE;
    return *scan->p == '/' ? scan_space_slow(scan) : SCAN_OK;
}

/* A string at its opening quote; p ends past the closing one. */
enum scan_result scan_string(struct scan *scan, struct ta_token *token);

/* A value of any type at its first byte. */
enum scan_result scan_value(struct scan *scan, struct ta_token *token);

/* Between two members: moves over the comma to the next key or element and says OK, or stops at
 * the closing bracket.  `first` before the first member.  Commas too many are noted. */
enum scan_result scan_separator(struct scan *scan, bool first, char close);

/* The colon after a key, and the space around it; p ends at the value. */
enum scan_result scan_colon(struct scan *scan);

/* Skips a value without looking at its grammar: brackets are counted, strings respected.
 * For values that do not fit the window it is resumable: keep `state` between calls, SCAN_MORE
 * asks for the bytes that follow (nothing need be kept). */
struct blind {
    uint64_t depth;
    bool in_string, escaped, started;
};

enum scan_result scan_blind(struct scan *scan, struct blind *state);

#endif
