/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The busy time of a device divided between the activities that run: every instant that any of them
 * covers is divided evenly, so the parts add up to the busy time to the nanosecond.  What does not
 * divide goes to those that began first. */
#ifndef TA_LIB_SHARING_H
#define TA_LIB_SHARING_H

#include <traceanalyze/base.h>

/* Activities of one device that run at the same time, at most; those beyond share nothing. */
enum { TA_SHARING_MOST = 256 };

/* Zero-initialize; nothing to free. */
struct ta_sharing {
    struct {
        int64_t end;
        int64_t *part; /* of the partial that gets the time, TA_MISSING at first */
    } running[TA_SHARING_MOST];
    size_t n;
    int64_t now;
};

/* An activity begins; the calls come in the order of `start`. */
void ta_sharing_begin(struct ta_sharing *sharing, int64_t start, int64_t end, int64_t *part);
/* Gives out the rest; the next activity is of another device. */
void ta_sharing_end(struct ta_sharing *sharing);

#endif
