/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events as text for report_on_events(): single quotes in place of double ones, and a comma behind
 * each.  Times are in µs. */
#ifndef TA_TEST_EVENTS_H
#define TA_TEST_EVENTS_H

/* A span of a host thread. */
#define EVENT_SPAN(cat, name, tid, ts, dur)                                                        \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':1,'tid':" #tid ",'ts':" #ts ",'dur':" #dur  \
    "},"

/* A call of the runtime, and what it starts on a stream of device 0: the same id links them. */
#define EVENT_CALL(name, id, tid, ts, dur)                                                         \
    "{'ph':'X','cat':'cuda_runtime','name':'" name "','pid':1,'tid':" #tid ",'ts':" #ts            \
    ",'dur':" #dur ",'args':{'correlation':" #id "}},"
#define EVENT_ACTIVITY(cat, name, id, stream, ts, dur)                                             \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':0,'tid':" #stream ",'ts':" #ts              \
    ",'dur':" #dur ",'args':{'correlation':" #id ",'device':0}},"

#define EVENT_LAUNCH(id, tid, ts, dur) EVENT_CALL("cudaLaunchKernel", id, tid, ts, dur)
#define EVENT_KERNEL(name, id, stream, ts, dur) EVENT_ACTIVITY("kernel", name, id, stream, ts, dur)

#endif
