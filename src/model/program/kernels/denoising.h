/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Denoising found without any mark of the program, from kernels alone: calls of the denoiser, the
 * steps, blocks and images that they make, layers, kinds of calls, and what encodes and decodes
 * around them.
 *
 * That a model is called again and again is no sign of diffusion: language models, training and
 * classifiers do the same.  What they lack, and one of which must be there:
 *
 * - A decoder after several calls.  Diffusion works on latents, so calls of attention, which hold
 *   hardly a convolution or the same few in each, are followed by one long run of convolutions that
 *   are not part of any call.  A classifier or detector has its convolutions in each call, a
 *   language model has none.
 * - The embedding of a time step in each call: powers or exponentials, of which sine and cosine are
 *   taken at once, before any attention.  Rotary positions have sines too, but no powers before
 * them.
 *
 * And what must not be there: gradients, losses, optimizers (training), caches that a server
 * manages or the choice of a token (language models, also those that make images or speech of
 * tokens). A loop with neither sign is left to others. */
#ifndef TA_PROGRAM_KERNELS_DENOISING_H
#define TA_PROGRAM_KERNELS_DENOISING_H

#include "traceanalyze/model.h"

enum ta_denoising_phase {
    TA_DENOISING_TEXT,  /* attention and products before the first call */
    TA_DENOISING_IMAGE, /* likewise with convolutions */
    TA_DENOISING_DENOISE,
    TA_DENOISING_DECODE /* convolutions after the last call */
};

/* A call of a model: activities [first, end) of the trace, of all streams of one device. */
struct ta_denoising_call {
    enum ta_denoising_phase phase;
    size_t first, end;
    size_t image;  /* from 0 on */
    size_t block;  /* of its image, from 0 on: a part of a video; 0 where there are none */
    size_t step;   /* of the denoiser, index into the steps; else SIZE_MAX, also of calls that
                      update a cache after a block */
    uint32_t kind; /* of the denoiser: calls that launch the same kernels; the longest is 0 */
    size_t layers; /* calls of attention */
};

struct ta_denoising_step {
    size_t first_call, n_calls, image, block;
};

struct ta_denoising {
    struct ta_denoising_call *calls; /* by time */
    size_t n_calls;
    struct ta_denoising_step *steps;
    size_t n_steps, n_forwards, n_images, n_kinds;
    size_t n_blocks;          /* of an image; 0 where there are none */
    size_t forwards_per_step; /* 0 where steps differ */
    size_t layers;            /* calls of attention in the longest kind of call */
    double confidence;
};

/* Nothing in them where no diffusion was found; false without memory. */
bool ta_denoising_find(const struct ta_trace *trace, struct ta_denoising *denoising);
void ta_denoising_free(struct ta_denoising *denoising);

#endif
