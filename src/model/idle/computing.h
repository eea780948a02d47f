/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a thread of the host computes what a device could: in operators on tensors of the CPU, in
 * functions of libraries for arrays and images, and between them. */
#ifndef TA_IDLE_COMPUTING_H
#define TA_IDLE_COMPUTING_H

#include "model/idle/idle.h"

/* A thread computes from `from` to `to`. */
struct computing_time {
    uint32_t track;
    int64_t from, to;
};

struct computing {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    uint8_t *names;              /* by name: what is known of it */
    struct ta_intervals unknown; /* starts of activities whose launch was not recorded */
    struct computing_time *at;   /* by track and time */
    size_t n, max;
    size_t near; /* where the last search ended: the next is rarely far */
    bool is_made, failed;
};

/* What it takes is made when it is first asked for. */
void computing_open(struct computing *computing, const struct ta_trace *trace);
/* False when there was no memory for it. */
TA_MUST_CHECK bool computing_close(struct computing *computing);

/* Whether the thread computes at `time`: in a function of NumPy, PIL, OpenCV and the like, or an
 * operator, that takes TA_IDLE_COMPUTE_NS by itself, the operator without a call of the runtime; or
 * for less than 1 ms between two of them without such a call.  Operators that only look at a tensor
 * in another way, allocate, or read a value of the device do not compute; nor is it known where a
 * device begins something without a recorded launch meanwhile. */
bool computing_at(struct computing *computing, uint32_t track, int64_t time);

#endif
