/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a span outwards: the nearest of it and the spans around it that is of some kind.
 *
 * Stacks of Python are a hundred deep, stacks of a hostile file as deep as it is long, and the
 * spans at their ends have most of them in common.  So a walk remembers what it found at every 64th
 * row of the trace that it passed, and a later one goes no farther than that. */
#ifndef TA_LIB_OUTWARD_H
#define TA_LIB_OUTWARD_H

#include <traceanalyze/base.h>
#include <traceanalyze/model.h>

/* Zero-initialize but for `parent`.  Of one kind of span. */
struct ta_outward {
    const ta_row *parent; /* of the spans of a trace */
    struct ta_map known;  /* what was found, by row */
};

enum { TA_OUTWARD_EVERY = 64 };

/* Frees what was remembered. */
void ta_outward_free(struct ta_outward *walk);

/* Remembers what was found from `from` on.  Without memory it is found again each time. */
void ta_outward_remember(struct ta_outward *walk, ta_row from, ta_row found);

typedef bool ta_outward_is(void *user, ta_row row);

/* The nearest span from `row` on, itself included, of which `is` is true; TA_NO_ROW without any, or
 * of TA_NO_ROW.  O(1) on average. */
static inline __attribute__((always_inline)) ta_row
ta_outward_find(struct ta_outward *walk, ta_row row, ta_outward_is *is, void *user)
{
    const ta_row from = row;
    bool is_long = false;
    for (; row != TA_NO_ROW && !is(user, row); row = walk->parent[row]) {
        if (row % TA_OUTWARD_EVERY)
            continue;
        const uint64_t *known = ta_map_find(&walk->known, row);
        if (known) {
            row = (ta_row)*known;
            break;
        }
        is_long = true;
    }
    if (is_long)
        ta_outward_remember(walk, from, row);
    return row;
}

#endif
