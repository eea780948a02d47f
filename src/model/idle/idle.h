/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a device was idle: its gaps, and what held each of them up.
 *
 * A gap [a, b) lies between the latest end of all earlier activities of a device and the start of
 * the next one, K.  What the gap is blamed on depends on the call L that launched K:
 *
 *     L ends in the gap       the host was late: until L begins by what its thread did, then the
 *                             call itself, and from its end on the way of the launch to the device
 *     L ended before a        K was queued: it waited for other work or for the front end
 *     there is no L           nothing is known
 *
 * From the end of a launch whose kernel was not recorded nothing is known either: the device may
 * have worked; nor between a launch and a kernel of it that is out of order.  And what is queued
 * while nothing runs on any device waits for its device to begin; above a millisecond nothing says
 * why it did not.
 *
 * Gaps below a microsecond are no decision of anybody.  The parts of each gap add up to it, so the
 * causes of a device add up to its idle time to the nanosecond. */
#ifndef TA_MODEL_IDLE_IDLE_H
#define TA_MODEL_IDLE_IDLE_H

#include "traceanalyze/model.h"

enum {
    TA_IDLE_MICRO_NS = 1000, /* gaps below are "micro gap" */
    /* An operator that takes so long and launches nothing computes. */
    TA_IDLE_COMPUTE_NS = 100000,
    TA_IDLE_LATENCY_NS = 1000000, /* a launch does not take longer to arrive */
    /* Without Python stacks nothing is recorded between two operators: less than this is the
     * program's normal way from one to the next. */
    TA_IDLE_BETWEEN_NS = 1000000
};

enum ta_idle_cause {
    TA_IDLE_OPERATOR,
    TA_IDLE_PYTHON,
    TA_IDLE_LAUNCH_CALLS,
    TA_IDLE_CALLS,
    TA_IDLE_UNTRACED,
    TA_IDLE_SYNC,
    TA_IDLE_COPY,
    TA_IDLE_ALLOCATE,
    TA_IDLE_COMPILE,
    TA_IDLE_FIRST_CALL,
    TA_IDLE_DATA,
    TA_IDLE_COLLECTIVE,
    TA_IDLE_PROFILER,
    TA_IDLE_LATENCY,
    TA_IDLE_LATE_START,
    TA_IDLE_GRAPH,
    TA_IDLE_FRONT_END,
    TA_IDLE_DEPENDENCY,
    TA_IDLE_MICRO,
    TA_IDLE_UNLINKED,
    TA_IDLE_LOST,
    TA_IDLE_DISORDER,
    TA_IDLE_BEFORE,
    TA_IDLE_COMPUTE,
    TA_IDLE_CAUSES
};

/* What causes are added up to, for charts and rules. */
enum ta_idle_group {
    TA_IDLE_GROUP_DISPATCH, /* the host was busy handing out work */
    TA_IDLE_GROUP_HOST,     /* the host did something else, or nothing is known of it */
    TA_IDLE_GROUP_COMPUTE,  /* the host computed what a device could */
    TA_IDLE_GROUP_SYNC,
    TA_IDLE_GROUP_SETUP,
    TA_IDLE_GROUP_INPUT,
    TA_IDLE_GROUP_LATENCY,
    TA_IDLE_GROUP_QUEUED,
    TA_IDLE_GROUP_UNKNOWN,
    TA_IDLE_GROUPS
};

struct ta_idle_cause_info {
    const char *name;
    enum ta_idle_group group;
    const char *part; /* of run.bound, and of pictures: "idle" says nothing */
};

extern const struct ta_idle_cause_info ta_idle_causes[TA_IDLE_CAUSES];

/* By its name; NULL for one of another version. */
const struct ta_idle_cause_info *ta_idle_cause_find(struct ta_slice name);

/* Whether the device was idle since the host had launched nothing. */
static inline bool ta_idle_is_of_host(enum ta_idle_cause cause)
{
    return ta_idle_causes[cause].group <= TA_IDLE_GROUP_INPUT;
}

/* What one cause has of a gap, and the span that was open in its longest piece; TA_NO_ROW for
 * none. */
struct ta_idle_part {
    enum ta_idle_cause cause;
    int64_t ns, longest;
    ta_row site;
};

/* A gap by cause, each once, in the order of time. */
struct ta_idle_parts {
    size_t n;
    struct ta_idle_part at[TA_IDLE_CAUSES];
};

struct ta_idle_gap {
    int64_t start, end;
    size_t next; /* index of the activity that ended it */
    struct ta_idle_parts parts;
};

/* A piece of a gap. */
struct ta_idle_piece {
    enum ta_idle_cause cause;
    int64_t ns;
    ta_row place; /* where it is to be shown: the operator, function or range that the host was in,
                   * or the kernel that waited; TA_NO_ROW for none */
    /* The call that waits for the device and that the time belongs to: it was open, or the host had
     * not caught up with the device since it returned; or the span that computed before, since when
     * it has not.  TA_NO_ROW without one. */
    ta_row wait;
};

/* Whether the host was handing out work, or the launch was on its way: launches that come late. */
static inline bool ta_idle_is_launching(const struct ta_idle_piece *piece)
{
    return ta_idle_causes[piece->cause].group == TA_IDLE_GROUP_DISPATCH ||
           ta_idle_causes[piece->cause].group == TA_IDLE_GROUP_LATENCY ||
           (piece->cause == TA_IDLE_UNTRACED && piece->ns < TA_IDLE_BETWEEN_NS);
}

/* Who is told what is found; `user` goes to each.  Those not needed may be NULL. */
struct ta_idle_watcher {
    void *user;
    /* The pieces of a gap come before the gap. */
    void (*piece)(void *user, const struct ta_idle_piece *piece);
    /* Its sites are places too. */
    void (*gap)(void *user, const struct ta_idle_gap *gap);
    /* All gaps of a device have come. */
    void (*device)(void *user, int64_t device);
};

/* Walks over the gaps of each device, in the order of devices and time.  Needs TA_NEED_HOST_WORK.
 * The first walk over a trace looks for them, linear in its spans; those after it hear what was
 * found, linear in the activities.  From any thread; false without memory. */
TA_MUST_CHECK bool ta_idle_walk(const struct ta_trace *trace,
                                const struct ta_idle_watcher *watcher);

/* ---- the time of the program around the activities ----------------------------------------- */

/* The program's window (model/program/window.h) begins before the first activity of a device and
 * ends after its last. */
enum ta_idle_edge { TA_EDGE_BEFORE, TA_EDGE_AFTER, TA_EDGES };

/* One of them, by cause and name: `times` pieces, of which `place` is the first. */
struct ta_idle_edge_part {
    int64_t device;
    enum ta_idle_edge edge;
    enum ta_idle_cause cause;
    int64_t ns, times;
    ta_row place;
};

/* Reports this time of each device: what the thread that launches the first activity does until
 * then, and what the thread that works last does after the last one.  Found with the gaps.  False
 * without memory. */
TA_MUST_CHECK bool ta_idle_edges(const struct ta_trace *trace, void *user,
                                 void (*take)(void *user, const struct ta_idle_edge_part *part));

#endif
