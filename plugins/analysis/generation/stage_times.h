/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Durations of the stages of a trace, so that times of one phase can be added. */
#ifndef TA_GENERATION_STAGE_TIMES_H
#define TA_GENERATION_STAGE_TIMES_H

#include "model/program/generation.h"

#include <traceanalyze/analysis.h>

/* Fills times[] with the times of stages, and what all of them cover; false without memory. */
TA_MUST_CHECK bool generation_stage_times(const struct ta_generation *found, int64_t *times,
                                          int64_t *covered);

#endif
