/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learned layout: records of one writer differ in their values, hardly in the text between
 * them.
 *
 *     {"ph": "X", "name": "aten::mm", "ts": 17.2, "args": {"External id": 9}}
 *     ▔▔▔▔▔▔▔   ▔▔▔▔▔▔▔▔▔▔          ▔▔▔▔▔▔▔▔    ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔ ▔▔
 * The text between two values is a gap. Each gap is tokenized once by the grammar (record.h),
 * remembered with what it leads to (a wanted field, an unwanted one, the end of the record), and
 * afterwards recognized by comparing its bytes. Every gap remembers the gaps that followed it last
 * in records of the same kind, which is given by their first gap; so the next one is nearly always
 * found at the first or second try. Nothing is guessed: every byte is compared, and whatever does
 * not match is tokenized. Real traces have 50 to 85 gaps; where many are new the layout is switched
 * off for a while, and where they come in no order none is expected for a while: then each is
 * looked up by its keys.
 *
 * Where a value has been the same again and again after a gap, as the "X" above, the gap, the value
 * and the gap after it are fused into one longer gap, which has the value's token as a piece. It is
 * tried before the plain one, so what is constant costs no more than comparing its bytes. Fused
 * gaps can be fused further: events of Kineto end up with six.
 *
 * It knows no producer: any order of keys, any white space and any nesting of the wanted object is
 * learned alike.
 *
 * layout.c learns gaps and chooses the instruction set, layout_fuse.c fuses them, layout_bucket.h
 * finds one by its keys and layout_scan.h recognizes them in records; these are compiled once for
 * each instruction set. */
#ifndef TA_PARSE_LAYOUT_H
#define TA_PARSE_LAYOUT_H

#include "parse/json/record.h"
#include "parse/json/vector.h"

#include <stddef.h>

enum {
    GAPS_MAX = 1024,
    GAP_BYTES = 128,
    GAPS_AFTER = 6,
    GAP_KINDS = 16, /* of records, by their first gap */
    GAP_PIECES = 8,
    GAP_BUCKETS = 1024,
};

enum gap_place { OUTSIDE, IN_RECORD, IN_NESTED };

/* A wanted value in the text of a fused gap. */
struct piece {
    uint64_t rest;  /* of its struct ta_token after the address */
    uint16_t token; /* where it goes in struct ta_record, in bytes */
    uint8_t at;     /* in the text */
};

/* What follows the address in a token, at once. */
static inline uint64_t layout_rest(const struct ta_token *token)
{
    uint64_t rest;
    _Static_assert(offsetof(struct ta_token, known) + 1 - offsetof(struct ta_token, len) ==
                       sizeof rest,
                   "a token is an address and eight bytes");
    memcpy(&rest, &token->len, sizeof rest);
    return rest;
}

struct gap {
    _Alignas(64) char text[GAP_BYTES];
    uint64_t nested; /* bits in has_nested of its pieces and the value after it */
    uint32_t mask;   /* vector_mask() of the text */
    uint32_t width;  /* of the last value after it */
    uint16_t fields; /* bits in has_field, as `nested` */
    uint16_t token;  /* where the value goes in struct ta_record, in bytes */
    uint8_t length;
    bool turns;       /* something opens, closes or ends in it, or it has pieces: more to do */
    bool is_wanted;   /* the value after it */
    bool is_object;   /* it may be the nested object */
    bool ends;        /* the record ends with this gap */
    bool is_wrong;    /* means none */
    uint8_t opens;    /* where the nested object opens in the text, plus one; 0: it does not */
    uint8_t closes;   /* where it has closed, plus one; 0: it does not */
    uint8_t from, to; /* enum gap_place of what comes before it, and after */
    uint8_t n_pieces;
    uint8_t kind; /* of a record that begins with it */
    struct piece piece[GAP_PIECES];
    /* Gaps that followed in records of a kind, the most recent first; or no_gap. */
    struct gap *next[GAP_KINDS][GAPS_AFTER];
    struct gap
        *begins[GAPS_AFTER]; /* of a record's first gap: the gaps of the records that followed */
    struct gap *chain;       /* another one in the same bucket */
};

/* Whether a gap begins with another one, and so has to be tried before it. */
static inline bool layout_is_longer(const struct gap *gap, const struct gap *other)
{
    return gap->length > other->length &&
           vector_matches(gap->text, other->text, other->length, other->mask);
}

struct layout;

/* record_scan() by the learned layout: the same tokens, notes and end.  SCAN_MORE as there.
 * SCAN_BAD means that this record is not for it: call record_scan() from the start, which finds
 * the error, if there is one. */
typedef enum scan_result layout_scan_fn(struct layout *layout, const struct record_keys *keys,
                                        struct scan *scan, struct ta_record *record);

/* A gap that was seen in a record, and the value after it. */
struct step {
    struct gap **next; /* the list that it was in */
    const struct gap *gap;
    const char *start;     /* of the gap */
    struct ta_token value; /* absent when it was not plain */
};

enum { STEPS_MAX = 64, TALLIES = 2048, KNOWN_MAX = 255, KNOWN_TEXT = 32 };

/* What layout_fuse.c watches and knows. */
struct fusing {
    uint32_t left; /* records to watch */
    size_t n_steps, n_fused, n_known;
    uint8_t n_kinds;
    struct step step[STEPS_MAX];
    struct {
        uint64_t key;
        uint32_t count;
    } tally[TALLIES];
    struct {
        char text[KNOWN_TEXT];
        uint8_t length;
    } known[KNOWN_MAX]; /* by ta_token.known, less one */
};

struct layout {
    layout_scan_fn *scan; /* of the instruction set; NULL: no layout is wanted */
    struct gap *gaps;
    size_t n;
    struct gap *opening; /* before the first gap of all: has no text, but followers */
    struct gap *first;   /* of the last record */
    struct gap *no_gap;  /* means none: a control character, a syntax error anyway */
    struct gap *passing; /* tokenized but too long to be remembered; good until the next one */
    struct gap *bucket[GAP_BUCKETS]; /* by the first key in their text; the first without one */
    uint32_t records;                /* since the layout was judged last */
    uint32_t searches;               /* of gaps that were not where they were expected */
    uint32_t misses;                 /* of them new ones */
    uint32_t unordered; /* times to judge it until an order of gaps is expected again; 0: now */
    uint32_t off;       /* records to scan without the layout */
    struct fusing fusing;
};

/* `cpu` as in --cpu (cpu.h), NULL for the best.  There is no layout for limits of numbers below 32
 * bytes, which only the grammar looks at.  False without memory. */
bool layout_init(struct layout *layout, const char *cpu, size_t number_limit);
void layout_free(struct layout *layout);

/* Records after which the layout is judged. */
enum { LAYOUT_JUDGED = 4096 };

/* Judges the layout by its misses: it may be switched off for a while, or expect no order. */
void layout_judge(struct layout *layout);

/* Whether the layout is worth trying now. */
static inline bool layout_on(struct layout *layout)
{
    if (layout->off == 0) {
        if (++layout->records == LAYOUT_JUDGED)
            layout_judge(layout);
        return layout->scan != NULL;
    }
    layout->off--;
    return false;
}

/* Of layout_scan.h: the gap at the cursor, after what is `from` (enum gap_place), which is none of
 * the list `next`.  Tokenizes and remembers it when it is not known; puts it first in the list, and
 * moves the cursor past it.  NULL with *why set when the record is not for the layout. */
struct gap *layout_find(struct layout *layout, const struct record_keys *keys, struct scan *scan,
                        uint8_t from, struct gap **next, enum scan_result *why);

/* Of layout_scan.h: what was found at the cursor, and after it white space instead of a value, was
 * only the beginning of a gap.  Learns the whole one, which comes before it from now on. */
void layout_lengthen(struct layout *layout, const struct record_keys *keys, struct scan *scan,
                     uint8_t from, struct gap **next);

/* The gap of this text after `from`, if it is known; any order of learning. */
struct gap *layout_find_slowly(struct layout *layout, const char *text, size_t length,
                               uint8_t from);

/* A new gap like `made`, whose text and length are set here.  NULL when there is no room. */
struct gap *layout_add(struct layout *layout, const struct gap *made, const char *text,
                       size_t length);

/* Puts a gap first in a list of followers. */
void layout_put_first(struct gap **next, struct gap *gap);

/* Of layout_scan.h, while fusing.left: begins a record; takes note of a gap and the value after
 * it, NULL when none is; fuses what came often enough in the record that has ended. */
void layout_watch(struct layout *layout);
void layout_note(struct layout *layout, struct gap **next, const struct gap *gap, const char *start,
                 const struct ta_token *value);
void layout_fuse(struct layout *layout);

layout_scan_fn layout_scan_avx2, layout_scan_sse2, layout_scan_scalar;

/* The scanner of an instruction set (cpu.h); NULL for "none". */
layout_scan_fn *ta_cpu_scanner(const char *name);

#endif
