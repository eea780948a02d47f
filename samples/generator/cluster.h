/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run on many hosts: denoising steps of a video transformer whose ranks are arranged in process
 * groups, with faults whose cost is known.
 *
 * The run is made twice.  First all ranks go side by side from collective to collective, nothing
 * is recorded, and only the end of each collective is kept: 8 bytes per rank and collective.
 * Then each rank runs alone with these ends and is written, so memory does not grow with the
 * number of events and a part of the ranks is written as it would be among all.
 */
#ifndef GENERATOR_CLUSTER_H
#define GENERATOR_CLUSTER_H

#include "output.h"
#include "timeline.h"

/* CLUSTER_WORK: times the tokens of the job of workload.c. */
enum {
    CLUSTER_WORK = 4,
    CLUSTER_MAX_RANKS = 16384,
    CLUSTER_MAX_PARTS = 4,
    CLUSTER_MAX_FAULTS = 16
};

/* ---- what is asked for --------------------------------------------------------------------- */

/* Why a rank is late; shares are of a step. */
enum cause {
    CAUSE_KERNELS,     /* its kernels take longer */
    CAUSE_COPY,        /* each step starts with a copy from pageable memory */
    CAUSE_HOST,        /* each step starts with Python that launches nothing */
    CAUSE_SYNC,        /* the host waits for the device in each layer and then works */
    CAUSE_PSEUDO_FAST, /* as host, while the kernels take a tenth less than on the others */
    CAUSE_ATTENTION,   /* attention alone takes longer */
    CAUSE_THROTTLE,    /* as kernels and twice as much, in every other pair of steps */
    CAUSE_PAUSES,      /* as host and three times as much, in every third step */
    CAUSE_COUNT
};

extern const char *const cause_names[CAUSE_COUNT];

struct straggler {
    int rank;
    enum cause cause;
    int percent, from_step;
    int64_t cost; /* ns that the run is longer because of it; found by planning */
};

struct slow_link {
    int rank, percent; /* what a transfer takes, of the usual */
};

struct lost_collective {
    int rank;
    uint32_t number; /* the n-th that the rank takes part in, from 1 */
};

/* Ranks that are arranged alike; a rank counts tensor ranks first, data last. */
struct part {
    int first, ranks;
    int size[DIM_COUNT], stride[DIM_COUNT];
    int first_group[DIM_COUNT]; /* number of the first process group */
    struct split split;
};

struct rank_facts {
    bool missing, duplicate, lost_kernels;
    unsigned lacking; /* collective_field */
};

struct cluster {
    int ranks, ranks_per_host, steps, layers;
    uint64_t seed;
    int64_t clock_ahead, clock_ppb; /* of a host at most, either way */
    struct part parts[CLUSTER_MAX_PARTS];
    int part_count;
    struct straggler stragglers[CLUSTER_MAX_FAULTS];
    int straggler_count;
    struct slow_link slow_links[CLUSTER_MAX_FAULTS];
    int slow_link_count;
    struct lost_collective lost_collectives[CLUSTER_MAX_FAULTS];
    int lost_collective_count;
    struct rank_facts *facts;
    int first_rank, last_rank; /* that are written */
    int64_t step_ns;           /* what a step takes without faults; found by planning */
};

/* ---- layout -------------------------------------------------------------------------------- */

/* Reads "tp=2,sp=4,ring=2,cfg=2/sp=8": the parts share the ranks evenly, and what is left over
 * within a part is data parallel.  False after a message. */
bool cluster_arrange(struct cluster *cluster, const char *groups);

const struct part *cluster_part(const struct cluster *cluster, int rank);

/* Position of a rank along a dimension of its part. */
int part_position(const struct part *part, enum dimension dimension, int rank);

/* Ranks that share everything but this dimension with the rank, ascending along it; how many. */
int cluster_group(const struct cluster *cluster, enum dimension dimension, int rank, int *ranks);

/* Which of the groups of this dimension in the whole run: the number that PyTorch calls it by. */
int cluster_group_number(const struct cluster *cluster, enum dimension dimension, int rank);

extern const char *const dimension_names[DIM_COUNT];

/* Of the host of a rank. */
struct clock_error cluster_clock(const struct cluster *cluster, int host);

/* ---- the run ------------------------------------------------------------------------------- */

struct plan {
    int ranks;
    size_t slots;      /* collectives of the program; not all ranks take part in all of them */
    int64_t *ends;     /* slots × ranks */
    int64_t *waited;   /* per rank, ns in collectives until the last one came */
    uint64_t *last;    /* per rank, collectives that waited for it */
    uint64_t *joined;  /* per rank, collectives */
    int64_t *step_end; /* per step, of the last rank */
    int64_t start, end;
};

/* Makes the whole run without recording it, and finds what each straggler costs.  False without
 * memory; plan_free() is due in either case. */
bool cluster_plan(struct cluster *cluster, struct plan *plan);
void plan_free(struct plan *plan);

/* Receives what a rank has recorded since the last call. */
typedef void cluster_flush(void *context, const struct batch *batch);

/* Makes one rank of the planned run.  False without memory. */
bool cluster_record(const struct cluster *cluster, const struct plan *plan, int rank,
                    cluster_flush *flush, void *context);

/* ---- files --------------------------------------------------------------------------------- */

struct cluster_output {
    const char *folder;
    enum layout layout;
    int gzip_level, jobs;
};

/* The traces of the ranks asked for.  False after a message. */
bool cluster_write(const struct cluster *cluster, const struct plan *plan,
                   const struct cluster_output *output);

/* JSON of what was planted and what it did.  False after a message. */
bool cluster_write_truth(const struct cluster *cluster, const struct plan *plan, const char *path);

/* "traceanalyze-generate cluster"; returns the exit status. */
int cluster_main(int argc, char **argv);

#endif
