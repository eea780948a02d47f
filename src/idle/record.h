/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gaps of a trace as they were found, for all who want to hear of them. */
#ifndef TA_IDLE_RECORD_H
#define TA_IDLE_RECORD_H

#include "base/vec.h"
#include "traceanalyze/idle.h"

struct idle_piece {
    int64_t ns;
    ta_row place;
    uint8_t cause; /* enum ta_idle_cause */
};

/* Ends where the next activity begins. */
struct idle_gap {
    int64_t start;
    uint32_t next;     /* index of that activity */
    uint32_t n_pieces; /* behind those of the gap before */
};

struct idle_record {
    TA_VEC(struct idle_gap) gaps; /* by device and time */
    TA_VEC(struct idle_piece) pieces;
    bool failed;
};

/* Makes room for the gaps between so many activities, as far as there is memory; memory that is not
 * written to does not count.  idle_record_fit() gives back what was not needed. */
void idle_record_reserve(struct idle_record *record, size_t n_activities);
void idle_record_fit(struct idle_record *record);

/* The pieces of a gap come behind it. */
void idle_record_gap(struct idle_record *record, int64_t start, size_t next);
void idle_record_piece(struct idle_record *record, enum ta_idle_cause cause, int64_t ns,
                       ta_row place);

void idle_record_free(struct idle_record *record);

/* Tells all that was recorded of the trace. */
void idle_record_tell(const struct idle_record *record, const struct ta_trace *trace,
                      const struct ta_idle_watcher *watcher);

#endif
