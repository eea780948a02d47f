/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact distributions of rank statistics when nothing is tied and both samples are alike. */
#ifndef TA_STAT_RANK_DISTRIBUTION_H
#define TA_STAT_RANK_DISTRIBUTION_H

#include "traceanalyze/base.h"

/* Whether the distribution of U is worth computing, and its counts fit into 128 bits. */
bool ta_u_is_small(size_t n, size_t m);

/* P(U ≤ u) for u in 0 … n·m/2, U of Mann & Whitney for samples of n and m with ta_u_is_small(). */
TA_MUST_CHECK bool ta_u_at_most(size_t n, size_t m, uint64_t u, double *out);

/* The largest c with P(U ≤ c − 1) ≤ tail, 0 if there is none: the interval between the c-th least
 * and the c-th largest difference misses the shift with probability 2 · tail at most.  Normal
 * with continuity correction where U is not small. */
TA_MUST_CHECK bool ta_u_rank(size_t n, size_t m, double tail, uint64_t *out);

/* The same for the signed-rank statistic of n values; exact for n ≤ TA_SIGNED_EXACT. */
#define TA_SIGNED_EXACT 50
uint64_t ta_signed_rank(size_t n, double tail);

#endif
