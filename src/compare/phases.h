/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases of a diffusion in two runs, for the files that compare them. */
#ifndef TA_COMPARE_PHASES_H
#define TA_COMPARE_PHASES_H

#include "compare/compare.h"
#include "compare/sizes.h"

enum { PHASES_MOST = 16 };

struct diff_phase {
    struct ta_slice name;
    int64_t n, ns; /* n: steps of denoising, calls of others; 0: not known */
};

/* Passes of the denoiser: full ones, and shortened ones. */
struct diff_passes {
    double n[2], ns[2];
};

struct diff_phases_side {
    int64_t rank, window;
    struct diff_phase phases[PHASES_MOST];
    size_t n;
    int64_t images, blocks, steps, forwards, per_step, layers, full; /* TA_MISSING: not known */
    bool is_whole; /* each image is denoised and decoded */
    struct diff_passes passes;
    struct diff_size size;
};

/* A phase of both sides; n is 0 where a side has none of it. */
struct diff_phase_bar {
    struct ta_slice name;
    int64_t n[TA_DIFF_SIDES], ns[TA_DIFF_SIDES];
    double count, mix, size, rate; /* effects, of the whole run or of an image; their sum: */
    double change;
};

struct diff_phase_bars {
    struct diff_phase_bar at[2 * PHASES_MOST];
    size_t n;
    const struct diff_phases_side *sides;
    double images[TA_DIFF_SIDES]; /* what `whole` and effects are of; 1 where both have as many */
    double batch[TA_DIFF_SIDES];  /* how many images each call is for; 1 where both have as many */
    double whole;                 /* the change of the window, or of an image's part of it */
};

extern const struct ta_slice diff_denoising; /* name of the phase */

/* Whether a row of the window is of no phase. */
bool diff_phase_is_rest(struct ta_slice name);

/* Puts what is made, and what explains most of the change, into diff->phases. */
void diff_phases_say(struct diff *diff, const struct diff_phase_bars *bars);

#endif
