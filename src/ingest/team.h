/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several processes that read the files of one run together, each a share, and the first of which
 * makes the report.
 *
 * All of them look for files and share them out in the same way, so only what the files yield needs
 * to be sent: it goes up a tree of pairs as summaries (analyze/summary/summary.h), 1 to 0 and 3 to
 * 2, then 2 to 0, until the first process has it all. How bytes travel is for others to say
 * (src/cli/mpi); there may be none of it, as in tests. */
#ifndef TA_TEAM_H
#define TA_TEAM_H

#include "ingest/inputs/options.h"

struct ta_ctx;
struct ta_ingestion;
struct ta_plan;
struct ta_sources;

/* Marks the sources that other processes read, and agrees with them.  owner[] becomes the process
 * of each source.  TA_ERR_INPUT when processes do not see the same files, or one cannot go on. */
enum ta_status ta_team_share(struct ta_ctx *ctx, struct ta_team *team, struct ta_sources *sources,
                             size_t *owner) TA_MUST_CHECK;

/* Sends what the files of this process and of those after it in the tree have left, pile by pile,
 * or, in the first process, takes it all. */
enum ta_status ta_team_gather(struct ta_ctx *ctx, struct ta_team *team,
                              const struct ta_run_options *options, const struct ta_plan *plan,
                              const size_t *owner, struct ta_ingestion *ingestion) TA_MUST_CHECK;

#endif
