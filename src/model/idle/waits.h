/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a wait of the host costs a device.
 *
 * While a thread waits for a device it launches nothing, so when the wait ends the queue is empty:
 * the device idles until the thread has launched again, and after each kernel that is shorter than
 * the next launch.  Without the wait the thread would be ahead by the time that it spent in it, so
 * that much idle time at most is the wait's, until the thread is ahead of the device again.  Waits
 * in a row add up; each owns no more than it lasted, the latest first, so that a short one after a
 * long one does not count for it. */
#ifndef TA_IDLE_WAITS_H
#define TA_IDLE_WAITS_H

#include "model/idle/idle.h"

enum { IDLE_WAITS_OPEN_MOST = 32 }; /* waits in a row that are remembered */

/* What a thread has waited since it was last ahead of the device. */
struct idle_debt {
    size_t next;          /* index of its first wait that has not ended */
    int64_t starts, ends; /* of that one; INT64_MAX without any */
    int64_t used;         /* idle time during it */
    size_t n;
    struct {
        ta_row wait;
        int64_t left;
    } at[IDLE_WAITS_OPEN_MOST]; /* the latest is the last */
    ta_row computing;           /* the span at the first place where that is no wait but computes */
    ta_row last_launch;
    int n_launches; /* since the latest wait */
};

struct idle_waits {
    struct ta_spans spans;
    ta_row *at; /* calls that wait, in the order of rows, which is by thread and time */
    size_t n, max;
    int64_t first_launch;     /* waits that begin earlier are for what lies before the recording */
    struct idle_debt **debts; /* by track, NULL where it has none yet */
    size_t n_tracks;
    bool failed;
};

void idle_waits_open(struct idle_waits *waits, const struct ta_trace *trace);
void idle_waits_close(struct idle_waits *waits);

/* Another device begins. */
void idle_waits_restart(struct idle_waits *waits);

/* The wait of a thread that is open at `time`; TA_NO_ROW. */
ta_row idle_waits_at(struct idle_waits *waits, uint32_t track, int64_t time);

/* The open wait owns `ns` of idle time. */
void idle_waits_use(struct idle_waits *waits, uint32_t track, int64_t ns);

/* How much of `ns` at `time` the latest wait that still owes time owns; 0 without one.  To be asked
 * again for the rest. */
int64_t idle_waits_take(struct idle_waits *waits, uint32_t track, int64_t time, int64_t ns,
                        ta_row *wait);

/* The thread does something else now that empties the queue.  For `ns` of it, in which the device
 * idles, it computes in the span `row`; what that took while the device was busy is owed like a
 * wait.  TA_NO_ROW where nothing is owed. */
void idle_waits_owe(struct idle_waits *waits, uint32_t track, ta_row row, int64_t ns);

/* An activity of the device that was launched so; `lead`: how long it was in the queue while the
 * device was busy. */
void idle_waits_launched(struct idle_waits *waits, ta_row launch, int64_t lead);

#endif
