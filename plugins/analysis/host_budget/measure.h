/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of host and device for each denoising step of a trace. */
#ifndef TA_HOST_BUDGET_MEASURE_H
#define TA_HOST_BUDGET_MEASURE_H

#include "model/program/generation.h"

#include <traceanalyze/analysis.h>

/* The launching thread works on a step from its start to the start of the next step of the same
 * image, or to the end of its last call. */
struct measured_step {
    uint32_t track, kind;
    int64_t start, end; /* host time */
    int64_t waits;      /* of that, waits for working devices and for other hosts */
    int64_t launches;   /* calls that put work into a queue; one per graph */
    int64_t device;     /* busy time of what they launched, on the busiest device */
    int64_t ahead;      /* from the last launch to the start of what it launched */
    double recorder;    /* recording overhead in ns, within the host time */
};

/* Host time in spans of one name, in steps of one kind, without nested spans. */
struct measured_name {
    uint32_t kind;
    ta_str name; /* TA_STR_ABSENT: no span was open */
    int64_t self, calls;
};

struct measured {
    struct measured_step *steps; /* by thread, then start */
    size_t n_steps;
    struct measured_name *names; /* by kind, then the largest first */
    size_t n_names;
};

/* `cost`: overhead of recording a span, by category.  False without memory. */
TA_MUST_CHECK bool measure(const struct ta_trace *trace, const struct ta_generation *found,
                           const double *cost, struct measured *out);

void measured_free(struct measured *measured);

#endif
