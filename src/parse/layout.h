/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learned layout: records of one writer differ in their values, hardly in what stands between.
 *
 *     {"ph": "X", "name": "aten::mm", "ts": 17.2, "args": {"External id": 9}}
 *     ▔▔▔▔▔▔▔   ▔▔▔▔▔▔▔▔▔▔          ▔▔▔▔▔▔▔▔    ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔ ▔▔
 * The text between two values is a gap.  Each gap is tokenized once by the grammar (record.h),
 * remembered with what it leads to (a wanted field, an unwanted one, the end of the record), and
 * afterwards recognized by comparing its bytes.  Every gap remembers the gaps that followed it
 * last, so the next one is nearly always found at the first or second try.  Nothing is guessed:
 * every byte is compared, and whatever does not match is tokenized.  Real traces have 50 to 85
 * gaps, and one every 40 events is not where it was expected; where many are new the layout is
 * switched off for a while, and where they come in no order none is expected.
 *
 * It knows no producer: any order of keys, any white space and any nesting of the wanted object
 * is learned alike.
 *
 * layout.c learns gaps and chooses the instruction set, layout_scan.h recognizes them; it is
 * compiled once for each instruction set. */
#ifndef TA_PARSE_LAYOUT_H
#define TA_PARSE_LAYOUT_H

#include "parse/record.h"

enum {
    GAPS_MAX = 1024,
    GAP_BYTES = 64,
    GAPS_AFTER = 3,
    GAP_BUCKETS = 1024,
    LAYOUT_JUDGED_AFTER = 4096, /* records */
};

enum gap_place { OUTSIDE, IN_RECORD, IN_NESTED };

struct gap {
    _Alignas(64) char text[GAP_BYTES];
    uint64_t mask; /* a bit for each byte */
    uint8_t length;
    bool turns;          /* something opens, closes or ends in it: more to do than to move on */
    uint8_t slot;        /* value that follows: field, TA_RECORD_FIELDS + nested key, or NO_KEY */
    uint8_t opens;       /* where the nested object opens in the text, plus one; 0: it does not */
    uint8_t closes;      /* where it has closed, plus one; 0: it does not */
    uint8_t from, to;    /* enum gap_place of what stands before it, and behind */
    bool ends;           /* the record ends with this gap */
    bool is_wanted;      /* the value behind it */
    uint16_t token;      /* where that goes in struct ta_record, in bytes */
    uint32_t width;      /* of the last one */
    uint64_t nested_bit; /* its bit in has_nested */
    struct gap *next[GAPS_AFTER]; /* gaps that followed, the most recent first; or no_gap */
    struct gap *chain;            /* another one in the same bucket */
};

struct layout;

/* record_scan() by the learned layout: the same tokens, notes and end.  SCAN_MORE as there.
 * SCAN_BAD means that this record is not for it: call record_scan() from the start, which finds
 * the error, if there is one. */
typedef enum scan_result layout_scan_fn(struct layout *layout, const struct record_keys *keys,
                                        struct scan *scan, struct ta_record *record);

struct layout {
    layout_scan_fn *scan; /* of the instruction set; NULL: no layout is wanted */
    struct gap *gaps;
    size_t n;
    struct gap *opening; /* before the first gap of a record: has no text, but followers */
    struct gap *no_gap;  /* stands for none: a control character, a syntax error anyway */
    struct gap *passing; /* tokenized but too long to be remembered; good until the next one */
    struct gap *bucket[GAP_BUCKETS]; /* by the first key in their text; the first without one */
    bool in_order;                   /* gaps follow each other as they did before, mostly */
    uint32_t records;                /* since the layout was judged last */
    uint32_t searches;               /* of gaps that were not where they were expected */
    uint32_t misses;                 /* of them new ones */
    uint32_t off;                    /* records to scan without the layout */
};

/* `cpu` as in --cpu (cpu.h), NULL for the best.  There is no layout for limits of numbers below 32
 * bytes, which only the grammar looks at.  False without memory. */
bool layout_init(struct layout *layout, const char *cpu, size_t number_limit);
void layout_free(struct layout *layout);

/* Judges the layout by its misses: it may be switched off for a while, or expect no order. */
void layout_judge(struct layout *layout);

/* Whether the layout is worth trying now. */
static inline bool layout_on(struct layout *layout)
{
    if (layout->off == 0) {
        if (++layout->records == LAYOUT_JUDGED_AFTER)
            layout_judge(layout);
        return layout->scan != NULL;
    }
    layout->off--;
    return false;
}

/* Of layout_scan.h: the gap at the cursor, which is neither of the first two that followed
 * `before`. Tokenizes and remembers it when it is none of the others either; puts it first, and
 * moves the cursor behind it.  NULL with *why set when the record is not for the layout. */
struct gap *layout_find(struct layout *layout, const struct record_keys *keys, struct scan *scan,
                        struct gap *before, enum scan_result *why);

layout_scan_fn layout_scan_avx2, layout_scan_sse2, layout_scan_scalar;

/* The scanner of an instruction set (cpu.h); NULL for "none". */
layout_scan_fn *ta_cpu_scanner(const char *name);

#endif
