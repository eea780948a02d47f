/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which ranks make up which process group, and the offsets of the hosts' clocks. */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = CLUSTER_WORK * 4680 };

const char *const dimension_names[DIM_COUNT] = {
    [DIM_WORLD] = "default_pg",       [DIM_SEQUENCE] = "sequence_parallel",
    [DIM_TENSOR] = "tensor_parallel", [DIM_RING] = "ring_attention",
    [DIM_GUIDANCE] = "cfg_parallel",  [DIM_DATA] = "data_parallel",
};

/* From the ranks that are closest together to those that are farthest apart. */
static const struct {
    const char *key;
    enum dimension dimension;
} order[] = {{"tp", DIM_TENSOR}, {"sp", DIM_SEQUENCE}, {"ring", DIM_RING}, {"cfg", DIM_GUIDANCE}};

enum { ORDER = sizeof order / sizeof order[0] };

/* ---- parts --------------------------------------------------------------------------------- */

/* "sp=4" at the start of *text, which is then moved past it and the comma. */
static bool read_size(const char **text, struct part *part)
{
    for (int i = 0; i < ORDER; i++) {
        const size_t length = strlen(order[i].key);
        if (strncmp(*text, order[i].key, length) != 0 || (*text)[length] != '=')
            continue;
        char *end;
        const long size = strtol(*text + length + 1, &end, 10);
        if (end == *text + length + 1 || size < 1 || size > CLUSTER_MAX_RANKS ||
            (*end != ',' && *end != '/' && *end != '\0'))
            return false;
        part->size[order[i].dimension] = (int)size;
        *text = end + (*end == ',');
        return true;
    }
    return false;
}

static bool read_parts(struct cluster *cluster, const char *text)
{
    do {
        if (cluster->part_count == CLUSTER_MAX_PARTS)
            return false;
        struct part *part = &cluster->parts[cluster->part_count++];
        for (int i = 0; i < DIM_COUNT; i++)
            part->size[i] = 1;
        while (*text != '\0' && *text != '/') {
            if (!read_size(&text, part))
                return false;
        }
    } while (*text++ == '/');
    return true;
}

/* The number of ranks of the part decides how many are data parallel. */
static bool complete_part(struct cluster *cluster, struct part *part, int *groups)
{
    int stride = 1;
    for (int i = 0; i < ORDER; i++) {
        part->stride[order[i].dimension] = stride;
        stride *= part->size[order[i].dimension];
    }
    if (stride < 1 || part->ranks % stride != 0)
        return false;
    part->stride[DIM_DATA] = stride;
    part->size[DIM_DATA] = part->ranks / stride;
    part->stride[DIM_WORLD] = 1;
    part->size[DIM_WORLD] = cluster->ranks;
    part->split = (struct split){TOKENS,
                                 part->size[DIM_SEQUENCE],
                                 part->size[DIM_RING],
                                 part->size[DIM_TENSOR],
                                 part->size[DIM_GUIDANCE],
                                 part->size[DIM_DATA]};
    for (int i = DIM_WORLD + 1; i < DIM_COUNT; i++) {
        part->first_group[i] = *groups;
        *groups += part->size[i] > 1 ? part->ranks / part->size[i] : 0;
    }
    /* Rings alternate who sends first. */
    return part->size[DIM_RING] == 1 || part->size[DIM_RING] % 2 == 0;
}

bool cluster_arrange(struct cluster *cluster, const char *groups)
{
    bool good = read_parts(cluster, groups) && cluster->ranks % cluster->part_count == 0;
    int group_count = 1;
    for (int i = 0; good && i < cluster->part_count; i++) {
        struct part *part = &cluster->parts[i];
        part->ranks = cluster->ranks / cluster->part_count;
        part->first = i * part->ranks;
        good = complete_part(cluster, part, &group_count);
    }
    if (!good)
        fprintf(stderr,
                "traceanalyze-generate: --groups '%s' does not divide %d ranks, or a ring is odd\n",
                groups, cluster->ranks);
    return good;
}

const struct part *cluster_part(const struct cluster *cluster, int rank)
{
    return &cluster->parts[rank / (cluster->ranks / cluster->part_count)];
}

/* ---- groups -------------------------------------------------------------------------------- */

int part_position(const struct part *part, enum dimension dimension, int rank)
{
    return (rank - part->first) / part->stride[dimension] % part->size[dimension];
}

int cluster_group(const struct cluster *cluster, enum dimension dimension, int rank, int *ranks)
{
    const struct part *part = cluster_part(cluster, rank);
    const bool all = dimension == DIM_WORLD;
    const int stride = part->stride[dimension];
    const int first = all ? 0 : rank - part_position(part, dimension, rank) * stride;
    for (int i = 0; i < part->size[dimension]; i++)
        ranks[i] = first + i * stride;
    return part->size[dimension];
}

int cluster_group_number(const struct cluster *cluster, enum dimension dimension, int rank)
{
    const struct part *part = cluster_part(cluster, rank);
    const int stride = part->stride[dimension], within = rank - part->first;
    if (dimension == DIM_WORLD)
        return 0;
    return part->first_group[dimension] + within / (stride * part->size[dimension]) * stride +
           within % stride;
}

/* ---- clocks -------------------------------------------------------------------------------- */

static int64_t either_way(struct rng *rng, int64_t most)
{
    return most == 0 ? 0 : (int64_t)(rng_next(rng) % (uint64_t)(2 * most + 1)) - most;
}

struct clock_error cluster_clock(const struct cluster *cluster, int host)
{
    struct rng rng;
    rng_seed(&rng, cluster->seed, UINT64_C(2) << 32 | (uint32_t)host);
    const int64_t ahead = either_way(&rng, cluster->clock_ahead);
    return (struct clock_error){ahead, either_way(&rng, cluster->clock_ppb), TIMELINE_ORIGIN};
}
