/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings that are one story: what explains the others speaks for them. */
#ifndef TA_STORIES_H
#define TA_STORIES_H

#include "recommend/found.h"
#include "traceanalyze/rule.h"

/* Joins findings by the table of stories.c: the one that speaks keeps the titles and the
 * evidence of the others, and a saving that counts the same time once.  Returns how many are left.
 */
size_t ta_stories_join(struct ta_advice *advice, const struct ta_refs *in, struct ta_found *at,
                       size_t n);

/* Adds a sentence, without its full stop, to the details of a finding. */
void ta_finding_add_detail(struct ta_advice *advice, struct ta_finding *finding,
                           const char *sentence);

#endif
