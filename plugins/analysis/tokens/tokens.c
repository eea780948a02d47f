/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.tokens: what is generated, by the shapes of operators: pixels, frames, samples of a
 * pass of the denoiser, tokens of the picture and of the text, and what attention has of the work.
 */
#include "shown.h"

#include <stdio.h>

enum {
    RANK,
    WIDTH,
    HEIGHT,
    FRAMES,
    BATCH,
    FORWARD_BATCH,
    GUIDANCE,
    TOKENS,
    KEYS,
    IMAGE_TOKENS,
    TEXT_IN,
    LENGTHS,
    LATENTS,
    HEADS,
    DEPTH,
    IMAGES,
    STEPS,
    FORWARDS,
    TEXT_TOKENS,
    PROMPTS,
    ATTENTION_NS,
    KERNEL_NS,
    ATTENTION_MFLOP,
    PRODUCT_MFLOP,
    PRODUCT_NS,
    KNOWN_NS,
    PER_STEP,
    LATENT_FRAMES,
    FIELDS
};
static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [WIDTH] = {"width", TA_FIELD_INT},
    [HEIGHT] = {"height", TA_FIELD_INT},
    [FRAMES] = {"frames", TA_FIELD_INT},
    [BATCH] = {"batch", TA_FIELD_INT},
    [FORWARD_BATCH] = {"forward_batch", TA_FIELD_INT},
    [GUIDANCE] = {"guidance", TA_FIELD_INT},
    [TOKENS] = {"tokens", TA_FIELD_INT},
    [KEYS] = {"keys", TA_FIELD_INT},
    [IMAGE_TOKENS] = {"image_tokens", TA_FIELD_INT},
    [TEXT_IN] = {"text_in", TA_FIELD_INT},
    [LENGTHS] = {"lengths", TA_FIELD_TEXT},
    [LATENTS] = {"latents", TA_FIELD_TEXT},
    [HEADS] = {"heads", TA_FIELD_INT},
    [DEPTH] = {"head_size", TA_FIELD_INT},
    [IMAGES] = {"images", TA_FIELD_SUM},
    [STEPS] = {"steps", TA_FIELD_SUM},
    [FORWARDS] = {"forwards", TA_FIELD_SUM},
    [TEXT_TOKENS] = {"text_tokens", TA_FIELD_MAX},
    [PROMPTS] = {"prompts", TA_FIELD_MAX},
    [ATTENTION_NS] = {"attention_ns", TA_FIELD_SUM},
    [KERNEL_NS] = {"kernel_ns", TA_FIELD_SUM},
    [ATTENTION_MFLOP] = {"attention_mflop", TA_FIELD_SUM},
    [PRODUCT_MFLOP] = {"product_mflop", TA_FIELD_SUM},
    [PRODUCT_NS] = {"product_ns", TA_FIELD_SUM},
    [KNOWN_NS] = {"known_ns", TA_FIELD_SUM},
    [PER_STEP] = {"forwards_per_step", TA_FIELD_MAX},
    [LATENT_FRAMES] = {"latent_frames", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {{"kinds", fields, FIELDS}, {0}};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {
    {0, GUIDANCE, GUIDANCES}, {0, TEXT_IN, TEXTS}, TA_BOUNDS_END};

/* ---- map ----------------------------------------------------------------------------------- */

struct taking {
    const struct ta_trace *trace;
    struct ta_partial *out;
};

/* "16×128×128": channels, frames of a video, height, width; "" where they are not known. */
static void write_latents(const struct sizes *sizes, char *text, size_t room)
{
    text[0] = 0;
    if (sizes->latent_width == TA_MISSING)
        return;
    char frames[24] = "";
    if (sizes->latent_frames != TA_MISSING)
        snprintf(frames, sizeof frames, "%lld×", (long long)sizes->latent_frames);
    snprintf(text, room, "%lld×%s%lld×%lld", (long long)sizes->channels, frames,
             (long long)sizes->latent_height, (long long)sizes->latent_width);
}

static void take(void *user, const struct shown *shown)
{
    const struct taking *taking = user;
    struct sizes sizes;
    char latents[96];
    sizes_find(shown, &sizes);
    if (sizes.tokens == TA_MISSING && sizes.width == TA_MISSING && !sizes.lengths[0])
        return;
    write_latents(&sizes, latents, sizeof latents);
    int64_t *row = TA_PARTIAL_ROW(
        taking->out, ta_key_int(ta_trace_rank(taking->trace)), ta_key_int(sizes.width),
        ta_key_int(sizes.height), ta_key_int(sizes.frames), ta_key_int(sizes.batch),
        ta_key_int(sizes.forward_batch), ta_key_int(sizes.guidance), ta_key_int(sizes.tokens),
        ta_key_int(sizes.keys), ta_key_int(sizes.image_tokens), ta_key_int(sizes.text_in),
        ta_key_text(ta_slice_of(sizes.lengths)), ta_key_text(ta_slice_of(latents)),
        ta_key_int(sizes.heads), ta_key_int(sizes.depth));
    int64_t attention = 0;
    for (size_t i = 0; i < shown->n_attention; i++)
        attention = ta_add_sat(attention, shown->attention[i].flop / 1000000);
    ta_sum(&row[IMAGES], 1);
    ta_sum(&row[STEPS], shown->steps);
    ta_sum(&row[FORWARDS], shown->forwards);
    ta_most(&row[TEXT_TOKENS], sizes.text_tokens);
    ta_most(&row[PROMPTS], sizes.prompts);
    ta_sum(&row[ATTENTION_NS], shown->attention_ns);
    ta_sum(&row[KERNEL_NS], shown->kernel_ns);
    ta_sum(&row[ATTENTION_MFLOP], attention);
    ta_sum(&row[PRODUCT_MFLOP], shown->product_flop / 1000000);
    ta_sum(&row[PRODUCT_NS], shown->product_ns);
    ta_sum(&row[KNOWN_NS], shown->known_ns);
    ta_most(&row[PER_STEP], shown->per_step);
    ta_most(&row[LATENT_FRAMES], sizes.latent_frames);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    struct taking taking = {trace, out[0]};
    if (!found)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
    if (found->by == TA_GENERATION_BY_NOTHING || found->n_calls == 0)
        return TA_OK;
    return shown_images(trace, found, take, &taking)
               ? TA_OK
               : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the sizes of images");
}

/* ---- table --------------------------------------------------------------------------------- */

enum {
    COL_RANK,
    COL_IMAGES,
    COL_WIDTH,
    COL_HEIGHT,
    COL_FRAMES,
    COL_BATCH,
    COL_GUIDANCE,
    COL_FORWARD_BATCH,
    COL_TOKENS,
    COL_IMAGE_TOKENS,
    COL_TEXT_TOKENS,
    COL_TEXT_IN,
    COL_LENGTHS,
    COL_LATENTS,
    COL_KEYS,
    COL_HEADS,
    COL_DEPTH,
    COL_STEPS,
    COL_ATTENTION,
    COL_ATTENTION_FLOP,
    COL_TEXT_SHARE,
    COL_STEP_FLOP,
    COL_FRAME_FLOP,
    COL_FRAME_TOKENS
};
static const struct ta_column kinds_columns[] = {
    [COL_RANK] = TA_RANK_COLUMN,
    [COL_IMAGES] = {"images", "Images", TA_COUNT,
                    .doc = "Images, videos or requests of these sizes in the recording"},
    [COL_WIDTH] = {"width", "Width", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
                   .read_as = TA_AS_IMAGE_WIDTH,
                   .doc = "Width in pixels: width of the latents times the decoder's scale"},
    [COL_HEIGHT] = {"height", "Height", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
                    .read_as = TA_AS_IMAGE_HEIGHT,
                    .doc = "Height in pixels: height of the latents times the decoder's scale"},
    [COL_FRAMES] =
        {"frames", "Frames", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
         .read_as = TA_AS_IMAGE_FRAMES,
         .doc =
             "Frames of a video as decoded; 1 for an image; empty if the decoder works in tiles"},
    [COL_BATCH] = {"batch", "Batch", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
                   .read_as = TA_AS_IMAGE_BATCH,
                   .doc = "Images or videos generated together, as the decoder shows"},
    [COL_GUIDANCE] =
        {"guidance", "Guidance", TA_WORD,
         .doc = "How guidance (CFG) is computed. batched: both predictions in one pass, which has "
                "twice as many samples as images; sequential: several passes per step; none; "
                "unknown: the decoder's batch was not recorded or ranks may share guidance"},
    [COL_FORWARD_BATCH] = {"forward_batch", "Samples", TA_COUNT, .read_as = TA_AS_IMAGE_SAMPLES,
                           .doc = "Samples in one denoiser pass"},
    [COL_TOKENS] =
        {"tokens", "Tokens", TA_COUNT, .read_as = TA_AS_SEQUENCE_TOKENS,
         .doc = "Sequence length per sample: queries of the attention that takes most of the time"},
    [COL_IMAGE_TOKENS] =
        {"image_tokens", "Image tokens", TA_COUNT, .read_as = TA_AS_IMAGE_TOKENS,
         .doc = "Tokens of the image or video; empty if nothing separates them from text tokens"},
    [COL_TEXT_TOKENS] =
        {"text_tokens", "Text tokens", TA_COUNT,
         .doc = "Other tokens of the sequence, or the keys of cross-attention; padding counts"},
    [COL_TEXT_IN] =
        {"text_in", "Text attention", TA_WORD,
         .doc =
             "joint: text and image are one sequence; cross: the image attends to the text; none"},
    [COL_LENGTHS] = {"text_lengths", "Text lengths", TA_TEXT,
                     .doc = "Tokens of a text as the encoders read it, each length once; prompts "
                            "are padded to it"},
    [COL_LATENTS] = {"latents", "Latents", TA_TEXT,
                     .doc = "Size of the latents: channels, frames of a video, height and width"},
    [COL_KEYS] =
        {"keys", "Attention keys", TA_COUNT, .detail = true,
         .doc = "Keys of that attention; more than tokens if it also reads keys of earlier blocks"},
    [COL_HEADS] = {"heads", "Heads", TA_COUNT, .detail = true, .doc = "Heads of that attention"},
    [COL_DEPTH] = {"head_size", "Head size", TA_COUNT, .detail = true,
                   .doc = "Head size of that attention"},
    [COL_STEPS] = {"steps", "Steps", TA_COUNT, .detail = true,
                   .doc = "Denoising steps of these images, videos or requests"},
    [COL_ATTENTION] = {"attention_share", "Attention", TA_RATIO, .read_as = TA_AS_ATTENTION_SHARE,
                       .doc = "Attention kernels divided by all compute kernels, by time, in "
                              "passes that do full work"},
    [COL_ATTENTION_FLOP] = {"attention_flop_share", "Attention FLOPs share", TA_RATIO,
                            .doc = "FLOPs of attention (4 × queries × keys × heads × head size) "
                                   "divided by the FLOPs of all matmuls and convolutions; empty if "
                                   "less than nine tenths of them, by time, have known FLOPs"},
    [COL_TEXT_SHARE] = {"text_pairs_share", "Text in attention", TA_RATIO,
                        .doc = "Query-key pairs with at least one text token divided by all pairs: "
                               "what joint attention spends on the text, including its padding"},
    [COL_STEP_FLOP] = {"step_flop", "FLOPs per step", TA_TYPE_NUMBER, TA_UNIT_FLOP,
                       .doc =
                           "FLOPs of a step whose passes do full work, on this rank; empty if too "
                           "few FLOPs are known, or if steps differ in their number of passes"},
    [COL_FRAME_FLOP] = {"frame_flop", "FLOPs per frame", TA_TYPE_NUMBER, TA_UNIT_FLOP,
                        .detail = true,
                        .doc = "FLOPs of all passes in the recording that do full work, over the "
                               "images, or the frames of the videos, on this rank"},
    [COL_FRAME_TOKENS] = {"frame_tokens", "Tokens per frame", TA_COUNT, .detail = true,
                          .doc = "For a video: tokens in one pass over the frames of its latents"},
};

static const struct ta_table_def kinds = {
    "diffusion.tokens",
    "Sizes and tokens",
    TA_COLUMNS(kinds_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and kind of image or video, from operator shapes (`record_shapes`), "
           "independent of range names. Pixels are latents times the VAE's scale. Latents are the "
           "input of the denoiser's first convolution, otherwise of the decoder's only pass; "
           "without a decoder in the recording, latents with 4 or 16 channels count 8 pixels. "
           "Image tokens are the output of that convolution, or latents in squares of 1, 2 or 4, "
           "such that the rest of the sequence is as long as the encoders' texts.",
    .brief = &(const struct ta_brief){
        .place = 257,
        .rows = 4,
        .first = {&kinds_columns[COL_WIDTH], &kinds_columns[COL_HEIGHT],
                  &kinds_columns[COL_GUIDANCE], &kinds_columns[COL_IMAGE_TOKENS],
                  &kinds_columns[COL_TEXT_TOKENS], &kinds_columns[COL_ATTENTION]},
        .never = {&kinds_columns[COL_IMAGES], &kinds_columns[COL_TEXT_IN],
                  &kinds_columns[COL_LATENTS], &kinds_columns[COL_FORWARD_BATCH]}}};

static struct ta_cell share(int64_t part, int64_t all)
{
    return all > 0 ? ta_num((double)part / (double)all) : ta_null();
}

static struct ta_cell some(int64_t n)
{
    return n > 0 ? ta_int(n) : ta_null();
}

static size_t count_ranks(const struct ta_partial *merged)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_partial_rows(merged); i++)
        n += i == 0 || ta_partial_at(merged, i)[RANK] != ta_partial_at(merged, i - 1)[RANK];
    return n;
}

/* Of several ranks each may have one of the two predictions: there are more prompts than images. */
static enum guidance guidance_of(const int64_t *row, size_t n_ranks)
{
    const bool may_be_shared =
        row[GUIDANCE] == GUIDANCE_NONE && n_ranks > 1 && row[PROMPTS] != row[BATCH];
    return may_be_shared ? GUIDANCE_UNKNOWN : (enum guidance)row[GUIDANCE];
}

static struct ta_cell text_share(const int64_t *row)
{
    if (row[TEXT_IN] != TEXT_JOINT)
        return ta_null();
    const double image = (double)row[IMAGE_TOKENS] / (double)row[TOKENS];
    return ta_num(1 - image * image);
}

/* FLOPs of this part of the products, by time, must be known. */
#define KNOWN_LEAST 0.9

static bool flop_is_known(const int64_t *row)
{
    return row[TOKENS] != TA_MISSING && row[PRODUCT_MFLOP] > 0 &&
           (double)row[KNOWN_NS] >= KNOWN_LEAST * (double)row[PRODUCT_NS];
}

static struct ta_cell step_flop(const int64_t *row)
{
    if (!flop_is_known(row) || row[FORWARDS] <= 0 || row[PER_STEP] <= 0)
        return ta_null();
    return ta_num(1e6 * (double)row[PRODUCT_MFLOP] / (double)row[FORWARDS] * (double)row[PER_STEP]);
}

static struct ta_cell frame_flop(const int64_t *row)
{
    if (!flop_is_known(row) || row[BATCH] <= 0 || row[FRAMES] <= 0)
        return ta_null();
    return ta_num(1e6 * (double)row[PRODUCT_MFLOP] /
                  ((double)row[IMAGES] * (double)row[BATCH] * (double)row[FRAMES]));
}

static struct ta_cell frame_tokens(const int64_t *row)
{
    if (row[IMAGE_TOKENS] <= 0 || row[LATENT_FRAMES] <= 0 ||
        row[IMAGE_TOKENS] % row[LATENT_FRAMES] != 0)
        return ta_null();
    return ta_int(row[IMAGE_TOKENS] / row[LATENT_FRAMES]);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    static const char *const guidances[GUIDANCES] = {"unknown", "none", "batched", "sequential"};
    static const char *const texts[TEXTS] = {"none", "joint", "cross"};
    const struct ta_partial *of = merged[0];
    const size_t n_ranks = count_ranks(of);
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(of); i++) {
        const int64_t *row = ta_partial_at(of, i);
        TA_ROW(out, kinds, [COL_RANK] = ta_int(row[RANK]), [COL_IMAGES] = ta_int(row[IMAGES]),
               [COL_WIDTH] = ta_int(row[WIDTH]), [COL_HEIGHT] = ta_int(row[HEIGHT]),
               [COL_FRAMES] = ta_int(row[FRAMES]), [COL_BATCH] = ta_int(row[BATCH]),
               [COL_GUIDANCE] = ta_string(guidances[guidance_of(row, n_ranks)]),
               [COL_FORWARD_BATCH] = ta_int(row[FORWARD_BATCH]), [COL_TOKENS] = ta_int(row[TOKENS]),
               [COL_IMAGE_TOKENS] = ta_int(row[IMAGE_TOKENS]),
               [COL_TEXT_TOKENS] = ta_int(row[TEXT_TOKENS]),
               [COL_TEXT_IN] =
                   row[TEXT_TOKENS] == TA_MISSING ? ta_null() : ta_string(texts[row[TEXT_IN]]),
               [COL_LENGTHS] = ta_text_or_null(ta_partial_text(of, row, LENGTHS)),
               [COL_LATENTS] = ta_text_or_null(ta_partial_text(of, row, LATENTS)),
               [COL_KEYS] = ta_int(row[KEYS]), [COL_HEADS] = ta_int(row[HEADS]),
               [COL_DEPTH] = ta_int(row[DEPTH]), [COL_STEPS] = some(row[STEPS]),
               [COL_ATTENTION] =
                   row[TOKENS] == TA_MISSING ? ta_null() : share(row[ATTENTION_NS], row[KERNEL_NS]),
               [COL_ATTENTION_FLOP] =
                   flop_is_known(row) ? share(row[ATTENTION_MFLOP], row[PRODUCT_MFLOP]) : ta_null(),
               [COL_TEXT_SHARE] = text_share(row), [COL_STEP_FLOP] = step_flop(row),
               [COL_FRAME_FLOP] = frame_flop(row), [COL_FRAME_TOKENS] = frame_tokens(row));
    }
    return TA_OK;
}

static const char *const needs_args[] = {"Input Dims", "Input type", "Concrete Inputs",
                                         "Input dims", "grid",       NULL};

static const struct ta_table_def *const tables[] = {&kinds, NULL};

static const struct ta_analysis_ops ops = {.section = "phases",
                                           .needs_args = needs_args,
                                           .bounds = bounds,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, tokens, &ops, .title = "Sizes and tokens",
          .summary = "Pixels, frames, samples and tokens of what a diffusion program generates: "
                     "diffusion.tokens",
          .version = "1");
