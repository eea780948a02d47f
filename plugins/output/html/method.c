/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to read the page, and the definition of every column that is shown. */
#include "html.h"

static void put_definitions(const struct page *page, const struct ta_table *table)
{
    html_put(page, "<details>\n<summary>%s <code>%s</code></summary>\n<dl class=\"definitions\">\n",
             table->title, table->id);
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct ta_column *column = &table->columns[i];
        html_put(page, "<div><dt>%s <code>%s</code></dt><dd>%s", column->title, column->key,
                 column->doc);
        if (column->unit != TA_UNIT_NONE) {
            html_put(page, " <span class=\"unit\"><code>%s</code>", ta_unit_name(column->unit));
            if (column->better != TA_NEUTRAL)
                html_put(page, ", %s is better", ta_polarity_name(column->better));
            ta_puts(page->out, "</span>");
        }
        ta_puts(page->out, "</dd></div>\n");
    }
    ta_puts(page->out, "</dl>\n</details>\n");
}

void html_method(const struct page *page)
{
    ta_puts(page->out,
            "<section id=\"s-" HTML_METHOD "\" aria-labelledby=\"h-" HTML_METHOD "\">\n"
            "<h3 class=\"part\" id=\"h-" HTML_METHOD "\">Method</h3>\n"
            "<p class=\"prose\">Times are read as whole nanoseconds and added as integers; they "
            "are rounded for display only. Percentages are shares of the whole that the column "
            "names. A dash stands for a value that was not recorded, which is not zero. Tables "
            "keep every row in <code>report.json</code>, whatever is shown here.</p>\n");
    ta_puts(page->out, "<details class=\"all\">\n<summary>What each column means</summary>\n");
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(page->report, TA_ITEM_TABLE, &walk)) != NULL)
        put_definitions(page, item->table);
    ta_puts(page->out, "</details>\n</section>\n");
}
