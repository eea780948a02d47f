/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SplitMix64 (Steele, Lea, Flood 2014): one addition and two multiplications per number. */
#include "rng.h"

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
    rng->state = mix(seed) ^ mix(~stream);
}

uint64_t rng_next(struct rng *rng)
{
    rng->state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(rng->state);
}

/* Multiply and shift instead of the remainder: no division, and bias below 2^-32. */
uint32_t rng_below(struct rng *rng, uint32_t bound)
{
    return (uint32_t)(((rng_next(rng) >> 32) * bound) >> 32);
}

int64_t rng_jitter(struct rng *rng, int64_t value, int permille)
{
    const int64_t offset = (int64_t)rng_below(rng, (uint32_t)(2 * permille + 1)) - permille;
    return value + value * offset / 1000;
}
