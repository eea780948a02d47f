/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.snapshots and memory.by_rank: memory at labelled moments, and the state of PyTorch's
 * allocator by device; allocations.by_allocator: what allocators were asked for. */
#include "memory.h"

#include "lib/levels.h"

#include <stdlib.h>

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
         .doc = "Bytes as the profiler sums them up, which may include those given back"},
    [BY_ALLOCATOR_MIN] = {"min_bytes", "Smallest", TA_BYTES, .doc = "Smallest request"},
    [BY_ALLOCATOR_MAX] = {"max_bytes", "Largest", TA_BYTES, .doc = "Largest request"},
    [BY_ALLOCATOR_SMALL_SHARE] = {"small_share", "Small", TA_RATIO, .better = TA_LOWER,
                                  .doc = "Share of the allocations below 1 MiB"},
};

static const struct ta_table_def by_allocator = {
    "allocations.by_allocator", "Allocations by allocator", TA_COLUMNS(by_allocator_columns),
    .doc = "One row per rank and allocator, as the profiler sums its requests up; of an "
           "allocator snapshot those to pinned host memory, whose state is in "
           "`figures.reported`.",
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

/* The number behind the prefix of such a counter; TA_MISSING for any other. */
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
          .summary = "Memory at labelled snapshots and in allocator states: memory.snapshots, "
                     "memory.by_rank, allocations.by_allocator",
          .version = "1");
