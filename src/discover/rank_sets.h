/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks that files get from neighboring files. */
#ifndef TA_RANK_SETS_H
#define TA_RANK_SETS_H

#include "discover/discover.h"

/* Gives dumps that say no rank the one of those that they are copies of.  `list` is room for all.
 */
void ta_ranks_share(struct ta_rank_claim *claims, size_t n, struct ta_rank_claim **list);

/* The rank of the dumps of its folder that name a trace as their own: the sections of one process
 * have a trace each.  TA_MISSING without any, and where they are of several ranks. */
int64_t ta_rank_of_owner(const struct ta_rank_claim *trace, const struct ta_rank_claim *claims,
                         size_t n);

#endif
