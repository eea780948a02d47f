/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules on memory.snapshots share: its rows are by rank and order of recording. */
#ifndef TA_ADVICE_MEMORY_H
#define TA_ADVICE_MEMORY_H

#include <traceanalyze/rule.h>

#include <math.h>

static inline double snapshot_bytes(const struct ta_table *snapshots, size_t row)
{
    return ta_row_number(snapshots, row, "allocated_bytes", NAN);
}

/* Whether two snapshots are of the same rank and device, as far as they say it. */
static inline bool snapshot_is_beside(const struct ta_table *snapshots, size_t a, size_t b)
{
    return ta_row_number(snapshots, a, "rank", -1) == ta_row_number(snapshots, b, "rank", -1) &&
           ta_row_number(snapshots, a, "device", -1) == ta_row_number(snapshots, b, "device", -1);
}

/* The snapshot of that rank and device before this one; SIZE_MAX for the first. */
static inline size_t snapshot_before(const struct ta_table *snapshots, size_t row)
{
    for (size_t i = row; i-- > 0;)
        if (snapshot_is_beside(snapshots, i, row) && !isnan(snapshot_bytes(snapshots, i)))
            return i;
    return SIZE_MAX;
}

/* Whether the label has one of the words, which end with NULL, in any case of letters. */
static inline bool snapshot_says(const struct ta_table *snapshots, size_t row,
                                 const char *const *words)
{
    return ta_slice_has_any(ta_row_text(snapshots, row, "label"), words);
}

static inline struct ta_place snapshot_place(const struct ta_table *snapshots, size_t row)
{
    return (struct ta_place){snapshots, row, ta_table_column(snapshots, "allocated_bytes"),
                             snapshot_bytes(snapshots, row)};
}

#endif
