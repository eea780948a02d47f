/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What FramePack prints, saved as text: the tables of operations, memory and iterations, torch's
 * operator table, and the cache timeline, in any number and order, amid progress bars and whatever
 * else a terminal shows.
 *
 * Fields are taken from the right and by their units: names hold blanks and wide characters, and
 * guides show the same tables with other widths. */
#include "framepack_text.h"

#include <traceanalyze/map.h>
#include <traceanalyze/plugin.h>
#include <traceanalyze/unit.h>

#include <inttypes.h>
#include <stdlib.h>

enum part { NOTHING, TIMING, MEMORY, ITERATIONS, CACHE, OPERATORS };

static const char timing_banner[] = "PROFILING SUMMARY";
static const char memory_banner[] = "MEMORY USAGE SUMMARY";
static const char iterations_banner[] = "ITERATION PROFILING:";
static const char trace_banner[] = "PyTorch Profiler trace exported to:";
static const char no_hits[] = "No cache hits recorded yet.";

struct stages {
    struct ta_timed_stage *at;
    uint32_t *printed; /* in which of the tables */
    size_t n, max;
    struct ta_map of; /* name to its last row */
    uint32_t tables;
};

struct marks {
    struct ta_memory_mark *at;
    size_t n, max;
    size_t before, first; /* where the table before and the present one begin */
};

struct reading {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_quality *quality;
    struct ta_lines *lines;
    enum part part;
    bool saw_row;   /* of the present part */
    unsigned rules; /* of dashes in the present part */
    bool console;   /* more than a cache timeline */
    bool known;     /* something of FramePack was seen */
    struct stages stages;
    struct marks marks;
    struct ta_iterations iterations;
    struct operator_table operators;
    uint64_t kept, dropped;
    enum ta_status status;
};

/* ---- recognizing ------------------------------------------------------------------------- */

static bool is_timeline_header(struct ta_slice line)
{
    static const char *const titles[] = {"Time", "Frame", "Cache", "Details"};
    if (!starts_with(line, "|"))
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

/* The next line of a text, which it is taken from. */
static struct ta_slice next_line(struct ta_slice *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    const struct ta_slice line = {text->ptr, end ? (size_t)(end - text->ptr) : text->len};
    const size_t used = line.len + (end != NULL);
    *text = (struct ta_slice){text->ptr + used, text->len - used};
    return ta_text_trim(line);
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
        const struct ta_slice line = next_line(&head);
        if (is_timeline_header(line) || ta_slice_equal(line, ta_slice_of(no_hits)))
            return 92;
    }
    return 0;
}

/* ---- rows that wait for the end ------------------------------------------------------------- */

static bool grow(void **at, size_t max, size_t size)
{
    void *grown = reallocarray(*at, max, size);
    if (grown)
        *at = grown;
    return grown != NULL;
}

static void no_memory(struct reading *r)
{
    r->status = ta_fail(r->ctx, TA_ERR_NOMEM, "Cannot hold the rows of a printed table");
}

/* The sums of a process grow: a table printed later replaces the rows of one before.  Within a
 * table equal names are different operations, whose ends were cut. */
static void add_stage(struct reading *r, const struct ta_timed_stage *stage)
{
    struct stages *s = &r->stages;
    if (s->n == s->max) {
        const size_t max = s->max ? 2 * s->max : 32;
        if (!grow((void **)&s->at, max, sizeof *s->at) ||
            !grow((void **)&s->printed, max, sizeof *s->printed)) {
            no_memory(r);
            return;
        }
        s->max = max;
    }
    uint64_t *place = ta_map_at(&s->of, stage->name, s->n);
    if (!place) {
        no_memory(r);
        return;
    }
    if (*place == s->n || s->printed[*place] == s->tables)
        *place = s->n++;
    s->at[*place] = *stage;
    s->printed[*place] = s->tables;
}

static void add_mark(struct reading *r, const struct ta_memory_mark *mark)
{
    struct marks *m = &r->marks;
    if (m->n == m->max) {
        const size_t max = m->max ? 2 * m->max : 32;
        if (!grow((void **)&m->at, max, sizeof *m->at)) {
            no_memory(r);
            return;
        }
        m->max = max;
    }
    m->at[m->n++] = *mark;
}

static bool same_mark(const struct ta_memory_mark *a, const struct ta_memory_mark *b)
{
    return a->label == b->label && a->allocated_bytes == b->allocated_bytes &&
           a->reserved_bytes == b->reserved_bytes &&
           a->max_allocated_bytes == b->max_allocated_bytes;
}

/* A table that begins with all rows of the one before is the same list, printed again. */
static void close_marks(struct marks *m)
{
    const size_t n_before = m->first - m->before, n = m->n - m->first;
    bool again = n_before > 0 && n >= n_before;
    for (size_t i = 0; again && i < n_before; i++)
        again = same_mark(&m->at[m->before + i], &m->at[m->first + i]);
    if (again) {
        memmove(m->at + m->before, m->at + m->first, n * sizeof *m->at);
        m->n -= n_before;
    } else {
        m->before = m->first;
    }
    m->first = m->n;
}

/* ---- rows -------------------------------------------------------------------------------- */

static void note_clock(struct reading *r, int64_t ns, struct ta_slice name)
{
    if (ns != TA_MISSING && ns < 0)
        ta_quality_add(r->quality, TA_Q_CLOCK_SET_BACK, r->lines->offset,
                       "\"%.*s\" took a negative time: the clock was set back while it ran",
                       (int)(name.len < 80 ? name.len : 80), name.ptr);
}

/* name, count, total, mean, min, max; the mean is count and total. */
static bool take_timing(struct reading *r, struct ta_slice line)
{
    const struct cells cells = split_from_right(line, 1, 6);
    if (cells.n != 6)
        return false;
    const int64_t calls = ta_text_integer(cells.at[1]), mean = time_of(cells.at[3]);
    const struct ta_timed_stage stage = {.rank = TA_MISSING,
                                         .name = ta_builder_string(r->builder, cells.at[0]),
                                         .calls = calls,
                                         .total_ns = time_of(cells.at[2]),
                                         .min_ns = time_of(cells.at[4]),
                                         .max_ns = time_of(cells.at[5]),
                                         .last_ns = TA_MISSING,
                                         .median_ns = TA_MISSING,
                                         .device_ns = TA_MISSING,
                                         .step = TA_MISSING,
                                         .exception = TA_STR_ABSENT};
    if (calls == TA_MISSING || calls < 0 || stage.total_ns == TA_MISSING || mean == TA_MISSING ||
        stage.min_ns == TA_MISSING || stage.max_ns == TA_MISSING)
        return false;
    note_clock(r, stage.min_ns < 0 ? stage.min_ns : stage.total_ns, cells.at[0]);
    add_stage(r, &stage);
    return true;
}

/* "1024.5M" or "1024.5MB" to bytes. */
static int64_t mib_of(struct ta_slice cell)
{
    static const char *const units[] = {"M", "MB", "MiB"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i]);
        if (cell.len > n && memcmp(cell.ptr + cell.len - n, units[i], n) == 0) {
            const int64_t bytes = ta_text_mib((struct ta_slice){cell.ptr, cell.len - n});
            if (bytes >= 0)
                return bytes;
        }
    }
    return TA_MISSING;
}

static bool take_memory(struct reading *r, struct ta_slice line)
{
    const struct cells cells = split_from_right(line, 1, 4);
    if (cells.n != 4)
        return false;
    const struct ta_memory_mark mark = {.rank = TA_MISSING,
                                        .label = ta_builder_string(r->builder, cells.at[0]),
                                        .device = TA_MISSING,
                                        .time_ns = TA_MISSING,
                                        .allocated_bytes = mib_of(cells.at[1]),
                                        .reserved_bytes = mib_of(cells.at[2]),
                                        .max_allocated_bytes = mib_of(cells.at[3]),
                                        .max_reserved_bytes = TA_MISSING,
                                        .total_bytes = TA_MISSING,
                                        .ooms = TA_MISSING,
                                        .retries = TA_MISSING};
    if (mark.allocated_bytes == TA_MISSING || mark.reserved_bytes == TA_MISSING ||
        mark.max_allocated_bytes == TA_MISSING)
        return false;
    add_mark(r, &mark);
    return true;
}

/* A figure that FramePack or torch worked out from numbers more exact than the printed ones. */
static void add_figure(struct reading *r, ta_str name, const char *group, double value,
                       enum ta_unit unit)
{
    const struct ta_figure figure = {
        .rank = TA_MISSING,
        .name = name,
        .group = ta_builder_string(r->builder, ta_slice_of(group)),
        .value = value,
        .unit = (int)unit,
    };
    if (r->status == TA_OK)
        r->status = ta_builder_add_figure(r->ctx, r->builder, &figure);
}

/* "0.024s (41.21 it/s)": the rate. */
static void take_rate(struct reading *r, struct ta_slice value)
{
    const char *open = memchr(value.ptr, '(', value.len);
    const char *end = open ? memmem(open, value.len - (size_t)(open - value.ptr), "it/s", 4) : NULL;
    if (!end)
        return;
    const double rate =
        ta_text_double(ta_text_trim((struct ta_slice){open + 1, (size_t)(end - open - 1)}));
    if (rate >= 0)
        add_figure(r, ta_builder_string(r->builder, TA_LIT("iterations_per_s")), "iterations", rate,
                   TA_UNIT_PER_S);
}

/* A figure of a known line that cannot be read is missing. */
static bool note_figure(struct reading *r, int64_t figure)
{
    if (figure == TA_MISSING)
        ta_quality_add(r->quality, TA_Q_BAD_NUMBER, r->lines->offset,
                       "A figure of the iterations is no number, at byte offset %" PRIu64,
                       r->lines->offset);
    return true;
}

static bool take_iteration_line(struct reading *r, struct ta_slice line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon)
        return false;
    const struct ta_slice value =
        ta_text_trim((struct ta_slice){colon + 1, line.len - (size_t)(colon + 1 - line.ptr)});
    const struct {
        const char *title;
        int64_t *ns;
    } times[] = {{"Total time", &r->iterations.total_ns},
                 {"Min time", &r->iterations.min_ns},
                 {"Max time", &r->iterations.max_ns},
                 {"Median time", &r->iterations.median_ns}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (starts_with(line, times[i].title)) {
            *times[i].ns = time_of(value);
            return note_figure(r, *times[i].ns);
        }
    if (starts_with(line, "Mean time")) {
        take_rate(r, value);
        return true;
    }
    if (!starts_with(line, "Total iterations"))
        return false;
    r->iterations.count = ta_text_integer(value);
    return note_figure(r, r->iterations.count);
}

/* "| 0.37 | 11 | teacache | step: 4 |"; what is behind the third bar are details, bars and all. */
static bool take_hit(struct reading *r, struct ta_slice line)
{
    struct ta_slice cells[4];
    line = (struct ta_slice){line.ptr + 1, line.len - 1};
    for (size_t i = 0; i < 3; i++) {
        const char *bar = memchr(line.ptr, '|', line.len);
        if (!bar)
            return false;
        cells[i] = ta_text_trim((struct ta_slice){line.ptr, (size_t)(bar - line.ptr)});
        line = (struct ta_slice){bar + 1, line.len - (size_t)(bar + 1 - line.ptr)};
    }
    line = ta_text_trim(line);
    if (line.len && line.ptr[line.len - 1] == '|')
        line.len--;
    cells[3] = ta_text_trim(line);
    const bool has_details = cells[3].len && !ta_slice_equal(cells[3], TA_LIT("-"));
    const struct ta_cache_hit hit = {
        .rank = TA_MISSING,
        .cache = ta_builder_string(r->builder, cells[2]),
        .details = has_details ? ta_builder_string(r->builder, cells[3]) : TA_STR_ABSENT,
        .video_ns = ta_text_decimal(cells[0], 9),
        .frame = ta_text_integer(cells[1]),
    };
    if (hit.video_ns == TA_MISSING || cells[2].len == 0)
        return false;
    r->status = ta_builder_add_cache_hit(r->ctx, r->builder, &hit);
    return true;
}

static bool take_operator(struct reading *r, struct ta_slice line)
{
    struct ta_operator_sum row;
    if (!operator_row(r->builder, &r->operators, line, &row))
        return false;
    r->status = ta_builder_add_operator_sum(r->ctx, r->builder, &row);
    return true;
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

static void begin_iterations(struct reading *r, struct ta_slice line)
{
    begin_part(r, ITERATIONS);
    const char *colon = memchr(line.ptr, ':', line.len);
    const struct ta_slice name =
        ta_text_trim((struct ta_slice){colon + 1, line.len - (size_t)(colon + 1 - line.ptr)});
    r->iterations = (struct ta_iterations){
        .rank = TA_MISSING,
        .name = ta_builder_string(r->builder, name.len ? name : TA_LIT("iterations")),
        .count = TA_MISSING,
        .total_ns = TA_MISSING,
        .min_ns = TA_MISSING,
        .max_ns = TA_MISSING,
        .median_ns = TA_MISSING,
    };
}

/* Whether the line begins a part. */
static bool take_banner(struct reading *r, struct ta_slice line)
{
    struct operator_table table;
    if (starts_with(line, timing_banner)) {
        begin_part(r, TIMING);
        r->stages.tables++;
    } else if (starts_with(line, memory_banner)) {
        begin_part(r, MEMORY);
    } else if (starts_with(line, iterations_banner)) {
        begin_iterations(r, line);
    } else if (is_timeline_header(line)) {
        begin_part(r, CACHE);
    } else if (starts_with(line, "Name") && operator_header(line, &table)) {
        begin_part(r, OPERATORS);
        r->operators = table;
    } else {
        r->known = r->known || starts_with(line, trace_banner) ||
                   ta_slice_equal(line, ta_slice_of(no_hits));
        return false;
    }
    return true;
}

/* Below a table torch writes the sum over all operators, printed or not. */
static void take_footer(struct reading *r, struct ta_slice line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon || !starts_with(line, "Self ") || !contains(line, " time total:"))
        return;
    const struct ta_slice value =
        ta_text_trim((struct ta_slice){colon + 1, line.len - (size_t)(colon + 1 - line.ptr)});
    const int64_t ns = time_of(value);
    if (ns == TA_MISSING)
        return;
    const struct ta_slice name = starts_with(line, "Self CPU") ? TA_LIT("self_cpu_total_ns")
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
    case OPERATORS:
        return take_operator(r, line);
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
        return !starts_with(line, "|");
    if (is_rule(line, '-', 3))
        return ++r->rules == 2;
    return in_rows(r) && (line.len == 0 || is_rule(line, '=', 3));
}

static void take_line(struct reading *r, struct ta_slice line)
{
    if (take_banner(r, line))
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
    } else if (!is_decoration(r, line) && !(r->part == OPERATORS && r->operators.has_source)) {
        r->dropped++;
        ta_quality_add(r->quality, TA_Q_BAD_RECORD, r->lines->offset,
                       "A line in a table is no row of it, at byte offset %" PRIu64,
                       r->lines->offset);
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
    if (!r.lines)
        return ta_ctx_status(ctx);
    enum ta_status status = read_lines(&r);
    if (status == TA_OK)
        status = judge(&r);
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
