/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How kernels fill their device, by what was recorded of their blocks. */
#ifndef WAVE_EFFICIENCY_WAVE_EFFICIENCY_H
#define WAVE_EFFICIENCY_WAVE_EFFICIENCY_H

#include <traceanalyze/analysis.h>

/* ---- numbers.c ------------------------------------------------------------------------------ */

/* The values of an argument, each text read once. */
struct argument {
    struct ta_args args;
    const struct ta_trace *trace;
    double (*read)(struct ta_slice text);
    struct ta_map known; /* bits of the number by id of the text */
};

/* What is read of each kernel. */
enum { GRID, BLOCK, PER_UNIT, OCCUPANCY, ARGUMENTS };

/* Product of the numbers in "[4, 106, 1]"; 0 when it is no such list. */
double product_of(struct ta_slice text);
/* "0.006757", or a whole number; 0 when it is none. */
double decimal_of(struct ta_slice text);
/* Whether a row has a value. */
bool argument_has(const struct argument *argument, ta_row row);
/* The value at a row, 0 without one. */
double number_of(struct argument *argument, ta_row row);

/* ---- occupancy.c ---------------------------------------------------------------------------- */

enum {
    OCCUPANCY_RANK,
    OCCUPANCY_DEVICE,
    OCCUPANCY_WINDOW,
    OCCUPANCY_UNITS, /* time of the window, each moment times the share of units with a block */
    OCCUPANCY_KNOWN, /* time of kernels that say their blocks per unit */
    OCCUPANCY_WARPS, /* time of kernels that say their occupancy, times that */
    OCCUPANCY_TIME,  /* the same as it is */
    OCCUPANCY_FIELDS
};

extern const struct ta_field occupancy_fields[OCCUPANCY_FIELDS];

void occupancy_map(const struct ta_trace *trace, struct argument *arguments,
                   struct ta_partial *out);
void occupancy_add(const struct ta_partial *devices, struct ta_section_builder *out);

#endif
