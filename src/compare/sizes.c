/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/sizes.h"

#include <math.h>

struct diff_size diff_size_read(const struct ta_refs *in, int64_t rank)
{
    struct diff_size size = {TA_MISSING, TA_MISSING,  TA_MISSING,  TA_MISSING,
                             TA_MISSING, (double)NAN, (double)NAN, (double)NAN};
    const size_t none = SIZE_MAX;
    size_t at = none;
    for (size_t i = 0; i < ta_ref_rows(in, TA_AS_IMAGE_WIDTH); i++) {
        if (ta_ref_rank(in, TA_AS_IMAGE_WIDTH, i) != rank)
            continue;
        if (at != none)
            return size; /* images of several sizes */
        at = i;
    }
    if (at == none)
        return size;
    return (struct diff_size){
        .width = ta_ref_integer(in, TA_AS_IMAGE_WIDTH, at),
        .height = ta_ref_integer(in, TA_AS_IMAGE_HEIGHT, at),
        .frames = ta_ref_integer(in, TA_AS_IMAGE_FRAMES, at),
        .batch = ta_ref_integer(in, TA_AS_IMAGE_BATCH, at),
        .samples = ta_ref_integer(in, TA_AS_IMAGE_SAMPLES, at),
        .image_tokens = ta_ref_number(in, TA_AS_IMAGE_TOKENS, at, (double)NAN),
        .tokens = ta_ref_number(in, TA_AS_SEQUENCE_TOKENS, at, (double)NAN),
        .attention = ta_ref_number(in, TA_AS_ATTENTION_SHARE, at, (double)NAN)};
}

static bool has_pixels(const struct diff_size *size)
{
    return size->width > 0 && size->height > 0;
}

static bool have_other_pixels(const struct diff_size sizes[TA_DIFF_SIDES])
{
    const struct diff_size *base = &sizes[TA_DIFF_BASE], *new = &sizes[TA_DIFF_NEW];
    return base->width != new->width || base->height != new->height;
}

static bool have_other_frames(const struct diff_size sizes[TA_DIFF_SIDES])
{
    const struct diff_size *base = &sizes[TA_DIFF_BASE], *new = &sizes[TA_DIFF_NEW];
    return base->frames > 0 && new->frames > 0 && base->frames != new->frames;
}

bool diff_sizes_differ(const struct diff_size sizes[TA_DIFF_SIDES])
{
    return has_pixels(&sizes[TA_DIFF_BASE]) && has_pixels(&sizes[TA_DIFF_NEW]) &&
           (have_other_pixels(sizes) || have_other_frames(sizes));
}

int64_t diff_size_batch(const struct diff_size sizes[TA_DIFF_SIDES], int side)
{
    const bool known = sizes[TA_DIFF_BASE].batch > 0 && sizes[TA_DIFF_NEW].batch > 0;
    return known ? sizes[side].batch : 1;
}

static double pixels_of(const struct diff_size *size, bool has_frames)
{
    return (double)size->width * (double)size->height * (has_frames ? (double)size->frames : 1);
}

double diff_size_pixels(const struct diff_size sizes[TA_DIFF_SIDES])
{
    const bool has_frames = have_other_frames(sizes);
    return pixels_of(&sizes[TA_DIFF_NEW], has_frames) / pixels_of(&sizes[TA_DIFF_BASE], has_frames);
}

double diff_size_tokens(const struct diff_size sizes[TA_DIFF_SIDES])
{
    const double base = sizes[TA_DIFF_BASE].image_tokens, new = sizes[TA_DIFF_NEW].image_tokens;
    return base > 0 && new > 0 ? new / base : diff_size_pixels(sizes);
}

double diff_size_work(const struct diff_size sizes[TA_DIFF_SIDES])
{
    const struct diff_size *base = &sizes[TA_DIFF_BASE], *new = &sizes[TA_DIFF_NEW];
    const double tokens =
        base->tokens > 0 && new->tokens > 0 ? new->tokens / base->tokens : diff_size_tokens(sizes);
    const double attention = base->attention >= 0 && base->attention <= 1 ? base->attention : 0;
    return (1 - attention) * tokens + attention * tokens * tokens;
}

static const char *size_text(struct diff *diff, const struct diff_size sizes[TA_DIFF_SIDES],
                             int side)
{
    const struct diff_size *size = &sizes[side];
    if (!have_other_frames(sizes))
        return ta_arena_printf(&diff->arena, "%lld×%lld", (long long)size->width,
                               (long long)size->height);
    if (!have_other_pixels(sizes))
        return ta_arena_printf(&diff->arena, "%lld%s", (long long)size->frames,
                               side == TA_DIFF_NEW ? " frames" : "");
    return ta_arena_printf(&diff->arena, "%lld×%lld of %lld frame%s", (long long)size->width,
                           (long long)size->height, (long long)size->frames,
                           size->frames == 1 ? "" : "s");
}

const char *diff_size_change(struct diff *diff, const struct diff_size sizes[TA_DIFF_SIDES])
{
    const bool is_less = diff_size_pixels(sizes) < 1;
    const bool is_video = sizes[TA_DIFF_BASE].frames > 1 || sizes[TA_DIFF_NEW].frames > 1;
    const char *old = size_text(diff, sizes, TA_DIFF_BASE);
    const char *now = size_text(diff, sizes, TA_DIFF_NEW);
    if (!old || !now)
        return NULL;
    return ta_arena_printf(&diff->arena, "%s %s (%s → %s)",
                           have_other_pixels(sizes) ? is_less ? "smaller" : "larger"
                           : is_less                ? "shorter"
                                                    : "longer",
                           is_video ? "videos" : "images", old, now);
}

const char *diff_size_tokens_text(struct diff *diff, const struct diff_size sizes[TA_DIFF_SIDES])
{
    const bool known = sizes[TA_DIFF_BASE].image_tokens > 0 && sizes[TA_DIFF_NEW].image_tokens > 0;
    const double ratio = diff_size_tokens(sizes), times = ratio < 1 ? 1 / ratio : ratio;
    /* Longer videos that are made block by block may have fewer in each pass. */
    const bool is_other_way =
        (ratio < 1) != (sizes[TA_DIFF_NEW].frames < sizes[TA_DIFF_BASE].frames) &&
        sizes[TA_DIFF_NEW].frames != sizes[TA_DIFF_BASE].frames;
    return ta_arena_printf(&diff->arena, "%.*f× %s %s%s",
                           times < 10 && times != rint(times) ? 1 : 0, times,
                           ratio < 1 ? "fewer" : "more", known ? "image tokens" : "pixels",
                           is_other_way ? " a pass" : "");
}
