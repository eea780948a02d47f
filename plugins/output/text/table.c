/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any table within the width of the terminal.
 *
 * Columns are taken in order of importance as long as they fit, and shown in the order of the
 * table.  Numbers end at one place, whatever the length of their unit. */
#include "lib/columns.h"
#include "report/short_name.h"
#include "report/tables.h"
#include "text.h"

#include <traceanalyze/model.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    GAP = 2,
    NAME_LEAST = 28,   /* columns that a name gets before any number is left out */
    NAME_GOOD = 48,    /* and before the less important ones */
    PRIORITY_LAST = 8, /* points in time are left out: they say nothing by themselves */
    PRIORITY_TOGETHER = 100,
    KEY_MOST = 18, /* width of a key that is not the name */
    BAR_LEAST = 12,
    BAR_MOST = 40,
    REMARK = 8, /* column where a remark below a row begins */
};

/* One column as it is drawn. */
struct slot {
    size_t width;          /* of head and cells */
    size_t number, suffix; /* widest number, and widest unit with its blank */
    size_t head;           /* bytes of the head's first line; the rest is the second */
    int priority;          /* smaller matters more */
    bool key, numeric, taken;
    bool empty; /* says nothing in the rows that are shown */
};

struct layout {
    const struct page *page;
    const struct ta_table *table;
    const struct ta_brief *brief;

    struct slot *slots; /* one per column of the table */
    struct text_rows shown;
    size_t name;    /* the key that grows and shrinks, SIZE_MAX without one */
    size_t renamed; /* the column with the other name of what has two, SIZE_MAX without one */
    struct text_bars bars;
    size_t bar_width;
};

/* ---- columns ------------------------------------------------------------------------- */

static bool is_same(const struct ta_column *column, const struct ta_column *declared)
{
    return declared && strcmp(column->key, declared->key) == 0;
}

static bool is_one_of(const struct ta_column *column, const struct ta_column *const *declared)
{
    for (size_t i = 0; i < TA_BRIEF_COLUMNS; i++)
        if (is_same(column, declared[i]))
            return true;
    return false;
}

/* What a reader of a summary looks for first. */
static int priority_of(const struct ta_column *column, const struct ta_brief *brief)
{
    if (is_one_of(column, brief->first))
        return 1;
    if (is_one_of(column, brief->together))
        return PRIORITY_TOGETHER;
    static const struct {
        const char *part;
        int priority;
    } words[] = {
        {"_rank", 2},   {"_start", 9},  {"stddev", 8}, {"p99", 7},   {"p50", 6},   {"min", 6},
        {"max", 5},     {"p95", 5},     {"total", 1},  {"self", 2},  {"busy", 1},  {"idle", 2},
        {"exposed", 2}, {"compute", 2}, {"share", 1},  {"ratio", 1}, {"calls", 2}, {"bandwidth", 2},
        {"dur", 1},     {"window", 2},  {"mean", 3},   {"count", 3}, {"bytes", 3},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(column->key, words[i].part))
            return words[i].priority;
    return 4;
}

/* Bytes of the text of a cell that is not in the table as it is. */
enum { CELL_MAX = 1024 };

/* A name as people say it, of at most `most` bytes and an ellipsis, at `out`; gives its length. */
static size_t put_said(char *out, struct ta_slice name, size_t most)
{
    struct ta_arena arena = {0};
    const struct ta_slice said = ta_short_name(&arena, name, most);
    const size_t n = said.ptr ? said.len : 0;
    memcpy(out, said.ptr ? said.ptr : "", n);
    ta_arena_free(&arena);
    return n;
}

/* "old → new", each name as people say it. */
static struct ta_slice joint_name(const struct layout *layout, size_t row, size_t column,
                                  char buffer[CELL_MAX])
{
    const struct ta_slice arrow = TA_LIT(" → ");
    const size_t half = (CELL_MAX - arrow.len) / 2 - sizeof "…";
    size_t n = put_said(buffer, ta_table_cell(layout->table, row, column)->text, half);
    memcpy(buffer + n, arrow.ptr, arrow.len);
    n += arrow.len;
    n += put_said(buffer + n, ta_table_cell(layout->table, row, layout->renamed)->text, half);
    return (struct ta_slice){buffer, n};
}

static struct ta_slice cell_text(const struct layout *layout, size_t row, size_t column,
                                 char buffer[CELL_MAX])
{
    if (column == 0 && text_row_is_renamed(layout->table, row))
        return joint_name(layout, row, column, buffer);
    if (ta_table_cell(layout->table, row, column)->kind == TA_CELL_NULL)
        return layout->slots[column].numeric ? TA_LIT("–") : TA_LIT("");
    const struct ta_slice text = ta_table_text(layout->table, row, column, buffer);
    if (layout->table->columns[column].type != TA_TYPE_STRING || text.len == 0 ||
        memmem(text.ptr, text.len, " → ", sizeof " → " - 1))
        return text;
    return (struct ta_slice){buffer, put_said(buffer, text, CELL_MAX - sizeof "…")};
}

/* Bytes before the blank that separates a number from its unit. */
static size_t number_length(struct ta_slice text)
{
    const char *blank = memrchr(text.ptr, ' ', text.len);
    return blank ? (size_t)(blank - text.ptr) : text.len;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Heads take two lines when that makes the column narrower. */
static size_t measure_head(const char *title, size_t *first_line)
{
    const size_t length = strlen(title);
    size_t best = ta_terminal_width(ta_slice_of(title));
    *first_line = length;
    for (size_t i = 0; i < length; i++) {
        if (title[i] != ' ')
            continue;
        const size_t width = larger(ta_terminal_width((struct ta_slice){title, i}),
                                    ta_terminal_width(ta_slice_of(title + i + 1)));
        if (width < best) {
            best = width;
            *first_line = i;
        }
    }
    return best;
}

static void measure_cells(const struct layout *layout, size_t column)
{
    struct slot *slot = &layout->slots[column];
    bool all_equal = true;
    size_t width = 0;
    for (size_t i = 0; i < layout->shown.n; i++) {
        char buffer[CELL_MAX], first[CELL_MAX];
        const struct ta_slice text = cell_text(layout, layout->shown.at[i], column, buffer);
        all_equal = all_equal &&
                    ta_slice_equal(text, cell_text(layout, layout->shown.at[0], column, first));
        const size_t number = slot->numeric ? number_length(text) : 0;
        const size_t before = ta_terminal_width((struct ta_slice){text.ptr, number});
        slot->number = larger(slot->number, before);
        slot->suffix = larger(slot->suffix, ta_terminal_width(text) - before);
        width = larger(width, ta_terminal_width(text));
    }
    if (slot->numeric && layout->shown.n)
        width = slot->number + slot->suffix;
    slot->width = larger(slot->width, width);
    if (all_equal && layout->shown.n > 1 && slot->priority != 1) /* says little of a single row */
        slot->priority += slot->key ? 4 : 1;
    slot->empty = !(slot->key && slot->numeric) &&
                  !ta_column_says(layout->table, column, layout->shown.at, layout->shown.n);
}

static void measure(struct layout *layout)
{
    const struct ta_brief *brief = layout->brief;
    const struct ta_table *table = layout->table;
    bool in_key = true;
    layout->name = SIZE_MAX;
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct ta_column *column = &table->columns[i];
        struct slot *slot = &layout->slots[i];
        in_key = in_key && column->unit == TA_UNIT_NONE && column->type != TA_TYPE_NUMBER;
        slot->key = in_key || i == 0;
        slot->numeric = column->type == TA_TYPE_INTEGER || column->type == TA_TYPE_NUMBER;
        const bool ranks = is_same(column, brief->largest);
        slot->priority = slot->key || ranks ? 0 : priority_of(column, brief);
        slot->width = measure_head(column->title, &slot->head);
        measure_cells(layout, i);
        slot->empty = slot->empty || !ta_column_is_shown(table, i) || i == layout->renamed ||
                      is_one_of(column, brief->never);
        if (slot->key && !slot->numeric && !slot->empty &&
            (layout->name == SIZE_MAX || slot->width > layout->slots[layout->name].width))
            layout->name = i;
    }
    for (size_t i = 0; i < table->n_columns; i++) {
        struct slot *slot = &layout->slots[i];
        if (!slot->key || i == layout->name)
            continue;
        slot->width = smaller(slot->width, KEY_MOST);
        if (!slot->numeric &&
            !is_one_of(&table->columns[i], brief->first)) /* where there is little room a
                                                                total says more than a class */
            slot->priority += 2;
    }
}

/* Takes columns of these priorities, the more important first, while they fit. */
static void take_columns(struct layout *layout, int first, int last, size_t *room)
{
    for (int priority = first; priority <= last; priority++) {
        for (size_t i = 0; i < layout->table->n_columns; i++) {
            struct slot *slot = &layout->slots[i];
            if (slot->taken || slot->empty || slot->priority != priority ||
                slot->width + GAP > *room)
                continue;
            slot->taken = true;
            *room -= slot->width + GAP;
        }
    }
}

/* Takes columns that say something only together, if all of them fit. */
static void take_together(struct layout *layout, size_t *room)
{
    size_t wanted = 0;
    for (size_t i = 0; i < layout->table->n_columns; i++)
        if (layout->slots[i].priority >= PRIORITY_TOGETHER && !layout->slots[i].empty)
            wanted += layout->slots[i].width + GAP;
    if (wanted <= *room)
        take_columns(layout, PRIORITY_TOGETHER, PRIORITY_TOGETHER + 1, room);
}

/* Widens the name to what it needs, at most to `most`. */
static void grow_name(struct layout *layout, size_t natural, size_t most, size_t *room)
{
    if (layout->name == SIZE_MAX)
        return;
    struct slot *name = &layout->slots[layout->name];
    const size_t wanted = smaller(natural, most);
    const size_t more = wanted > name->width ? smaller(*room, wanted - name->width) : 0;
    name->width += more;
    *room -= more;
}

/* A name that can be read comes before the last quantile, all of a name after it. */
static void choose_columns(struct layout *layout)
{
    size_t room = layout->page->width - TEXT_INDENT, natural = 0;
    if (layout->name != SIZE_MAX) {
        struct slot *name = &layout->slots[layout->name];
        natural = name->width;
        name->width = smaller(natural, layout->brief->whole_names ? room * 2 / 3 : NAME_LEAST);
        name->taken = true;
        room -= smaller(room, name->width);
    }
    if (layout->bars.chart && room > GAP + BAR_LEAST + 20) {
        layout->bar_width = BAR_LEAST;
        room -= GAP + BAR_LEAST;
    }
    take_columns(layout, 0, 3, &room);
    grow_name(layout, natural, NAME_GOOD, &room);
    take_together(layout, &room);
    take_columns(layout, 4, PRIORITY_LAST, &room);
    grow_name(layout, natural, natural, &room);
    if (layout->bar_width)
        layout->bar_width += smaller(room, BAR_MOST - BAR_LEAST);
}

/* ---- drawing ------------------------------------------------------------------------- */

static bool is_last(const struct layout *layout, size_t column)
{
    if (layout->bar_width)
        return false;
    for (size_t i = column + 1; i < layout->table->n_columns; i++)
        if (layout->slots[i].taken)
            return false;
    return true;
}

/* Text to the left, numbers to the right; nothing trails the last column. */
static void put_aligned(const struct layout *layout, size_t column, struct ta_slice text)
{
    const struct slot *slot = &layout->slots[column];
    const int pad = slot->numeric ? -1 : is_last(layout, column) ? 0 : 1;
    ta_put_terminal(layout->page->out, text, slot->width, pad);
}

static void put_cell(const struct layout *layout, size_t row, size_t column)
{
    const struct slot *slot = &layout->slots[column];
    char buffer[CELL_MAX];
    const struct ta_slice text = cell_text(layout, row, column, buffer);
    if (!slot->numeric || slot->width < slot->number + slot->suffix) {
        put_aligned(layout, column, text);
        return;
    }
    const size_t number = number_length(text);
    ta_put_terminal(layout->page->out, (struct ta_slice){text.ptr, number},
                    slot->width - slot->suffix, -1);
    ta_put_terminal(layout->page->out, ta_slice_from(text, number),
                    is_last(layout, column) ? 0 : slot->suffix, 1);
}

static struct ta_slice head_line(const struct layout *layout, size_t column, int line)
{
    const char *title = layout->table->columns[column].title;
    const size_t length = strlen(title), first = layout->slots[column].head;
    if (first == length) /* a head of one line is next to the rows */
        return line ? ta_slice_of(title) : TA_LIT("");
    return line ? ta_slice_of(title + first + 1) : (struct ta_slice){title, first};
}

static void put_heads(const struct layout *layout)
{
    bool two_lines = false;
    for (size_t i = 0; i < layout->table->n_columns; i++)
        two_lines |= layout->slots[i].taken &&
                     layout->slots[i].head < strlen(layout->table->columns[i].title);
    for (int line = two_lines ? 0 : 1; line < 2; line++) {
        text_style(layout->page, TEXT_DIM);
        /* Blanks are held back until something follows them. */
        size_t blanks = TEXT_INDENT;
        for (size_t i = 0; i < layout->table->n_columns; i++) {
            if (!layout->slots[i].taken)
                continue;
            const struct ta_slice head = head_line(layout, i, line);
            const size_t width = smaller(ta_terminal_width(head), layout->slots[i].width);
            const size_t rest = layout->slots[i].width - width;
            const bool right = layout->slots[i].numeric;
            if (head.len) {
                text_blanks(layout->page, blanks + (right ? rest : 0));
                ta_put_terminal(layout->page->out, head, layout->slots[i].width, 0);
                blanks = GAP + (right ? 0 : rest);
            } else {
                blanks += layout->slots[i].width + GAP;
            }
        }
        text_reset(layout->page);
        ta_putc(layout->page->out, '\n');
    }
}

/* A remark that has no room next to its row is printed below it. */
static void put_remark(const struct layout *layout, size_t row)
{
    char buffer[CELL_MAX], line[512];
    const size_t column = text_place_of(layout->table, layout->brief->remark);
    if (column == SIZE_MAX || layout->slots[column].taken ||
        ta_table_cell(layout->table, row, column)->kind == TA_CELL_NULL)
        return;
    const struct ta_slice text = cell_text(layout, row, column, buffer);
    snprintf(line, sizeof line, "%.*s", (int)(text.len < 500 ? text.len : 500), text.ptr);
    text_blanks(layout->page, REMARK);
    text_style(layout->page, TEXT_DIM);
    text_wrap(layout->page, line, REMARK);
    text_reset(layout->page);
}

static void put_row(const struct layout *layout, size_t row)
{
    size_t gap = TEXT_INDENT;
    for (size_t i = 0; i < layout->table->n_columns; i++) {
        if (!layout->slots[i].taken)
            continue;
        if (is_last(layout, i) && !layout->slots[i].numeric &&
            ta_table_cell(layout->table, row, i)->kind == TA_CELL_NULL)
            break; /* nothing trails the row */
        text_blanks(layout->page, gap);
        put_cell(layout, row, i);
        gap = GAP;
    }
    if (layout->bar_width)
        text_bar(layout->page, &layout->bars, layout->table, row, layout->bar_width, gap);
    ta_putc(layout->page->out, '\n');
    put_remark(layout, row);
}

/* Says what of the table is not shown. */
static void put_foot(const struct layout *layout)
{
    const struct page *page = layout->page;
    if (layout->bar_width)
        text_bar_legend(page, &layout->bars);
    if (layout->shown.n == layout->table->n_rows)
        return;
    const size_t by = text_place_of(layout->table, layout->brief->largest);
    const char *rows_are = layout->shown.is_cut ? layout->brief->rows_are : NULL;
    char shown[TA_UNIT_TEXT_MAX], all[TA_UNIT_TEXT_MAX], line[256];
    snprintf(line, sizeof line, "%s of %s rows%s%s",
             ta_unit_format(shown, (double)layout->shown.n, TA_UNIT_COUNT),
             ta_unit_format(all, (double)layout->table->n_rows, TA_UNIT_COUNT),
             by != SIZE_MAX ? ", the largest by "
             : rows_are     ? ", "
                            : "",
             by != SIZE_MAX ? layout->table->columns[by].title
             : rows_are     ? rows_are
                            : "");
    text_blanks(page, TEXT_INDENT);
    text_style(page, TEXT_DIM);
    text_wrap(page, line, TEXT_INDENT);
    text_reset(page);
}

enum ta_status text_table(const struct page *page, const struct ta_table *table)
{
    struct layout layout = {
        .page = page,
        .table = table,
        .brief = table->def->brief,
        .renamed = text_place_of(table, table->def->brief->renamed.name),
    };
    layout.slots = calloc(table->n_columns, sizeof *layout.slots);
    if (!layout.slots || !text_rows_choose(page, table, &layout.shown)) {
        free(layout.slots);
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Out of memory: doing=lay out table %s", table->id);
    }
    layout.bars = text_bars_of(table, layout.shown.at, layout.shown.n);
    measure(&layout);
    choose_columns(&layout);
    text_heading(page, table->title);
    put_heads(&layout);
    for (size_t i = 0; i < layout.shown.n; i++)
        put_row(&layout, layout.shown.at[i]);
    put_foot(&layout);
    free(layout.shown.at);
    free(layout.slots);
    return TA_OK;
}
