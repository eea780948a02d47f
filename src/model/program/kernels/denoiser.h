/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for steps of a denoiser (denoising.h): what its files share. */
#ifndef TA_PROGRAM_KERNELS_DENOISER_H
#define TA_PROGRAM_KERNELS_DENOISER_H

#include "base/vec.h"
#include "model/program/kernels/denoising.h"
#include "model/program/kernels/forwards.h"

/* A call of the denoiser: beats [from, to), from the first strong one to after the last, and
 * [begin, end) with weak ones before and after. */
struct forward {
    size_t from, to, begin, end;
    size_t attention, image, block;
    uint32_t kind;
    bool ends_image, ends_step;
    bool updates; /* the cache of keys and values after a block: no step */
};

struct denoiser {
    struct ta_beats beats;
    struct ta_forwards found;
    struct forward *at;
    size_t n;
    TA_VEC(struct ta_denoising_call) calls;
    TA_VEC(struct ta_denoising_step) steps;
    struct ta_denoising *out;
    bool failed;
};

static inline int by_size(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

static inline bool denoiser_is_copy(const struct denoiser *w, size_t i)
{
    return w->beats.at[i].symbol == w->beats.n_symbols - 1;
}

/* Where the strong beats after a call end: at the next call, or with the trace. */
static inline size_t denoiser_strong_after(const struct denoiser *w, size_t i)
{
    return i + 1 < w->n ? w->found.at[i + 1].from : w->beats.n_strong;
}

/* `begin` and `end` of each call. */
void denoiser_borders(struct denoiser *w);

/* Whether the calls are of a denoiser. */
bool denoiser_is_one(const struct denoiser *w);

/* A run of convolutions in the strong beats [from, to), or NULL. */
const struct ta_stretch *denoiser_wall_in(const struct denoiser *w, size_t from, size_t to);

/* `kind` of each call. */
void denoiser_kinds(struct denoiser *w);

/* Which calls end a step. */
void denoiser_steps(struct denoiser *w);

/* Which calls are none of a step but update a cache after a block, and the blocks. */
void denoiser_blocks(struct denoiser *w, size_t usual);

/* After which calls a scheduler runs; false where hardly anything runs between calls. */
bool denoiser_scheduled(const struct denoiser *w, bool *scheduled);

/* Whether two things run between calls, in turns. */
bool denoiser_alternates(const struct denoiser *w);

#endif
