/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings as cards: how bad, how much time, on what evidence, what to do. */
#include "html.h"

#include <traceanalyze/chart.h>

/* A severity is told by word, by shape and by color. */
static const struct look {
    const char *word;
    const char *shape; /* a path in a box of 16 by 16 */
} looks[] = {
    [TA_INFO] = {"Info", "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zm0 1.6a4.4 4.4 0 1 1 0 8.8 4.4 "
                         "4.4 0 0 1 0-8.8z"},
    [TA_LOW] = {"Low", "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3z"},
    [TA_MEDIUM] = {"Medium", "M8 1.5 14.5 8 8 14.5 1.5 8z"},
    [TA_HIGH] = {"High", "M8 2 15 14H1z"},
    [TA_CRITICAL] = {"Critical", "M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2z"},
};

static void put_severity(const struct page *page, const struct look *look)
{
    ta_putf(page->out,
            "<span class=\"severity\"><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\">"
            "<path d=\"%s\"/></svg>%s</span>",
            look->shape, look->word);
}

/* Place of a saving on a bar of 0…1000 that ends at the largest saving of the list. */
static int place(int64_t saving_ns, int64_t scale_ns)
{
    return saving_ns > 0 ? ta_whole_int(1000.0 * (double)saving_ns / (double)scale_ns) : 0;
}

/* The range of a saving as a bar: solid up to the low end, pale up to the high one. */
static void put_range(const struct page *page, int64_t low_ns, int64_t high_ns, int64_t scale_ns)
{
    if (scale_ns <= 0 || high_ns <= 0 || low_ns > high_ns)
        return;
    ta_puts(page->out, "<svg class=\"range\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" "
                       "aria-hidden=\"true\"><path d=\"M0 0h1000v8H0z\"/>");
    ta_putf(page->out, "<path d=\"M0 0h%dv8H0z\"/><path d=\"M0 0h%dv8H0z\"/></svg>",
            place(high_ns, scale_ns), place(low_ns, scale_ns));
}

static void put_saving(const struct page *page, const struct ta_finding *finding, int64_t scale_ns)
{
    if (finding->saving_low_ns == TA_MISSING || finding->saving_high_ns == TA_MISSING) {
        ta_puts(page->out, "<div class=\"saving\"><dt>Saving</dt>"
                           "<dd class=\"nil\">not estimated</dd></div>\n");
        return;
    }
    const struct ta_cell low = ta_int(finding->saving_low_ns);
    const struct ta_cell high = ta_int(finding->saving_high_ns);
    ta_puts(page->out, "<div class=\"saving\"><dt>Saving</dt><dd>");
    if (low.i == high.i) {
        html_value(page, &high, TA_UNIT_NS);
    } else if (low.i <= 0) {
        ta_puts(page->out, "up to ");
        html_value(page, &high, TA_UNIT_NS);
    } else {
        html_value(page, &low, TA_UNIT_NS);
        ta_puts(page->out, " – ");
        html_value(page, &high, TA_UNIT_NS);
    }
    put_range(page, low.i, high.i, scale_ns);
    ta_puts(page->out, "</dd></div>\n");
}

/* Pieces of evidence that are cells of one row, from the first on. */
static size_t count_cells(const struct ta_table *table, const struct ta_evidence *evidence,
                          size_t most)
{
    const size_t row = table ? ta_evidence_row(table, evidence) : SIZE_MAX;
    size_t n = 1;
    while (row != SIZE_MAX && n < most && strcmp(evidence[n].table, evidence->table) == 0 &&
           ta_evidence_row(table, &evidence[n]) == row)
        n++;
    return n;
}

/* Where `n` cells of a row are to be seen: the row when it stands in the page, else the table. */
static void put_evidence_link(const struct page *page, const struct ta_table *table,
                              const struct ta_evidence *evidence, size_t n)
{
    const size_t row = ta_evidence_row(table, evidence);
    if (html_has_row(page, table, row)) {
        ta_puts(page->out, "<a href=\"#r-");
        html_text(page, table->id);
        ta_putf(page->out, "-%zu\" data-column=\"", row);
        for (size_t i = 0; i < n; i++) {
            ta_puts(page->out, i ? "," : "");
            html_text(page, evidence[i].column);
        }
    } else {
        ta_puts(page->out, "<a href=\"#t-");
        html_text(page, table->id);
    }
    ta_puts(page->out, "\">");
}

/* All that says which row it is: "First block · Session · rank 0". */
static void put_keys(const struct page *page, const struct ta_table *table, size_t row)
{
    char title[TA_KEY_TITLE_MAX], text[TA_WORD_TEXT_MAX];
    const char *separator = "";
    for (size_t i = 0; (i = ta_row_key(table, row, i)) != SIZE_MAX; i++, separator = " · ") {
        ta_puts(page->out, separator);
        if (ta_table_cell(table, row, i)->kind != TA_CELL_TEXT) {
            html_text(page, ta_key_title(table, i, title));
            ta_putc(page->out, ' ');
        }
        html_name(page, ta_table_text(table, row, i, text));
    }
}

static void put_evidence_row(const struct page *page, const struct ta_table *table,
                             const struct ta_evidence *evidence, size_t n)
{
    const size_t row = table ? ta_evidence_row(table, evidence) : SIZE_MAX;
    if (!table) {
        html_value(page, &evidence->row, TA_UNIT_NONE);
        return;
    }
    put_evidence_link(page, table, evidence, n);
    if (row == SIZE_MAX || ta_row_key(table, row, 0) == SIZE_MAX)
        html_text(page, table->title);
    else
        put_keys(page, table, row);
    ta_puts(page->out, "</a>");
}

static void put_figure(const struct page *page, const struct ta_table *table,
                       const struct ta_evidence *evidence)
{
    const size_t column = table ? ta_table_column(table, evidence->column) : SIZE_MAX;
    ta_puts(page->out, "<span>");
    html_text(page, table && column != SIZE_MAX ? table->columns[column].title : evidence->column);
    ta_puts(page->out, " <b>");
    html_value(page, &evidence->value, evidence->unit);
    ta_puts(page->out, "</b></span>");
}

/* Which row it is, and what stands there and where to see more, which stay together. */
static void put_evidence(const struct page *page, const struct ta_table *table,
                         const struct ta_evidence *evidence, size_t n)
{
    ta_puts(page->out, "<li>");
    put_evidence_row(page, table, evidence, n);
    ta_puts(page->out, " <div>");
    for (size_t i = 0; i < n; i++) {
        ta_puts(page->out, i ? " " : "");
        put_figure(page, table, &evidence[i]);
    }
    if (table && table->chart) {
        ta_puts(page->out, " <a class=\"chart-link\" href=\"#c-");
        html_text(page, table->chart->id);
        ta_puts(page->out, "\">chart</a>");
    }
    html_timeline_link(page, table, evidence);
    ta_puts(page->out, "</div></li>\n");
}

static void put_all_evidence(const struct page *page, const struct ta_finding *finding)
{
    if (finding->n_evidence == 0)
        return;
    ta_puts(page->out, "<h4 class=\"sr\">Evidence</h4>\n<ul class=\"evidence\">\n");
    for (size_t i = 0, n; i < finding->n_evidence; i += n) {
        const struct ta_evidence *evidence = &finding->evidence[i];
        const struct ta_table *table = ta_report_table(page->report, evidence->table);
        n = count_cells(table, evidence, finding->n_evidence - i);
        put_evidence(page, table, evidence, n);
    }
    ta_puts(page->out, "</ul>\n");
}

static void put_basis(const struct page *page, const struct ta_finding *finding, int64_t scale_ns)
{
    ta_puts(page->out, "<dl class=\"basis\">\n");
    put_saving(page, finding, scale_ns);
    ta_puts(page->out, "<div><dt>Confidence</dt><dd>");
    char confidence[TA_UNIT_TEXT_MAX];
    ta_puts(page->out,
            ta_unit_format_tick(confidence, finding->confidence, 1, TA_UNIT_RATIO, true));
    ta_puts(page->out, "</dd></div>\n</dl>\n");
}

/* The rule that speaks, and the predicate that made it speak. */
static void put_rule(const struct page *page, const struct ta_finding *finding)
{
    ta_puts(page->out, "<p class=\"rule\">Rule <code>");
    html_text(page, finding->rule);
    ta_puts(page->out, "</code>");
    if (finding->threshold && finding->threshold[0]) {
        ta_puts(page->out, " fires on <code>");
        html_text(page, finding->threshold);
        ta_puts(page->out, "</code>");
    }
    ta_puts(page->out, "</p>\n");
}

void html_finding(const struct page *page, const struct ta_finding *finding, int64_t scale_ns)
{
    const struct look *look = &looks[finding->severity];
    ta_putf(page->out, "<article class=\"finding is-%s\" id=\"f-",
            ta_severity_name(finding->severity));
    html_text(page, finding->id);
    ta_puts(page->out, "\">\n<div class=\"what\">\n<h3>");
    put_severity(page, look);
    ta_puts(page->out, " <span>");
    html_text(page, finding->title);
    ta_puts(page->out, "</span></h3>\n");
    if (finding->advice && finding->advice[0]) {
        ta_puts(page->out, "<p class=\"advice\">");
        html_text(page, finding->advice);
        ta_puts(page->out, "</p>\n");
    }
    put_all_evidence(page, finding);
    put_rule(page, finding);
    ta_puts(page->out, "</div>\n");
    put_basis(page, finding, scale_ns);
    ta_puts(page->out, "</article>\n");
}
