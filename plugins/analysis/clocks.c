/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.clocks: where the files of a rank lie on one time axis, as far as their clocks allow.
 * Clocks with a date (Unix time, or a trace that names its base) share an axis.  Times of an
 * unrelated clock, and samples without timestamps, have no place on it: such a row has no start. */
#include "model/allocator.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <stdlib.h>

enum { RANK, FILE_KEY, PATH, CLOCK, START, END, FIELDS };

/* If a file has several kinds of times, the best one is used. */
enum clock { CLOCK_RELATIVE, CLOCK_OWN, CLOCK_DATE };

static const char *const clock_names[] = {
    [CLOCK_RELATIVE] = "relative", [CLOCK_OWN] = "own", [CLOCK_DATE] = "date"};

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},     [FILE_KEY] = {"file", TA_FIELD_FILE},
    [PATH] = {"path", TA_FIELD_TEXT},     [CLOCK] = {"clock", TA_FIELD_MAX},
    [START] = {"start_ns", TA_FIELD_MIN}, [END] = {"end_ns", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {{"clocks", fields, FIELDS}, {0}};

enum { CLOCKS_RANK, CLOCKS_PATH, CLOCKS_CLOCK, CLOCKS_START, CLOCKS_END };
static const struct ta_column clocks_table_columns[] = {
    [CLOCKS_RANK] = TA_RANK_COLUMN_OF("Rank of the file"),
    [CLOCKS_PATH] = {"path", "File", TA_TEXT, .role = TA_NOTE,
                     .doc = "Path of the file, relative to the input"},
    [CLOCKS_CLOCK] = {"clock", "Clock", TA_TEXT,
                      .doc = "date: Unix time, on one axis with all other files of this kind; own: "
                             "counted from an unknown moment; relative: samples without "
                             "timestamps, of which only order and spacing are known"},
    [CLOCKS_START] = {"start_ns", "Start", TA_NS, .role = TA_IN_SERIES,
                      .doc = "First time in the file, counted from the first time in the rank's "
                             "first file; empty if the file has another clock"},
    [CLOCKS_END] = {"end_ns", "End", TA_NS,
                    .doc = "Last time in the file on the same axis; empty for a trace"},
};

static const struct ta_table_def clocks_table = {
    "run.clocks", "File clocks", TA_COLUMNS(clocks_table_columns),
    .doc = "One row per file that has times, if a rank has several: its place on the rank's time "
           "axis. A file that has none is also reported by a finding `unaligned`.",
    .tier = TA_TIER_DETAIL};

/* ---- map ----------------------------------------------------------------------------------- */

static void note(int64_t *row, int64_t time_ns)
{
    if (time_ns == TA_MISSING)
        return;
    ta_most(&row[CLOCK], CLOCK_DATE);
    ta_least(&row[START], time_ns);
    ta_most(&row[END], time_ns);
}

#define NOTE_ALL(trace, kind, field, row)                                                          \
    do {                                                                                           \
        size_t n_rows;                                                                             \
        const __auto_type rows = ta_trace_##kind##_rows((trace), &n_rows);                         \
        for (size_t i = 0; i < n_rows; i++)                                                        \
            note((row), rows[i].field);                                                            \
    } while (0)

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    int64_t times[FIELDS] = {[CLOCK] = TA_MISSING, [START] = TA_MISSING, [END] = TA_MISSING};
    const int64_t origin = ta_trace_origin(trace), base = ta_trace_base_ns(trace);
    if (ta_trace_file(trace).events != 0 && origin != TA_MISSING) {
        const bool dated = base != TA_MISSING || origin >= TA_DATED_FROM_NS;
        ta_most(&times[CLOCK], dated ? CLOCK_DATE : CLOCK_OWN);
        if (dated)
            ta_least(&times[START], base == TA_MISSING ? origin : ta_add_sat(base, origin));
    }
    struct ta_samples samples = ta_trace_samples(trace);
    while (ta_samples_next(&samples))
        if (samples.sample.relative)
            ta_most(&times[CLOCK], CLOCK_RELATIVE);
        else
            note(times, samples.sample.time_ns);
    NOTE_ALL(trace, diffusion_step, end_ns, times);
    NOTE_ALL(trace, diffusion_block, end_ns, times);
    NOTE_ALL(trace, memory_mark, time_ns, times);
    NOTE_ALL(trace, session, start_ns, times);
    NOTE_ALL(trace, session, end_ns, times);
    NOTE_ALL(trace, happening, time_ns, times);
    const struct ta_allocator *allocator = ta_trace_allocator(trace);
    for (size_t i = 0; allocator && i < allocator->n_events; i++)
        note(times, allocator->events[i].time_ns);
    if (times[CLOCK] == TA_MISSING)
        return TA_OK;
    int64_t *row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)), ta_row_file(trace),
                                  ta_key_text(ta_slice_of(ta_trace_file(trace).path)));
    memcpy(row + CLOCK, times + CLOCK, (FIELDS - CLOCK) * sizeof *row);
    return TA_OK;
}

/* ---- finish -------------------------------------------------------------------------------- */

static struct ta_cell since(int64_t time_ns, int64_t first_ns)
{
    return time_ns == TA_MISSING ? ta_null() : ta_int(ta_add_sat(time_ns, -first_ns));
}

/* Only ranks with several files need an alignment. */
static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *clocks = merged[0];
    const size_t n = ta_partial_rows(clocks);

    for (size_t first = 0, end; first < n; first = end) {
        int64_t first_ns = TA_MISSING;
        end = ta_partial_group_end(clocks, first, RANK);
        for (size_t i = first; i < end; i++)
            ta_least(&first_ns, ta_partial_at(clocks, i)[START]);
        for (size_t i = first; end - first > 1 && i < end; i++) {
            const int64_t *row = ta_partial_at(clocks, i);
            TA_ROW(out, clocks_table, [CLOCKS_RANK] = ta_int(row[RANK]),
                   [CLOCKS_PATH] = ta_text(ta_partial_text(clocks, row, PATH)),
                   [CLOCKS_CLOCK] = ta_text(ta_slice_of(clock_names[row[CLOCK]])),
                   [CLOCKS_START] = since(row[START], first_ns),
                   [CLOCKS_END] = since(row[END], first_ns));
        }
    }
    return TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, CLOCK, CLOCK_DATE + 1}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&clocks_table, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "run",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, clocks, &ops, .title = "Files and events",
          .summary = "How the files of a rank align on one time axis: run.clocks", .version = "1");
