/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which calls of the denoiser are of one kind. */
#include "model/program/kernels/denoiser.h"

#include "base/hash.h"

#include <stdlib.h>

/* Calls that launch the same strong kernels are of a kind.  Where many are the same as another to
 * the beat, in order, those are the kinds, and what differs in few beats has lost or gained them:
 * hardly several times at the same place.  Else a kind is what differs in so many beats and so many
 * of a hundred, and in no symbol by more. */
enum {
    KINDS_MOST = 16,
    DIFFERENT = 3,
    PERCENT = 10,
    OF_SYMBOL = 15,
    RARER = 3,
    SURELY = 3,
    STRANGE_MOST = 4
};
#define LEAST_SAME 0.25

struct kinds {
    uint32_t *counts[KINDS_MOST]; /* of each symbol */
    size_t sizes[KINDS_MOST], members[KINDS_MOST];
    int64_t times[KINDS_MOST];
    size_t n;
};

/* Calls that are the same. */
struct same {
    uint64_t hash;
    size_t call, n; /* the first of them, and how many */
};

static void count_symbols(const struct denoiser *w, const struct forward *f, uint32_t *counts)
{
    memset(counts, 0, w->beats.n_symbols * sizeof *counts);
    for (size_t k = f->from; k < f->to; k++)
        counts[w->beats.at[k].symbol] += w->beats.at[k].strong;
}

/* In how many beats a call differs from a kind; SIZE_MAX where one symbol is too often in one of
 * them.  What the kind has not at all may be of another program. */
static size_t difference(const struct denoiser *w, const uint32_t *a, const uint32_t *b)
{
    size_t sum = 0;
    for (size_t s = 0; s < w->beats.n_symbols; s++) {
        const size_t most = a[s] > b[s] ? a[s] : b[s];
        const size_t more = most - (a[s] > b[s] ? b[s] : a[s]);
        if (b[s] ? 100 * more > 200 + OF_SYMBOL * most : more > STRANGE_MOST)
            return SIZE_MAX;
        sum += more;
    }
    return sum;
}

static bool add_kind(struct denoiser *w, struct kinds *kinds, const struct forward *f,
                     const uint32_t *counts)
{
    uint32_t *kept = malloc(w->beats.n_symbols * sizeof *kept);
    w->failed |= !kept;
    if (!kept)
        return false;
    memcpy(kept, counts, w->beats.n_symbols * sizeof *kept);
    kinds->counts[kinds->n] = kept;
    kinds->sizes[kinds->n++] = f->to - f->from;
    return true;
}

/* The kind that differs least; `n` without one that is near. */
static size_t nearest(const struct denoiser *w, const struct kinds *kinds, const struct forward *f,
                      const uint32_t *counts, size_t most)
{
    size_t best = kinds->n, least = most + 1;
    (void)f;
    for (size_t k = 0; k < kinds->n; k++) {
        const size_t differ = difference(w, counts, kinds->counts[k]);
        if (differ < least) {
            least = differ;
            best = k;
        }
    }
    return best;
}

static int by_hash(const void *left, const void *right)
{
    const struct same *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->call > b->call) - (a->call < b->call);
}

/* Most frequent first, then by place. */
static int by_number(const void *left, const void *right)
{
    const struct same *a = left, *b = right;
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return (a->call > b->call) - (a->call < b->call);
}

/* Groups of calls that are the same, frequent ones first; returns their number. */
static size_t find_same(const struct denoiser *w, struct same *same)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        same[i] = (struct same){0, i, 1};
        for (size_t k = w->at[i].from; k < w->at[i].to; k++)
            if (w->beats.at[k].strong)
                same[i].hash = ta_hash_mix(same[i].hash + w->beats.at[k].symbol + 1);
    }
    qsort(same, w->n, sizeof *same, by_hash);
    for (size_t i = 0, end; i < w->n; i = end) {
        for (end = i; end < w->n && same[end].hash == same[i].hash;)
            end++;
        same[n] = same[i];
        same[n++].n = end - i;
    }
    qsort(same, n, sizeof *same, by_number);
    return n;
}

/* Kinds of calls that are the same to the beat, if those are most. */
static void start_kinds(struct denoiser *w, struct kinds *kinds, uint32_t *counts)
{
    struct same *same = malloc(w->n * sizeof *same);
    w->failed |= !same;
    const size_t n = same ? find_same(w, same) : 0;
    size_t several = 0;
    for (size_t i = 0; i < n; i++)
        several += same[i].n > 1 ? same[i].n : 0;
    for (size_t i = 0; i < n && same[i].n > 1 && kinds->n < KINDS_MOST; i++) {
        if ((double)several < LEAST_SAME * (double)w->n)
            break;
        const struct forward *f = &w->at[same[i].call];
        count_symbols(w, f, counts);
        const size_t near = nearest(w, kinds, f, counts, DIFFERENT);
        if (near < kinds->n && (same[i].n < SURELY || kinds->members[near] >= RARER * same[i].n))
            continue;
        if (!add_kind(w, kinds, f, counts))
            break;
        kinds->members[kinds->n - 1] = same[i].n;
    }
    memset(kinds->members, 0, sizeof kinds->members);
    free(same);
}

static void find_kinds(struct denoiser *w, struct kinds *kinds)
{
    uint32_t *counts = malloc(w->beats.n_symbols * sizeof *counts);
    w->failed |= !counts;
    if (counts)
        start_kinds(w, kinds, counts);
    for (size_t i = 0; i < w->n && !w->failed; i++) {
        struct forward *f = &w->at[i];
        count_symbols(w, f, counts);
        size_t kind = nearest(w, kinds, f, counts, DIFFERENT + (f->to - f->from) * PERCENT / 100);
        if (kind == kinds->n && (kinds->n == KINDS_MOST || !add_kind(w, kinds, f, counts)))
            kind = kinds->n - 1;
        f->kind = (uint32_t)kind;
        kinds->members[kind]++;
        kinds->times[kind] += ta_beat_end(&w->beats, f->to - 1) - ta_beat_start(&w->beats, f->from);
    }
    free(counts);
}

static void free_kinds(struct kinds *kinds)
{
    for (size_t k = 0; k < kinds->n; k++)
        free(kinds->counts[k]);
    *kinds = (struct kinds){0};
}

/* Numbers kinds by the time of a call, longest first. */
static void order_kinds(struct denoiser *w, const struct kinds *kinds)
{
    uint32_t rank[KINDS_MOST] = {0};
    for (size_t a = 0; a < kinds->n; a++)
        for (size_t b = 0; b < kinds->n; b++) {
            const int64_t left = kinds->times[a] / ta_max_i64(1, (int64_t)kinds->members[a]);
            const int64_t right = kinds->times[b] / ta_max_i64(1, (int64_t)kinds->members[b]);
            rank[a] += right > left || (right == left && b < a);
        }
    for (size_t i = 0; i < w->n; i++)
        w->at[i].kind = rank[w->at[i].kind];
    w->out->n_kinds = kinds->n;
}

void denoiser_kinds(struct denoiser *w)
{
    struct kinds kinds = {0};
    find_kinds(w, &kinds);
    if (!w->failed)
        order_kinds(w, &kinds);
    free_kinds(&kinds);
}
