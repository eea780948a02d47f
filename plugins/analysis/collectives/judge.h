/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rank holds up the others, and what it costs. */
#ifndef COLLECTIVES_JUDGE_H
#define COLLECTIVES_JUDGE_H

#include "collectives.h"

struct coll_rank {
    int64_t rank;
    uint32_t axis;
    int64_t n, last;           /* its telling collectives, and those it was the last to enter */
    double chance;             /* of being last in each, were all ranks alike: sum of 1/ranks */
    int64_t n_long, last_long; /* the same of those with the longest waits */
    double chance_long;
    double lateness;   /* sum */
    int64_t most;      /* lateness */
    int64_t wait;      /* in these collectives */
    int64_t own;       /* before them, since the collective before */
    int64_t host_late; /* of it: idle since the host launched nothing */
    int64_t held_up;   /* time that the others had won if it had come with the second last */
    double excess;     /* own time per collective over the median of the other ranks, less 1 */
    double z;          /* modified z of the own time; NAN of fewer than five ranks */
    double p;          /* of being last so often by chance, of all collectives or of those that had
                          to wait long: the smaller one times 2 and ranks, at most 1 */
    bool is_late;      /* verdict */
    /* Of late ranks: */
    bool from_start;  /* late all the time; else since: */
    int64_t since_ns; /* on the common clock, since the first collective */
    int32_t since_step;
};

struct coll_ranks {
    struct coll_rank *at; /* by rank */
    size_t n;
    uint32_t *of; /* rank of each member */
};

/* False without memory; coll_ranks_free() all the same. */
bool coll_judge(const struct coll_run *run, struct coll_ranks *ranks);
void coll_ranks_free(struct coll_ranks *ranks);

#endif
