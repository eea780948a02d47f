/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Piles: what files leave is kept apart until all are read, because only then is it known
 * which of them are recordings of one run (ADR 38). */
#ifndef TA_PILES_H
#define TA_PILES_H

#include "ingest/ingest.h"

/* Chooses the pile of each file and makes room for them; false without memory.  Few files have one
 * each; many share those that their names foretell, so that thousands of ranks merge as they are
 * read. */
bool ta_piles_plan(struct ta_ingestion *ingestion, const struct ta_run_options *options,
                   const struct ta_sources *sources) TA_MUST_CHECK;

#endif
