/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a diffusion run would be asked for instead: --plan steps=4,8. */
#ifndef TA_BASE_WHAT_IF_H
#define TA_BASE_WHAT_IF_H

#include "traceanalyze/base.h"

enum ta_what_if_key {
    TA_WHAT_IF_STEPS,    /* denoising steps of a block or image */
    TA_WHAT_IF_BLOCK,    /* frames of a block */
    TA_WHAT_IF_FRAMES,   /* frames of the video */
    TA_WHAT_IF_GUIDANCE, /* passes of the denoiser in a step */
    TA_WHAT_IF_CACHED,   /* share of the steps that a cache shortens */
    TA_WHAT_IF_KEYS
};

/* Values of a key, and ways to combine them, at most. */
enum { TA_WHAT_IF_VALUES = 32, TA_WHAT_IF_WAYS = 1000 };

/* Zero-initialize. */
struct ta_what_if {
    struct {
        double at[TA_WHAT_IF_VALUES];
        size_t n; /* 0: as in the run */
    } of[TA_WHAT_IF_KEYS];
};

/* Adds the values of "steps=4,8"; fails with a sentence on what is wrong. */
enum ta_status ta_what_if_add(struct ta_ctx *ctx, struct ta_what_if *what_if,
                              const char *text) TA_MUST_CHECK;

/* Whether a text begins like one of them, "steps=". */
bool ta_what_if_is(const char *text);

/* In how many ways its values combine; 0: nothing was asked for. */
size_t ta_what_if_ways(const struct ta_what_if *what_if);

/* The values of one of them, NAN as in the run. */
void ta_what_if_at(const struct ta_what_if *what_if, size_t way, double values[TA_WHAT_IF_KEYS]);

#endif
