/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled code that graph breaks split into pieces, for rules: graph_breaks.c names it, others
 * leave the idle time between the pieces to that. */
#ifndef TA_LIB_PIECES_H
#define TA_LIB_PIECES_H

#include <traceanalyze/rule.h>

/* What is read for it, from an enumerator of the rule on, as PIECES_READS(PIECES). */
enum { PIECES_RANK, PIECES_CALLS, PIECES_PER_STEP, PIECES_BREAKS, PIECES_IDLE, PIECES_READ };

#define PIECES_READS(first)                                                                        \
    [(first) + PIECES_RANK] = {"compile.by_rank", "rank"},                                         \
               [(first) + PIECES_CALLS] = {"compile.by_rank", "calls"},                            \
               [(first) + PIECES_PER_STEP] = {"compile.by_rank", "per_step"},                      \
               [(first) + PIECES_BREAKS] = {"compile.by_rank", "breaks"},                          \
               [(first) + PIECES_IDLE] = {"compile.by_rank", "between_idle_ns"}

enum { PIECES_LEAST = 4 }; /* calls in a step from which they count as pieces of one function */

/* Whether the compiled code of a rank is functions in at least so many pieces: about each second
 * call follows a call of another function, as blocks that are compiled one by one do not. */
static inline bool ta_is_in_pieces(const struct ta_refs *in, size_t first, size_t row, double least)
{
    const double calls = ta_ref_number(in, first + PIECES_CALLS, row, 0);
    return ta_ref_number(in, first + PIECES_BREAKS, row, 0) >= 0.4 * calls &&
           ta_ref_number(in, first + PIECES_PER_STEP, row, calls) >= least;
}

/* Idle time between the pieces of a rank; 0 where its code is whole. */
static inline double ta_idle_between_pieces(const struct ta_refs *in, size_t first, int64_t rank)
{
    for (size_t row = 0; row < ta_ref_rows(in, first + PIECES_IDLE); row++)
        if (ta_ref_rank(in, first + PIECES_RANK, row) == rank &&
            ta_is_in_pieces(in, first, row, PIECES_LEAST))
            return ta_ref_number(in, first + PIECES_IDLE, row, 0);
    return 0;
}

#endif
