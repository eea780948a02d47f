/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.snapshots and memory.by_rank: memory at labelled moments, and the state of PyTorch's
 * allocator by device; allocations.by_allocator: what allocators were asked for. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/levels.h>
#include <traceanalyze/rows.h>

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
    STATE,          /* of an allocator */
    PEAK_ALLOCATED, /* by its history */
    PEAK_RESERVED,
    ALLOCATED_AT_PEAK, /* most in use while most was reserved */
    FIELDS
};

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

static const struct ta_column snapshot_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"index", "Index", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Place in the order of recording, from 0"},
    {"label", "Label", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Label of the snapshot; of an allocator state the name of its file"},
    TA_DEVICE_COLUMN_OF("Device, none when the dump does not name it"),
    {"time_ns", "Time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "Time since the first snapshot of the rank"},
    {"allocated_bytes", "Allocated", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER,
     "Bytes in use by tensors"},
    {"reserved_bytes", "Reserved", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER,
     "Bytes that the allocator holds"},
    {"max_allocated_bytes", "Peak so far", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER,
     "Largest number of bytes in use so far: as the profiler says it, of an allocator state by its "
     "history"},
    {"gap_bytes", "Gap", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER,
     "Reserved minus allocated: held and not in use"},
    {"gap_share", "Gap share", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Gap over reserved: fragmentation, or a cache that is not needed now"},
};

static const struct ta_column rank_columns[] = {
    TA_DUMP_RANK_COLUMN,
    TA_DEVICE_COLUMN_OF("Device, none when the dump does not name it"),
    {"snapshots", "Snapshots", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of snapshots"},
    {"peak_allocated_bytes", "Peak allocated", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER,
     "Largest of what was in use at a snapshot, of the peaks recorded with them, and of the "
     "history "
     "of an allocator"},
    {"peak_source", "Peak from", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Where that peak is from: snapshot, profiler (its own peak) or history, whose sizes are those "
     "asked for"},
    {"peak_reserved_bytes", "Peak reserved", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER,
     "Largest number of bytes that the allocator held"},
    {"total_bytes", "Capacity", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_NEUTRAL,
     "Memory of the device, where the dump tells"},
    {"gap_share", "Gap at peak", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "1 − allocated over reserved, at the snapshot or the moment of the history that reserves "
     "most"},
    {"ooms", "Failed", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER,
     "Allocations that failed for lack of memory"},
    {"retries", "Retried", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER,
     "Allocations that were tried again after all cached memory was given back"},
};

static const struct ta_column pattern_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"allocator", "Allocator", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the allocator"},
    {"allocations", "Allocations", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_LOWER,
     "Number of allocations"},
    {"deallocations", "Frees", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Number of deallocations"},
    {"bytes", "Bytes", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER,
     "Bytes as the profiler sums them up, which may include those given back"},
    {"min_bytes", "Smallest", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_NEUTRAL, "Smallest request"},
    {"max_bytes", "Largest", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_NEUTRAL, "Largest request"},
    {"small_share", "Small", TA_TYPE_NUMBER, TA_UNIT_RATIO, TA_LOWER,
     "Share of the allocations below 1 MiB"},
};

static const struct ta_chart timeline_chart = {
    .id = "memory-timeline",
    .title = "Memory over time",
    .caption = "Memory at each snapshot; between snapshots nothing is known.",
    .kind = TA_CHART_LINES,
    .x = "time_ns",
    .y = {{"reserved_bytes", "Reserved", TA_INK_SERIES_2},
          {"max_allocated_bytes", "Peak so far", TA_INK_SERIES_3},
          {"allocated_bytes", "Allocated", TA_INK_SERIES_1}},
    .group = "rank",
};

static const struct ta_chart phases_chart = {
    .id = "memory-phases",
    .title = "Memory at labelled snapshots",
    .caption = "Allocated memory and the gap up to what the allocator holds.",
    .kind = TA_CHART_STACKED_BARS,
    .label = {"label", "rank"},
    .y = {{"allocated_bytes", "Allocated", TA_INK_COMPUTE}, {"gap_bytes", "Gap", TA_INK_IDLE}},
};

/* ---- map ----------------------------------------------------------------------------------- */

static void add_marks(const struct ta_trace *trace, struct ta_partial *out)
{
    size_t n;
    const struct ta_memory_mark *marks = ta_trace_memory_mark_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ta_memory_mark *mark = &marks[i];
        int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, mark->rank), ta_row_file(trace),
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
}

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

/* The entries [first, end) of a device, which has a state. */
static void add_peaks(const struct ta_allocator *a, size_t first, size_t end, int64_t *row)
{
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

/* Adds what the history of a device tells; a device without memory has no row. */
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
        add_peaks(a, first, end, row);
    }
}

/* The state is that at the end of the history of its device. */
static void add_allocator(const struct ta_trace *trace, struct ta_partial *out)
{
    const struct ta_allocator *a = ta_trace_allocator(trace);
    for (size_t s = 0; a && s < a->n_segments; s++) {
        const struct ta_alloc_segment *segment = &a->segments[s];
        int64_t *row = TA_PARTIAL_ROW(out, ta_row_rank(trace, TA_MISSING), ta_row_file(trace),
                                      ta_key_int(segment->device), ta_key_int(segment->device),
                                      ta_key_text(ta_row_file_label(trace)));
        row[STATE] = 1;
        ta_sum(&row[ALLOCATED], 0);
        for (size_t b = segment->first; b < segment->first + segment->n; b++)
            if (a->blocks[b].state == TA_BLOCK_ALLOCATED)
                ta_sum(&row[ALLOCATED], bytes_of(a->blocks[b].size));
        ta_sum(&row[RESERVED], bytes_of(segment->total));
    }
    if (a)
        add_history(trace, a, out);
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
            ta_sum(&row[SMALL], (int64_t)llround(small));
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    add_marks(trace, out[0]);
    add_allocator(trace, out[0]);
    add_patterns(trace, out[1]);
    return TA_OK;
}

/* ---- snapshots ----------------------------------------------------------------------------- */

static struct ta_cell not_negative(int64_t value)
{
    return value < 0 ? ta_null() : ta_int(value);
}

static double gap_of(int64_t allocated, int64_t reserved)
{
    const bool known = allocated >= 0 && reserved > 0 && allocated <= reserved;
    return known ? 1 - (double)allocated / (double)reserved : NAN;
}

static double gap_share(const int64_t *row)
{
    return gap_of(row[ALLOCATED], row[RESERVED]);
}

/* The snapshots by rank, file and order, copies left out. */
struct snapshots {
    int64_t (*rows)[FIELDS];
    size_t n;
    const struct ta_partial *partial; /* for the labels */
};

/* The state of the same allocator, where both it and torch's memory summary were written. */
static int64_t *state_behind(const struct snapshots *all, const int64_t *summary)
{
    if (!ta_slice_equal(ta_partial_text(all->partial, summary, LABEL), TA_LIT("memory summary")))
        return NULL;
    for (size_t i = 0; i < all->n; i++)
        if (all->rows[i][STATE] == 1 && all->rows[i][RANK] == summary[RANK] &&
            all->rows[i][DEVICE] == summary[DEVICE])
            return all->rows[i];
    return NULL;
}

/* A summary is a copy of the state at printed precision, but it also knows the peaks. */
static bool gather(const struct ta_partial *partial, struct snapshots *all)
{
    const size_t n = ta_partial_rows(partial);
    *all = (struct snapshots){.rows = calloc(n + 1, sizeof *all->rows), .n = n, .partial = partial};
    if (!all->rows)
        return false;
    for (size_t i = 0; i < n; i++)
        memcpy(all->rows[i], ta_partial_at(partial, i), sizeof *all->rows);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t *state = state_behind(all, all->rows[i]);
        if (!state)
            continue;
        static const int known[] = {MAX_ALLOCATED, MAX_RESERVED, OOMS, RETRIES};
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            ta_most(&state[known[k]], all->rows[i][known[k]]);
        all->rows[i][STATE] = 0; /* left out */
    }
    for (size_t i = 0; i < n; i++)
        if (all->rows[i][STATE] != 0)
            memmove(all->rows[kept++], all->rows[i], sizeof *all->rows);
    all->n = kept;
    return true;
}

/* Counts on within the rank; `first_ns` is the time of the first snapshot that has one. */
static void add_snapshots(struct ta_section_builder *out, const struct snapshots *all)
{
    struct ta_table_builder *table =
        ta_add_table(out, "memory.snapshots", "Memory by label", snapshot_columns, 10);
    int64_t index = 0, first_ns = TA_MISSING;
    bool timed = false, phased = false;
    for (size_t i = 0; i < all->n; i++) {
        const int64_t *row = all->rows[i];
        if (i == 0 || all->rows[i - 1][RANK] != row[RANK]) {
            index = 0;
            first_ns = TA_MISSING;
        }
        first_ns = first_ns == TA_MISSING ? row[TIME] : first_ns;
        /* States of several devices at one moment are no course of time. */
        timed |= row[STATE] != 1 && row[TIME] != TA_MISSING && row[TIME] != first_ns;
        const bool both = row[ALLOCATED] >= 0 && row[RESERVED] >= row[ALLOCATED];
        phased |= both;
        TA_ROW(table, ta_int(row[RANK]), ta_int(index++),
               ta_text_or_null(ta_partial_text(all->partial, row, LABEL)), ta_int(row[DEVICE]),
               row[TIME] == TA_MISSING ? ta_null() : ta_int(row[TIME] - first_ns),
               not_negative(row[ALLOCATED]), not_negative(row[RESERVED]),
               not_negative(ta_max_i64(row[MAX_ALLOCATED], row[PEAK_ALLOCATED])),
               both ? ta_int(row[RESERVED] - row[ALLOCATED]) : ta_null(), ta_num(gap_share(row)));
    }
    if (timed) /* a line needs two points */
        ta_add_chart(table, &timeline_chart);
    if (phased)
        ta_add_chart(table, &phases_chart);
}

/* ---- by rank ------------------------------------------------------------------------------- */

struct device {
    int64_t rank, device, snapshots, allocated, reserved, capacity, ooms, retries;
    const char *source; /* of the peak of what was in use */
    double gap;         /* where most is reserved, of the moments that say what is in use */
    int64_t widest;     /* reserved then */
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

/* The first of equals says the gap. */
static void take_reserved(struct device *device, int64_t reserved, double gap)
{
    if (reserved > device->widest)
        device->gap = gap;
    ta_most(&device->widest, reserved);
    ta_most(&device->reserved, reserved);
}

static void sum_up(struct device *device, const int64_t *row)
{
    device->snapshots++;
    take_peak(device, row[ALLOCATED], "snapshot");
    take_peak(device, row[MAX_ALLOCATED], "profiler");
    take_peak(device, row[PEAK_ALLOCATED], "history");
    take_reserved(device, row[PEAK_RESERVED], gap_of(row[ALLOCATED_AT_PEAK], row[PEAK_RESERVED]));
    take_reserved(device, row[RESERVED], gap_share(row));
    ta_most(&device->reserved, row[MAX_RESERVED]);
    ta_most(&device->capacity, row[CAPACITY]);
    ta_most(&device->ooms, row[OOMS]);
    ta_most(&device->retries, row[RETRIES]);
}

static void add_device(struct ta_table_builder *table, const struct device *d)
{
    const bool known = d->source && d->allocated >= 0;
    TA_ROW(table, ta_int(d->rank), ta_int(d->device), ta_int(d->snapshots),
           not_negative(d->allocated), known ? ta_text(ta_slice_of(d->source)) : ta_null(),
           not_negative(d->reserved), not_negative(d->capacity), ta_num(d->gap),
           not_negative(d->ooms), not_negative(d->retries));
}

static bool add_ranks(struct ta_section_builder *out, const struct snapshots *all)
{
    const size_t n = all->n;
    const int64_t **rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < n; i++)
        rows[i] = all->rows[i];
    qsort(rows, n, sizeof *rows, by_device);
    struct ta_table_builder *table =
        ta_add_table(out, "memory.by_rank", "Memory by rank", rank_columns, 10);
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
        for (end = first; end < n && by_device(&rows[first], &rows[end]) == 0; end++)
            sum_up(&device, rows[end]);
        add_device(table, &device);
    }
    free(rows);
    return true;
}

/* ---- allocators ---------------------------------------------------------------------------- */

static void add_allocators(struct ta_section_builder *out, const struct ta_partial *patterns)
{
    struct ta_table_builder *table = ta_add_table(out, "allocations.by_allocator",
                                                  "Allocations by allocator", pattern_columns, 8);
    for (size_t i = 0; i < ta_partial_rows(patterns); i++) {
        const int64_t *row = ta_partial_at(patterns, i);
        const double share = row[SMALL] == TA_MISSING || row[ALLOCS] <= 0
                                 ? NAN
                                 : (double)row[SMALL] / 1e9 / (double)row[ALLOCS];
        TA_ROW(table, ta_int(row[PATTERN_RANK]), ta_text(ta_partial_text(patterns, row, ALLOCATOR)),
               not_negative(row[ALLOCS]), not_negative(row[FREES]), ta_int(row[BYTES]),
               ta_int(row[LEAST]), ta_int(row[MOST]), ta_num(share <= 1 ? share : NAN));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)prior;
    struct snapshots all;
    bool done = gather(merged[0], &all);
    if (done) {
        done = add_ranks(out, &all);
        add_snapshots(out, &all);
    }
    free(all.rows);
    add_allocators(out, merged[1]);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the memory snapshots");
}

static const struct ta_analysis_ops ops = {
    .section = "memory", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, memory, &ops, .title = "Memory",
          .summary = "Memory at labelled snapshots and in allocator states: memory.snapshots, "
                     "memory.by_rank, allocations.by_allocator",
          .version = "1");
