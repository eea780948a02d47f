/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All ranks of a cluster side by side, or one of them alone with the ends that are planned. */
#ifndef GENERATOR_CLUSTER_CREW_H
#define GENERATOR_CLUSTER_CREW_H

#include "cluster.h"

struct crew {
    const struct cluster *cluster;
    struct timeline timeline;
    int first, count;
    const struct plan *known; /* NULL while planning */
    struct plan *plan;        /* while planning; ends may be NULL */
    size_t capacity;          /* slots of the plan */
    int64_t *arrivals;        /* while planning, per rank of the cluster */
    struct rng transfers;
    struct batch scratch;    /* while planning, what ranks record and nobody reads */
    uint64_t joined;         /* collectives of a rank that is recorded */
    const struct part *part; /* of the rank that runs */
    size_t slot;
    int step;
    bool failed;
};

/* The rank at a place of the crew, and the end of what it does now. */
struct rank_clock *crew_enter(struct crew *crew, int i);
void crew_leave(struct crew *crew, struct rank_clock *rank);

/* All who take part in the next collective of the program arrive and leave; round counts the
 * transfers of a ring. */
void crew_meet(struct crew *crew, enum collective what, int round);

#endif
