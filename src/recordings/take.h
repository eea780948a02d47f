/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what is decided of files to what a report is made of. */
#ifndef TA_RECORDINGS_TAKE_H
#define TA_RECORDINGS_TAKE_H

#include "recordings/recordings.h"

struct ta_report;

/* Marks the files of an ingestion: those that count in a recording count, others are set aside. */
void ta_recordings_mark(const struct ta_recordings *recordings, struct ta_ingestion *ingestion);

/* Reads those files again that left one pile with files of other recordings. */
enum ta_status ta_recordings_part(struct ta_ctx *ctx, const struct ta_registry *registry,
                                  const struct ta_plan *plan, const struct ta_ingest_run *run,
                                  const struct ta_recordings *recordings) TA_MUST_CHECK;

/* Reads files again that replay graphs which others captured, with those as their maps, and says of
 * captures which share of the replayed kernels has its operators from them. */
enum ta_status ta_recordings_map(struct ta_ctx *ctx, const struct ta_registry *registry,
                                 const struct ta_plan *plan, const struct ta_ingest_run *run,
                                 struct ta_recordings *recordings) TA_MUST_CHECK;

/* Merges what all files left that count. */
enum ta_status ta_recordings_unite(struct ta_ctx *ctx, const struct ta_plan *plan,
                                   const struct ta_recordings *recordings,
                                   struct ta_ingestion *ingestion) TA_MUST_CHECK;

/* Takes what the files of one recording left out of an ingestion, which holds several:
 * `part` has every file at its place, and only these count.  Whatever it returns,
 * ta_recordings_give_back() ends it, before the ingestion. */
enum ta_status ta_recordings_take(struct ta_ctx *ctx, const struct ta_plan *plan,
                                  const struct ta_recordings *recordings, size_t at,
                                  struct ta_ingestion *from,
                                  struct ta_ingestion *part) TA_MUST_CHECK;
void ta_recordings_give_back(struct ta_ingestion *part);

/* Decides the ranks of all files, recording by recording, as ta_account_ranks() does for one.  The
 * world size is not known then. */
enum ta_status ta_recordings_rank(struct ta_ctx *ctx, const struct ta_run_options *options,
                                  const struct ta_recordings *recordings,
                                  struct ta_ingestion *ingestion, struct ta_quality *job,
                                  int64_t *ranks, int64_t *world_size) TA_MUST_CHECK;

/* Notes in one line what files were taken for that are not simply ranks or dumps of their run: of
 * one run, or for SIZE_MAX of all.  `shown` is the recording that the report is of, or SIZE_MAX
 * where it is the chosen one of each run.  False without memory. */
bool ta_recordings_say(const struct ta_recordings *recordings, const struct ta_ingestion *ingestion,
                       size_t run, size_t shown, struct ta_quality *job) TA_MUST_CHECK;

/* Adds the table recordings.files to a report that is not frozen yet: the files of one run, those
 * of all for SIZE_MAX. */
void ta_recordings_list(const struct ta_recordings *recordings,
                        const struct ta_ingestion *ingestion, size_t run, struct ta_report *report);

extern const struct ta_part *const ta_recordings_parts[]; /* ends with NULL */

#endif
