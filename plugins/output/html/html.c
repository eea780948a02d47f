/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output plugin "html": the whole report as one self-contained page.
 *
 * Everything is in the markup and can be read, printed and linked to without a script; the
 * script adds sorting, searching, copying and the timeline.  Parts in order: head, bar, navigation,
 * hero, chapters with the timeline among them, the last one with all tables of details, data
 * quality, method and data for programs, and last the slices of the timeline, which take the room
 * that is left.
 *
 * All but those slices are listed first and then written by all threads that are free. */
#include "html.h"
#include "render/chart/says.h"

#include "base/write/pieces.h"
#include "report/codec.h"
#include "report/sections.h"
#include "report/tables.h"

#include <stdlib.h>
#include <traceanalyze/base.h>
#include <traceanalyze/plugin.h>

/* A part of the page, which any thread may write: what does, and what it is of. */
struct page_part {
    enum ta_status (*put)(const struct page *page, const struct page_part *part);
    const struct ta_section *section;
    const struct ta_item *item;
    enum ta_chapter chapter;
};

static size_t count_items(const struct ta_section *section, enum ta_item_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < section->n_items; i++)
        n += section->items[i].kind == kind;
    return n;
}

/* Points stand as their chart, where they have one. */
static bool is_drawn(const struct ta_table *table)
{
    return ta_table_is_points(table) && ta_chart_after(table, NULL);
}

/* Whether an item is shown in the chapter of its section, and not in the appendix alone.  The
 * scalars of the overview are on top of the page. */
static bool is_item_open(const struct page *page, const struct ta_section *section,
                         const struct ta_item *item)
{
    if (item->kind == TA_ITEM_TABLE)
        return ta_table_is_open(section, item->table) ||
               ta_table_is_charted(section, item->table) ||
               (is_drawn(item->table) &&
                !(item->table->chart && html_is_picture(page, item->table->chart)));
    return item->kind == TA_ITEM_FINDING || strcmp(section->id, HTML_OVERVIEW) != 0;
}

/* Whether the tables of details of a section are folded where it is, and not in the appendix: what
 * rules found follows the findings. */
static bool has_details(const struct ta_section *section)
{
    return section->chapter == TA_CHAPTER_APPENDIX || strcmp(section->id, TA_SECTION_FINDINGS) == 0;
}

/* Whether a section says anything in its chapter. */
static bool is_open(const struct page *page, const struct ta_section *section)
{
    bool any = section->missing || has_details(section);
    for (size_t i = 0; i < section->n_items && !any; i++)
        any = is_item_open(page, section, &section->items[i]);
    return any;
}

/* Sections of a chapter that say anything there. */
static size_t count_sections(const struct page *page, enum ta_chapter chapter)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_report_section_count(page->report); i++) {
        const struct ta_section *section = ta_report_section(page->report, i);
        n += section->chapter == chapter && is_open(page, section);
    }
    return n;
}

/* Tables of a section that are folded, most of them in the appendix. */
static bool is_folded(const struct ta_section *section, const struct ta_item *item)
{
    return item->kind == TA_ITEM_TABLE && !ta_table_is_open(section, item->table) &&
           !is_drawn(item->table);
}

/* ---- the beginning of the page --------------------------------------------------------------- */

static void put_nav_link(const struct page *page, const char *kind, const char *id,
                         const char *title, size_t badge)
{
    html_put(page, "<li><a href=\"#%s-%s\">%s", kind, id, title);
    if (badge)
        html_put(page, " <span class=\"badge\">%zu</span>", badge);
    ta_puts(page->out, "</a></li>\n");
}

static size_t count_findings(const struct page *page)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_report_section_count(page->report); i++)
        n += count_items(ta_report_section(page->report, i), TA_ITEM_FINDING);
    return n;
}

static void put_nav(const struct page *page)
{
    ta_puts(page->out, "<nav aria-label=\"Chapters\">\n<ol>\n");
    for (size_t i = 0; i < TA_CHAPTERS; i++) {
        const enum ta_chapter chapter = (enum ta_chapter)i;
        const char *id = ta_chapter_id(chapter), *title = ta_chapter_title(chapter);
        if (chapter == TA_CHAPTER_TIMELINE && page->timeline)
            put_nav_link(page, "s", HTML_TIMELINE, title, 0);
        else if (chapter == TA_CHAPTER_APPENDIX || count_sections(page, chapter))
            put_nav_link(page, "g", id, title,
                         chapter == TA_CHAPTER_FINDINGS ? count_findings(page) : 0);
    }
    ta_puts(page->out, "</ol>\n</nav>\n");
}

static enum ta_status put_frame(const struct page *page, const struct page_part *part)
{
    (void)part;
    const char *const theme = page->options->theme;
    ta_puts(page->out, "<!DOCTYPE html>\n<html lang=\"en\"");
    if (theme && (strcmp(theme, "light") == 0 || strcmp(theme, "dark") == 0))
        html_put(page, " data-theme=\"%s\"", theme);
    html_put(page,
             ">\n<head>\n<meta charset=\"utf-8\">\n<title>%s · traceanalyze</title>\n"
             "<meta name=\"generator\" content=\"traceanalyze %s\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"referrer\" content=\"no-referrer\">\n",
             ta_report_run(page->report)->title, page->options->version);
    const enum ta_status status = html_assets(page);
    if (status != TA_OK)
        return status;
    ta_puts(page->out, "<link rel=\"icon\" href=\"data:image/svg+xml,"
                       "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'%3E"
                       "%3Cpath fill='%234a6fdc' d='M2 3h11v4H2zM7 8h11v4H7zM4 13h8v4H4z'/%3E"
                       "%3C/svg%3E\">\n"
                       "</head>\n"
                       "<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
                       "<div class=\"bar\">\n<a class=\"brand\" href=\"#main\">"
                       "<svg viewBox=\"0 0 20 20\" aria-hidden=\"true\">"
                       "<path d=\"M2 3h11v4H2zM7 8h11v4H7zM4 13h8v4H4z\"/></svg>traceanalyze</a>\n"
                       "<div class=\"actions\"></div>\n</div>\n"
                       "<div class=\"layout\">\n");
    put_nav(page);
    ta_puts(page->out, "<main id=\"main\" tabindex=\"-1\">\n");
    return html_hero(page);
}

/* ---- sections of the report: beginning with tiles, findings, charts and tables, end ---------- */

static enum ta_status put_chapter(const struct page *page, const struct page_part *part)
{
    const char *id = ta_chapter_id(part->chapter);
    html_put(page, "<section id=\"g-%s\" aria-labelledby=\"hg-%s\">\n<h2 id=\"hg-%s\">%s</h2>\n",
             id, id, id, ta_chapter_title(part->chapter));
    if (part->chapter == TA_CHAPTER_APPENDIX)
        ta_puts(page->out, "<noscript><p class=\"prose\">The tables of the appendix need a script; "
                           "<code>report.json</code> has all of them.</p></noscript>\n");
    return TA_OK;
}

static void put_heading(const struct page *page, const struct ta_section *section)
{
    if (count_sections(page, section->chapter) > 1 &&
        strcmp(section->title, ta_chapter_title(section->chapter)) != 0)
        html_put(page, "<h3 class=\"part\">%s</h3>\n", section->title);
}

/* Whether the line on what its items come to is there. */
static bool is_on_first_screen(const struct page *page, const struct ta_section *section)
{
    return ta_report_kind(page->report) == TA_REPORT_RUN &&
           strcmp(section->id, TA_SECTION_FINDINGS) == 0 && count_items(section, TA_ITEM_FINDING);
}

static enum ta_status put_begin(const struct page *page, const struct page_part *part)
{
    const struct ta_section *section = part->section;
    html_put(page, "<section id=\"s-%s\">\n", section->id);
    put_heading(page, section);
    if (section->summary && !is_on_first_screen(page, section))
        html_put(page, "<p class=\"prose summary\">%s</p>\n", section->summary);
    if (section->missing)
        html_put(page, "<p class=\"missing\">%s</p>\n", section->missing);
    if (strcmp(section->id, HTML_OVERVIEW) != 0)
        html_tiles(page, section);
    return TA_OK;
}

/* Of a section whose tables of details follow in the appendix. */
static enum ta_status put_owner(const struct page *page, const struct page_part *part)
{
    html_put(page, "<h3 class=\"part\">%s</h3>\n", part->section->title);
    return TA_OK;
}

static enum ta_status put_end(const struct page *page, const struct page_part *part)
{
    (void)part;
    ta_puts(page->out, "</section>\n");
    return TA_OK;
}

/* How many findings of a report stand before one. */
static size_t findings_before(const struct page *page, const struct ta_finding *finding)
{
    struct ta_walk walk = {0};
    const struct ta_item *item;
    size_t n = 0;
    while ((item = ta_report_next(page->report, TA_ITEM_FINDING, &walk)) != NULL &&
           item->finding != finding)
        n++;
    return n;
}

static enum ta_status put_finding(const struct page *page, const struct page_part *part)
{
    const bool is_above = ta_report_kind(page->report) == TA_REPORT_RUN &&
                          findings_before(page, part->item->finding) < HTML_FIRST_FINDINGS;
    int64_t largest_ns = 0;
    for (size_t i = 0; i < part->section->n_items; i++) {
        const struct ta_item *item = &part->section->items[i];
        if (item->kind == TA_ITEM_FINDING)
            largest_ns = ta_max_i64(largest_ns, item->finding->saving_high_ns);
    }
    html_finding(page, part->item->finding, largest_ns, is_above ? HTML_FOLDED : HTML_OPEN);
    return TA_OK;
}

static enum ta_status put_figures(const struct page *page, const struct page_part *part)
{
    return html_figures(page, part->item->table);
}

static enum ta_status put_table(const struct page *page, const struct page_part *part)
{
    return html_table(page, part->item->table, HTML_OPEN);
}

/* How many rules looked, before what each of them found. */
static void put_rules(const struct page *page)
{
    char text[TA_RULES_TEXT_MAX];
    if (*ta_rules_said(page->report, text))
        html_put(page, "<p class=\"prose summary\">%s</p>\n", text);
}

static enum ta_status put_folded(const struct page *page, const struct page_part *part)
{
    if (strcmp(part->section->id, TA_SECTION_FINDINGS) == 0)
        put_rules(page);
    return html_table(page, part->item->table,
                      ta_table_is_charted(part->section, part->item->table) ? HTML_FOLDED_ALONE
                                                                            : HTML_FOLDED);
}

/* ---- the end of the page -----------------------------------------------------------------------
 */

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

/* The method, and the report for programs: report.json in a <script>, with the first rows of each
 * table. */
static enum ta_status put_rest(const struct page *page, const struct page_part *part)
{
    (void)part;
    html_method(page);
    ta_puts(page->out, "<script type=\"application/json\" id=\"traceanalyze-report\">");
    const enum ta_status status = ta_put_report_json(
        page->ctx, page->out, page->report, page->options->version, true, page->options->top);
    ta_puts(page->out, "</script>\n");
    return status;
}

/* ---- all parts ---------------------------------------------------------------------------------
 */

static size_t list_section(const struct ta_section *section, struct page_part *parts)
{
    size_t n = 0;
    parts[n++] = (struct page_part){.put = put_begin, .section = section};
    for (size_t i = 0; i < section->n_items; i++) {
        const struct ta_item *item = &section->items[i];
        if (item->kind == TA_ITEM_FINDING)
            parts[n++] = (struct page_part){put_finding, section, item, section->chapter};
        if (item->kind == TA_ITEM_TABLE &&
            (!is_folded(section, item) || ta_table_is_charted(section, item->table)))
            parts[n++] = (struct page_part){put_figures, section, item, section->chapter};
        if (item->kind == TA_ITEM_TABLE && ta_table_is_open(section, item->table))
            parts[n++] = (struct page_part){put_table, section, item, section->chapter};
        if (has_details(section) && is_folded(section, item))
            parts[n++] = (struct page_part){put_folded, section, item, section->chapter};
    }
    parts[n++] = (struct page_part){.put = put_end};
    return n;
}

/* The tables of details of a section of another chapter. */
static size_t list_details(const struct ta_section *section, struct page_part *parts)
{
    size_t n = 0;
    for (size_t i = 0; i < section->n_items; i++) {
        if (has_details(section) || !is_folded(section, &section->items[i]))
            continue;
        if (n == 0)
            parts[n++] = (struct page_part){.put = put_owner, .section = section};
        parts[n++] =
            (struct page_part){put_folded, section, &section->items[i], TA_CHAPTER_APPENDIX};
    }
    return n;
}

static size_t list_chapter(const struct page *page, enum ta_chapter chapter,
                           struct page_part *parts)
{
    const size_t n_sections = ta_report_section_count(page->report);
    const bool is_last = chapter == TA_CHAPTER_APPENDIX;
    size_t n = 0;
    if (!is_last && !count_sections(page, chapter))
        return 0;
    parts[n++] = (struct page_part){.put = put_chapter, .chapter = chapter};
    for (size_t i = 0; i < n_sections; i++) {
        const struct ta_section *section = ta_report_section(page->report, i);
        if (section->chapter == chapter && is_open(page, section))
            n += list_section(section, &parts[n]);
        else if (is_last)
            n += list_details(section, &parts[n]);
    }
    if (is_last) {
        parts[n++] = (struct page_part){.put = put_quality};
        parts[n++] = (struct page_part){.put = put_rest};
    }
    parts[n++] = (struct page_part){.put = put_end};
    return n;
}

/* `parts` has room for them. */
static size_t list_parts(const struct page *page, struct page_part *parts)
{
    size_t n = 0;
    parts[n++] = (struct page_part){.put = put_frame};
    for (size_t i = 0; i < TA_CHAPTERS; i++) {
        if (i == TA_CHAPTER_TIMELINE)
            parts[n++] = (struct page_part){.put = put_timeline};
        else
            n += list_chapter(page, (enum ta_chapter)i, &parts[n]);
    }
    return n;
}

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

static enum ta_status put_page(const struct page *page)
{
    size_t most = 4 + 2 * TA_CHAPTERS;
    for (size_t i = 0; i < ta_report_section_count(page->report); i++)
        most += 3 * ta_report_section(page->report, i)->n_items + 3;
    struct page_part *parts = calloc(most, sizeof *parts);
    if (!parts)
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot list the parts of the page: most=%zu",
                       most);
    const size_t n = list_parts(page, parts);
    struct writing writing = {page, parts};
    enum ta_status status = ta_put_pieces(page->ctx, page->out, n, write_part, &writing);
    free(parts);
    if (status == TA_OK)
        status = html_timeline_data(page);
    if (status == TA_OK)
        html_put(page,
                 "<footer>Written by traceanalyze %s.</footer>\n</main>\n</div>\n</body>\n"
                 "</html>\n",
                 page->options->version);
    return status;
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
