/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How alike two names are. */
#ifndef TA_DIFF_LIKENESS_H
#define TA_DIFF_LIKENESS_H

#include "traceanalyze/arena.h"

/* What is taken out of a name before names are compared. */
enum diff_level {
    DIFF_NUMBERS,  /* addresses, hashes, running numbers and sizes of tiles */
    DIFF_ARGUMENTS /* and what stands in <…> and (…): arguments of templates and functions */
};

/* The name without that, in the arena; empty without memory. */
struct ta_slice diff_normalize(struct ta_arena *arena, struct ta_slice name, enum diff_level level);

/* The name as people say it: without arguments and the type it returns, cut to `most` bytes. */
struct ta_slice diff_short_name(struct ta_arena *arena, struct ta_slice name, size_t most);

/* Jaccard index of the sets of words of two names: those in both over those in either, 0…1.  Words
 * are runs of letters or of digits, without regard to case but where a capital letter begins one;
 * names of scopes ("aten::") do not count. */
double diff_likeness(struct ta_slice a, struct ta_slice b);

#endif
