/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making and merging partials: the side that only the core uses. */
#ifndef TA_ANALYZE_PARTIAL_H
#define TA_ANALYZE_PARTIAL_H

#include "traceanalyze/partial.h"
#include "traceanalyze/status.h"

/* An empty partial; `def` must outlive it.  NULL without memory. */
struct ta_partial *ta_partial_new(const struct ta_partial_def *def);
void ta_partial_free(struct ta_partial *partial);

/* Adds all rows of `from`.  Any order of merging gives the same rows. */
void ta_partial_merge(struct ta_partial *into, const struct ta_partial *from);

/* Whether a key is a rank, so that placeholders have to be replaced. */
bool ta_partial_has_rank(const struct ta_partial *partial);

/* Replaces placeholders in fields of kind TA_FIELD_RANK: the rank of placeholder p is ranks[p], and
 * ranks that rows name (TA_RANK_NAMED) become those.  Rows that become equal are merged.  Returns a
 * new partial, NULL without memory. */
struct ta_partial *ta_partial_resolve(const struct ta_partial *partial, const int64_t *ranks,
                                      size_t n_ranks);

/* Puts rows and samples in order for finish(); no adding afterwards. */
bool ta_partial_settle(struct ta_partial *partial) TA_MUST_CHECK;

/* False when an allocation failed and rows are missing. */
bool ta_partial_ok(const struct ta_partial *partial);

#endif
