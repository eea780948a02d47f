/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums that `nsys stats`, `nsys profile --stats=true` and `nsys nvprof` print as text:
 *
 *      ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):
 *
 *      Time (%)  Total Time (ns)  Instances   Avg (ns)  …                      Name
 *      --------  ---------------  ---------  ---------  …  --------------------------------
 *          63.2    7,211,034,880      4,000  1,802,759  …  void at::native::elementwise_kern…
 *
 * Titles differ between versions and are left out by some, so a table is told by its headings, as
 * its CSV is.  Two blanks separate cells, since some locales separate thousands by one; the name is
 * last, and a long one goes on in lines that begin below it.  Numbers are read when all of them
 * have been seen (numerals.h). */
#include "lib/nsys.h"
#include "parse/text/numerals.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <math.h>
#include <stdlib.h>

enum { CELLS = 32, NAME_BYTES = 4096, ROWS_COMPARED = 4096 };

enum kind { ON_DEVICE, ON_HOST, SIZES, KINDS };

static const char *const columns[KINDS][NSYS_COLUMNS] = {
    [ON_DEVICE] = NSYS_DEVICE,
    [ON_HOST] = NSYS_HOST,
    [SIZES] = NSYS_SIZES,
};

struct row {
    ta_str name;
    int64_t rank;
    enum kind kind;
    int shift;
    uint32_t table;
    char total[TA_NUMERAL_BYTES], calls[TA_NUMERAL_BYTES];
};

struct state {
    bool inside; /* a table, whose columns follow */
    enum kind kind;
    int shift;
    uint32_t table;
    size_t n_columns, at[NSYS_COLUMNS];
    size_t name_begins, width; /* as the ruler says, in bytes; 0 without one */

    /* The last row, whose name may go on. */
    bool has_row;
    char name[NAME_BYTES];
    size_t name_bytes;

    struct ta_numerals numerals;
    struct row *rows;
    size_t n_rows, max_rows;
};

/* ---- cells ----------------------------------------------------------------------------------- */

/* Splits by bars, or by two blanks and more; the last cell takes the rest. */
static size_t split(struct ta_slice text, size_t most, struct ta_slice cells[CELLS])
{
    const bool has_bars = ta_slice_starts(text, "|");
    size_t n = 0;
    text = ta_text_trim(has_bars ? ta_slice_from(text, 1) : text);
    while (text.len && n < most) {
        size_t end = 0;
        while (end < text.len && (has_bars ? text.ptr[end] != '|'
                                           : !ta_slice_starts(ta_slice_from(text, end), "  ")))
            end++;
        if (n + 1 == most && !has_bars)
            end = text.len;
        cells[n++] = ta_text_trim(ta_slice_part(text, 0, end));
        text = ta_text_trim(ta_slice_from(text, end + (has_bars && end < text.len)));
    }
    return n;
}

static bool is_named(struct ta_slice heading, const char *names)
{
    while (names) {
        const char *bar = strchr(names, '|');
        const struct ta_slice name = {names, bar ? (size_t)(bar - names) : strlen(names)};
        if (ta_slice_equal(heading, name))
            return true;
        names = bar ? bar + 1 : NULL;
    }
    return false;
}

/* Begins a table if the line has its headings. */
static bool take_headings(struct state *st, struct ta_slice text)
{
    struct ta_slice cells[CELLS];
    const size_t n = split(text, CELLS, cells);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        size_t found = 0;
        for (size_t column = 0; column < NSYS_COLUMNS; column++)
            for (size_t i = 0; i < n; i++)
                if (is_named(cells[i], columns[kind][column])) {
                    st->at[column] = i;
                    found++;
                    break;
                }
        if (found < NSYS_COLUMNS || st->at[NSYS_NAME] != n - 1)
            continue;
        st->inside = true;
        st->has_row = false;
        st->kind = kind;
        st->shift = nsys_shift(cells[st->at[NSYS_TOTAL]]);
        st->n_columns = n;
        st->name_begins = st->width = 0;
        st->table++;
        return true;
    }
    return false;
}

/* A line of dashes, which says where the name begins. */
static bool take_ruler(struct state *st, const struct ta_log_line *line)
{
    const struct ta_slice ruler = line->text;
    size_t dashes = 0;
    for (size_t i = 0; i < ruler.len; i++) {
        if (!strchr("-+|= ", ruler.ptr[i]) || ruler.ptr[i] == 0)
            return false;
        dashes += ruler.ptr[i] == '-' || ruler.ptr[i] == '=';
    }
    if (dashes < 3)
        return false;
    st->width = (size_t)(ta_slice_end(ruler) - line->whole.ptr);
    st->name_begins = st->width;
    for (const char *p = ta_slice_end(ruler); p > ruler.ptr && p[-1] == '-'; p--)
        st->name_begins--;
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The name of the last row is whole. */
static void end_row(struct ta_log_reading *log, struct state *st)
{
    if (st->has_row)
        st->rows[st->n_rows - 1].name =
            ta_log_string(log, (struct ta_slice){st->name, st->name_bytes});
    st->has_row = false;
}

static void add_to_name(struct state *st, struct ta_slice part)
{
    const size_t room = NAME_BYTES - st->name_bytes;
    const size_t n = part.len < room ? part.len : room;
    if (n)
        memcpy(st->name + st->name_bytes, part.ptr, n);
    st->name_bytes += n;
}

static bool is_number(struct ta_slice cell)
{
    if (cell.len == 0 || cell.len >= TA_NUMERAL_BYTES)
        return false;
    for (int i = 0; i < 2; i++) {
        const struct ta_numerals numerals = {.point = i ? ',' : '.'};
        char copy[TA_NUMERAL_BYTES];
        bool local;
        if (!isnan(ta_text_double(ta_numerals_plain(&numerals, cell, copy, &local))))
            return true;
    }
    return false;
}

static bool take_row(struct ta_log_reading *log, struct state *st, const struct ta_log_line *line)
{
    struct ta_slice cells[CELLS];
    const size_t n = split(line->text, st->n_columns, cells);
    if (n < st->n_columns)
        return false;
    const struct ta_slice total = cells[st->at[NSYS_TOTAL]], calls = cells[st->at[NSYS_CALLS]];
    if (!is_number(cells[0]) || !is_number(total) || !is_number(calls))
        return false;
    end_row(log, st);
    if (st->n_rows == st->max_rows) {
        const size_t max = st->max_rows ? 2 * st->max_rows : 64;
        struct row *grown = reallocarray(st->rows, max, sizeof *grown);
        if (!grown) {
            log->status = ta_fail(log->ctx, TA_ERR_NOMEM, "Cannot hold the rows of a table");
            return true;
        }
        st->rows = grown;
        st->max_rows = max;
    }
    struct row *row = &st->rows[st->n_rows++];
    *row = (struct row){.name = TA_STR_ABSENT,
                        .rank = line->rank,
                        .kind = st->kind,
                        .shift = st->shift,
                        .table = st->table};
    memcpy(row->total, total.ptr, total.len);
    memcpy(row->calls, calls.ptr, calls.len);
    for (size_t i = 0; i + 1 < n; i++)
        ta_numerals_see(&st->numerals, cells[i]);
    st->has_row = true;
    st->name_bytes = 0;
    add_to_name(st, cells[n - 1]);
    return true;
}

/* A part of a name, which begins where names do. */
static bool take_rest(struct state *st, const struct ta_log_line *line)
{
    const size_t indent = (size_t)(line->text.ptr - line->whole.ptr);
    if (!st->has_row || st->name_begins == 0 || indent < st->name_begins)
        return false;
    add_to_name(st, line->text);
    return true;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    if (log->status != TA_OK)
        return TA_LOG_NOT_MINE;
    if (take_headings(st, line->text))
        return TA_LOG_MORE;
    if (!st->inside)
        return TA_LOG_NOT_MINE;
    if (line->text.len == 0 || take_ruler(st, line))
        return TA_LOG_MORE;
    /* A line that the file ends in has a whole name if it is as wide as the ruler. */
    const bool is_cut = line->is_cut && (st->width == 0 || line->whole.len < st->width);
    if (is_cut) {
        st->inside = false;
        return TA_LOG_BAD;
    }
    if (take_row(log, st, line) || take_rest(st, line))
        return TA_LOG_MORE;
    end_row(log, st);
    st->inside = false;
    return TA_LOG_NOT_MINE;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Whether an earlier table has the row, too: cuda_gpu_sum repeats two others. */
static bool is_repeated(const struct state *st, size_t at)
{
    const struct row *row = &st->rows[at];
    for (size_t i = 0; i < at && i < ROWS_COMPARED && st->rows[i].table != row->table; i++)
        if (st->rows[i].name == row->name && st->rows[i].kind == row->kind &&
            st->rows[i].rank == row->rank && strcmp(st->rows[i].total, row->total) == 0 &&
            strcmp(st->rows[i].calls, row->calls) == 0)
            return true;
    return false;
}

static struct ta_slice plain(const struct state *st, const char *cell, char copy[TA_NUMERAL_BYTES])
{
    bool local;
    return ta_numerals_plain(&st->numerals, ta_slice_of(cell), copy, &local);
}

static void add_row(struct ta_log_reading *log, const struct state *st, const struct row *row)
{
    char copy[TA_NUMERAL_BYTES];
    const int64_t calls = ta_text_integer(plain(st, row->calls, copy));
    const int64_t total = ta_text_decimal(plain(st, row->total, copy), row->shift);
    if (calls < 0 || total < 0) /* TA_MISSING, too: a form that the other rows rule out */
        return;
    if (row->kind == SIZES) {
        const double megabytes = ta_text_double(plain(st, row->total, copy));
        const struct ta_figure bytes = {.rank = row->rank,
                                        .name = ta_log_string(log, TA_LIT("copied_bytes")),
                                        .group = row->name,
                                        .value = round(1e6 * megabytes),
                                        .unit = TA_UNIT_BYTES};
        ta_log_add_figure(log, &bytes);
        return;
    }
    struct ta_operator_sum sum = ta_unknown_operator_sum();
    sum.rank = row->rank;
    sum.name = row->name;
    sum.calls = calls;
    if (row->kind == ON_HOST)
        sum.cpu_ns = total;
    else
        sum.self_device_ns = sum.device_ns = total;
    ta_log_add_operator_sum(log, &sum);
}

static void end(struct ta_log_reading *log, void *state)
{
    struct state *st = state;
    end_row(log, st);
    ta_numerals_decide(&st->numerals, ' ');
    for (size_t i = 0; i < st->n_rows; i++)
        if (!is_repeated(st, i))
            add_row(log, st, &st->rows[i]);
    free(st->rows);
}

static const char *const marks[] = {"Total Time", "Total (MB)", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, nsys_stats, &ops, .title = "nsys stats",
          .summary = "Sums per kernel, copy, call and range as nsys prints them as text",
          .version = "1");
