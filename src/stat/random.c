/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers with a seed: GSL's MT19937. */
#include "stat/random.h"

#include "stat/resample.h"

#include <gsl/gsl_rng.h>

uint32_t ta_seed(struct ta_slice analysis, struct ta_slice key)
{
    const struct ta_slice texts[] = {analysis, TA_LIT("\x1f"), key};
    uint32_t hash = UINT32_C(2166136261);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t i = 0; i < texts[t].len; i++)
            hash = (hash ^ (unsigned char)texts[t].ptr[i]) * UINT32_C(16777619);
    return hash ? hash : 1;
}

/* The type is GSL's own, under a name of ours. */
struct ta_random *ta_random_new(uint32_t seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (rng)
        gsl_rng_set(rng, seed);
    return (struct ta_random *)rng;
}

void ta_random_free(struct ta_random *random)
{
    if (random)
        gsl_rng_free((gsl_rng *)random);
}

size_t ta_random_below(struct ta_random *random, size_t n)
{
    return gsl_rng_uniform_int((const gsl_rng *)random, n);
}
