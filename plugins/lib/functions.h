/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where in a program somebody can act: a function of the program or of its model, not the frame of
 * torch or of the standard library that it happens to be in. */
#ifndef TA_LIB_FUNCTIONS_H
#define TA_LIB_FUNCTIONS_H

#include "lib/outward.h"

#include <traceanalyze/analysis.h>

enum { TA_FUNCTIONS_RECENT = 256 };

/* Whether a frame, "sampler.py(88): step" or "step (sampler.py:88)", is one of those functions. */
bool ta_function_is_of_program(struct ta_slice name);

struct ta_functions {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    uint8_t *names; /* by name: what is known of it */
    struct ta_outward functions, ranges, operators;
    struct {
        ta_row row, found;         /* TA_NO_ROW: none */
    } recent[TA_FUNCTIONS_RECENT]; /* what is around spans that were asked for, by row */
};

/* False without memory; ta_functions_close() either way. */
TA_MUST_CHECK bool ta_functions_open(struct ta_functions *functions, const struct ta_trace *trace);
void ta_functions_close(struct ta_functions *functions);

/* The nearest function of the program around a span; else the nearest range that somebody
 * annotated; else the outermost operator; TA_NO_ROW without any, or of TA_NO_ROW. */
ta_row ta_function_around(struct ta_functions *functions, ta_row row);

/* The outermost of the operators right around a span; TA_NO_ROW without any. */
ta_row ta_operator_around(struct ta_functions *functions, ta_row row);

#endif
