/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts read their tables through this: numbers, names safe to show, groups. */
#include "model/families.h"
#include "render/chart/layout.h"
#include "render/chart/scene.h"
#include "report/words.h"
#include "traceanalyze/output.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* Bytes kept of a long name: more than any tip can show. */
enum { NAME_MOST = 480 };

size_t ta_data_column(const struct ta_layout *layout, const char *key)
{
    return key ? ta_table_column(layout->table, key) : SIZE_MAX;
}

double ta_data_value(const struct ta_layout *layout, size_t row, size_t column)
{
    if (column == SIZE_MAX)
        return NAN;
    return ta_cell_number(ta_table_cell(layout->table, row, column), NAN);
}

enum ta_unit ta_data_unit(const struct ta_layout *layout, size_t column)
{
    return column == SIZE_MAX ? TA_UNIT_NONE : layout->table->columns[column].unit;
}

const char *ta_data_title(const struct ta_layout *layout, size_t column)
{
    return column == SIZE_MAX ? "" : layout->table->columns[column].title;
}

/* ---- classes ------------------------------------------------------------------------- */

/* What a class of device time or of kernels is called in charts, and the slices that it is. */
struct class
{
    const char *title; /* NULL: it is none */
    enum ta_slice_kind slice;
};

/* Names that no kind of kernels has. */
static const struct {
    const char *name;
    struct class class;
} others[] = {
    {"compute", {"compute", TA_SLICE_GEMM}},
    {"memcpy", {"copies", TA_SLICE_MEMCPY}},
    {"memset", {"memory sets", TA_SLICE_MEMSET}},
    {"pointwise", {"pointwise", TA_SLICE_POINTWISE}},
};

static struct class class_of(const char *name)
{
    for (size_t i = 0; i < TA_LENGTH(others); i++)
        if (strcmp(name, others[i].name) == 0 || strcmp(name, others[i].class.title) == 0)
            return others[i].class;
    for (int kind = 0; kind < TA_KERNEL_KIND_COUNT; kind++) {
        const struct ta_family *family = ta_kernel_family((enum ta_kernel_kind)kind);
        if (strcmp(name, ta_kernel_kind_name((enum ta_kernel_kind)kind)) == 0 ||
            strcmp(name, family->title) == 0)
            return (struct class){family->title, family->slice};
    }
    return (struct class){NULL, TA_SLICE_HOST};
}

enum ta_ink ta_data_class_ink(const char *name)
{
    const struct class class = class_of(name);
    return class.title ? ta_slice_look(class.slice)->ink : TA_INK_NONE;
}

/* ---- names --------------------------------------------------------------------------- */

static const char *visible(struct ta_layout *layout, struct ta_slice text)
{
    const char *shown = ta_draw_text(layout->arena, text, NAME_MOST);
    return shown ? shown : "";
}

const char *ta_data_cell(struct ta_layout *layout, size_t row, size_t column)
{
    const struct ta_cell *cell = ta_table_cell(layout->table, row, column);
    const struct ta_column *head = &layout->table->columns[column];
    char buffer[TA_WORD_TEXT_MAX];
    const char *text = visible(layout, ta_table_text(layout->table, row, column, buffer));
    if (cell->kind == TA_CELL_TEXT && column == ta_data_column(layout, layout->chart->group)) {
        const struct class class = class_of(text);
        return class.title ? class.title : text;
    }
    if (cell->kind != TA_CELL_INT || head->unit != TA_UNIT_NONE)
        return text;
    /* "Rank" becomes "rank", "GPU" stays. */
    const char *title = head->title;
    bool word = isupper((unsigned char)title[0]) && islower((unsigned char)title[1]);
    return ta_pen_printf(layout, "%c%s %s", word ? tolower((unsigned char)title[0]) : title[0],
                         title[0] ? title + 1 : "", text);
}

const char *ta_data_name(struct ta_layout *layout, size_t row, size_t without)
{
    const char *name = "";
    for (int i = 0; i < TA_CHART_LABELS; i++) {
        size_t column = ta_data_column(layout, layout->chart->label[i]);
        if (column == SIZE_MAX || column == without)
            continue;
        if (ta_table_cell(layout->table, row, column)->kind == TA_CELL_NULL)
            continue;
        const char *part = ta_data_cell(layout, row, column);
        name = *name ? ta_pen_printf(layout, "%s · %s", name, part) : part;
    }
    return *name || without == SIZE_MAX ? name : ta_data_name(layout, row, SIZE_MAX);
}

const char *ta_data_full_name(struct ta_layout *layout, size_t row)
{
    size_t group = ta_data_column(layout, layout->chart->group);
    const char *name = ta_data_name(layout, row, SIZE_MAX);
    for (int i = 0; i < TA_CHART_LABELS; i++)
        if (group == ta_data_column(layout, layout->chart->label[i]))
            return name;
    if (group == SIZE_MAX)
        return name;
    const char *of = ta_data_cell(layout, row, group);
    return *name ? ta_pen_printf(layout, "%s · %s", of, name) : of;
}

/* ---- groups -------------------------------------------------------------------------- */

bool ta_data_groups(struct ta_layout *layout, size_t column, struct ta_groups *groups)
{
    const size_t n_rows = layout->table->n_rows;
    size_t *first_row = calloc(n_rows + 1, sizeof *first_row);
    *groups = (struct ta_groups){
        .of_row = ta_arena_alloc(layout->arena, (n_rows + 1) * sizeof *groups->of_row),
        .n = column == SIZE_MAX,
    };
    if (!first_row || !groups->of_row) {
        free(first_row);
        return !(layout->failed = true);
    }
    for (size_t row = 0, group = 0; row < n_rows && column != SIZE_MAX; row++) {
        const struct ta_cell *cell = ta_table_cell(layout->table, row, column);
        /* Rows of a group mostly stand together, so the last group is tried first. */
        if (groups->n == 0 ||
            !ta_cell_equal(cell, ta_table_cell(layout->table, first_row[group], column)))
            for (group = 0; group < groups->n; group++)
                if (ta_cell_equal(cell, ta_table_cell(layout->table, first_row[group], column)))
                    break;
        if (group == groups->n)
            first_row[groups->n++] = row;
        groups->of_row[row] = group;
    }
    groups->names = ta_arena_alloc(layout->arena, (groups->n + 1) * sizeof *groups->names);
    groups->inks = ta_arena_alloc(layout->arena, (groups->n + 1) * sizeof *groups->inks);
    for (size_t i = 0; groups->names && i < groups->n; i++)
        groups->names[i] = column == SIZE_MAX ? "" : ta_data_cell(layout, first_row[i], column);
    free(first_row);
    return groups->names && groups->inks;
}

enum ta_ink ta_data_next_series(int *series)
{
    const int now = *series;
    *series = now < TA_INK_SERIES_7 ? now + 1 : TA_INK_SERIES_3;
    return (enum ta_ink)now;
}

static bool any_class(const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ta_data_class_ink(names[i]) != TA_INK_NONE)
            return true;
    return false;
}

/* The first two series look like computing and communication, the next two like families. */
enum ta_ink ta_data_first_series(const char *const *names, size_t n)
{
    return any_class(names, n) ? TA_INK_SERIES_5 : TA_INK_SERIES_1;
}

enum ta_ink ta_data_rest_ink(const char *const *names, size_t n)
{
    return any_class(names, n) ? TA_INK_KERNEL : TA_INK_SERIES_7;
}

void ta_data_color_groups(struct ta_groups *groups, const double *scores)
{
    groups->others = groups->n > TA_GROUPS_SHOWN;
    groups->rest = ta_data_rest_ink(groups->names, groups->n);
    size_t colored = groups->others ? TA_GROUPS_SHOWN - 1 : groups->n;
    int series = (int)ta_data_first_series(groups->names, groups->n);
    for (size_t i = 0; i < groups->n; i++) {
        size_t better = 0;
        for (size_t k = 0; k < groups->n && groups->others; k++)
            better += scores[k] > scores[i] || (scores[k] == scores[i] && k < i);
        if (better >= colored) {
            groups->inks[i] = groups->rest;
            continue;
        }
        /* A class of device time has its color wherever it appears. */
        const enum ta_ink ink = ta_data_class_ink(groups->names[i]);
        groups->inks[i] = ink != TA_INK_NONE ? ink : ta_data_next_series(&series);
    }
}

size_t ta_data_legend(struct ta_layout *layout, const struct ta_groups *groups,
                      enum ta_mark_kind kind, struct ta_legend_entry entries[TA_GROUPS_SHOWN + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < groups->n && n < TA_GROUPS_SHOWN; i++)
        if (!ta_groups_rest(groups, i))
            entries[n++] = (struct ta_legend_entry){groups->inks[i], kind, groups->names[i]};
    if (groups->others) {
        const char *rest = ta_pen_printf(layout, "other (%zu)", groups->n - n);
        entries[n++] = (struct ta_legend_entry){groups->rest, kind, rest};
    }
    return n;
}
