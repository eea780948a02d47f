/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/program/kernels/beats.h"

#include <stdlib.h>

static uint8_t signs_of(struct ta_slice name, const struct ta_kernel_facts *facts)
{
    static const char *const sine[] = {"sin_kernel", "cos_kernel",     "_sin_", "_cos_",
                                       "sinusoid",   "timestep_embed", NULL};
    static const char *const power[] = {"exp_kernel", "_exp_",          "pow_tensor", "_pow_",
                                        "sinusoid",   "timestep_embed", NULL};
    static const char *const trains[] = {
        "backward",      "wgrad",      "bwd",         "_grad_",    "gradinput", "nll_loss",
        "cross_entropy", "lossfor",    "optimizer",   "fusedadam", "gammabeta", "multi_tensor",
        "grad_input",    "gradweight", "grad_weight", NULL};
    static const char *const serves[] = {"argmax",      "paged",   "kv_cache", "kvcache",
                                         "multinomial", "lm_head", NULL};
    static const char *const lookups[] = {"vectorized_gather", "indexselect",  "embedding",
                                          "index_select",      "embed_kernel", NULL};
    const char *const family = facts->family;
    uint8_t signs = 0;
    if (facts->kind != TA_KERNEL_GEMM && ta_slice_has_any(name, sine))
        signs |= TA_BEAT_SINE;
    if (facts->kind != TA_KERNEL_GEMM && ta_slice_has_any(name, power))
        signs |= TA_BEAT_POWER;
    if (ta_slice_has_any(name, trains) || strcmp(family, "optimizer") == 0 ||
        strcmp(family, "loss") == 0)
        signs |= TA_BEAT_TRAINS;
    if (ta_slice_has_any(name, serves) || strcmp(family, "kv cache") == 0 ||
        strcmp(family, "sampling") == 0 || strcmp(family, "scheduling") == 0 ||
        strcmp(family, "moe routing") == 0)
        signs |= TA_BEAT_SERVES;
    if (facts->kind == TA_KERNEL_INDEX && ta_slice_has_any(name, lookups))
        signs |= TA_BEAT_LOOKUP;
    return signs;
}

static bool is_strong(enum ta_kernel_kind kind)
{
    switch (kind) {
    case TA_KERNEL_GEMM:
    case TA_KERNEL_ATTENTION:
    case TA_KERNEL_CONV:
    case TA_KERNEL_NORM:
    case TA_KERNEL_SOFTMAX:
    case TA_KERNEL_TRITON:
    case TA_KERNEL_OTHER:
        return true;
    default:
        return false;
    }
}

/* Kernels by their number, and after them copies and memory sets. */
struct sorts {
    struct ta_beat *of;
    size_t n;
};

static bool read_sorts(struct ta_beats *beats, struct sorts *sorts)
{
    const struct ta_kernels kernels = ta_trace_kernels(beats->trace);
    sorts->n = kernels.n + 1;
    sorts->of = calloc(sorts->n, sizeof *sorts->of);
    if (!sorts->of)
        return false;
    for (size_t k = 0; k < kernels.n; k++) {
        const struct ta_kernel_facts *facts = &kernels.at[k].facts;
        struct ta_beat *sort = &sorts->of[k];
        sort->signs = signs_of(ta_trace_text(beats->trace, kernels.at[k].name), facts);
        sort->kind = (uint8_t)facts->kind;
        sort->strong = is_strong(facts->kind) || (sort->signs & TA_BEAT_SINE);
    }
    sorts->of[kernels.n].kind = TA_KERNEL_COPY;
    return true;
}

/* A model of attention that is called again and again has this many; else there is no loop. */
enum { LEAST_BEATS = 64 };

/* Whether the kernels of the trace, by their names, can come from diffusion: something that
 * embeds time steps, or that decodes latents, and attention or a softmax. */
static bool is_possible(const struct sorts *sorts)
{
    uint8_t signs = 0;
    bool attends = false, convolves = false;
    for (size_t k = 0; k < sorts->n; k++) {
        signs |= sorts->of[k].signs;
        attends |=
            sorts->of[k].kind == TA_KERNEL_ATTENTION || sorts->of[k].kind == TA_KERNEL_SOFTMAX;
        convolves |= sorts->of[k].kind == TA_KERNEL_CONV;
    }
    return attends && (convolves || (signs & TA_BEAT_SINE && signs & TA_BEAT_POWER));
}

static size_t symbol_of(const struct ta_activity *a, const struct sorts *sorts)
{
    return a->kernel == TA_NO_KERNEL ? sorts->n - 1 : a->kernel;
}

/* The device with the most activities, and of it the track with the most strong ones. */
static bool find_stream(struct ta_beats *beats, const struct sorts *sorts, uint32_t *track)
{
    const struct ta_activities all = beats->activities;
    for (size_t from = 0, to; from < all.n; from = to) {
        to = ta_device_end(&all, from);
        if (to - from > beats->end - beats->first) {
            beats->first = from;
            beats->end = to;
        }
    }
    const size_t n_tracks = ta_trace_tracks(beats->trace).n;
    uint32_t *counts = calloc(n_tracks + 1, sizeof *counts);
    if (!counts)
        return false;
    for (size_t i = beats->first; i < beats->end; i++)
        counts[beats->spans.track[all.at[i].span]] +=
            sorts->of[symbol_of(&all.at[i], sorts)].strong;
    *track = 0;
    for (size_t t = 0; t < n_tracks; t++)
        if (counts[t] > counts[*track])
            *track = (uint32_t)t;
    free(counts);
    return true;
}

static void add_beat(struct ta_beats *beats, size_t activity, const struct sorts *sorts)
{
    const size_t symbol = symbol_of(&beats->activities.at[activity], sorts);
    struct ta_beat *beat = &beats->at[beats->n];
    *beat = sorts->of[symbol];
    beat->activity = (uint32_t)activity;
    beat->symbol = (uint32_t)symbol;
    if (beat->strong)
        beats->strong[beats->n_strong++] = (uint32_t)beats->n;
    for (int sign = 0; sign < 5; sign++)
        beats->signed_kernels[sign] += beat->signs >> sign & 1;
    beats->attention += beat->kind == TA_KERNEL_ATTENTION || beat->kind == TA_KERNEL_SOFTMAX;
    beats->convolutions += beat->kind == TA_KERNEL_CONV;
    beats->n++;
}

static bool read_beats(struct ta_beats *beats, const struct sorts *sorts)
{
    uint32_t track;
    if (!find_stream(beats, sorts, &track))
        return false;
    const size_t most = beats->end - beats->first;
    beats->device = most ? beats->activities.at[beats->first].device : TA_MISSING;
    beats->n_symbols = sorts->n;
    if (most < LEAST_BEATS || beats->activities.n >= UINT32_MAX)
        return true;
    beats->at = malloc(most * sizeof *beats->at);
    beats->strong = malloc(most * sizeof *beats->strong);
    if (!beats->at || !beats->strong)
        return false;
    for (size_t i = beats->first; i < beats->end; i++) {
        const struct ta_activity *a = &beats->activities.at[i];
        if (beats->spans.track[a->span] == track &&
            sorts->of[symbol_of(a, sorts)].kind != TA_KERNEL_COLLECTIVE)
            add_beat(beats, i, sorts);
    }
    return true;
}

bool ta_beats_read(const struct ta_trace *trace, struct ta_beats *beats)
{
    *beats = (struct ta_beats){
        .trace = trace, .spans = ta_trace_spans(trace), .activities = ta_trace_activities(trace)};
    struct sorts sorts = {0};
    const bool done =
        read_sorts(beats, &sorts) && (!is_possible(&sorts) || read_beats(beats, &sorts));
    free(sorts.of);
    return done;
}

void ta_beats_free(struct ta_beats *beats)
{
    free(beats->at);
    free(beats->strong);
    *beats = (struct ta_beats){0};
}
