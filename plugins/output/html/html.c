/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output plugin "html": the whole report as one self-contained page.
 *
 * Everything is in the markup and can be read, printed and linked to without a script; the
 * script adds sorting, searching, copying and the timeline.  Parts in order: head, bar, navigation,
 * hero, sections of the report with the timeline among them, data quality, method, data for
 * programs, and last the slices of the timeline, which take the room that is left. */
#include "html.h"

#include <traceanalyze/context.h>
#include <traceanalyze/plugin.h>

static void put_bar(const struct page *page)
{
    ta_puts(page->out, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
                       "<div class=\"bar\">\n<a class=\"brand\" href=\"#main\">"
                       "<svg viewBox=\"0 0 20 20\" aria-hidden=\"true\">"
                       "<path d=\"M2 3h11v4H2zM7 8h11v4H7zM4 13h8v4H4z\"/></svg>traceanalyze</a>\n"
                       "<div class=\"actions\"></div>\n</div>\n");
}

static size_t count_items(const struct ta_section *section, enum ta_item_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < section->n_items; i++)
        n += section->items[i].kind == kind;
    return n;
}

/* The scalars of the overview stand on top of the page; alone they make no section. */
static bool is_shown(const struct ta_section *section)
{
    return strcmp(section->id, HTML_OVERVIEW) != 0 || section->missing ||
           section->n_items > count_items(section, TA_ITEM_SCALAR);
}

/* The section before which the timeline stands: the first behind findings and overview. */
static size_t timeline_place(const struct page *page)
{
    const size_t n = ta_report_section_count(page->report);
    size_t i = 0;
    while (i < n && (strcmp(ta_report_section(page->report, i)->id, HTML_FINDINGS) == 0 ||
                     strcmp(ta_report_section(page->report, i)->id, HTML_OVERVIEW) == 0))
        i++;
    return i;
}

static void put_nav_link(const struct page *page, const char *id, const char *title, size_t badge)
{
    ta_puts(page->out, "<li><a href=\"#s-");
    html_text(page, id);
    ta_puts(page->out, "\">");
    html_text(page, title);
    if (badge)
        ta_putf(page->out, " <span class=\"badge\">%zu</span>", badge);
    ta_puts(page->out, "</a></li>\n");
}

static void put_nav(const struct page *page)
{
    ta_puts(page->out, "<nav aria-label=\"Sections\">\n<ol>\n");
    const size_t n = ta_report_section_count(page->report), place = timeline_place(page);
    for (size_t i = 0; i <= n; i++) {
        if (i == place && page->timeline)
            put_nav_link(page, HTML_TIMELINE, "Timeline", 0);
        const struct ta_section *section = i < n ? ta_report_section(page->report, i) : NULL;
        if (section && is_shown(section))
            put_nav_link(page, section->id, section->title, count_items(section, TA_ITEM_FINDING));
    }
    put_nav_link(page, HTML_QUALITY, "Data quality", 0);
    put_nav_link(page, HTML_METHOD, "Method", 0);
    ta_puts(page->out, "</ol>\n</nav>\n");
}

static int64_t largest_saving(const struct ta_section *section)
{
    int64_t largest = 0;
    for (size_t i = 0; i < section->n_items; i++)
        if (section->items[i].kind == TA_ITEM_FINDING)
            largest = ta_max_i64(largest, section->items[i].finding->saving_high_ns);
    return largest;
}

/* A table whose section has no other and bears the same title needs no heading of its own. */
static const char *table_heading(const struct ta_section *section, const struct ta_table *table)
{
    return strcmp(section->title, table->title) == 0 ? NULL : table->title;
}

static enum ta_status put_items(const struct page *page, const struct ta_section *section)
{
    const int64_t scale_ns = largest_saving(section);
    enum ta_status status = TA_OK;
    for (size_t i = 0; i < section->n_items && status == TA_OK; i++) {
        const struct ta_item *item = &section->items[i];
        if (item->kind == TA_ITEM_FINDING) {
            html_finding(page, item->finding, scale_ns);
        } else if (item->kind == TA_ITEM_TABLE) {
            status = html_figures(page, item->table);
            if (status == TA_OK)
                status = html_table(page, item->table, table_heading(section, item->table));
        }
    }
    return status;
}

static enum ta_status put_section(const struct page *page, const struct ta_section *section)
{
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
    const enum ta_status status = put_items(page, section);
    ta_puts(page->out, "</section>\n");
    return status;
}

static enum ta_status put_sections(const struct page *page)
{
    const size_t n = ta_report_section_count(page->report), place = timeline_place(page);
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i <= n; i++) {
        if (ta_ctx_canceled(page->ctx))
            return ta_fail(page->ctx, TA_ERR_CANCELED, "Stopped while writing report.html");
        if (i == place)
            status = html_timeline(page);
        if (status == TA_OK && i < n && is_shown(ta_report_section(page->report, i)))
            status = put_section(page, ta_report_section(page->report, i));
    }
    return status;
}

static enum ta_status put_main(const struct page *page)
{
    ta_puts(page->out, "<main id=\"main\" tabindex=\"-1\">\n");
    html_hero(page);
    enum ta_status status = put_sections(page);
    if (status == TA_OK)
        status = html_quality(page);
    if (status)
        return status;
    html_method(page);
    html_data(page);
    status = html_timeline_data(page);
    if (status)
        return status;
    ta_puts(page->out, "<footer>Written by traceanalyze ");
    html_text(page, page->options->version);
    ta_puts(page->out, ".</footer>\n</main>\n");
    return TA_OK;
}

static enum ta_status put_page(const struct page *page)
{
    enum ta_status status = html_head(page);
    if (status)
        return status;
    put_bar(page);
    ta_puts(page->out, "<div class=\"layout\">\n");
    put_nav(page);
    status = put_main(page);
    if (status)
        return status;
    ta_puts(page->out, "</div>\n");
    ta_puts(page->out, "</body>\n</html>\n");
    return TA_OK;
}

static enum ta_status write_html(struct ta_ctx *ctx, const struct ta_report *report,
                                 const struct ta_render_options *options, struct ta_sink *sink)
{
    struct ta_file *out = ta_sink_open_report(ctx, sink, report, "html",
                                              "<meta name=\"generator\" content=\"traceanalyze");
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the HTML report");
    const struct ta_timeline *timeline = ta_report_timeline(report);
    const bool has_timeline =
        timeline && timeline->n_files && options->timeline != TA_TIMELINE_NONE;
    struct page page = {.ctx = ctx,
                        .out = out,
                        .sink = sink,
                        .report = report,
                        .options = options,
                        .timeline = has_timeline ? timeline : NULL};
    html_choose_rows(&page);
    const enum ta_status status = put_page(&page);
    const enum ta_status closed = ta_file_close(ctx, out);
    return status ? status : closed;
}

static const struct ta_output_ops ops = {
    .extension = "html",
    .by_default = true,
    .write = write_html,
    .needs_timeline = true,
};

TA_PLUGIN(output, html, &ops, .title = "HTML report",
          .summary = "One self-contained page with charts and sortable tables", .version = "1");
