/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rank holds up the others, and what it costs. */
#ifndef COLLECTIVES_JUDGE_H
#define COLLECTIVES_JUDGE_H

#include "collectives.h"

struct coll_rank {
    int64_t rank;
    uint32_t axis;
    int64_t n, last;    /* its telling collectives, and those it was the last to enter */
    double lateness;    /* sum */
    int64_t most;       /* lateness */
    int64_t wait;       /* in these collectives */
    int64_t own;        /* before them, since the collective before */
    int64_t host_late;  /* of it: idle since the host launched nothing */
    int64_t held_up;    /* time that the others had won if it had come with the second last */
    double more, usual; /* own time beyond that of its peers, and theirs, where it has any */
    double excess;      /* the one over the other */
    double z;           /* modified z of the excess; NAN of fewer than five ranks */
    double p;           /* of taking longest so often by chance: the smaller tail times ranks */
    bool is_late;       /* verdict */
    /* Of late ranks: */
    bool from_start;  /* late all the time; else since: */
    int64_t since_ns; /* on the common clock, since the first collective */
    int32_t since_step;
    int64_t cost;      /* by which the run would be shorter had it taken as long as its peers */
    int64_t cost_step; /* the same per step of the profiler; TA_MISSING without */
};

struct coll_ranks {
    struct coll_rank *at; /* by rank */
    size_t n;
    uint32_t *of; /* rank of each member */
};

/* False without memory; coll_ranks_free() all the same. */
bool coll_judge(const struct coll_run *run, struct coll_ranks *ranks);
/* The steps of coll_judge(), each after the one before. */
bool coll_weigh(const struct coll_run *run, struct coll_ranks *ranks); /* p, of one rank */
bool coll_date(const struct coll_run *run, struct coll_ranks *ranks);  /* since when */
bool coll_cost(const struct coll_run *run, struct coll_ranks *ranks);

void coll_ranks_free(struct coll_ranks *ranks);

#endif
