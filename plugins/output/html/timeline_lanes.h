/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lanes of a timeline as columns of bytes: what of them the page holds. */
#ifndef TA_PLUGIN_HTML_TIMELINE_LANES_H
#define TA_PLUGIN_HTML_TIMELINE_LANES_H

#include "timeline.h"

#include <stdatomic.h>
#include <stdlib.h>

/* ---- growing bytes ------------------------------------------------------------------------- */

struct bytes {
    unsigned char *at;
    size_t n, max;
    bool failed;
};

static inline bool bytes_reserve(struct bytes *bytes, size_t more)
{
    if (bytes->max - bytes->n >= more)
        return true;
    const size_t wanted = bytes->max * 2 + more + 1024;
    unsigned char *grown = bytes->failed ? NULL : realloc(bytes->at, wanted);
    if (!grown) {
        bytes->failed = true;
        return false;
    }
    bytes->at = grown;
    bytes->max = wanted;
    return true;
}

static inline void put_number(struct bytes *to, uint64_t value)
{
    if (bytes_reserve(to, 10))
        to->n += ta_varint_write(to->at + to->n, value);
}

static inline void put_bytes(struct bytes *to, const void *bytes, size_t n)
{
    if (n && bytes_reserve(to, n)) {
        memcpy(to->at + to->n, bytes, n);
        to->n += n;
    }
}

static inline void put_signed(struct bytes *to, int64_t value)
{
    put_number(to, ta_zigzag(value));
}

/* ---- lanes ----------------------------------------------------------------------------------- */

enum lane_column { GAPS, DURATIONS, LABELS, LAUNCH_TRACKS, DELAYS, BUSY, LANE_COLUMNS };

/* A lane, and what became of it. */
struct lane {
    const struct ta_timeline_file *file;
    const struct ta_timeline_track *track;
    const struct ta_timeline_lane *from;
    size_t window; /* the first that may matter to it */
    uint64_t kept, left_out, busy_size;
};

/* Lanes [first, end) of all, packed by one thread. */
struct lanes_part {
    size_t first, end;
    struct bytes columns[LANE_COLUMNS];
};

/* All lanes of a timeline, by file, track and place. */
struct lanes {
    const struct ta_timeline *timeline;
    const struct pick *pick;
    struct lane *at;
    struct lanes_part *parts; /* their columns are to be joined in this order */
    size_t n, n_parts;
    _Atomic unsigned char *is_used; /* by label of the timeline: whether a kept slice has it */
};

/* Width of the bins of a file in ns. */
int64_t lanes_bin_width(const struct lanes *lanes, const struct ta_timeline_file *file);

/* Packs the lanes on all threads that are free.  False without memory; lanes_free() in any case. */
bool lanes_pack(struct ta_ctx *ctx, const struct ta_timeline *timeline, const struct pick *pick,
                struct lanes *lanes) TA_MUST_CHECK;
void lanes_free(struct lanes *lanes);

#endif
