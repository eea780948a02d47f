/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How kernels fill their device, by what was recorded of their blocks. */
#ifndef WAVE_EFFICIENCY_WAVE_EFFICIENCY_H
#define WAVE_EFFICIENCY_WAVE_EFFICIENCY_H

#include <traceanalyze/analysis.h>

/* ---- filling.c ------------------------------------------------------------------------------ */

/* What is read of each kernel. */
enum { GRID, BLOCK, PER_UNIT, OCCUPANCY, NUMBERS };

struct kernel_numbers {
    double at[NUMBERS]; /* 0 where there is none */
    bool has[NUMBERS];
};

/* How a kernel with these numbers fills its device. */
struct filling {
    int64_t blocks;     /* TA_MISSING when not known */
    int64_t milliwaves; /* TA_MISSING when not known, or beyond counting */
    double lost;        /* share of its time during which multiprocessors have no block */
    int64_t units;      /* UNITS_WHOLE times the share of them with a block, or TA_MISSING */
    double warps;       /* share of the warps that they hold */
    bool is_known;      /* `lost` and `is_under` are */
    bool is_under;      /* fewer blocks than multiprocessors */
    bool has_warps;
};

/* Shares are millionths, so that sums are exact and kernels may end in any order. */
enum { UNITS_WHOLE = 1000000 };

struct filling filling_of(const struct kernel_numbers *of, struct ta_device_units device);

/* ---- numbers.c ------------------------------------------------------------------------------ */

enum { NUMBERS_RECENT = 512 };

/* Arguments as the trace has them; 0 where there is none. */
struct values {
    int64_t at[NUMBERS];
    unsigned kinds; /* for each, whether it is there, and is a text */
};

/* Arguments of the kernels of a trace.  Thousands of kernels are launched alike, so that what
 * follows from them is worked out once for those that were met lately. */
struct numbers {
    const struct ta_trace *trace;
    struct ta_device_units device;
    struct ta_args args[NUMBERS];
    struct {
        struct values values;
        struct filling filling;
    } recent[NUMBERS_RECENT]; /* by hash of the values */
};

void numbers_open(struct numbers *numbers, const struct ta_trace *trace);
/* Of a kernel; valid until the next call. */
const struct filling *numbers_filling(struct numbers *numbers, ta_row row);

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

/* The next activity of the trace; `of` is NULL when it is no kernel. */
void occupancy_take(struct occupancy *o, const struct ta_activity *a, const struct filling *of);
/* There are no more. */
void occupancy_end(struct occupancy *o);

/* kernels.occupancy, and its rows. */
extern const struct ta_table_def wave_occupancy;
void occupancy_add(const struct ta_partial *devices, struct ta_section_builder *out);

#endif
