/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From torch's records of memory in a trace to levels by stretch, step and phase.
 *
 * A record says what a device holds after memory was handed out or taken back; that level holds
 * until the next record.  Records of all threads of a device are one series. */
#include "base/vec.h"
#include "memory_program.h"
#include "model/program/steps.h"

#include <stdlib.h>

/* Stretches that are kept of a device, at most, but for those that end with a phase; and devices of
 * a process, of which real ones have few. */
enum { STRETCHES = 240, DEVICES_MOST = 64 };

/* A record; bytes that it does not say are TA_MISSING. */
struct record {
    int64_t time, allocated, reserved;
    size_t order;
};

/* The records of a device by time. */
struct levels {
    int64_t device;
    struct record *at;
    size_t n;
};

struct walk {
    const struct ta_trace *trace;
    struct ta_partial *const *out;
    struct phases phases;
    int64_t origin;
    bool failed;
};

/* ---- records --------------------------------------------------------------------------------- */

/* The number after the prefix of such a counter; TA_MISSING for any other. */
static int64_t device_of(struct ta_slice counter)
{
    const size_t prefix = sizeof TA_MEMORY_COUNTER - 1;
    int64_t device = 0;
    if (counter.len <= prefix || counter.len > prefix + 15 ||
        memcmp(counter.ptr, TA_MEMORY_COUNTER, prefix) != 0)
        return TA_MISSING;
    for (size_t i = prefix; i < counter.len; i++) {
        if (counter.ptr[i] < '0' || counter.ptr[i] > '9')
            return TA_MISSING;
        device = device * 10 + (counter.ptr[i] - '0');
    }
    return device;
}

static int by_time(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int64_t bytes_at(const struct ta_counters *counters, const struct ta_counter_series *series,
                        size_t i)
{
    const double value = counters->value[series->first + i];
    return value >= 0 && value < 9e18 ? ta_whole(value) : TA_MISSING;
}

static bool is_reserved(const struct walk *w, const struct ta_counter_series *series)
{
    return ta_slice_equal(ta_trace_text(w->trace, series->series), TA_LIT("reserved bytes"));
}

/* Whether both are of the same records: the reader makes a sample of each per record. */
static bool are_one(const struct walk *w, const struct ta_counters *counters,
                    const struct ta_counter_series *a, const struct ta_counter_series *b)
{
    return a->track == b->track && a->n == b->n && !is_reserved(w, a) && is_reserved(w, b) &&
           memcmp(counters->ts + a->first, counters->ts + b->first, a->n * sizeof *counters->ts) ==
               0;
}

/* Adds the samples of a series, and of the other series of the same records, or NULL. */
static void add_series(const struct walk *w, const struct ta_counters *counters,
                       const struct ta_counter_series *series,
                       const struct ta_counter_series *other, struct levels *levels)
{
    const bool reserved = is_reserved(w, series);
    for (size_t i = 0; i < series->n; i++) {
        const int64_t bytes = bytes_at(counters, series, i);
        levels->at[levels->n] = (struct record){.time = counters->ts[series->first + i],
                                                .allocated = reserved ? TA_MISSING : bytes,
                                                .reserved = reserved ? bytes
                                                            : other  ? bytes_at(counters, other, i)
                                                                     : TA_MISSING,
                                                .order = levels->n};
        levels->n++;
    }
}

/* Which series is of which device, by device. */
struct series_of {
    int64_t device;
    size_t at;
};

static int by_device(const void *left, const void *right)
{
    const struct series_of *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* The series of all devices; NULL without memory. */
static struct series_of *list_series(const struct walk *w, const struct ta_counters *counters,
                                     size_t *n)
{
    struct series_of *list = calloc(counters->n_series + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; list && i < counters->n_series; i++) {
        const int64_t device = device_of(ta_trace_text(w->trace, counters->series[i].name));
        if (device != TA_MISSING)
            list[(*n)++] = (struct series_of){device, i};
    }
    if (list)
        qsort(list, *n, sizeof *list, by_device);
    return list;
}

/* What a record does not say is what the one before it said. */
static void fill(struct levels *levels)
{
    for (size_t i = 1; i < levels->n; i++) {
        struct record *record = &levels->at[i];
        const struct record *before = record - 1;
        record->allocated = record->allocated == TA_MISSING ? before->allocated : record->allocated;
        record->reserved = record->reserved == TA_MISSING ? before->reserved : record->reserved;
    }
}

/* Reads the series [first, end) of the list. */
static void read_levels(const struct walk *w, const struct ta_counters *counters,
                        const struct series_of *list, size_t first, size_t end,
                        struct levels *levels)
{
    levels->device = list[first].device;
    levels->n = 0;
    for (size_t i = first; i < end; i++) {
        const struct ta_counter_series *series = &counters->series[list[i].at];
        const struct ta_counter_series *next =
            i + 1 < end ? &counters->series[list[i + 1].at] : NULL;
        const bool both = next && are_one(w, counters, series, next);
        add_series(w, counters, series, both ? next : NULL, levels);
        i += both;
    }
    qsort(levels->at, levels->n, sizeof *levels->at, by_time);
    fill(levels);
}

/* The last record at a moment or before it; SIZE_MAX without one. */
static size_t record_at(const struct levels *levels, int64_t time)
{
    size_t low = 0, high = levels->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (levels->at[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : SIZE_MAX;
}

/* ---- between two times ----------------------------------------------------------------------- */

static void add_change(int64_t *row, int64_t before, int64_t after)
{
    if (before == TA_MISSING || after == TA_MISSING || before == after)
        return;
    ta_sum(&row[after > before ? ALLOCATIONS : FREES], 1);
    ta_sum(&row[after > before ? ALLOCATED_BYTES : FREED_BYTES],
           after > before ? after - before : before - after);
}

/* Adds what went on from `start` on, until `end`: the level at its start counts, too. */
static void add_between(const struct levels *levels, int64_t start, int64_t end, int64_t *row)
{
    for (int field = ALLOCATIONS; field <= FREED_BYTES; field++)
        ta_sum(&row[field], 0);
    const size_t before = record_at(levels, start - 1);
    size_t i = before == SIZE_MAX ? 0 : before;
    for (; i < levels->n && levels->at[i].time < end; i++) {
        const struct record *record = &levels->at[i];
        ta_most(&row[PEAK_ALLOCATED], record->allocated);
        ta_most(&row[PEAK_RESERVED], record->reserved);
        row[END_ALLOCATED] = record->allocated;
        if (i > 0 && record->time >= start)
            add_change(row, record[-1].allocated, record->allocated);
    }
}

static void add_steps(struct walk *w, const struct levels *levels)
{
    const struct ta_program_steps *steps = ta_program_steps(w->trace);
    w->failed |= !steps;
    for (size_t i = 0; steps && i < steps->n; i++) {
        const struct ta_program_step *step = &steps->at[i];
        char label_room[TA_STEP_LABEL_ROOM], name_room[TA_STEP_NAME_ROOM];
        const struct ta_slice name = ta_program_step_name(w->trace, steps, i, name_room);
        const struct ta_slice label = ta_step_label(name, step->repeat, label_room);
        int64_t *row =
            TA_PARTIAL_ROW(w->out[STEPS], ta_key_int(ta_trace_rank(w->trace)),
                           ta_key_int(levels->device), ta_key_int((int64_t)i), ta_key_text(label));
        ta_least(&row[START], step->start - w->origin);
        add_between(levels, step->start, step->end, row);
    }
}

static void add_phases(const struct walk *w, const struct levels *levels)
{
    for (size_t i = 0; i < w->phases.n; i++) {
        const struct stretch *phase = &w->phases.at[i];
        int64_t *row = TA_PARTIAL_ROW(w->out[PHASES], ta_key_int(ta_trace_rank(w->trace)),
                                      ta_key_int(levels->device), ta_key_int(phase->phase),
                                      ta_key_text(TA_LIT("")));
        ta_least(&row[START], phase->start - w->origin);
        add_between(levels, phase->start, phase->end, row);
    }
}

/* ---- over time ------------------------------------------------------------------------------- */

static void add_points(const struct walk *w, const struct levels *levels)
{
    const size_t most = levels->n / STRETCHES + 1;
    int64_t stretch = -1, phase = NO_PHASE;
    int64_t *row = NULL;
    for (size_t i = 0, in = 0; i < levels->n; i++, in++) {
        const struct record *record = &levels->at[i];
        const int64_t now = memory_phase_at(&w->phases, record->time);
        if (!row || in == most || now != phase) {
            row = TA_PARTIAL_ROW(w->out[POINTS], ta_key_int(ta_trace_rank(w->trace)),
                                 ta_key_int(levels->device), ta_key_int(++stretch));
            row[TIME] = record->time - w->origin;
            row[PHASE] = phase = now;
            in = 0;
        }
        ta_most(&row[ALLOCATED], record->allocated);
        ta_most(&row[RESERVED], record->reserved);
    }
}

/* ---- map ------------------------------------------------------------------------------------- */

enum ta_status memory_program_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                                  struct ta_partial *const *out)
{
    const struct ta_counters counters = ta_trace_counters(trace);
    struct walk w = {.trace = trace, .out = out, .origin = ta_trace_origin(trace)};
    size_t n;
    struct series_of *list = list_series(&w, &counters, &n);
    struct levels levels = {.at = n ? calloc(counters.n + 1, sizeof *levels.at) : NULL};
    w.failed = !list || (n && (!levels.at || !memory_find_phases(trace, &w.phases)));
    for (size_t first = 0, end, devices = 0; !w.failed && first < n && devices < DEVICES_MOST;
         first = end, devices++) {
        for (end = first + 1; end < n && list[end].device == list[first].device;)
            end++;
        read_levels(&w, &counters, list, first, end, &levels);
        add_points(&w, &levels);
        add_steps(&w, &levels);
        add_phases(&w, &levels);
    }
    free(list);
    free(levels.at);
    free(w.phases.at);
    return w.failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot order the records of memory") : TA_OK;
}
