/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window of a program: from its first work to its last, on the host and on devices.
 *
 * The window of a device begins with its first activity; the program works before, when it loads
 * data, prepares the input or computes on the host, and after its last activity.  Work of the host
 * is what operators, ranges of the program and launches last, as far as the profiler recorded.
 * Python functions are none: the outer ones are open from the beginning of the recording to its
 * end. Nor is what the profiler does to start and to stop, or what a thread does that only waits.
 */
#ifndef TA_PROGRAM_WINDOW_H
#define TA_PROGRAM_WINDOW_H

#include "traceanalyze/model.h"

struct ta_program_window {
    int64_t start, end;   /* of the program; equal where nothing was recorded */
    int64_t first, last;  /* start of the first and end of the last activity; INT64_MAX and
                             INT64_MIN without one */
    uint32_t first_track; /* the threads whose work begins and ends it on the host, UINT32_MAX */
    uint32_t last_track;  /* without one */
    int64_t from, to;     /* what was recorded of the host; INT64_MIN and INT64_MAX where the trace
                             does not say */
};

/* Found once and kept with the trace, from any thread; NULL without memory. */
const struct ta_program_window *ta_program_window(const struct ta_trace *trace);

#endif
