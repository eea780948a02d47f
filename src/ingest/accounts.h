/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data_quality section: what became of every file, in the report's own memory. */
#ifndef TA_ACCOUNTS_H
#define TA_ACCOUNTS_H

#include "ingest/ingest.h"

struct ta_report;

/* Notes the files that were not read, with the reasons. */
void ta_account_refusals(struct ta_ingestion *ingestion, struct ta_quality *job);

/* Decides the ranks: of the files, also in ranks[] (TA_MISSING for refused ones), and the world
 * size. TA_ERR_INPUT when no file was usable; the message then names files and reasons. */
enum ta_status ta_account_ranks(struct ta_ctx *ctx, const struct ta_run_options *options,
                                struct ta_ingestion *ingestion, struct ta_quality *job,
                                int64_t *ranks, int64_t *world_size) TA_MUST_CHECK;

/* Fills in the accounts of the report and its list of ranks, once nothing more is noticed. */
enum ta_status ta_account(struct ta_ctx *ctx, const struct ta_registry *registry,
                          const struct ta_run_options *options,
                          const struct ta_ingestion *ingestion, struct ta_quality *job,
                          struct ta_report *report, int64_t world_size) TA_MUST_CHECK;

/* What the findings of accounts come to. */
enum ta_quality_status ta_accounts_status(const struct ta_accounts *accounts);

/* A list such as "NVIDIA H200, AMD MI300X" with a name, once and as a whole: "NVIDIA H20" is not
 * "NVIDIA H200".  From the arena; NULL without memory. */
const char *ta_list_device(struct ta_arena *arena, const char *list, struct ta_slice name);

/* The name of the first input, from the arena; NULL without memory. */
const char *ta_default_title(const struct ta_run_options *options, struct ta_arena *arena);

#endif
