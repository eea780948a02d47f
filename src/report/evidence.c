/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which row of a table a finding rests on, and how people are told of it. */
#include "report/words.h"
#include "traceanalyze/output.h"

#include "report/short_name.h"

#include <ctype.h>
#include <stdio.h>

/* The first cell of a row need not be unique (a rank has several directions of copies): of the
 * rows with the right one, the row that holds the cited value is meant. */
size_t ta_evidence_row(const struct ta_table *table, const struct ta_evidence *evidence)
{
    const size_t column = ta_table_column(table, evidence->column);
    size_t first = SIZE_MAX;
    for (size_t row = 0; row < table->n_rows; row++) {
        if (!ta_cell_equal(ta_table_cell(table, row, 0), &evidence->row))
            continue;
        if (column != SIZE_MAX &&
            ta_cell_equal(ta_table_cell(table, row, column), &evidence->value))
            return row;
        if (first == SIZE_MAX)
            first = row;
    }
    return first;
}

/* ---- words --------------------------------------------------------------------------- */

struct line {
    char *text;
    size_t size, n;
};

static void add(struct line *line, struct ta_slice text)
{
    const size_t room = line->size - 1 - line->n;
    const size_t n = ta_slice_head(text, room).len;
    memcpy(line->text + line->n, text.ptr, n);
    line->n += n;
    line->text[line->n] = '\0';
    if (n < text.len)
        line->size = line->n + 1; /* nothing more after the cut */
}

/* The keys of a row stand first in it: texts and plain numbers.  Ids and truths are for programs.
 */
size_t ta_row_key(const struct ta_table *table, size_t row, size_t from)
{
    for (size_t i = from; i < table->n_columns; i++) {
        const struct ta_column *column = &table->columns[i];
        if (column->unit != TA_UNIT_NONE || column->type == TA_TYPE_NUMBER)
            return SIZE_MAX;
        if (column->type != TA_TYPE_BOOLEAN && column->type != TA_TYPE_ID &&
            ta_column_is_useful(table, i) && ta_table_cell(table, row, i)->kind != TA_CELL_NULL &&
            strcmp(column->key, "index") != 0)
            return i;
    }
    return SIZE_MAX;
}

const char *ta_key_title(const struct ta_table *table, size_t column, char title[TA_KEY_TITLE_MAX])
{
    snprintf(title, TA_KEY_TITLE_MAX, "%s", table->columns[column].title);
    if (title[0] && islower((unsigned char)title[1]))
        title[0] = (char)tolower((unsigned char)title[0]);
    return title;
}

/* Longer names tell no more where a line is read, not looked up. */
enum { NAME_MOST = 120 };

static void add_keys(struct line *line, const struct ta_table *table, size_t row)
{
    char title[TA_KEY_TITLE_MAX], buffer[TA_WORD_TEXT_MAX];
    for (size_t i = 0; (i = ta_row_key(table, row, i)) != SIZE_MAX; i++) {
        add(line, TA_LIT(" · "));
        if (ta_table_cell(table, row, i)->kind != TA_CELL_TEXT) {
            add(line, ta_slice_of(ta_key_title(table, i, title)));
            add(line, TA_LIT(" "));
        }
        const struct ta_slice name = ta_table_text(table, row, i, buffer);
        struct ta_arena arena = {0};
        const struct ta_slice shorter =
            name.len > NAME_MOST ? ta_short_name(&arena, name, NAME_MOST) : name;
        add(line, shorter.ptr ? shorter : name);
        ta_arena_free(&arena);
    }
}

void ta_evidence_text(const struct ta_report *report, const struct ta_evidence *evidence,
                      char *text, size_t size)
{
    struct line line = {text, size, 0};
    char buffer[TA_WORD_TEXT_MAX], value[TA_UNIT_TEXT_MAX];
    const struct ta_table *table = ta_report_table(report, evidence->table);
    const size_t row = table ? ta_evidence_row(table, evidence) : SIZE_MAX;
    const size_t column = table ? ta_table_column(table, evidence->column) : SIZE_MAX;
    *text = '\0';
    if (row != SIZE_MAX) {
        add(&line, ta_slice_of(table->title));
        add_keys(&line, table, row);
    } else {
        add(&line, ta_slice_of(table ? table->title : evidence->table));
        add(&line, evidence->row.kind == TA_CELL_NULL ? TA_LIT("") : TA_LIT(" · "));
        add(&line, ta_cell_text(&evidence->row, TA_UNIT_NONE, value));
    }
    add(&line, TA_LIT(" · "));
    add(&line, column != SIZE_MAX ? ta_slice_of(table->columns[column].title)
                                  : ta_word_text(ta_slice_of(evidence->column), buffer));
    add(&line, TA_LIT(": "));
    add(&line, ta_cell_text(&evidence->value, evidence->unit, value));
}
