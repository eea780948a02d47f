/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs as they were captured: which operator, in which module, launched each of their nodes.
 *
 * While a stream is captured its launches run nothing; they become the nodes of a graph, whose
 * replays have kernels, but no operators.  Captures are copied out of their trace, as the replays
 * may be in another one (normalize/replays.c). */
#ifndef TA_MODEL_CAPTURE_H
#define TA_MODEL_CAPTURE_H

#include "base/vec.h"
#include "traceanalyze/model.h"

/* What a node of a graph runs, as far as its launch shows. */
enum capture_work { CAPTURE_KERNEL, CAPTURE_COPY, CAPTURE_SET };

/* The value of an argument of a span. */
struct capture_arg {
    size_t key; /* place among the keys of the captures */
    int64_t value;
    struct ta_slice text; /* instead of the value, if it has a place */
};

/* An operator, module or range around a launch, or the call that launched it. */
struct capture_row {
    struct ta_slice name, category;
    enum ta_event_class class; /* a captured one */
    uint32_t parent;           /* a row of the graph before this one, or CAPTURE_OUTSIDE */
    size_t first_arg, n_args;
};

#define CAPTURE_OUTSIDE UINT32_MAX

struct capture_node {
    uint32_t row; /* of the graph: the launching op */
    enum capture_work work;
    struct ta_slice kernel; /* its name, empty where the call does not have it */
};

struct ta_captures;

/* One graph. */
struct capture {
    const struct ta_captures *of;
    struct ta_slice name; /* of the range around the capture, empty without one */
    const char *file;     /* that it was recorded in, for people */
    bool modules, ranges; /* its rows hold modules, and ranges of the program */
    TA_VEC(struct capture_row) rows;
    TA_VEC(struct capture_node) nodes; /* in the order of their launches */
};

/* Captures of one file.  Zero-initialize, free with ta_captures_free(); stays where it is in
 * between.
 */
struct ta_captures {
    struct ta_arena arena; /* of all texts */
    int64_t process, rank; /* of the file, or TA_MISSING */
    TA_VEC(struct capture) graphs;
    TA_VEC(struct capture_arg) args;
    TA_VEC(struct ta_slice) keys;
};

/* Captures of several files. */
struct ta_capture_list {
    const struct ta_captures *const *at;
    size_t n;
};

/* Adds the graphs that were captured in a trace, of the file of this name, and notes its process;
 * false without memory. */
bool ta_captures_take(struct ta_captures *captures, const struct ta_trace *trace,
                      const char *file) TA_MUST_CHECK;

void ta_captures_free(struct ta_captures *captures);

/* Whether a text is the name of the call that begins a capture. */
bool ta_capture_begins(struct ta_slice name);

#endif
