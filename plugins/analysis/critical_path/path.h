/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The critical path of a trace, from its end to its start. */
#ifndef TA_CRITICAL_PATH_PATH_H
#define TA_CRITICAL_PATH_PATH_H

#include <traceanalyze/model.h>

enum path_class {
    PATH_COMPUTE,
    PATH_COMM,
    PATH_COPY, /* copies and memory sets of the device */
    PATH_OPERATOR,
    PATH_PYTHON,
    PATH_CALL,
    PATH_WAIT, /* a wait of the host, from the end of the awaited work until the host continues */
    PATH_SETUP,
    PATH_INPUT,
    PATH_UNTRACED,
    PATH_LATENCY,
    PATH_FRONT_END,
    PATH_DEPENDENCY,
    PATH_UNKNOWN,
    PATH_CLASSES
};

/* Steps between segments of the path: proven by the trace, or only likely. */
struct path_edges {
    int64_t known, likely;
};

struct path {
    const struct ta_trace *trace;
    /* Takes each segment; `row` is its span, TA_NO_ROW if there is none. */
    void (*take)(void *user, enum path_class class, ta_row row, int64_t ns);
    void *user;
    struct path_edges edges;
};

/* "compute". */
const char *path_class_name(enum path_class class);

/* Follows the path through the window of all devices; false without memory.  A trace without
 * device activities has no path. */
TA_MUST_CHECK bool path_follow(struct path *path);

#endif
