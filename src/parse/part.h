/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One stream read in parts, side by side, with the result of reading it in one go.
 *
 *     ┌──── part 0 ────┐┌──── part 1 ────┐┌──── part 2 ────┐
 *     {"traceEvents": [ {…}, {…}, … {…}, {…}, … {…}, {…} ], "distributedInfo": … }
 *                                  ▲              ▲   cut: any opening brace
 *                                   ▲              ▲  start: the first record found from there on
 *
 * Whoever reads part i > 0 guesses: it looks from its cut for the first object that could be a
 * record, its start, and assumes that there the walk stands between two records of the one array.
 * The part before reads on until it comes to that start, and only then is the guess right or wrong:
 * right when it stands exactly there, in the state that was assumed.  Then everything behind goes
 * as if it had read it itself, and it stops.  Otherwise it reads on, through the part and to the
 * start of the next one.
 *
 * Which parts are used depends on the bytes alone and not on the order of threads: a reader that
 * comes to a cut waits until the start behind it is known. */
#ifndef TA_PARSE_PART_H
#define TA_PARSE_PART_H

#include "traceanalyze/base.h"

#include <pthread.h>
#include <stdatomic.h>

/* A start that is not known yet, and that of a part without any. */
#define TA_PART_UNKNOWN UINT64_MAX
#define TA_PART_NONE (UINT64_MAX - 1)

/* What the parts of one stream share. */
struct ta_part_board {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a start is known */
};

struct ta_part {
    /* Before reading starts; a whole stream is a part without a board and without a next one. */
    struct ta_part_board *board;
    struct ta_part *next;
    uint64_t cut;   /* where its reader begins; 0: at the beginning, with nothing guessed */
    bool in_object; /* guess: the array is a member of an object */
    /* While it is read; the walk looks up when it comes to the border. */
    atomic_uint_fast64_t border;
    atomic_bool passed;    /* the first part read on beyond its start: nobody needs it */
    uint64_t start;        /* guarded by the lock */
    struct ta_part *ahead; /* the part that the border belongs to */
    /* Afterwards. */
    struct ta_part *reached; /* the part at whose start reading stopped; NULL: at the end */
    bool taken;              /* the walk over it was made */
    bool unsure;             /* what was found depends on what lies before the cut */
    uint64_t attempts;       /* bytes scanned by failed attempts to resume */
};

bool ta_part_board_init(struct ta_part_board *board);
void ta_part_board_free(struct ta_part_board *board);

/* Makes `n` parts of one stream, the first at 0 and the others at the cuts behind; the caller may
 * set what they guess. */
void ta_parts_init(struct ta_part *parts, size_t n, struct ta_part_board *board,
                   const uint64_t *cuts);

/* Says where a part starts, unless that was said before. */
void ta_part_announce(struct ta_part *part, uint64_t start);

/* The walk stands at or behind the border: at the start of the part ahead?  `as_guessed` says that
 * it stands there in the state that the part assumed.  True when reading this part ends here. */
bool ta_part_at_border(struct ta_part *part, uint64_t place, bool as_guessed);

static inline uint64_t ta_part_border(const struct ta_part *part)
{
    return atomic_load_explicit(&part->border, memory_order_relaxed);
}

#endif
