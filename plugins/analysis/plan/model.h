/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time of a block or image = rest + steps × time of a step, each a line over the frames of a block
 * where these differ.  Intervals come of fitting it again to samples drawn from what
 * was measured, with what a run of as many units as were measured would scatter besides. */
#ifndef TA_ANALYSIS_PLAN_MODEL_H
#define TA_ANALYSIS_PLAN_MODEL_H

#include "parts.h"
#include "stat/sample.h"

/* A constant, or a line over frames. */
struct law {
    double at_0, slope;
};

/* One fit; the first of a model is to what was measured. */
struct fit {
    struct law step, rest;
    double full, cached;       /* means of full steps and of shortened ones; NAN without these */
    double step_off, rest_off; /* what the mean of a step, or rest, is off in another run */
};

struct model {
    const struct parts *parts;
    bool has_law; /* blocks of enough sizes were measured to tell others */
    struct fit *fits;
    size_t n;
    double *values; /* room for n */
};

/* False without memory; free in either case. */
bool plan_model_fit(const struct parts *parts, struct model *model);
void plan_model_free(struct model *model);

/* What a unit takes with so many steps and frames, each step so many times its guidance; NAN
 * `cached` is as measured. */
struct asked {
    double steps, block, guidance, cached;
};
struct ta_estimate plan_model_unit(const struct model *model, const struct asked *asked);

#endif
