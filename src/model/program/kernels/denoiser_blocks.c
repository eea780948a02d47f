/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of a video that is denoised in parts, each with what came before it: after the steps of a
 * block the denoiser is called once more, for the cache of keys and values.  No scheduler runs
 * after that call, and it comes after the same number of steps each time. */
#include "model/program/kernels/denoiser.h"

#include <stdlib.h>

enum { STEPS_MOST = 64, STEPS_LEAST = 2, BLOCKS_LEAST = 2 };

/* Calls that end a step, or would: `ends`, and whether a scheduler runs after them. */
struct ending {
    const struct denoiser *w;
    bool *scheduled;
    bool alone; /* each call is a step */
};

static bool ends(const struct ending *e, size_t i)
{
    return e->alone || e->w->at[i].ends_step;
}

/* The number of steps after which most often no scheduler runs; 0 where that is by chance. */
static size_t steps_of_block(const struct ending *e)
{
    size_t counts[STEPS_MOST + 1] = {0}, steps = 0, blocks = 0, best = 0;
    for (size_t i = 0; i < e->w->n; i++) {
        if (!ends(e, i))
            continue;
        if (e->scheduled[i]) {
            steps++;
            continue;
        }
        counts[steps < STEPS_MOST ? steps : STEPS_MOST]++;
        steps = 0;
        blocks++;
    }
    for (size_t k = STEPS_LEAST; k < STEPS_MOST; k++)
        best = counts[k] > counts[best] || best < STEPS_LEAST ? k : best;
    return blocks >= BLOCKS_LEAST && 4 * counts[best] >= 3 * blocks && counts[best] >= BLOCKS_LEAST
               ? best
               : 0;
}

/* Marks calls after so many steps; the first block of a recording may lack some. */
static void mark(struct ending *e, struct denoiser *w, size_t steps_of)
{
    size_t steps = 0, first = 0;
    bool is_first = true;
    for (size_t i = 0; i < w->n; i++) {
        w->at[i].ends_step |= e->alone;
        if (!w->at[i].ends_step)
            continue;
        if (!e->scheduled[i] && (steps == steps_of || (is_first && steps < steps_of))) {
            for (size_t k = first; k <= i; k++)
                w->at[k].updates = true;
            is_first = false;
            steps = 0;
        } else {
            steps++;
        }
        first = i + 1;
    }
}

/* The block of each call, and how many calls the other steps have. */
static void count(struct denoiser *w, size_t usual)
{
    size_t block = 0, size = 0;
    w->out->forwards_per_step = usual;
    for (size_t i = 0; i < w->n; i++) {
        struct forward *f = &w->at[i];
        f->block = block;
        size++;
        if (f->ends_step && !f->updates && size != usual)
            w->out->forwards_per_step = 0;
        block += f->updates && f->ends_step;
        w->out->n_blocks = block > w->out->n_blocks ? block : w->out->n_blocks;
        size = f->ends_step ? 0 : size;
        block = f->ends_image ? 0 : block;
    }
}

void denoiser_blocks(struct denoiser *w, size_t usual)
{
    struct ending e = {w, calloc(w->n + 1, sizeof *e.scheduled), usual == 1};
    w->failed |= !e.scheduled;
    if (e.scheduled && denoiser_scheduled(w, e.scheduled)) {
        const size_t steps = steps_of_block(&e);
        if (steps > 0) {
            mark(&e, w, steps);
            count(w, usual);
        }
    }
    free(e.scheduled);
}
