/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that take long because they are the first of their kind: code is loaded, libraries set
 * themselves up and try algorithms.  That is no cost of handing out work. */
#ifndef TA_IDLE_FIRST_CALLS_H
#define TA_IDLE_FIRST_CALLS_H

#include "traceanalyze/base.h"
#include "traceanalyze/model.h"

/* Figures of the spans of a name of which one takes long. */
struct call_times {
    int64_t first, count, total; /* start of the earliest; time of all, without what they call */
    int64_t n_loading, loading;  /* how many of them load code, and their time */
};

struct first_calls {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    bool is_made, failed; /* what follows; without memory */
    bool *is_long;        /* by name */
    struct call_times *by_name;
    struct ta_map launches; /* rows of the first launch of a kernel */
    struct ta_map loads;    /* rows of operators that load code, not in one that they call */
};

/* What it takes is made when a call that takes long is first asked for, which is rare. */
void first_calls_open(struct first_calls *calls, const struct ta_trace *trace);
/* False when there was no memory for it. */
TA_MUST_CHECK bool first_calls_close(struct first_calls *calls);

/* Whether the span `row`, which does `work`, takes at least a millisecond because it is the first:
 * a launch, because of its kernel; an operator or a call of the runtime, because it takes ten times
 * as long as the mean of the later ones. Of an operator that is called once nobody knows, unless it
 * computes nothing, as aten::empty and compiled code; calls of the runtime that are no launch never
 * take so long otherwise. An operator may be the first again and again, for other shapes: it counts
 * when it loads code, and takes ten times as long as the mean of its calls that load none. A call
 * of the runtime that takes ten times as long as the others of its name is for the first call of
 * the operator around it. An operator within one of its own name, as wrappers call, is no call of
 * its own. */
bool first_calls_has(struct first_calls *calls, ta_row row, enum ta_host_work work);

#endif
