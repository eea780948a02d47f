/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parse/text/numerals.h"

#include "parse/text/lines.h"
#include "traceanalyze/document.h"

#include <stdlib.h>

/* ---- one number ------------------------------------------------------------------------------ */

enum { MARKS_MAX = 16 };

/* Digits with marks between them; `runs[i]` digits follow mark i - 1. */
struct shape {
    char marks[MARKS_MAX]; /* '.', ',', or ' ' for all that can only separate thousands */
    size_t n_marks;
    size_t runs[MARKS_MAX + 1];
    char first;   /* digit */
    size_t sign;  /* bytes before the digits */
    size_t bytes; /* up to the end of the digits */
};

/* What else separates thousands; the last one is what becomes of a no-break space of Latin-1. */
static const char *const blanks[] = {
    " ", "'", "\u00a0", "\u202f", "\u2009", "\u2007", "\u2019", "\ufffd"};

/* The mark at the start of a text, of `*n` bytes; 0 for none. */
static char mark_of(struct ta_slice text, size_t *n)
{
    *n = 1;
    if (text.len && (text.ptr[0] == '.' || text.ptr[0] == ','))
        return text.ptr[0];
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (ta_slice_starts(text, blanks[i])) {
            *n = strlen(blanks[i]);
            return ' ';
        }
    return 0;
}

static bool is_digit(struct ta_slice text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/* A mark that no digit follows ends the number, but for a point or comma at its end. */
static bool read_shape(struct ta_slice text, struct shape *shape)
{
    *shape = (struct shape){.sign = text.len && strchr("+-", text.ptr[0]) ? 1 : 0};
    size_t at = shape->sign, n = 0;
    if (is_digit(text, at))
        shape->first = text.ptr[at];
    for (;;) {
        while (is_digit(text, at)) {
            shape->runs[shape->n_marks]++;
            at++;
        }
        const char mark = mark_of(ta_slice_from(text, at), &n);
        if (!mark || !(is_digit(text, at + n) || (mark != ' ' && at + n == text.len)))
            break;
        if (shape->n_marks == MARKS_MAX)
            return false;
        shape->marks[shape->n_marks++] = mark;
        at += n;
    }
    shape->bytes = at;
    return shape->n_marks ? shape->runs[0] + shape->runs[1] > 0 : shape->runs[0] > 0;
}

/* Whether all marks but those after the first `n` can separate thousands. */
static bool is_grouped(const struct shape *shape, size_t n)
{
    if (n && (shape->runs[0] == 0 || shape->runs[0] > 3))
        return false;
    for (size_t i = 0; i < n; i++)
        if (shape->marks[i] != shape->marks[0] || shape->runs[i + 1] != 3)
            return false;
    return true;
}

/* Whether a number may be read with this decimal mark. */
static bool is_read_with(const struct shape *shape, char point)
{
    size_t n = shape->n_marks;
    if (n && shape->marks[n - 1] == point)
        n--;
    return is_grouped(shape, n) && (n == 0 || shape->marks[0] != point) &&
           !(n && shape->first == '0');
}

/* ---- deciding -------------------------------------------------------------------------------- */

void ta_numerals_see(struct ta_numerals *numerals, struct ta_slice cell)
{
    struct shape shape;
    size_t at;
    cell = ta_text_trim(cell);
    if (!read_shape(cell, &shape))
        return;
    /* A unit or an exponent may follow, and nothing that makes it a date or a version. */
    for (at = shape.bytes; at < cell.len && cell.ptr[at] == ' ';)
        at++;
    if (at < cell.len && at == shape.bytes && (cell.ptr[at] | 32) != 'e' && cell.ptr[at] != '%')
        return;
    if (at < cell.len && strchr("0123456789.,:/-", cell.ptr[at]))
        return;
    const bool by_comma = is_read_with(&shape, ','), by_point = is_read_with(&shape, '.');
    numerals->commas += by_comma && !by_point;
    numerals->points += by_point && !by_comma;
}

void ta_numerals_decide(struct ta_numerals *numerals, char separator)
{
    const bool is_usual = numerals->commas == 0 && numerals->points == 0;
    numerals->point =
        numerals->commas > numerals->points || (is_usual && separator == ';') ? ',' : '.';
}

struct ta_numerals ta_numerals_of(struct ta_slice text, bool whole, char separator)
{
    enum { CELLS = 256 };
    struct ta_numerals numerals = {0};
    struct ta_slice cells[CELLS];
    char *buffer = malloc(text.len + 1); /* without one nothing is seen */
    while (buffer && text.len) {
        const struct ta_slice line = ta_text_line(&text);
        if (text.len == 0 && !whole)
            break;
        const size_t n = ta_csv_split(line, separator, cells, CELLS, buffer, line.len);
        for (size_t i = 0; i < n; i++)
            ta_numerals_see(&numerals, cells[i]);
    }
    free(buffer);
    ta_numerals_decide(&numerals, separator);
    return numerals;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct ta_slice ta_numerals_plain(const struct ta_numerals *numerals, struct ta_slice cell,
                                  char copy[TA_NUMERAL_BYTES], bool *local)
{
    struct shape shape;
    const char point = numerals->point;
    *local = false;
    cell = ta_text_trim(cell);
    if (point == '.') { /* nearly all cells are what they should be */
        size_t at = 0;
        while (at < cell.len && (is_digit(cell, at) || strchr("+-.eE", cell.ptr[at])))
            at++;
        if (at == cell.len)
            return cell;
    }
    if (!read_shape(cell, &shape) || cell.len > TA_NUMERAL_BYTES || !is_read_with(&shape, point))
        return cell;
    /* Nothing but an exponent may follow, which ta_text_decimal() judges. */
    if (shape.bytes < cell.len && (cell.ptr[shape.bytes] | 32) != 'e')
        return cell;
    size_t n = 0;
    for (size_t i = 0; i < cell.len; i++) {
        if (i < shape.sign || is_digit(cell, i) || i >= shape.bytes)
            copy[n++] = cell.ptr[i];
        else if (cell.ptr[i] == point)
            copy[n++] = '.';
    }
    *local = n != cell.len || memcmp(copy, cell.ptr, n) != 0;
    return (struct ta_slice){copy, n};
}
