/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pareto chart: the largest rows as bars, with their cumulative share of all rows as text. */
#include "render/chart/bars.h"
#include "report/tables.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_SHOWN = 30, PLAIN_SHARE_ROWS = 5 };

struct item {
    size_t row;
    double value;
};

struct pareto {
    struct item *items; /* rows with a value, largest first */
    size_t n, n_joined, n_shown, value_column, group_column;
    double sum, rest; /* of all, and of those that are not shown */
    enum ta_unit unit;
    struct ta_groups groups;
};

static int descending(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->value != y->value)
        return (x->value < y->value) - (x->value > y->value);
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows that differ by their ranks alone are one bar. */
static bool sums_ranks(const struct ta_layout *layout)
{
    const size_t rank = ta_table_rank(layout->table);
    bool named = rank == SIZE_MAX;
    for (int i = 0; i < TA_CHART_LABELS && layout->chart->label[i]; i++)
        named |= rank == ta_data_column(layout, layout->chart->label[i]);
    return !named;
}

/* Adds up rows of the same name; they are few, since ranks have the same names. */
static void join_names(struct ta_layout *layout, struct pareto *pareto)
{
    struct ta_groups names;
    if (!ta_data_groups(layout, ta_data_column(layout, layout->chart->label[0]), &names))
        return;
    size_t *at = ta_arena_alloc(layout->arena, (names.n + 1) * sizeof *at);
    size_t n = 0;
    for (size_t i = 0; at && i < pareto->n; i++) {
        const size_t name = names.of_row[pareto->items[i].row];
        if (at[name] == 0) {
            pareto->items[n++] = pareto->items[i];
            at[name] = n;
        } else
            pareto->items[at[name] - 1].value += pareto->items[i].value;
    }
    pareto->n_joined = pareto->n - n;
    pareto->n = n;
}

static double share_of(const struct pareto *pareto, double value)
{
    return pareto->sum > 0 ? value / pareto->sum : 0;
}

static enum ta_ink ink_of(const struct ta_layout *layout, const struct pareto *pareto, size_t row)
{
    if (pareto->group_column != SIZE_MAX)
        return pareto->groups.inks[pareto->groups.of_row[row]];
    enum ta_ink ink = layout->chart->y[0].ink;
    return ink == TA_INK_NONE ? TA_INK_SERIES_1 : ink;
}

static void make_bar(struct ta_layout *layout, const struct pareto *pareto, size_t index,
                     double cumulative, struct ta_bar *bar)
{
    const struct item *item = &pareto->items[index];
    const char *value = ta_pen_value(layout, item->value, pareto->unit);
    *bar = (struct ta_bar){
        .kind = TA_BAR_STACK,
        .name = ta_data_name(layout, item->row, pareto->group_column),
        .name_ink = TA_INK_TEXT,
        .numbers = {value, ta_pen_value(layout, share_of(pareto, cumulative), TA_UNIT_RATIO)},
        .n_parts = item->value > 0,
    };
    bar->parts[0] = (struct ta_bar_part){
        .ink = ink_of(layout, pareto, item->row),
        .value = item->value,
        .tip = ta_pen_printf(layout, "%s · %s · %s", bar->name, value,
                             ta_pen_value(layout, share_of(pareto, item->value), TA_UNIT_RATIO)),
    };
}

/* One line for all rows that are not drawn, so that the numbers add up to the whole.  It has no
 * bar: that would dwarf the others. */
static void make_rest(struct ta_layout *layout, const struct pareto *pareto, double cumulative,
                      struct ta_bar *bar)
{
    const char *value = ta_pen_value(layout, pareto->rest, pareto->unit);
    *bar = (struct ta_bar){
        .kind = TA_BAR_STACK,
        .name = ta_pen_printf(
            layout, "%s others",
            ta_pen_value(layout, (double)(pareto->n - pareto->n_shown), TA_UNIT_COUNT)),
        .name_ink = TA_INK_MUTED,
        .numbers = {value, ta_pen_value(layout, share_of(pareto, cumulative), TA_UNIT_RATIO)},
    };
}

static void summarize(struct ta_layout *layout, const struct pareto *pareto)
{
    size_t few = pareto->n < PLAIN_SHARE_ROWS ? pareto->n : PLAIN_SHARE_ROWS;
    double sum = 0;
    for (size_t i = 0; i < few; i++)
        sum += fmax(0, pareto->items[i].value);
    layout->summary = ta_pen_printf(
        layout, "The largest of %s is %s with %s (%s); the first %zu make %s of %s.",
        ta_pen_value(layout, (double)pareto->n, TA_UNIT_COUNT),
        ta_data_name(layout, pareto->items[0].row, pareto->group_column),
        ta_pen_value(layout, pareto->items[0].value, pareto->unit),
        ta_pen_value(layout, share_of(pareto, fmax(0, pareto->items[0].value)), TA_UNIT_RATIO), few,
        ta_pen_value(layout, share_of(pareto, sum), TA_UNIT_RATIO),
        ta_pen_value(layout, pareto->sum, pareto->unit));
    const char *sample =
        ta_pen_sample(layout, pareto->n, layout->table->n_rows - pareto->n - pareto->n_joined);
    layout->note = pareto->rest > 0
                       ? ta_pen_printf(layout, "%s; the %zu largest are drawn, shares are of all.",
                                       sample, pareto->n_shown)
                       : ta_pen_printf(layout, "%s.", sample);
}

/* Bars that are named by their group need no legend. */
static bool is_label(const struct ta_layout *layout, size_t column)
{
    return column == ta_data_column(layout, layout->chart->label[0]);
}

static bool color(struct ta_layout *layout, struct pareto *pareto)
{
    if (pareto->group_column == SIZE_MAX)
        return true;
    if (!ta_data_groups(layout, pareto->group_column, &pareto->groups))
        return false;
    double *scores = ta_arena_alloc(layout->arena, (pareto->groups.n + 1) * sizeof *scores);
    for (size_t i = 0; scores && i < pareto->n; i++)
        scores[pareto->groups.of_row[pareto->items[i].row]] += pareto->items[i].value;
    if (scores)
        ta_data_color_groups(&pareto->groups, scores);
    /* Without a legend there is no end to the classes that have their own. */
    for (size_t i = 0; is_label(layout, pareto->group_column) && i < pareto->groups.n; i++) {
        const enum ta_ink ink = ta_data_class_ink(pareto->groups.names[i]);
        pareto->groups.inks[i] = ink != TA_INK_NONE ? ink : pareto->groups.inks[i];
    }
    return scores;
}

static void draw(struct ta_layout *layout, struct pareto *pareto)
{
    size_t top = layout->chart->top ? layout->chart->top : ROWS_SHOWN;
    size_t room = ta_bars_room(layout);
    top = top < room ? top : room - 1;
    pareto->n_shown = pareto->n > top ? top : pareto->n;
    /* Bars of no length say nothing; without any other they say that there is nothing. */
    while (pareto->n_shown > 1 && !(pareto->items[pareto->n_shown - 1].value > 0))
        pareto->n_shown--;
    struct ta_bar_list list = {
        .face = TA_FACE_MONO,
        .unit = pareto->unit,
        .heads = {ta_data_title(layout, pareto->value_column), "Cumulative"},
        .title = ta_data_title(layout, pareto->value_column),
        .bars = calloc(pareto->n_shown + 1, sizeof *list.bars),
    };
    if (!list.bars || !color(layout, pareto)) {
        layout->failed = true;
        free(list.bars);
        return;
    }
    if (!is_label(layout, pareto->group_column))
        list.n_legend = ta_data_legend(layout, &pareto->groups, TA_MARK_RECT, list.legend);
    for (size_t i = pareto->n_shown; i < pareto->n; i++)
        pareto->rest += fmax(0, pareto->items[i].value);
    summarize(layout, pareto);
    double cumulative = 0;
    for (size_t i = 0; i < pareto->n_shown; i++) {
        cumulative += fmax(0, pareto->items[i].value);
        make_bar(layout, pareto, i, cumulative, &list.bars[list.n++]);
    }
    if (pareto->rest > 0)
        make_rest(layout, pareto, cumulative + pareto->rest, &list.bars[list.n++]);
    ta_bars_draw(layout, &list);
    free(list.bars);
}

void ta_lay_pareto(struct ta_layout *layout)
{
    struct pareto pareto = {
        .items = calloc(layout->table->n_rows + 1, sizeof *pareto.items),
        .value_column = ta_data_column(layout, layout->chart->y[0].column),
        .group_column = ta_data_column(layout, layout->chart->group),
    };
    pareto.unit = ta_data_unit(layout, pareto.value_column);
    if (pareto.items) {
        double sum = 0;
        for (size_t row = 0; row < layout->table->n_rows; row++) {
            double value = ta_data_value(layout, row, pareto.value_column);
            if (isnan(value))
                continue;
            pareto.items[pareto.n++] = (struct item){row, value};
            sum += fmax(0, value);
        }
        if (sums_ranks(layout))
            join_names(layout, &pareto);
        /* A table may not list all, but never lists more. */
        pareto.sum = fmax(sum, (double)layout->chart->whole);
        if (pareto.n)
            qsort(pareto.items, pareto.n, sizeof *pareto.items, descending);
    } else
        layout->failed = true;
    if (pareto.n)
        draw(layout, &pareto);
    else
        ta_guide_empty(layout);
    free(pareto.items);
}
