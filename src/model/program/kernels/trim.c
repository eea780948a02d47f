/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a scheduler launches at the end of a call is not of it. */
#include "model/program/kernels/search.h"

#include "base/hash.h"

/* A scheduler may have products of its own, which its first step lacks: so many strong beats at the
 * end, after so many weak ones, are not of the call. */
enum { SCHEDULER_STRONG = 6, SCHEDULER_WEAK = 3 };

/* The weak beats before a strong one, as one number. */
static uint64_t weak_hash(const struct search *s, size_t i)
{
    uint64_t hash = 0;
    for (size_t k = search_weak_before(s, i); k > 0; k--)
        hash = ta_hash_mix(hash + s->beats->at[s->beats->strong[i] - k].symbol + 1);
    return hash;
}

/* Whether the same weak beats come before an earlier strong one of the call. */
static bool is_of_model(const struct search *s, struct ta_stretch call, size_t at)
{
    const uint64_t hash = weak_hash(s, at);
    for (size_t i = call.from + 1; i < at; i++)
        if (search_weak_before(s, i) == search_weak_before(s, at) && weak_hash(s, i) == hash)
            return true;
    return false;
}

void calls_trim(struct search *s, struct ta_stretch *call)
{
    for (size_t m = 0; m < s->n_models; m++) {
        const struct ta_stretch model = s->models[m];
        struct pair p = {call->from, model.from, call->to, model.to, false};
        pair_walk(s, &p);
        if (p.b + 2 < model.to || call->to > p.a + SCHEDULER_STRONG)
            continue;
        size_t end = p.a + (model.to - p.b);
        while (end < call->to &&
               (search_weak_before(s, end) < SCHEDULER_WEAK || is_of_model(s, *call, end)))
            end++;
        call->to = end < call->to ? end : call->to;
    }
}
