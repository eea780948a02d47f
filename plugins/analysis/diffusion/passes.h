/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which records of denoising steps are one step, and which steps one pass. */
#ifndef TA_DIFFUSION_PASSES_H
#define TA_DIFFUSION_PASSES_H

#include <traceanalyze/analysis.h>

/* A record of a step, in the order of recording. */
struct step_record {
    int64_t number;  /* TA_MISSING without one */
    double timestep; /* NAN without one */
    int64_t pass;    /* from 0 */
    bool continues;  /* a further record of the step of the record before */
};

/* Sets `pass` and `continues` of the records of a rank, which made so many blocks, or none. */
void find_passes(struct step_record *records, size_t n, size_t blocks);

#endif
