/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of many texts a line holds, in one pass over its bytes.
 *
 * Aho and Corasick, "Efficient string matching: an aid to bibliographic search", CACM 18 (1975):
 * the automaton whose states are the beginnings of the texts, with a transition for every byte. */
#ifndef TA_BASE_NEEDLES_H
#define TA_BASE_NEEDLES_H

#include "traceanalyze/base.h"

struct ta_needles;

/* A text, and which bit says that it was seen. */
struct ta_needle {
    const char *text; /* not empty */
    unsigned bit;     /* below 64 */
};

/* NULL without memory. */
struct ta_needles *ta_needles_new(const struct ta_needle *list, size_t n);
void ta_needles_free(struct ta_needles *needles);

/* The bits of the texts that are in the line. */
uint64_t ta_needles_in(const struct ta_needles *needles, struct ta_slice line);

#endif
