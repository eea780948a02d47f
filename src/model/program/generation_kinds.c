/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which calls of a model do the same work, and how many layers the denoiser has.
 *
 * Calls are of one kind when they launch the same kernels as often, but for one in fifty: steps
 * that a cache shortens launch far fewer, and the first step of a run some others.  The likeness is
 * the Jaccard index of what they launch, |A ∩ B| / |A ∪ B|. */
#include "model/program/generation.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define LIKENESS_LEAST 0.98

/* Calls of one kind, by one of them. */
struct kind {
    size_t call; /* the first */
    size_t n;
    int64_t ns; /* of all of them */
    uint32_t place;
};

struct walk {
    const struct ta_trace *trace;
    struct ta_generation *found;
    size_t *first;     /* of each call, where its kernels begin among all; one more at the end */
    uint32_t *kernels; /* of the calls, call by call, ascending in each */
    TA_VEC(struct kind) kinds;
    uint32_t *kind_of; /* of each call */
};

static int ascending(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static bool list_kernels(struct walk *w)
{
    const struct ta_activities activities = ta_trace_activities(w->trace);
    const size_t n = w->found->n_calls;
    w->first = calloc(n + 2, sizeof *w->first);
    w->kernels = malloc((activities.n + 1) * sizeof *w->kernels);
    if (!w->first || !w->kernels)
        return false;
    for (size_t i = 0; i < activities.n; i++)
        if (w->found->call_of[i] != UINT32_MAX && activities.at[i].kernel != TA_NO_KERNEL)
            w->first[w->found->call_of[i] + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        w->first[i] += w->first[i - 1];
    for (size_t i = 0; i < activities.n; i++)
        if (w->found->call_of[i] != UINT32_MAX && activities.at[i].kernel != TA_NO_KERNEL)
            w->kernels[w->first[w->found->call_of[i] + 1]++] = activities.at[i].kernel;
    for (size_t i = 0; i < n; i++)
        if (w->first[i + 1] > w->first[i])
            qsort(w->kernels + w->first[i], w->first[i + 1] - w->first[i], sizeof *w->kernels,
                  ascending);
    return true;
}

static bool are_alike(const struct walk *w, size_t left, size_t right)
{
    const uint32_t *a = w->kernels + w->first[left], *a_end = w->kernels + w->first[left + 1];
    const uint32_t *b = w->kernels + w->first[right], *b_end = w->kernels + w->first[right + 1];
    const size_t all = (size_t)(a_end - a) + (size_t)(b_end - b);
    size_t common = 0;
    while (a < a_end && b < b_end) {
        common += *a == *b;
        const bool next_a = *a <= *b, next_b = *b <= *a;
        a += next_a;
        b += next_b;
    }
    return all == 0 || (double)common >= LIKENESS_LEAST * (double)(all - common);
}

static int64_t time_of(const struct ta_generation_call *call)
{
    return call->time.gpu_busy != TA_MISSING ? call->time.gpu_busy
                                             : call->time.host_end - call->time.host_start;
}

/* FNV-1a of what a call launches; equal calls have equal ones. */
static uint64_t hash_of(const struct walk *w, size_t call)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)w->found->calls[call].phase;
    for (size_t i = w->first[call]; i < w->first[call + 1]; i++)
        hash = (hash ^ w->kernels[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The kind that a call is like, or a new one. */
static bool kind_like(struct walk *w, size_t call, uint64_t *kind)
{
    enum { KINDS_MOST = 64 }; /* what differs more is of the last one */
    const struct ta_generation_call *calls = w->found->calls;
    size_t k = 0;
    while (k < w->kinds.n && k + 1 < KINDS_MOST &&
           (calls[w->kinds.at[k].call].phase != calls[call].phase ||
            !are_alike(w, w->kinds.at[k].call, call)))
        k++;
    *kind = k;
    return k < w->kinds.n || ta_vec_push(&w->kinds, ((struct kind){.call = call}));
}

static bool find_kinds(struct walk *w)
{
    const struct ta_generation *found = w->found;
    struct ta_map known = {0}; /* kinds by hash */
    bool done = (w->kind_of = calloc(found->n_calls + 1, sizeof *w->kind_of)) != NULL;
    for (size_t i = 0; done && i < found->n_calls; i++) {
        uint64_t *kind = ta_map_at(&known, hash_of(w, i), UINT64_MAX);
        done = kind && (*kind != UINT64_MAX || kind_like(w, i, kind));
        if (!done)
            break;
        w->kinds.at[*kind].n++;
        w->kinds.at[*kind].ns = ta_add_sat(w->kinds.at[*kind].ns, time_of(&found->calls[i]));
        w->kind_of[i] = (uint32_t)*kind;
    }
    ta_map_free(&known);
    return done;
}

/* Numbers the kinds of each phase by their mean times. */
static void number_kinds(struct walk *w)
{
    for (size_t k = 0; k < w->kinds.n; k++)
        for (size_t other = 0; other < w->kinds.n; other++) {
            const struct kind *a = &w->kinds.at[k], *b = &w->kinds.at[other];
            if (w->found->calls[a->call].phase != w->found->calls[b->call].phase)
                continue;
            const double mine = (double)a->ns / (double)a->n, its = (double)b->ns / (double)b->n;
            w->kinds.at[k].place += its > mine || (its >= mine && other < k);
        }
    for (size_t i = 0; i < w->found->n_calls; i++)
        w->found->calls[i].kind = w->kinds.at[w->kind_of[i]].place;
    for (size_t i = 0; i < w->found->n_steps; i++)
        w->found->steps[i].kind = w->found->calls[w->found->steps[i].first_call].kind;
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* Kernels of attention of one name and grid in a call. */
struct attention {
    uint32_t kernel;
    ta_str grid;
    size_t n;
    int64_t ns;
    int64_t before;               /* time of the last one */
    size_t first_long, last_long; /* pairs of which one takes clearly longer */
};

/* Attention to itself and attention to the text may be of one kernel. */
static void add_attention(struct attention *symbol, int64_t ns)
{
    const double longer = 1.2;
    if (symbol->n++ % 2) {
        symbol->first_long += (double)symbol->before > longer * (double)ns;
        symbol->last_long += (double)ns > longer * (double)symbol->before;
    }
    symbol->before = ns;
    symbol->ns += ns;
}

/* Whether they come in pairs, the one of which takes longer. */
static bool are_pairs(const struct attention *symbol)
{
    enum { PAIRS_LEAST = 2 };
    const double nearly_all = 0.9;
    const size_t pairs = symbol->n / 2;
    const size_t most =
        symbol->first_long > symbol->last_long ? symbol->first_long : symbol->last_long;
    return symbol->n % 2 == 0 && pairs >= PAIRS_LEAST && (double)most >= nearly_all * (double)pairs;
}

/* A layer has one self-attention: of the kernels of attention in a full forward those that take
 * longest, together, are as many as layers; twice as many where cross-attention is among them. */
static void find_layers(struct walk *w)
{
    enum { SYMBOLS_MOST = 32 };
    const struct ta_activities activities = ta_trace_activities(w->trace);
    const struct ta_kernels kernels = ta_trace_kernels(w->trace);
    const struct ta_spans s = ta_trace_spans(w->trace);
    const struct ta_args grid = ta_trace_args(w->trace, "grid");
    struct attention symbols[SYMBOLS_MOST];
    size_t n = 0, call = SIZE_MAX, longest = 0;
    for (size_t i = 0; i < w->found->n_calls; i++)
        if (w->found->calls[i].phase == TA_GENERATION_DENOISE && w->found->calls[i].kind == 0)
            call = i;
    for (size_t i = 0; call != SIZE_MAX && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (w->found->call_of[i] != call || a->kernel == TA_NO_KERNEL ||
            kernels.at[a->kernel].facts.kind != TA_KERNEL_ATTENTION)
            continue;
        const ta_str at = ta_args_text(&grid, a->span);
        size_t k = 0;
        while (k < n && (symbols[k].kernel != a->kernel || symbols[k].grid != at))
            k++;
        if (k == SYMBOLS_MOST)
            return;
        if (k == n)
            symbols[n++] = (struct attention){.kernel = a->kernel, .grid = at};
        add_attention(&symbols[k], s.dur[a->span]);
    }
    for (size_t k = 1; k < n; k++)
        longest = symbols[k].ns > symbols[longest].ns ? k : longest;
    if (n)
        w->found->layers = symbols[longest].n / (are_pairs(&symbols[longest]) ? 2 : 1);
}

bool generation_kinds(const struct ta_trace *trace, struct ta_generation *found)
{
    struct walk w = {.trace = trace, .found = found};
    const bool done = list_kernels(&w) && find_kinds(&w);
    if (done) {
        number_kinds(&w);
        find_layers(&w);
    }
    free(w.first);
    free(w.kernels);
    free(w.kinds.at);
    free(w.kind_of);
    return done;
}
