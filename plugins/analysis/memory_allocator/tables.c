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

/* Columns that both have after the site or the class. */
enum {
    BLOCK_WHAT = OF_OWNER,
    BLOCK_PEAK_BLOCKS,
    BLOCK_PEAK_BYTES,
    BLOCK_PEAK_SIZE,
    BLOCK_PEAK_SHARE,
    BLOCK_HELD_BLOCKS,
    BLOCK_HELD_BYTES,
    BLOCK_ALLOCATIONS,
    BLOCK_TOTAL_BYTES,
    BLOCK_UNFREED_BLOCKS,
    BLOCK_UNFREED_BYTES
};
#define BLOCK_COLUMNS(bytes, size)                                                                 \
    [BLOCK_PEAK_BLOCKS] = {"peak_blocks", "Blocks at peak", TA_COUNT, .better = TA_LOWER,          \
                           .doc = "Blocks alive when most memory was allocated"},                  \
    [BLOCK_PEAK_BYTES] = {"peak_bytes",                                                            \
                          "Requested",                                                             \
                          TA_BYTES,                                                                \
                          .better = TA_LOWER,                                                      \
                          .read_as = (bytes),                                                      \
                          .doc = "Their bytes, as asked for; none without a history"},             \
    [BLOCK_PEAK_SIZE] =                                                                            \
        {"peak_block_bytes",                                                                       \
         "At peak",                                                                                \
         TA_BYTES,                                                                                 \
         .better = TA_LOWER,                                                                       \
         .read_as = (size),                                                                        \
         .doc = "Their bytes, as the allocator hands them out: what the peak is made of"},         \
    [BLOCK_PEAK_SHARE] = {"peak_share", "Share", TA_RATIO, .better = TA_LOWER,                     \
                          .doc = "Of all bytes in blocks alive at the peak of the device"},        \
    [BLOCK_HELD_BLOCKS] = {"held_blocks", "Blocks at end", TA_COUNT, .better = TA_LOWER,           \
                           .doc = "Blocks in use in the state"},                                   \
    [BLOCK_HELD_BYTES] = {"held_bytes", "At end", TA_BYTES, .better = TA_LOWER,                    \
                          .doc = "Their bytes, rounded up as the allocator does"},                 \
    [BLOCK_ALLOCATIONS] = {"allocations", "Allocations", TA_COUNT, .better = TA_LOWER,             \
                           .doc = "Allocations in the history"},                                   \
    [BLOCK_TOTAL_BYTES] = {"total_bytes", "Total", TA_BYTES, .better = TA_LOWER,                   \
                           .doc = "Bytes asked for by all of them"},                               \
    [BLOCK_UNFREED_BLOCKS] = {"unfreed_blocks", "Blocks not freed", TA_COUNT, .better = TA_LOWER,  \
                              .doc = "Allocations of the history that were not given back by its " \
                                     "end: kept on purpose, or leaks"},                            \
    [BLOCK_UNFREED_BYTES] = {"unfreed_bytes", "Not freed", TA_BYTES, .better = TA_LOWER,           \
                             .doc = "Their bytes, as asked for"}

static const struct ta_column memory_sites_columns[] = {
    OWNER_COLUMNS_AS(TA_AS_SITE_LABEL),
    [BLOCK_WHAT] = {"site", "Site", TA_TEXT, .read_as = TA_AS_SITE,
                    .doc = "Innermost frame of the program's Python, else the innermost of Python, "
                           "else the operator"},
    BLOCK_COLUMNS(TA_AS_SITE_BYTES, TA_AS_SITE_BLOCKS),
};

const struct ta_table_def memory_sites = {
    "memory.sites",
    "Memory by call site",
    TA_COLUMNS(memory_sites_columns),
    .doc = "One row per device and call site. The site is the innermost frame of Python that "
           "belongs neither to PyTorch or Triton, nor to Python itself, nor to code that the "
           "compiler of PyTorch wrote; libraries built on PyTorch are the program's. Where all "
           "of Python is the framework's, it is the innermost frame of it. A stack without "
           "Python, as of the threads that run backward passes, has the step backwards "
           "(`torch::autograd::generated::MmBackward0::apply`) or the operator; `(no Python "
           "frame)` where there is nothing but the recorder and the allocator. The tables are "
           "in `plugins/analysis/memory_allocator/site.c`.\n\n"
           "What was allocated before the history began and has no stack has the site "
           "`(allocated before the history)`, any other block without a stack `(no frames)`. "
           "`peak_block_bytes` of a device add up to `peak_block_bytes` of `memory.peaks`, and "
           "are of the same moment; `peak_bytes` is what was asked for of those blocks. Chart "
           "`memory-sites`.",
    .not_of_ranks = true,
    .brief = &(const struct ta_brief){
        .place = 330,
        .rows = 8,
        .largest = &memory_sites_columns[BLOCK_PEAK_SIZE],
        .first = {&memory_sites_columns[BLOCK_PEAK_SIZE], &memory_sites_columns[BLOCK_PEAK_SHARE]},
        .never = {&memory_sites_columns[BLOCK_PEAK_BYTES],
                  &memory_sites_columns[BLOCK_UNFREED_BLOCKS],
                  &memory_sites_columns[BLOCK_UNFREED_BYTES],
                  &memory_sites_columns[BLOCK_TOTAL_BYTES],
                  &memory_sites_columns[BLOCK_ALLOCATIONS]},
        .whole_names = true,
        .call_site = &memory_sites_columns[BLOCK_WHAT],
        .least_rows = 2}};

static const struct ta_column memory_by_size_columns[] = {
    OWNER_COLUMNS,
    [BLOCK_WHAT] = {"class", "Size", TA_TEXT,
                    .doc = "Bytes asked for; up to 1 MiB are served from small segments, from 10 "
                           "MiB on from segments of their own"},
    BLOCK_COLUMNS(TA_AS_NOTHING, TA_AS_NOTHING),
};

const struct ta_table_def memory_by_size = {"memory.size_classes", "Memory by request size",
                                            TA_COLUMNS(memory_by_size_columns),
                                            .doc = "The same by bytes asked for."};

static const struct ta_column memory_site_phases_columns[] = {
    OWNER_COLUMNS,
    [BLOCK_WHAT] = {"phase", "Phase", TA_WORD,
                    .doc = "Phase of the program that asked for it, by the innermost function of "
                           "the stack that names one; unknown for all else"},
    BLOCK_COLUMNS(TA_AS_NOTHING, TA_AS_NOTHING),
};

const struct ta_table_def memory_site_phases = {
    "memory.site_phases", "Memory by call site and phase", TA_COLUMNS(memory_site_phases_columns),
    .doc = "The same by the phase of a program that generates images or videos: text encode, "
           "denoise, VAE decode and so on, where stacks show any."};

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

/* What is alive at the peak of the device that row `first` begins. */
static int64_t peak_of(const struct ta_partial *p, size_t first)
{
    int64_t peak = TA_MISSING;
    const size_t end = ta_partial_group_end(p, first, DEVICE);
    for (size_t i = first; i < end; i++)
        ta_sum(&peak, ta_partial_at(p, i)[PEAK_SIZE]);
    return peak;
}

/* Of a device with a history what is not there is 0; without one it is not known. */
static struct ta_cell known(int64_t value, bool is_known)
{
    return value == TA_MISSING && is_known ? ta_int(0) : ta_int(value);
}

static struct ta_slice phase_text(int64_t phase)
{
    return ta_slice_of(phase < PHASE_UNKNOWN ? ta_generation_phase_names[phase] : "unknown");
}

static bool has_phases(const struct ta_partial *p)
{
    for (size_t i = 0; i < ta_partial_rows(p); i++)
        if (ta_partial_at(p, i)[WHAT] != PHASE_UNKNOWN)
            return true;
    return false;
}

/* One row per site, class or phase; returns whether any device has a peak. */
static bool add_blocks(struct ta_section_builder *out, const struct ta_partial *p,
                       const struct ta_table_def *def)
{
    struct ta_table_builder *table = ta_rows(out, def);
    int64_t peak = TA_MISSING;
    bool any_peak = false;
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        if (i == 0 || !same_owner(row, ta_partial_at(p, i - 1)))
            peak = peak_of(p, i);
        const bool h = peak != TA_MISSING;
        any_peak |= h;
        const struct ta_slice what = def == &memory_by_size
                                         ? ta_slice_of(memory_size_classes[row[WHAT]].name)
                                     : def == &memory_site_phases ? phase_text(row[WHAT])
                                                                  : ta_partial_text(p, row, WHAT);
        const int64_t peak_size = h && row[PEAK_SIZE] == TA_MISSING ? 0 : row[PEAK_SIZE];
        ta_add_row(table, (const struct ta_cell[TA_LENGTH(memory_sites_columns)]){
                              OWNER_CELLS(p, row), [BLOCK_WHAT] = ta_text(what),
                              [BLOCK_PEAK_BLOCKS] = known(row[PEAK_BLOCKS], h),
                              [BLOCK_PEAK_BYTES] = known(row[PEAK_BYTES], h),
                              [BLOCK_PEAK_SIZE] = known(row[PEAK_SIZE], h),
                              [BLOCK_PEAK_SHARE] = ta_share(peak_size, peak),
                              [BLOCK_HELD_BLOCKS] = known(row[HELD_BLOCKS], true),
                              [BLOCK_HELD_BYTES] = known(row[HELD_BYTES], true),
                              [BLOCK_ALLOCATIONS] = known(row[ALLOCATIONS], h),
                              [BLOCK_TOTAL_BYTES] = known(row[TOTAL_BYTES], h),
                              [BLOCK_UNFREED_BLOCKS] = known(row[UNFREED_BLOCKS], h),
                              [BLOCK_UNFREED_BYTES] = known(row[UNFREED_BYTES], h)});
    }
    return any_peak;
}

/* ---- fragmentation ------------------------------------------------------------------------- */

enum {
    FRAG_RESERVED = OF_OWNER,
    FRAG_ALLOCATED,
    FRAG_PENDING,
    FRAG_INTERNAL,
    FRAG_FREE,
    FRAG_SPLIT,
    FRAG_GAP,
    FRAG_PEAK_GAP
};
static const struct ta_column memory_fragmentation_columns[] = {
    OWNER_COLUMNS,
    [FRAG_RESERVED] = {"reserved_bytes", "Reserved", TA_BYTES, .better = TA_LOWER,
                       .doc = "Sum of the segments"},
    [FRAG_ALLOCATED] = {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
                        .doc = "Sum of the blocks in use"},
    [FRAG_PENDING] =
        {"pending_bytes", "Pending", TA_BYTES, .better = TA_LOWER,
         .doc = "Sum of the blocks that were let go while other streams may still use them"},
    [FRAG_INTERNAL] =
        {"internal_bytes", "Internal", TA_BYTES, .better = TA_LOWER,
         .doc = "Internal fragmentation: size minus bytes asked for, of blocks in use or pending"},
    [FRAG_FREE] = {"free_bytes", "Free", TA_BYTES, .better = TA_LOWER,
                   .doc =
                       "External fragmentation and cache: sum of the blocks that are not in use"},
    [FRAG_SPLIT] =
        {"split_free_bytes", "Free in split segments", TA_BYTES, .better = TA_LOWER,
         .doc =
             "Of those, what shares a segment with other blocks and cannot go back to the driver"},
    [FRAG_GAP] = {"gap_share", "Unused share", TA_RATIO, .better = TA_LOWER,
                  .doc = "1 − allocated over reserved, in the state"},
    [FRAG_PEAK_GAP] = {"peak_gap_share", "Unused share at peak", TA_RATIO, .better = TA_LOWER,
                       .doc = "1 − allocated over reserved when most was reserved, at the best "
                              "moment of that time; from the history"},
};

const struct ta_table_def memory_fragmentation = {
    "memory.fragmentation", "Fragmentation", TA_COLUMNS(memory_fragmentation_columns),
    .doc = "One row per snapshot and device: the state when the snapshot was taken. Chart "
           "`memory-fragmentation`."};

enum { SEGMENT_SEGMENTS = OF_OWNER, SEGMENT_BLOCKS, SEGMENT_LARGEST, SEGMENT_LARGEST_SHARE };
static const struct ta_column memory_segments_columns[] = {
    OWNER_COLUMNS,
    [SEGMENT_SEGMENTS] = {"segments", "Segments", TA_COUNT, .better = TA_LOWER,
                          .doc = "Pieces of memory obtained from the driver"},
    [SEGMENT_BLOCKS] = {"blocks", "Blocks", TA_COUNT, .better = TA_LOWER,
                        .doc = "Blocks that they are split into"},
    [SEGMENT_LARGEST] = {"largest_free_bytes", "Largest free block", TA_BYTES, .better = TA_HIGHER,
                         .doc = "Largest block that is not in use"},
    [SEGMENT_LARGEST_SHARE] =
        {"largest_free_share", "Largest free block share", TA_RATIO, .better = TA_HIGHER,
         .doc =
             "Largest free block over all that is free: low when free memory is in small pieces"},
};

const struct ta_table_def memory_segments = {
    "memory.segments", "Segments and free blocks", TA_COLUMNS(memory_segments_columns),
    .doc = "The same snapshots: how many pieces their memory is in."};

#define STATE_CHART(owner)                                                                         \
    {                                                                                              \
        .id = "memory-fragmentation", .title = "What reserved memory is used for",                 \
        .caption = "Reserved memory of each device when the snapshot was taken.",                  \
        .kind = TA_CHART_STACKED_BARS,                                                             \
        .label = {&memory_fragmentation_columns[owner], &memory_fragmentation_columns[OF_DEVICE]}, \
        .y = {{&memory_fragmentation_columns[FRAG_ALLOCATED], "Allocated", TA_INK_COMPUTE},        \
              {&memory_fragmentation_columns[FRAG_PENDING], "Pending", TA_INK_COMM},               \
              {&memory_fragmentation_columns[FRAG_FREE], "Free", TA_INK_IDLE}},                    \
    }
static const struct ta_chart_def state_charts[] = {[ONE] = STATE_CHART(OF_RANK),
                                                   [RANKS] = STATE_CHART(OF_RANK),
                                                   [SNAPSHOTS] = STATE_CHART(OF_LABEL)};

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
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i), *history = history_of(churn, row);
        const int64_t active = ta_add_sat(row[STATE_ALLOCATED], row[PENDING]);
        TA_ROW(
            out, memory_fragmentation,
            OWNER_CELLS(p, row), [FRAG_RESERVED] = ta_int(row[STATE_RESERVED]),
            [FRAG_ALLOCATED] = ta_int(row[STATE_ALLOCATED]), [FRAG_PENDING] = ta_int(row[PENDING]),
            [FRAG_INTERNAL] = ta_int(active - row[REQUESTED]), [FRAG_FREE] = ta_int(row[FREE]),
            [FRAG_SPLIT] = ta_int(row[SPLIT]),
            [FRAG_GAP] = rest_of(row[STATE_ALLOCATED], row[STATE_RESERVED]),
            [FRAG_PEAK_GAP] = history
                                  ? rest_of(history[ALLOCATED_AT_RESERVED], history[PEAK_RESERVED])
                                  : ta_null());
    }
    if (ta_partial_rows(p))
        ta_draw(out, &memory_fragmentation, &state_charts[owners_of(p)]);
}

static void add_segments(struct ta_section_builder *out, const struct ta_partial *p)
{
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        const bool free = row[FREE] > 0;
        TA_ROW(out, memory_segments, OWNER_CELLS(p, row),
               [SEGMENT_SEGMENTS] = ta_int(row[SEGMENTS]), [SEGMENT_BLOCKS] = ta_int(row[BLOCKS]),
               [SEGMENT_LARGEST] = free ? ta_int(row[LARGEST_FREE]) : ta_null(),
               [SEGMENT_LARGEST_SHARE] = free ? ta_share(row[LARGEST_FREE], row[FREE]) : ta_null());
    }
}

/* ---- churn and failures -------------------------------------------------------------------- */

enum {
    CHURN_ENTRIES = OF_OWNER,
    CHURN_TIME,
    CHURN_ALLOCATIONS,
    CHURN_FREES,
    CHURN_ALLOCATED_BYTES,
    CHURN_FREED_BYTES,
    CHURN_RATE,
    CHURN_SMALL,
    CHURN_UNFREED,
    CHURN_UNFREED_BYTES
};
static const struct ta_column memory_churn_columns[] = {
    OWNER_COLUMNS,
    [CHURN_ENTRIES] = {"entries", "History entries", TA_COUNT, .better = TA_LOWER,
                       .doc = "Entries of the history"},
    [CHURN_TIME] = {"dur_ns", "Time", TA_NS, .doc = "From its first to its last entry"},
    [CHURN_ALLOCATIONS] = {"allocations", "Allocations", TA_COUNT, .better = TA_LOWER,
                           .doc = "Blocks handed out"},
    [CHURN_FREES] = {"frees", "Frees", TA_COUNT, .better = TA_LOWER,
                     .doc = "Blocks that could be used again"},
    [CHURN_ALLOCATED_BYTES] = {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
                               .doc = "Bytes asked for by all allocations"},
    [CHURN_FREED_BYTES] = {"freed_bytes", "Freed", TA_BYTES, .doc = "Bytes of all frees"},
    [CHURN_RATE] = {"allocations_per_s", "Rate", TA_TYPE_NUMBER, TA_UNIT_PER_S, .better = TA_LOWER,
                    .doc = "Allocations over the time of the history"},
    [CHURN_SMALL] = {"small_share", "Small", TA_RATIO, .better = TA_LOWER,
                     .doc = "Share of the allocations below 1 MiB"},
    [CHURN_UNFREED] = {"unfreed_blocks", "Blocks not freed", TA_COUNT, .better = TA_LOWER,
                       .doc = "Allocations that were not given back by the end"},
    [CHURN_UNFREED_BYTES] = {"unfreed_bytes", "Not freed", TA_BYTES, .better = TA_LOWER,
                             .doc = "Their bytes, as asked for"},
};

const struct ta_table_def memory_churn = {"memory.churn", "Allocator activity",
                                          TA_COLUMNS(memory_churn_columns),
                                          .doc = "One row per snapshot and device with a history."};

/* In a table of its own, as both together are wider than a page. */
enum {
    PEAKS_START_REQUESTED = OF_OWNER,
    PEAKS_START,
    PEAKS_REQUESTED,
    PEAKS_ACTIVE,
    PEAKS_ALLOCATED,
    PEAKS_RESERVED,
    PEAKS_SEGMENTS_TAKEN,
    PEAKS_SEGMENTS_RETURNED,
    PEAKS_BYTES_TAKEN,
    PEAKS_RETRIES,
    PEAKS_FAILED
};
static const struct ta_column memory_peaks_columns[] = {
    OWNER_COLUMNS,
    [PEAKS_START_REQUESTED] = {"start_allocated_bytes", "Requested at start", TA_BYTES,
                               .doc =
                                   "Bytes alive before the first entry, as asked for: above 0 when "
                                   "the history does not reach back to the start of the run"},
    [PEAKS_START] = {"start_block_bytes", "At start", TA_BYTES, .doc = "The same in blocks"},
    [PEAKS_REQUESTED] = {"peak_allocated_bytes", "Peak requested", TA_BYTES, .better = TA_LOWER,
                         .doc = "Most bytes that the program held at a time, as asked for"},
    [PEAKS_ACTIVE] = {"peak_active_bytes", "Peak requested, active", TA_BYTES, .better = TA_LOWER,
                      .doc = "The same with what was let go but still used by other streams"},
    [PEAKS_ALLOCATED] = {"peak_block_bytes", "Peak allocated", TA_BYTES, .better = TA_LOWER,
                         .doc = "Most bytes in blocks that the program held at a time, as "
                                "torch.cuda.max_memory_allocated() counts them; a block that is "
                                "gone by the end counts as its request rounded up"},
    [PEAKS_RESERVED] = {"peak_reserved_bytes", "Peak reserved", TA_BYTES, .better = TA_LOWER,
                        .doc = "Most bytes that the allocator held"},
    [PEAKS_SEGMENTS_TAKEN] =
        {"segment_allocations", "Segments taken", TA_COUNT, .better = TA_LOWER,
         .doc = "Segments obtained from the driver, or grown; each may stall the device"},
    [PEAKS_SEGMENTS_RETURNED] = {"segment_frees", "Segments returned", TA_COUNT, .better = TA_LOWER,
                                 .doc = "Segments given back, or shrunk"},
    [PEAKS_BYTES_TAKEN] = {"segment_bytes", "Reserved", TA_BYTES, .better = TA_LOWER,
                           .doc = "Bytes obtained from the driver"},
    [PEAKS_RETRIES] = {"retries", "Retries", TA_COUNT, .better = TA_LOWER,
                       .doc = "Segments given back right before one was obtained: the driver had "
                              "no memory left, or the program emptied the cache"},
    [PEAKS_FAILED] = {"ooms", "Failed", TA_COUNT, .better = TA_LOWER,
                      .doc = "Allocations that failed for lack of memory"},
};

const struct ta_table_def memory_peaks = {
    "memory.peaks", "Peaks and segments", TA_COLUMNS(memory_peaks_columns),
    .doc = "One row per snapshot and device with a history: how high its levels rose, and what "
           "the allocator obtained from the driver.\n\n"
           "The entries of a history have what was asked for; the state at the end has the "
           "sizes of the blocks that are still there, and of their requests. Histories are "
           "rings, so both levels are anchored at that state and walked backwards: requests "
           "from requests, blocks from blocks. A block that is gone by the end counts as its "
           "request rounded up; it may have been up to 1 MiB larger, where the rest of a free "
           "block was not split off."};

static void add_churn(struct ta_section_builder *out, const struct ta_partial *p)
{
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        const double rate =
            row[DURATION] > 0 ? (double)row[ALLOCS] * 1e9 / (double)row[DURATION] : NAN;
        TA_ROW(
            out, memory_churn, OWNER_CELLS(p, row), [CHURN_ENTRIES] = ta_int(row[ENTRIES]),
            [CHURN_TIME] = ta_int(row[DURATION]), [CHURN_ALLOCATIONS] = ta_int(row[ALLOCS]),
            [CHURN_FREES] = ta_int(row[FREES]), [CHURN_ALLOCATED_BYTES] = ta_int(row[ALLOC_BYTES]),
            [CHURN_FREED_BYTES] = ta_int(row[FREED_BYTES]), [CHURN_RATE] = ta_num(rate),
            [CHURN_SMALL] = ta_share(row[SMALL_ALLOCS], row[ALLOCS]),
            [CHURN_UNFREED] = ta_int(row[UNFREED]),
            [CHURN_UNFREED_BYTES] = ta_int(row[UNFREED_SIZE]));
    }
}

static void add_peaks(struct ta_section_builder *out, const struct ta_partial *p)
{
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        TA_ROW(out, memory_peaks,
               OWNER_CELLS(p, row), [PEAKS_START_REQUESTED] = ta_int(row[START_REQUESTED]),
               [PEAKS_START] = ta_int(row[START_ALLOCATED]),
               [PEAKS_REQUESTED] = ta_int(row[PEAK_REQUESTED]),
               [PEAKS_ACTIVE] = ta_int(row[PEAK_REQUESTED_ACTIVE]),
               [PEAKS_ALLOCATED] = ta_int(row[PEAK_ALLOCATED]),
               [PEAKS_RESERVED] = ta_int(row[PEAK_RESERVED]),
               [PEAKS_SEGMENTS_TAKEN] = ta_int(row[SEGMENT_ALLOCS]),
               [PEAKS_SEGMENTS_RETURNED] = ta_int(row[SEGMENT_FREES]),
               [PEAKS_BYTES_TAKEN] = ta_int(row[SEGMENT_BYTES]),
               [PEAKS_RETRIES] = ta_int(row[RETRIES]), [PEAKS_FAILED] = ta_int(row[OOMS]));
    }
}

enum {
    FAILURE_INDEX = OF_OWNER,
    FAILURE_TIME,
    FAILURE_SITE,
    FAILURE_WANTED,
    FAILURE_DEVICE_FREE,
    FAILURE_DEVICE_TOTAL,
    FAILURE_OTHERS,
    FAILURE_ALLOCATED,
    FAILURE_RESERVED
};
static const struct ta_column memory_failures_columns[] = {
    OWNER_COLUMNS,
    [FAILURE_INDEX] = {"index", "Index", TA_INTEGER, .role = TA_IN_SERIES,
                       .doc = "Place in the history of the device, from 0; up to 1000 are listed"},
    [FAILURE_TIME] = {"time_ns", "Time", TA_NS, .doc = "Time since the first entry of the device"},
    [FAILURE_SITE] = {"site", "Site", TA_TEXT, .doc = "Call site that asked, as in memory.sites"},
    [FAILURE_WANTED] = {"wanted_bytes", "Requested", TA_BYTES, .better = TA_LOWER,
                        .read_as = TA_AS_FAILED,
                        .doc = "Bytes that were asked for and not to be had"},
    [FAILURE_DEVICE_FREE] = {"device_free_bytes", "Device free", TA_BYTES, .better = TA_HIGHER,
                             .doc = "Bytes that the device had left, whoever used the rest"},
    [FAILURE_DEVICE_TOTAL] = {"device_bytes", "Device", TA_BYTES,
                              .doc = "Bytes that the device has, as errors in a log say"},
    [FAILURE_OTHERS] = {"others_bytes", "Other processes", TA_BYTES, .better = TA_LOWER,
                        .doc = "Bytes of the device that are neither free nor this process's"},
    [FAILURE_ALLOCATED] = {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
                           .doc = "Bytes in blocks that the program held then"},
    [FAILURE_RESERVED] = {"reserved_bytes", "Reserved", TA_BYTES, .better = TA_LOWER,
                          .doc = "Bytes that the allocator held then"},
};

const struct ta_table_def memory_failures = {
    "memory.failures", "Failed allocations", TA_COLUMNS(memory_failures_columns),
    .doc = "One row per allocation that failed for lack of memory.",
    .brief = &(const struct ta_brief){.place = 340,
                                      .rows = 4,
                                      .first = {&memory_failures_columns[FAILURE_SITE],
                                                &memory_failures_columns[FAILURE_WANTED],
                                                &memory_failures_columns[FAILURE_DEVICE_FREE]},
                                      .never = {&memory_failures_columns[FAILURE_INDEX]},
                                      .call_site = &memory_failures_columns[FAILURE_SITE]}};

const struct ta_scalar_def memory_scalars[MEMORY_SCALARS] = {
    {"failed_allocations", "Failed allocations", TA_UNIT_COUNT, TA_LOWER,
     .doc = "Allocations that failed for lack of memory, as far as they are listed"},
};

static void add_failures(struct ta_section_builder *out, const struct ta_partial *p)
{
    for (size_t i = 0; i < ta_partial_rows(p); i++) {
        const int64_t *row = ta_partial_at(p, i);
        TA_ROW(out, memory_failures, OWNER_CELLS(p, row), [FAILURE_INDEX] = ta_int(row[FAILURE]),
               [FAILURE_TIME] = ta_int(row[FAIL_TIME]),
               [FAILURE_SITE] = ta_text(ta_partial_text(p, row, FAIL_SITE)),
               [FAILURE_WANTED] = ta_int(row[WANTED]),
               [FAILURE_DEVICE_FREE] = ta_int(row[DEVICE_FREE]),
               [FAILURE_DEVICE_TOTAL] = ta_int(row[DEVICE_TOTAL]),
               [FAILURE_OTHERS] = ta_int(row[OTHERS]),
               [FAILURE_ALLOCATED] = ta_int(row[FAIL_ALLOCATED]),
               [FAILURE_RESERVED] = ta_int(row[FAIL_RESERVED]));
    }
    if (ta_partial_rows(p))
        ta_set_scalar(out, &memory_scalars[0], ta_int((int64_t)ta_partial_rows(p)));
}

enum ta_status memory_finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    if (!memory_add_timeline(out, merged[TIMELINE], in))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the histories of memory");
    const struct ta_partial *p = merged[SITES];
    const bool any_peak = add_blocks(out, p, &memory_sites);
    ta_order_rows(out, &memory_sites,
                  &memory_sites_columns[any_peak ? BLOCK_PEAK_SIZE : BLOCK_HELD_BYTES],
                  TA_DESCENDING);
    if (ta_partial_rows(p)) {
        struct ta_chart_def chart = {
            .id = "memory-sites",
            .title = any_peak ? "Memory at the peak by call site" : "Memory held by call site",
            .caption =
                any_peak
                    ? "Bytes alive when most memory was allocated, by the place that asked for "
                      "them."
                    : "Bytes in use when the snapshot was taken, by the place that asked for them.",
            .kind = TA_CHART_PARETO,
            .label = {&memory_sites_columns[BLOCK_WHAT]},
            .y = {{&memory_sites_columns[any_peak ? BLOCK_PEAK_SIZE : BLOCK_HELD_BYTES], "Bytes",
                   TA_INK_SERIES_1}},
            .top = 20,
        };
        const enum owners owners = owners_of(p);
        size_t n = 1;
        if (owners != ONE)
            chart.label[n++] = &memory_sites_columns[owners == RANKS ? OF_RANK : OF_LABEL];
        if (has_several_devices(p))
            chart.label[n] = &memory_sites_columns[OF_DEVICE];
        ta_draw(out, &memory_sites, &chart);
    }
    add_blocks(out, merged[CLASSES], &memory_by_size);
    if (has_phases(merged[PHASES]))
        add_blocks(out, merged[PHASES], &memory_site_phases);
    add_states(out, merged[STATES], merged[CHURN]);
    add_segments(out, merged[STATES]);
    add_peaks(out, merged[CHURN]);
    add_churn(out, merged[CHURN]);
    add_failures(out, merged[FAILURES]);
    return TA_OK;
}
