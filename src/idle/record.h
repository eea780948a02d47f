/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gaps of a trace as they were found, for all who want to hear of them. */
#ifndef TA_IDLE_RECORD_H
#define TA_IDLE_RECORD_H

#include "traceanalyze/idle.h"

/* Hundreds of thousands of gaps, most of one piece: an array for each figure, without padding, and
 * none for what the activities tell. */
struct idle_record {
    uint32_t *n_pieces; /* by activity: of the gap that ends where it begins; 0 where none does */
    /* The pieces of all gaps, one gap behind the other. */
    int64_t *ns;
    ta_row *place;
    uint8_t *cause; /* enum ta_idle_cause */
    size_t n, max;
    uint32_t *gap; /* the one of n_pieces that pieces go to */
    bool failed;
};

/* For the gaps between so many activities: makes room for most of them, and memory that is not
 * written to does not count.  idle_record_fit() gives back what was not needed. */
void idle_record_open(struct idle_record *record, size_t n_activities);
void idle_record_fit(struct idle_record *record);

/* The pieces of the gap before the activity `next` come behind it. */
void idle_record_gap(struct idle_record *record, size_t next);
void idle_record_piece(struct idle_record *record, enum ta_idle_cause cause, int64_t ns,
                       ta_row place);

void idle_record_free(struct idle_record *record);

/* Tells all that was recorded of the trace. */
void idle_record_tell(const struct idle_record *record, const struct ta_trace *trace,
                      const struct ta_idle_watcher *watcher);

#endif
