/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output plugin "html": the whole report as one self-contained page.
 *
 * Everything is in the markup and can be read, printed and linked to without a script; the
 * script adds sorting, searching, copying and the timeline.  Parts in order: head, bar, navigation,
 * hero, sections of the report with the timeline among them, data quality, method, data for
 * programs, and last the slices of the timeline, which take the room that is left.
 *
 * All but those slices are listed first and then written by all threads that are free. */
#include "html.h"

#include "base/write/pieces.h"

#include <stdlib.h>
#include <traceanalyze/base.h>
#include <traceanalyze/plugin.h>

static void put_bar(const struct page *page)
{
    ta_puts(page->out, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
                       "<div class=\"bar\">\n<a class=\"brand\" href=\"#main\">"
                       "<svg viewBox=\"0 0 20 20\" aria-hidden=\"true\">"
                       "<path d=\"M2 3h11v4H2zM7 8h11v4H7zM4 13h8v4H4z\"/></svg>traceanalyze</a>\n"
                       "<div class=\"actions\"></div>\n</div>\n");
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
        if (section && html_is_shown(section))
            put_nav_link(page, section->id, section->title,
                         html_count_items(section, TA_ITEM_FINDING));
    }
    put_nav_link(page, HTML_QUALITY, "Data quality", 0);
    put_nav_link(page, HTML_METHOD, "Method", 0);
    ta_puts(page->out, "</ol>\n</nav>\n");
}

/* ---- parts in their order ------------------------------------------------------------------ */

static enum ta_status put_frame(const struct page *page, const struct page_part *part)
{
    (void)part;
    const enum ta_status status = html_head(page);
    if (status != TA_OK)
        return status;
    put_bar(page);
    ta_puts(page->out, "<div class=\"layout\">\n");
    put_nav(page);
    ta_puts(page->out, "<main id=\"main\" tabindex=\"-1\">\n");
    html_hero(page);
    return TA_OK;
}

static enum ta_status put_timeline(const struct page *page, const struct page_part *part)
{
    (void)part;
    return html_timeline(page);
}

static enum ta_status put_quality(const struct page *page, const struct page_part *part)
{
    (void)part;
    return html_quality(page);
}

static enum ta_status put_rest(const struct page *page, const struct page_part *part)
{
    (void)part;
    html_method(page);
    return html_data(page);
}

static size_t most_parts(const struct ta_report *report)
{
    size_t n = 4;
    for (size_t i = 0; i < ta_report_section_count(report); i++)
        n += html_most_parts(ta_report_section(report, i));
    return n;
}

/* `parts` has room for most_parts(). */
static size_t list_parts(const struct page *page, struct page_part *parts)
{
    const size_t n_sections = ta_report_section_count(page->report), place = timeline_place(page);
    size_t n = 0;
    parts[n++] = (struct page_part){.put = put_frame};
    for (size_t i = 0; i <= n_sections; i++) {
        if (i == place)
            parts[n++] = (struct page_part){.put = put_timeline};
        if (i < n_sections && html_is_shown(ta_report_section(page->report, i)))
            n += html_list_section(ta_report_section(page->report, i), &parts[n]);
    }
    parts[n++] = (struct page_part){.put = put_quality};
    parts[n++] = (struct page_part){.put = put_rest};
    return n;
}

/* ---- writing them -------------------------------------------------------------------------- */

struct writing {
    const struct page *page;
    const struct page_part *parts;
};

static enum ta_status write_part(struct ta_ctx *ctx, struct ta_file *out, size_t i, void *user)
{
    const struct writing *writing = user;
    struct page page = *writing->page;
    page.ctx = ctx;
    page.out = out;
    if (ta_ctx_canceled(ctx))
        return ta_fail(ctx, TA_ERR_CANCELED, "Stopped while writing report.html");
    return writing->parts[i].put(&page, &writing->parts[i]);
}

static enum ta_status put_parts(const struct page *page)
{
    const size_t most = most_parts(page->report);
    struct page_part *parts = calloc(most, sizeof *parts);
    enum ta_status status = TA_OK;
    if (parts) {
        const size_t n = list_parts(page, parts);
        struct writing writing = {page, parts};
        status = ta_put_pieces(page->ctx, page->out, n, write_part, &writing);
    } else {
        status =
            ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot list the parts of the page: most=%zu", most);
    }
    free(parts);
    return status;
}

static enum ta_status put_page(const struct page *page)
{
    enum ta_status status = put_parts(page);
    if (status == TA_OK)
        status = html_timeline_data(page);
    if (status != TA_OK)
        return status;
    ta_puts(page->out, "<footer>Written by traceanalyze ");
    html_text(page, page->options->version);
    ta_puts(page->out, ".</footer>\n</main>\n</div>\n</body>\n</html>\n");
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
