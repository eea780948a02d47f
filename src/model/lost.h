/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that launched a kernel which was not recorded: the buffers of the profiler were full, or it
 * was not ready yet.  The device was busy with them, whatever the trace says. */
#ifndef TA_MODEL_LOST_H
#define TA_MODEL_LOST_H

#include "traceanalyze/model.h"

struct ta_lost_call {
    int64_t start, end;
    int64_t kernels; /* that it launched: of a graph as many as the other replays have */
    int64_t before;  /* Σ kernels of the calls before it */
    uint32_t track;
    ta_str around; /* name of the span around it */
    bool is_graph;
};

struct ta_lost {
    int64_t calls; /* that launch kernels, but for those that a capture of a graph takes down */
    int64_t graphs, lost_graphs;   /* launches of graphs among them, and the lost ones */
    int64_t kernels, lost_kernels; /* that all calls launched, and the lost ones */
    int64_t head;                  /* lost calls before the first call whose kernel was recorded */
    int64_t tail;                  /* lost calls after the last such call */
    size_t n;
    struct ta_lost_call *at;        /* lost ones by start */
    struct ta_intervals captures;   /* of graphs, by any thread; united */
    struct ta_intervals unrecorded; /* when what lost replays launched may have run; united */
};

/* What was lost of a frozen trace, found once and kept with it; from any thread.  Where no device
 * activity was recorded the device was not traced: nothing counts as lost.  NULL without memory.
 * O(spans), and O(n log n) of the lost ones. */
const struct ta_lost *ta_trace_lost(const struct ta_trace *trace);

/* Kernels that lost calls launched which start in [from, to). */
int64_t ta_lost_kernels(const struct ta_lost *lost, int64_t from, int64_t to);

/* Index of the first lost call that starts at `time` or later; n when none does. */
size_t ta_lost_from(const struct ta_lost *lost, int64_t time);

#endif
