/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collectives of a cluster: who meets whom, when the last one comes, and when they end. */
#include "cluster_crew.h"

#include <stdlib.h>
#include <string.h>

enum {
    END_JITTER = 600,      /* ns between the ends of one collective on two ranks */
    TRANSFER_JITTER = 30,  /* permille */
    TRANSFER_START = 5500, /* ns, and as many for each doubling of the group: */
    TRANSFER_HOP = 1100,
    NEAR_BYTES_PER_US = 340000, /* NVLink within a host */
    FAR_BYTES_PER_US = 46000,   /* network between hosts */
};

/* ---- who runs ------------------------------------------------------------------------------ */

/* Ranks that are planned share one batch, as nobody reads it. */
struct rank_clock *crew_enter(struct crew *crew, int i)
{
    struct rank_clock *rank = &crew->timeline.ranks[i];
    crew->part = cluster_part(crew->cluster, crew->first + i);
    const struct split *split = &crew->part->split;
    crew->timeline.kernel_permille =
        CLUSTER_WORK * 4000 / (split->sequence * split->ring * split->tensor);
    if (!crew->known)
        rank->batch = crew->scratch;
    return rank;
}

void crew_leave(struct crew *crew, struct rank_clock *rank)
{
    if (crew->known)
        return;
    crew->scratch = rank->batch;
    crew->scratch.count = 0;
    rank->batch = (struct batch){NULL, 0, 0};
}

/* ---- faults -------------------------------------------------------------------------------- */

static bool loses_collective(const struct crew *crew, int number)
{
    const struct cluster *cluster = crew->cluster;
    for (int i = 0; i < cluster->lost_collective_count; i++) {
        const struct lost_collective *lost = &cluster->lost_collectives[i];
        if (lost->rank == number && lost->number == crew->joined)
            return true;
    }
    return false;
}

static int slowness_percent(const struct cluster *cluster, int number)
{
    for (int i = 0; i < cluster->slow_link_count; i++) {
        if (cluster->slow_links[i].rank == number)
            return cluster->slow_links[i].percent;
    }
    return 100;
}

/* ---- collectives --------------------------------------------------------------------------- */

/* One collective of the program as one rank sees it. */
struct share {
    bool takes_part;
    enum collective what;
    int leader; /* the rank that represents all that take part with this one */
    int size;
};

/* Rings: first the even ranks send to their right, then the odd ones. */
static struct share share_of(const struct crew *crew, enum collective what, int round, int number)
{
    const struct part *part = cluster_part(crew->cluster, number);
    const enum dimension dimension = collective_table[what].dimension;
    const int size = part->size[dimension], stride = part->stride[dimension];
    if (size <= 1)
        return (struct share){.takes_part = false};
    if (dimension == DIM_WORLD)
        return (struct share){true, what, 0, size};
    const int position = part_position(part, dimension, number);
    if (dimension != DIM_RING)
        return (struct share){true, what, number - position * stride, size};
    const bool sends = position % 2 == round % 2;
    const int left = sends ? position : (position + size - 1) % size;
    return (struct share){round / 2 < size - 1, sends ? COLLECTIVE_SEND : COLLECTIVE_RECEIVE,
                          number + (left - position) * stride, 2};
}

static int64_t bytes_of(const struct split *split, const struct collective_desc *desc)
{
    const int64_t in = split_elements(split, desc->in), out = split_elements(split, desc->out);
    const int size = strcmp(desc->dtype, "Long") == 0 ? 8 : 2;
    return (in > out ? in : out) * size;
}

static int64_t transfer_ns(struct crew *crew, const struct share *share, int percent)
{
    const struct cluster *cluster = crew->cluster;
    const struct collective_desc *desc = &collective_table[share->what];
    const struct part *part = cluster_part(cluster, share->leader);
    const int reach = share->size * part->stride[desc->dimension];
    const bool near = reach <= cluster->ranks_per_host;
    const int64_t bytes =
        bytes_of(&part->split, desc) * desc->traffic / share->size * (share->size - 1);
    int64_t ns = TRANSFER_START;
    for (int size = 1; size < share->size; size *= 2)
        ns += TRANSFER_HOP;
    ns += bytes * 1000 / (near ? NEAR_BYTES_PER_US : FAR_BYTES_PER_US);
    return rng_jitter(&crew->transfers, ns * percent / 100, TRANSFER_JITTER);
}

/* Room for one more slot. */
static bool grow(struct crew *crew)
{
    struct plan *plan = crew->plan;
    if (plan->ends == NULL || crew->slot < crew->capacity)
        return true;
    crew->capacity = crew->capacity * 2;
    int64_t *ends = realloc(plan->ends, crew->capacity * (size_t)plan->ranks * sizeof *plan->ends);
    if (ends != NULL)
        plan->ends = ends;
    return ends != NULL;
}

/* What the leader of each group needs to know of the others. */
struct meeting {
    int64_t last;
    int last_rank, percent;
    int64_t end;
};

static void hold_meetings(struct crew *crew, enum collective what, int round,
                          struct meeting *meetings)
{
    for (int i = 0; i < crew->count; i++) {
        const struct share share = share_of(crew, what, round, crew->first + i);
        struct meeting *meeting = &meetings[share.leader];
        const int percent = slowness_percent(crew->cluster, i);
        if (!share.takes_part)
            continue;
        meeting->percent = percent > meeting->percent ? percent : meeting->percent;
        if (crew->arrivals[i] <= meeting->last)
            continue;
        meeting->last = crew->arrivals[i];
        meeting->last_rank = i;
    }
    for (int i = 0; i < crew->count; i++) {
        const struct share share = share_of(crew, what, round, crew->first + i);
        struct meeting *meeting = &meetings[share.leader];
        if (!share.takes_part)
            continue;
        if (meeting->end == 0)
            meeting->end = meeting->last + transfer_ns(crew, &share, meeting->percent);
        crew->plan->waited[i] += meeting->last - crew->arrivals[i];
        crew->plan->last[i] += meeting->last_rank == i;
        crew->plan->joined[i]++;
    }
}

static void join(struct crew *crew, enum collective what, int round)
{
    for (int i = 0; i < crew->count; i++) {
        const struct share share = share_of(crew, what, round, crew->first + i);
        if (!share.takes_part)
            continue;
        struct rank_clock *rank = crew_enter(crew, i);
        timeline_join(rank, share.what);
        if (!crew->known)
            crew->arrivals[i] = rank->pending.arrival;
        crew_leave(crew, rank);
    }
}

static void finish(struct crew *crew, enum collective what, int round,
                   const struct meeting *meetings)
{
    for (int i = 0; i < crew->count; i++) {
        const int number = crew->first + i;
        const struct share share = share_of(crew, what, round, number);
        if (!share.takes_part)
            continue;
        struct rank_clock *rank = crew_enter(crew, i);
        const size_t at = crew->slot * (size_t)crew->cluster->ranks + (size_t)number;
        const int64_t end = meetings ? meetings[share.leader].end : crew->known->ends[at];
        if (meetings && crew->plan->ends)
            crew->plan->ends[at] = end;
        timeline_leave(rank, share.what, end + rng_below(&rank->rng, END_JITTER));
        crew_leave(crew, rank);
    }
}

static void plan_collective(struct crew *crew, enum collective what, int round)
{
    struct meeting *meetings = calloc((size_t)crew->cluster->ranks, sizeof *meetings);
    crew->failed |= meetings == NULL || !grow(crew);
    if (!crew->failed) {
        join(crew, what, round);
        hold_meetings(crew, what, round, meetings);
        finish(crew, what, round, meetings);
    }
    free(meetings);
}

static void record_collective(struct crew *crew, enum collective what, int round)
{
    struct rank_clock *rank = &crew->timeline.ranks[0];
    const size_t before = rank->batch.count;
    crew->joined += share_of(crew, what, round, crew->first).takes_part;
    join(crew, what, round);
    finish(crew, what, round, NULL);
    if (loses_collective(crew, crew->first))
        rank->batch.count = before;
}

void crew_meet(struct crew *crew, enum collective what, int round)
{
    if (crew->known)
        record_collective(crew, what, round);
    else
        plan_collective(crew, what, round);
    crew->slot++;
}
