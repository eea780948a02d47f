/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dumps of other profilers when all files are read: copies count once, files of one rank join. */
#ifndef TA_RECONCILE_H
#define TA_RECONCILE_H

#include "ingest/ingest.h"

/* Maps the traces that were kept into the partials of the ingestion and frees them.  Ranks are
 * decided (ta_account_ranks()); what is noticed goes to the accounts of the job. */
enum ta_status ta_reconcile(struct ta_ctx *ctx, struct ta_ingestion *ingestion,
                            struct ta_quality *job) TA_MUST_CHECK;

#endif
