/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of a model that runs again and again, from the order of its kernels alone.
 *
 * 1. Runs of convolutions, decoders and encoders of images, are walls: what lies between them is
 *    looked at, the longest part first.
 * 2. The coarsest level (levels.h) that holds most of its time has as its period a call, or several
 *    where guidance or a cache make calls differ.
 * 3. Going back from the first two bases in step, both agree until the first call begins.  What is
 *    around the same place before later bases is the seam between two calls.
 * 4. Every place that looks like the seam begins a call, of whatever length.
 * 5. The first and the last call of an image have one seam only: they are laid over calls between
 *    two seams to find where they begin and end.
 *
 * Lost events, and kernels from elsewhere, are stepped over. */
#ifndef TA_PROGRAM_KERNELS_FORWARDS_H
#define TA_PROGRAM_KERNELS_FORWARDS_H

#include "model/program/kernels/beats.h"

/* Strong beats [from, to). */
struct ta_stretch {
    size_t from, to;
};

struct ta_forwards {
    struct ta_stretch *walls;
    size_t n_walls;
    struct ta_stretch *at; /* in order, disjoint; none where nothing repeats */
    size_t n;
    double confidence;
};

/* False without memory. */
bool ta_forwards_find(const struct ta_beats *beats, struct ta_forwards *forwards);
void ta_forwards_free(struct ta_forwards *forwards);

#endif
