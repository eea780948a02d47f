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
    TA_COUNT_COLUMN("peak_blocks", "Blocks at peak", TA_LOWER,                                     \
                    "Blocks alive when most memory was allocated"),                                \
        TA_BYTES_COLUMN("peak_bytes", "Requested", TA_LOWER,                                       \
                        "Their bytes, as asked for; none without a history"),                      \
        TA_BYTES_COLUMN("peak_block_bytes", "At peak", TA_LOWER,                                   \
                        "Their bytes, as the allocator hands them out: what the peak is made of"), \
        TA_RATIO_COLUMN("peak_share", "Share", TA_LOWER,                                           \
                        "Of all bytes in blocks alive at the peak of the device"),                 \
        TA_COUNT_COLUMN("held_blocks", "Blocks at end", TA_LOWER, "Blocks in use in the state"),   \
        TA_BYTES_COLUMN("held_bytes", "At end", TA_LOWER,                                          \
                        "Their bytes, rounded up as the allocator does"),                          \
        TA_COUNT_COLUMN("allocations", "Allocations", TA_LOWER, "Allocations in the history"),     \
        TA_BYTES_COLUMN("total_bytes", "Total", TA_LOWER, "Bytes asked for by all of them"),       \
        TA_COUNT_COLUMN(                                                                           \
            "unfreed_blocks", "Blocks not freed", TA_LOWER,                                        \
            "Allocations of the history that were not given back by its end: kept on purpose, "    \
            "or leaks"),                                                                           \
        TA_BYTES_COLUMN("unfreed_bytes", "Not freed", TA_LOWER, "Their bytes, as asked for")

static const struct ta_column site_columns[] = {
    OWNER_COLUMNS,
    {"site", "Site", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Innermost frame of the program's Python, else the innermost of Python, else the operator"},
    BLOCK_COLUMNS,
};

static const struct ta_column class_columns[] = {
    OWNER_COLUMNS,
    {"class", "Size", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Bytes asked for; up to 1 MiB are served from small segments, from 10 MiB on from segments of "
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
        TA_ROW(table, OWNER_CELLS(p, row),
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
    TA_BYTES_COLUMN("reserved_bytes", "Reserved", TA_LOWER, "Sum of the segments"),
    TA_BYTES_COLUMN("allocated_bytes", "Allocated", TA_LOWER, "Sum of the blocks in use"),
    TA_BYTES_COLUMN("pending_bytes", "Pending", TA_LOWER,
                    "Sum of the blocks that were let go while other streams may still use them"),
    TA_BYTES_COLUMN(
        "internal_bytes", "Internal", TA_LOWER,
        "Internal fragmentation: size minus bytes asked for, of blocks in use or pending"),
    TA_BYTES_COLUMN("free_bytes", "Free", TA_LOWER,
                    "External fragmentation and cache: sum of the blocks that are not in use"),
    TA_BYTES_COLUMN(
        "split_free_bytes", "Free, split", TA_LOWER,
        "Of those, what shares a segment with other blocks and cannot go back to the driver"),
    TA_RATIO_COLUMN("gap_share", "Gap", TA_LOWER, "1 − allocated over reserved, in the state"),
    TA_RATIO_COLUMN(
        "peak_gap_share", "Gap at peak", TA_LOWER,
        "1 − allocated over reserved when most was reserved, at the best moment of that time; "
        "from the "
        "history"),
};

static const struct ta_column segment_columns[] = {
    OWNER_COLUMNS,
    TA_COUNT_COLUMN("segments", "Segments", TA_LOWER, "Pieces of memory obtained from the driver"),
    TA_COUNT_COLUMN("blocks", "Blocks", TA_LOWER, "Blocks that they are split into"),
    TA_BYTES_COLUMN("largest_free_bytes", "Largest free", TA_HIGHER,
                    "Largest block that is not in use"),
    TA_RATIO_COLUMN(
        "largest_free_share", "Largest of free", TA_HIGHER,
        "Largest free block over all that is free: low when free memory is in small pieces"),
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
        TA_ROW(
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
        TA_ROW(table, OWNER_CELLS(p, row), ta_int(row[SEGMENTS]), ta_int(row[BLOCKS]),
               free ? ta_int(row[LARGEST_FREE]) : ta_null(),
               free ? ta_share(row[LARGEST_FREE], row[FREE]) : ta_null());
    }
}

/* ---- churn and failures -------------------------------------------------------------------- */

static const struct ta_column churn_columns[] = {
    OWNER_COLUMNS,
    TA_COUNT_COLUMN("entries", "Entries", TA_LOWER, "Entries of the history"),
    {"dur_ns", "Time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL, "From its first to its last entry"},
    TA_COUNT_COLUMN("allocations", "Allocations", TA_LOWER, "Blocks handed out"),
    TA_COUNT_COLUMN("frees", "Frees", TA_LOWER, "Blocks that could be used again"),
    TA_BYTES_COLUMN("allocated_bytes", "Allocated", TA_LOWER, "Bytes asked for by all allocations"),
    TA_BYTES_COLUMN("freed_bytes", "Freed", TA_NEUTRAL, "Bytes of all frees"),
    {"allocations_per_s", "Rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, TA_LOWER,
     "Allocations over the time of the history"},
    TA_RATIO_COLUMN("small_share", "Small", TA_LOWER, "Share of the allocations below 1 MiB"),
    TA_COUNT_COLUMN("unfreed_blocks", "Blocks not freed", TA_LOWER,
                    "Allocations that were not given back by the end"),
    TA_BYTES_COLUMN("unfreed_bytes", "Not freed", TA_LOWER, "Their bytes, as asked for"),
};

/* In a table of its own, as both together are wider than a page. */
static const struct ta_column peak_columns[] = {
    OWNER_COLUMNS,
    TA_BYTES_COLUMN(
        "start_allocated_bytes", "Requested at start", TA_NEUTRAL,
        "Bytes alive before the first entry, as asked for: above 0 when the history does not reach "
        "back to the start of the run"),
    TA_BYTES_COLUMN("start_block_bytes", "At start", TA_NEUTRAL, "The same in blocks"),
    TA_BYTES_COLUMN("peak_allocated_bytes", "Peak requested", TA_LOWER,
                    "Most bytes that the program held at a time, as asked for"),
    TA_BYTES_COLUMN("peak_active_bytes", "Peak requested, active", TA_LOWER,
                    "The same with what was let go but still used by other streams"),
    TA_BYTES_COLUMN("peak_block_bytes", "Peak allocated", TA_LOWER,
                    "Most bytes in blocks that the program held at a time, as "
                    "torch.cuda.max_memory_allocated() counts them; a block that is gone by the "
                    "end counts as its request rounded up"),
    TA_BYTES_COLUMN("peak_reserved_bytes", "Peak reserved", TA_LOWER,
                    "Most bytes that the allocator held"),
    TA_COUNT_COLUMN("segment_allocations", "Segments taken", TA_LOWER,
                    "Segments obtained from the driver, or grown; each may stall the device"),
    TA_COUNT_COLUMN("segment_frees", "Segments returned", TA_LOWER,
                    "Segments given back, or shrunk"),
    TA_BYTES_COLUMN("segment_bytes", "Taken", TA_LOWER, "Bytes obtained from the driver"),
    TA_COUNT_COLUMN(
        "retries", "Retries", TA_LOWER,
        "Segments given back right before one was obtained: the driver had no memory left, or the "
        "program emptied the cache"),
    TA_COUNT_COLUMN("ooms", "Failed", TA_LOWER, "Allocations that failed for lack of memory"),
};

static void add_churn(struct ta_section_builder *out, const struct ta_partial *p)
{
    struct ta_table_builder *table =
        ta_add_table(out, "memory.churn", "Work of the allocator", ALL(churn_columns));
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        const double rate =
            row[DURATION] > 0 ? (double)row[ALLOCS] * 1e9 / (double)row[DURATION] : NAN;
        TA_ROW(table, OWNER_CELLS(p, row), ta_int(row[ENTRIES]), ta_int(row[DURATION]),
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
        TA_ROW(table, OWNER_CELLS(p, row), ta_int(row[START_REQUESTED]),
               ta_int(row[START_ALLOCATED]), ta_int(row[PEAK_REQUESTED]),
               ta_int(row[PEAK_REQUESTED_ACTIVE]), ta_int(row[PEAK_ALLOCATED]),
               ta_int(row[PEAK_RESERVED]), ta_int(row[SEGMENT_ALLOCS]), ta_int(row[SEGMENT_FREES]),
               ta_int(row[SEGMENT_BYTES]), ta_int(row[RETRIES]), ta_int(row[OOMS]));
    }
}

static const struct ta_column failure_columns[] = {
    OWNER_COLUMNS,
    {"index", "Index", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Place in the history of the device, from 0; up to 1000 are listed"},
    {"time_ns", "Time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "Time since the first entry of the device"},
    {"site", "Site", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Call site that asked, as in memory.sites"},
    TA_BYTES_COLUMN("wanted_bytes", "Wanted", TA_LOWER,
                    "Bytes that were asked for and not to be had"),
    TA_BYTES_COLUMN("device_free_bytes", "Device free", TA_HIGHER,
                    "Bytes that the device had left, whoever used the rest"),
    TA_BYTES_COLUMN("allocated_bytes", "Allocated", TA_LOWER,
                    "Bytes in blocks that the program held then"),
    TA_BYTES_COLUMN("reserved_bytes", "Reserved", TA_LOWER, "Bytes that the allocator held then"),
};

static void add_failures(struct ta_section_builder *out, const struct ta_partial *p)
{
    struct ta_table_builder *table =
        ta_add_table(out, "memory.failures", "Failed allocations", ALL(failure_columns));
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        TA_ROW(table, OWNER_CELLS(p, row), ta_int(row[FAILURE]), ta_int(row[FAIL_TIME]),
               ta_text(ta_partial_text(p, row, FAIL_SITE)), ta_int(row[WANTED]),
               ta_int(row[DEVICE_FREE]), ta_int(row[FAIL_ALLOCATED]), ta_int(row[FAIL_RESERVED]));
    }
}

enum ta_status memory_finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    if (!memory_add_timeline(out, merged[TIMELINE], prior))
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
