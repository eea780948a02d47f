/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What FramePack prints: the tables of operations, memory and iterations, and the cache timeline,
 * in any number and order, amid bars of progress and whatever else a terminal shows.
 *
 * Fields are taken from the right and by their units: names hold blanks and wide characters, and
 * guides show the same tables with other widths.  The lines of a table are read with what looks
 * like a prefix unless its banner has one: labels may begin so ("1: after load"). */
#include "base/vec.h"
#include "parse/log/pieces.h"
#include "reading.h"

#include <traceanalyze/log.h>
#include <traceanalyze/report.h>

#include <inttypes.h>
#include <stdlib.h>

static const char timing_banner[] = "PROFILING SUMMARY";
static const char memory_banner[] = "MEMORY USAGE SUMMARY";
static const char iterations_banner[] = "ITERATION PROFILING:";
static const char trace_banner[] = "PyTorch Profiler trace exported to:";
static const char no_hits[] = "No cache hits recorded yet.";
static const char total_label[] = " time total:";

static bool is_timeline_header(struct ta_slice line)
{
    static const char *const titles[] = {"Time", "Frame", "Cache", "Details"};
    if (!ta_slice_starts(line, "|"))
        return false;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        line = ta_log_after(line, titles[i]);
        if (!line.ptr)
            return false;
    }
    return true;
}

/* ---- parts ------------------------------------------------------------------------------- */

static void end_part(struct reading *r)
{
    if (r->part == MEMORY)
        close_marks(&r->marks);
    if (r->part == ITERATIONS &&
        (r->iterations.count != TA_MISSING || r->iterations.total_ns != TA_MISSING))
        ta_log_add_iterations(r->log, &r->iterations);
    r->part = NOTHING;
}

static void begin_part(struct reading *r, enum part part, const struct ta_log_line *line)
{
    end_part(r);
    r->part = part;
    r->is_prefixed = line->text.len < line->whole.len;
    r->saw_row = false;
    r->rules = 0;
    r->known = true;
    r->console = r->console || part != CACHE;
}

/* Whether the line begins a part. */
static bool take_banner(struct reading *r, const struct ta_log_line *line)
{
    const struct ta_slice text = line->text;
    if (ta_slice_starts(text, timing_banner)) {
        begin_part(r, TIMING, line);
        r->stages.tables++;
    } else if (ta_slice_starts(text, memory_banner)) {
        begin_part(r, MEMORY, line);
    } else if (ta_slice_starts(text, iterations_banner)) {
        begin_part(r, ITERATIONS, line);
        const struct ta_slice name = ta_text_trim(ta_log_after(text, ":"));
        r->iterations = ta_unknown_iterations();
        r->iterations.rank = r->rank;
        r->iterations.name = ta_log_string(r->log, name.len ? name : TA_LIT("iterations"));
    } else if (is_timeline_header(text)) {
        begin_part(r, CACHE, line);
    } else {
        return false;
    }
    return true;
}

/* Below a table torch writes the sum over all operators, printed or not; a console may have lost
 * the table.  What it is of is known when all is read. */
static void note_footer(struct reading *r, struct ta_slice line)
{
    const struct ta_slice value = ta_log_after(line, total_label);
    const int64_t ns =
        value.ptr && ta_slice_starts(line, "Self ") ? time_of(ta_text_trim(value)) : TA_MISSING;
    if (ns == TA_MISSING)
        return;
    const struct ta_slice name = ta_slice_starts(line, "Self CPU") ? TA_LIT("self_cpu_total_ns")
                                                                   : TA_LIT("self_device_total_ns");
    if (!ta_vec_push(&r->footers, ((struct footer){ta_log_string(r->log, name), ns})))
        r->log->status =
            ta_fail(r->log->ctx, TA_ERR_NOMEM, "Cannot hold the rows of a printed table");
}

static bool take_row(struct reading *r, struct ta_slice line)
{
    switch (r->part) {
    case TIMING:
        return take_timing(r, line);
    case MEMORY:
        return take_memory(r, line);
    case ITERATIONS:
        return take_iteration_line(r, line);
    case CACHE:
        return take_hit(r, line);
    case NOTHING:
        break;
    }
    return false;
}

/* Below the rule under the titles; a guide may leave that out. */
static bool in_rows(const struct reading *r)
{
    return r->saw_row || r->rules > 0;
}

/* Lines between banner and rows, or within a table without being a part of it. */
static bool is_decoration(const struct reading *r, struct ta_slice line)
{
    if (is_rule(line, '-', 3) || is_rule(line, '=', 3))
        return true;
    if (r->part == TIMING || r->part == MEMORY || r->part == ITERATIONS) {
        return !in_rows(r); /* titles */
    }
    return r->part == CACHE && contains(line, "---");
}

/* A rule or an empty line below rows: the end of a table. */
static bool is_end(struct reading *r, struct ta_slice line)
{
    if (r->part == CACHE)
        return !ta_slice_starts(line, "|");
    if (is_rule(line, '-', 3))
        return ++r->rules == 2;
    return in_rows(r) && (line.len == 0 || is_rule(line, '=', 3));
}

/* A line of the present part. */
static enum ta_log_taken take_in_part(struct reading *r, struct ta_slice line)
{
    if (is_end(r, line)) {
        end_part(r);
        return TA_LOG_NOT_MINE;
    }
    if (line.len == 0)
        return TA_LOG_MORE;
    if (take_row(r, line)) {
        r->saw_row = true;
        r->log->kept += r->part != ITERATIONS;
        return TA_LOG_MORE;
    }
    if (is_decoration(r, line))
        return TA_LOG_SHARED;
    return TA_LOG_BAD;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct reading *r = state;
    r->log = log;
    r->rank = line->rank;
    r->offset = line->offset;
    if (take_banner(r, line))
        return TA_LOG_MORE;
    note_footer(r, line->text);
    if (ta_slice_starts(line->text, trace_banner) ||
        ta_slice_equal(line->text, ta_slice_of(no_hits))) {
        r->known = true;
        return r->part == NOTHING ? TA_LOG_TAKEN : TA_LOG_MORE;
    }
    if (r->part == NOTHING)
        return TA_LOG_NOT_MINE;
    return take_in_part(r, r->is_prefixed ? line->text : line->whole);
}

static void end(struct ta_log_reading *log, void *state)
{
    struct reading *r = state;
    r->log = log;
    r->rank = TA_MISSING;
    end_part(r);
    for (size_t i = 0; log->status == TA_OK && i < r->stages.n; i++)
        log->status = ta_builder_add_stage(log->ctx, log->builder, &r->stages.at[i]);
    for (size_t i = 0; log->status == TA_OK && i < r->marks.n; i++)
        log->status = ta_builder_add_memory_mark(log->ctx, log->builder, &r->marks.at[i]);
    for (size_t i = 0; r->known && i < r->footers.n; i++)
        add_figure(r, r->footers.at[i].name, "operators", (double)r->footers.at[i].ns, TA_UNIT_NS);
    const uint32_t tables = TA_DUMP_BIT(stage) | TA_DUMP_BIT(memory_mark) |
                            TA_DUMP_BIT(iterations) | TA_DUMP_BIT(cache_hit) | TA_DUMP_BIT(figure) |
                            TA_DUMP_BIT(operator_sum);
    if (r->known)
        ta_log_set_copy(log, tables, TA_LIT("framepack"),
                        r->console ? TA_EXACT_CONSOLE : TA_EXACT_TEXT);
    log->is_known |= r->known;
    ta_map_free(&r->stages.of);
    free(r->stages.at);
    free(r->stages.printed);
    free(r->marks.at);
    free(r->footers.at);
}

static const char *const marks[] = {timing_banner, memory_banner, iterations_banner,
                                    trace_banner,  no_hits,       total_label,
                                    "| Details",   "|Details",    NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct reading), .take = take, .end = end};

TA_PLUGIN(log, framepack, &ops, .title = "FramePack",
          .summary = "Tables that FramePack prints: operations, memory, iterations, cache timeline",
          .version = "1");
