/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces to summaries, one per rank and recording: what `aggregate` merges elsewhere and later. */
#ifndef TA_REDUCE_H
#define TA_REDUCE_H

#include "ingest/inputs/options.h"
#include "analyze/summary/text.h"

struct ta_ctx;
struct ta_registry;

/* The part of the files that one of several processes reads: files whose paths name a rank go by
 * it, so that all of one rank meet, the others by their place in the list. */
struct ta_shard {
    size_t index, count; /* count 1: all files */
};

/* Room for the name of a summary. */
#define TA_SUMMARY_NAME_MAX 96

/* Takes a summary, gzip of JSON, and the name of its file. */
typedef enum ta_status ta_summary_taker(struct ta_ctx *ctx, void *user, const char *name,
                                        struct ta_slice packed);

/* What became of the files. */
struct ta_reduce_counts {
    size_t files, used, summaries; /* files of this shard */
    uint64_t raw_bytes, events;
};

/* Reads the files of a shard and gives `take` a summary for each rank and recording.  TA_ERR_INPUT
 * when there is no file, or none that can be used; a shard of several may have none. */
enum ta_status ta_reduce_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                             const struct ta_run_options *options, struct ta_shard shard,
                             ta_summary_taker *take, void *user,
                             struct ta_reduce_counts *reduced) TA_MUST_CHECK;

#endif
