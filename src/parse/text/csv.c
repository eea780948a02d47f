/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables with a header line, read by the names of their columns. */
#include "parse/text/csv.h"

#include "base/quality.h"
#include "parse/text/lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    COLUMNS_MAX = 1024,
    PREAMBLE = 64,  /* lines before the header at most */
    NUMBER_MAX = 64 /* bytes of a number with a decimal comma */
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
    return true;
}

static enum ta_status find_header(struct ta_csv *csv, const struct ta_csv_shape *shapes, size_t n)
{
    struct ta_csv_state *st = csv->state;
    struct header header = {.at = st->headers};
    while (csv->line < PREAMBLE && ta_lines_next(st->lines)) {
        const struct ta_slice line = st->lines->line;
        csv->line++;
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

struct ta_csv *ta_csv_new(struct ta_ctx *ctx, struct ta_reader *reader,
                          const struct ta_csv_shape *shapes, size_t n)
{
    struct ta_csv *csv = calloc(1, sizeof *csv);
    struct ta_csv_state *st = csv ? calloc(1, sizeof *st) : NULL;
    if (st) {
        csv->state = st;
        st->ctx = ctx;
        st->quality = ta_reader_quality(reader);
        st->headers = calloc(COLUMNS_MAX, sizeof *st->headers);
        st->cells = calloc(COLUMNS_MAX + 1, sizeof *st->cells);
        st->lines = ta_lines_new(ctx, reader);
        csv->cells = st->cells;
    }
    if (!st || !st->headers || !st->cells || !st->lines)
        ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the columns of a table");
    else if (find_header(csv, shapes, n) == TA_OK)
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
        free(st);
    }
    free(csv);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static bool split_row(struct ta_csv *csv, struct ta_slice line)
{
    struct ta_csv_state *st = csv->state;
    if (st->buffer_max < line.len) {
        char *grown = realloc(st->buffer, line.len);
        if (!grown)
            return false;
        st->buffer = grown;
        st->buffer_max = line.len;
    }
    csv->n_cells = ta_csv_split(line, st->separator, st->cells, csv->n_headers + 1, st->buffer,
                                st->buffer_max);
    return true;
}

/* Two processes that create a file at once may both write the header. */
static bool is_header(const struct ta_csv *csv)
{
    for (size_t i = 0; i < csv->n_headers && i < csv->n_cells; i++)
        if (!ta_slice_equal(ta_text_trim(csv->cells[i]), csv->headers[i]))
            return false;
    return csv->n_cells == csv->n_headers;
}

/* Accounts for what is wrong with the row; whether it can be used. */
static bool judge_row(struct ta_csv *csv, struct ta_slice line)
{
    struct ta_quality *quality = csv->state->quality;
    size_t quotes = 0;
    for (size_t i = 0; i < line.len; i++)
        quotes += line.ptr[i] == '"';
    const bool open = quotes % 2 != 0;
    const size_t n = csv->n_cells;
    if (csv->n_cells > csv->n_headers)
        csv->n_cells = csv->n_headers;
    bool has_needed = true;
    for (size_t i = 0; i < csv->state->shape->n_needed; i++)
        has_needed &= csv->state->column[i] < csv->n_cells;
    if (!has_needed) {
        csv->dropped++;
        ta_quality_add(quality, TA_Q_BAD_RECORD, csv->offset,
                       "Line %" PRIu64 " has %zu cells of %zu, at byte offset %" PRIu64, csv->line,
                       n, csv->n_headers, csv->offset);
        return false;
    }
    csv->kept++;
    if (!open && n <= csv->n_headers)
        return true;
    csv->repaired++;
    ta_quality_add_severity(quality, TA_Q_SYNTAX, TA_QUALITY_NOTICE, csv->offset, TA_NO_OFFSET,
                            "Line %" PRIu64 " has %s, at byte offset %" PRIu64, csv->line,
                            open ? "a quote that is not closed" : "more cells than the header",
                            csv->offset);
    return true;
}

bool ta_csv_next(struct ta_csv *csv)
{
    struct ta_csv_state *st = csv->state;
    while (ta_lines_next(st->lines)) {
        const struct ta_slice line = st->lines->line;
        csv->line++;
        csv->offset = st->lines->offset;
        if (ta_text_trim(line).len == 0)
            continue;
        st->failed = !split_row(csv, line);
        if (st->failed || ta_ctx_canceled(st->ctx))
            return false;
        if (!is_header(csv) && judge_row(csv, line))
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

/* Where semicolons separate, "9,9" is 9.9. */
static struct ta_slice number_of(const struct ta_csv *csv, size_t wanted, char copy[NUMBER_MAX])
{
    struct ta_slice text = ta_csv_text(csv, wanted);
    const char *comma = memchr(text.ptr, ',', text.len);
    if (csv->state->separator != ';' || !comma || text.len > NUMBER_MAX)
        return text;
    memcpy(copy, text.ptr, text.len);
    copy[comma - text.ptr] = '.';
    return (struct ta_slice){copy, text.len};
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
    char copy[NUMBER_MAX];
    const int64_t value = ta_text_decimal(number_of(csv, wanted, copy), shift);
    account(csv, wanted, value == TA_MISSING);
    return value;
}

int64_t ta_csv_integer(struct ta_csv *csv, size_t wanted)
{
    char copy[NUMBER_MAX];
    const int64_t value = ta_text_integer(number_of(csv, wanted, copy));
    account(csv, wanted, value == TA_MISSING);
    return value;
}

double ta_csv_double(struct ta_csv *csv, size_t wanted)
{
    char copy[NUMBER_MAX];
    const double value = ta_text_double(number_of(csv, wanted, copy));
    account(csv, wanted, isnan(value));
    return value;
}
