/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which collective of one rank is which of another. */
#ifndef TA_RANKS_MATCH_H
#define TA_RANKS_MATCH_H

#include "ranks/stage.h"

struct matching {
    struct ta_ranks *ranks;
    uint32_t *places; /* work */
    size_t max_collectives, max_places;
};

/* Adds a collective like a record, at a place of its communicator.  False without memory. */
bool match_add(struct matching *m, uint32_t record, int64_t place);
/* Room for `n` places. */
bool match_reserve(struct matching *m, size_t n);

/* Matches what one rank sends with what another receives.  False without memory. */
bool match_pairs(struct matching *m, const struct ta_communicator *comm);

/* The records of a communicator that one member has, in the order of time. */
struct sequence {
    const struct ta_ranks *ranks;
    const uint32_t *at; /* of the run's records */
    size_t n;
};

/* For each of `other` the place in `base` that is the same collective, or TA_COLL_NONE.  By tokens
 * alone where they leave no choice: in the order that they have, or the longest common subsequence.
 * Where several shifts fit, such as for the equal steps of a loop of which one rank recorded more,
 * the one with which the ends of both keep their distance.  False without memory. */
bool sequence_align(const struct sequence *base, const struct sequence *other, uint32_t *places);

#endif
