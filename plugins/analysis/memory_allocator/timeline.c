/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.timeline: the histories of allocators, and their chart.
 *
 * The chart counts time where all histories have it, else entries. Where some are much longer than
 * most, as in different programs, each is drawn over its own length. */
#include "tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LINE_SERIES = OF_OWNER,
    LINE_ENTRY,
    LINE_TIME,
    LINE_PROGRESS,
    LINE_ALLOCATED,
    LINE_ACTIVE,
    LINE_BLOCK,
    LINE_RESERVED
};
static const struct ta_column memory_timeline_columns[] = {
    OWNER_COLUMNS,
    [LINE_SERIES] = {"series", "Series", TA_ID,
                     .doc =
                         "Rank, device and snapshot in one text, which names the line in a chart"},
    [LINE_ENTRY] = {"entry", "History entry", TA_COUNT, .role = TA_IN_SERIES,
                    .doc = "First history entry that the row covers, starting at 0"},
    [LINE_TIME] = {"time_ns", "Time", TA_NS,
                   .doc = "Time of that entry since the device's first entry; empty in the oldest "
                          "files, which record no times"},
    [LINE_PROGRESS] =
        {"progress", "Progress", TA_RATIO,
         .doc = "Where in the history the row begins: 0 at the first row, 1 at the last"},
    [LINE_ALLOCATED] =
        {"allocated_bytes", "Requested", TA_BYTES, .better = TA_LOWER,
         .doc = "Most bytes requested and not yet freed in this interval; counted backward from "
                "the state at the end, since the start of a history may be lost"},
    [LINE_ACTIVE] =
        {"active_bytes", "Requested, active", TA_BYTES, .better = TA_LOWER,
         .doc = "The same, plus memory that the program has freed but other streams still use"},
    [LINE_BLOCK] = {"block_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
                    .doc = "Most bytes of blocks that the program held in this interval, as "
                           "torch.cuda.memory_allocated() counts them"},
    [LINE_RESERVED] = {"reserved_bytes", "Reserved", TA_BYTES, .better = TA_LOWER,
                       .doc = "Most bytes that the allocator held in this interval"},
};

const struct ta_table_def memory_timeline = {
    "memory.timeline", "Allocated memory over time", TA_COLUMNS(memory_timeline_columns),
    .tier = TA_TIER_POINTS,
    .doc =
        "One row per interval of a device's history: up to 240 intervals of about the same number "
        "of entries, each with the highest levels in it. Levels are counted backward from the "
        "state at the end, because a history is a ring buffer whose first entries may be lost. "
        "Chart `memory-timeline`, or `memory-history` if labeled snapshots have a chart of that "
        "name; if some histories are much longer than most, each is drawn over its own length."};

static bool is_drawn(const struct ta_table *table, const char *id)
{
    for (const struct ta_chart *chart = table ? table->chart : NULL; chart; chart = chart->next)
        if (strcmp(chart->id, id) == 0)
            return true;
    return false;
}

/* What the chart has to know of all histories. */
struct shape {
    bool timed, several, uneven;
};

static bool find_shape(const struct ta_partial *p, struct shape *shape)
{
    const size_t n = ta_partial_rows(p);
    double *lengths = calloc(n + 1, sizeof *lengths);
    *shape = (struct shape){.timed = true};
    for (size_t i = 0; i < n; i++) {
        shape->timed &= ta_partial_at(p, i)[TIME] != TA_MISSING;
        shape->several |= !same_owner(ta_partial_at(p, i), ta_partial_at(p, 0));
    }
    if (lengths) {
        /* The longest is more than three times the median. */
        const int field = shape->timed ? TIME : ENTRY;
        enum { LONG = 3 };
        size_t count = 0;
        for (size_t i = 0, end; i < ta_partial_rows(p); i = end) {
            end = ta_partial_group_end(p, i, DEVICE);
            lengths[count++] = (double)ta_partial_at(p, end - 1)[field];
        }
        ta_sort_numbers(lengths, count);
        shape->uneven = count > 1 && lengths[count - 1] > LONG * ta_quantile(lengths, count, 0.5);
    }
    free(lengths);
    return lengths != NULL;
}

bool memory_add_timeline(struct ta_section_builder *out, const struct ta_partial *p,
                         const struct ta_refs *in)
{
    struct shape shape;
    if (!find_shape(p, &shape))
        return false;
    for (size_t i = 0, next; i < ta_partial_rows(p); i = next) {
        next = ta_partial_group_end(p, i, DEVICE);
        const int64_t end = ta_partial_at(p, next - 1)[ENTRY];
        for (size_t k = i; k < next; k++) {
            const int64_t *row = ta_partial_at(p, k);
            char series[160];
            const size_t size = sizeof series;
            const struct ta_slice label = ta_partial_text(p, row, LABEL);
            char device[32] = "";
            if (row[DEVICE] != TA_MISSING)
                snprintf(device, sizeof device, " device %" PRId64, row[DEVICE]);
            snprintf(series, size, "rank %" PRId64 "%s %.*s", row[RANK], device,
                     (int)(label.len < 60 ? label.len : 60), label.ptr);
            TA_ROW(
                out, memory_timeline,
                OWNER_CELLS(p, row), [LINE_SERIES] = ta_text(ta_slice_of(series)),
                [LINE_ENTRY] = ta_int(row[ENTRY]), [LINE_TIME] = ta_int(row[TIME]),
                [LINE_PROGRESS] = ta_num(end > 0 ? (double)row[ENTRY] / (double)end : 0),
                [LINE_ALLOCATED] = ta_int(row[REQUESTED_LEVEL]),
                [LINE_ACTIVE] = ta_int(row[REQUESTED_ACTIVE]),
                [LINE_BLOCK] = ta_int(row[BLOCK_LEVEL]), [LINE_RESERVED] = ta_int(row[RESERVED]));
        }
    }
    if (ta_partial_rows(p)) {
        /* Another analysis may have drawn labelled snapshots under the usual name. */
        const bool is_taken = is_drawn(ta_ref_table(in, SNAPSHOTS_TABLE), "memory-timeline");
        const int x = shape.uneven ? LINE_PROGRESS : shape.timed ? LINE_TIME : LINE_ENTRY;
        ta_draw(out, &memory_timeline,
                &(struct ta_chart_def){
                    .id = is_taken ? "memory-history" : "memory-timeline",
                    .title = "Memory over time",
                    .caption = shape.uneven
                                   ? "Highest levels in each interval of the allocator's history, "
                                     "each over its own length; the gap up to the reserved line is "
                                     "fragmentation and cache."
                                   : "Highest levels in each interval of the allocator's history; "
                                     "the gap up to the reserved line is fragmentation and cache.",
                    .kind = TA_CHART_LINES,
                    .steps = true,
                    .x = &memory_timeline_columns[x],
                    .y = {{&memory_timeline_columns[LINE_RESERVED], "Reserved", TA_INK_SERIES_2},
                          {&memory_timeline_columns[LINE_BLOCK], "Allocated", TA_INK_SERIES_1}},
                    .group = shape.several ? &memory_timeline_columns[LINE_SERIES] : NULL,
                });
    }
    return true;
}
