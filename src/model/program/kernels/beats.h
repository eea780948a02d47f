/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device computes, as a sequence of symbols: the activities of its busiest stream in order,
 * each with the number of its kernel.  Grids are not looked at: whether they are kept depends on
 * which analyses run, and what a program does must not.
 *
 * Beats that tell where in a model one is (products, attention, convolutions, norms, what compilers
 * made) are strong; those that any program mixes in (element by element, copies, sums, random
 * numbers) are weak.  Loops are found in the strong ones. */
#ifndef TA_PROGRAM_KERNELS_BEATS_H
#define TA_PROGRAM_KERNELS_BEATS_H

#include "traceanalyze/model.h"

/* What the name of a kernel is a sign of. */
enum ta_beat_sign {
    TA_BEAT_SINE = 1,    /* sine or cosine: embeddings of time steps, and of positions */
    TA_BEAT_POWER = 2,   /* exponentials and powers: before sines, embeddings of time steps */
    TA_BEAT_TRAINS = 4,  /* gradients, losses, optimizers */
    TA_BEAT_SERVES = 8,  /* caches of keys and values, sampling of tokens */
    TA_BEAT_LOOKUP = 16, /* of embeddings: an encoder of text begins with it */
};

struct ta_beat {
    uint32_t activity; /* place among the activities of the trace */
    uint32_t symbol;   /* index into the kernels; copies and memory sets have the next number */
    uint8_t kind;      /* enum ta_kernel_kind; TA_KERNEL_COPY of copies and memory sets */
    uint8_t signs;
    bool strong;
};

struct ta_beats {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_activities activities;
    int64_t device;
    size_t first, end; /* activities of that device */
    struct ta_beat *at;
    size_t n, n_symbols;
    uint32_t *strong; /* places of the strong beats */
    size_t n_strong;
    size_t signed_kernels[5]; /* how many beats have each sign */
    size_t attention, convolutions;
};

/* False without memory.  No beats where the trace can hold no diffusion: see beats.c. */
bool ta_beats_read(const struct ta_trace *trace, struct ta_beats *beats);
void ta_beats_free(struct ta_beats *beats);

static inline bool beat_attends(const struct ta_beat *beat)
{
    return beat->kind == TA_KERNEL_ATTENTION || beat->kind == TA_KERNEL_SOFTMAX;
}

static inline int64_t ta_beat_start(const struct ta_beats *beats, size_t i)
{
    return beats->spans.ts[beats->activities.at[beats->at[i].activity].span];
}

static inline int64_t ta_beat_dur(const struct ta_beats *beats, size_t i)
{
    return beats->spans.dur[beats->activities.at[beats->at[i].activity].span];
}

static inline int64_t ta_beat_end(const struct ta_beats *beats, size_t i)
{
    return ta_beat_start(beats, i) + ta_beat_dur(beats, i);
}

#endif
