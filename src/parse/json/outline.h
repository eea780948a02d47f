/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records whose keys come in no order.
 *
 *     {"dur": 3, "name": "aten::mm", "args": {"External id": 9}, "ts": 17.2}
 *           ▴         ▴                    ▴                ▴ ▴      ▴     ▴
 * Where the next gap (layout.h) cannot be guessed, each step waits for the one before: a gap is
 * found when the value before it has ended, and a value when the gap is recognized.  The outline of
 * a record breaks this chain.  It is made of the colons and closing braces outside of strings,
 * which are found 64 bytes at a time.  From each of them one looks back: there is a key with the
 * separator before it, and so the end of the value before that.  The values come last, those of the
 * schema in its order, so that what they are can be guessed after all.
 *
 * Keys are learned when they are first seen, each with its separator and the white space behind its
 * colon.  Nothing is guessed about a record either: its text has to be an opening brace, keys and
 * values in turn and a closing brace, where keys are compared byte by byte and each value is
 * exactly one value.  So it does not matter for what is read should the outline be wrong.  Whatever
 * is not as expected is left to the gaps.
 *
 * outline.c learns keys; outline_scan.h scans records, and is compiled for each instruction set. */
#ifndef TA_PARSE_OUTLINE_H
#define TA_PARSE_OUTLINE_H

#include "parse/json/record.h"

enum {
    OUTLINE_KEYS = 512,
    OUTLINE_SLOTS = 1024,
    OUTLINE_CHAIN = 8,     /* keys in a slot, or more would be looked at than by gaps */
    OUTLINE_TEXT = 64,     /* bytes of a key */
    OUTLINE_AHEAD = 1024,  /* of the window that are outlined at once */
    OUTLINE_MEMBERS = 128, /* of a record, with its closing braces */
    OUTLINE_CAREFUL = 256, /* records to look at more closely when one was not as expected */
};

struct outline_keys;

/* Where the value behind a key goes; a joint is the place behind a brace, where there is none. */
enum outline_room { ROOM_RECORD, ROOM_OTHER, ROOM_JOINT, OUTLINE_ROOMS };

/* An object's bracket at the end of a key. */
enum outline_edge { EDGE_NONE, EDGE_OPENS, EDGE_CLOSES, OUTLINE_EDGES };

/* A key, with the separator before it and all that follows up to its value; or a closing brace with
 * the white space before it.  The opening brace of the nested object belongs to the key before it,
 * as that of the record to the first one. */
struct outline_key {
    _Alignas(64) char text[OUTLINE_TEXT];
    uint64_t nested;           /* bit in has_nested, or none */
    struct outline_key *chain; /* another one in the same slot, not longer */
    struct outline_keys *then; /* where those behind its value are */
    uint32_t mask;             /* vector_mask() */
    uint16_t fields;           /* bit in has_field, or none */
    uint16_t token;            /* where its token is, from the room on, in bytes */
    uint8_t length, to_place;  /* of the text, and of what stands before the colon or brace */
    uint8_t room, step;        /* enum outline_room, and bytes that the value takes there */
    uint8_t edge;              /* enum outline_edge */
    bool is_wanted;            /* it has a bit */
    bool ends;                 /* the record */
};

/* By what stands before their colons; braces are in the last slot. */
struct outline_keys {
    struct outline_key *slot[OUTLINE_SLOTS];
};

/* Colons and closing braces, as far as they have been looked for. */
struct outline_places {
    const char *start, *end; /* between these */
    uint32_t next, n;
    uint64_t in_string;                /* at the end: all bits when a string goes on */
    bool escaped;                      /* the byte there stands behind a backslash */
    uint16_t place[OUTLINE_AHEAD + 8]; /* from the start on, of which `next` is the next one */
};

struct outline {
    struct outline_key *key;
    size_t n;
    /* In the record and in its nested object: the first key, and those behind a comma. */
    struct outline_keys keys[2][2];
    struct outline_places places;
    uint32_t careful; /* records still to be looked at more closely */
    /* Since the layout was judged last: records that were left to the gaps, and new keys. */
    uint32_t failures, learned;
    bool is_off; /* it did not pay */
};

bool outline_init(struct outline *outline);
void outline_free(struct outline *outline);

/* The key or brace at `place`, which is none of those in its slot; `start` is that of the record.
 * NULL when only the grammar can tell. */
struct outline_key *outline_learn(struct outline *outline, const struct record_keys *keys,
                                  const char *start, const char *place, struct outline_key **slot);

/* Whether it pays, after so many records. */
void outline_judge(struct outline *outline, uint32_t records);

#endif
