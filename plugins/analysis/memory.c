/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.snapshots and memory.by_rank: memory at labelled moments, and the state of PyTorch's
 * allocator by device; allocations.by_allocator: what allocators were asked for. */
#include "lib/levels.h"
#include "model/allocator.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <math.h>
#include <stdlib.h>

/* Snapshots in the order of files and rows; an allocator has one row per device. */
enum {
    RANK,
    FILE_KEY,
    ORDER,
    DEVICE,
    LABEL,
    TIME,
    ALLOCATED,
    RESERVED,
    MAX_ALLOCATED,
    MAX_RESERVED,
    CAPACITY,
    OOMS,
    RETRIES,
    STATE,          /* STATE_… */
    PEAK_ALLOCATED, /* by its history */
    PEAK_RESERVED,
    ALLOCATED_AT_PEAK, /* most in use while most was reserved */
    FIELDS
};

/* What a row is, TA_MISSING for a snapshot. */
enum {
    STATE_COPY, /* of another row, and left out */
    STATE_ALLOCATOR,
    STATE_TRACE /* peaks of the allocator in a trace; no snapshot */
};

/* The snapshots by rank, file and order, copies left out. */
struct snapshots {
    int64_t (*rows)[FIELDS];
    size_t n;
    size_t n_peaks;                   /* after them, of traces */
    const struct ta_partial *partial; /* for the labels */
};

/* Which of both tables the terminal shows: labels say more of one rank, unless most of them are
 * states of allocators. */
enum { BRIEF_SNAPSHOTS, BRIEF_FRAGMENTATION, BRIEF_RANKS, BRIEF_SITES, BRIEF_READS };

static inline struct ta_cell not_negative(int64_t value)
{
    return value < 0 ? ta_null() : ta_int(value);
}

/* The share of what is reserved that is not in use; NAN where it is not known. */
static inline double gap_of(int64_t allocated, int64_t reserved)
{
    const bool known = allocated >= 0 && reserved > 0 && allocated <= reserved;
    return known ? 1 - (double)allocated / (double)reserved : NAN;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

/* memory.snapshots: memory at labelled moments, and the state of PyTorch's allocator by device. */

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
                         .doc = "Position in recording order, starting at 0"},
    [SNAPSHOTS_LABEL] = {"label", "Label", TA_TEXT, .read_as = TA_AS_LEVEL_LABEL,
                         .doc = "Label of the snapshot; for an allocator state, its file name"},
    [SNAPSHOTS_DEVICE] = TA_DEVICE_COLUMN_OF("Device; empty if the dump does not name it"),
    [SNAPSHOTS_TIME] = {"time_ns", "Time", TA_NS, .doc = "Time since the rank's first snapshot"},
    [SNAPSHOTS_ALLOCATED] = {"allocated_bytes", "Allocated", TA_BYTES, .better = TA_LOWER,
                             .read_as = TA_AS_LEVEL_BYTES, .doc = "Bytes in use by tensors"},
    [SNAPSHOTS_RESERVED] = {"reserved_bytes", "Reserved", TA_BYTES, .better = TA_LOWER,
                            .doc = "Bytes that the allocator holds"},
    [SNAPSHOTS_MAX_ALLOCATED] = {"max_allocated_bytes", "Peak so far", TA_BYTES, .better = TA_LOWER,
                                 .doc = "Most bytes in use so far, as the profiler reports it; for "
                                        "an allocator state, from its history"},
    [SNAPSHOTS_GAP] = {"gap_bytes", "Unused", TA_BYTES, .better = TA_LOWER,
                       .doc =
                           "Reserved minus allocated bytes: held by the allocator but not in use"},
    [SNAPSHOTS_GAP_SHARE] =
        {"gap_share", "Unused share", TA_RATIO, .better = TA_LOWER,
         .doc = "Unused divided by reserved bytes: fragmentation, or cache that is not needed now"},
};

static const struct ta_chart_def timeline_chart = {
    .id = "memory-timeline",
    .title = "Memory over time",
    .caption = "Memory at each snapshot; between snapshots nothing is known.",
    .kind = TA_CHART_LINES,
    .steps = true,
    .x = &memory_snapshots_columns[SNAPSHOTS_TIME],
    .y = {{&memory_snapshots_columns[SNAPSHOTS_RESERVED], "Reserved", TA_INK_SERIES_2},
          {&memory_snapshots_columns[SNAPSHOTS_MAX_ALLOCATED], "Peak so far", TA_INK_SERIES_3},
          {&memory_snapshots_columns[SNAPSHOTS_ALLOCATED], "Allocated", TA_INK_SERIES_1}},
    .group = &memory_snapshots_columns[SNAPSHOTS_RANK],
};

static const struct ta_ref memory_brief_reads[] = {
    [BRIEF_SNAPSHOTS] = {"memory.snapshots", NULL},
    [BRIEF_FRAGMENTATION] = {"memory.fragmentation", NULL},
    [BRIEF_RANKS] = {"memory.by_rank", NULL},
    [BRIEF_SITES] = {"memory.sites", NULL},
};

static bool are_labels_of_one_rank(const struct ta_refs *in)
{
    return ta_ref_rows(in, BRIEF_SNAPSHOTS) > ta_ref_rows(in, BRIEF_FRAGMENTATION) &&
           ta_report_run(in->report)->n_ranks <= 1;
}

/* memory.snapshots */
static const struct ta_table_def memory_snapshots = {
    "memory.snapshots",
    "Memory by label",
    TA_COLUMNS(memory_snapshots_columns),
    .of_several = true,
    .doc = "One row per labeled snapshot, and per allocator state (pickle) and device, in "
           "recording order. For an allocator state, allocated is the sum of the blocks in state "
           "`active_allocated` and reserved is the sum of the segments. A printed memory summary "
           "next to the state of the same allocator gets no row of its own; its peaks count in "
           "`memory.by_rank`. Charts `memory-timeline`, `memory-phases`.",
    .brief = &(const struct ta_brief){.place = 350,
                                      .rows = 12,
                                      .largest = &memory_snapshots_columns[SNAPSHOTS_ALLOCATED],
                                      .applies = are_labels_of_one_rank,
                                      TA_READS(memory_brief_reads)}};

/* Bars are named by the columns in which they differ. */
static void add_phases(struct ta_section_builder *out, const struct snapshots *all)
{
    struct ta_chart_def chart = {
        .id = "memory-phases",
        .title = "Memory at labeled snapshots",
        .caption = "Allocated memory, and what the allocator reserves beyond it.",
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
static bool gather_snapshots(const struct ta_partial *partial, struct snapshots *all)
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
static void add_snapshots(struct ta_section_builder *out, const struct snapshots *all)
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

/* ---- by rank --------------------------------------------------------------------------------- */

/* memory.by_rank: the peaks of every rank and device, by all snapshots of it. */

enum {
    BY_RANK_RANK,
    BY_RANK_DEVICE,
    BY_RANK_SNAPSHOTS,
    BY_RANK_PEAK_ALLOCATED,
    BY_RANK_PEAK_SOURCE,
    BY_RANK_PEAK_RESERVED,
    BY_RANK_RESERVED_SOURCE,
    BY_RANK_UNUSED,
    BY_RANK_TOTAL,
    BY_RANK_GAP_SHARE,
    BY_RANK_OOMS,
    BY_RANK_RETRIES
};
static const struct ta_column memory_by_rank_columns[] = {
    [BY_RANK_RANK] = TA_DUMP_RANK_COLUMN,
    [BY_RANK_DEVICE] = TA_DEVICE_COLUMN_OF("Device; empty if the dump does not name it"),
    [BY_RANK_SNAPSHOTS] = {"snapshots", "Snapshots", TA_COUNT, .doc = "Number of snapshots"},
    [BY_RANK_PEAK_ALLOCATED] =
        {"peak_allocated_bytes", "Peak allocated", TA_BYTES, .better = TA_LOWER, .weight = 0.9,
         .doc = "Most bytes in use: the largest of all snapshots, of the peaks recorded with them, "
                "and of the allocator's history (in bytes of blocks)"},
    [BY_RANK_PEAK_SOURCE] =
        {"peak_source", "Peak source", TA_TEXT, .role = TA_NOTE,
         .doc =
             "Where the allocated peak comes from: snapshot, profiler (its own peak) or history"},
    [BY_RANK_PEAK_RESERVED] = {"peak_reserved_bytes", "Peak reserved", TA_BYTES, .better = TA_LOWER,
                               .weight = 0.7,
                               .doc =
                                   "Most bytes that the allocator held, as far as it was recorded"},
    [BY_RANK_RESERVED_SOURCE] =
        {"reserved_source", "Reserved source", TA_TEXT, .role = TA_NOTE,
         .doc = "Where the reserved peak comes from; a peak from snapshots may be below the "
                "allocated peak, which can lie between two snapshots"},
    [BY_RANK_UNUSED] = {"unused_bytes", "Unused at peak (at most)", TA_BYTES, .better = TA_LOWER,
                        .doc = "Peak reserved minus peak allocated: at the peak the allocator held "
                               "at most this much unused memory; empty if only snapshots show what "
                               "is held and more was in use between them"},
    [BY_RANK_TOTAL] = {"total_bytes", "Capacity", TA_BYTES,
                       .doc = "Total memory of the device; empty if the dump does not report it"},
    [BY_RANK_GAP_SHARE] =
        {"gap_share", "Unused share", TA_RATIO, .better = TA_LOWER, .weight = 0.2,
         .doc = "1 − allocated / reserved bytes, at the snapshot or moment of the history with the "
                "most reserved bytes; at another moment more may be in use"},
    [BY_RANK_OOMS] = {"ooms", "Failed", TA_COUNT, .better = TA_LOWER,
                      .doc = "Allocations that failed because memory ran out"},
    [BY_RANK_RETRIES] = {"retries", "Retried", TA_COUNT, .better = TA_LOWER,
                         .doc =
                             "Allocations that were retried after all cached memory was released"},
};

/* Call sites say more of a single device. */
static bool say_most(const struct ta_refs *in)
{
    return !are_labels_of_one_rank(in) &&
           (ta_ref_rows(in, BRIEF_RANKS) > 1 || !ta_ref_exists(in, BRIEF_SITES));
}

/* memory.by_rank; false without memory. */
static const struct ta_table_def memory_by_rank = {
    "memory.by_rank",
    "Memory by rank",
    TA_COLUMNS(memory_by_rank_columns),
    .of_several = true,
    .doc = "One row per rank and device, from dumps and from traces with `profile_memory=True`, "
           "whose memory records are a history.\n\nBytes in use count blocks, as "
           "`torch.cuda.memory_allocated()` does, not the bytes requested: requests are rounded up "
           "to 512 bytes (or as `roundup_power2_divisions` says), and a block that was cut from a "
           "larger free one keeps the remainder if that is too small to split off. Only bytes of "
           "blocks can be compared with reserved bytes. The history of an allocator is in "
           "`memory.peaks`.\n\n`unused_bytes` is empty if what is held is known only at snapshots "
           "and more was in use between two of them.",
    .rank_words = "Memory",
    .brief = &(const struct ta_brief){.place = 360,
                                      .rows = 8,
                                      .largest = &memory_by_rank_columns[BY_RANK_PEAK_ALLOCATED],
                                      .applies = say_most,
                                      TA_READS(memory_brief_reads)}};

struct device {
    int64_t rank, device, snapshots, allocated, reserved, capacity, ooms, retries;
    const char *source;          /* of the peak of what was in use */
    const char *reserved_source; /* of the peak of what was held */
    double gap;     /* where most is reserved, of the moments that say what is in use */
    int64_t widest; /* reserved then */
};

static int by_device(const void *left, const void *right)
{
    const int64_t *const *a = left, *const *b = right;
    for (int i = 0; i < 2; i++) {
        const int64_t x = (*a)[i ? DEVICE : RANK], y = (*b)[i ? DEVICE : RANK];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static void take_peak(struct device *device, int64_t allocated, const char *source)
{
    if (allocated > device->allocated)
        device->source = source;
    ta_most(&device->allocated, allocated);
}

static void take_reserved(struct device *device, int64_t reserved, const char *source)
{
    if (reserved > device->reserved)
        device->reserved_source = source;
    ta_most(&device->reserved, reserved);
}

/* What was held and in use at one moment.  The first of equals says the gap. */
static void take_moment(struct device *device, int64_t reserved, int64_t allocated,
                        const char *source)
{
    if (reserved > device->widest)
        device->gap = gap_of(allocated, reserved);
    ta_most(&device->widest, reserved);
    take_reserved(device, reserved, source);
}

static struct ta_cell name_of(const char *source, int64_t bytes)
{
    return source && bytes >= 0 ? ta_text(ta_slice_of(source)) : ta_null();
}

static bool add_ranks(struct ta_section_builder *out, const struct snapshots *all)
{
    const size_t n = all->n + all->n_peaks;
    const int64_t **rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < n; i++)
        rows[i] = all->rows[i];
    qsort(rows, n, sizeof *rows, by_device);
    for (size_t first = 0, end; first < n; first = end) {
        struct device device = {.rank = rows[first][RANK],
                                .device = rows[first][DEVICE],
                                .allocated = TA_MISSING,
                                .reserved = TA_MISSING,
                                .capacity = TA_MISSING,
                                .ooms = TA_MISSING,
                                .retries = TA_MISSING,
                                .gap = NAN,
                                .widest = TA_MISSING};
        for (end = first; end < n && by_device(&rows[first], &rows[end]) == 0; end++) {
            const int64_t *row = rows[end];
            device.snapshots += row[STATE] != STATE_TRACE;
            take_peak(&device, row[ALLOCATED], "snapshot");
            take_peak(&device, row[MAX_ALLOCATED], "profiler");
            take_peak(&device, row[PEAK_ALLOCATED], "history");
            take_moment(&device, row[PEAK_RESERVED], row[ALLOCATED_AT_PEAK], "history");
            take_moment(&device, row[RESERVED], row[ALLOCATED], "snapshot");
            take_reserved(&device, row[MAX_RESERVED], "profiler");
            ta_most(&device.capacity, row[CAPACITY]);
            ta_most(&device.ooms, row[OOMS]);
            ta_most(&device.retries, row[RETRIES]);
        }
        const bool known = device.allocated >= 0 && device.reserved >= device.allocated;
        TA_ROW(out, memory_by_rank, [BY_RANK_RANK] = ta_int(device.rank),
               [BY_RANK_DEVICE] = ta_int(device.device),
               [BY_RANK_SNAPSHOTS] = ta_int(device.snapshots),
               [BY_RANK_PEAK_ALLOCATED] = not_negative(device.allocated),
               [BY_RANK_PEAK_SOURCE] = name_of(device.source, device.allocated),
               [BY_RANK_PEAK_RESERVED] = not_negative(device.reserved),
               [BY_RANK_RESERVED_SOURCE] = name_of(device.reserved_source, device.reserved),
               [BY_RANK_UNUSED] = known ? ta_int(device.reserved - device.allocated) : ta_null(),
               [BY_RANK_TOTAL] = not_negative(device.capacity),
               [BY_RANK_GAP_SHARE] = ta_num(device.gap), [BY_RANK_OOMS] = not_negative(device.ooms),
               [BY_RANK_RETRIES] = not_negative(device.retries));
    }
    free(rows);
    return true;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [FILE_KEY] = {"file", TA_FIELD_FILE},
    [ORDER] = {"order", TA_FIELD_INT},
    [DEVICE] = {"device", TA_FIELD_INT},
    [LABEL] = {"label", TA_FIELD_TEXT},
    [TIME] = {"time_ns", TA_FIELD_MAX},
    [ALLOCATED] = {"allocated_bytes", TA_FIELD_MAX},
    [RESERVED] = {"reserved_bytes", TA_FIELD_MAX},
    [MAX_ALLOCATED] = {"max_allocated_bytes", TA_FIELD_MAX},
    [MAX_RESERVED] = {"max_reserved_bytes", TA_FIELD_MAX},
    [CAPACITY] = {"total_bytes", TA_FIELD_MAX},
    [OOMS] = {"ooms", TA_FIELD_MAX},
    [RETRIES] = {"retries", TA_FIELD_MAX},
    [STATE] = {"state", TA_FIELD_MAX},
    [PEAK_ALLOCATED] = {"peak_allocated_bytes", TA_FIELD_MAX},
    [PEAK_RESERVED] = {"peak_reserved_bytes", TA_FIELD_MAX},
    [ALLOCATED_AT_PEAK] = {"allocated_at_peak_bytes", TA_FIELD_MAX},
};

enum { PATTERN_RANK, ALLOCATOR, ALLOCS, FREES, BYTES, LEAST, MOST, SMALL, PATTERN_FIELDS };

static const struct ta_field pattern_fields[PATTERN_FIELDS] = {
    [PATTERN_RANK] = {"rank", TA_FIELD_RANK},
    [ALLOCATOR] = {"allocator", TA_FIELD_TEXT},
    [ALLOCS] = {"allocations", TA_FIELD_SUM},
    [FREES] = {"deallocations", TA_FIELD_SUM},
    [BYTES] = {"bytes", TA_FIELD_SUM},
    [LEAST] = {"min_bytes", TA_FIELD_MIN},
    [MOST] = {"max_bytes", TA_FIELD_MAX},
    [SMALL] = {"small", TA_FIELD_SUM}, /* allocations below 1 MiB, in billionths */
};

static const struct ta_partial_def partials[] = {
    {"snapshots", fields, FIELDS}, {"patterns", pattern_fields, PATTERN_FIELDS}, {0}};

enum {
    BY_ALLOCATOR_RANK,
    BY_ALLOCATOR_ALLOCATOR,
    BY_ALLOCATOR_ALLOCATIONS,
    BY_ALLOCATOR_DEALLOCATIONS,
    BY_ALLOCATOR_BYTES,
    BY_ALLOCATOR_MIN,
    BY_ALLOCATOR_MAX,
    BY_ALLOCATOR_SMALL_SHARE
};
static const struct ta_column by_allocator_columns[] = {
    [BY_ALLOCATOR_RANK] = TA_DUMP_RANK_COLUMN,
    [BY_ALLOCATOR_ALLOCATOR] = {"allocator", "Allocator", TA_TEXT, .doc = "Name of the allocator"},
    [BY_ALLOCATOR_ALLOCATIONS] = {"allocations", "Allocations", TA_COUNT, .better = TA_LOWER,
                                  .doc = "Number of allocations"},
    [BY_ALLOCATOR_DEALLOCATIONS] = {"deallocations", "Frees", TA_COUNT,
                                    .doc = "Number of deallocations"},
    [BY_ALLOCATOR_BYTES] =
        {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER,
         .doc = "Bytes requested, as the profiler sums them; may include bytes freed later"},
    [BY_ALLOCATOR_MIN] = {"min_bytes", "Smallest", TA_BYTES, .doc = "Smallest request in bytes"},
    [BY_ALLOCATOR_MAX] = {"max_bytes", "Largest", TA_BYTES, .doc = "Largest request in bytes"},
    [BY_ALLOCATOR_SMALL_SHARE] = {"small_share", "Small", TA_RATIO, .better = TA_LOWER,
                                  .doc = "Allocations below 1 MiB divided by all allocations"},
};

static const struct ta_table_def by_allocator = {
    "allocations.by_allocator", "Allocations by allocator", TA_COLUMNS(by_allocator_columns),
    .doc =
        "One row per rank and allocator, as the profiler sums its requests. An allocator snapshot "
        "adds a row for pinned host memory; the state of that memory is in `figures.reported`.",
    .brief = &(const struct ta_brief){.place = 420,
                                      .rows = 6,
                                      .largest = &by_allocator_columns[BY_ALLOCATOR_BYTES],
                                      .alone = true}};

/* ---- map ----------------------------------------------------------------------------------- */

static int64_t bytes_of(uint64_t bytes)
{
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

static bool has_device(const struct ta_allocator *a, int64_t device)
{
    for (size_t s = 0; s < a->n_segments; s++)
        if (a->segments[s].device == device)
            return true;
    return false;
}

/* Adds what the history of a device shows; a device without memory has no row. */
static void add_history(const struct ta_trace *trace, const struct ta_allocator *a,
                        struct ta_partial *out)
{
    for (size_t first = 0, end; first < a->n_events; first = end) {
        const int64_t device = a->events[first].device;
        for (end = first + 1; end < a->n_events && a->events[end].device == device;)
            end++;
        if (!has_device(a, device))
            continue;
        int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, TA_MISSING), ta_row_file(trace),
                                      ta_key_int(device), ta_key_int(device),
                                      ta_key_text(ta_row_file_label(trace)));
        for (size_t e = first; e < end; e++) {
            ta_most(&row[TIME], a->events[e].time_ns);
            if (a->events[e].action == TA_ALLOC_OOM)
                ta_sum(&row[OOMS], 1);
        }
        struct ta_levels state = {0};
        for (size_t s = 0; s < a->n_segments; s++)
            if (a->segments[s].device == a->events[first].device)
                ta_levels_add(&a->segments[s], a->blocks, &state);
        struct ta_levels levels = ta_levels_start(&state, a->events + first, end - first);
        for (size_t e = first; e <= end; e++) {
            const bool higher = levels.reserved > row[PEAK_RESERVED];
            if (higher || row[PEAK_RESERVED] == TA_MISSING)
                row[ALLOCATED_AT_PEAK] = TA_MISSING;
            ta_most(&row[PEAK_ALLOCATED], levels.allocated);
            ta_most(&row[PEAK_RESERVED], levels.reserved);
            if (levels.reserved == row[PEAK_RESERVED])
                ta_most(&row[ALLOCATED_AT_PEAK], levels.allocated);
            if (e < end)
                ta_levels_step(&a->events[e], &levels);
        }
    }
}

/* The number after the prefix of such a counter; TA_MISSING for any other. */
static int64_t device_of(struct ta_slice counter)
{
    const size_t prefix = sizeof TA_MEMORY_COUNTER - 1;
    int64_t device = 0;
    if (counter.len <= prefix || memcmp(counter.ptr, TA_MEMORY_COUNTER, prefix) != 0)
        return TA_MISSING;
    for (size_t i = prefix; i < counter.len; i++) {
        if (counter.ptr[i] < '0' || counter.ptr[i] > '9' || i > prefix + 15)
            return TA_MISSING;
        device = device * 10 + (counter.ptr[i] - '0');
    }
    return device;
}

/* Peaks of the counters that the reader makes of torch's records of memory. */
static void add_levels(const struct ta_trace *trace, struct ta_partial *out)
{
    const struct ta_counters counters = ta_trace_counters(trace);
    for (size_t i = 0; i < counters.n_series; i++) {
        const struct ta_counter_series *series = &counters.series[i];
        const int64_t device = device_of(ta_trace_text(trace, series->name));
        if (device == TA_MISSING)
            continue;
        const bool reserved =
            ta_slice_equal(ta_trace_text(trace, series->series), TA_LIT("reserved bytes"));
        const double *values = counters.value + series->first;
        double peak = -1;
        for (size_t s = 0; s < series->n; s++)
            peak = values[s] > peak && values[s] < 9e18 ? values[s] : peak;
        const struct ta_device *facts = ta_trace_device(trace, device);
        int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, TA_MISSING), ta_row_file(trace),
                                      ta_key_int(-1), ta_key_int(device), ta_key_text(TA_LIT("")));
        row[STATE] = STATE_TRACE;
        if (facts && facts->memory_bytes > 0)
            row[CAPACITY] = facts->memory_bytes;
        if (peak >= 0)
            ta_most(&row[reserved ? PEAK_RESERVED : PEAK_ALLOCATED], ta_whole(peak));
    }
}

static void add_patterns(const struct ta_trace *trace, struct ta_partial *out)
{
    size_t n;
    const struct ta_allocation_pattern *patterns = ta_trace_allocation_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_allocation_pattern *pattern = &patterns[i];
        int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, pattern->rank),
                                      ta_key_text(ta_trace_text(trace, pattern->allocator)));
        ta_sum(&row[ALLOCS], pattern->allocations);
        ta_sum(&row[FREES], pattern->deallocations);
        ta_sum(&row[BYTES], pattern->bytes);
        ta_least(&row[LEAST], pattern->min_bytes);
        ta_most(&row[MOST], pattern->max_bytes);
        const double small = pattern->small_ratio * 1e9 * (double)pattern->allocations;
        if (pattern->allocations >= 0 && small >= 0 && small < 9e18)
            ta_sum(&row[SMALL], ta_whole(round(small)));
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_memory_mark *marks = ta_trace_memory_mark_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_memory_mark *mark = &marks[i];
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, mark->rank), ta_row_file(trace),
                                      ta_key_int((int64_t)i), ta_key_int(mark->device),
                                      ta_key_text(ta_trace_text(trace, mark->label)));
        row[TIME] = mark->time_ns;
        row[ALLOCATED] = mark->allocated_bytes;
        row[RESERVED] = mark->reserved_bytes;
        row[MAX_ALLOCATED] = mark->max_allocated_bytes;
        row[MAX_RESERVED] = mark->max_reserved_bytes;
        row[CAPACITY] = mark->total_bytes;
        row[OOMS] = mark->ooms;
        row[RETRIES] = mark->retries;
    }
    /* The state is that at the end of the history of its device. */
    const struct ta_allocator *a = ta_trace_allocator(trace);
    for (size_t s = 0; a && s < a->n_segments; s++) {
        const struct ta_alloc_segment *segment = &a->segments[s];
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, TA_MISSING), ta_row_file(trace),
                                      ta_key_int(segment->device), ta_key_int(segment->device),
                                      ta_key_text(ta_row_file_label(trace)));
        row[STATE] = STATE_ALLOCATOR;
        ta_sum(&row[ALLOCATED], 0);
        for (size_t b = segment->first; b < segment->first + segment->n; b++)
            if (a->blocks[b].state == TA_BLOCK_ALLOCATED)
                ta_sum(&row[ALLOCATED], bytes_of(a->blocks[b].size));
        ta_sum(&row[RESERVED], bytes_of(segment->total));
    }
    if (a)
        add_history(trace, a, out[0]);
    add_levels(trace, out[0]);
    add_patterns(trace, out[1]);
    return TA_OK;
}

/* ---- allocators ---------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    struct snapshots all;
    bool done = gather_snapshots(merged[0], &all);
    if (done) {
        done = add_ranks(out, &all);
        add_snapshots(out, &all);
    }
    free(all.rows);
    const struct ta_partial *patterns = merged[1];
    for (size_t i = 0; i < ta_partial_rows(patterns); i++) {
        const int64_t *row = ta_partial_at(patterns, i);
        const double share = row[SMALL] == TA_MISSING || row[ALLOCS] <= 0
                                 ? NAN
                                 : (double)row[SMALL] / 1e9 / (double)row[ALLOCS];
        TA_ROW(out, by_allocator, [BY_ALLOCATOR_RANK] = ta_int(row[PATTERN_RANK]),
               [BY_ALLOCATOR_ALLOCATOR] = ta_text(ta_partial_text(patterns, row, ALLOCATOR)),
               [BY_ALLOCATOR_ALLOCATIONS] = not_negative(row[ALLOCS]),
               [BY_ALLOCATOR_DEALLOCATIONS] = not_negative(row[FREES]),
               [BY_ALLOCATOR_BYTES] = ta_int(row[BYTES]), [BY_ALLOCATOR_MIN] = ta_int(row[LEAST]),
               [BY_ALLOCATOR_MAX] = ta_int(row[MOST]),
               [BY_ALLOCATOR_SMALL_SHARE] = ta_num(share <= 1 ? share : NAN));
    }
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the memory snapshots");
}

static const struct ta_table_def *const tables[] = {&memory_by_rank, &memory_snapshots,
                                                    &by_allocator, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_COUNTERS,
                                           .section = "memory",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, memory, &ops, .title = "Memory",
          .summary = "Memory at labeled snapshots and in allocator states: memory.snapshots, "
                     "memory.by_rank, allocations.by_allocator",
          .version = "1");
