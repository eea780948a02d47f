/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two sequences of collectives of one group, from two ranks, aligned to each other. */
#include "ranks/match.h"

enum {
    SAMPLES = 64,      /* pairs of ends that a shift is judged by */
    SHIFTS_BEYOND = 8, /* recording may begin and end this many collectives apart */
    EDITS_MOST = 2000, /* left out on either side; the search takes their square in memory */
    JITTER_NS = 20000, /* ends keep their distance: less than this from one to the next */
    SURE_FROM = 10     /* collectives without which another shift is not better for sure */
};

static const struct ta_coll_record *record_at(const struct sequence *s, size_t i)
{
    return &s->ranks->records[s->at[i]];
}

static uint32_t token_at(const struct sequence *s, size_t i)
{
    return s->ranks->shapes[record_at(s, i)->shape].token;
}

/* ---- shifts --------------------------------------------------------------------------------- */

/* other[i] is base[i + shift], for i in [from, to). */
struct overlap {
    int64_t shift;
    size_t from, to;
};

static struct overlap overlap_of(const struct sequence *base, const struct sequence *other,
                                 int64_t shift)
{
    const int64_t from = ta_max_i64(0, -shift);
    const int64_t to = ta_min_i64((int64_t)other->n, (int64_t)base->n - shift);
    return (struct overlap){shift, (size_t)from, (size_t)ta_max_i64(from, to)};
}

static bool fits(const struct sequence *base, const struct sequence *other, struct overlap o)
{
    for (size_t i = o.from; i < o.to; i++)
        if (token_at(other, i) != token_at(base, (size_t)((int64_t)i + o.shift)))
            return false;
    return o.to > o.from;
}

/* How much the distance of the ends changes from one collective to the next: the median over up to
 * SAMPLES of them.  An offset of the clocks, and their drift, hardly show in it. */
static double spread(const struct sequence *base, const struct sequence *other, struct overlap o)
{
    double change[SAMPLES];
    const size_t pairs = o.to - o.from;
    size_t n = 0;
    if (pairs < 3)
        return 0;
    const size_t stride = (pairs - 1 + SAMPLES - 1) / SAMPLES;
    for (size_t i = o.from; i + 1 < o.to && n < SAMPLES; i += stride) {
        const size_t at = (size_t)((int64_t)i + o.shift);
        const int64_t mine = record_at(other, i + 1)->end - record_at(other, i)->end;
        const int64_t its = record_at(base, at + 1)->end - record_at(base, at)->end;
        change[n] = (double)mine - (double)its;
        change[n] = change[n] < 0 ? -change[n] : change[n];
        n++;
    }
    ta_sort_numbers(change, n);
    return ta_quantile(change, n, 0.5);
}

/* The best of the shifts that fit; false when none does.  A shift that is not the plain one has to
 * be better by far. */
static bool best_shift(const struct sequence *base, const struct sequence *other,
                       struct overlap *best)
{
    const int64_t spare = (int64_t)base->n - (int64_t)other->n;
    double least = 0;
    bool any = fits(base, other, *best = overlap_of(base, other, 0));
    const bool is_plain = any && spare == 0;
    if (any && ((least = spread(base, other, *best)) <= JITTER_NS))
        return true;
    for (int64_t shift = -SHIFTS_BEYOND; shift <= spare + SHIFTS_BEYOND; shift++) {
        const struct overlap o = overlap_of(base, other, shift);
        if (shift == 0 || o.to - o.from < 3 || !fits(base, other, o))
            continue;
        const double with = spread(base, other, o);
        const bool is_sure = o.to - o.from >= SURE_FROM && with <= JITTER_NS;
        if (!any || (with < least / 4 && (is_sure || !is_plain))) {
            *best = o;
            least = with;
            any = true;
        }
    }
    return any;
}

/* ---- the longest common subsequence --------------------------------------------------------- */

/* Myers' greedy search (Algorithmica 1, 1986): reach[d][k] is how far along `base` d edits lead on
 * diagonal k.  O((n + m) · d) time. */
struct search {
    const struct sequence *base, *other;
    int64_t n, m;
    int32_t **reach; /* of d edits: diagonals −d … d */
    int64_t edits;
};

static int64_t slide(const struct search *s, int64_t x, int64_t k)
{
    int64_t y = x - k;
    while (x < s->n && y < s->m && token_at(s->base, (size_t)x) == token_at(s->other, (size_t)y)) {
        x++;
        y++;
    }
    return x;
}

/* Whether diagonal k of d edits comes from k + 1 (one more of `other`) rather than k − 1. */
static bool comes_down(const int32_t *before, int64_t d, int64_t k)
{
    return k == -d || (k != d && before[k - 1 + d - 1] < before[k + 1 + d - 1]);
}

static bool search_edits(struct search *s)
{
    for (int64_t d = 0; d <= EDITS_MOST; d++) {
        int32_t *now = calloc((size_t)(2 * d + 1), sizeof *now);
        s->reach[d] = now;
        s->edits = d;
        if (!now)
            return false;
        for (int64_t k = -d; k <= d; k += 2) {
            int64_t x = 0;
            if (d > 0) {
                const int32_t *before = s->reach[d - 1];
                x = comes_down(before, d, k) ? before[k + 1 + d - 1] : before[k - 1 + d - 1] + 1;
            }
            x = slide(s, ta_min_i64(x, s->n), k);
            now[k + d] = (int32_t)x;
            if (x >= s->n && x - k >= s->m)
                return true;
        }
    }
    return true;
}

/* Walks back from the end; what was slid along is common. */
static void trace_back(const struct search *s, uint32_t *places)
{
    int64_t x = s->n, y = s->m;
    for (int64_t d = s->edits; d >= 0; d--) {
        const int64_t k = x - y;
        int64_t from_x = 0, from_y = 0;
        if (d > 0) {
            const int32_t *before = s->reach[d - 1];
            const int64_t from = comes_down(before, d, k) ? k + 1 : k - 1;
            from_x = before[from + d - 1];
            from_y = from_x - from;
        }
        while (x > from_x && y > from_y) {
            x--;
            y--;
            places[y] = (uint32_t)x;
        }
        x = from_x;
        y = from_y;
    }
}

static bool common_subsequence(const struct sequence *base, const struct sequence *other,
                               uint32_t *places)
{
    struct search s = {base, other, (int64_t)base->n, (int64_t)other->n, NULL, 0};
    s.reach = calloc(EDITS_MOST + 1, sizeof *s.reach);
    const bool done = s.reach && search_edits(&s);
    const int32_t *last = done ? s.reach[s.edits] : NULL;
    const int64_t k = s.n - s.m;
    if (last && k >= -s.edits && k <= s.edits && last[k + s.edits] >= s.n)
        trace_back(&s, places);
    for (int64_t d = 0; s.reach && d <= s.edits; d++)
        free(s.reach[d]);
    free(s.reach);
    return done;
}

bool sequence_align(const struct sequence *base, const struct sequence *other, uint32_t *places)
{
    struct overlap o;
    for (size_t i = 0; i < other->n; i++)
        places[i] = TA_COLL_NONE;
    if (!best_shift(base, other, &o))
        return common_subsequence(base, other, places);
    for (size_t i = o.from; i < o.to; i++)
        places[i] = (uint32_t)((int64_t)i + o.shift);
    return true;
}
