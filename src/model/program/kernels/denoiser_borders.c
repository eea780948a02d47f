/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where calls of the denoiser begin and end, weak beats before and after counted. */
#include "model/program/kernels/denoiser.h"

#include <stdlib.h>

/* Whether `n` weak beats before two places are the same. */
static bool agree(const struct denoiser *w, size_t a, size_t b, size_t n)
{
    const struct ta_beat *at = w->beats.at;
    if (a < n || b < n)
        return false;
    for (size_t i = 1; i <= n; i++)
        if (at[a - i].strong || at[b - i].strong || at[a - i].symbol != at[b - i].symbol)
            return false;
    return true;
}

/* How many beats before call k are as before call i.  A lost or strange one is stepped over where
 * so many before it agree. */
static size_t alike_before(const struct denoiser *w, size_t i, size_t k)
{
    enum { AGAIN = 3 };
    size_t a = w->at[i].from, b = w->at[k].from;
    for (;;) {
        if (agree(w, a, b, 1)) {
            a--;
            b--;
        } else if (a > 0 && !w->beats.at[a - 1].strong && agree(w, a - 1, b, AGAIN)) {
            a--;
        } else if (b > 0 && !w->beats.at[b - 1].strong && agree(w, a, b - 1, AGAIN)) {
            b--;
        } else {
            return w->at[k].from - b;
        }
    }
}

enum { COMPARED = 8 };

/* Weak beats with which every call begins: what is the same before the first, which no scheduler
 * goes before, and later ones. */
static size_t usual_beginning(const struct denoiser *w)
{
    size_t lengths[COMPARED], n = 0;
    for (size_t i = 1; i < w->n && n < COMPARED; i++)
        lengths[n++] = alike_before(w, 0, i);
    qsort(lengths, n, sizeof *lengths, by_size);
    return lengths[n / 2];
}

void denoiser_borders(struct denoiser *w)
{
    const size_t before = usual_beginning(w);
    for (size_t i = 0; i < w->n; i++) {
        struct forward *f = &w->at[i];
        size_t n = i ? alike_before(w, 0, i) : before;
        n = n < before + 1 ? n : before + 1;
        f->begin = f->from - n;
        /* Inputs that are copied to where a recorded graph expects them; not pixels of the image
         * before. */
        const bool is_first = i > 0 && w->at[i - 1].ends_image;
        const size_t least = is_first ? f->begin : i ? w->at[i - 1].end : 0;
        while (f->begin > least && denoiser_is_copy(w, f->begin - 1))
            f->begin--;
        f->end = f->to;
        while (f->end < w->beats.n && !w->beats.at[f->end].strong && !denoiser_is_copy(w, f->end) &&
               w->beats.at[f->end].kind == TA_KERNEL_COPY)
            f->end++;
    }
}
