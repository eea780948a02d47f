/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learned layout: records of one writer differ in their values, hardly in what stands between.
 *
 * The text between two values, such as `, "tid": `, is a gap.  Each gap is tokenized once,
 * remembered with what it leads to (a wanted field, an unwanted one, the end of the record), and
 * afterwards recognized by comparing its bytes.  Every gap remembers the two gaps that followed it
 * last, so the next one is nearly always found at the first or second try.  Nothing is guessed:
 * every byte is compared, and whatever does not match is tokenized.  Real traces have 50 to 85
 * gaps and 0.04 misses per event; where there are many, the layout is switched off for a while.
 *
 * It knows no producer: any order of keys, any white space and any nesting of the wanted object
 * is learned alike. */
#ifndef TA_PARSE_LAYOUT_H
#define TA_PARSE_LAYOUT_H

#include "parse/record.h"

enum { GAPS_MAX = 256, GAP_BYTES = 64, NO_GAP = 0xffff };

struct gap {
    char text[GAP_BYTES];
    uint8_t length;
    uint8_t chunks; /* of 16 bytes; the last one is compared under the mask */
    uint16_t last_mask;
    uint8_t slot;     /* value that follows: field, TA_RECORD_FIELDS + nested key, or NO_KEY */
    uint8_t opens;    /* where the nested object opens in the text, plus one; 0: it does not */
    uint8_t closes;   /* where it has closed, plus one; 0: it does not */
    bool from_nested; /* the value before stands inside the nested object */
    bool nested;      /* the value behind does */
    bool ends;        /* the record ends with this gap */
    uint16_t next[2]; /* gaps that followed, the most recent first */
};

struct layout {
    struct gap *gaps;
    uint16_t n;
    uint16_t first; /* the gap that opened the last record */
    uint32_t hits, misses;
    uint32_t off; /* records to scan without the layout */
};

bool layout_init(struct layout *layout);
void layout_free(struct layout *layout);

/* record_scan() by the learned layout: the same tokens, notes and end.  SCAN_MORE as there.
 * SCAN_BAD means that this record is not for it: call record_scan() from the start, which finds
 * the error, if there is one. */
enum scan_result layout_scan(struct layout *layout, const struct record_keys *keys,
                             struct scan *scan, struct ta_record *record);

/* Whether the layout is worth trying now. */
static inline bool layout_on(struct layout *layout)
{
    if (layout->off == 0)
        return true;
    layout->off--;
    return false;
}

#endif
