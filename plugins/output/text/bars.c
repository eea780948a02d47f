/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars made of block characters, told apart by shade where there is no color. */
#include "text.h"

#include <math.h>

/* Of the series of a waterfall, the change. */
enum { CHANGE = 2 };

static double value_at(const struct ta_table *table, size_t row, const struct text_segment *segment)
{
    return fmax(segment->sign * ta_cell_number(ta_table_cell(table, row, segment->column), 0), 0);
}

static double length_of(const struct text_bars *bars, const struct ta_table *table, size_t row)
{
    double length = 0;
    for (size_t i = 0; i < bars->n; i++)
        length += value_at(table, row, &bars->segments[i]);
    return length;
}

static const struct ta_chart *chart_of(const struct ta_table *table)
{
    const struct ta_chart *chart = table->chart;
    while (chart && chart->kind != TA_CHART_STACKED_BARS && chart->kind != TA_CHART_PARETO &&
           chart->kind != TA_CHART_WATERFALL)
        chart = chart->next;
    return chart;
}

/* Changes one way and the other. */
static void add_changes(struct text_bars *bars, size_t column)
{
    bars->segments[bars->n++] = (struct text_segment){column, 1, TA_INK_WORSE, "longer", false};
    bars->segments[bars->n++] = (struct text_segment){column, -1, TA_INK_BETTER, "shorter", false};
}

struct text_bars text_bars_of(const struct ta_table *table, const size_t *rows, size_t n_rows)
{
    struct text_bars bars = {.chart = chart_of(table)};
    if (!bars.chart)
        return bars;
    const bool changes = bars.chart->kind == TA_CHART_WATERFALL;
    const size_t first = changes ? CHANGE : 0;
    const size_t end = bars.chart->kind == TA_CHART_STACKED_BARS ? TA_CHART_SERIES_MAX : first + 1;
    for (size_t i = first; i < end && bars.chart->y[i].column; i++) {
        const struct ta_series *series = &bars.chart->y[i];
        const size_t column = ta_table_column(table, series->column);
        if (column == SIZE_MAX)
            return (struct text_bars){.chart = NULL};
        if (changes)
            add_changes(&bars, column);
        else
            bars.segments[bars.n++] = (struct text_segment){
                column, 1, series->ink, series->label ? series->label : series->column, false};
    }
    for (size_t i = 0; i < n_rows; i++) {
        bars.largest = fmax(bars.largest, length_of(&bars, table, rows[i]));
        for (size_t k = 0; k < bars.n; k++)
            bars.segments[k].seen |= value_at(table, rows[i], &bars.segments[k]) > 0;
    }
    if (bars.n == 0 || bars.largest <= 0)
        bars.chart = NULL;
    return bars;
}

/* ---- drawing ------------------------------------------------------------------------- */

const char *text_idle_glyph(enum ta_ink ink)
{
    static const char *const glyphs[TA_INK_COUNT] = {
        [TA_INK_IDLE] = "·",         [TA_INK_IDLE_SYNC] = "~",    [TA_INK_IDLE_INPUT] = "o",
        [TA_INK_IDLE_COMPUTE] = "^", [TA_INK_IDLE_LATENCY] = "'", [TA_INK_IDLE_EARLIER] = "<",
        [TA_INK_IDLE_QUEUED] = ",",  [TA_INK_IDLE_UNKNOWN] = "?", [TA_INK_IDLE_AROUND] = ":",
        [TA_INK_IDLE_SETUP] = "#",   [TA_INK_IDLE_HOST] = "x",    [TA_INK_IDLE_ALLOCATE] = "$",
    };
    return glyphs[ink];
}

static const char *shade(enum ta_ink ink, size_t segment)
{
    static const char *const shades[] = {"█", "▓", "▒", "░"};
    const char *idle = text_idle_glyph(ink);
    return idle                   ? idle
           : ink == TA_INK_WAIT   ? "-"
           : ink == TA_INK_OTHER  ? "x"
           : ink == TA_INK_BETTER ? "░"
                                  : shades[segment % 4];
}

/* The color of an ink in the 6 × 6 × 6 cube that every terminal with colors knows. */
void text_ink(const struct page *page, enum ta_ink ink)
{
    if (!page->options->color)
        return;
    const bool dark = strcmp(page->options->theme, "light") != 0;
    const uint32_t rgb = ta_ink_color(ink, dark);
    uint32_t index = 0;
    for (int shift = 16; shift >= 0; shift -= 8)
        index = index * 6 + ((rgb >> shift & 255) * 5 + 127) / 255;
    ta_putf(page->out, "\x1b[38;5;%um", 16 + index);
}

/* One segment to an eighth of a column. */
static void put_fine_bar(const struct page *page, double columns)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = ta_whole_int(rint(columns * 8));
    for (; eighths >= 8; eighths -= 8)
        ta_puts(page->out, "█");
    ta_puts(page->out, parts[eighths]);
}

void text_bar(const struct page *page, const struct text_bars *bars, const struct ta_table *table,
              size_t row, size_t width, size_t gap)
{
    const double scale = (double)width / bars->largest;
    if (rint(length_of(bars, table, row) * scale * (bars->n == 1 ? 8 : 1)) == 0)
        return;
    text_blanks(page, gap);
    if (bars->n == 1) {
        text_ink(page, bars->segments[0].ink);
        put_fine_bar(page, value_at(table, row, &bars->segments[0]) * scale);
        text_reset(page);
        return;
    }
    /* Ends are rounded, not lengths, so that errors do not add up. */
    double end = 0;
    int drawn = 0;
    for (size_t i = 0; i < bars->n; i++) {
        const struct text_segment *segment = &bars->segments[i];
        end += value_at(table, row, segment) * scale;
        text_ink(page, segment->ink);
        for (; drawn < rint(end); drawn++)
            ta_puts(page->out, shade(segment->ink, i));
        text_reset(page);
    }
}

void text_bar_legend(const struct page *page, const struct text_bars *bars)
{
    struct text_legend legend = {.page = page};
    size_t n_seen = 0;
    for (size_t i = 0; i < bars->n; i++)
        n_seen += bars->segments[i].seen;
    if (bars->n < 2 || (n_seen < 2 && bars->chart->kind == TA_CHART_WATERFALL))
        return; /* the sign of the change says it */
    for (size_t i = 0; i < bars->n; i++) {
        const struct text_segment *segment = &bars->segments[i];
        if (segment->seen)
            text_legend_add(&legend, segment->ink, shade(segment->ink, i),
                            ta_slice_of(segment->label));
    }
    text_legend_end(&legend);
}
