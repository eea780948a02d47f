/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline of the page: which slices it holds, and how they travel to the script. */
#ifndef TA_PLUGIN_HTML_TIMELINE_H
#define TA_PLUGIN_HTML_TIMELINE_H

#include "html.h"

#include <traceanalyze/timeline.h>

/* A stretch of time of a rank that a finding cites. */
struct window {
    int64_t rank, start_ns, end_ns;
};

/* What of a timeline is kept: slices from a duration on, and all that lie in a window. */
struct pick {
    int64_t shortest_ns;
    const struct window *windows; /* by rank and start, without overlap */
    size_t n_windows;
    uint32_t bins; /* of a lane of which slices were left out */
};

/* What travels, and what became of it. */
struct packed {
    unsigned char *bytes;
    size_t size;
    uint64_t n_slices, n_kept, n_too_deep;
};

/* timeline_pack.c: false without memory; the caller frees packed->bytes. */
bool timeline_pack(struct ta_ctx *ctx, const struct ta_timeline *timeline, const struct pick *pick,
                   struct packed *packed) TA_MUST_CHECK;

/* timeline_pick.c: packs what fits into `left` bytes of base64, and says what that is. */
struct timeline_choice {
    struct packed packed;
    int64_t shortest_ns;
    size_t n_windows;
    bool fits; /* false: nothing does */
};

enum ta_status timeline_choose(const struct page *page, uint64_t left,
                               struct timeline_choice *choice) TA_MUST_CHECK;

/* timeline.c: the stretches of time that a row of a table is about, on devices first: phases and
 * steps are on the timeline where devices work on them. */
enum { RANGES_MOST = 2 };
struct range_columns {
    size_t rank;
    struct {
        size_t start, dur;
    } at[RANGES_MOST];
    size_t n; /* 0: its rows are not about any */
};

struct range_columns timeline_range_columns(const struct page *page, const struct ta_table *table);
/* The first that the row has; false when it has none. */
bool timeline_range(const struct range_columns *columns, const struct ta_table *table, size_t row,
                    struct window *window);

#endif
