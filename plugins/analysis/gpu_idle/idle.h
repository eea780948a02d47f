/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a device was idle: the causes, and the walk over the gaps of one trace that finds them.
 *
 * A gap [a, b) lies between the latest end of all earlier activities of a device and the start of
 * the next one, K.  What the gap is blamed on depends on the call L that launched K:
 *
 *     L ends in the gap       the host was late: until L begins by what its thread did
 *                             (host_time.h), then the call itself, and from its end on the way of
 *                             the launch to the device
 *     L ended before a        K was queued: it waited for other work or for the front end
 *     there is no L           nothing is known
 *
 * Gaps below a microsecond are no decision of anybody.  The parts of each gap add up to it, so the
 * causes of a device add up to its idle time to the nanosecond. */
#ifndef GPU_IDLE_IDLE_H
#define GPU_IDLE_IDLE_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/host.h>

enum {
    IDLE_MICRO_NS = 1000,      /* gaps below are "micro gap" */
    IDLE_LATENCY_NS = 1000000, /* a launch does not take longer to arrive */
    IDLE_LONGEST_KEPT = 50     /* gaps of a device that are listed one by one */
};

enum idle_cause {
    IDLE_OPERATOR,
    IDLE_PYTHON,
    IDLE_LAUNCH_CALLS,
    IDLE_CALLS,
    IDLE_UNTRACED,
    IDLE_SYNC,
    IDLE_COPY,
    IDLE_ALLOCATE,
    IDLE_COMPILE,
    IDLE_DATA,
    IDLE_COLLECTIVE,
    IDLE_PROFILER,
    IDLE_LATENCY,
    IDLE_LATE_START,
    IDLE_GRAPH,
    IDLE_FRONT_END,
    IDLE_DEPENDENCY,
    IDLE_MICRO,
    IDLE_UNLINKED,
    IDLE_CAUSES
};

/* What causes are added up to, for charts and rules. */
enum idle_group {
    IDLE_GROUP_DISPATCH, /* the host was busy handing out work */
    IDLE_GROUP_HOST,     /* the host did something else, or nothing is known of it */
    IDLE_GROUP_SYNC,
    IDLE_GROUP_SETUP,
    IDLE_GROUP_INPUT,
    IDLE_GROUP_LATENCY,
    IDLE_GROUP_QUEUED,
    IDLE_GROUP_UNKNOWN,
    IDLE_GROUPS
};

struct idle_cause_info {
    const char *name;
    enum idle_group group;
};

extern const struct idle_cause_info idle_causes[IDLE_CAUSES];

/* Time of one gap by cause, and the span that was open in its longest piece; TA_NO_ROW for none. */
struct idle_parts {
    int64_t ns[IDLE_CAUSES];
    int64_t longest[IDLE_CAUSES];
    ta_row site[IDLE_CAUSES];
};

/* The partials of the analysis, in order. */
enum { IDLE_PARTIAL_CAUSES, IDLE_PARTIAL_SITES, IDLE_PARTIAL_GAPS };

/* Fields of partials. */
enum { CAUSE_RANK, CAUSE_DEVICE, CAUSE_CAUSE, CAUSE_GAPS, CAUSE_TOTAL, CAUSE_LONGEST };
enum { SITE_CAUSE, SITE_SITE, SITE_PIECES, SITE_TOTAL };
enum { GAP_RANK, GAP_DEVICE, GAP_START, GAP_CAUSE, GAP_SITE, GAP_NEXT, GAP_TOTAL };

/* Walks over the devices of a trace and puts what it finds into the partials. */
enum ta_status idle_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                        struct ta_partial *const *out);

#endif
