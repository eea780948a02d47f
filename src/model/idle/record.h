/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gaps of a trace as they were found, for all who want to hear of them. */
#ifndef TA_IDLE_RECORD_H
#define TA_IDLE_RECORD_H

#include "model/idle/idle.h"

/* Hundreds of thousands of gaps: an array for each figure, without padding, and none for what the
 * activities tell, such as micro gaps, which are one piece and have no place. */
struct idle_record {
    uint32_t *n_pieces; /* of each gap that is not micro, in the order of activities */
    size_t n_gaps, max_gaps;
    /* The pieces of these gaps, one gap after the other. */
    int64_t *ns;
    ta_row *place, *wait;
    uint8_t *cause; /* enum ta_idle_cause */
    size_t n, max;
    /* Where pieces of a gap that have one cause and one name are kept as one, as they are of the
     * long time before the first activity: the names of the spans, and how many each is of. */
    const ta_str *names;
    uint32_t *times;
    struct ta_map merged; /* of gap, cause and name: the place + 1 */
    bool failed;
};

/* Gives back memory that was not needed. */
void idle_record_fit(struct idle_record *record);

/* The pieces of a gap that is not micro come after it. */
void idle_record_gap(struct idle_record *record);
void idle_record_piece(struct idle_record *record, const struct ta_idle_piece *piece);

void idle_record_free(struct idle_record *record);

/* Reports all that was recorded of the trace. */
void idle_record_tell(const struct idle_record *record, const struct ta_trace *trace,
                      const struct ta_idle_watcher *watcher);

#endif
