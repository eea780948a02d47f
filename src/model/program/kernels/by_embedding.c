/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls by the embeddings of their time steps. */
#include "model/program/kernels/search.h"

/* A call embeds the time step once, before any attention: a sine after a power, so many beats at
 * most. */
enum { EMBEDS_WITHIN = 8, EMBEDDINGS_LEAST = 2 };

static bool embeds_time(const struct search *s, size_t i)
{
    const size_t at = s->beats->strong[i];
    if (!(s->beats->at[at].signs & TA_BEAT_SINE))
        return false;
    for (size_t k = 0; k <= EMBEDS_WITHIN && k <= at; k++)
        if (s->beats->at[at - k].signs & TA_BEAT_POWER)
            return true;
    return false;
}

/* Embeddings in the order of the trace. */
struct embeddings {
    uint32_t *at;       /* the first sine of each */
    uint32_t *products; /* products and convolutions before it */
    size_t n;
};

static bool multiplies(const struct ta_beat *beat)
{
    return beat->kind == TA_KERNEL_GEMM || beat->kind == TA_KERNEL_CONV;
}

/* Whether an embedding is of the same call as the one before, without attention between: of
 * guidance or of positions.  Two layers follow each; a call whose layers are skipped has more, and
 * begins like the one before. */
static bool is_second(const struct search *s, const struct embeddings *e, size_t i, size_t products)
{
    enum { PRODUCTS_MOST = 4, ALIKE_LEAST = 3 };
    const size_t before = e->at[e->n - 1], n = s->beats->n_strong;
    if (products <= e->products[e->n - 1] + PRODUCTS_MOST)
        return true;
    uint32_t after[SIDE];
    for (size_t k = 0; k < SIDE; k++)
        after[k] = before + k < n ? search_symbol(s, before + k) : UINT32_MAX;
    return seam_common(s, after, i, i + SIDE < n ? i + SIDE : n) < ALIKE_LEAST;
}

/* Positions are embedded right before attention, in layers too; a time step has two layers, and
 * what is attended has one. */
static void drop_positions(struct embeddings *e, size_t attended, size_t products)
{
    enum { PRODUCTS_LEAST = 2 };
    while (e->n > 0 && e->at[e->n - 1] > attended &&
           products < e->products[e->n - 1] + PRODUCTS_LEAST)
        e->n--;
}

static void list_embeddings(const struct search *s, struct embeddings *e)
{
    size_t products = 0, attended = 0;
    bool after_sine = false;
    for (size_t i = 0; i < s->beats->n_strong; i++) {
        const struct ta_beat *beat = search_beat(s, i);
        const bool sine = beat->signs & TA_BEAT_SINE;
        products += multiplies(beat);
        if (beat_attends(beat)) {
            drop_positions(e, attended, products);
            attended = i;
        }
        if (sine && !after_sine && embeds_time(s, i) &&
            !(e->n > 0 && e->at[e->n - 1] > attended && is_second(s, e, i, products))) {
            e->at[e->n] = (uint32_t)i;
            e->products[e->n++] = (uint32_t)products;
        }
        after_sine = sine || (after_sine && !multiplies(beat) && !beat_attends(beat));
    }
}

/* How many strong beats are alike before two places, without attention. */
static size_t alike_before(const struct search *s, size_t a, size_t b)
{
    enum { HEAD_MOST = 12 };
    size_t n = 0;
    while (n < HEAD_MOST && n < a && n < b &&
           search_symbol(s, a - n - 1) == search_symbol(s, b - n - 1) &&
           !beat_attends(search_beat(s, a - n - 1)))
        n++;
    return n;
}

/* How many strong beats a call has before its embedding: most calls have them in common with the
 * first one, which no other call is before. */
static size_t before_embedding(const struct search *s, const uint32_t *places, size_t n)
{
    size_t lengths[BASES_MOST], bases[BASES_MOST], found = 0, fit = 0;
    for (size_t i = 1; i < n && found < BASES_MOST; i++)
        lengths[found++] = alike_before(s, places[0], places[i]);
    qsort(lengths, found, sizeof *lengths, by_size);
    const size_t length = lengths[(found - 1) / 2];
    for (size_t i = 1; i < n && fit < BASES_MOST; i++)
        if (places[i] >= length)
            bases[fit++] = places[i] - length;
    const int later = seams_too_early(s, bases, fit);
    return later > 0 && (size_t)later <= length ? length - (size_t)later : length;
}

/* Beginnings of calls by embeddings; false where they are too near to the ends of the trace. */
static bool begin_by_embeddings(struct search *s, const uint32_t *places, size_t n)
{
    const size_t before = before_embedding(s, places, n);
    size_t bases[BASES_MOST], found = 0;
    for (size_t i = 1; i < n && found < BASES_MOST; i++)
        if (places[i] >= before && seam_fits(s, places[i] - before))
            bases[found++] = places[i] - before;
    if (found == 0)
        return false;
    s->seam = seam_at(s, seam_most_common(s, bases, found));
    s->begins.n = 0;
    for (size_t i = 0; i < n && !s->failed; i++) {
        const size_t at = places[i] > before ? places[i] - before : 0;
        const struct begin begin = {at, i > 0 && seam_ends_call(s, &s->seam, at)};
        s->failed |= !ta_vec_push(&s->begins, begin);
    }
    return !s->failed;
}

bool embeddings_try(struct search *s)
{
    const size_t most = s->beats->n_strong + 1;
    struct embeddings e = {malloc(most * sizeof *e.at), malloc(most * sizeof *e.products), 0};
    s->failed |= !e.at || !e.products;
    if (!s->failed)
        list_embeddings(s, &e);
    s->is_embedded = true;
    if (e.n >= EMBEDDINGS_LEAST && begin_by_embeddings(s, e.at, e.n)) {
        s->time = calls_time(s, s->begins.at[0]);
        if (s->time > 0)
            s->failed |= !calls_keep(s);
        s->out->confidence = (double)e.n / (double)(e.n + 1);
    }
    s->is_embedded = false;
    free(e.at);
    free(e.products);
    return s->out->n > 0;
}
