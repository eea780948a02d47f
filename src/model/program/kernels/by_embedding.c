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

/* The first sine of each embedding; between two of them there is another product or attention. */
static size_t list_embeddings(const struct search *s, uint32_t *places)
{
    size_t n = 0;
    bool other = true;
    for (size_t i = 0; i < s->beats->n_strong; i++) {
        const bool sine = search_beat(s, i)->signs & TA_BEAT_SINE;
        if (sine && other && embeds_time(s, i))
            places[n++] = (uint32_t)i;
        other = !sine && (other || search_beat(s, i)->kind == TA_KERNEL_GEMM ||
                          beat_attends(search_beat(s, i)));
    }
    return n;
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
    uint32_t *places = malloc((s->beats->n_strong + 1) * sizeof *places);
    s->failed |= !places;
    const size_t n = places ? list_embeddings(s, places) : 0;
    s->is_embedded = true;
    if (n >= EMBEDDINGS_LEAST && begin_by_embeddings(s, places, n)) {
        s->time = calls_time(s, s->begins.at[0]);
        if (s->time > 0)
            s->failed |= !calls_keep(s);
        s->out->confidence = (double)n / (double)(n + 1);
    }
    s->is_embedded = false;
    free(places);
    return s->out->n > 0;
}
