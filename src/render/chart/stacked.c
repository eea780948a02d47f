/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacked bars: a bar per row, a segment per column, absolute on the axis and as shares inside.
 * With a group, rows of the same name are one bar, with a segment per value of the group.
 *
 * Of more than 64 rows the chart shows how each segment spreads over them (p5, median, p95) and
 * the 16 rows that have the smallest share of the first segment, which is the useful part. */
#include "render/chart/bars.h"
#include "traceanalyze/stat.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_SHOWN = 64, WORST_SHOWN = 16, WORST_LEAST = 3 };

struct row {
    size_t index; /* a row of the table that names it */
    double values[TA_CHART_SERIES_MAX];
    double sum;
};

struct stack {
    struct {
        const char *label;
        enum ta_ink ink;
    } series[TA_CHART_SERIES_MAX];
    size_t n_series;
    struct row *rows; /* those with at least one value */
    size_t n, n_missing;
    double total[TA_CHART_SERIES_MAX], sum;
    size_t value_column; /* the first one, for unit and title */
    enum ta_unit unit;
};

/* Missing and negative parts have no length. */
static void add_value(struct stack *stack, struct row *row, size_t series, double value)
{
    if (!(value > 0))
        return;
    row->values[series] += value;
    row->sum += value;
    stack->total[series] += value;
    stack->sum += value;
}

/* ---- a segment per column ---------------------------------------------------------------- */

static void read_columns(const struct ta_layout *layout, struct stack *stack)
{
    size_t columns[TA_CHART_SERIES_MAX];
    for (size_t i = 0; i < TA_CHART_SERIES_MAX && layout->chart->y[i].column; i++) {
        const struct ta_series *series = &layout->chart->y[i];
        const size_t column = ta_data_column(layout, series->column);
        if (column == SIZE_MAX)
            continue;
        columns[stack->n_series] = column;
        stack->series[stack->n_series].label = series->label;
        stack->series[stack->n_series++].ink = series->ink;
    }
    stack->value_column = stack->n_series ? columns[0] : SIZE_MAX;
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        struct row *made = &stack->rows[stack->n];
        bool any = false;
        *made = (struct row){.index = row};
        for (size_t i = 0; i < stack->n_series; i++) {
            const double value = ta_data_value(layout, row, columns[i]);
            any = any || !isnan(value);
            add_value(stack, made, i, value);
        }
        *(any ? &stack->n : &stack->n_missing) += 1;
    }
}

/* ---- a segment per group: rows of the same name stand together ------------------------------- */

/* Of what the chart gives an ink of its own, or of a class of device time. */
static enum ta_ink fixed_ink(const struct ta_layout *layout, const char *name)
{
    const struct ta_kind *kind = layout->chart->kinds;
    for (; kind && kind->value; kind++)
        if (strcmp(kind->value, name) == 0)
            return kind->ink;
    return ta_data_class_ink(name);
}

/* The largest groups have a segment of their own, largest first; the others share the last. */
static bool choose_groups(struct ta_layout *layout, struct stack *stack,
                          const struct ta_groups *groups, size_t *series_of)
{
    double *totals = ta_arena_alloc(layout->arena, (groups->n + 1) * sizeof *totals);
    for (size_t row = 0; totals && row < layout->table->n_rows; row++) {
        const double value = ta_data_value(layout, row, stack->value_column);
        totals[groups->of_row[row]] += value > 0 ? value : 0;
    }
    const bool others = groups->n > TA_GROUPS_SHOWN;
    const size_t own = others ? TA_GROUPS_SHOWN - 1 : groups->n;
    for (size_t i = 0; totals && i < groups->n; i++) {
        size_t better = 0;
        for (size_t k = 0; k < groups->n; k++)
            better += totals[k] > totals[i] || (totals[k] == totals[i] && k < i);
        series_of[i] = better < own ? better : own;
        if (better < own)
            stack->series[better].label = groups->names[i];
    }
    int next = (int)ta_data_first_series(groups->names, groups->n);
    for (size_t i = 0; i < own; i++) {
        const enum ta_ink ink = fixed_ink(layout, stack->series[i].label);
        stack->series[i].ink = ink != TA_INK_NONE ? ink : ta_data_next_series(&next);
    }
    if (others) {
        stack->series[own].label = ta_pen_printf(layout, "other classes (%zu)", groups->n - own);
        stack->series[own].ink = ta_data_rest_ink(groups->names, groups->n);
    }
    stack->n_series = own + others;
    return totals;
}

static bool is_new_bar(struct ta_layout *layout, size_t row)
{
    return row == 0 || strcmp(ta_data_name(layout, row, SIZE_MAX),
                              ta_data_name(layout, row - 1, SIZE_MAX)) != 0;
}

static void read_groups(struct ta_layout *layout, struct stack *stack)
{
    struct ta_groups groups;
    stack->value_column = ta_data_column(layout, layout->chart->y[0].column);
    if (!ta_data_groups(layout, ta_data_column(layout, layout->chart->group), &groups))
        return;
    size_t *series_of = ta_arena_alloc(layout->arena, (groups.n + 1) * sizeof *series_of);
    if (!series_of || !choose_groups(layout, stack, &groups, series_of))
        return;
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        if (is_new_bar(layout, row))
            stack->rows[stack->n++] = (struct row){.index = row};
        add_value(stack, &stack->rows[stack->n - 1], series_of[groups.of_row[row]],
                  ta_data_value(layout, row, stack->value_column));
    }
}

/* ---- bars -------------------------------------------------------------------------------- */

static void make_bar(struct ta_layout *layout, const struct stack *stack, const struct row *row,
                     struct ta_bar *bar)
{
    *bar = (struct ta_bar){.kind = TA_BAR_STACK,
                           .name = ta_data_name(layout, row->index, SIZE_MAX),
                           .name_ink = TA_INK_TEXT,
                           .numbers = {ta_pen_value(layout, row->sum, stack->unit)}};
    for (size_t i = 0; i < stack->n_series; i++) {
        const double value = row->values[i];
        if (value <= 0)
            continue;
        const char *share = ta_pen_value(layout, value / row->sum, TA_UNIT_RATIO);
        bar->parts[bar->n_parts++] = (struct ta_bar_part){
            .ink = stack->series[i].ink,
            .value = value,
            .label = share,
            .tip = ta_pen_printf(layout, "%s · %s · %s · %s", bar->name, stack->series[i].label,
                                 ta_pen_value(layout, value, stack->unit), share),
        };
    }
}

/* Median and 90 % range of one segment over all rows. */
static void make_range(struct ta_layout *layout, const struct stack *stack, size_t series,
                       double *scratch, struct ta_bar *bar)
{
    for (size_t i = 0; i < stack->n; i++)
        scratch[i] = stack->rows[i].values[series];
    ta_sort_numbers(scratch, stack->n);
    *bar = (struct ta_bar){.kind = TA_BAR_RANGE,
                           .name = stack->series[series].label,
                           .name_ink = TA_INK_TEXT,
                           .low = ta_quantile(scratch, stack->n, 0.05),
                           .median = ta_quantile(scratch, stack->n, 0.5),
                           .high = ta_quantile(scratch, stack->n, 0.95),
                           .n_parts = 1};
    bar->numbers[0] = ta_pen_value(layout, bar->median, stack->unit);
    bar->parts[0].ink = stack->series[series].ink;
    bar->parts[0].tip = ta_pen_printf(layout, "%s · median %s · p5 %s · p95 %s", bar->name,
                                      bar->numbers[0], ta_pen_value(layout, bar->low, stack->unit),
                                      ta_pen_value(layout, bar->high, stack->unit));
}

static double first_share(const struct row *row)
{
    return row->sum > 0 ? row->values[0] / row->sum : 0;
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
                                              worst, stack->series[0].label)};
    qsort(stack->rows, stack->n, sizeof *stack->rows, by_first_share);
    for (size_t i = 0; i < worst; i++)
        make_bar(layout, stack, &stack->rows[i], &bars[n++]);
    return n;
}

static void summarize(struct ta_layout *layout, const struct stack *stack)
{
    const char *parts = "";
    for (size_t i = 0; i < stack->n_series && stack->sum > 0; i++)
        parts = ta_pen_printf(layout, "%s%s%s %s", parts, i ? ", " : "", stack->series[i].label,
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
                          stack->series[0].label, ta_data_name(layout, least->index, SIZE_MAX),
                          ta_pen_value(layout, first_share(least), TA_UNIT_RATIO));
}

/* What all segments of a bar are of. */
static const char *whole_of(const struct ta_layout *layout, const struct stack *stack)
{
    switch (stack->unit) {
    case TA_UNIT_NS:
        return "Time";
    case TA_UNIT_BYTES:
        return "Memory";
    case TA_UNIT_COUNT:
        return "Count";
    default:
        return ta_data_title(layout, stack->value_column);
    }
}

static void draw(struct ta_layout *layout, struct stack *stack)
{
    size_t n_shown =
        layout->chart->top && layout->chart->top < stack->n ? layout->chart->top : stack->n;
    bool all = n_shown <= ROWS_SHOWN && n_shown <= ta_bars_room(layout);
    bool overview = !all && stack->n > WORST_SHOWN;
    struct ta_bar_list list = {.face = TA_FACE_SMALL, .unit = stack->unit};
    list.title = whole_of(layout, stack);
    list.heads[0] = "Total";
    list.bars = calloc(n_shown + WORST_SHOWN + TA_CHART_SERIES_MAX + 2, sizeof *list.bars);
    if (!list.bars) {
        layout->failed = true;
        return;
    }
    for (size_t i = 0; i < stack->n_series; i++)
        if (stack->total[i] > 0)
            list.legend[list.n_legend++] = (struct ta_legend_entry){
                stack->series[i].ink, TA_MARK_RECT, stack->series[i].label};
    summarize(layout, stack);
    if (overview)
        list.n = make_overview(layout, stack, list.bars);
    for (size_t i = 0; i < n_shown && !overview; i++)
        make_bar(layout, stack, &stack->rows[i], &list.bars[list.n++]);
    const char *sample = ta_pen_sample(layout, stack->n, stack->n_missing);
    layout->note = n_shown < stack->n && !overview
                       ? ta_pen_printf(layout, "%s; the first %zu are drawn.", sample, n_shown)
                       : ta_pen_printf(layout, "%s.", sample);
    ta_bars_draw(layout, &list);
    free(list.bars);
}

void ta_lay_stacked(struct ta_layout *layout)
{
    struct stack stack = {.rows = calloc(layout->table->n_rows + 1, sizeof *stack.rows)};
    if (!stack.rows)
        layout->failed = true;
    else if (layout->chart->group)
        read_groups(layout, &stack);
    else
        read_columns(layout, &stack);
    stack.unit = ta_data_unit(layout, stack.value_column);
    if (stack.n)
        draw(layout, &stack);
    else
        ta_guide_empty(layout);
    free(stack.rows);
}
