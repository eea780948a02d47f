/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What images or videos a diffusion makes, and how much less or more time other ones take. */
#ifndef TA_COMPARE_SIZES_H
#define TA_COMPARE_SIZES_H

#include "compare/compare.h"

/* Of a rank that makes images or videos of one size; TA_MISSING and NaN what shapes do not say. */
struct diff_size {
    int64_t width, height, frames;
    int64_t batch;               /* made together */
    int64_t samples;             /* of a pass of the denoiser */
    double image_tokens, tokens; /* of a sample; tokens: with the text */
    double attention;            /* share of a pass */
};

struct diff_size diff_size_read(const struct ta_refs *in, int64_t rank);

/* Whether both are known, and images are larger or smaller, or videos longer or shorter. */
bool diff_sizes_differ(const struct diff_size sizes[TA_DIFF_SIDES]);

/* Images that a batch has, 1 where one of the sides does not say. */
int64_t diff_size_batch(const struct diff_size sizes[TA_DIFF_SIDES], int side);

/* New over base. */
double diff_size_pixels(const struct diff_size sizes[TA_DIFF_SIDES]); /* of all frames */
double diff_size_tokens(const struct diff_size sizes[TA_DIFF_SIDES]); /* of the picture */

/* How many times as long a pass of the denoiser takes at the new size, if nothing else changes and
 * the device is full with both: linear layers follow the tokens, attention follows their square. */
double diff_size_work(const struct diff_size sizes[TA_DIFF_SIDES]);

/* "smaller images (1024×1024 → 512×512)"; NULL without memory. */
const char *diff_size_change(struct diff *diff, const struct diff_size sizes[TA_DIFF_SIDES]);

/* "4× fewer image tokens"; NULL without memory. */
const char *diff_size_tokens_text(struct diff *diff, const struct diff_size sizes[TA_DIFF_SIDES]);

#endif
