/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places along a horizontal axis of rows, such as steps: which rows share one, and the labels. */
#include "render/chart/layout.h"

#include <math.h>
#include <stdlib.h>

enum {
    /* A step missing here and there keeps its place; far apart numbers do not. */
    LEAST_DENSITY = 4,
    /* Texts are told apart by comparing all with all. */
    TEXTS_MAX = 4096,
    DIGITS_MAX = 15,
};

/* The number at the end of a label, "ProfilerStep#12"; -1 when there is none. */
static int64_t number_of(const struct ta_cell *cell, size_t *prefix)
{
    *prefix = 0;
    if (cell->kind == TA_CELL_INT)
        return cell->i < 0 ? -1 : cell->i;
    if (cell->kind != TA_CELL_TEXT)
        return -1;
    size_t at = cell->text.len;
    int64_t number = 0, power = 1;
    while (at > 0 && cell->text.len - at < DIGITS_MAX && cell->text.ptr[at - 1] >= '0' &&
           cell->text.ptr[at - 1] <= '9') {
        number += (cell->text.ptr[--at] - '0') * power;
        power *= 10;
    }
    *prefix = at;
    return at == cell->text.len ? -1 : number;
}

/* What is not drawn needs no place. */
static bool is_drawn(const struct ta_layout *layout, size_t row)
{
    return !isnan(ta_data_value(layout, row, ta_data_column(layout, layout->chart->y[0].column)));
}

static size_t first_drawn(const struct ta_layout *layout)
{
    size_t row = 0;
    while (row < layout->table->n_rows && !is_drawn(layout, row))
        row++;
    return row;
}

/* Whether all labels are numbers after one and the same text, close enough to each other. */
static bool by_number(const struct ta_layout *layout, size_t column, struct ta_slots *slots)
{
    const size_t n_rows = layout->table->n_rows, first_row = first_drawn(layout);
    int64_t least = INT64_MAX, most = -1;
    if (first_row == n_rows)
        return false;
    const struct ta_cell *first = ta_table_cell(layout->table, first_row, column);
    size_t first_prefix, prefix;
    number_of(first, &first_prefix);
    for (size_t row = first_row; row < n_rows; row++) {
        const struct ta_cell *cell = ta_table_cell(layout->table, row, column);
        if (!is_drawn(layout, row))
            continue;
        int64_t number = number_of(cell, &prefix);
        if (number < 0 || cell->kind != first->kind || prefix != first_prefix ||
            (prefix && memcmp(cell->text.ptr, first->text.ptr, prefix) != 0))
            return false;
        least = ta_min_i64(least, number);
        most = ta_max_i64(most, number);
    }
    if ((uint64_t)(most - least) / LEAST_DENSITY > n_rows)
        return false;
    slots->numbered = true;
    slots->first = least;
    slots->n = (size_t)(most - least) + 1;
    for (size_t row = first_row; row < n_rows; row++)
        if (is_drawn(layout, row))
            slots->of_row[row] =
                (size_t)(number_of(ta_table_cell(layout->table, row, column), &prefix) - least);
    return true;
}

/* Texts in the order of their first rows; false without memory, too. */
static bool by_text(struct ta_layout *layout, size_t column, struct ta_slots *slots)
{
    struct ta_groups texts;
    const size_t n_rows = layout->table->n_rows;
    if (n_rows > TEXTS_MAX || !ta_data_groups(layout, column, &texts))
        return false;
    size_t *slot_of = ta_arena_alloc(layout->arena, (texts.n + 1) * sizeof *slot_of);
    slots->labels = ta_arena_alloc(layout->arena, (texts.n + 1) * sizeof *slots->labels);
    if (!slot_of || !slots->labels)
        return false;
    for (size_t row = 0; row < n_rows; row++) {
        const size_t text = texts.of_row[row];
        if (!is_drawn(layout, row))
            continue;
        if (!slot_of[text]) {
            slots->labels[slots->n++] = texts.names[text];
            slot_of[text] = slots->n;
        }
        slots->of_row[row] = slot_of[text] - 1;
    }
    return slots->n > 0;
}

bool ta_slots_make(struct ta_layout *layout, const struct ta_groups *groups, size_t group_column,
                   struct ta_slots *slots)
{
    size_t column = SIZE_MAX;
    for (int i = 0; i < TA_CHART_LABELS && column == SIZE_MAX; i++) {
        column = ta_data_column(layout, layout->chart->label[i]);
        column = column == group_column ? SIZE_MAX : column;
    }
    *slots = (struct ta_slots){
        .of_row = ta_arena_alloc(layout->arena, (layout->table->n_rows + 1) * sizeof(size_t)),
        .title = ta_data_title(layout, column),
    };
    if (!slots->of_row)
        return false;
    if (column != SIZE_MAX && (by_number(layout, column, slots) || by_text(layout, column, slots)))
        return true;
    size_t *next = calloc(groups->n + 1, sizeof *next);
    if (!next)
        return !(layout->failed = true);
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        /* Kinds are of rows of one series, groups are series of their own. */
        slots->of_row[row] = layout->chart->kinds ? row : next[groups->of_row[row]]++;
        slots->n = slots->of_row[row] >= slots->n ? slots->of_row[row] + 1 : slots->n;
    }
    free(next);
    slots->numbered = true;
    slots->first = 1;
    slots->title = "Row";
    return true;
}

double ta_slots_x(const struct ta_slots *slots, const struct ta_plot *plot, size_t slot)
{
    return plot->x + plot->w * ((double)slot + 0.5) / (double)slots->n;
}

static const char *label_of(struct ta_layout *layout, const struct ta_slots *slots, size_t slot)
{
    char text[TA_UNIT_TEXT_MAX];
    if (!slots->numbered)
        return slots->labels[slot];
    return ta_pen_printf(layout, "%s", ta_number_format(text, (double)slots->first + (double)slot));
}

/* Labels at numbers that are multiples of the stride. */
static bool on_stride(const struct ta_slots *slots, size_t slot, size_t stride)
{
    return ((size_t)slots->first + slot) % stride == 0;
}

void ta_slots_guide(struct ta_layout *layout, const struct ta_slots *slots,
                    const struct ta_plot *plot)
{
    double base = plot->y + plot->h + 14, widest = 0, step = plot->w / (double)slots->n;
    double free_from = 0;
    const double most = 90;
    size_t samples = slots->n < TEXTS_MAX ? slots->n : 2;
    for (size_t i = 0; i < samples; i++)
        widest = fmax(
            widest, ta_pen_width(layout, TA_FACE_SMALL, label_of(layout, slots, slots->n - 1 - i)));
    size_t stride = 1;
    while (step * (double)stride < fmin(widest, most) + 10 && stride < slots->n) {
        /* The next of 1, 2, 5, 10, 20, 50 … */
        size_t power = 1;
        while (power * 10 <= stride)
            power *= 10;
        stride = stride / power == 2 ? power * 5 : stride / power == 1 ? power * 2 : power * 10;
    }
    for (size_t slot = 0; slot < slots->n; slot++) {
        if (!on_stride(slots, slot, stride))
            continue;
        const char *label = ta_pen_fit(layout, TA_FACE_SMALL, label_of(layout, slots, slot), most);
        free_from =
            ta_guide_centered(layout, ta_slots_x(slots, plot, slot), base, free_from, label);
    }
    const char *title = ta_pen_fit(layout, TA_FACE_SMALL, slots->title, plot->w);
    ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, TA_ANCHOR_END, plot->x + plot->w, base + 14,
                title, NULL);
}
