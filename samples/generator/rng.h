/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integer random numbers that are the same on every machine and C library. */
#ifndef GENERATOR_RNG_H
#define GENERATOR_RNG_H

#include <stdint.h>

/* A zeroed state is valid; two states with different streams never share a sequence. */
struct rng {
    uint64_t state;
};

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream);

uint64_t rng_next(struct rng *rng);

/* A number in [0, bound); bound must not be 0. */
uint32_t rng_below(struct rng *rng, uint32_t bound);

/* value, changed by at most permille thousandths of itself either way. */
int64_t rng_jitter(struct rng *rng, int64_t value, int permille);

#endif
