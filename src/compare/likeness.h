/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How alike two names are. */
#ifndef TA_COMPARE_LIKENESS_H
#define TA_COMPARE_LIKENESS_H

#include "traceanalyze/base.h"

/* What is taken out of a name before names are compared. */
enum diff_level {
    DIFF_NUMBERS,  /* addresses, hashes, running numbers, sizes of tiles, vendors of runtimes */
    DIFF_ARGUMENTS /* and the text in <…> and (…): arguments of templates and functions */
};

/* The name without that, in the arena; empty without memory. */
struct ta_slice diff_normalize(struct ta_arena *arena, struct ta_slice name, enum diff_level level);

/* The words of a name, by their hashes: runs of letters or of digits, without regard to case but
 * where a capital letter begins one; names of scopes ("aten::") do not count. */
struct diff_words {
    const uint64_t *at; /* ascending, each once */
    size_t n;
};

/* The words of a name, in the arena; none without memory. */
struct diff_words diff_words_of(struct ta_arena *arena, struct ta_slice name);

/* Jaccard index of two sets of words: those in both over those in either, 0…1. */
double diff_likeness(struct diff_words a, struct diff_words b);

#endif
