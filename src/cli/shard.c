/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --shard: which part of the files this process reads. */
#include "cli/shard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { SHARDS_MOST = 1 << 20 };

/* Variables of job systems, in the order in which they are believed. */
static const struct {
    const char *index, *count; /* NULL: --shard-count says it */
} systems[] = {
    {"SLURM_PROCID", "SLURM_NTASKS"},
    {"JOB_COMPLETION_INDEX", NULL},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
};

/* A whole number that ends with `end`; false when it is none. */
static bool take_number(const char **text, char end, size_t *number)
{
    char *rest;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    const unsigned long value = strtoul(*text, &rest, 10);
    if (errno || *rest != end || value > SHARDS_MOST)
        return false;
    *number = value;
    *text = rest + (end != '\0');
    return true;
}

static enum ta_status check(struct ta_ctx *ctx, const struct ta_cli_shard *shard,
                            const char *origin)
{
    if (shard->index < shard->count)
        return TA_OK;
    return ta_fail(ctx, TA_ERR_USAGE, "No such shard: %zu of %zu, by %s; they count from 0",
                   shard->index, shard->count, origin);
}

static enum ta_status by_variable(struct ta_ctx *ctx, const char *name, size_t *number)
{
    const char *value = getenv(name), *at = value;
    if (value && take_number(&at, '\0', number))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_USAGE, "--shard=auto needs a number in %s: %s", name,
                   value ? value : "not set");
}

static enum ta_status by_system(struct ta_ctx *ctx, int64_t count, struct ta_cli_shard *shard)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        if (!getenv(systems[i].index))
            continue;
        if (!systems[i].count && !count)
            return ta_fail(ctx, TA_ERR_USAGE,
                           "--shard=auto finds %s, which does not say how many shards there are: "
                           "say it with --shard-count",
                           systems[i].index);
        shard->count = (size_t)count;
        enum ta_status status = by_variable(ctx, systems[i].index, &shard->index);
        if (status == TA_OK && !count)
            status = by_variable(ctx, systems[i].count, &shard->count);
        return status == TA_OK ? check(ctx, shard, systems[i].index) : status;
    }
    return ta_fail(ctx, TA_ERR_USAGE,
                   "--shard=auto finds no job system: none of SLURM_PROCID, "
                   "JOB_COMPLETION_INDEX, OMPI_COMM_WORLD_RANK and PMI_RANK is set");
}

enum ta_status ta_shard_choose(struct ta_ctx *ctx, const char *text, int64_t count,
                               struct ta_cli_shard *shard)
{
    const char *at = text;
    *shard = (struct ta_cli_shard){0, 1};
    if (!text && count)
        return ta_fail(ctx, TA_ERR_USAGE, "--shard-count goes with --shard");
    if (!text)
        return TA_OK;
    if (strcmp(text, "auto") == 0)
        return by_system(ctx, count, shard);
    if (count)
        return ta_fail(ctx, TA_ERR_USAGE, "--shard-count goes with --shard=auto");
    if (!take_number(&at, '/', &shard->index) || !take_number(&at, '\0', &shard->count))
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Unusable shard: --shard=%s, expected one such as 0/8, or "
                       "auto",
                       text);
    return check(ctx, shard, "--shard");
}
