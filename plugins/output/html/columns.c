/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which columns of a table a page shows at first.
 *
 * Columns without values are hidden anywhere, and so are some of which people learn nothing; of an
 * open table so are those that say nothing of this run.  In a wide table so is what says nothing
 * new, as it takes the room of the names that do: ratios next to changes, words that are the same
 * in every row, words that follow from rank and device, such as the name of the file of a rank, and
 * what others are worked out of. */
#include "html.h"
#include "lib/columns.h"
#include "report/tables.h"

#include <string.h>

/* Columns that fit beside each other on a page of usual width. */
enum { WIDE_FROM = 11 };

static bool is_word(const struct ta_column *column)
{
    return column->type == TA_TYPE_STRING || column->type == TA_TYPE_WORD ||
           column->role == TA_DEVICE;
}

static bool same_cells(const struct ta_table *table, size_t a, size_t b, size_t column)
{
    return ta_cell_equal(ta_table_cell(table, a, column), ta_table_cell(table, b, column));
}

static bool is_constant(const struct ta_table *table, size_t column)
{
    for (size_t row = 1; row < table->n_rows; row++)
        if (!same_cells(table, 0, row, column))
            return false;
    return table->n_rows > 1;
}

/* The nearest row before that is of the same rank and device; SIZE_MAX when none is near. */
static size_t row_before(const struct ta_table *table, size_t row, size_t rank, size_t device)
{
    enum { NEAR = 64 };
    for (size_t back = 1; back <= row && back <= NEAR; back++)
        if (same_cells(table, row - back, row, rank) &&
            (device == SIZE_MAX || same_cells(table, row - back, row, device)))
            return row - back;
    return SIZE_MAX;
}

/* Whether all rows of a rank and device say the same, and some have more than one row. */
static bool is_of_owner(const struct ta_table *table, size_t column, size_t rank, size_t device)
{
    bool repeats = false;
    for (size_t row = 1; row < table->n_rows; row++) {
        const size_t before = row_before(table, row, rank, device);
        repeats |= before != SIZE_MAX;
        if (before != SIZE_MAX && !same_cells(table, before, row, column))
            return false;
    }
    return repeats;
}

/* Whether some word tells rows apart, of a table by rank those of one owner: else the column is
 * their name. */
static bool has_names(const struct ta_table *table, size_t rank, size_t device)
{
    if (rank == SIZE_MAX)
        return is_word(&table->columns[0]) && !is_constant(table, 0);
    for (size_t i = 0; i < table->n_columns; i++)
        if (i != device && is_word(&table->columns[i]) && ta_column_is_useful(table, i) &&
            !is_constant(table, i) && !is_of_owner(table, i, rank, device))
            return true;
    return false;
}

/* Whether the terminal never shows a column, and pages have no use for it: it is for programs, or a
 * word of few that is the same in every row. */
static bool is_for_programs(const struct ta_table *table, size_t column)
{
    const struct ta_brief *brief = table->def ? table->def->brief : NULL;
    bool is_never = false;
    for (size_t i = 0; brief && i < TA_BRIEF_COLUMNS && brief->never[i]; i++)
        is_never |= brief->never[i] == &table->def->columns[column];
    const enum ta_type type = table->columns[column].type;
    const bool is_choice = type == TA_TYPE_WORD || type == TA_TYPE_BOOLEAN;
    return is_never && (table->columns[column].detail || (is_choice && is_constant(table, column)));
}

void html_choose_columns(const struct ta_table *table, enum html_opening opening,
                         enum html_hidden *hidden)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n_columns; i++) {
        const bool says = opening != HTML_OPEN || ta_column_says_ever(table, i);
        hidden[i] = !ta_column_is_useful(table, i) ? HTML_EMPTY
                    : is_for_programs(table, i)    ? HTML_FOR_PROGRAMS
                    : !says                        ? HTML_NOTHING
                                                   : HTML_SHOWN;
        n += hidden[i] == HTML_SHOWN;
    }
    const size_t rank = ta_table_rank(table), device = ta_table_device(table);
    if (n < WIDE_FROM)
        return;

    /* A change by 5 % is a ratio of 1.05; details are what the figures of a table are worked out
     * of, and what says nothing to most. */
    for (size_t i = 0; i < table->n_columns; i++)
        if (hidden[i] == HTML_SHOWN && table->columns[i].is_ratio_of_change)
            hidden[i] = HTML_REPEATED;
        else if (hidden[i] == HTML_SHOWN && table->columns[i].detail)
            hidden[i] = HTML_DETAIL;
    if (!has_names(table, rank, device))
        return;
    for (size_t i = 0; i < table->n_columns; i++) {
        if (hidden[i] != HTML_SHOWN || i == rank || !is_word(&table->columns[i]))
            continue;
        if (is_constant(table, i))
            hidden[i] = HTML_CONSTANT;
        else if (rank != SIZE_MAX && i != device && is_of_owner(table, i, rank, device))
            hidden[i] = HTML_OF_OWNER;
    }
}

/* Names the columns of a kind after some words; of those that are the same everywhere, as what. */
static bool put_names(const struct page *page, const struct ta_table *table,
                      const enum html_hidden *hidden, enum html_hidden kind, const char *words,
                      bool any)
{
    bool first = true;
    for (size_t i = 0; i < table->n_columns; i++) {
        if (hidden[i] != kind || !ta_column_is_shown(table, i))
            continue;
        if (first)
            html_put(page, any ? " %s" : "<p class=\"limit\">%s", words);
        html_put(page, first ? "%s" : ", %s", table->columns[i].title);
        if (kind == HTML_CONSTANT) {
            char buffer[TA_WORD_TEXT_MAX];
            ta_puts(page->out, " <b>");
            ta_put_html(page->out, ta_table_text(table, 0, i, buffer));
            ta_puts(page->out, "</b>");
        }
        first = false;
    }
    if (!first)
        ta_puts(page->out, ".");
    return any || !first;
}

void html_put_hidden(const struct page *page, const struct ta_table *table,
                     const enum html_hidden *hidden)
{
    bool any = put_names(page, table, hidden, HTML_EMPTY, "No row has a value of: ", false);
    any = put_names(page, table, hidden, HTML_NOTHING, "Zero or empty in every row: ", any);
    any = put_names(page, table, hidden, HTML_CONSTANT, "In every row: ", any);
    any = put_names(page, table, hidden, HTML_REPEATED, "Hidden, the change says it: ", any);
    any = put_names(page, table, hidden, HTML_DETAIL, "Hidden, for a closer look: ", any);
    any = put_names(page, table, hidden, HTML_OF_OWNER,
                    "Hidden, the same for all rows of a rank: ", any);
    if (any)
        ta_puts(page->out, "</p>\n");
}
