/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacked areas on a terminal: the place with most of all, as one bar. */
#include "report/tables.h"
#include "report/unit.h"
#include "text.h"

#include <math.h>
#include <stdio.h>

enum { GROUPS_MOST = 8, COLUMNS_LEAST = 24 };

/* Below this share a group is not named. */
#define NAMED_LEAST 0.005

struct levels {
    const struct ta_table *table;
    size_t x, value, group; /* columns */
    double peak_x, most;
};

static double number_at(const struct levels *levels, size_t row, size_t column)
{
    return ta_cell_number(ta_table_cell(levels->table, row, column), NAN);
}

static struct ta_slice group_at(const struct levels *levels, size_t row)
{
    const struct ta_cell *cell = ta_table_cell(levels->table, row, levels->group);
    return cell->kind == TA_CELL_TEXT ? cell->text : TA_LIT("");
}

/* Rows of a place are next to each other. */
static void find_peak(struct levels *levels)
{
    double sum = 0;
    for (size_t row = 0; row < levels->table->n_rows; row++) {
        const double x = number_at(levels, row, levels->x);
        if (row == 0 || x != number_at(levels, row - 1, levels->x))
            sum = 0;
        sum += fmax(0, number_at(levels, row, levels->value));
        if (sum > levels->most) {
            levels->most = sum;
            levels->peak_x = x;
        }
    }
}

static const char *glyph_of(size_t segment)
{
    static const char *const glyphs[GROUPS_MOST] = {"░", "▚", "█", "▓", "▒", "=", "+", "·"};
    return glyphs[segment % GROUPS_MOST];
}

static void put_bar(const struct page *page, const struct levels *levels,
                    const struct ta_chart *chart, size_t width)
{
    size_t next = 0, segment = 0, drawn = 0;
    double end = 0;
    for (size_t row = 0; row < levels->table->n_rows; row++) {
        if (number_at(levels, row, levels->x) != levels->peak_x)
            continue;
        const struct ta_area area = ta_area_of(chart, group_at(levels, row), &next);
        end += fmax(0, number_at(levels, row, levels->value)) / levels->most * (double)width;
        text_ink(page, area.ink);
        for (; (double)drawn < rint(end); drawn++)
            ta_puts(page->out, glyph_of(segment));
        text_reset(page);
        segment++;
    }
}

static void put_names(const struct page *page, const struct levels *levels,
                      const struct ta_chart *chart)
{
    struct text_legend legend = {.page = page};
    size_t next = 0, segment = 0;
    for (size_t row = 0; row < levels->table->n_rows; row++) {
        if (number_at(levels, row, levels->x) != levels->peak_x)
            continue;
        const struct ta_area area = ta_area_of(chart, group_at(levels, row), &next);
        const double value = number_at(levels, row, levels->value);
        const char *glyph = glyph_of(segment++);
        char text[TA_AREA_NAME_MAX + TA_UNIT_TEXT_MAX + 1], unit[TA_UNIT_TEXT_MAX];
        if (!(value >= NAMED_LEAST * levels->most))
            continue;
        snprintf(text, sizeof text, "%s %s", area.name,
                 ta_unit_format(unit, value, levels->table->columns[levels->value].unit));
        text_legend_add(&legend, area.ink, glyph, ta_slice_of(text));
    }
    text_legend_end(&legend);
}

bool text_levels(const struct page *page, const struct ta_table *table,
                 const struct ta_chart *chart)
{
    struct levels levels = {
        .table = table,
        .x = chart->x ? ta_table_column(table, chart->x) : SIZE_MAX,
        .value = ta_table_column(table, chart->y[0].column),
        .group = chart->group ? ta_table_column(table, chart->group) : SIZE_MAX,
    };
    if (levels.x == SIZE_MAX || levels.value == SIZE_MAX || levels.group == SIZE_MAX)
        return false;
    find_peak(&levels);
    if (!(levels.most > 0))
        return false;
    char peak[TA_UNIT_TEXT_MAX + 8], unit[TA_UNIT_TEXT_MAX];
    snprintf(peak, sizeof peak, "peak %s",
             ta_unit_format(unit, levels.most, table->columns[levels.value].unit));
    const size_t taken = TEXT_INDENT + ta_terminal_width(ta_slice_of(peak)) + 2;
    const size_t width = page->width > taken + COLUMNS_LEAST ? page->width - taken : COLUMNS_LEAST;
    ta_putc(page->out, '\n');
    text_blanks(page, TEXT_INDENT);
    ta_put_terminal(page->out, ta_slice_of(peak), 0, 0);
    text_blanks(page, 2);
    put_bar(page, &levels, chart, width);
    ta_putc(page->out, '\n');
    put_names(page, &levels, chart);
    return true;
}
