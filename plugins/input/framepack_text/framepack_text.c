/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What FramePack prints, saved as text: the tables of operations, memory and iterations, torch's
 * operator table, and the cache timeline, in any number and order, amid progress bars and whatever
 * else a terminal shows.
 *
 * Fields are taken from the right and by their units: names hold blanks and wide characters, and
 * guides show the same tables with other widths. */
#include "parse/text/lines.h"
#include "reading.h"

#include <traceanalyze/plugin.h>
#include <traceanalyze/report.h>

#include <inttypes.h>
#include <stdlib.h>

static const char timing_banner[] = "PROFILING SUMMARY";
static const char memory_banner[] = "MEMORY USAGE SUMMARY";
static const char iterations_banner[] = "ITERATION PROFILING:";
static const char trace_banner[] = "PyTorch Profiler trace exported to:";
static const char no_hits[] = "No cache hits recorded yet.";

/* ---- recognizing ------------------------------------------------------------------------- */

static bool is_timeline_header(struct ta_slice line)
{
    static const char *const titles[] = {"Time", "Frame", "Cache", "Details"};
    if (!ta_slice_starts(line, "|"))
        return false;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        const char *at = memmem(line.ptr, line.len, titles[i], strlen(titles[i]));
        if (!at)
            return false;
        line.len -= (size_t)(at - line.ptr);
        line.ptr = at;
    }
    return true;
}

static int sniff(const struct ta_probe *probe)
{
    struct ta_slice head = probe->head;
    if (contains(head, "PROFILING SUMMARY - Top Operations"))
        return 93;
    if (contains(head, memory_banner) || contains(head, iterations_banner))
        return 91;
    if (contains(head, trace_banner))
        return 87;
    while (head.len) {
        const struct ta_slice line = ta_text_trim(ta_text_line(&head));
        if (is_timeline_header(line) || ta_slice_equal(line, ta_slice_of(no_hits)))
            return 92;
    }
    return 0;
}

/* ---- parts ------------------------------------------------------------------------------- */

static void end_part(struct reading *r)
{
    if (r->part == MEMORY)
        close_marks(&r->marks);
    if (r->part == ITERATIONS && r->status == TA_OK &&
        (r->iterations.count != TA_MISSING || r->iterations.total_ns != TA_MISSING)) {
        r->kept++;
        r->status = ta_builder_add_iterations(r->ctx, r->builder, &r->iterations);
    }
    r->part = NOTHING;
}

static void begin_part(struct reading *r, enum part part)
{
    end_part(r);
    r->part = part;
    r->saw_row = false;
    r->rules = 0;
    r->known = true;
    r->console = r->console || part != CACHE;
}

/* Whether the line begins a part. */
static bool take_banner(struct reading *r, struct ta_slice line)
{
    if (ta_slice_starts(line, timing_banner)) {
        begin_part(r, TIMING);
        r->stages.tables++;
    } else if (ta_slice_starts(line, memory_banner)) {
        begin_part(r, MEMORY);
    } else if (ta_slice_starts(line, iterations_banner)) {
        begin_part(r, ITERATIONS);
        const char *colon = memchr(line.ptr, ':', line.len);
        const struct ta_slice name =
            ta_text_trim((struct ta_slice){colon + 1, line.len - (size_t)(colon + 1 - line.ptr)});
        r->iterations = ta_unknown_iterations();
        r->iterations.name = ta_builder_string(r->builder, name.len ? name : TA_LIT("iterations"));
    } else if (is_timeline_header(line)) {
        begin_part(r, CACHE);
    } else {
        r->known = r->known || ta_slice_starts(line, trace_banner) ||
                   ta_slice_equal(line, ta_slice_of(no_hits));
        return false;
    }
    return true;
}

/* Below a table torch writes the sum over all operators, printed or not; a console may have lost
 * the table. */
static void take_footer(struct reading *r, struct ta_slice line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon || !ta_slice_starts(line, "Self ") || !contains(line, " time total:"))
        return;
    const struct ta_slice value =
        ta_text_trim((struct ta_slice){colon + 1, line.len - (size_t)(colon + 1 - line.ptr)});
    const int64_t ns = time_of(value);
    if (ns == TA_MISSING)
        return;
    const struct ta_slice name = ta_slice_starts(line, "Self CPU") ? TA_LIT("self_cpu_total_ns")
                                                                   : TA_LIT("self_device_total_ns");
    add_figure(r, ta_builder_string(r->builder, name), "operators", (double)ns, TA_UNIT_NS);
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

/* What stands between banner and rows, or within a table without being a part of it. */
static bool is_decoration(const struct reading *r, struct ta_slice line)
{
    if (is_rule(line, '-', 3) || is_rule(line, '=', 3))
        return true;
    if (r->part == TIMING || r->part == MEMORY || r->part == ITERATIONS) {
        /* Titles, and bars of progress that another stream wrote in between. */
        return !in_rows(r) || contains(line, "it/s") || contains(line, "s/it") ||
               contains(line, "%|");
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

static void drop_line(struct reading *r)
{
    r->dropped++;
    ta_quality_add(r->quality, TA_Q_BAD_RECORD, r->lines->offset,
                   "A line in a table is no row of it, at byte offset %" PRIu64, r->lines->offset);
}

/* Whether the line belongs to a table of torch's operators, which ends any part of ours. */
static bool take_operators(struct reading *r, struct ta_slice line)
{
    switch (ta_operator_tables_take(r->operators, line)) {
    case TA_OPERATOR_LINE_HEADS:
        begin_part(r, NOTHING);
        return true;
    case TA_OPERATOR_LINE_ROW:
        r->kept++;
        return true;
    case TA_OPERATOR_LINE_TOTAL:
        take_footer(r, line);
        return true;
    case TA_OPERATOR_LINE_BAD:
        drop_line(r);
        return true;
    case TA_OPERATOR_LINE_PART:
        return true;
    case TA_OPERATOR_LINE_OTHER:
        break;
    }
    return false;
}

static void take_line(struct reading *r, struct ta_slice line)
{
    if (take_banner(r, line)) {
        ta_operator_tables_close(r->operators);
        return;
    }
    if (take_operators(r, line))
        return;
    if (r->part == NOTHING || is_end(r, line)) {
        if (r->part == NOTHING)
            take_footer(r, line);
        else
            end_part(r);
        return;
    }
    if (line.len == 0)
        return;
    if (take_row(r, line)) {
        r->saw_row = true;
        r->kept += r->part != ITERATIONS;
    } else if (!is_decoration(r, line)) {
        drop_line(r);
    }
}

/* ---- the file ---------------------------------------------------------------------------- */

/* Of a bar of progress the last state: each one overwrites the line. */
static struct ta_slice as_seen(struct ta_slice line)
{
    while (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    const char *at = line.len ? memrchr(line.ptr, '\r', line.len) : NULL;
    if (at)
        line = (struct ta_slice){at + 1, line.len - (size_t)(at + 1 - line.ptr)};
    return ta_text_trim(line);
}

static enum ta_status read_lines(struct reading *r)
{
    while (r->status == TA_OK && ta_lines_next(r->lines)) {
        take_line(r, as_seen(r->lines->line));
        if (ta_ctx_canceled(r->ctx))
            return ta_fail(r->ctx, TA_ERR_CANCELED, "Interrupted");
    }
    if (r->status == TA_OK)
        end_part(r);
    for (size_t i = 0; r->status == TA_OK && i < r->stages.n; i++)
        r->status = ta_builder_add_stage(r->ctx, r->builder, &r->stages.at[i]);
    for (size_t i = 0; r->status == TA_OK && i < r->marks.n; i++)
        r->status = ta_builder_add_memory_mark(r->ctx, r->builder, &r->marks.at[i]);
    if (r->status == TA_OK)
        r->status = ta_operator_tables_add(r->operators);
    return r->status;
}

static enum ta_status judge(struct reading *r)
{
    ta_builder_count(r->builder, r->kept, 0, r->dropped);
    ta_builder_set_copy(r->builder, TA_LIT("framepack"),
                        r->console ? TA_EXACT_CONSOLE : TA_EXACT_TEXT);
    if (r->kept)
        return TA_OK;
    if (!r->known)
        return ta_fail(r->ctx, TA_ERR_INPUT,
                       "Text, but none of FramePack's tables: no line begins with \"%s\", \"%s\" "
                       "or \"%s\"",
                       timing_banner, memory_banner, iterations_banner);
    if (r->dropped)
        return ta_fail(r->ctx, TA_ERR_INPUT, "No usable row: %" PRIu64 " were dropped", r->dropped);
    ta_quality_add(r->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "Its tables are empty");
    return TA_OK;
}

static enum ta_status read_text(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    struct reading r = {.ctx = ctx, .builder = builder, .quality = ta_reader_quality(reader)};
    r.lines = ta_lines_new(ctx, reader);
    r.operators = ta_operator_tables_new(ctx, builder);
    enum ta_status status = r.lines && r.operators ? read_lines(&r) : ta_ctx_status(ctx);
    if (status == TA_OK)
        status = judge(&r);
    ta_operator_tables_free(r.operators);
    ta_lines_free(r.lines);
    ta_map_free(&r.stages.of);
    free(r.stages.at);
    free(r.stages.printed);
    free(r.marks.at);
    return status;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_text};

TA_PLUGIN(input, framepack_text, &ops, .title = "FramePack console",
          .summary = "Tables that FramePack prints, saved as text: operations, memory, iterations, "
                     "torch's operators, cache timeline",
          .version = "1");
