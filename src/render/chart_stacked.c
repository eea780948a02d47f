/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacked bars: a bar per row, a segment per column, absolute on the axis and as shares inside.
 *
 * Of more than 64 rows the chart shows how each segment spreads over them (p5, median, p95) and
 * the 16 rows that have the smallest share of the first segment, which is the useful part. */
#include "render/chart_bars.h"
#include "traceanalyze/stat.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_SHOWN = 64, WORST_SHOWN = 16, WORST_LEAST = 3 };

struct row {
    size_t index;
    double sum, first; /* of all segments, of the first */
};

struct stack {
    size_t column[TA_CHART_SERIES_MAX];
    const struct ta_series *series[TA_CHART_SERIES_MAX];
    size_t n_series;
    struct row *rows; /* those with at least one value */
    size_t n;
    double total[TA_CHART_SERIES_MAX], sum;
    enum ta_unit unit;
};

/* Missing and negative parts have no length. */
static double part_value(const struct ta_layout *layout, size_t row, size_t column)
{
    double value = ta_data_value(layout, row, column);
    return value > 0 ? value : 0;
}

static void read_series(const struct ta_layout *layout, struct stack *stack)
{
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && layout->chart->y[i].column; i++) {
        size_t column = ta_data_column(layout, layout->chart->y[i].column);
        if (column == SIZE_MAX)
            continue;
        stack->column[stack->n_series] = column;
        stack->series[stack->n_series++] = &layout->chart->y[i];
    }
    stack->unit = stack->n_series ? ta_data_unit(layout, stack->column[0]) : TA_UNIT_NONE;
}

static void read_rows(const struct ta_layout *layout, struct stack *stack)
{
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        struct row *made = &stack->rows[stack->n];
        bool any = false;
        *made = (struct row){.index = row};
        for (size_t i = 0; i < stack->n_series; i++) {
            any = any || !isnan(ta_data_value(layout, row, stack->column[i]));
            double value = part_value(layout, row, stack->column[i]);
            made->sum += value;
            made->first += i == 0 ? value : 0;
            stack->total[i] += value;
            stack->sum += value;
        }
        stack->n += any;
    }
}

static void make_bar(struct ta_layout *layout, const struct stack *stack, const struct row *row,
                     struct ta_bar *bar)
{
    *bar = (struct ta_bar){.kind = TA_BAR_STACK,
                           .name = ta_data_name(layout, row->index, SIZE_MAX),
                           .name_ink = TA_INK_TEXT,
                           .numbers = {ta_pen_value(layout, row->sum, stack->unit)}};
    for (size_t i = 0; i < stack->n_series; i++) {
        double value = part_value(layout, row->index, stack->column[i]);
        if (value <= 0)
            continue;
        const char *share = ta_pen_value(layout, value / row->sum, TA_UNIT_RATIO);
        bar->parts[bar->n_parts++] = (struct ta_bar_part){
            .ink = stack->series[i]->ink,
            .value = value,
            .label = share,
            .tip = ta_pen_printf(layout, "%s · %s · %s · %s", bar->name, stack->series[i]->label,
                                 ta_pen_value(layout, value, stack->unit), share),
        };
    }
}

/* Median and 90 % range of one segment over all rows. */
static void make_range(struct ta_layout *layout, const struct stack *stack, size_t series,
                       double *scratch, struct ta_bar *bar)
{
    for (size_t i = 0; i < stack->n; i++)
        scratch[i] = part_value(layout, stack->rows[i].index, stack->column[series]);
    ta_sort_numbers(scratch, stack->n);
    *bar = (struct ta_bar){.kind = TA_BAR_RANGE,
                           .name = stack->series[series]->label,
                           .name_ink = TA_INK_TEXT,
                           .low = ta_quantile(scratch, stack->n, 0.05),
                           .median = ta_quantile(scratch, stack->n, 0.5),
                           .high = ta_quantile(scratch, stack->n, 0.95),
                           .n_parts = 1};
    bar->numbers[0] = ta_pen_value(layout, bar->median, stack->unit);
    bar->parts[0].ink = stack->series[series]->ink;
    bar->parts[0].tip = ta_pen_printf(layout, "%s · median %s · p5 %s · p95 %s", bar->name,
                                      bar->numbers[0], ta_pen_value(layout, bar->low, stack->unit),
                                      ta_pen_value(layout, bar->high, stack->unit));
}

static double first_share(const struct row *row)
{
    return row->sum > 0 ? row->first / row->sum : 0;
}

static int by_first_share(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    double p = first_share(x), q = first_share(y);
    return p != q ? (p > q) - (p < q) : (x->index > y->index) - (x->index < y->index);
}

static size_t make_overview(struct ta_layout *layout, struct stack *stack, struct ta_bar *bars)
{
    size_t room = ta_bars_room(layout), around = stack->n_series + 4, worst = WORST_SHOWN;
    if (room < worst + around)
        worst = room > around + WORST_LEAST ? room - around : WORST_LEAST;
    double *scratch = calloc(stack->n, sizeof *scratch);
    size_t n = 0;
    if (!scratch)
        return layout->failed = true, 0;
    bars[n++] = (struct ta_bar){
        .kind = TA_BAR_HEADING,
        .name = ta_pen_printf(layout, "All %s: median, and the range from p5 to p95",
                              ta_pen_value(layout, (double)stack->n, TA_UNIT_COUNT))};
    for (size_t i = 0; i < stack->n_series; i++)
        make_range(layout, stack, i, scratch, &bars[n++]);
    free(scratch);
    bars[n++] =
        (struct ta_bar){.kind = TA_BAR_HEADING,
                        .name = ta_pen_printf(layout, "The %zu with the smallest share of %s",
                                              worst, stack->series[0]->label)};
    qsort(stack->rows, stack->n, sizeof *stack->rows, by_first_share);
    for (size_t i = 0; i < worst; i++)
        make_bar(layout, stack, &stack->rows[i], &bars[n++]);
    return n;
}

static void summarize(struct ta_layout *layout, const struct stack *stack)
{
    const char *parts = "";
    for (size_t i = 0; i < stack->n_series && stack->sum > 0; i++)
        parts = ta_pen_printf(layout, "%s%s%s %s", parts, i ? ", " : "", stack->series[i]->label,
                              ta_pen_value(layout, stack->total[i] / stack->sum, TA_UNIT_RATIO));
    const struct row *least = &stack->rows[0];
    for (size_t i = 1; i < stack->n; i++)
        if (first_share(&stack->rows[i]) < first_share(least))
            least = &stack->rows[i];
    layout->summary =
        ta_pen_printf(layout, "%s in %s %s: %s.", ta_pen_value(layout, stack->sum, stack->unit),
                      ta_pen_value(layout, (double)stack->n, TA_UNIT_COUNT),
                      stack->n == 1 ? "bar" : "bars", *parts ? parts : "all zero");
    if (stack->n > 1 && stack->sum > 0)
        layout->summary =
            ta_pen_printf(layout, "%s Smallest share of %s: %s with %s.", layout->summary,
                          stack->series[0]->label, ta_data_name(layout, least->index, SIZE_MAX),
                          ta_pen_value(layout, first_share(least), TA_UNIT_RATIO));
}

static void draw(struct ta_layout *layout, struct stack *stack)
{
    size_t n_shown =
        layout->chart->top && layout->chart->top < stack->n ? layout->chart->top : stack->n;
    bool all = n_shown <= ROWS_SHOWN && n_shown <= ta_bars_room(layout);
    bool overview = !all && stack->n > WORST_SHOWN;
    struct ta_bar_list list = {.face = TA_FACE_SMALL, .unit = stack->unit, .title = "Time"};
    list.title = stack->unit == TA_UNIT_NS ? "Time" : ta_data_title(layout, stack->column[0]);
    list.heads[0] = "Total";
    list.bars = calloc(n_shown + WORST_SHOWN + TA_CHART_SERIES_MAX + 2, sizeof *list.bars);
    if (!list.bars) {
        layout->failed = true;
        return;
    }
    for (size_t i = 0; i < stack->n_series; i++)
        if (stack->total[i] > 0)
            list.legend[list.n_legend++] = (struct ta_legend_entry){
                stack->series[i]->ink, TA_MARK_RECT, stack->series[i]->label};
    summarize(layout, stack);
    if (overview)
        list.n = make_overview(layout, stack, list.bars);
    for (size_t i = 0; i < n_shown && !overview; i++)
        make_bar(layout, stack, &stack->rows[i], &list.bars[list.n++]);
    const char *sample = ta_pen_sample(layout, stack->n, layout->table->n_rows - stack->n);
    layout->note = n_shown < stack->n && !overview
                       ? ta_pen_printf(layout, "%s; the first %zu are drawn.", sample, n_shown)
                       : ta_pen_printf(layout, "%s.", sample);
    ta_bars_draw(layout, &list);
    free(list.bars);
}

void ta_lay_stacked(struct ta_layout *layout)
{
    struct stack stack = {.n = 0};
    read_series(layout, &stack);
    stack.rows = calloc(layout->table->n_rows + 1, sizeof *stack.rows);
    if (!stack.rows) {
        layout->failed = true;
        return;
    }
    read_rows(layout, &stack);
    if (stack.n)
        draw(layout, &stack);
    else
        ta_guide_empty(layout);
    free(stack.rows);
}
