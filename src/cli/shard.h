/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --shard: which part of the files this process reads. */
#ifndef TA_CLI_SHARD_H
#define TA_CLI_SHARD_H

#include "traceanalyze/base.h"

/* Part `index` of `count`, from 0. */
struct ta_cli_shard {
    size_t index, count;
};

/* By the text of --shard, "I/N" with I from 0 or "auto", or NULL for all; `count` is --shard-count
 * or 0.  "auto" takes the word of the job system: Slurm, a Kubernetes Indexed Job (which does not
 * say how many there are), Open MPI, PMI. */
enum ta_status ta_shard_choose(struct ta_ctx *ctx, const char *text, int64_t count,
                               struct ta_cli_shard *shard) TA_MUST_CHECK;

#endif
