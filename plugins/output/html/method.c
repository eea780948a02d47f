/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to read the page, and the definition of every column that is shown. */
#include "html.h"

static void put_column(const struct page *page, const struct ta_column *column)
{
    ta_puts(page->out, "<div><dt>");
    html_text(page, column->title);
    ta_puts(page->out, " <code>");
    html_text(page, column->key);
    ta_puts(page->out, "</code></dt><dd>");
    html_text(page, column->doc ? column->doc : "");
    if (column->unit != TA_UNIT_NONE) {
        ta_puts(page->out, " <span class=\"unit\"><code>");
        html_text(page, ta_unit_name(column->unit));
        ta_puts(page->out, "</code>");
        if (column->better != TA_NEUTRAL) {
            ta_puts(page->out, ", ");
            html_text(page, ta_polarity_name(column->better));
            ta_puts(page->out, " is better");
        }
        ta_puts(page->out, "</span>");
    }
    ta_puts(page->out, "</dd></div>\n");
}

static void put_table_method(const struct page *page, const struct ta_table *table)
{
    ta_puts(page->out, "<details>\n<summary>");
    html_text(page, table->title);
    ta_puts(page->out, " <code>");
    html_text(page, table->id);
    ta_puts(page->out, "</code></summary>\n<dl class=\"definitions\">\n");
    for (size_t i = 0; i < table->n_columns; i++)
        put_column(page, &table->columns[i]);
    ta_puts(page->out, "</dl>\n</details>\n");
}

void html_method(const struct page *page)
{
    ta_puts(page->out,
            "<section id=\"s-" HTML_METHOD "\" aria-labelledby=\"h-" HTML_METHOD "\">\n"
            "<h2 id=\"h-" HTML_METHOD "\">Method</h2>\n"
            "<p class=\"prose\">Times are read as whole nanoseconds and added as integers; they "
            "are rounded for display only. Percentages are shares of the whole that the column "
            "names. A dash stands for a value that was not recorded, which is not zero. Tables "
            "keep every row in <code>report.json</code>, whatever is shown here.</p>\n");
    for (size_t i = 0; i < ta_report_section_count(page->report); i++) {
        const struct ta_section *section = ta_report_section(page->report, i);
        for (size_t k = 0; k < section->n_items; k++)
            if (section->items[k].kind == TA_ITEM_TABLE)
                put_table_method(page, section->items[k].table);
    }
    ta_puts(page->out, "</section>\n");
}
