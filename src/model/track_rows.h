/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking up spans of a thread or stream by time. */
#ifndef TA_MODEL_TRACK_ROWS_H
#define TA_MODEL_TRACK_ROWS_H

#include "traceanalyze/model.h"

/* The first span of a track that starts at `time` or later; one past the last where none does.
 * O(log n). */
static inline ta_row ta_track_row_from(const struct ta_spans *spans, const struct ta_track *track,
                                       int64_t time)
{
    ta_row low = track->first, high = track->first + track->n;
    while (low < high) {
        const ta_row middle = low + (high - low) / 2;
        if (spans->ts[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
