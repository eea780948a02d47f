/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers with a seed. */
#ifndef TA_STAT_RANDOM_H
#define TA_STAT_RANDOM_H

#include "traceanalyze/base.h"

/* MT19937; NULL without memory. */
struct ta_random *ta_random_new(uint32_t seed);
void ta_random_free(struct ta_random *random);

/* 0 … n − 1, for 1 ≤ n < 2^32. */
size_t ta_random_below(struct ta_random *random, size_t n);

#endif
