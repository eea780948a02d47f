/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for calls of a model (forwards.h): what its files share. */
#ifndef TA_PROGRAM_KERNELS_SEARCH_H
#define TA_PROGRAM_KERNELS_SEARCH_H

#include "base/vec.h"
#include "model/program/kernels/forwards.h"

#include <stdlib.h>

enum {
    SIDE = 5,        /* strong beats of a seam on each side */
    SIDE_LEAST = 4,  /* of which so many must be there */
    BASES_MOST = 24, /* of a level, that are looked at */
    MODELS_MOST = 8, /* kinds of calls that others are laid over */
    AGAIN_LAID = 2   /* beats that agree after others where a call is known to begin or end */
};

/* What is around the place where a call ends and the next begins. */
struct seam {
    uint32_t before[SIDE], after[SIDE];
};

struct begin {
    size_t at;
    bool is_seam; /* another call ends there */
};

struct search {
    const struct ta_beats *beats;
    struct ta_forwards *out;
    TA_VEC(struct ta_stretch) walls;
    TA_VEC(struct begin) begins;
    TA_VEC(struct ta_stretch) calls;
    struct ta_stretch models[MODELS_MOST];
    size_t members[MODELS_MOST]; /* calls of each kind */
    size_t n_models;
    struct seam seam;
    int64_t time;     /* of the calls found so far */
    bool is_embedded; /* calls begin where they embed a time step */
    uint32_t *counts; /* of symbols, all 0 between uses */
    bool failed;
};

/* ---- beats ----------------------------------------------------------------------------------- */

static inline const struct ta_beat *search_beat(const struct search *s, size_t i)
{
    return &s->beats->at[s->beats->strong[i]];
}

static inline uint32_t search_symbol(const struct search *s, size_t i)
{
    return search_beat(s, i)->symbol;
}

/* Weak beats before a strong one. */
static inline size_t search_weak_before(const struct search *s, size_t i)
{
    return i ? s->beats->strong[i] - s->beats->strong[i - 1] - 1 : 0;
}

static inline int by_size(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

/* Of strong beats [from, to). */
int64_t search_time(const struct search *s, size_t from, size_t to);
size_t search_attention(const struct search *s, struct ta_stretch call);

/* ---- walls (walls.c) ------------------------------------------------------------------------- */

void walls_find(struct search *s);

/* Whether most of one lies between; calls may cut through a run of convolutions. */
bool walls_between(const struct search *s, size_t from, size_t to);

/* What lies between two walls and takes longest. */
struct ta_stretch walls_longest_stretch(const struct search *s);

/* What is left of walls without calls: calls without attention look like walls. */
void walls_clip(struct search *s);

/* ---- in step (pair.c) ------------------------------------------------------------------------ */

/* Two places in the sequence that move together, forward or back; `a` and `b` are where both have
 * come, and neither passes its limit. */
struct pair {
    size_t a, b, a_limit, b_limit;
    bool back;
    size_t again; /* beats that must agree after others; 0: 3 */
};

/* As far as both agree; lost and strange beats are stepped over. */
void pair_walk(const struct search *s, struct pair *p);

/* ---- seams (seams.c, first_seam.c) ----------------------------------------------------------- */

/* Whether a seam has its beats on both sides there. */
static inline bool seam_fits(const struct search *s, size_t at)
{
    return at >= SIDE && at + SIDE <= s->beats->n_strong;
}

struct seam seam_at(const struct search *s, size_t at);

/* Longest common subsequence of a side of the seam and what is there, one beat more. */
int seam_common(const struct search *s, const uint32_t *side, size_t from, size_t to);

/* Whether what is before a head ends a call, full or short. */
bool seam_ends_call(const struct search *s, const struct seam *seam, size_t at);

/* Of the places the one whose seam most of the others have. */
size_t seam_most_common(const struct search *s, const size_t *places, size_t n);

/* Lists where the seam is; with `heads` where its second half is, whatever is before. */
void seams_list(struct search *s, const struct seam *seam, bool heads);

/* The strong beat in (from, to] before which most weak ones are: a scheduler. */
size_t seam_most_weak(const struct search *s, size_t from, size_t to);

/* The places seem to begin a few beats too early where what is before the first call ends like one,
 * and too late where something was lost.  They begin where most weak beats are before them. */
int seams_too_early(const struct search *s, const size_t *places, size_t n);

struct ta_level;

/* Where the first call of the stretch begins, as `first`, and a place like that between two calls.
 * False where bases are not alike before. */
bool seam_find(const struct search *s, struct ta_stretch window, const struct ta_level *level,
               struct begin *first, size_t *at);

/* ---- calls (calls.c, alike.c, trim.c) -------------------------------------------------------- */

/* Whether two calls agree from their beginnings to their ends. */
bool calls_cover(const struct search *s, struct ta_stretch call, struct ta_stretch model);

/* Lists the calls that the beginnings and `first` give. */
void calls_list(struct search *s, struct begin first);

/* Part of the calls that are like another one; 0 where they are no calls of a model. */
double calls_regularity(struct search *s);

/* Ends a call before what a scheduler launches. */
void calls_trim(struct search *s, struct ta_stretch *call);

/* Lists them; their time, 0 where they are not alike. */
int64_t calls_time(struct search *s, struct begin first);

/* Makes them what is found. */
bool calls_keep(struct search *s);

/* ---- ways to find them (by_embedding.c, by_level.c) ------------------------------------------ */

/* False where there are none. */
bool embeddings_try(struct search *s);

void levels_try(struct search *s, struct ta_stretch window);

#endif
