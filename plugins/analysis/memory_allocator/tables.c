/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From merged partials to tables and charts. */
#include "tables.h"

#include <inttypes.h>
#include <stdio.h>

/* 1 − part over whole. */
static struct ta_cell rest_of(int64_t part, int64_t whole)
{
    struct ta_cell cell = ta_share(part, whole);
    if (cell.kind == TA_CELL_NUM)
        cell.f = 1 - cell.f;
    return cell;
}

/* ---- sites and classes --------------------------------------------------------------------- */

#define BLOCK_COLUMNS                                                                              \
    {"peak_blocks", "Blocks at peak", TA_COUNT, .better = TA_LOWER,                                \
     .doc = "Blocks alive when most memory was allocated"},                                        \
        {"peak_bytes", "Requested", TA_BYTES, .better = TA_LOWER,                                  \
         .doc = "Their bytes, as asked for; none without a history"},                              \
        {"peak_block_bytes", "At peak", TA_BYTES, .better = TA_LOWER,                              \
         .doc = "Their bytes, as the allocator hands them out: what the peak is made of"},         \
        {"peak_share", "Share", TA_RATIO, .better = TA_LOWER,                                      \
         .doc = "Of all bytes in blocks alive at the peak of the device"},                         \
        {"held_blocks", "Blocks at end", TA_COUNT, .better = TA_LOWER,                             \
         .doc = "Blocks in use in the state"},                                                     \
        {"held_bytes", "At end", TA_BYTES, .better = TA_LOWER,                                     \
         .doc = "Their bytes, rounded up as the allocator does"},                                  \
        {"allocations", "Allocations", TA_COUNT, .better = TA_LOWER,                               \
         .doc = "Allocations in the history"},                                                     \
        {"total_bytes", "Total", TA_BYTES, .better = TA_LOWER,                                     \
         .doc = "Bytes asked for by all of them"},                                                 \
        {"unfreed_blocks", "Blocks not freed", TA_COUNT, .better = TA_LOWER,                       \
         .doc =                                                                                    \
             "Allocations of the history that were not given back by its end: kept on purpose, "   \
             "or leaks"},                                                                          \
    {                                                                                              \
        "unfreed_bytes", "Not freed", TA_BYTES, .better = TA_LOWER,                                \
                                                .doc = "Their bytes, as asked for"                 \
    }

static const struct ta_column site_columns[] = {
    OWNER_COLUMNS,
    {"site", "Site", TA_TEXT,
     .doc = "Innermost frame of the program's Python, else the innermost of Python, else the "
            "operator"},
    BLOCK_COLUMNS,
};

static const struct ta_column class_columns[] = {
    OWNER_COLUMNS,
    {"class", "Size", TA_TEXT,
     .doc = "Bytes asked for; up to 1 MiB are served from small segments, from 10 MiB on from "
            "segments of "
            "their own"},
    BLOCK_COLUMNS,
};

/* What else names a row beside its site: with several snapshots of a rank, or of several ranks. */
enum owners { ONE, RANKS, SNAPSHOTS };

/* Rows stand by rank, then by snapshot and device. */
static enum owners owners_of(const struct ta_partial *p)
{
    enum owners owners = ONE;
    for (size_t i = 1; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i), *before = ta_partial_at(p, i - 1);
        if (row[RANK] != before[RANK])
            owners = owners == SNAPSHOTS ? SNAPSHOTS : RANKS;
        else if (!ta_slice_equal(ta_partial_text(p, row, LABEL), ta_partial_text(p, before, LABEL)))
            owners = SNAPSHOTS;
    }
    return owners;
}

static bool has_several_devices(const struct ta_partial *p)
{
    for (size_t i = 1; i < ta_partial_rows(p); i++)
        if (ta_partial_at(p, i)[DEVICE] != ta_partial_at(p, 0)[DEVICE])
            return true;
    return false;
}

static void add_site_chart(struct ta_table_builder *table, const struct ta_partial *p,
                           bool has_history)
{
    struct ta_chart chart = {
        .id = "memory-sites",
        .title = has_history ? "Memory at the peak by call site" : "Memory held by call site",
        .caption =
            has_history
                ? "Bytes alive when most memory was allocated, by the place that asked for them."
                : "Bytes in use when the snapshot was taken, by the place that asked for them.",
        .kind = TA_CHART_PARETO,
        .label = {"site"},
        .y = {{has_history ? "peak_block_bytes" : "held_bytes", "Bytes", TA_INK_SERIES_1}},
        .top = 20,
    };
    const enum owners owners = owners_of(p);
    size_t n = 1;
    if (owners != ONE)
        chart.label[n++] = owners == RANKS ? "rank" : "label";
    if (has_several_devices(p))
        chart.label[n] = "device";
    ta_add_chart(table, &chart);
}

/* What is alive at the peak of the device that row `first` begins. */
static int64_t peak_of(const struct ta_partial *p, size_t first)
{
    int64_t peak = TA_MISSING;
    const int64_t *owner = ta_partial_at(p, first);
    for (size_t i = first; i < ta_partial_rows(p) && same_owner(ta_partial_at(p, i), owner); i++)
        ta_sum(&peak, ta_partial_at(p, i)[PEAK_SIZE]);
    return peak;
}

/* Of a device with a history what is not there is 0; without one it is not known. */
static struct ta_cell known(int64_t value, bool is_known)
{
    return value == TA_MISSING && is_known ? ta_int(0) : ta_int(value);
}

static bool add_blocks(struct ta_table_builder *table, const struct ta_partial *p, bool by_class)
{
    int64_t peak = TA_MISSING;
    bool any_peak = false;
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        if (i == 0 || !same_owner(row, ta_partial_at(p, i - 1)))
            peak = peak_of(p, i);
        const bool h = peak != TA_MISSING;
        any_peak |= h;
        TA_CELLS(table, OWNER_CELLS(p, row),
                 ta_text(by_class ? ta_slice_of(memory_size_classes[row[WHAT]].name)
                                  : ta_partial_text(p, row, WHAT)),
                 known(row[PEAK_BLOCKS], h), known(row[PEAK_BYTES], h), known(row[PEAK_SIZE], h),
                 ta_share(h && row[PEAK_SIZE] == TA_MISSING ? 0 : row[PEAK_SIZE], peak),
                 known(row[HELD_BLOCKS], true), known(row[HELD_BYTES], true),
                 known(row[ALLOCATIONS], h), known(row[TOTAL_BYTES], h),
                 known(row[UNFREED_BLOCKS], h), known(row[UNFREED_BYTES], h));
    }
    return any_peak;
}

static void add_sites(struct ta_section_builder *out, const struct ta_partial *p)
{
    struct ta_table_builder *table =
        ta_add_table(out, "memory.sites", "Memory by call site", ALL(site_columns));
    const bool any_peak = add_blocks(table, p, false);
    ta_sort_rows(table, any_peak ? "peak_block_bytes" : "held_bytes", true);
    if (ta_partial_rows(p))
        add_site_chart(table, p, any_peak);
}

/* ---- fragmentation ------------------------------------------------------------------------- */

static const struct ta_column state_columns[] = {
    OWNER_COLUMNS,
    {"reserved_bytes", "Reserved", TA_BYTES, .better = TA_LOWER, .doc = "Sum of the segments"},
    {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
     .doc = "Sum of the blocks in use"},
    {"pending_bytes", "Pending", TA_BYTES, .better = TA_LOWER,
     .doc = "Sum of the blocks that were let go while other streams may still use them"},
    {"internal_bytes", "Internal", TA_BYTES, .better = TA_LOWER,
     .doc = "Internal fragmentation: size minus bytes asked for, of blocks in use or pending"},
    {"free_bytes", "Free", TA_BYTES, .better = TA_LOWER,
     .doc = "External fragmentation and cache: sum of the blocks that are not in use"},
    {"split_free_bytes", "Free, split", TA_BYTES, .better = TA_LOWER,
     .doc = "Of those, what shares a segment with other blocks and cannot go back to the driver"},
    {"gap_share", "Gap", TA_RATIO, .better = TA_LOWER,
     .doc = "1 − allocated over reserved, in the state"},
    {"peak_gap_share", "Gap at peak", TA_RATIO, .better = TA_LOWER,
     .doc = "1 − allocated over reserved when most was reserved, at the best moment of that time; "
            "from the "
            "history"},
};

static const struct ta_column segment_columns[] = {
    OWNER_COLUMNS,
    {"segments", "Segments", TA_COUNT, .better = TA_LOWER,
     .doc = "Pieces of memory obtained from the driver"},
    {"blocks", "Blocks", TA_COUNT, .better = TA_LOWER, .doc = "Blocks that they are split into"},
    {"largest_free_bytes", "Largest free", TA_BYTES, .better = TA_HIGHER,
     .doc = "Largest block that is not in use"},
    {"largest_free_share", "Largest of free", TA_RATIO, .better = TA_HIGHER,
     .doc = "Largest free block over all that is free: low when free memory is in small pieces"},
};

#define STATE_CHART(owner)                                                                         \
    {                                                                                              \
        .id = "memory-fragmentation", .title = "What reserved memory is used for",                 \
        .caption = "Reserved memory of each device when the snapshot was taken.",                  \
        .kind = TA_CHART_STACKED_BARS, .label = {owner, "device"},                                 \
        .y = {{"allocated_bytes", "Allocated", TA_INK_COMPUTE},                                    \
              {"pending_bytes", "Pending", TA_INK_COMM},                                           \
              {"free_bytes", "Free", TA_INK_IDLE}},                                                \
    }
static const struct ta_chart state_charts[] = {
    [ONE] = STATE_CHART("rank"), [RANKS] = STATE_CHART("rank"), [SNAPSHOTS] = STATE_CHART("label")};

/* The history of the same device, or NULL. */
static const int64_t *history_of(const struct ta_partial *churn, const int64_t *owner)
{
    for (size_t low = 0, high = ta_partial_rows(churn); low < high;) {
        const size_t middle = low + (high - low) / 2;
        const int64_t *row = ta_partial_at(churn, middle);
        if (same_owner(row, owner))
            return row;
        int order = 0;
        for (int i = RANK; i <= DEVICE && !order; i++)
            order = (row[i] > owner[i]) - (row[i] < owner[i]);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void add_states(struct ta_section_builder *out, const struct ta_partial *p,
                       const struct ta_partial *churn)
{
    struct ta_table_builder *table =
        ta_add_table(out, "memory.fragmentation", "Fragmentation", ALL(state_columns));
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i), *history = history_of(churn, row);
        const int64_t active = ta_add_sat(row[STATE_ALLOCATED], row[PENDING]);
        TA_CELLS(
            table, OWNER_CELLS(p, row), ta_int(row[STATE_RESERVED]), ta_int(row[STATE_ALLOCATED]),
            ta_int(row[PENDING]), ta_int(active - row[REQUESTED]), ta_int(row[FREE]),
            ta_int(row[SPLIT]), rest_of(row[STATE_ALLOCATED], row[STATE_RESERVED]),
            history ? rest_of(history[ALLOCATED_AT_RESERVED], history[PEAK_RESERVED]) : ta_null());
    }
    if (ta_partial_rows(p))
        ta_add_chart(table, &state_charts[owners_of(p)]);
}

static void add_segments(struct ta_section_builder *out, const struct ta_partial *p)
{
    struct ta_table_builder *table =
        ta_add_table(out, "memory.segments", "Segments and free blocks", ALL(segment_columns));
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        const bool free = row[FREE] > 0;
        TA_CELLS(table, OWNER_CELLS(p, row), ta_int(row[SEGMENTS]), ta_int(row[BLOCKS]),
                 free ? ta_int(row[LARGEST_FREE]) : ta_null(),
                 free ? ta_share(row[LARGEST_FREE], row[FREE]) : ta_null());
    }
}

/* ---- churn and failures -------------------------------------------------------------------- */

static const struct ta_column churn_columns[] = {
    OWNER_COLUMNS,
    {"entries", "Entries", TA_COUNT, .better = TA_LOWER, .doc = "Entries of the history"},
    {"dur_ns", "Time", TA_NS, .doc = "From its first to its last entry"},
    {"allocations", "Allocations", TA_COUNT, .better = TA_LOWER, .doc = "Blocks handed out"},
    {"frees", "Frees", TA_COUNT, .better = TA_LOWER, .doc = "Blocks that could be used again"},
    {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
     .doc = "Bytes asked for by all allocations"},
    {"freed_bytes", "Freed", TA_BYTES, .doc = "Bytes of all frees"},
    {"allocations_per_s", "Rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_LOWER,
     .doc = "Allocations over the time of the history"},
    {"small_share", "Small", TA_RATIO, .better = TA_LOWER,
     .doc = "Share of the allocations below 1 MiB"},
    {"unfreed_blocks", "Blocks not freed", TA_COUNT, .better = TA_LOWER,
     .doc = "Allocations that were not given back by the end"},
    {"unfreed_bytes", "Not freed", TA_BYTES, .better = TA_LOWER,
     .doc = "Their bytes, as asked for"},
};

/* In a table of its own, as both together are wider than a page. */
static const struct ta_column peak_columns[] = {
    OWNER_COLUMNS,
    {"start_allocated_bytes", "Requested at start", TA_BYTES,
     .doc = "Bytes alive before the first entry, as asked for: above 0 when the history does not "
            "reach "
            "back to the start of the run"},
    {"start_block_bytes", "At start", TA_BYTES, .doc = "The same in blocks"},
    {"peak_allocated_bytes", "Peak requested", TA_BYTES, .better = TA_LOWER,
     .doc = "Most bytes that the program held at a time, as asked for"},
    {"peak_active_bytes", "Peak requested, active", TA_BYTES, .better = TA_LOWER,
     .doc = "The same with what was let go but still used by other streams"},
    {"peak_block_bytes", "Peak allocated", TA_BYTES, .better = TA_LOWER,
     .doc = "Most bytes in blocks that the program held at a time, as "
            "torch.cuda.max_memory_allocated() counts them; a block that is gone by the "
            "end counts as its request rounded up"},
    {"peak_reserved_bytes", "Peak reserved", TA_BYTES, .better = TA_LOWER,
     .doc = "Most bytes that the allocator held"},
    {"segment_allocations", "Segments taken", TA_COUNT, .better = TA_LOWER,
     .doc = "Segments obtained from the driver, or grown; each may stall the device"},
    {"segment_frees", "Segments returned", TA_COUNT, .better = TA_LOWER,
     .doc = "Segments given back, or shrunk"},
    {"segment_bytes", "Taken", TA_BYTES, .better = TA_LOWER,
     .doc = "Bytes obtained from the driver"},
    {"retries", "Retries", TA_COUNT, .better = TA_LOWER,
     .doc =
         "Segments given back right before one was obtained: the driver had no memory left, or the "
         "program emptied the cache"},
    {"ooms", "Failed", TA_COUNT, .better = TA_LOWER,
     .doc = "Allocations that failed for lack of memory"},
};

static void add_churn(struct ta_section_builder *out, const struct ta_partial *p)
{
    struct ta_table_builder *table =
        ta_add_table(out, "memory.churn", "Work of the allocator", ALL(churn_columns));
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        const double rate =
            row[DURATION] > 0 ? (double)row[ALLOCS] * 1e9 / (double)row[DURATION] : NAN;
        TA_CELLS(table, OWNER_CELLS(p, row), ta_int(row[ENTRIES]), ta_int(row[DURATION]),
                 ta_int(row[ALLOCS]), ta_int(row[FREES]), ta_int(row[ALLOC_BYTES]),
                 ta_int(row[FREED_BYTES]), ta_num(rate), ta_share(row[SMALL_ALLOCS], row[ALLOCS]),
                 ta_int(row[UNFREED]), ta_int(row[UNFREED_SIZE]));
    }
}

static void add_peaks(struct ta_section_builder *out, const struct ta_partial *p)
{
    struct ta_table_builder *table =
        ta_add_table(out, "memory.peaks", "Peaks and segments", ALL(peak_columns));
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        TA_CELLS(table, OWNER_CELLS(p, row), ta_int(row[START_REQUESTED]),
                 ta_int(row[START_ALLOCATED]), ta_int(row[PEAK_REQUESTED]),
                 ta_int(row[PEAK_REQUESTED_ACTIVE]), ta_int(row[PEAK_ALLOCATED]),
                 ta_int(row[PEAK_RESERVED]), ta_int(row[SEGMENT_ALLOCS]),
                 ta_int(row[SEGMENT_FREES]), ta_int(row[SEGMENT_BYTES]), ta_int(row[RETRIES]),
                 ta_int(row[OOMS]));
    }
}

static const struct ta_column failure_columns[] = {
    OWNER_COLUMNS,
    {"index", "Index", TA_INTEGER,
     .doc = "Place in the history of the device, from 0; up to 1000 are listed"},
    {"time_ns", "Time", TA_NS, .doc = "Time since the first entry of the device"},
    {"site", "Site", TA_TEXT, .doc = "Call site that asked, as in memory.sites"},
    {"wanted_bytes", "Wanted", TA_BYTES, .better = TA_LOWER,
     .doc = "Bytes that were asked for and not to be had"},
    {"device_free_bytes", "Device free", TA_BYTES, .better = TA_HIGHER,
     .doc = "Bytes that the device had left, whoever used the rest"},
    {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
     .doc = "Bytes in blocks that the program held then"},
    {"reserved_bytes", "Reserved", TA_BYTES, .better = TA_LOWER,
     .doc = "Bytes that the allocator held then"},
};

static void add_failures(struct ta_section_builder *out, const struct ta_partial *p)
{
    struct ta_table_builder *table =
        ta_add_table(out, "memory.failures", "Failed allocations", ALL(failure_columns));
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        TA_CELLS(table, OWNER_CELLS(p, row), ta_int(row[FAILURE]), ta_int(row[FAIL_TIME]),
                 ta_text(ta_partial_text(p, row, FAIL_SITE)), ta_int(row[WANTED]),
                 ta_int(row[DEVICE_FREE]), ta_int(row[FAIL_ALLOCATED]), ta_int(row[FAIL_RESERVED]));
    }
}

enum ta_status memory_finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    if (!memory_add_timeline(out, merged[TIMELINE], in->report))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the histories of memory");
    add_sites(out, merged[SITES]);
    add_blocks(
        ta_add_table(out, "memory.size_classes", "Memory by size of request", ALL(class_columns)),
        merged[CLASSES], true);
    add_states(out, merged[STATES], merged[CHURN]);
    add_segments(out, merged[STATES]);
    add_peaks(out, merged[CHURN]);
    add_churn(out, merged[CHURN]);
    add_failures(out, merged[FAILURES]);
    return TA_OK;
}
