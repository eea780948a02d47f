/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.snapshots: memory at labelled moments, and the state of PyTorch's allocator by device. */
#include "memory.h"

#include <stdlib.h>

enum {
    SNAPSHOTS_RANK,
    SNAPSHOTS_INDEX,
    SNAPSHOTS_LABEL,
    SNAPSHOTS_DEVICE,
    SNAPSHOTS_TIME,
    SNAPSHOTS_ALLOCATED,
    SNAPSHOTS_RESERVED,
    SNAPSHOTS_MAX_ALLOCATED,
    SNAPSHOTS_GAP,
    SNAPSHOTS_GAP_SHARE
};
static const struct ta_column memory_snapshots_columns[] = {
    [SNAPSHOTS_RANK] = TA_DUMP_RANK_COLUMN,
    [SNAPSHOTS_INDEX] = {"index", "Index", TA_INTEGER, .role = TA_IN_SERIES,
                         .doc = "Place in the order of recording, from 0"},
    [SNAPSHOTS_LABEL] = {"label", "Label", TA_TEXT, .read_as = TA_AS_LEVEL_LABEL,
                         .doc =
                             "Label of the snapshot; of an allocator state the name of its file"},
    [SNAPSHOTS_DEVICE] = TA_DEVICE_COLUMN_OF("Device, none when the dump does not name it"),
    [SNAPSHOTS_TIME] = {"time_ns", "Time", TA_NS,
                        .doc = "Time since the first snapshot of the rank"},
    [SNAPSHOTS_ALLOCATED] = {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
                             .read_as = TA_AS_LEVEL_BYTES, .doc = "Bytes in use by tensors"},
    [SNAPSHOTS_RESERVED] = {"reserved_bytes", "Reserved", TA_BYTES, .better = TA_LOWER,
                            .doc = "Bytes that the allocator holds"},
    [SNAPSHOTS_MAX_ALLOCATED] = {"max_allocated_bytes", "Peak so far", TA_BYTES, .better = TA_LOWER,
                                 .doc = "Largest number of bytes in use so far: as the profiler "
                                        "says it, of an allocator state by its history"},
    [SNAPSHOTS_GAP] = {"gap_bytes", "Gap", TA_BYTES, .better = TA_LOWER,
                       .doc = "Reserved minus allocated: held and not in use"},
    [SNAPSHOTS_GAP_SHARE] =
        {"gap_share", "Gap share", TA_RATIO, .better = TA_LOWER,
         .doc = "Gap over reserved: fragmentation, or a cache that is not needed now"},
};

static const struct ta_chart_def timeline_chart = {
    .id = "memory-timeline",
    .title = "Memory over time",
    .caption = "Memory at each snapshot; between snapshots nothing is known.",
    .kind = TA_CHART_LINES,
    .x = &memory_snapshots_columns[SNAPSHOTS_TIME],
    .y = {{&memory_snapshots_columns[SNAPSHOTS_RESERVED], "Reserved", TA_INK_SERIES_2},
          {&memory_snapshots_columns[SNAPSHOTS_MAX_ALLOCATED], "Peak so far", TA_INK_SERIES_3},
          {&memory_snapshots_columns[SNAPSHOTS_ALLOCATED], "Allocated", TA_INK_SERIES_1}},
    .group = &memory_snapshots_columns[SNAPSHOTS_RANK],
};

const struct ta_ref memory_brief_reads[] = {
    [BRIEF_SNAPSHOTS] = {"memory.snapshots", NULL},
    [BRIEF_FRAGMENTATION] = {"memory.fragmentation", NULL},
    [BRIEF_RANKS] = {"memory.by_rank", NULL},
    [BRIEF_SITES] = {"memory.sites", NULL},
};

bool are_labels_of_one_rank(const struct ta_refs *in)
{
    return ta_ref_rows(in, BRIEF_SNAPSHOTS) > ta_ref_rows(in, BRIEF_FRAGMENTATION) &&
           ta_report_run(in->report)->n_ranks <= 1;
}

const struct ta_table_def memory_snapshots = {
    "memory.snapshots", "Memory by label", TA_COLUMNS(memory_snapshots_columns),
    .doc = "One row per labelled snapshot, and per allocator state (pickle) and device, in the "
           "order of recording. Of an allocator state, allocated is the sum of the blocks in "
           "state `active_allocated`, reserved that of the segments. A printed memory summary "
           "beside the state of the same allocator is no snapshot of its own; its peaks count "
           "in `memory.by_rank`. Charts `memory-timeline`, `memory-phases`.",
    .brief = &(const struct ta_brief){.place = 350,
                                      .rows = 12,
                                      .largest = &memory_snapshots_columns[SNAPSHOTS_ALLOCATED],
                                      .applies = are_labels_of_one_rank,
                                      TA_READS(memory_brief_reads)}};

/* Bars are named by what tells them apart. */
static void add_phases(struct ta_section_builder *out, const struct snapshots *all)
{
    struct ta_chart_def chart = {
        .id = "memory-phases",
        .title = "Memory at labelled snapshots",
        .caption = "Allocated memory and the gap up to what the allocator holds.",
        .kind = TA_CHART_STACKED_BARS,
        .label = {&memory_snapshots_columns[SNAPSHOTS_LABEL]},
        .y = {{&memory_snapshots_columns[SNAPSHOTS_ALLOCATED], "Allocated", TA_INK_COMPUTE},
              {&memory_snapshots_columns[SNAPSHOTS_GAP], "Gap", TA_INK_IDLE}},
    };
    bool ranks = false, devices = false;
    for (size_t i = 1; i < all->n; i++) {
        ranks |= all->rows[i][RANK] != all->rows[0][RANK];
        devices |= all->rows[i][DEVICE] != all->rows[0][DEVICE];
    }
    size_t n = 1;
    if (ranks)
        chart.label[n++] = &memory_snapshots_columns[SNAPSHOTS_RANK];
    if (devices)
        chart.label[n] = &memory_snapshots_columns[SNAPSHOTS_DEVICE];
    ta_draw(out, &memory_snapshots, &chart);
}

/* The state of the same allocator, where both it and torch's memory summary were written. */
static int64_t *state_behind(const struct snapshots *all, const int64_t *summary)
{
    if (!ta_slice_equal(ta_partial_text(all->partial, summary, LABEL), TA_LIT("memory summary")))
        return NULL;
    for (size_t i = 0; i < all->n; i++)
        if (all->rows[i][STATE] == STATE_ALLOCATOR && all->rows[i][RANK] == summary[RANK] &&
            all->rows[i][DEVICE] == summary[DEVICE])
            return all->rows[i];
    return NULL;
}

/* Snapshots first, then peaks of traces; false without memory. */
static bool put_in_order(struct snapshots *all)
{
    int64_t(*rows)[FIELDS] = calloc(all->n + 1, sizeof *rows);
    size_t n = 0, snapshots = 0;
    for (int peaks = 0; rows && peaks < 2; peaks++) {
        for (size_t i = 0; i < all->n; i++) {
            const int64_t state = all->rows[i][STATE];
            if (state != STATE_COPY && (state == STATE_TRACE) == (peaks == 1))
                memcpy(rows[n++], all->rows[i], sizeof *rows);
        }
        snapshots = peaks ? snapshots : n;
    }
    free(all->rows);
    *all = (struct snapshots){rows, snapshots, n - snapshots, all->partial};
    return rows != NULL;
}

/* A summary is a copy of the state at printed precision, but it also knows the peaks. */
bool gather_snapshots(const struct ta_partial *partial, struct snapshots *all)
{
    const size_t n = ta_partial_rows(partial);
    *all = (struct snapshots){.rows = calloc(n + 1, sizeof *all->rows), .n = n, .partial = partial};
    if (!all->rows)
        return false;
    for (size_t i = 0; i < n; i++)
        memcpy(all->rows[i], ta_partial_at(partial, i), sizeof *all->rows);
    for (size_t i = 0; i < n; i++) {
        int64_t *state = state_behind(all, all->rows[i]);
        if (!state)
            continue;
        static const int known[] = {MAX_ALLOCATED, MAX_RESERVED, OOMS, RETRIES};
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            ta_most(&state[known[k]], all->rows[i][known[k]]);
        all->rows[i][STATE] = STATE_COPY;
    }
    return put_in_order(all);
}

/* The time of the first snapshot of the rank at `i` that has one: labels come in the order of
 * recording, allocator states by the names of their files, so of these alone it is the earliest. */
static int64_t first_time(const struct snapshots *all, size_t i)
{
    const int64_t rank = all->rows[i][RANK];
    int64_t first = TA_MISSING, earliest = TA_MISSING;
    bool labels = false;
    for (; i < all->n && all->rows[i][RANK] == rank; i++) {
        const int64_t time = all->rows[i][TIME];
        labels |= all->rows[i][STATE] != STATE_ALLOCATOR;
        first = first == TA_MISSING ? time : first;
        if (time != TA_MISSING && (earliest == TA_MISSING || time < earliest))
            earliest = time;
    }
    return labels ? first : earliest;
}

/* Counts on within the rank. */
void add_snapshots(struct ta_section_builder *out, const struct snapshots *all)
{
    int64_t index = 0, first_ns = TA_MISSING;
    bool timed = false, phased = false;
    for (size_t i = 0; i < all->n; i++) {
        const int64_t *row = all->rows[i];
        if (i == 0 || all->rows[i - 1][RANK] != row[RANK]) {
            index = 0;
            first_ns = first_time(all, i);
        }
        /* States of several devices at one moment are no course of time. */
        timed |= row[STATE] != STATE_ALLOCATOR && row[TIME] != TA_MISSING && row[TIME] != first_ns;
        const bool both = row[ALLOCATED] >= 0 && row[RESERVED] >= row[ALLOCATED];
        phased |= both;
        TA_ROW(out, memory_snapshots, [SNAPSHOTS_RANK] = ta_int(row[RANK]),
               [SNAPSHOTS_INDEX] = ta_int(index++),
               [SNAPSHOTS_LABEL] = ta_text_or_null(ta_partial_text(all->partial, row, LABEL)),
               [SNAPSHOTS_DEVICE] = ta_int(row[DEVICE]),
               [SNAPSHOTS_TIME] =
                   row[TIME] == TA_MISSING ? ta_null() : ta_int(row[TIME] - first_ns),
               [SNAPSHOTS_ALLOCATED] = not_negative(row[ALLOCATED]),
               [SNAPSHOTS_RESERVED] = not_negative(row[RESERVED]),
               [SNAPSHOTS_MAX_ALLOCATED] =
                   not_negative(ta_max_i64(row[MAX_ALLOCATED], row[PEAK_ALLOCATED])),
               [SNAPSHOTS_GAP] = both ? ta_int(row[RESERVED] - row[ALLOCATED]) : ta_null(),
               [SNAPSHOTS_GAP_SHARE] = ta_num(gap_of(row[ALLOCATED], row[RESERVED])));
    }
    if (timed) /* a line needs two points */
        ta_draw(out, &memory_snapshots, &timeline_chart);
    if (phased)
        add_phases(out, all);
}
