/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which calls of the denoiser make a step. */
#include "model/program/kernels/denoiser.h"

/* Between two calls of one step next to nothing runs, between two steps a scheduler. */
enum { FORWARDS_MOST = 4, NOTHING = 2 };

static bool is_within_step(const struct denoiser *w, size_t i)
{
    if (w->at[i].ends_image)
        return false;
    size_t n = 0;
    for (size_t k = w->at[i].end; k < w->at[i + 1].begin; k++) {
        if (w->beats.at[k].kind == TA_KERNEL_RANDOM)
            return false;
        n += !denoiser_is_copy(w, k);
    }
    return n <= NOTHING;
}

/* How many calls most steps have, if calls go together like that; else 1. */
static size_t calls_of_most(const struct denoiser *w)
{
    size_t sizes[FORWARDS_MOST + 1] = {0}, steps = 0, size = 0, best = 1;
    for (size_t i = 0; i < w->n; i++) {
        size++;
        if (is_within_step(w, i))
            continue;
        if (size > FORWARDS_MOST)
            return 1;
        sizes[size]++;
        steps++;
        size = 0;
    }
    for (size_t m = 2; m <= FORWARDS_MOST; m++)
        if (2 * sizes[m] >= steps)
            best = m;
    return best;
}

/* In how many calls of an image, [first, end), steps of so many calls do not end as they seem to.
 */
static size_t wrong_in(const struct denoiser *w, size_t first, size_t end, size_t usual)
{
    size_t wrong = 0;
    for (size_t i = first; i < end; i++)
        wrong += is_within_step(w, i) != ((i - first + 1) % usual != 0);
    return wrong;
}

/* Whether the calls of an image make steps of so many each, but for a few beats that were lost or
 * are strange. */
static bool is_uniform(const struct denoiser *w, size_t first, size_t end, size_t usual)
{
    const size_t n = end - first, most = n / 5 > 1 ? n / 5 : usual > 1 && n > usual;
    return n % usual == 0 && wrong_in(w, first, end, usual) <= most;
}

static void end_steps(struct denoiser *w, size_t first, size_t end, size_t usual)
{
    const bool uniform = is_uniform(w, first, end, usual);
    size_t size = 0;
    for (size_t i = first; i < end; i++) {
        size++;
        w->at[i].ends_step = size == usual || i + 1 == end || (!uniform && !is_within_step(w, i));
        if (!w->at[i].ends_step)
            continue;
        if (size != usual)
            w->out->forwards_per_step = 0;
        size = 0;
    }
}

/* A solver of second order calls the denoiser twice in a step, once for a first guess and once to
 * correct it, and in the last step of an image once: what runs after calls that are alike differs
 * in turns, and their number is odd. */
static bool corrects(const struct denoiser *w)
{
    enum { CALLS_LEAST = 5 };
    size_t full = 0;
    for (size_t i = 0; i < w->n; i++)
        full += w->at[i].kind == 0;
    return w->out->n_images == 1 && w->n >= CALLS_LEAST && w->n % 2 == 1 && 10 * full >= 9 * w->n &&
           denoiser_alternates(w);
}

static void end_corrected(struct denoiser *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->at[i].ends_step = i % 2 == 1 || i + 1 == w->n;
    w->out->forwards_per_step = 0;
}

void denoiser_steps(struct denoiser *w)
{
    const size_t usual = calls_of_most(w);
    w->out->forwards_per_step = usual;
    if (usual == 1 && corrects(w)) {
        end_corrected(w);
        return;
    }
    for (size_t i = 0, end; i < w->n; i = end) {
        for (end = i; end < w->n && !w->at[end].ends_image;)
            end++;
        end += end < w->n;
        end_steps(w, i, end, usual);
    }
    denoiser_blocks(w, usual);
}
