/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels of a loop: how often groups of symbols come in turns.
 *
 * Symbols are the strong beats alone, and two and three of them in a row.  Symbols that come about
 * equally often and of which exactly one lies between two of another in nearly all cases are of one
 * level: all that happens once in a forward of a model, all that happens once in a layer.  Their
 * number is the support of the level. */
#ifndef TA_PROGRAM_KERNELS_LEVELS_H
#define TA_PROGRAM_KERNELS_LEVELS_H

#include "model/program/kernels/beats.h"

struct ta_level {
    size_t count;    /* how often */
    size_t support;  /* symbols */
    uint32_t *base;  /* places among the strong beats of the symbol that spans most: `count` */
    double coverage; /* of the time of strong beats, the part from the first of these to the last */
};

enum { TA_LEVELS_MOST = 256 };

struct ta_levels {
    struct ta_level at[TA_LEVELS_MOST]; /* by count, rarest first */
    size_t n;
    uint32_t *places; /* what the bases point into */
};

/* Levels of the strong beats [from, to); false without memory. */
bool ta_levels_find(const struct ta_beats *beats, size_t from, size_t to, struct ta_levels *levels);
void ta_levels_free(struct ta_levels *levels);

#endif
