/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From shapes to pixels and tokens.
 *
 * The VAE says how many pixels a latent is, per side: what its first convolution reads to what its
 * last one makes.  Decoded in tiles or groups of frames, each pass makes a part of the picture, so
 * that latents of the whole count where the denoiser shows them: the input of its first
 * convolution.  How many tokens these are, its output says; a denoiser whose first layer is none
 * has packed latents, and then the tokens that are left in its attention must be as many as the
 * text encoders' are. */
#include "shown.h"

#include <stdio.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------------------------- */

/* Each length once, since several encoders read one text. */
static size_t find_lengths(const struct shown *shown, int64_t lengths[ENCODERS_MOST])
{
    size_t n = 0;
    for (size_t i = 0; i < shown->n_encoders; i++) {
        size_t k = 0;
        while (k < n && lengths[k] != shown->encoder[i].length)
            k++;
        lengths[k] = shown->encoder[i].length;
        n += k == n;
    }
    return n;
}

/* Whether texts of some of these lengths, one after the other, are so many tokens. */
static bool add_up(const int64_t *lengths, size_t n, int64_t tokens)
{
    for (unsigned set = 0; set < 1U << n; set++) {
        int64_t sum = 0;
        for (size_t i = 0; i < n; i++)
            sum = ta_add_sat(sum, set >> i & 1 ? lengths[i] : 0);
        if (sum == tokens)
            return true;
    }
    return false;
}

static void write_lengths(const int64_t *lengths, size_t n, char text[LENGTHS_ROOM])
{
    int at = 0;
    text[0] = 0;
    for (size_t i = 0; i < n && at < LENGTHS_ROOM; i++)
        at += snprintf(text + at, LENGTHS_ROOM - (size_t)at, "%s%lld", i ? " + " : "",
                       (long long)lengths[i]);
}

/* ---- pixels -------------------------------------------------------------------------------- */

static int64_t side(const struct conv_shape *shape, const int64_t *sizes, size_t from_end)
{
    return shape->n >= 2 ? sizes[shape->n - from_end] : TA_MISSING;
}

/* Pixels of a latent, per side; 0 where the decoder does not show it. */
static int64_t scale_of(const struct shown *shown)
{
    const int64_t squares = shown->colors.out_channels == 12   ? 2
                            : shown->colors.out_channels == 48 ? 4
                                                               : 1;
    const int64_t from = side(&shown->first, shown->first.out, 1);
    const int64_t to = side(&shown->colors, shown->colors.out, 1);
    if (shown->first.n < 2 || shown->colors.n < 2 || from < 1 || to % from)
        return 0;
    return squares * (to / from);
}

static void take_latents(const struct conv_shape *shape, const int64_t *of, struct sizes *sizes)
{
    sizes->channels = shape->in_channels;
    sizes->latent_width = side(shape, of, 1);
    sizes->latent_height = side(shape, of, 2);
    sizes->latent_frames = shape->n == SPACE_MAX ? of[0] : TA_MISSING;
}

/* Latents of the whole picture, by the denoiser, else by the only pass of the decoder. */
static void find_latents(const struct shown *shown, struct sizes *sizes)
{
    if (shown->patch.n >= 2)
        take_latents(&shown->patch, shown->patch.in, sizes);
    else if (shown->first.n >= 2 && shown->passes == 1)
        take_latents(&shown->first, shown->first.out, sizes);
}

/* Decoders of 4 or 16 channels make 8 pixels of a latent, as all that are known. */
static int64_t usual_scale(int64_t channels)
{
    return channels == 4 || channels == 16 ? 8 : 0;
}

static int64_t sized(int64_t product)
{
    return product == TOO_MUCH ? TA_MISSING : product;
}

static void find_pixels(const struct shown *shown, struct sizes *sizes)
{
    int64_t scale = scale_of(shown);
    const bool is_decoded = scale > 0;
    if (!is_decoded)
        scale = usual_scale(sizes->channels);
    if (scale == 0 || sizes->latent_width == TA_MISSING)
        return;
    sizes->width = sized(times(scale, sizes->latent_width));
    sizes->height = sized(times(scale, sizes->latent_height));
    if (!is_decoded)
        return;
    const bool in_time = shown->colors.n == SPACE_MAX;
    const int64_t one = side(&shown->first, shown->first.out, 1);
    const bool is_whole = one == sizes->latent_width &&
                          side(&shown->first, shown->first.out, 2) == sizes->latent_height;
    sizes->batch = in_time || !is_whole ? shown->colors.batch : shown->samples;
    if (!in_time)
        sizes->frames = sizes->latent_frames == TA_MISSING ? 1 : TA_MISSING;
    else if (is_whole)
        sizes->frames = shown->frames;
}

/* ---- tokens -------------------------------------------------------------------------------- */

/* The attention that takes most, and one of the same queries to fewer keys, the text. */
static void find_attention(const struct shown *shown, const struct shown_attention **self,
                           const struct shown_attention **cross)
{
    *self = *cross = NULL;
    for (size_t i = 0; i < shown->n_attention; i++)
        if (!*self || shown->attention[i].flop > (*self)->flop)
            *self = &shown->attention[i];
    for (size_t i = 0; i < shown->n_attention; i++) {
        const struct shown_attention *a = &shown->attention[i];
        if (a->sizes.keys < a->sizes.queries && a->sizes.queries == (*self)->sizes.queries &&
            (!*cross || a->sizes.keys > (*cross)->sizes.keys))
            *cross = a;
    }
}

static int64_t product_of(const int64_t *at, size_t n)
{
    int64_t product = 1;
    for (size_t i = 0; i < n; i++)
        product = times(product, at[i]);
    return product;
}

/* Whether `image` tokens of the sequence can be the picture's and the others the text's. */
static bool is_joint(const struct sizes *sizes, int64_t image, const int64_t *lengths, size_t n,
                     bool is_sure)
{
    enum { TEXT_MOST = 1024 };
    const int64_t text = sizes->tokens - image;
    if (image < 1 || text < 0)
        return false;
    return add_up(lengths, n, text) || (is_sure && text <= TEXT_MOST);
}

/* The picture's part of the sequence; TA_MISSING where nothing shows it. */
static int64_t image_part(const struct shown *shown, const struct sizes *sizes)
{
    int64_t lengths[ENCODERS_MOST];
    const size_t n = find_lengths(shown, lengths);
    const struct conv_shape *patch = &shown->patch;
    const bool is_patch = patch->n >= 2 && patch->is_told && patch->out[patch->n - 1] > 0 &&
                          patch->out[patch->n - 1] < patch->in[patch->n - 1];
    const int64_t patches = is_patch ? product_of(patch->out, patch->n) : TOO_MUCH;
    if (is_patch && is_joint(sizes, patches, lengths, n, true))
        return patches;
    if (sizes->latent_width == TA_MISSING)
        return TA_MISSING;
    for (int64_t p = 1; p <= 4; p *= 2) {
        const int64_t area = times(sizes->latent_width / p, sizes->latent_height / p);
        const int64_t all =
            sizes->latent_frames == TA_MISSING ? area : times(area, sizes->latent_frames);
        if (is_joint(sizes, all, lengths, n, false))
            return all;
    }
    return TA_MISSING;
}

static void find_tokens(const struct shown *shown, struct sizes *sizes)
{
    const struct shown_attention *self, *cross;
    find_attention(shown, &self, &cross);
    if (!self)
        return;
    sizes->forward_batch = self->sizes.batch;
    sizes->tokens = self->sizes.queries;
    sizes->keys = self->sizes.keys;
    sizes->heads = self->sizes.heads;
    sizes->depth = self->sizes.depth;
    if (cross && 2 * cross->calls >= self->calls) {
        sizes->image_tokens = sizes->tokens;
        sizes->text_tokens = cross->sizes.keys;
        sizes->text_in = TEXT_CROSS;
        return;
    }
    sizes->image_tokens = image_part(shown, sizes);
    if (sizes->image_tokens == TA_MISSING)
        return;
    sizes->text_tokens = sizes->tokens - sizes->image_tokens;
    sizes->text_in = sizes->text_tokens > 0 ? TEXT_JOINT : TEXT_NOWHERE;
}

/* ---- guidance ------------------------------------------------------------------------------ */

static enum guidance guidance_of(const struct shown *shown, const struct sizes *sizes)
{
    const int64_t batch = sizes->batch, samples = sizes->forward_batch;
    if (shown->per_step > 1) /* with both in one pass a step would have one */
        return batch == TA_MISSING || samples == TA_MISSING || samples == batch
                   ? GUIDANCE_SEQUENTIAL
                   : GUIDANCE_UNKNOWN;
    if (shown->per_step != 1 || batch == TA_MISSING || samples == TA_MISSING || batch < 1)
        return GUIDANCE_UNKNOWN;
    if (samples == 2 * batch || samples == 3 * batch)
        return GUIDANCE_BATCHED;
    return samples == batch ? GUIDANCE_NONE : GUIDANCE_UNKNOWN;
}

void sizes_find(const struct shown *shown, struct sizes *sizes)
{
    int64_t lengths[ENCODERS_MOST];
    const size_t n = find_lengths(shown, lengths);
    *sizes = (struct sizes){.width = TA_MISSING,
                            .height = TA_MISSING,
                            .frames = TA_MISSING,
                            .batch = TA_MISSING,
                            .forward_batch = TA_MISSING,
                            .tokens = TA_MISSING,
                            .keys = TA_MISSING,
                            .image_tokens = TA_MISSING,
                            .text_tokens = TA_MISSING,
                            .channels = TA_MISSING,
                            .latent_frames = TA_MISSING,
                            .latent_height = TA_MISSING,
                            .latent_width = TA_MISSING,
                            .heads = TA_MISSING,
                            .depth = TA_MISSING};
    write_lengths(lengths, n, sizes->lengths);
    for (size_t i = 0; i < shown->n_encoders; i++)
        sizes->prompts = ta_max_i64(sizes->prompts, shown->encoder[i].prompts);
    find_latents(shown, sizes);
    find_pixels(shown, sizes);
    find_tokens(shown, sizes);
    if (sizes->forward_batch == TA_MISSING && shown->patch.n)
        sizes->forward_batch = shown->patch.batch;
    sizes->guidance = guidance_of(shown, sizes);
}
