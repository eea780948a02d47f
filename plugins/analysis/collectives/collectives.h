/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collectives over all ranks: who entered each one when, on one clock.
 *
 *     map      per rank and device a pack of its collectives, in the order of time (map.c)
 *     read     the packs of all ranks become a run: shapes, lanes, records (read.c)
 *     match    records of ranks that are one collective become an instance (match.c)
 *     clocks   the clock of each rank against that of one of them (clocks.c)
 *     arrivals who came last, how long the others waited, how long the transfer took (arrivals.c)
 *     compare  own time of each rank beside ranks that do the same (stretches.c)
 *
 * Tables are made from that (collectives.c, ranks.c).  A member is a device of a rank. */
#ifndef COLLECTIVES_COLLECTIVES_H
#define COLLECTIVES_COLLECTIVES_H

#include "base/pack.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

#define COLL_NONE UINT32_MAX

/* ---- what names tell (names.c) --------------------------------------------------------------- */

enum coll_kind {
    COLL_ALLREDUCE,
    COLL_ALLGATHER,
    COLL_REDUCE_SCATTER,
    COLL_ALL_TO_ALL,
    COLL_ALL_TO_ALLV, /* with sizes of their own for each pair of ranks, 0 among them */
    COLL_BARRIER,
    COLL_BROADCAST,
    COLL_REDUCE,
    COLL_GATHER,
    COLL_SCATTER,
    COLL_SENDRECV,
    COLL_SEND,
    COLL_RECV,
    COLL_OTHER,
    COLL_KINDS
};

/* Of the name of an operation ("_allgather_base"), a kernel, or a range ("nccl:all_reduce"). */
enum coll_kind coll_kind_of(struct ta_slice name);
/* "allreduce" …: what the operation is called where no record names it. */
const char *coll_kind_name(enum coll_kind kind);

/* Whether no rank can leave before the last one has entered: only these tell about clocks and late
 * ranks. */
static inline bool coll_is_even(enum coll_kind kind)
{
    return kind == COLL_ALLREDUCE || kind == COLL_ALLGATHER || kind == COLL_REDUCE_SCATTER ||
           kind == COLL_ALL_TO_ALL || kind == COLL_BARRIER;
}

/* Transfers between two ranks, which are not in the sequence of the group. */
static inline bool coll_is_between_two(enum coll_kind kind)
{
    return kind >= COLL_SENDRECV && kind <= COLL_RECV;
}

/* Whether elements differ from rank to rank. */
static inline bool coll_is_uneven(enum coll_kind kind)
{
    return kind == COLL_ALL_TO_ALLV || kind == COLL_GATHER || kind == COLL_SCATTER ||
           kind >= COLL_SENDRECV;
}

/* Bytes of the full buffer; TA_MISSING without elements or a known type. */
int64_t coll_bytes(enum coll_kind kind, int64_t in, int64_t out, struct ta_slice dtype);
/* Bytes over the busiest link per byte of the full buffer, for n ranks (nccl-tests). */
double coll_bus_factor(enum coll_kind kind, int64_t n);

/* ---- partials (map.c) ------------------------------------------------------------------------ */

enum { RECORDS_RANK, RECORDS_DEVICE, RECORDS_PACK, RECORDS_LEFT_OUT, RECORDS_FIELDS };

/* Collectives of a file and device that are kept one by one; the others count as left out. */
enum { COLL_RECORDS_MOST = 32768 };

/* What is kept of the time before a collective, at most. */
enum { COLL_ITEMS_KEPT = 6 };

/* The layout of packs; others are refused. */
enum { COLL_PACK_VERSION = 2 };

extern const char *const coll_args[];

enum ta_status coll_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                        struct ta_partial *const *out);

/* What a device, or a host without any, did in the time before a collective. */
enum coll_item_kind {
    COLL_ITEM_KERNEL, /* name: the kernel, within: the operator */
    COLL_ITEM_COPY,   /* name: the copy or memory set, within: the operator or call */
    COLL_ITEM_GAP,    /* name: the cause, within: where the host was */
    COLL_ITEM_HOST, /* of a rank without devices; name: the operator or call, within: its caller */
    COLL_ITEM_KINDS
};

/* ---- a run ----------------------------------------------------------------------------------- */

struct coll_group {
    struct ta_slice name, ranks; /* as recorded; empty when not */
    struct ta_slice description;
    bool shares_name; /* with other groups: then `ranks` belongs to the label */
};

/* Calls that look the same. */
struct coll_shape {
    uint32_t group;
    uint32_t lane;
    uint32_t token; /* equal for records that may be one collective */
    enum coll_kind kind;
    struct ta_slice op; /* as recorded */
    struct ta_slice dtype;
    int64_t in, out; /* elements of the rank */
    int64_t size;    /* ranks of the group, or TA_MISSING */
    int64_t peer;    /* of a transfer between two: the rank at the other end, or TA_MISSING */
    int64_t bytes;
};

struct coll_item {
    enum coll_item_kind kind;
    struct ta_slice name, within;
};

struct coll_record {
    int64_t start, end; /* on the clock of the member; after coll_align() on that of the run */
    int64_t before;     /* from the end of the collective before, or the first activity */
    const char *detail; /* the rest of it, in the pack: coll_parts_of(), coll_detail_of() */
    uint32_t shape, member, instance, pack;
    int32_t step; /* number of the profiler's step, or -1 */
    int32_t seq;  /* in the sequence of its group, as recorded, or -1 */
};

/* Where records come from. */
struct coll_pack {
    uint32_t member;
    size_t first_item, n_items;
    const char *end; /* of its text */
};

enum coll_clock_state {
    COLL_CLOCK_NONE,      /* no collective with others: nothing is known */
    COLL_CLOCK_REFERENCE, /* the clock that others are compared with */
    COLL_CLOCK_OFFSET,    /* a constant offset */
    COLL_CLOCK_DRIFT,     /* offset and drift */
    COLL_CLOCK_REFUSED    /* ends differ by more than collectives last */
};

struct coll_clock {
    enum coll_clock_state state;
    uint32_t axis;      /* members of one axis are comparable */
    int64_t offset;     /* to the reference at the member's first common end */
    double drift;       /* ns per ns */
    double uncertainty; /* scaled MAD of the residuals; NAN for fewer than two */
    int64_t origin;     /* that first common end, on the member's own clock */
    size_t n;           /* collectives it rests on */
    bool corrected;     /* the offset is beyond three uncertainties */
};

/* A device of a rank. */
struct coll_member {
    int64_t rank, device;
    size_t first, n; /* its records */
    struct coll_clock clock;
};

/* The collectives of a group that follow each other in the same order on all its ranks. */
struct coll_lane {
    uint32_t group;
    bool between_two;
    enum coll_kind kind; /* of a group that no record names: it has a lane per kind */
    size_t first, n;     /* in coll_run.order */
};

/* One collective, on all the members that have it. */
struct coll_instance {
    uint32_t shape;
    int64_t place;   /* in the sequence of its lane: its number there, or as many as come before */
    uint32_t last;   /* record that came last on the common clock, COLL_NONE when not known */
    size_t first, n; /* in coll_run.entries */
    size_t n_placed; /* of those, on the common clock; what follows is of them, if several */
    int64_t last_start, first_start, median_end;
    int64_t transfer;    /* TA_MISSING when not known */
    int64_t uncertainty; /* of the clocks, the largest of the members */
    bool is_tie;         /* they came within it */
    bool is_telling;     /* even, so that who comes last holds up the others */
};

/* The same stretch between two collectives on several members: records of `by_stretch`, that with
 * the least own time first. */
struct coll_stretch {
    uint32_t first, n;
};

struct coll_run {
    const struct ta_partial *records_of;
    struct coll_group *groups;
    struct coll_shape *shapes;
    struct coll_lane *lanes;
    struct coll_member *members;
    struct coll_record *records; /* by member, then start */
    struct coll_instance *instances;
    uint32_t *order;   /* records by lane, member, start */
    uint32_t *entries; /* records by instance, member */
    struct coll_stretch *stretches;
    uint32_t *by_stretch;
    uint32_t *usual; /* of each record the peer with the median own time, or COLL_NONE */
    int64_t *excess; /* own time less that of the median of its peers, TA_MISSING without */
    struct coll_item *items;
    struct coll_pack *packs;
    size_t n_stretches, n_groups, n_shapes, n_lanes, n_members, n_records, n_instances, n_items,
        n_packs;
    size_t n_unmatched; /* records of groups of several members that have no partner */
    size_t n_axes;
    int64_t left_out;
    bool damaged; /* a pack could not be read */
};

/* False without memory; coll_run_free() all the same. */
bool coll_read(const struct ta_partial *records, struct coll_run *run);
bool coll_match(struct coll_run *run);
bool coll_align(struct coll_run *run);
bool coll_arrive(struct coll_run *run);
bool coll_compare(struct coll_run *run);
void coll_run_free(struct coll_run *run);

/* How long a record waited for the last one; the rest of it is transfer. */
int64_t coll_wait_of(const struct coll_instance *instance, const struct coll_record *record);

/* The instance of a record when it tells who is late and the record is on the common clock, else
 * NULL. */
const struct coll_instance *coll_telling(const struct coll_run *run, uint32_t record);

/* The instance of a record when its ranks wait for each other, transfers between two among them,
 * and the record is on the common clock, else NULL. */
const struct coll_instance *coll_waits(const struct coll_run *run, uint32_t record);

/* What a record has besides its times; read from the pack each time, as there are millions of
 * records. */
struct coll_parts {
    int64_t hidden;    /* time of it in which the device computes */
    int64_t host_late; /* of the time before: idle since the host launched nothing */
};

struct coll_parts coll_parts_of(const struct coll_run *run, const struct coll_record *record);

/* What the time before a record is made of. */
struct coll_detail {
    size_t n; /* items, the longest first */
    struct {
        const struct coll_item *what;
        int64_t ns;
    } items[COLL_ITEMS_KEPT];
};

void coll_detail_of(const struct coll_run *run, const struct coll_record *record,
                    struct coll_detail *detail);

/* ---- small tools ---------------------------------------------------------------------------- */

/* From so many elements on an array grows by a quarter, not to twice its size: records of thousands
 * of ranks take hundreds of megabytes. */
enum { COLL_MANY = 1 << 16 };

/* Makes room for one more in an array of `size`-byte elements. */
static inline bool coll_grow(void *array, size_t *max, size_t n, size_t size)
{
    void **at = array;
    if (n < *max)
        return true;
    const size_t more = *max >= COLL_MANY ? *max + *max / 4 : *max ? *max * 2 : 16;
    void *grown = reallocarray(*at, more, size);
    if (!grown)
        return false;
    *at = grown;
    *max = more;
    return true;
}

#endif
