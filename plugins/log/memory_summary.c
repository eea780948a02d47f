/* SPDX-License-Identifier: GPL-3.0-or-later */
/* torch.cuda.memory_summary(): a table of 77 columns per device, whose numbers are cut to a unit
 * of their own each, so that one row may mix units.
 *
 *     |                  PyTorch CUDA memory summary, device ID 0                 |
 *     |            CUDA OOMs: 2            |        cudaMalloc retries: 5         |
 *     | Allocated memory      |  243201 KB |    1 GiB   |     915 MB |  694350 KB | */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CUR = 1, PEAK, CELLS = 5 };

#define TITLE "memory summary, device ID"

/* A table that has begun, and where. */
struct open_table {
    struct ta_memory_mark mark;
    uint64_t number, offset;
};

/* Lines of several ranks lie between each other: each has a table of its own. */
struct state {
    struct open_table *open;
    size_t n, max;
    int64_t allocated_bytes, max_allocated_bytes; /* of the last one that was added */
    bool has_any;
};

/* ---- cells ----------------------------------------------------------------------------------- */

/* "| a | b |" into cells without blanks around them. */
static size_t split(struct ta_slice line, struct ta_slice cells[CELLS])
{
    size_t n = 0;
    if (line.len == 0 || line.ptr[0] != '|')
        return 0;
    for (size_t at = 1; at < line.len && n < CELLS;) {
        const char *bar = memchr(ta_slice_at(line, at), '|', line.len - at);
        if (!bar)
            break;
        const size_t end = (size_t)(bar - line.ptr);
        cells[n++] = ta_text_trim(ta_slice_part(line, at, end));
        at = end + 1;
    }
    return n;
}

/* The whole number after a label. */
static int64_t number_after(struct ta_slice text, const char *label)
{
    const struct ta_slice number = ta_log_after(text, label);
    return number.ptr ? ta_text_integer(number) : TA_MISSING;
}

/* A number with its unit, "-4.50 Kb", "915 MiB", as bytes; all units count in steps of 1024,
 * whatever they are called. */
static int64_t bytes_of(struct ta_slice cell)
{
    static const char steps[] = "KMGTPE";
    size_t n = 0;
    while (n < cell.len && memchr("+-.0123456789", cell.ptr[n], 13))
        n++;
    const struct ta_slice unit = ta_text_trim(ta_slice_from(cell, n));
    const char *step = unit.len ? memchr(steps, unit.ptr[0], sizeof steps - 1) : NULL;
    if (!step && (unit.len != 1 || (unit.ptr[0] | 0x20) != 'b'))
        return TA_MISSING;
    const double scale = step ? ldexp(1, 10 * (int)(step - steps + 1)) : 1;
    const double bytes = ta_text_double(ta_slice_part(cell, 0, n)) * scale;
    return fabs(bytes) < 0x1p62 ? ta_whole(round(bytes)) : TA_MISSING; /* NAN is not smaller */
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void close_table(struct ta_log_reading *log, struct state *st, struct open_table *table)
{
    const struct ta_memory_mark mark = table->mark;
    if (mark.allocated_bytes == TA_MISSING && mark.reserved_bytes == TA_MISSING) {
        log->dropped++;
        ta_quality_add(log->quality, TA_Q_BAD_RECORD, table->offset,
                       "A memory summary has no rows: line %" PRIu64 ", at byte offset %" PRIu64,
                       table->number, table->offset);
    } else {
        ta_log_add_memory_mark(log, &mark);
        st->has_any = true;
        st->allocated_bytes = mark.allocated_bytes;
        st->max_allocated_bytes = mark.max_allocated_bytes;
    }
}

static struct open_table *find_table(struct state *st, int64_t rank)
{
    for (size_t i = 0; i < st->n; i++)
        if (st->open[i].mark.rank == rank)
            return &st->open[i];
    return NULL;
}

/* A table begins, and the one before it of the rank ends.  False without memory. */
static bool begin_table(struct ta_log_reading *log, struct state *st,
                        const struct ta_log_line *line, int64_t device)
{
    struct open_table *table = find_table(st, line->rank);
    if (table) {
        close_table(log, st, table);
    } else {
        if (st->n == st->max) {
            const size_t max = st->max ? 2 * st->max : 8;
            struct open_table *grown = reallocarray(st->open, max, sizeof *grown);
            if (!grown)
                return false;
            st->open = grown;
            st->max = max;
        }
        table = &st->open[st->n++];
    }
    *table = (struct open_table){ta_unknown_memory_mark(), line->number, line->offset};
    table->mark.rank = line->rank;
    table->mark.label = ta_log_string(log, TA_LIT("memory summary"));
    table->mark.device = device;
    return true;
}

static void take_cells(struct ta_memory_mark *mark, const struct ta_slice *cells, size_t n)
{
    if (n == 2) {
        mark->ooms = number_after(cells[0], "OOMs:");
        mark->retries = number_after(cells[1], "retries:");
    } else if (n == CELLS && ta_slice_equal(cells[0], TA_LIT("Allocated memory"))) {
        mark->allocated_bytes = bytes_of(cells[CUR]);
        mark->max_allocated_bytes = bytes_of(cells[PEAK]);
    } else if (n == CELLS && ta_slice_equal(cells[0], TA_LIT("GPU reserved memory"))) {
        mark->reserved_bytes = bytes_of(cells[CUR]);
        mark->max_reserved_bytes = bytes_of(cells[PEAK]);
    }
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    struct ta_slice cells[CELLS];
    const size_t n = split(line->text, cells);
    if (n == 1 && ta_log_after(cells[0], TITLE).ptr) {
        if (!begin_table(log, st, line, number_after(cells[0], TITLE)))
            log->status = ta_fail(log->ctx, TA_ERR_NOMEM, "Cannot hold the tables of a log");
        return TA_LOG_MORE;
    }
    struct open_table *table = find_table(st, line->rank);
    if (!table || n == 0)
        return TA_LOG_NOT_MINE;
    take_cells(&table->mark, cells, n); /* of other rows nothing is kept */
    return TA_LOG_MORE;
}

static void end(struct ta_log_reading *log, void *state)
{
    struct state *st = state;
    for (size_t i = 0; i < st->n; i++)
        close_table(log, st, &st->open[i]);
    free(st->open);
    if (!st->has_any)
        return;
    /* A snapshot of the allocator, written at the same time, has it all to the byte.  Summaries of
     * other moments are no copies of it. */
    char set[80];
    snprintf(set, sizeof set, "memory summary %" PRId64 " %" PRId64, st->allocated_bytes,
             st->max_allocated_bytes);
    ta_log_set_copy(log, TA_DUMP_BIT(memory_mark), ta_slice_of(set), TA_EXACT_CONSOLE);
}

static const char *const marks[] = {TITLE, NULL};
static const char *const parts[] = {"OOMs:", "Allocated memory ", "GPU reserved memory ", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .parts = parts, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, memory_summary, &ops, .title = "torch's allocator",
          .summary =
              "The table that memory_summary() prints: memory in use and reserved, and their peaks",
          .version = "1");
