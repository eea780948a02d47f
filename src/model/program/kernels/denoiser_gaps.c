/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs between two calls of the denoiser: a scheduler, mostly. */
#include "model/program/kernels/denoiser.h"

#include "base/hash.h"

#include <stdlib.h>

enum { GAP_MOST = 32 };

/* Beats [from, to) after a call, copies left out. */
struct gap {
    uint32_t symbols[GAP_MOST];
    size_t n;
};

static struct gap gap_after(const struct denoiser *w, size_t i)
{
    const struct forward *f = &w->at[i];
    const size_t next = w->found.at[i].to;
    const size_t strong = next < w->beats.n_strong ? w->beats.strong[next] : w->beats.n;
    const size_t end = f->ends_image ? strong : w->at[i + 1].begin;
    struct gap gap = {.n = 0};
    for (size_t k = f->end; k < end && gap.n < GAP_MOST; k++)
        if (!denoiser_is_copy(w, k))
            gap.symbols[gap.n++] = w->beats.at[k].symbol;
    return gap;
}

/* The longest common subsequence of the first beats of two gaps. */
static size_t common(const struct gap *a, size_t n_a, const struct gap *b, size_t n_b)
{
    size_t row[GAP_MOST + 1] = {0};
    for (size_t i = 0; i < n_a && i < a->n; i++) {
        size_t diagonal = 0;
        for (size_t k = 1; k <= n_b && k <= b->n; k++) {
            const size_t above = row[k];
            const size_t longer = row[k] > row[k - 1] ? row[k] : row[k - 1];
            row[k] = a->symbols[i] == b->symbols[k - 1] ? diagonal + 1 : longer;
            diagonal = above;
        }
    }
    return row[n_b < b->n ? n_b : b->n];
}

struct seen {
    uint64_t hash;
    size_t call, n, size;
};

static int by_hash(const void *left, const void *right)
{
    const struct seen *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->call > b->call) - (a->call < b->call);
}

/* The call after which most often the same runs, of calls first, first + step, ... of the trace;
 * SIZE_MAX without memory or where hardly anything runs between calls. */
static size_t usual_gap(const struct denoiser *w, size_t first, size_t step)
{
    enum { GAP_LEAST = 3 };
    struct seen *seen = malloc((w->n + 1) * sizeof *seen);
    size_t n = 0, best = SIZE_MAX;
    for (size_t i = first; seen && i < w->n; i += step) {
        const struct gap gap = gap_after(w, i);
        seen[n] = (struct seen){.call = i, .size = gap.n};
        for (size_t k = 0; k < gap.n; k++)
            seen[n].hash = ta_hash_mix(seen[n].hash + gap.symbols[k] + 1);
        n += gap.n >= GAP_LEAST && !w->at[i].ends_image;
    }
    if (n > 0)
        qsort(seen, n, sizeof *seen, by_hash);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && seen[end].hash == seen[i].hash;)
            end++;
        seen[i].n = end - i;
        if (best == SIZE_MAX || seen[i].n > seen[best].n ||
            (seen[i].n == seen[best].n && seen[i].size > seen[best].size))
            best = i;
    }
    const size_t call = best == SIZE_MAX ? SIZE_MAX : seen[best].call;
    free(seen);
    return call;
}

/* Whether a gap begins as a scheduler does, but for a beat, or is as one in most of it. */
static bool is_scheduler(const struct gap *gap, const struct gap *scheduler)
{
    enum { HEAD = 4, WITHIN = 10 };
    const size_t head = scheduler->n < HEAD ? scheduler->n : HEAD;
    const size_t least = gap->n < head ? gap->n : head;
    const size_t most = gap->n > scheduler->n ? gap->n : scheduler->n;
    return gap->n > 0 && (3 * common(scheduler, head, gap, WITHIN) > 2 * least ||
                          2 * common(scheduler, GAP_MOST, gap, GAP_MOST) >= most);
}

bool denoiser_scheduled(const struct denoiser *w, bool *scheduled)
{
    const size_t usual = usual_gap(w, 0, 1);
    if (usual == SIZE_MAX)
        return false;
    const struct gap scheduler = gap_after(w, usual);
    for (size_t i = 0; i < w->n; i++) {
        const struct gap gap = gap_after(w, i);
        /* A call that seems to last to what decodes may have what runs before that in it. */
        scheduled[i] = (gap.n == 0 && w->at[i].ends_image) || is_scheduler(&gap, &scheduler);
    }
    return true;
}

/* Likeness of what runs after a call and what mostly does after others. */
static double likeness(const struct gap *gap, const struct gap *usual)
{
    const size_t n = common(gap, GAP_MOST, usual, GAP_MOST);
    return 2 * (double)n / (double)(gap->n + usual->n + 1);
}

bool denoiser_alternates(const struct denoiser *w)
{
    const size_t even = usual_gap(w, 0, 2), odd = usual_gap(w, 1, 2);
    if (even == SIZE_MAX || odd == SIZE_MAX)
        return false;
    const struct gap gaps[2] = {gap_after(w, even), gap_after(w, odd)};
    size_t right = 0, n = 0;
    for (size_t i = 0; i + 1 < w->n; i++) {
        const struct gap gap = gap_after(w, i);
        right += likeness(&gap, &gaps[i % 2]) > likeness(&gap, &gaps[1 - i % 2]);
        n++;
    }
    return 10 * right >= 9 * n;
}
