/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that launched a kernel which was not recorded: the buffers of the profiler were full, or it
 * was not ready yet.  The device was busy with them, whatever the trace says. */
#ifndef TA_MODEL_LOST_H
#define TA_MODEL_LOST_H

#include "traceanalyze/model.h"

struct ta_lost_call {
    int64_t start, end;
    uint32_t track;
};

struct ta_lost {
    int64_t calls; /* that launch kernels, but for those that a capture of a graph takes down */
    int64_t head;  /* lost ones before the first call whose kernel was recorded */
    size_t n;
    struct ta_lost_call *at;      /* lost ones by start */
    struct ta_intervals captures; /* of graphs, by any thread; united */
};

/* What was lost of a frozen trace, found once and kept with it; from any thread.  Where no device
 * activity was recorded the device was not traced: nothing counts as lost.  NULL without memory.
 * O(spans), and O(n log n) of the lost ones. */
const struct ta_lost *ta_trace_lost(const struct ta_trace *trace);

/* Index of the first lost call that starts at `time` or later; n when none does. */
size_t ta_lost_from(const struct ta_lost *lost, int64_t time);

#endif
