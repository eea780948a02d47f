/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The clock of the simulated machine: one host thread and three GPU streams per rank.
 *
 * A launch occupies the host thread; its kernel starts when the launch has ended and arrived,
 * the kernel before it on the stream has ended, and the streams it waits for are done.  Only
 * collectives look across ranks, so the caller runs each rank up to a collective, in turn, and
 * then calls timeline_collective() for all of them.
 */
#ifndef GENERATOR_TIMELINE_H
#define GENERATOR_TIMELINE_H

#include "catalog.h"
#include "event.h"
#include "rng.h"

#include <stdbool.h>

/* When the recording starts, true ns since the base of the traces. */
#define TIMELINE_ORIGIN INT64_C(4172833123456000)

enum {
    RANGE_DEPTH = 4,     /* step marker > block > denoising step > one spare */
    LAUNCH_QUEUE = 1024, /* launches the driver takes before the host has to wait */
};

/* A user range that is still open, with what its kernels have covered so far. */
struct range {
    int64_t start;
    int64_t first[STREAM_COUNT], last[STREAM_COUNT]; /* last is 0 while there is none */
    const char *name;
    int number;
    uint32_t external_id, index;
};

/* What the device side of a collective needs until all ranks have arrived. */
struct pending_collective {
    int64_t arrival;
    uint32_t correlation, external_id, range_id;
};

/* What is wrong with the machine or with the recording; all 0 when nothing is. */
struct faults {
    int64_t dispatch_ns;   /* that each operator takes the host more */
    int64_t shift_ns;      /* lag of the device's clock after the host's */
    uint32_t lost_first;   /* so many kernels at the start are not recorded */
    uint32_t lost_of_10;   /* of each ten after them, so many are not recorded */
    uint32_t buffer_every; /* launches after which the profiler needs another buffer */
};

struct rank_clock {
    struct rng rng;
    struct batch batch;
    int64_t host;                /* the host thread is here, true ns */
    int64_t ready[STREAM_COUNT]; /* end of the last work a stream has to do */
    int64_t queue[LAUNCH_QUEUE]; /* start of the last kernels, a ring */
    struct range ranges[RANGE_DEPTH];
    int range_count;
    uint32_t op_external[OP_LEVELS]; /* external ids of the open operators */
    int op_count;
    uint32_t external_ids, correlations, indices, launches;
    int32_t sequence;  /* next autograd number; negative = no_grad */
    int host_permille; /* 1000 = normal host, more = slower */
    struct pending_collective pending;
    int64_t allocated;
    uint32_t collectives[DIM_COUNT]; /* sequence numbers per process group */
    struct faults faults;
    uint32_t kernels;       /* of the compute stream, also those that are not recorded */
    bool buffer_full;       /* the profiler fetches one at the next launch */
    uint64_t last_arrivals; /* collectives that waited for this rank */
};

struct timeline {
    struct rank_clock *ranks;
    int rank_count;
    int kernel_permille; /* duration of a kernel against its table entry */
    int transfer_factor; /* duration of a transfer against the same */
    struct rng shared;   /* for what all ranks share: transfers */
    uint64_t collective_count;
    int64_t window_start;
};

/* False without memory.  late_rank < 0: all hosts are equally fast. */
bool timeline_init(struct timeline *timeline, int ranks, uint64_t seed, int late_rank);
void timeline_free(struct timeline *timeline);

/* As above, of `ranks` ranks from `first` on: each is as it would be among all. */
bool timeline_init_some(struct timeline *timeline, int first, int ranks, uint64_t seed);

/* One operator with its kernels on the compute stream, permille of their usual duration. */
void timeline_op(struct timeline *timeline, struct rank_clock *rank, enum op op, int permille);

/* The driver is asked for memory, which takes the host so long. */
void timeline_malloc(struct rank_clock *rank, int64_t ns);

/* The caching allocator hands out bytes, or takes them back when bytes is negative. */
void timeline_allocate(struct rank_clock *rank, int64_t bytes);

struct copy {
    enum op op;
    enum copy_kind kind;
    enum stream stream;
    int64_t bytes;
    bool synchronize; /* the operator returns when the bytes have arrived */
};

void timeline_copy(struct rank_clock *rank, const struct copy *copy);

/* Later work on stream starts after all work issued so far on after. */
void timeline_wait_stream(struct rank_clock *rank, enum stream stream, enum stream after);

/* The host waits for all work issued so far on stream. */
void timeline_synchronize(struct rank_clock *rank, enum stream stream);

/* All ranks take part; the compute stream of each waits for the end. */
void timeline_collective(struct timeline *timeline, enum collective collective);

/* The same in its two parts, of one rank: up to its arrival (rank->pending), and from the end on.
 */
void timeline_join(struct rank_clock *rank, enum collective collective);
void timeline_leave(struct rank_clock *rank, enum collective collective, int64_t end);

/* number < 0: the name is alone. name must live as long as the timeline. */
void timeline_range_begin(struct rank_clock *rank, const char *name, int number);
void timeline_range_end(struct rank_clock *rank);

/* NCCL's watchdog thread asks once whether a collective has ended. */
void timeline_watchdog(struct rank_clock *rank);

/* When the last thing on the rank ends, host or device. */
int64_t timeline_end(const struct rank_clock *rank);

/* Host threads of a trace, as event.track. */
enum { THREAD_MAIN = 0, THREAD_WATCHDOG = 1 };

#endif
