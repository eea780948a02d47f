/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where one call ends and the next begins: what a seam looks like, and where there is one. */
#include "model/program/kernels/search.h"

int seam_common(const struct search *s, const uint32_t *side, size_t from, size_t to)
{
    int row[SIDE + 1] = {0};
    for (size_t i = from; i < to; i++) {
        const uint32_t here = search_symbol(s, i);
        int diagonal = 0;
        for (int k = 1; k <= SIDE; k++) {
            const int above = row[k];
            row[k] = here == side[k - 1] ? diagonal + 1 : row[k] > row[k - 1] ? row[k] : row[k - 1];
            diagonal = above;
        }
    }
    return row[SIDE];
}

/* 0 where the seam is not. */
static int likeness(const struct search *s, const struct seam *seam, size_t at, bool heads)
{
    const bool begins = search_symbol(s, at) == seam->after[0];
    const bool ends = at > 0 && search_symbol(s, at - 1) == seam->before[SIDE - 1];
    if (heads ? !begins : !begins && !ends)
        return 0;
    const size_t n = s->beats->n_strong;
    const int before = seam_common(s, seam->before, at > SIDE ? at - SIDE - 1 : 0, at);
    if (before < SIDE_LEAST && !heads)
        return 0;
    const int after = seam_common(s, seam->after, at, at + SIDE + 1 < n ? at + SIDE + 1 : n);
    return after < SIDE_LEAST ? 0 : 2 * (before + after) + begins + ends;
}

bool seam_ends_call(const struct search *s, const struct seam *seam, size_t at)
{
    return at > 0 && (search_symbol(s, at - 1) == seam->before[SIDE - 1] ||
                      seam_common(s, seam->before, at > SIDE ? at - SIDE - 1 : 0, at) > SIDE / 2);
}

void seams_list(struct search *s, const struct seam *seam, bool heads)
{
    int best = 0;
    size_t at = 0;
    s->begins.n = 0;
    for (size_t i = 0; i <= s->beats->n_strong; i++) {
        const int like = i < s->beats->n_strong ? likeness(s, seam, i, heads) : 0;
        if (best && (i > at + SIDE || i == s->beats->n_strong)) {
            const struct begin begin = {at, !heads || seam_ends_call(s, seam, at)};
            s->failed |= !ta_vec_push(&s->begins, begin);
            best = 0;
        }
        if (like > best) {
            best = like;
            at = i;
        }
    }
}

struct seam seam_at(const struct search *s, size_t at)
{
    struct seam seam;
    for (size_t k = 0; k < SIDE; k++) {
        seam.before[k] = search_symbol(s, at - SIDE + k);
        seam.after[k] = search_symbol(s, at + k);
    }
    return seam;
}

size_t seam_most_common(const struct search *s, const size_t *places, size_t n)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const struct seam seam = seam_at(s, places[i]);
        size_t same = 0;
        for (size_t k = 0; k < n; k++) {
            const struct seam other = seam_at(s, places[k]);
            same += memcmp(&seam, &other, sizeof seam) == 0;
        }
        if (same > most) {
            most = same;
            best = i;
        }
    }
    return places[best];
}
