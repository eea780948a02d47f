/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a host thread does while a span is open, by its category and name; the table is
 * src/model/host.c. */
#ifndef TRACEANALYZE_HOST_H
#define TRACEANALYZE_HOST_H

#include "model.h"

TA_BEGIN_DECLS

enum ta_host_work {
    TA_HOST_UNTRACED,   /* a range that only names a phase: what happens within is not recorded */
    TA_HOST_OPERATOR,   /* an operator of the framework: dispatch, shape checks, output tensors */
    TA_HOST_PYTHON,     /* a Python function */
    TA_HOST_LAUNCH,     /* puts work into a queue of the device: kernels, asynchronous copies */
    TA_HOST_GRAPH,      /* the same for a graph of many kernels */
    TA_HOST_CALL,       /* any other call of the runtime or driver */
    TA_HOST_SYNC,       /* waits for the device */
    TA_HOST_COPY,       /* a copy that returns when it is done */
    TA_HOST_ALLOCATE,   /* asks the driver for memory, or gives it back */
    TA_HOST_COMPILE,    /* compiles, tunes or loads code */
    TA_HOST_DATA,       /* loads data: data loaders, files */
    TA_HOST_COLLECTIVE, /* a collective of the host, such as gloo's */
    TA_HOST_PROFILER,   /* the profiler itself */
    TA_HOST_WORK_COUNT
};

/* `event_class` and `category` of the span's category. */
TA_API enum ta_host_work ta_host_classify(enum ta_event_class event_class, struct ta_slice category,
                                          struct ta_slice name);

/* The first row from `row` on that does this work; the number of spans without one.  Whoever looks
 * for rare work needs not look at each span.  Needs TA_NEED_HOST_WORK. */
static inline ta_row ta_host_next(const struct ta_spans *spans, size_t row, enum ta_host_work work)
{
    const void *found =
        row < spans->n ? memchr(spans->work + row, (int)work, spans->n - row) : NULL;
    return (ta_row)(found ? (size_t)((const uint8_t *)found - spans->work) : spans->n);
}

/* Copies smaller than this are reads of single values, .item() and the like: waits for a result,
 * not transfers. */
#define TA_HOST_VALUE_BYTES 1024

/* Whether the work says why a thread was late, whatever is nested in it: spans below it that only
 * show how it is done count as the same. */
static inline bool ta_host_is_cause(enum ta_host_work work)
{
    return work >= TA_HOST_SYNC;
}

/* Whether a span of this name marks a step; the number comes after it. */
#define TA_STEP_MARK "ProfilerStep#"

static inline bool ta_host_is_step(struct ta_slice name)
{
    const size_t n = sizeof TA_STEP_MARK - 1;
    return name.len >= n && memcmp(name.ptr, TA_STEP_MARK, n) == 0;
}

/* The number of the step that a span of this name marks; TA_MISSING when it marks none, or by
 * something else than up to 18 digits. */
static inline int64_t ta_host_step_number(struct ta_slice name)
{
    const size_t first = sizeof TA_STEP_MARK - 1;
    int64_t number = 0;
    if (!ta_host_is_step(name) || name.len == first || name.len > first + 18)
        return TA_MISSING;
    for (size_t i = first; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return TA_MISSING;
        number = number * 10 + (name.ptr[i] - '0');
    }
    return number;
}

/* The name of a span as a place of the program: step markers are one place. */
static inline struct ta_slice ta_host_place(struct ta_slice name)
{
    return ta_host_is_step(name) ? (struct ta_slice){name.ptr, sizeof TA_STEP_MARK - 2} : name;
}

/* Whether a span is a built-in function of Python, which has no place in a file; who calls it
 * has. */
static inline bool ta_host_is_builtin(struct ta_slice name)
{
    return name.len > 9 && memcmp(name.ptr, "<built-in", 9) == 0;
}

TA_END_DECLS

#endif
