/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first call of a level, and a seam as later ones have it. */
#include "model/program/kernels/search.h"

#include "model/program/kernels/levels.h"

size_t seam_most_weak(const struct search *s, size_t from, size_t to)
{
    size_t best = to;
    for (size_t i = from + 1; i <= to; i++)
        if (search_weak_before(s, i) > search_weak_before(s, best))
            best = i;
    return best;
}

int seams_too_early(const struct search *s, const size_t *places, size_t n)
{
    enum { EARLY_MOST = 3, LATE_MOST = 8 };
    int best = 0;
    size_t most = 0;
    for (int later = 0; later >= -LATE_MOST; later = later > 0 && later < EARLY_MOST ? later + 1
                                                     : later == EARLY_MOST           ? -1
                                                     : later == 0                    ? 1
                                                                                     : later - 1) {
        size_t weak = 0;
        for (size_t i = 0; i < n; i++) {
            if (later < 0 && places[i] < (size_t)-later)
                continue; /* before the first beat */
            const size_t at = (size_t)((ssize_t)places[i] + later);
            weak += seam_fits(s, at) ? search_weak_before(s, at) : 0;
        }
        if (later < 0 ? weak > 2 * most + 1 : weak > most) {
            most = weak;
            best = later;
        }
    }
    return best;
}

/* The earliest start that some of the bases agree on.  Only a few go further back, where several
 * images are alike from their encoders on. */
static size_t usual_start(size_t *starts, size_t n)
{
    enum { SOME = 5 };
    qsort(starts, n, sizeof *starts, by_size);
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        while (i + same < n && starts[i + same] <= starts[i] + 2)
            same++;
        if (same * SOME >= n)
            return starts[i];
    }
    return starts[0];
}

bool seam_find(const struct search *s, struct ta_stretch window, const struct ta_level *level,
               struct begin *first, size_t *at)
{
    const size_t n = level->count < BASES_MOST ? level->count : BASES_MOST;
    size_t start, places[BASES_MOST], found = 0;
    for (size_t i = 1; i < n; i++) {
        struct pair p = {level->base[0], level->base[i], window.from, window.from, true};
        pair_walk(s, &p);
        places[i - 1] = p.a;
    }
    start = usual_start(places, n - 1);
    for (size_t i = 1; i < n; i++) {
        struct pair p = {level->base[0], level->base[i], start, window.from, true};
        pair_walk(s, &p);
        if (p.a <= start + 1 && seam_fits(s, p.b))
            places[found++] = p.b;
    }
    if (found == 0)
        return false;
    int later = seams_too_early(s, places, found);
    if (later < 0 && start < window.from + (size_t)-later)
        later = 0;
    for (size_t i = 0; i < found; i++)
        places[i] = (size_t)((ssize_t)places[i] + later);
    *first = (struct begin){(size_t)((ssize_t)start + later), false};
    *at = seam_most_common(s, places, found);
    return seam_fits(s, *at);
}
