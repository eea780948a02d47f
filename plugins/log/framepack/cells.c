/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of printed tables to cells and figures. */
#include "reading.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Where the cell that ends at `end` begins. */
static size_t cell_start(struct ta_slice line, size_t end, unsigned least)
{
    size_t start = end;
    while (start > 0) {
        size_t blanks = 0;
        while (blanks < start && is_blank(line.ptr[start - 1 - blanks]))
            blanks++;
        if (blanks >= least)
            break;
        start -= blanks ? blanks : 1;
    }
    return start;
}

struct cells split_from_right(struct ta_slice line, unsigned least, size_t most)
{
    struct cells cells = {.n = 0};
    line = ta_text_trim(line);
    size_t end = line.len;
    while (end > 0 && cells.n < most && cells.n < CELLS) {
        const bool last = cells.n + 1 == most || cells.n + 1 == CELLS;
        const size_t start = last ? 0 : cell_start(line, end, least);
        cells.at[cells.n++] = ta_slice_part(line, start, end);
        end = start;
        while (end > 0 && is_blank(line.ptr[end - 1]))
            end--;
    }
    for (size_t i = 0; i < cells.n / 2; i++) {
        const struct ta_slice cell = cells.at[i];
        cells.at[i] = cells.at[cells.n - 1 - i];
        cells.at[cells.n - 1 - i] = cell;
    }
    return cells;
}

bool contains(struct ta_slice text, const char *what)
{
    return text.len && memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

bool is_rule(struct ta_slice line, char character, size_t least)
{
    size_t n = 0;
    for (size_t i = 0; i < line.len; i++) {
        if (!is_blank(line.ptr[i]) && line.ptr[i] != character)
            return false;
        n += line.ptr[i] == character;
    }
    return n >= least;
}

int64_t time_of(struct ta_slice cell)
{
    static const struct {
        const char *unit;
        int shift;
    } units[] = {{"ns", 0}, {"us", 3}, {"µs", 3}, {"ms", 6}, {"s", 9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i].unit);
        if (cell.len > n && ta_slice_ends(cell, units[i].unit))
            return ta_text_decimal(ta_text_trim((struct ta_slice){cell.ptr, cell.len - n}),
                                   units[i].shift);
    }
    return TA_MISSING;
}
