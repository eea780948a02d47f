/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether calls are alike, as calls of one model are. */
#include "model/program/kernels/search.h"

enum { LEAST_ATTENTION = 4 };

/* How often a call embeds a time step; with attention between, it is several calls.  Positions are
 * embedded right before attention, in layers too. */
static size_t embeddings_of(const struct search *s, struct ta_stretch call)
{
    enum { PRODUCTS_LEAST = 2 };
    size_t n = 0, products = 0;
    bool embeds = false;
    for (size_t i = call.from; i < call.to; i++) {
        const struct ta_beat *beat = search_beat(s, i);
        if (beat_attends(beat)) {
            n += embeds && products >= PRODUCTS_LEAST;
            embeds = false;
        } else if (beat->signs & TA_BEAT_SINE && !embeds) {
            embeds = true;
            products = 0;
        }
        products += beat->kind == TA_KERNEL_GEMM || beat->kind == TA_KERNEL_CONV;
    }
    return n + embeds;
}

/* Whether two calls have nine of ten strong beats in common, in whatever order. */
static bool resembles(struct search *s, struct ta_stretch call, struct ta_stretch model)
{
    size_t same = 0;
    for (size_t i = call.from; i < call.to; i++)
        s->counts[search_symbol(s, i)]++;
    for (size_t i = model.from; i < model.to; i++)
        if (s->counts[search_symbol(s, i)]) {
            s->counts[search_symbol(s, i)]--;
            same++;
        }
    for (size_t i = call.from; i < call.to; i++)
        s->counts[search_symbol(s, i)] = 0;
    const size_t a = call.to - call.from, b = model.to - model.from;
    return 10 * same >= 9 * (a > b ? a : b);
}

/* Where calls begin is sure, or they are long, what was lost in them matters less. */
static bool is_like(struct search *s, struct ta_stretch call, struct ta_stretch model)
{
    enum { LONG = 64 };
    return calls_cover(s, call, model) ||
           ((s->is_embedded || call.to - call.from >= LONG) && resembles(s, call, model));
}

double calls_regularity(struct search *s)
{
    size_t alike = 0, attention = 0, several = 0;
    for (size_t i = 0; i < s->calls.n; i++) {
        several += embeddings_of(s, s->calls.at[i]) > 1;
        bool known = false;
        for (size_t m = 0; m < s->n_models && !known; m++)
            known = s->models[m].from != s->calls.at[i].from &&
                    is_like(s, s->calls.at[i], s->models[m]);
        alike += known;
        const size_t n = search_attention(s, s->calls.at[i]);
        attention = n > attention ? n : attention;
    }
    for (size_t m = 0; m < s->n_models; m++) { /* themselves, where another is like them */
        size_t same = 0;
        for (size_t i = 0; i < s->calls.n && same < 2; i++)
            same += is_like(s, s->calls.at[i], s->models[m]);
        alike += same == 2;
    }
    return s->calls.n < 2 || attention < LEAST_ATTENTION || 2 * several > s->calls.n
               ? 0
               : (double)alike / (double)s->calls.n;
}
