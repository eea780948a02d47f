/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What proves that a model that is called again and again denoises: see denoising.h. */
#include "model/program/kernels/denoiser.h"

const struct ta_stretch *denoiser_wall_in(const struct denoiser *w, size_t from, size_t to)
{
    for (size_t i = 0; i < w->found.n_walls; i++)
        if (w->found.walls[i].from >= from && w->found.walls[i].to <= to &&
            w->found.walls[i].from < w->found.walls[i].to)
            return &w->found.walls[i];
    return NULL;
}

static bool is_decoded(const struct denoiser *w)
{
    size_t decoded = 0, several = 0, calls = 0;
    for (size_t i = 0; i < w->n; i++) {
        calls++;
        if (!w->at[i].ends_image)
            continue;
        if (denoiser_wall_in(w, w->found.at[i].to, denoiser_strong_after(w, i))) {
            decoded++;
            several += calls > 1;
        }
        calls = 0;
    }
    return several > 0 && 2 * several >= decoded && 2 * decoded >= w->out->n_images;
}

enum { NEAR = 8 };

static bool embeds_time(const struct denoiser *w, const struct forward *f)
{
    const struct ta_beat *at = w->beats.at;
    size_t power = SIZE_MAX;
    const size_t first = f->begin > NEAR ? f->begin - NEAR : 0;
    for (size_t i = first; i < f->to && !beat_attends(&at[i]); i++) {
        if (at[i].signs & TA_BEAT_POWER)
            power = i;
        if (at[i].signs & TA_BEAT_SINE && power != SIZE_MAX && i - power <= NEAR)
            return true;
    }
    return false;
}

static bool all_embed_time(const struct denoiser *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += embeds_time(w, &w->at[i]);
    return 10 * n >= 9 * w->n;
}

/* Beats with a sign in calls and between calls of one image. */
static size_t count_signs(const struct denoiser *w, uint8_t sign)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        const size_t end = w->at[i].ends_image ? w->at[i].end : w->at[i + 1].from;
        for (size_t k = w->at[i].begin; k < end; k++)
            n += (w->beats.at[k].signs & sign) != 0;
    }
    return n;
}

bool denoiser_is_one(const struct denoiser *w)
{
    return 2 * count_signs(w, TA_BEAT_TRAINS) < w->n && 2 * count_signs(w, TA_BEAT_SERVES) < w->n &&
           (is_decoded(w) || all_embed_time(w));
}
