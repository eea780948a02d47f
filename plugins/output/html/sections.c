/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of the report as parts of the page: their beginning with its tiles, each finding, the
 * charts of each table and the table itself, their end. */
#include "html.h"

size_t html_count_items(const struct ta_section *section, enum ta_item_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < section->n_items; i++)
        n += section->items[i].kind == kind;
    return n;
}

bool html_is_shown(const struct ta_section *section)
{
    return strcmp(section->id, HTML_OVERVIEW) != 0 || section->missing ||
           section->n_items > html_count_items(section, TA_ITEM_SCALAR);
}

static enum ta_status put_begin(const struct page *page, const struct page_part *part)
{
    const struct ta_section *section = part->section;
    ta_puts(page->out, "<section id=\"s-");
    html_text(page, section->id);
    ta_puts(page->out, "\" aria-labelledby=\"h-");
    html_text(page, section->id);
    ta_puts(page->out, "\">\n<h2 id=\"h-");
    html_text(page, section->id);
    ta_puts(page->out, "\">");
    html_text(page, section->title);
    ta_puts(page->out, "</h2>\n");
    if (section->missing) {
        ta_puts(page->out, "<p class=\"missing\">");
        html_text(page, section->missing);
        ta_puts(page->out, "</p>\n");
    }
    if (strcmp(section->id, HTML_OVERVIEW) != 0)
        html_tiles(page, section);
    return TA_OK;
}

static enum ta_status put_end(const struct page *page, const struct page_part *part)
{
    (void)part;
    ta_puts(page->out, "</section>\n");
    return TA_OK;
}

static int64_t largest_saving(const struct ta_section *section)
{
    int64_t largest = 0;
    for (size_t i = 0; i < section->n_items; i++)
        if (section->items[i].kind == TA_ITEM_FINDING)
            largest = ta_max_i64(largest, section->items[i].finding->saving_high_ns);
    return largest;
}

static enum ta_status put_finding(const struct page *page, const struct page_part *part)
{
    html_finding(page, part->item->finding, largest_saving(part->section));
    return TA_OK;
}

static enum ta_status put_figures(const struct page *page, const struct page_part *part)
{
    return html_figures(page, part->item->table);
}

/* A table whose section has no other and bears the same title needs no heading of its own. */
static enum ta_status put_table(const struct page *page, const struct page_part *part)
{
    const struct ta_table *table = part->item->table;
    const bool is_named = strcmp(part->section->title, table->title) == 0;
    return html_table(page, table, is_named ? NULL : table->title);
}

size_t html_most_parts(const struct ta_section *section)
{
    return 2 * section->n_items + 2;
}

size_t html_list_section(const struct ta_section *section, struct page_part *parts)
{
    size_t n = 0;
    parts[n++] = (struct page_part){.put = put_begin, .section = section};
    for (size_t i = 0; i < section->n_items; i++) {
        const struct ta_item *item = &section->items[i];
        if (item->kind == TA_ITEM_FINDING)
            parts[n++] = (struct page_part){.put = put_finding, .section = section, .item = item};
        if (item->kind != TA_ITEM_TABLE)
            continue;
        if (item->table->chart)
            parts[n++] = (struct page_part){.put = put_figures, .section = section, .item = item};
        parts[n++] = (struct page_part){.put = put_table, .section = section, .item = item};
    }
    parts[n++] = (struct page_part){.put = put_end, .section = section};
    return n;
}
