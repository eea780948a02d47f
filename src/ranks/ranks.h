/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranks of a run next to each other: who entered which collective when, on one clock, and who
 * holds up the others.
 *
 *     map       of each rank and device a pack of its collectives, in the order of time (map.c)
 *     read      packs of all ranks → groups, shapes, communicators, records (read.c)
 *     match     records of several ranks that are one collective (match.c, pairs.c, sequence.c)
 *     align     the clock of each rank against a reference clock (clocks.c)
 *     arrive    who came last, how long the others waited, how long the transfer took (arrivals.c)
 *     compare   own time of each rank against ranks that do the same (stretches.c)
 *     judge     which rank is late, since when, and what it costs (judge.c, often.c, since.c)
 *
 * The pipeline runs the stage once, after partials are merged.  Analyses that set `needs_ranks` get
 * the result in finish(); timelines and merged traces take its clocks. */
#ifndef TA_RANKS_RANKS_H
#define TA_RANKS_RANKS_H

#include "traceanalyze/analysis.h"

struct ta_entry;
struct ta_partial_set;
struct ta_plan;
struct ta_plan_stages;
struct ta_timeline;
struct ta_timeline_file;

/* No record, member or the like. */
#define TA_COLL_NONE UINT32_MAX

/* ---- kinds of collectives (names.c) ---------------------------------------------------------- */

enum ta_coll_kind {
    TA_COLL_ALLREDUCE,
    TA_COLL_ALLGATHER,
    TA_COLL_REDUCE_SCATTER,
    TA_COLL_ALL_TO_ALL,
    TA_COLL_ALL_TO_ALLV, /* each pair of ranks has a size of its own, which may be 0 */
    TA_COLL_BARRIER,
    TA_COLL_BROADCAST,
    TA_COLL_REDUCE,
    TA_COLL_GATHER,
    TA_COLL_SCATTER,
    TA_COLL_SENDRECV,
    TA_COLL_SEND,
    TA_COLL_RECV,
    TA_COLL_OTHER,
    TA_COLL_KINDS
};

/* By the name of an operation ("_allgather_base"), a kernel, or a range ("nccl:all_reduce"). */
enum ta_coll_kind ta_coll_kind_of(struct ta_slice name);
/* "allreduce" …: what the operation is called where no record names it. */
const char *ta_coll_kind_name(enum ta_coll_kind kind);

/* Whether no rank can leave before the last one has entered: only these show offsets of clocks and
 * late ranks. */
static inline bool ta_coll_synchronizes(enum ta_coll_kind kind)
{
    return kind == TA_COLL_ALLREDUCE || kind == TA_COLL_ALLGATHER ||
           kind == TA_COLL_REDUCE_SCATTER || kind == TA_COLL_ALL_TO_ALL || kind == TA_COLL_BARRIER;
}

/* Transfers between two ranks, which are not in the sequence of the group. */
static inline bool ta_coll_is_between_two(enum ta_coll_kind kind)
{
    return kind >= TA_COLL_SENDRECV && kind <= TA_COLL_RECV;
}

/* Whether ranks may have different numbers of elements. */
static inline bool ta_coll_differs_by_rank(enum ta_coll_kind kind)
{
    return kind == TA_COLL_ALL_TO_ALLV || kind == TA_COLL_GATHER || kind == TA_COLL_SCATTER ||
           kind >= TA_COLL_SENDRECV;
}

/* Bytes of the full buffer; TA_MISSING without elements or a known type. */
int64_t ta_coll_bytes(enum ta_coll_kind kind, int64_t in, int64_t out, struct ta_slice dtype);
/* Bytes over the busiest link per byte of the full buffer, for n ranks (nccl-tests). */
double ta_coll_bus_factor(enum ta_coll_kind kind, int64_t n);

/* ---- what was recorded ----------------------------------------------------------------------- */

/* Collectives of a file and device that are kept one by one; the others count as left out. */
enum { TA_COLL_RECORDS_MOST = 32768 };

/* A process group. */
struct ta_coll_group {
    struct ta_slice name, ranks; /* as recorded; empty when not */
    struct ta_slice description;
    bool shares_name; /* with other groups: then `ranks` belongs to the label */
};

/* Calls that look the same. */
struct ta_coll_shape {
    uint32_t group;
    uint32_t communicator;
    uint32_t token; /* equal for records that may be one collective */
    enum ta_coll_kind kind;
    struct ta_slice op; /* as recorded */
    struct ta_slice dtype;
    int64_t in, out; /* elements of the rank */
    int64_t size;    /* ranks of the group, or TA_MISSING */
    int64_t peer;    /* of a transfer between two: the rank at the other end, or TA_MISSING */
    int64_t bytes;
};

/* One collective as one member recorded it. */
struct ta_coll_record {
    int64_t start, end; /* on the clock of the run, as soon as clocks are aligned */
    int64_t before;     /* from the end of the collective before, or the first activity */
    const char *detail; /* the rest of it, in the pack: ta_coll_parts(), ta_coll_detail() */
    uint32_t shape, member, collective, pack;
    int32_t step; /* number of the step (struct ta_program_step), or -1 */
    int32_t seq;  /* in the sequence of its group, as recorded, or -1 */
};

/* ---- what is the same on several ranks ------------------------------------------------------- */

enum ta_clock_state {
    TA_CLOCK_NONE,      /* no collective with others: nothing is known */
    TA_CLOCK_REFERENCE, /* the clock that others are compared with */
    TA_CLOCK_OFFSET,    /* a constant offset */
    TA_CLOCK_DRIFT,     /* offset and drift */
    TA_CLOCK_REFUSED    /* ends differ by more than collectives last */
};

struct ta_rank_clock {
    enum ta_clock_state state;
    uint32_t axis;      /* members of one axis are comparable */
    int64_t offset;     /* to the reference at the member's first common end */
    double drift;       /* ns per ns */
    double uncertainty; /* scaled MAD of the residuals; NAN for fewer than two */
    int64_t origin;     /* that first common end, on the member's own clock */
    size_t n;           /* collectives it rests on */
    bool corrected;     /* the offset is beyond three uncertainties */
};

/* A time of that clock on the clock of the run, once clocks are aligned. */
int64_t ta_rank_clock_time(const struct ta_rank_clock *clock, int64_t time);

/* A device of a rank, or a host without devices. */
struct ta_rank_member {
    int64_t rank, device;
    int64_t began;   /* its recording, on the clock of the run as soon as clocks are aligned */
    size_t first, n; /* its records */
    struct ta_rank_clock clock;
};

/* One collective, on all the members that have it. */
struct ta_collective {
    uint32_t shape;
    uint32_t last;   /* record that came last on the common clock, TA_COLL_NONE when not known */
    int64_t place;   /* in the sequence of its communicator */
    size_t first, n; /* in ta_ranks.entries */
    size_t n_placed; /* of those, on the common clock; what follows is of them, if several */
    int64_t last_start, first_start, median_end;
    int64_t transfer;      /* TA_MISSING when not known */
    int64_t uncertainty;   /* of the clocks, the largest of the members */
    bool is_simultaneous;  /* all came within it */
    bool is_synchronizing; /* its kind: who comes last holds up the others */
};

/* How late a rank is. */
struct ta_late_rank {
    int64_t rank;
    uint32_t axis;
    int64_t n, last;   /* its synchronizing collectives, and those it was the last to enter */
    double lateness;   /* sum */
    int64_t most;      /* lateness */
    int64_t wait;      /* in these collectives */
    int64_t own;       /* before them, since the collective before */
    int64_t host_late; /* of it: idle since the host launched nothing */
    int64_t held_up;   /* time that the others had won if it had come with the second last */
    double own_excess; /* own time beyond its reference peers', where it has any, */
    double reference;  /* and theirs */
    double excess;     /* the one over the other */
    double z;          /* modified z of the excess; NAN of fewer than five ranks */
    double p;          /* of taking longest so often by chance: the smaller tail times ranks */
    bool is_late;      /* verdict */
    /* Of late ranks: */
    bool from_start;  /* late all the time; else since: */
    int64_t since_ns; /* on the common clock, since the first collective */
    int32_t since_step;
    int64_t cost;      /* by which the run would be shorter had it taken as long as its peers */
    int64_t cost_step; /* the same per step of the profiler; TA_MISSING without */
};

struct ta_lateness {
    struct ta_late_rank *at; /* by rank */
    size_t n;
    uint32_t *of; /* rank of each member */
};

struct ta_ranks {
    struct ta_coll_group *groups;
    struct ta_coll_shape *shapes;
    struct ta_communicator *communicators;
    struct ta_rank_member *members; /* by rank, then device */
    struct ta_coll_record *records; /* by member, then start */
    struct ta_collective *collectives;
    uint32_t *order;   /* records by communicator, member, start */
    uint32_t *entries; /* records by collective, member */
    struct ta_coll_stretch *stretches;
    uint32_t *by_stretch;
    uint32_t *reference; /* of each record the peer with the median own time, or TA_COLL_NONE */
    int64_t *excess;     /* own time less the median of its peers' own times, TA_MISSING without */
    struct ta_coll_item *items;
    struct ta_coll_pack *packs;
    struct ta_lateness lateness;
    size_t n_groups, n_shapes, n_communicators, n_members, n_records, n_collectives, n_stretches,
        n_items, n_packs;
    size_t n_unmatched; /* records of groups of several members that have no partner */
    size_t n_axes;
    int64_t left_out;
    bool damaged; /* a pack could not be read */
};

/* ---- questions ------------------------------------------------------------------------------- */

/* How long a record waited for the last one; the rest of it is transfer. */
int64_t ta_coll_wait(const struct ta_collective *collective, const struct ta_coll_record *record);

/* Whether what a record waited for lies before the recording: it was launched before its own
 * recording began, or came before the last rank's recording had begun; or it is the first of both,
 * and they came as far apart as their recordings began. */
bool ta_coll_is_before(const struct ta_ranks *ranks, const struct ta_coll_record *record);

/* The collective of a record when it shows who is late and the record is on the common clock, else
 * NULL. */
const struct ta_collective *ta_coll_synchronizing(const struct ta_ranks *ranks, uint32_t record);

/* The collective of a record when its ranks wait for each other, transfers between two among them,
 * and the record is on the common clock, else NULL. */
const struct ta_collective *ta_coll_with_waits(const struct ta_ranks *ranks, uint32_t record);

/* What a record has besides its times; read from the pack each time, as there are millions of
 * records. */
struct ta_coll_parts {
    int64_t hidden;    /* time of it in which the device computes */
    int64_t host_late; /* of the time before: idle since the host launched nothing */
};

struct ta_coll_parts ta_coll_parts(const struct ta_ranks *ranks,
                                   const struct ta_coll_record *record);

/* What a device, or a host without any, did in the time before a collective. */
enum ta_coll_item_kind {
    TA_COLL_ITEM_KERNEL, /* name: the kernel, within: the operator */
    TA_COLL_ITEM_COPY,   /* name: the copy or memory set, within: the operator or call */
    TA_COLL_ITEM_GAP,    /* name: the cause, within: where the host was */
    TA_COLL_ITEM_HOST,   /* of a rank without devices; name: the operator or call, within: its
                            caller */
    TA_COLL_ITEM_KINDS
};

struct ta_coll_item {
    enum ta_coll_item_kind kind;
    struct ta_slice name, within;
};

/* What is kept of the time before a collective, at most. */
enum { TA_COLL_ITEMS_KEPT = 6 };

/* What the time before a record is made of. */
struct ta_coll_detail {
    size_t n; /* items, the longest first */
    struct {
        const struct ta_coll_item *what;
        int64_t ns;
    } items[TA_COLL_ITEMS_KEPT];
};

void ta_coll_detail(const struct ta_ranks *ranks, const struct ta_coll_record *record,
                    struct ta_coll_detail *detail);

/* A group as people know it; `text` takes what has to be put together. */
enum { TA_COLL_LABEL = 256 };
struct ta_slice ta_coll_label(const struct ta_ranks *ranks, uint32_t group,
                              char text[TA_COLL_LABEL]);

/* ---- the run once more, with something changed (replay.c) ------------------------------------ */

struct ta_replay_change {
    bool no_transfer;        /* transfers take no time */
    bool no_host;            /* the host is never late */
    const bool *like_others; /* members that take as long as their peers; NULL for none */
};

struct ta_replay;

/* NULL without memory; the ranks are borrowed. */
struct ta_replay *ta_replay_open(const struct ta_ranks *ranks);
/* When the last record ends, in ns of the common clock; -INFINITY without records. */
double ta_replay_end(struct ta_replay *replay, const struct ta_replay_change *change);
void ta_replay_close(struct ta_replay *replay);

/* ---- the stage (ranks.c) --------------------------------------------------------------------- */

/* What the stage takes from each trace, as an analysis without finish(). */
extern const struct ta_entry ta_ranks_entry;

/* Both stages, where analyses alone decide whether they run. */
extern const struct ta_plan_stages ta_stages;

/* Settles the stage's partial, whose texts stay borrowed, and makes everything of it.  NULL where
 * the plan does without the stage. */
enum ta_status ta_ranks_run(struct ta_ctx *ctx, const struct ta_plan *plan,
                            struct ta_partial_set *set, const int64_t *final_ranks, size_t n,
                            struct ta_ranks **ranks) TA_MUST_CHECK;
void ta_ranks_free(struct ta_ranks *ranks);

/* Among members that come by rank the one of a rank whose clock rests on most collectives, on the
 * given axis (TA_MISSING: any; it becomes the member's).  NULL where its clock was not compared. */
const struct ta_rank_member *ta_ranks_clock(const struct ta_rank_member *members, size_t n,
                                            int64_t rank, int64_t *axis);

/* Puts the files of a timeline, which come by rank, on the clock of the run if all of them were
 * compared (timeline.c).  False without memory. */
bool ta_ranks_align_timeline(const struct ta_ranks *ranks, struct ta_timeline *timeline,
                             struct ta_timeline_file *files) TA_MUST_CHECK;

#endif
