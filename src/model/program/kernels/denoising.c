/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/program/kernels/denoiser.h"

#include <stdlib.h>

/* So many strong beats between two calls are the work of another model. */
enum { OTHER_MODEL = 12 };

static size_t strong_between(const struct denoiser *w, size_t i)
{
    return i + 1 < w->n ? w->found.at[i + 1].from - w->found.at[i].to : SIZE_MAX;
}

static void list_forwards(struct denoiser *w)
{
    const struct ta_beats *b = &w->beats;
    size_t image = 0;
    for (size_t i = 0; i < w->n; i++) {
        struct forward *f = &w->at[i];
        f->from = b->strong[w->found.at[i].from];
        f->to = (size_t)b->strong[w->found.at[i].to - 1] + 1;
        f->image = image;
        f->ends_image = strong_between(w, i) >= OTHER_MODEL;
        image += f->ends_image;
        for (size_t k = f->from; k < f->to; k++)
            f->attention += beat_attends(&b->at[k]);
    }
    w->out->n_images = image;
}

static void add_call(struct denoiser *w, enum ta_denoising_phase phase, size_t from, size_t to,
                     size_t image)
{
    const struct ta_denoising_call call = {.phase = phase,
                                           .first = w->beats.at[from].activity,
                                           .end = (size_t)w->beats.at[to - 1].activity + 1,
                                           .image = image,
                                           .step = SIZE_MAX};
    w->failed |= !ta_vec_push(&w->calls, call);
}

/* Calls of attention in beats [from, to). */
static size_t attention_in(const struct denoiser *w, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += beat_attends(&w->beats.at[i]);
    return n;
}

/* An encoder: beats [from, to), of images if a convolution comes first. */
static void add_encoder(struct denoiser *w, size_t from, size_t to, size_t image)
{
    size_t first = from;
    while (first < to && !w->beats.at[first].strong)
        first++;
    while (to > first + 1 && denoiser_is_copy(w, to - 1))
        to--;
    const bool sees = first < to && w->beats.at[first].kind == TA_KERNEL_CONV;
    add_call(w, sees ? TA_DENOISING_IMAGE : TA_DENOISING_TEXT, from, to, image);
}

/* What encodes: strong beats [from, to) with attention.  Another encoder, or another prompt, begins
 * with a look-up of embeddings, once the one before has attended. */
static void add_encoders(struct denoiser *w, size_t from, size_t to, size_t image)
{
    enum { ATTENTION_LEAST = 2 };
    const size_t end = (size_t)w->beats.strong[to - 1] + 1;
    size_t first = w->beats.strong[from], attention = 0;
    const size_t least = from ? (size_t)w->beats.strong[from - 1] + 1 : 0;
    for (size_t i = first; i-- > least;)
        if (w->beats.at[i].signs & TA_BEAT_LOOKUP)
            first = i;
    size_t left = attention_in(w, first, end);
    if (left < ATTENTION_LEAST)
        return;
    for (size_t i = first; i < end && !w->failed; i++) {
        attention += beat_attends(&w->beats.at[i]);
        left -= beat_attends(&w->beats.at[i]);
        if (!(w->beats.at[i].signs & TA_BEAT_LOOKUP) || attention < ATTENTION_LEAST ||
            left < ATTENTION_LEAST)
            continue;
        add_encoder(w, first, i, image);
        first = i;
        attention = 0;
    }
    if (!w->failed)
        add_encoder(w, first, end, image);
}

/* What lies in the strong beats [from, to) before the first call of an image and after the last of
 * the one before, if it is decoded: `decodes`. */
static void add_others(struct denoiser *w, size_t from, size_t to, size_t image, bool decodes)
{
    for (size_t i = from; i < to;) {
        const struct ta_stretch *wall = denoiser_wall_in(w, i, to);
        const size_t until = wall ? wall->from : to;
        if (decodes && wall) {
            /* Strong beats between the last call and the decoder's convolutions are its own. */
            add_call(w, TA_DENOISING_DECODE, w->beats.strong[i], w->beats.strong[wall->to - 1] + 1,
                     image - 1);
            decodes = false;
        } else {
            if (until > i)
                add_encoders(w, i, until, image);
            if (wall)
                add_call(w, TA_DENOISING_IMAGE, w->beats.strong[wall->from],
                         w->beats.strong[wall->to - 1] + 1, image);
        }
        i = wall ? wall->to : to;
    }
}

static void add_forward(struct denoiser *w, size_t i, bool begins_step)
{
    const struct forward *f = &w->at[i];
    add_call(w, TA_DENOISING_DENOISE, f->begin, f->end, f->image);
    if (!w->failed && begins_step && !f->updates)
        w->failed |= !ta_vec_push(
            &w->steps, (struct ta_denoising_step){w->calls.n - 1, 0, f->image, f->block});
    if (w->failed)
        return;
    struct ta_denoising_call *call = &w->calls.at[w->calls.n - 1];
    call->kind = f->kind;
    call->block = f->block;
    call->layers = f->attention;
    if (f->updates)
        return;
    call->step = w->steps.n - 1;
    w->steps.at[w->steps.n - 1].n_calls++;
}

static void list_calls(struct denoiser *w)
{
    add_others(w, 0, w->found.at[0].from, 0, false);
    for (size_t i = 0; i < w->n && !w->failed; i++) {
        add_forward(w, i, i == 0 || w->at[i - 1].ends_step);
        if (w->at[i].ends_image)
            add_others(w, w->found.at[i].to, denoiser_strong_after(w, i), w->at[i].image + 1, true);
    }
}

static void look(struct denoiser *w)
{
    w->n = w->found.n;
    w->at = calloc(w->n + 1, sizeof *w->at);
    w->failed |= !w->at;
    if (w->failed || w->n < 2)
        return;
    list_forwards(w);
    denoiser_borders(w);
    if (!denoiser_is_one(w))
        return;
    denoiser_kinds(w);
    denoiser_steps(w);
    if (w->failed)
        return;
    list_calls(w);
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i].kind == 0)
            w->out->layers =
                w->at[i].attention > w->out->layers ? w->at[i].attention : w->out->layers;
    w->out->n_forwards = w->n;
    w->out->confidence = w->found.confidence;
}

bool ta_denoising_find(const struct ta_trace *trace, struct ta_denoising *denoising)
{
    struct denoiser w = {.out = denoising};
    *denoising = (struct ta_denoising){0};
    w.failed = !ta_beats_read(trace, &w.beats) || !ta_forwards_find(&w.beats, &w.found);
    if (!w.failed)
        look(&w);
    denoising->calls = w.calls.at;
    denoising->n_calls = w.calls.n;
    denoising->steps = w.steps.at;
    denoising->n_steps = w.steps.n;
    free(w.at);
    ta_beats_free(&w.beats);
    ta_forwards_free(&w.found);
    if (w.failed || w.calls.n == 0) {
        ta_denoising_free(denoising);
    }
    return !w.failed;
}

void ta_denoising_free(struct ta_denoising *denoising)
{
    free(denoising->calls);
    free(denoising->steps);
    *denoising = (struct ta_denoising){0};
}
