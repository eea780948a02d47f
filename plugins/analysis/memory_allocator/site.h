/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which frame of a stack is the place in the program that asked for memory. */
#ifndef TA_MEMORY_ALLOCATOR_SITE_H
#define TA_MEMORY_ALLOCATOR_SITE_H

#include "model/allocator.h"
#include "model/program/generation.h"

#include <traceanalyze/dump.h>

/* The innermost frame of Python that is not the framework's, else the innermost of Python, else the
 * step backwards or the operator. */
struct ta_slice site_of(const struct ta_trace *trace, const struct ta_frames *stack);

/* The phase of a diffusion program that a stack is in, by the innermost function that names one;
 * TA_GENERATION_PHASES where none does. */
int64_t phase_of(const struct ta_trace *trace, const struct ta_frames *stack);

#endif
