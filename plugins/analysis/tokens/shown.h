/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the operators of one image show of its sizes, and what is concluded from it. */
#ifndef TA_TOKENS_SHOWN_H
#define TA_TOKENS_SHOWN_H

#include "lib/work.h"
#include "model/program/generation.h"

#include <traceanalyze/analysis.h>

/* Calls of attention of one shape, in full passes of the denoiser. */
struct shown_attention {
    struct attention_sizes sizes;
    int64_t calls, ns, flop;
};

/* A text encoder, by the size of its vocabulary. */
struct shown_encoder {
    int64_t words, width, length, prompts;
};

enum { ATTENTIONS_MOST = 16, ENCODERS_MOST = 6 };

/* Of one image, video or request.  Shapes with n = 0 were not seen. */
struct shown {
    struct shown_attention attention[ATTENTIONS_MOST];
    size_t n_attention;
    struct shown_encoder encoder[ENCODERS_MOST];
    size_t n_encoders;
    struct conv_shape patch;  /* the first convolution of a full pass of the denoiser */
    struct conv_shape first;  /* of the VAE that decodes */
    struct conv_shape colors; /* its last one, to the channels of pixels */
    int64_t passes;           /* convolutions to pixels, */
    int64_t samples, frames;  /* and what they made: batch, and sizes in time */
    int64_t steps, forwards;  /* full passes alone */
    int64_t per_step;         /* passes of the denoiser in a step; 0: they differ */
    int64_t attention_ns, kernel_ns;
    int64_t product_flop;         /* of all products: GEMMs, convolutions, attention */
    int64_t product_ns, known_ns; /* their kernels, and kernels with known FLOPs */
};

/* How guidance (CFG) is calculated. */
enum guidance { GUIDANCE_UNKNOWN, GUIDANCE_NONE, GUIDANCE_BATCHED, GUIDANCE_SEQUENTIAL, GUIDANCES };

/* How text comes to the image: in the same attention, or as keys of one of its own. */
enum text_in { TEXT_NOWHERE, TEXT_JOINT, TEXT_CROSS, TEXTS };

enum { LENGTHS_ROOM = 64 };

/* TA_MISSING what is not known. */
struct sizes {
    int64_t width, height, frames; /* pixels; frames of a video, 1 of an image */
    int64_t batch;                 /* images */
    int64_t forward_batch;         /* samples of a pass of the denoiser */
    enum guidance guidance;
    int64_t tokens, keys; /* queries and keys of self-attention */
    int64_t image_tokens, text_tokens;
    enum text_in text_in;
    char lengths[LENGTHS_ROOM]; /* of the encoders' texts: "77 + 256" */
    int64_t prompts;            /* that an encoder had */
    int64_t channels, latent_frames, latent_height, latent_width;
    int64_t heads, depth;
};

void sizes_find(const struct shown *shown, struct sizes *sizes);

/* Looks at the calls of each image and hands out what they show.  False without memory. */
TA_MUST_CHECK bool shown_images(const struct ta_trace *trace, const struct ta_generation *found,
                                void (*take)(void *user, const struct shown *shown), void *user);

#endif
