/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What slows VAE decoding down, and what of it other rules leave out as its finding says it. */
#ifndef TA_ADVICE_KERNEL_VAE_H
#define TA_ADVICE_KERNEL_VAE_H

#include "kernel.h"

enum {
    VAE_TIME,
    VAE_DECODES,
    VAE_PASSES,
    VAE_FEW_FRAMES,
    VAE_KERNELS,
    VAE_CONV,
    VAE_WIDE,
    VAE_TF32,
    VAE_LAYOUT,
    VAE_NAIVE,
    VAE_TRUST,
    VAE_REFS
};

#define VAE_READS(first)                                                                           \
    [(first) + VAE_TIME] = {"kernels.vae_decode", "window_ns"},                                    \
               [(first) + VAE_DECODES] = {"kernels.vae_decode", "decodes"},                        \
               [(first) + VAE_PASSES] = {"kernels.vae_decode", "passes"},                          \
               [(first) + VAE_FEW_FRAMES] = {"kernels.vae_decode", "few_frames"},                  \
               [(first) + VAE_KERNELS] = {"kernels.vae_decode", "total_ns"},                       \
               [(first) + VAE_CONV] = {"kernels.vae_decode", "conv_ns"},                           \
               [(first) + VAE_WIDE] = {"kernels.vae_decode", "fp32_ns"},                           \
               [(first) + VAE_TF32] = {"kernels.vae_decode", "tf32_ns"},                           \
               [(first) + VAE_LAYOUT] = {"kernels.vae_decode", "layout_ns"},                       \
               [(first) + VAE_NAIVE] = {"kernels.vae_decode", "naive_ns"},                         \
               [(first) + VAE_TRUST] = {.scalar = "trust_score"}

enum vae_cause {
    VAE_ALONE,      /* one rank decodes, the others wait */
    VAE_FP32,       /* convolutions of fp32 inputs */
    VAE_FALLBACK,   /* MIOpen's naive convolutions */
    VAE_TILES,      /* many passes one after the other */
    VAE_TRANSPOSED, /* transposes around convolutions */
    VAE_PLAIN,      /* nothing but its share */
    VAE_CAUSES
};

/* The share of the run from which each is said. */
#define VAE_SHARE 0.03
#define VAE_PLAIN_SHARE 0.25

/* Fewer passes are frames of a short video, or what a decoder does anyway. */
enum { VAE_LEAST_TILES = 4 };

/* Of the device that decodes longest. */
struct vae {
    double time, decodes, kernels, conv, wide, tf32, layout, naive;
    double passes; /* but those over a few frames of a video */
    size_t row, n; /* SIZE_MAX: none; devices that decode */
    bool is_whole; /* the recordings of all ranks are trusted: who was not seen did not decode */
    enum vae_cause cause;
};

static inline enum vae_cause vae_cause_of(const struct vae *vae, const struct kernel_run *run)
{
    if (run->devices > 1 && vae->n == 1 && vae->is_whole)
        return VAE_ALONE;
    if (vae->wide > 0.5 * vae->conv)
        return VAE_FP32;
    if (vae->naive > 0.2 * vae->conv)
        return VAE_FALLBACK;
    if (vae->passes >= VAE_LEAST_TILES * vae->decodes)
        return VAE_TILES;
    return vae->layout > 0.15 * vae->kernels ? VAE_TRANSPOSED : VAE_PLAIN;
}

static inline struct vae vae_find(const struct ta_refs *in, size_t first,
                                  const struct kernel_run *run)
{
    const double whole = 0.9;
    struct vae vae = {.row = SIZE_MAX};
    for (size_t i = 0; i < ta_ref_rows(in, first + VAE_TIME); i++) {
        const double time = ta_ref_number(in, first + VAE_TIME, i, 0);
        vae.n++;
        if (time <= vae.time)
            continue;
        vae = (struct vae){.time = time,
                           .decodes = ta_ref_number(in, first + VAE_DECODES, i, 1),
                           .passes = ta_ref_number(in, first + VAE_PASSES, i, 0) -
                                     ta_ref_number(in, first + VAE_FEW_FRAMES, i, 0),
                           .kernels = ta_ref_number(in, first + VAE_KERNELS, i, 0),
                           .conv = ta_ref_number(in, first + VAE_CONV, i, 0),
                           .wide = ta_ref_number(in, first + VAE_WIDE, i, 0),
                           .tf32 = ta_ref_number(in, first + VAE_TF32, i, 0),
                           .layout = ta_ref_number(in, first + VAE_LAYOUT, i, 0),
                           .naive = ta_ref_number(in, first + VAE_NAIVE, i, 0),
                           .row = i,
                           .n = vae.n};
    }
    vae.is_whole = ta_ref_scalar(in, first + VAE_TRUST, 1) >= whole;
    vae.cause = vae_cause_of(&vae, run);
    return vae;
}

static inline bool vae_is_said(const struct vae *vae, const struct kernel_run *run, double least)
{
    if (vae->cause == VAE_TRANSPOSED && !kernel_matters(run, vae->layout, 0))
        return false;
    return vae->row != SIZE_MAX && run->window_ns > 0 &&
           vae->time * run->devices >=
               fmax(least, vae->cause == VAE_PLAIN ? VAE_PLAIN_SHARE : 0) * run->window_ns;
}

/* What of a column, VAE_CONV and so on, that finding speaks of. */
static inline double vae_part(const struct ta_refs *in, size_t first, size_t column,
                              const struct kernel_run *run)
{
    const struct vae vae = vae_find(in, first, run);
    return vae_is_said(&vae, run, VAE_SHARE) ? ta_ref_sum(in, first + column) : 0;
}

#endif
