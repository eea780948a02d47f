/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data_quality section: what became of every file, in the report's own memory. */
#ifndef TA_ACCOUNTS_H
#define TA_ACCOUNTS_H

#include "ingest.h"

struct ta_report;

/* Decides the ranks, fills in the accounts of the report and its list of ranks, and gives the
 * rank of every file in ranks[] (TA_MISSING for refused ones).  TA_ERR_INPUT when no file was
 * usable; the message then names files and reasons. */
enum ta_status ta_account(struct ta_ctx *ctx, const struct ta_run_options *options,
                          struct ta_ingestion *ingestion, struct ta_quality *job,
                          struct ta_report *report, int64_t *ranks) TA_MUST_CHECK;

#endif
