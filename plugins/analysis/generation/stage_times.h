/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the stages of a trace take, so that times of one phase can be added. */
#ifndef TA_GENERATION_STAGE_TIMES_H
#define TA_GENERATION_STAGE_TIMES_H

#include "model/program/generation.h"

#include <traceanalyze/analysis.h>

/* The times of stages, at times[], and what all of them cover; false without memory. */
TA_MUST_CHECK bool generation_stage_times(const struct ta_generation *found, int64_t *times,
                                          int64_t *covered);

#endif
