/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time of attention grows with the square of the tokens of a sequence, all else with their
 * number.  Text that is in the sequence stays as long as it is. */
#include "scale.h"

#include <math.h>

const struct ta_ref scale_reads[SCALE_READS] = {
    [SCALE_RANK] = {"diffusion.tokens", "rank"},
    [SCALE_WIDTH] = {"diffusion.tokens", "width"},
    [SCALE_HEIGHT] = {"diffusion.tokens", "height"},
    [SCALE_FRAMES] = {"diffusion.tokens", "frames"},
    [SCALE_BATCH] = {"diffusion.tokens", "batch"},
    [SCALE_TOKENS] = {"diffusion.tokens", "tokens"},
    [SCALE_IMAGE_TOKENS] = {"diffusion.tokens", "image_tokens"},
    [SCALE_ATTENTION] = {"diffusion.tokens", "attention_share"},
};

struct sizes_now sizes_of_rank(const struct ta_refs *in, int64_t rank)
{
    struct sizes_now now = {.width = TA_MISSING};
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, SCALE_RANK); i++) {
        if (ta_ref_integer(in, SCALE_RANK, i) != rank)
            continue;
        now = (struct sizes_now){.width = ta_ref_integer(in, SCALE_WIDTH, i),
                                 .height = ta_ref_integer(in, SCALE_HEIGHT, i),
                                 .frames = ta_ref_integer(in, SCALE_FRAMES, i),
                                 .batch = ta_ref_integer(in, SCALE_BATCH, i),
                                 .tokens = ta_ref_integer(in, SCALE_TOKENS, i),
                                 .image_tokens = ta_ref_integer(in, SCALE_IMAGE_TOKENS, i),
                                 .attention = ta_ref_number(in, SCALE_ATTENTION, i, NAN)};
        n++;
    }
    const bool is_known = n == 1 && now.width > 0 && now.height > 0 && now.tokens > 0 &&
                          now.image_tokens > 0 && now.image_tokens <= now.tokens &&
                          !isnan(now.attention);
    now.width = is_known ? now.width : TA_MISSING;
    return now;
}

/* Tokens of a sequence if the image has `scale` times the pixels, or the video the frames. */
static double tokens_at(const struct sizes_now *now, double scale)
{
    return (double)(now->tokens - now->image_tokens) + scale * (double)now->image_tokens;
}

/* Device time; *attention gets the part of attention. */
static double device_at(const struct sizes_now *now, double device_ns, double scale,
                        double *attention)
{
    const double grown = tokens_at(now, scale) / (double)now->tokens;
    *attention = device_ns * now->attention * grown * grown;
    return *attention + device_ns * (1 - now->attention) * grown;
}

/* ---- the turning point --------------------------------------------------------------------- */

/* Image sizes are multiples of this many pixels. */
enum { PIXELS = 16 };

static int64_t rounded(double pixels)
{
    return PIXELS * (int64_t)ta_whole(pixels / PIXELS);
}

#define FARTHEST 16 /* largest factor by which pixels grow or shrink */

struct turn turn_of(const struct sizes_now *now, double device_ns, double host_ns)
{
    struct turn turn = {TA_MISSING, TA_MISSING, TA_MISSING};
    if (now->width == TA_MISSING || device_ns <= 0 || host_ns <= 0)
        return turn;
    /* device (a x² + (1 − a) x) = host, for x times the tokens */
    const double a = now->attention, wanted = host_ns / device_ns;
    const double grown =
        a > 0 ? (sqrt((1 - a) * (1 - a) + 4 * a * wanted) - (1 - a)) / (2 * a) : wanted;
    const double text = (double)(now->tokens - now->image_tokens);
    const double scale = (grown * (double)now->tokens - text) / (double)now->image_tokens;
    if (scale >= 1.0 / FARTHEST && scale <= FARTHEST) {
        turn.width = rounded(sqrt(scale) * (double)now->width);
        turn.height = rounded(sqrt(scale) * (double)now->height);
    }
    if (now->batch > 0 && wanted <= FARTHEST) {
        const double batch = (double)now->batch * wanted;
        turn.batch = (int64_t)ta_whole(wanted > 1 ? ceil(batch) : floor(batch));
        turn.batch = turn.batch > 0 ? turn.batch : TA_MISSING;
    }
    return turn;
}

/* ---- resolutions --------------------------------------------------------------------------- */

enum { RANK, WIDTH, HEIGHT, FRAMES, TOKENS, ATTENTION, DEVICE, TIMES, BOUND };
static const struct ta_column resolutions_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [WIDTH] = {"width", "Width", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
               .doc = "Width of the image in pixels"},
    [HEIGHT] = {"height", "Height", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
                .doc = "Height of the image in pixels"},
    [FRAMES] = {"frames", "Frames", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
                .doc = "Number of frames of the video"},
    [TOKENS] = {"tokens", "Tokens", TA_COUNT, .doc = "Tokens of the sequence, including the text"},
    [ATTENTION] = {"attention_share", "Attention", TA_RATIO,
                   .doc = "Share of the GPU time that is attention"},
    [DEVICE] = {"device_ns", "GPU time", TA_NS_MEAN, .better = TA_LOWER,
                .doc = "Estimated GPU time per step"},
    [TIMES] = {"times", "GPU time factor", TA_NUMBER,
               .doc = "Estimated GPU time divided by the GPU time now"},
    [BOUND] = {"bound", "Bound by", TA_WORD,
               .doc = "host or device, whichever would need longer for a step; either if it "
                      "depends on how much the recorder slowed the host"},
};

const struct ta_table_def resolutions = {
    "diffusion.resolutions",
    "Steps at other resolutions",
    TA_COLUMNS(resolutions_columns),
    .doc = "How long a denoising step would keep the GPU busy at other resolutions, and whether "
           "the host would then limit it. Attention is assumed to grow with the square of the "
           "number of tokens, everything else with their number; text and host time stay the same. "
           "A smaller image saves at most this much, since small kernels fill a GPU less. One row "
           "per rank and half, three quarters, one, one and a half and two times the width and "
           "height; for a video also twice the frames.",
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true};

static void add_resolution(int64_t rank, const struct sizes_now *now, const int64_t size[3],
                           const double needs[3], struct ta_section_builder *out)
{
    const double pixels = (double)now->width * (double)now->height;
    double scale = (double)size[0] * (double)size[1] / pixels, attention;
    if (now->frames > 0)
        scale *= (double)size[2] / (double)now->frames;
    const double device = device_at(now, needs[0], scale, &attention);
    TA_ROW(out, resolutions, [RANK] = ta_int(rank), [WIDTH] = ta_int(size[0]),
           [HEIGHT] = ta_int(size[1]), [FRAMES] = now->frames > 1 ? ta_int(size[2]) : ta_null(),
           [TOKENS] = ta_int(ta_whole(tokens_at(now, scale))),
           [ATTENTION] = ta_num(attention / device), [DEVICE] = ta_num(device),
           [TIMES] = ta_num(device / needs[0]),
           [BOUND] = ta_string(needs[2] <= device  ? "device"
                               : needs[1] > device ? "host"
                                                   : "either"));
}

void add_resolutions(int64_t rank, const struct sizes_now *now, double device_ns, double least_ns,
                     double most_ns, struct ta_section_builder *out)
{
    static const double sides[] = {0.5, 0.75, 1, 1.5, 2};
    const double needs[3] = {device_ns, least_ns, most_ns};
    if (now->width == TA_MISSING || device_ns <= 0)
        return;
    for (size_t i = 0; i < TA_LENGTH(sides); i++) {
        const int64_t size[3] = {
            sides[i] != 1 ? rounded(sides[i] * (double)now->width) : now->width,
            sides[i] != 1 ? rounded(sides[i] * (double)now->height) : now->height, now->frames};
        if (size[0] > 0 && size[1] > 0)
            add_resolution(rank, now, size, needs, out);
    }
    if (now->frames > 1 && now->frames < INT32_MAX) {
        const int64_t size[3] = {now->width, now->height, 2 * now->frames};
        add_resolution(rank, now, size, needs, out);
    }
}
