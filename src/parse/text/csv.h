/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables with a header line, read by the names of their columns: commas, semicolons or tabs;
 * numbers as numerals.h reads them; cells of several lines; a header that recurs in the middle;
 * rows that are damaged, or cut where the file ends. */
#ifndef TA_PARSE_TEXT_CSV_H
#define TA_PARSE_TEXT_CSV_H

#include "traceanalyze/input.h"
#include "traceanalyze/document.h"

/* Names of a wanted column, any of which will do: "Instances|Num Calls". */
typedef const char *ta_csv_name;

/* The columns of a kind of table; the first `n_needed` distinguish it from others.  `others` are
 * known and not read as such, "Avg (ns)|Med (ns)"; NULL: all that the file has.  What is in neither
 * is accounted for as unread. */
struct ta_csv_shape {
    const ta_csv_name *columns;
    size_t n_columns, n_needed;
    ta_csv_name others;
};

struct ta_csv {
    size_t shape;                     /* index of the one that fits */
    uint64_t line, offset;            /* of the row: from 1, and of its first byte */
    size_t n_headers, n_cells;        /* cells are at most as many as headers */
    const struct ta_slice *headers;   /* without blanks around them */
    const struct ta_slice *cells;     /* of the row; they live until the next one */
    uint64_t kept, repaired, dropped; /* rows */
    struct ta_csv_state *state;
};

/* The first shape whose needed columns are in one of the first lines; SIZE_MAX without one. */
size_t ta_csv_recognize(struct ta_slice head, const struct ta_csv_shape *shapes, size_t n);

/* Reads up to the header line, which may come after some lines of other text.  NULL after
 * ta_fail(): TA_ERR_INPUT without such a line, TA_ERR_NOMEM. */
struct ta_csv *ta_csv_new(struct ta_ctx *ctx, struct ta_reader *reader,
                          const struct ta_csv_shape *shapes, size_t n);
void ta_csv_free(struct ta_csv *csv);

/* Counts the rows for the accounts of the file and frees the table; NULL is fine.  `status` is that
 * of adding rows: when it is TA_OK, TA_ERR_INPUT after ta_fail() when no row could be used, and
 * TA_ERR_NOMEM. */
enum ta_status ta_csv_close(struct ta_ctx *ctx, struct ta_csv *csv, struct ta_builder *builder,
                            enum ta_status status) TA_MUST_CHECK;

/* The next row; false at the end.  A row without its needed cells is dropped, so is one with more
 * cells than the header where they are not at its end; others with too few or too many, or an open
 * quote, are kept as far as they go.  The last cell of the file does not count where it may be cut.
 * All of it is accounted for. */
bool ta_csv_next(struct ta_csv *csv);

/* Takes the row back: it was no record, for the reason given. */
void ta_csv_drop(struct ta_csv *csv, const char *why);

/* Whether the file has a wanted column. */
bool ta_csv_has(const struct ta_csv *csv, size_t wanted);
/* Index of a wanted column among the headers; SIZE_MAX when the file does not have it. */
size_t ta_csv_column(const struct ta_csv *csv, size_t wanted);

/* The cell of a wanted column without blanks around it; empty when there is none. */
struct ta_slice ta_csv_text(const struct ta_csv *csv, size_t wanted);
/* Its number, as ta_text_decimal() and ta_text_double() have it.  A cell that holds something but
 * no number is accounted for, and so is a number that is written as the C locale does not. */
int64_t ta_csv_decimal(struct ta_csv *csv, size_t wanted, int shift);
int64_t ta_csv_integer(struct ta_csv *csv, size_t wanted);
double ta_csv_double(struct ta_csv *csv, size_t wanted);

#endif
