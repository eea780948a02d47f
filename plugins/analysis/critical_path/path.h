/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The critical path of one trace: the chain of work and waits that ends with the last activity of
 * the devices and covers their whole window.
 *
 * It is followed from its end back to its start.  At each place the question is what had to end
 * before this could begin, and of several the one that ended last:
 *
 *     an activity       the one before it on its stream; the call that launched it; an activity of
 *                       another stream that it had to wait for
 *     a host thread     what it did just before, span by span; where it did nothing, the thread
 *                       that was active last
 *     a wait of the host for the device, or a blocking copy: the activity that ended last within it
 *
 * A host that never waits would keep the path for ever once a single activity found the queue
 * empty, however busy the device was before.  So the path goes back to the device where the host
 * was ahead of it: at a launch whose activity had to queue.  It also does where nothing was
 * recorded of the host for long, while the device worked.
 *
 * Every step of the way is a piece of time with a class, and one ends where the next begins, so the
 * pieces add up to the window to the nanosecond.  Whether the step is known or only likely is
 * counted as well.  (Böhme et al., Identifying the Root Causes of Wait States in Large-Scale
 * Parallel Applications, 2010, follow the critical path in the same direction.) */
#ifndef CRITICAL_PATH_PATH_H
#define CRITICAL_PATH_PATH_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

enum path_class {
    PATH_COMPUTE,
    PATH_COMM,
    PATH_COPY, /* copies and memory sets of the device */
    PATH_OPERATOR,
    PATH_PYTHON,
    PATH_CALL,
    PATH_WAIT, /* a wait of the host, from the end of the work until it goes on */
    PATH_SETUP,
    PATH_INPUT,
    PATH_UNTRACED,
    PATH_LATENCY,
    PATH_FRONT_END,
    PATH_DEPENDENCY,
    PATH_UNKNOWN,
    PATH_CLASSES
};

const char *path_class_name(enum path_class class);

/* Steps from one place to the one before it: by what the trace says, or as is likely. */
struct path_edges {
    int64_t known, likely;
};

struct path {
    const struct ta_trace *trace;
    /* Takes each piece; `row` is the span, TA_NO_ROW where there is none. */
    void (*take)(void *user, enum path_class class, ta_row row, int64_t ns);
    void *user;
    struct path_edges edges;
};

/* Follows the path through the window of all devices; false without memory.  Traces without device
 * activities have none. */
bool path_follow(struct path *path);

#endif
