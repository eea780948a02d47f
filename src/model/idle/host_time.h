/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a host thread did in a stretch of time. */
#ifndef TA_IDLE_HOST_TIME_H
#define TA_IDLE_HOST_TIME_H

#include "model/idle/computing.h"
#include "model/idle/first_calls.h"
#include "model/idle/idle.h"
#include "model/idle/record.h"
#include "model/idle/waits.h"
#include "traceanalyze/model.h"

struct host_time {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_tracks tracks;
    struct ta_categories categories;
    uint8_t *work; /* enum ta_host_work by row, the work of the nearest cause around it if any */
    struct ta_intervals profiler, loading; /* of the process as a whole, united */
    size_t near_profiler, near_loading;    /* intervals of them where the last search ended */
    struct ta_interval clear;              /* around that search: none of them is in it */
    uint8_t *preparing;                    /* by name: whether such a function prepares data */
    struct first_calls first_calls;
    struct computing computing;
    struct idle_waits *waits; /* NULL where none owns time */
    uint32_t track;           /* the thread that is looked at */
    uint32_t other;           /* the one that launched the work before; UINT32_MAX */
    int64_t first_launch;     /* waits that begin earlier are for what lies before the recording */
    const struct ta_intervals *busy; /* of all devices, NULL where there is only one */
    struct idle_record *record;      /* of every piece of time with its place */
};

/* False without memory; host_time_close() all the same. */
bool host_time_open(struct host_time *host, const struct ta_trace *trace,
                    struct idle_record *record);
/* False when there was no memory for what was blamed. */
TA_MUST_CHECK bool host_time_close(struct host_time *host);

/* Code is made ready in this united set of times, whatever spans are open in it. */
void host_time_loads(struct host_time *host, const struct ta_intervals *times);

/* Blames a piece of time, `row` being the innermost span open in it or TA_NO_ROW. */
void host_time_piece(struct host_time *host, enum ta_idle_cause cause, int64_t ns, ta_row row);

/* The same of time from `from` on in which the thread is late; it may belong to a wait of it. */
void host_time_late(struct host_time *host, enum ta_idle_cause cause, int64_t from, int64_t ns,
                    ta_row row);

/* Blames [from, to) on the span `row`, the innermost that is open in it, TA_NO_ROW for none; on the
 * profiler where that held up the process. */
void host_time_within(struct host_time *host, ta_row row, int64_t from, int64_t to);

/* Blames [from, to) on what a thread did in it, of its rows those before `last`.  Linear in the
 * spans that begin in between. */
void host_time_of(struct host_time *host, uint32_t track, ta_row last, int64_t from, int64_t to);

/* The same of the thread of the call `launch`; `to` is at most the start of the call. */
static inline void host_time_blame(struct host_time *host, ta_row launch, int64_t from, int64_t to)
{
    host_time_of(host, host->spans.track[launch], launch, from, to);
}

#endif
