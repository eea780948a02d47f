/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a summary says of its files: their accounts, and what decides their ranks. */
#ifndef TA_SUMMARY_FACTS_H
#define TA_SUMMARY_FACTS_H

#include "analyze/summary/ingested.h"
#include "parse/json/pull.h"

void ta_summary_put_facts(struct ta_text *text, const struct ta_ingested *file);
void ta_summary_put_findings(struct ta_text *text, const struct ta_quality *quality);

/* Into a file and a source that are empty; texts go to the arena of `pull`. */
void ta_summary_take_facts(struct ta_pull *pull, struct ta_ingested *file,
                           struct ta_source *source);
void ta_summary_take_findings(struct ta_pull *pull, struct ta_quality *quality);

#endif
