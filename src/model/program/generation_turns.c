/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images of several requests that are denoised in turns: a step of one, a step of another.  Ranges
 * tell them apart that number requests, or threads, or streams of the device, of which each has an
 * image; two passes of guidance on two threads or streams are one step, and what they denoise is
 * encoded and decoded once. */
#include "model/program/generation_marks.h"

#include <stdlib.h>

enum { KEYS_MOST = 1024 };

/* Calls with the same key are of the same request. */
struct turns {
    struct generation_finding *f;
    const size_t *between;
    int64_t *keys; /* of each call; TA_MISSING: it has none */
    TA_VEC(int64_t) all;
    size_t n_denoise, n_decodes, n_encodes;
};

static bool is_denoise(const struct ta_generation_call *call)
{
    return call->phase == TA_GENERATION_DENOISE;
}

static ta_str name_of(const struct generation_finding *f, size_t call)
{
    return f->spans.name[f->calls.at[call].mark];
}

/* ---- keys ------------------------------------------------------------------------------------ */

static int64_t number_in(const struct generation_finding *f, ta_row row)
{
    return generation_request_of(ta_trace_text(f->trace, f->spans.name[row]));
}

/* The number of the innermost range of a request around a call. */
static int64_t request_around(const struct generation_finding *f,
                              const struct ta_generation_call *call)
{
    size_t low = 0, high = f->requests.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct generation_request *at = &f->requests.at[middle];
        if (at->track < call->track ||
            (at->track == call->track && at->start <= call->time.host_start))
            low = middle + 1;
        else
            high = middle;
    }
    for (int i = 0; i < GENERATION_RANGES_MOST && low > 0; i++) {
        const struct generation_request *at = &f->requests.at[--low];
        if (at->track != call->track)
            break;
        if (at->end >= call->time.host_end)
            return at->number;
    }
    return TA_MISSING;
}

int64_t generation_request_at(const struct generation_finding *f, size_t call)
{
    if (f->requests.n)
        return request_around(f, &f->calls.at[call]);
    if (f->calls.at[call].mark == TA_NO_ROW)
        return TA_MISSING;
    const struct generation_mark *mark = generation_mark_of(f, f->calls.at[call].mark);
    int64_t number = number_in(f, mark->row);
    for (int i = 0; i < GENERATION_RANGES_MOST && number == TA_MISSING && mark->range != SIZE_MAX;
         i++) {
        mark = &f->marks.at[mark->range];
        number = number_in(f, mark->row);
    }
    return number;
}

static void key_by_request(struct turns *t)
{
    for (size_t i = 0; i < t->f->calls.n; i++)
        t->keys[i] = generation_request_at(t->f, i);
}

static void key_by_thread(struct turns *t)
{
    for (size_t i = 0; i < t->f->calls.n; i++)
        t->keys[i] = t->f->calls.at[i].track;
}

/* The stream that has most of what a call launched, by the majority vote of Boyer and Moore. */
static void key_by_stream(struct turns *t)
{
    const struct ta_activities activities = ta_trace_activities(t->f->trace);
    const uint32_t *call_of = t->f->found->call_of;
    size_t *votes = calloc(t->f->calls.n + 1, sizeof *votes);
    t->f->failed |= !votes;
    for (size_t i = 0; i < t->f->calls.n; i++)
        t->keys[i] = TA_MISSING;
    for (size_t i = 0; votes && i < activities.n; i++) {
        if (call_of[i] == UINT32_MAX || activities.at[i].kernel == TA_NO_KERNEL)
            continue;
        const int64_t stream = t->f->spans.track[activities.at[i].span];
        int64_t *key = &t->keys[call_of[i]];
        size_t *vote = &votes[call_of[i]];
        if (*vote == 0)
            *key = stream;
        *vote += *key == stream ? 1 : (size_t)-1;
    }
    free(votes);
}

static size_t place_of(const struct turns *t, int64_t key)
{
    size_t i = 0;
    while (i < t->all.n && t->all.at[i] != key)
        i++;
    return i;
}

/* How passes of the denoiser come by their keys. */
struct order {
    size_t switches, returns; /* to another key; of these to one that was there before */
    size_t fewest, most;      /* launched between passes of different keys */
};

/* False where a pass has no key or there are too many. */
static bool look_at_order(struct turns *t, struct order *order)
{
    *order = (struct order){.fewest = SIZE_MAX};
    t->all.n = 0;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < t->f->calls.n; i++) {
        if (!is_denoise(&t->f->calls.at[i]))
            continue;
        if (t->keys[i] == TA_MISSING)
            return false;
        const size_t place = place_of(t, t->keys[i]);
        const bool is_new = place == t->all.n;
        if (is_new && (place == KEYS_MOST || !ta_vec_push(&t->all, t->keys[i])))
            return false;
        if (last != SIZE_MAX && last + 1 == i && t->keys[last] != t->keys[i]) {
            order->switches++;
            order->returns += !is_new;
            order->fewest = t->between[last] < order->fewest ? t->between[last] : order->fewest;
            order->most = t->between[last] > order->most ? t->between[last] : order->most;
        }
        last = i;
    }
    return t->all.n > 1;
}

/* Whether each key has a prompt or a decode, as far as there are any. */
static bool have_ends(const struct turns *t)
{
    return (t->n_decodes == 0 && t->n_encodes == 0) || t->n_decodes >= t->all.n ||
           t->n_encodes >= t->all.n;
}

static bool are_requests(struct turns *t)
{
    struct order order;
    key_by_request(t);
    return look_at_order(t, &order) && order.returns > 0;
}

static bool are_turns(const struct turns *t, const struct order *order)
{
    enum { RETURNS_LEAST = 2, STEPS_A_TURN_MOST = 4 };
    return order->returns >= RETURNS_LEAST && order->switches * STEPS_A_TURN_MOST >= t->n_denoise &&
           have_ends(t);
}

static bool are_threads(struct turns *t)
{
    struct order order;
    key_by_thread(t);
    return look_at_order(t, &order) && are_turns(t, &order);
}

/* Passes of guidance follow each other at once, passes of images come after their schedulers. */
static bool are_streams(struct turns *t)
{
    enum { KERNELS_MORE = 3 };
    struct order order;
    key_by_stream(t);
    return !t->f->failed && look_at_order(t, &order) && are_turns(t, &order) &&
           order.most < order.fewest + KERNELS_MORE;
}

/* ---- calls that are no passes of the denoiser ------------------------------------------------ */

enum { NAMES_MOST = 8 };

/* What a request does at a time. */
struct state {
    size_t next; /* its next pass, or SIZE_MAX */
    int64_t last_end;
    bool has_prompt, is_denoised;
};

struct giving {
    struct turns *t;
    struct state *states; /* of each key */
    ta_str names[NAMES_MOST];
    size_t n_names, encoded_for, decoded_for;
};

static size_t next_pass(const struct turns *t, size_t key, size_t from)
{
    for (size_t i = from; i < t->f->calls.n; i++)
        if (is_denoise(&t->f->calls.at[i]) && t->keys[i] == t->all.at[key])
            return i;
    return SIZE_MAX;
}

/* A prompt is of the request that is denoised next and has none; several encoders read one prompt.
 */
static size_t give_encode(struct giving *g, size_t call)
{
    const ta_str name = name_of(g->t->f, call);
    bool is_known = g->n_names == NAMES_MOST;
    for (size_t i = 0; i < g->n_names; i++)
        is_known |= g->names[i] == name;
    if (g->n_names == 0 || is_known) {
        g->n_names = 0;
        g->encoded_for = SIZE_MAX;
        for (size_t k = 0; k < g->t->all.n; k++)
            if (!g->states[k].has_prompt &&
                (g->encoded_for == SIZE_MAX || g->states[k].next < g->states[g->encoded_for].next))
                g->encoded_for = k;
    }
    if (g->encoded_for == SIZE_MAX)
        g->encoded_for = 0;
    g->names[g->n_names++] = name;
    g->states[g->encoded_for].has_prompt = true;
    return g->encoded_for;
}

/* A decode is of the request that is not denoised any more, of several the one before. */
static size_t give_decode(struct giving *g)
{
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < g->t->all.n; k++) {
        const struct state *state = &g->states[k];
        if (state->is_denoised &&
            (best == SIZE_MAX || state->next > g->states[best].next ||
             (state->next == g->states[best].next && state->last_end < g->states[best].last_end)))
            best = k;
    }
    if (best == SIZE_MAX)
        return g->decoded_for;
    g->states[best].is_denoised = false;
    g->decoded_for = best;
    return best;
}

static size_t give(struct giving *g, size_t i)
{
    const struct ta_generation_call *call = &g->t->f->calls.at[i];
    const size_t own = place_of(g->t, g->t->keys[i]);
    if (call->phase != TA_GENERATION_TEXT_ENCODE && call->phase != TA_GENERATION_IMAGE_ENCODE)
        g->n_names = 0;
    if (is_denoise(call)) {
        g->states[own] = (struct state){.next = next_pass(g->t, own, i + 1),
                                        .last_end = call->time.host_end,
                                        .is_denoised = true};
        return own;
    }
    if (own < g->t->all.n) {
        g->states[own].is_denoised &= call->phase != TA_GENERATION_VAE_DECODE;
        g->decoded_for = call->phase == TA_GENERATION_VAE_DECODE ? own : g->decoded_for;
        return own;
    }
    return call->phase == TA_GENERATION_VAE_DECODE ? give_decode(g)
           : call->phase == TA_GENERATION_POST     ? g->decoded_for
           : call->phase == TA_GENERATION_LOAD     ? 0
                                                   : give_encode(g, i);
}

/* The number of the request of each call, as its image until images are found. */
static bool give_calls(struct turns *t)
{
    struct giving g = {.t = t, .states = calloc(t->all.n + 1, sizeof *g.states)};
    for (size_t k = 0; g.states && k < t->all.n; k++)
        g.states[k].next = next_pass(t, k, 0);
    for (size_t i = 0; g.states && i < t->f->calls.n; i++)
        t->f->calls.at[i].image = give(&g, i);
    free(g.states);
    return g.states != NULL;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* A range of each encoder is around prompts of all requests: the first name counts. */
static void count_calls(struct turns *t)
{
    ta_str encoder = TA_STR_ABSENT;
    for (size_t i = 0; i < t->f->calls.n; i++) {
        const struct ta_generation_call *call = &t->f->calls.at[i];
        t->n_denoise += is_denoise(call);
        t->n_decodes += call->phase == TA_GENERATION_VAE_DECODE;
        if (call->phase != TA_GENERATION_TEXT_ENCODE)
            continue;
        encoder = encoder == TA_STR_ABSENT ? name_of(t->f, i) : encoder;
        t->n_encodes += encoder == name_of(t->f, i);
    }
}

bool generation_find_turns(struct generation_finding *f, size_t *between)
{
    struct turns t = {.f = f, .between = between, .keys = calloc(f->calls.n + 1, sizeof *t.keys)};
    bool done = t.keys;
    for (size_t i = 0; i < f->calls.n; i++)
        f->calls.at[i].image = 0;
    f->found->n_at_once = 1;
    if (done)
        count_calls(&t);
    const bool by_request = done && are_requests(&t);
    const bool by_thread = done && !by_request && are_threads(&t);
    if (by_request || by_thread || (done && are_streams(&t))) {
        f->found->n_at_once = t.all.n;
        f->share_thread = !by_thread;
        done = give_calls(&t) && generation_sort_calls(f, between);
    }
    free(t.keys);
    free(t.all.at);
    return done && !f->failed;
}
