/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables with a header line, read by the names of their columns. */
#include "parse/text/csv.h"

#include "base/quality.h"
#include "base/vec.h"
#include "parse/text/lines.h"
#include "parse/text/numerals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum {
    COLUMNS_MAX = 1024,
    PREAMBLE = 64,             /* lines before the header at most */
    QUOTED_LINES = 16,         /* of one row at most: a quote that ends nowhere takes no more */
    QUOTED_BYTES = 16 * 1024,  /* likewise */
    NOTE_BYTES = 400,
    NONE_YET = -1, /* decimals */
    VARIOUS = -2
};

/* What the cells of a column are in rows with as many cells as the header. */
struct column_look {
    uint32_t numbers, texts;
};

/* A line that was read while the end of a quote was looked for. */
struct waiting_line {
    size_t begin, end; /* in the buffer of joined lines */
    uint64_t offset;
    bool is_cut;
};

struct ta_csv_state {
    struct ta_ctx *ctx;
    struct ta_lines *lines;
    struct ta_quality *quality;
    const struct ta_csv_shape *shape;
    size_t *column; /* of each wanted one; SIZE_MAX: none */
    bool failed;    /* no memory for a row */
    char separator;
    char *head; /* bytes that the headers point into */
    struct ta_slice *headers, *cells;
    char *buffer; /* of unquoted cells */
    size_t buffer_max;

    struct ta_numerals numerals;
    struct column_look *looks; /* of the first rows, by header */
    bool has_pairs;            /* quotes within quotes */
    int decimals;              /* of all numbers in the last column so far */

    char *joined; /* lines with line feeds between them */
    size_t joined_max;
    TA_VEC(struct waiting_line) waiting;
    size_t next;     /* line of `waiting` */
    uint64_t number; /* of the line read last, from 1 */
    bool is_cut;     /* the row ends where the file does, without a line end */
};

/* ---- the header ---------------------------------------------------------------------------- */

/* Whether a header is one of the names that a wanted column goes by. */
static bool is_named(struct ta_slice header, const char *names)
{
    for (const char *name = names; name;) {
        const char *bar = strchr(name, '|');
        const struct ta_slice one = {name, bar ? (size_t)(bar - name) : strlen(name)};
        if (ta_slice_equal(header, one))
            return true;
        name = bar ? bar + 1 : NULL;
    }
    return false;
}

static size_t find_column(const struct ta_slice *headers, size_t n, const char *names)
{
    for (size_t i = 0; i < n; i++)
        if (is_named(headers[i], names))
            return i;
    return SIZE_MAX;
}

static bool fits(const struct ta_csv_shape *shape, const struct ta_slice *headers, size_t n)
{
    for (size_t i = 0; i < shape->n_needed; i++)
        if (find_column(headers, n, shape->columns[i]) == SIZE_MAX)
            return false;
    return true;
}

/* A header line, split in the way that gives the columns of a shape. */
struct header {
    struct ta_slice *at; /* COLUMNS_MAX */
    size_t n, shape;
    char separator;
};

/* `buffer` has room for the line. */
static bool split_header(struct ta_slice line, const struct ta_csv_shape *shapes, size_t n_shapes,
                         char *buffer, struct header *header)
{
    static const char separators[] = {',', ';', '\t'};
    for (size_t i = 0; i < sizeof separators; i++) {
        header->separator = separators[i];
        header->n = ta_csv_split(line, separators[i], header->at, COLUMNS_MAX, buffer, line.len);
        for (size_t k = 0; k < header->n; k++)
            header->at[k] = ta_text_trim(header->at[k]);
        for (header->shape = 0; header->shape < n_shapes; header->shape++)
            if (fits(&shapes[header->shape], header->at, header->n))
                return true;
    }
    return false;
}

size_t ta_csv_recognize(struct ta_slice head, const struct ta_csv_shape *shapes, size_t n)
{
    char *buffer = malloc(head.len + 1);
    struct header header = {.at = calloc(COLUMNS_MAX, sizeof *header.at)};
    bool found = false;
    for (int i = 0; buffer && header.at && head.len && i < PREAMBLE && !found; i++)
        found = split_header(ta_text_trim(ta_text_line(&head)), shapes, n, buffer, &header);
    free(buffer);
    free(header.at);
    return found ? header.shape : SIZE_MAX;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Names the columns that nobody asks for. */
static void note_unread(const struct ta_csv *csv, const struct ta_csv_shape *shape)
{
    char names[NOTE_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; shape->others && i < csv->n_headers && used < NOTE_BYTES - 100; i++) {
        const struct ta_slice header = csv->headers[i];
        bool known = header.len == 0 || is_named(header, shape->others);
        for (size_t k = 0; k < shape->n_columns; k++)
            known |= csv->state->column[k] == i;
        if (!known)
            used += (size_t)snprintf(names + used, 100, "%s%.*s", used ? ", " : "",
                                     (int)(header.len < 60 ? header.len : 60), header.ptr);
    }
    if (used)
        ta_quality_add(csv->state->quality, TA_Q_UNREAD_COLUMNS, csv->state->lines->offset,
                       "Columns that are not read: %s", names);
}

/* Keeps a header line, since the line itself will go; false without memory. */
static bool keep_header(struct ta_csv *csv, struct ta_slice line, const struct ta_csv_shape *shape)
{
    struct ta_csv_state *st = csv->state;
    struct header header = {.at = st->headers};
    st->head = malloc(2 * line.len + 1);
    st->column = calloc(shape->n_columns, sizeof *st->column);
    if (!st->head || !st->column)
        return false;
    memcpy(st->head, line.ptr, line.len);
    const struct ta_slice copy = {st->head, line.len};
    split_header(copy, shape, 1, st->head + line.len, &header);
    st->shape = shape;
    st->separator = header.separator;
    csv->headers = st->headers;
    csv->n_headers = header.n;
    for (size_t i = 0; i < shape->n_columns; i++)
        st->column[i] = find_column(st->headers, header.n, shape->columns[i]);
    if (header.n == COLUMNS_MAX)
        ta_quality_add(st->quality, TA_Q_LIMIT, st->lines->offset,
                       "A table has more than %d columns: the rest was not read", COLUMNS_MAX);
    note_unread(csv, shape);
    return true;
}

static enum ta_status find_header(struct ta_csv *csv, const struct ta_csv_shape *shapes, size_t n)
{
    struct ta_csv_state *st = csv->state;
    struct header header = {.at = st->headers};
    while (csv->line < PREAMBLE && ta_lines_next(st->lines)) {
        const struct ta_slice line = st->lines->line;
        csv->line = ++st->number;
        char *buffer = malloc(line.len + 1);
        const bool found = buffer && split_header(line, shapes, n, buffer, &header);
        free(buffer);
        csv->shape = header.shape;
        if (!buffer || (found && !keep_header(csv, line, &shapes[header.shape])))
            return ta_fail(st->ctx, TA_ERR_NOMEM, "Cannot hold the columns of a table");
        if (found)
            return TA_OK;
    }
    return ta_fail(st->ctx, TA_ERR_INPUT, "A table without its header line: no column \"%s\"",
                   shapes[0].columns[0]);
}

/* "n/a", "-", "nan": neither a number nor a text. */
static bool is_none(struct ta_slice cell)
{
    static const char *const words[] = {"",    "-",   "--",  "n/a",  "na",       "nan",
                                        "inf", "+inf", "-inf", "none", "infinity", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (cell.len == strlen(words[i]) && strncasecmp(cell.ptr, words[i], cell.len) == 0)
            return true;
    return false;
}

static bool is_number(const struct ta_csv_state *st, struct ta_slice cell)
{
    char copy[TA_NUMERAL_BYTES];
    bool local;
    return !isnan(ta_text_double(ta_numerals_plain(&st->numerals, cell, copy, &local)));
}

/* Learns from the first rows which columns hold numbers. */
static void look_at_rows(struct ta_csv *csv, struct ta_slice text, bool whole, char *buffer)
{
    struct ta_csv_state *st = csv->state;
    while (text.len) {
        const struct ta_slice line = ta_text_line(&text);
        if (text.len == 0 && !whole)
            break;
        const size_t n = ta_csv_split(line, st->separator, st->cells, csv->n_headers + 1, buffer,
                                      line.len);
        for (size_t i = 0; n == csv->n_headers && i < n; i++) {
            const struct ta_slice cell = ta_text_trim(st->cells[i]);
            const bool is_header = ta_slice_equal(cell, st->headers[i]);
            st->looks[i].numbers += !is_header && is_number(st, cell);
            st->looks[i].texts += !is_header && !is_none(cell) && !is_number(st, cell);
        }
    }
}

static bool look_at_head(struct ta_csv *csv, const struct ta_probe *probe)
{
    char *buffer = malloc(probe->head.len + 1);
    csv->state->has_pairs = memmem(probe->head.ptr, probe->head.len, "\"\"", 2) != NULL;
    csv->state->numerals = ta_numerals_of(probe->head, probe->whole, csv->state->separator);
    if (buffer)
        look_at_rows(csv, probe->head, probe->whole, buffer);
    free(buffer);
    return buffer;
}

struct ta_csv *ta_csv_new(struct ta_ctx *ctx, struct ta_reader *reader,
                          const struct ta_csv_shape *shapes, size_t n)
{
    struct ta_probe probe = ta_reader_probe(reader);
    char *head = malloc(probe.head.len + 1); /* reading may overwrite what the probe lends */
    struct ta_csv *csv = calloc(1, sizeof *csv);
    struct ta_csv_state *st = csv ? calloc(1, sizeof *st) : NULL;
    if (st) {
        csv->state = st;
        st->ctx = ctx;
        st->decimals = NONE_YET;
        st->quality = ta_reader_quality(reader);
        st->headers = calloc(COLUMNS_MAX, sizeof *st->headers);
        st->cells = calloc(COLUMNS_MAX + 1, sizeof *st->cells);
        st->looks = calloc(COLUMNS_MAX, sizeof *st->looks);
        csv->cells = st->cells;
    }
    if (head && probe.head.len)
        probe.head.ptr = memcpy(head, probe.head.ptr, probe.head.len);
    if (st)
        st->lines = ta_lines_new(ctx, reader);
    enum ta_status status = TA_OK;
    if (!head || !st || !st->headers || !st->cells || !st->looks || !st->lines)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the columns of a table");
    else
        status = find_header(csv, shapes, n);
    if (status == TA_OK && !look_at_head(csv, &probe))
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the columns of a table");
    free(head);
    if (status == TA_OK)
        return csv;
    ta_csv_free(csv);
    return NULL;
}

void ta_csv_free(struct ta_csv *csv)
{
    struct ta_csv_state *st = csv ? csv->state : NULL;
    if (st) {
        ta_lines_free(st->lines);
        free(st->column);
        free(st->head);
        free(st->headers);
        free(st->cells);
        free(st->buffer);
        free(st->looks);
        free(st->joined);
        free(st->waiting.at);
        free(st);
    }
    free(csv);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* A buffer of at least so many bytes; false without memory. */
static bool make_room(char **buffer, size_t *max, size_t n)
{
    if (*max >= n)
        return true;
    char *grown = realloc(*buffer, n);
    if (!grown)
        return false;
    *buffer = grown;
    *max = n;
    return true;
}

/* Splits a row into `cells`; 0 without memory. */
static size_t split_row(struct ta_csv *csv, struct ta_slice row)
{
    struct ta_csv_state *st = csv->state;
    if (!make_room(&st->buffer, &st->buffer_max, row.len))
        return 0;
    return ta_csv_split(row, st->separator, st->cells, csv->n_headers + 1, st->buffer,
                        st->buffer_max);
}

/* Adds a line to those that wait; false at the end of the file, too. */
static bool add_waiting(struct ta_csv_state *st, const struct ta_lines *lines)
{
    const size_t begin = st->waiting.n ? st->waiting.at[st->waiting.n - 1].end + 1 : 0;
    const size_t end = begin + lines->line.len;
    const struct waiting_line line = {begin, end, lines->offset, lines->is_cut};
    st->failed |= !make_room(&st->joined, &st->joined_max, 2 * end + 1) ||
                  !ta_vec_push(&st->waiting, line);
    if (st->failed)
        return false;
    if (begin)
        st->joined[begin - 1] = '\n';
    if (lines->line.len)
        memcpy(st->joined + begin, lines->line.ptr, lines->line.len);
    return true;
}

static struct ta_slice waiting_lines(const struct ta_csv_state *st, size_t first, size_t last)
{
    const size_t begin = st->waiting.at[first].begin;
    return (struct ta_slice){st->joined + begin, st->waiting.at[last].end - begin};
}

/* The line at `first` of those that wait, whose quote is open, with all up to where it closes, when
 * that gives a row; the line alone when it does not, or a row of its own comes before. */
static struct ta_slice join_lines(struct ta_csv *csv, size_t first)
{
    struct ta_csv_state *st = csv->state;
    bool quoted = true;
    for (size_t i = first + 1; i < first + QUOTED_LINES; i++) {
        if (i == st->waiting.n && (!ta_lines_next(st->lines) || !add_waiting(st, st->lines)))
            break;
        const struct ta_slice line = waiting_lines(st, i, i), row = waiting_lines(st, first, i);
        if (row.len > QUOTED_BYTES || (!ta_csv_ends_quoted(line, st->separator, false) &&
                                       split_row(csv, line) == csv->n_headers))
            break;
        quoted = ta_csv_ends_quoted(line, st->separator, quoted);
        if (quoted)
            continue;
        if (split_row(csv, row) != csv->n_headers)
            break;
        st->next = i + 1;
        st->number += i - first;
        st->is_cut = st->waiting.at[i].is_cut;
        return row;
    }
    return waiting_lines(st, first, first);
}

/* The next row, of several lines when a quoted cell has them; false at the end. */
static bool next_row(struct ta_csv *csv, struct ta_slice *row)
{
    struct ta_csv_state *st = csv->state;
    const bool waited = st->next < st->waiting.n;
    if (!waited && !ta_lines_next(st->lines))
        return false;
    if (waited) {
        const size_t i = st->next++;
        *row = waiting_lines(st, i, i);
        csv->offset = st->waiting.at[i].offset;
        st->is_cut = st->waiting.at[i].is_cut;
    } else {
        *row = st->lines->line;
        csv->offset = st->lines->offset;
        st->is_cut = st->lines->is_cut;
        st->waiting.n = st->next = 0;
    }
    csv->line = ++st->number;
    if (!ta_csv_ends_quoted(*row, st->separator, false))
        return true;
    if (!waited && !add_waiting(st, st->lines))
        return !st->failed;
    if (!waited)
        st->next = 1;
    *row = join_lines(csv, st->next - 1);
    return !st->failed;
}

/* Two processes that create a file at once may both write the header. */
static bool is_header(const struct ta_csv *csv)
{
    for (size_t i = 0; i < csv->n_headers && i < csv->n_cells; i++)
        if (!ta_slice_equal(ta_text_trim(csv->cells[i]), csv->headers[i]))
            return false;
    return csv->n_cells == csv->n_headers;
}

/* Digits after the point; VARIOUS without one. */
static int decimals_of(const struct ta_csv_state *st, struct ta_slice cell)
{
    cell = ta_text_trim(cell);
    const char *point = cell.len ? memrchr(cell.ptr, st->numerals.point, cell.len) : NULL;
    return point && is_number(st, cell) ? (int)(ta_slice_end(cell) - point - 1) : VARIOUS;
}

/* Of a row that ends with the file, takes the last cell away unless it is known to be whole: its
 * quote is closed and no half of two, or it has as many decimals as all before.  Whether that loses
 * something. */
static bool take_cut_cell(struct ta_csv *csv, struct ta_slice row)
{
    struct ta_csv_state *st = csv->state;
    const size_t last = csv->n_cells - 1;
    const bool is_closed = !st->has_pairs && ta_slice_ends(row, "\"") &&
                           !ta_csv_ends_quoted(row, st->separator, false);
    const bool is_known = csv->n_cells == csv->n_headers && st->decimals > 0 &&
                          decimals_of(st, csv->cells[last]) == st->decimals;
    if (is_closed || is_known || csv->n_cells > csv->n_headers)
        return false;
    csv->n_cells = last;
    bool is_wanted = !st->shape->others;
    for (size_t i = 0; i < st->shape->n_columns; i++)
        is_wanted |= st->column[i] == last;
    return is_wanted;
}

static void note_decimals(struct ta_csv *csv)
{
    struct ta_csv_state *st = csv->state;
    if (st->decimals == VARIOUS || csv->n_cells != csv->n_headers)
        return;
    const int decimals = decimals_of(st, csv->cells[csv->n_cells - 1]);
    st->decimals = st->decimals == NONE_YET || st->decimals == decimals ? decimals : VARIOUS;
}

/* Whether the cells of a row with too many of them belong to other columns: what the first rows
 * have as numbers is a text, or the other way round. */
static bool is_shifted(const struct ta_csv *csv)
{
    const struct ta_csv_state *st = csv->state;
    bool known = false;
    for (size_t i = 0; i < csv->n_headers; i++) {
        const struct column_look look = st->looks[i];
        const struct ta_slice cell = ta_text_trim(csv->cells[i]);
        if (is_none(cell) || !look.numbers == !look.texts)
            continue;
        known = true;
        if (is_number(st, cell) != (look.numbers > 0))
            return true;
    }
    return !known;
}

static void drop_row(struct ta_csv *csv, size_t n, bool is_cut)
{
    csv->dropped++;
    if (is_cut)
        ta_quality_add(csv->state->quality, TA_Q_TRUNCATED, csv->offset,
                       "The file ends in line %" PRIu64 ", which is not used, at byte offset "
                       "%" PRIu64, csv->line, csv->offset);
    else
        ta_quality_add(csv->state->quality, TA_Q_BAD_RECORD, csv->offset,
                       "Line %" PRIu64 " has %zu cells of %zu, at byte offset %" PRIu64, csv->line,
                       n, csv->n_headers, csv->offset);
}

/* Accounts for what is wrong with the row; whether it can be used. */
static bool judge_row(struct ta_csv *csv, struct ta_slice row)
{
    struct ta_csv_state *st = csv->state;
    const size_t n = csv->n_cells;
    const bool is_open = ta_csv_ends_quoted(row, st->separator, false);
    /* Separators at the end of a line are no cells. */
    const bool is_long =
        n > csv->n_headers && (csv->cells[n - 1].len || row.ptr[row.len - 1] != st->separator);
    const bool is_cut = st->is_cut && take_cut_cell(csv, row);
    if (csv->n_cells > csv->n_headers)
        csv->n_cells = csv->n_headers;
    bool is_used = !is_long || !is_shifted(csv);
    for (size_t i = 0; i < st->shape->n_needed; i++)
        is_used &= st->column[i] < csv->n_cells;
    if (!is_used) {
        drop_row(csv, n, st->is_cut && !is_long);
        return false;
    }
    csv->kept++;
    if (is_cut)
        ta_quality_add(st->quality, TA_Q_TRUNCATED, csv->offset,
                       "The file ends in line %" PRIu64 ", whose last cell is not used, since it "
                       "may be cut, at byte offset %" PRIu64, csv->line, csv->offset);
    const bool is_short = n < csv->n_headers && !st->is_cut;
    if (!is_open && !is_long && !is_short) {
        note_decimals(csv);
        return true;
    }
    csv->repaired++;
    ta_quality_add_severity(st->quality, TA_Q_SYNTAX, TA_QUALITY_NOTICE, csv->offset, TA_NO_OFFSET,
                            "Line %" PRIu64 " has %s, at byte offset %" PRIu64, csv->line,
                            is_open   ? "a quote that is not closed"
                            : is_long ? "more cells than the header"
                                      : "fewer cells than the header",
                            csv->offset);
    return true;
}

bool ta_csv_next(struct ta_csv *csv)
{
    struct ta_csv_state *st = csv->state;
    struct ta_slice row;
    while (next_row(csv, &row)) {
        if (ta_text_trim(row).len == 0)
            continue;
        csv->n_cells = split_row(csv, row);
        st->failed |= csv->n_cells == 0;
        if (st->failed || ta_ctx_canceled(st->ctx))
            return false;
        if (!is_header(csv) && judge_row(csv, row))
            return true;
    }
    return false;
}

void ta_csv_drop(struct ta_csv *csv, const char *why)
{
    csv->kept--;
    csv->dropped++;
    ta_quality_add(csv->state->quality, TA_Q_BAD_RECORD, csv->offset,
                   "%s: line %" PRIu64 ", at byte offset %" PRIu64, why, csv->line, csv->offset);
}

enum ta_status ta_csv_close(struct ta_ctx *ctx, struct ta_csv *csv, struct ta_builder *builder,
                            enum ta_status status)
{
    if (!csv)
        return status;
    ta_builder_count(builder, csv->kept, csv->repaired, csv->dropped);
    if (status == TA_OK && csv->state->failed)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a row of a table");
    else if (status == TA_OK && csv->kept == 0 && csv->dropped)
        status = ta_fail(ctx, TA_ERR_INPUT,
                         "No row of the table can be used: dropped=%" PRIu64 ", last line=%" PRIu64,
                         csv->dropped, csv->line);
    else if (status == TA_OK && csv->kept == 0)
        ta_quality_add(csv->state->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "The table has no rows");
    ta_csv_free(csv);
    return status;
}

/* ---- cells --------------------------------------------------------------------------------- */

size_t ta_csv_column(const struct ta_csv *csv, size_t wanted)
{
    return csv->state->column[wanted];
}

bool ta_csv_has(const struct ta_csv *csv, size_t wanted)
{
    return csv->state->column[wanted] != SIZE_MAX;
}

struct ta_slice ta_csv_text(const struct ta_csv *csv, size_t wanted)
{
    const size_t column = csv->state->column[wanted];
    return column < csv->n_cells ? ta_text_trim(csv->cells[column]) : (struct ta_slice){"", 0};
}

/* The number of a cell as the C locale has it. */
static struct ta_slice number_of(struct ta_csv *csv, size_t wanted, char copy[TA_NUMERAL_BYTES])
{
    bool local;
    const struct ta_slice cell = ta_csv_text(csv, wanted);
    const struct ta_slice plain =
        ta_numerals_plain(&csv->state->numerals, cell, copy, &local);
    if (local)
        ta_quality_add(csv->state->quality, TA_Q_NUMBER_FORM, csv->offset,
                       "\"%.*s\" in line %" PRIu64 " is %.*s, at byte offset %" PRIu64,
                       (int)cell.len, cell.ptr, csv->line, (int)plain.len, plain.ptr, csv->offset);
    return plain;
}

/* A cell that holds something is a number. */
static void account(struct ta_csv *csv, size_t wanted, bool missing)
{
    const struct ta_slice text = ta_csv_text(csv, wanted);
    if (!missing || text.len == 0)
        return;
    const struct ta_slice name = csv->headers[csv->state->column[wanted]];
    ta_quality_add(csv->state->quality, TA_Q_BAD_NUMBER, csv->offset,
                   "No number in the column \"%.*s\" of line %" PRIu64 ", at byte offset %" PRIu64,
                   (int)name.len, name.ptr, csv->line, csv->offset);
}

int64_t ta_csv_decimal(struct ta_csv *csv, size_t wanted, int shift)
{
    char copy[TA_NUMERAL_BYTES];
    const int64_t value = ta_text_decimal(number_of(csv, wanted, copy), shift);
    account(csv, wanted, value == TA_MISSING);
    return value;
}

int64_t ta_csv_integer(struct ta_csv *csv, size_t wanted)
{
    char copy[TA_NUMERAL_BYTES];
    const int64_t value = ta_text_integer(number_of(csv, wanted, copy));
    account(csv, wanted, value == TA_MISSING);
    return value;
}

double ta_csv_double(struct ta_csv *csv, size_t wanted)
{
    char copy[TA_NUMERAL_BYTES];
    const double value = ta_text_double(number_of(csv, wanted, copy));
    account(csv, wanted, isnan(value));
    return value;
}
