/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How kernels fill their device, by what was recorded of their blocks. */
#ifndef WAVE_EFFICIENCY_WAVE_EFFICIENCY_H
#define WAVE_EFFICIENCY_WAVE_EFFICIENCY_H

#include <traceanalyze/analysis.h>

/* ---- numbers.c ------------------------------------------------------------------------------ */

/* What is read of each kernel. */
enum { GRID, BLOCK, PER_UNIT, OCCUPANCY, NUMBERS };

/* Arguments of the kernels of a trace, each text of which is read once. */
struct numbers {
    const struct ta_trace *trace;
    struct ta_args args[NUMBERS];
    double *of_text[NUMBERS]; /* by id of the text; NaN for those not read yet */
};

/* Those of one kernel. */
struct kernel_numbers {
    double at[NUMBERS]; /* 0 where there is none */
    bool has[NUMBERS];
};

/* False without memory; numbers_close() either way. */
bool numbers_open(struct numbers *numbers, const struct ta_trace *trace);
void numbers_close(struct numbers *numbers);
struct kernel_numbers numbers_of(struct numbers *numbers, ta_row row);

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

enum { OCCUPANCY_RUNNING_MOST = 256 };

/* The kernels of a device that run at a moment. */
struct occupancy_sweep {
    struct {
        int64_t end, share;
    } running[OCCUPANCY_RUNNING_MOST];
    size_t n;
    int64_t now, share;
    __int128 units; /* millionths of ns */
};

/* Set `trace`, `spans` and `out`; the rest, zero at first, is of the device at hand. */
struct occupancy {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *out;
    bool begun;
    int64_t device, first, last, known, time;
    double warps;
    struct occupancy_sweep sweep;
};

/* The next activity of the trace, of a kernel with its numbers; NULL for any other. */
void occupancy_take(struct occupancy *o, const struct ta_activity *a,
                    const struct kernel_numbers *of);
/* There are no more. */
void occupancy_end(struct occupancy *o);
void occupancy_add(const struct ta_partial *devices, struct ta_section_builder *out);

#endif
