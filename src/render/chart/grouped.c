/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grouped bars: a bar per row under the heading of its group.  Of many rows each group is one
 * range, p5 to p95 with its median. */
#include "render/chart/bars.h"
#include "traceanalyze/stat.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_SHOWN = 64 };

struct grouped {
    size_t value_column, group_column;
    enum ta_unit unit;
    struct ta_groups groups;
    size_t *rows; /* group after group */
    size_t n, n_values;
};

/* The headings tell the groups apart, so one ink for all is enough; groups get colors of their
 * own when the chart names none.  A class of device time keeps its ink. */
static enum ta_ink ink_of(const struct ta_layout *layout, const struct grouped *grouped, size_t row)
{
    const size_t group = grouped->groups.of_row[row];
    const enum ta_ink own = ta_data_class_ink(grouped->groups.names[group]);
    if (own != TA_INK_NONE)
        return own;
    const enum ta_ink ink = layout->chart->y[0].ink;
    return ink != TA_INK_NONE ? ink : grouped->groups.inks[group];
}

static bool color(struct ta_layout *layout, struct grouped *grouped)
{
    double *scores = ta_arena_alloc(layout->arena, (grouped->groups.n + 1) * sizeof *scores);
    for (size_t row = 0; scores && row < layout->table->n_rows; row++)
        scores[grouped->groups.of_row[row]] += 1;
    if (scores)
        ta_data_color_groups(&grouped->groups, scores);
    return scores;
}

static void make_heading(struct ta_layout *layout, const struct grouped *grouped, size_t group,
                         struct ta_bar_list *list)
{
    if (grouped->groups.n > 1 || *grouped->groups.names[group])
        list->bars[list->n++] =
            (struct ta_bar){.kind = TA_BAR_HEADING,
                            .name = ta_pen_printf(layout, "%s", grouped->groups.names[group])};
}

/* The range of the group of the rows from `first` on; false when none has a value. */
static bool make_range(struct ta_layout *layout, const struct grouped *grouped, size_t first,
                       size_t end, double *scratch, struct ta_bar *bar)
{
    size_t group = grouped->groups.of_row[grouped->rows[first]];
    size_t n = 0;
    for (size_t i = first; i < end; i++) {
        double value = ta_data_value(layout, grouped->rows[i], grouped->value_column);
        if (!isnan(value))
            scratch[n++] = value;
    }
    if (n == 0)
        return false;
    ta_sort_numbers(scratch, n);
    *bar = (struct ta_bar){.kind = TA_BAR_RANGE,
                           .name = *grouped->groups.names[group] ? grouped->groups.names[group]
                                                                 : "all rows",
                           .name_ink = TA_INK_TEXT,
                           .low = ta_quantile(scratch, n, 0.05),
                           .median = ta_quantile(scratch, n, 0.5),
                           .high = ta_quantile(scratch, n, 0.95),
                           .n_parts = 1};
    bar->numbers[0] = ta_pen_value(layout, bar->median, grouped->unit);
    bar->numbers[1] = ta_pen_printf(layout, "%zu", n);
    bar->parts[0] = (struct ta_bar_part){
        .ink = ink_of(layout, grouped, grouped->rows[first]),
        .tip = ta_pen_printf(layout, "%s · median %s · p5 %s · p95 %s · n = %zu", bar->name,
                             bar->numbers[0], ta_pen_value(layout, bar->low, grouped->unit),
                             ta_pen_value(layout, bar->high, grouped->unit), n)};
    return true;
}

static size_t group_end(const struct grouped *grouped, size_t first)
{
    size_t end = first;
    while (end < grouped->n && grouped->groups.of_row[grouped->rows[end]] ==
                                   grouped->groups.of_row[grouped->rows[first]])
        end++;
    return end;
}

static void make_ranges(struct ta_layout *layout, const struct grouped *grouped,
                        struct ta_bar_list *list)
{
    double *scratch = calloc(grouped->n, sizeof *scratch);
    if (!scratch) {
        layout->failed = true;
        return;
    }
    list->heads[0] = "Median";
    list->heads[1] = "n";
    for (size_t i = 0, end; i < grouped->n && list->n < ROWS_SHOWN; i = end) {
        end = group_end(grouped, i);
        list->n += make_range(layout, grouped, i, end, scratch, &list->bars[list->n]);
    }
    free(scratch);
}

static void summarize(struct ta_layout *layout, const struct grouped *grouped)
{
    size_t least = grouped->rows[0], most = grouped->rows[0];
    size_t column = grouped->value_column;
    for (size_t i = 1; i < grouped->n; i++) {
        double value = ta_data_value(layout, grouped->rows[i], column);
        least = !(value >= ta_data_value(layout, least, column)) && !isnan(value) ? grouped->rows[i]
                                                                                  : least;
        most = !(value <= ta_data_value(layout, most, column)) && !isnan(value) ? grouped->rows[i]
                                                                                : most;
    }
    layout->summary =
        ta_pen_printf(layout, "%s %s from %s (%s) to %s (%s).",
                      ta_pen_value(layout, (double)grouped->n_values, TA_UNIT_COUNT),
                      grouped->n_values == 1 ? "bar" : "bars",
                      ta_pen_value(layout, ta_data_value(layout, least, column), grouped->unit),
                      ta_data_full_name(layout, least),
                      ta_pen_value(layout, ta_data_value(layout, most, column), grouped->unit),
                      ta_data_full_name(layout, most));
}

static void draw(struct ta_layout *layout, const struct grouped *grouped)
{
    struct ta_bar_list list = {
        .face = TA_FACE_SMALL,
        .unit = grouped->unit,
        .title = ta_data_title(layout, grouped->value_column),
        .bars = calloc(2 * (size_t)ROWS_SHOWN + 1, sizeof *list.bars),
    };
    if (!list.bars) {
        layout->failed = true;
        return;
    }
    summarize(layout, grouped);
    bool ranges = grouped->n > ROWS_SHOWN || grouped->n > ta_bars_room(layout);
    layout->note = ta_pen_printf(
        layout, "%s%s.", ta_pen_sample(layout, grouped->n_values, grouped->n - grouped->n_values),
        ranges ? "; of each group the median and the range from p5 to p95" : "");
    if (ranges)
        make_ranges(layout, grouped, &list);
    for (size_t i = 0; i < grouped->n && !ranges; i++) {
        size_t group = grouped->groups.of_row[grouped->rows[i]];
        if (i == 0 || group != grouped->groups.of_row[grouped->rows[i - 1]])
            make_heading(layout, grouped, group, &list);
        const size_t row = grouped->rows[i];
        struct ta_bar *bar = &list.bars[list.n++];
        double value = ta_data_value(layout, row, grouped->value_column);
        const char *text = isnan(value) ? "no value" : ta_pen_value(layout, value, grouped->unit);
        *bar = (struct ta_bar){.kind = TA_BAR_STACK,
                               .name = ta_data_name(layout, row, grouped->group_column),
                               .name_ink = isnan(value) ? TA_INK_MUTED : TA_INK_TEXT,
                               .numbers = {text},
                               .n_parts = value > 0};
        bar->parts[0] = (struct ta_bar_part){
            .ink = ink_of(layout, grouped, row),
            .value = value,
            .tip = ta_pen_printf(layout, "%s · %s", ta_data_full_name(layout, row), text)};
    }
    ta_bars_draw(layout, &list);
    free(list.bars);
}

void ta_lay_bars(struct ta_layout *layout)
{
    struct grouped grouped = {
        .value_column = ta_data_column(layout, layout->chart->y[0].column),
        .group_column = ta_data_column(layout, layout->chart->group),
        .rows = calloc(layout->table->n_rows + 1, sizeof *grouped.rows),
    };
    grouped.unit = ta_data_unit(layout, grouped.value_column);
    if (!grouped.rows || !ta_data_groups(layout, grouped.group_column, &grouped.groups) ||
        !color(layout, &grouped))
        layout->failed = true;
    else {
        for (size_t group = 0; group < grouped.groups.n; group++)
            for (size_t row = 0; row < layout->table->n_rows; row++)
                if (grouped.groups.of_row[row] == group) {
                    grouped.rows[grouped.n++] = row;
                    grouped.n_values +=
                        isnan(ta_data_value(layout, row, grouped.value_column)) ? 0 : 1;
                }
    }
    if (grouped.n_values)
        draw(layout, &grouped);
    else
        ta_guide_empty(layout);
    free(grouped.rows);
}
