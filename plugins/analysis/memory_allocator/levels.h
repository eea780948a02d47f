/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each call site held over the history of a device, at the highest moment of each stretch. */
#ifndef TA_MEMORY_ALLOCATOR_LEVELS_H
#define TA_MEMORY_ALLOCATOR_LEVELS_H

#include "replay.h"

/* The sites that are told apart: those that hold most at any of these moments.  The first of all
 * is what was alive before the history, the last is everything else. */
enum { LEVELS_NAMED = 5, LEVELS_BEFORE = 0, LEVELS_REST = LEVELS_NAMED + 1, LEVELS };

struct levels {
    size_t step, n;                /* entries of a stretch, stretches */
    struct ta_slice names[LEVELS]; /* empty for the first, the rest, and where fewer are */
    int64_t (*bytes)[LEVELS];      /* n: of the blocks; together the highest level */
    bool failed;
};

/* Who asked for a block. */
typedef struct ta_slice level_site(void *user, uint32_t frames, bool known);

/* In stretches of `step` entries; free with levels_free(). */
struct levels levels_of(const struct replay *replay, size_t step, level_site *site, void *user);
void levels_free(struct levels *levels);

#endif
