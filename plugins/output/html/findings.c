/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings as cards: how bad, how much time, on what evidence, what to do. */
#include "html.h"
#include "render/chart/says.h"
#include "report/unit.h"
#include "report/words.h"

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

/* Place of a saving on a bar of 0…1000 that ends at the largest saving of the list. */
static int place(int64_t saving_ns, int64_t scale_ns)
{
    return saving_ns > 0 ? ta_whole_int(1000.0 * (double)saving_ns / (double)scale_ns) : 0;
}

static void put_saving(const struct page *page, const struct ta_finding *finding, int64_t scale_ns)
{
    const int64_t low_ns = finding->saving_low_ns, high_ns = finding->saving_high_ns;
    if (low_ns == TA_MISSING || high_ns == TA_MISSING) {
        ta_puts(page->out, "<div class=\"saving\"><dt>Saving</dt>"
                           "<dd class=\"nil\">not estimated</dd></div>\n");
        return;
    }
    const struct ta_cell low = ta_int(low_ns), high = ta_int(high_ns);
    ta_puts(page->out, "<div class=\"saving\"><dt>Saving</dt><dd>");
    if (low_ns > 0 && low_ns != high_ns) {
        html_value(page, &low, TA_UNIT_NS);
        ta_puts(page->out, " – ");
    } else if (low_ns != high_ns) {
        ta_puts(page->out, "up to ");
    }
    html_value(page, &high, TA_UNIT_NS);
    char share[TA_SAVING_TEXT_MAX];
    if (*ta_saving_share_text(finding, share))
        html_put(page, "<span class=\"of\">%s</span>", share);

    /* The range as a bar: solid up to the low end, pale up to the high one. */
    if (scale_ns > 0 && high_ns > 0 && low_ns <= high_ns)
        html_put(page,
                 "<svg class=\"range\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" "
                 "aria-hidden=\"true\"><path d=\"M0 0h1000v8H0z\"/><path d=\"M0 0h%dv8H0z\"/>"
                 "<path d=\"M0 0h%dv8H0z\"/></svg>",
                 place(high_ns, scale_ns), place(low_ns, scale_ns));
    ta_puts(page->out, "</dd></div>\n");
}

/* Which row `n` cells are of, "First block · Session · rank 0", linked to that row when it is in
 * the page, else to the table. */
static void put_evidence_row(const struct page *page, const struct ta_table *table, size_t row,
                             const struct ta_evidence *evidence, size_t n)
{
    const struct ta_chart *chart = ta_chart_after(table, NULL);
    if (chart && ta_table_is_points(table)) {
        html_put(page, "<a href=\"#c-%s\">", chart->id);
    } else if (html_has_row(page, table, row)) {
        html_put(page, "<a href=\"#r-%s-%zu\" data-column=\"", table->id, row);
        for (size_t i = 0; i < n; i++)
            html_put(page, i ? ",%s" : "%s", evidence[i].column);
        ta_puts(page->out, "\">");
    } else {
        html_put(page, "<a href=\"#t-%s\">", table->id);
    }
    const char *separator = "";
    for (size_t i = 0; row != SIZE_MAX && (i = ta_row_key(table, row, i)) != SIZE_MAX; i++) {
        char title[TA_KEY_TITLE_MAX], text[TA_WORD_TEXT_MAX];
        ta_puts(page->out, separator);
        if (ta_table_cell(table, row, i)->kind != TA_CELL_TEXT)
            html_put(page, "%s ", ta_key_title(table, i, title));
        html_said_name(page, ta_table_text(table, row, i, text));
        separator = " · ";
    }
    if (!*separator)
        html_put(page, "%s", table->title);
    ta_puts(page->out, "</a>");
}

/* Which row `n` cells are of, their values and where to see more, which stay together. */
static void put_evidence(const struct page *page, const struct ta_table *table, size_t row,
                         const struct ta_evidence *evidence, size_t n)
{
    ta_puts(page->out, "<li>");
    if (table)
        put_evidence_row(page, table, row, evidence, n);
    else
        html_value(page, &evidence->row, TA_UNIT_NONE);
    ta_puts(page->out, " <div>");
    for (size_t i = 0; i < n; i++) {
        const size_t column = table ? ta_table_column(table, evidence[i].column) : SIZE_MAX;
        html_put(page, i ? " <span>%s <b>" : "<span>%s <b>",
                 column != SIZE_MAX ? table->columns[column].title : evidence[i].column);
        html_value(page, &evidence[i].value, evidence[i].unit);
        ta_puts(page->out, "</b></span>");
    }
    const struct ta_chart *chart = table ? ta_chart_after(table, NULL) : NULL;
    if (chart && !ta_table_is_points(table))
        html_put(page, " <a class=\"chart-link\" href=\"#c-%s\">chart</a>", chart->id);
    html_timeline_link(page, table, evidence);
    ta_puts(page->out, "</div></li>\n");
}

/* Pieces of evidence that are cells of one row stand together. */
static void put_all_evidence(const struct page *page, const struct ta_finding *finding)
{
    if (finding->n_evidence == 0)
        return;
    ta_puts(page->out, "<h4 class=\"sr\">Evidence</h4>\n<ul class=\"evidence\">\n");
    for (size_t i = 0, n; i < finding->n_evidence; i += n) {
        const struct ta_evidence *evidence = &finding->evidence[i];
        const struct ta_table *table = ta_report_table(page->report, evidence->table);
        const size_t row = table ? ta_evidence_row(table, evidence) : SIZE_MAX;
        n = 1;
        while (row != SIZE_MAX && i + n < finding->n_evidence &&
               strcmp(evidence[n].table, evidence->table) == 0 &&
               ta_evidence_row(table, &evidence[n]) == row)
            n++;
        put_evidence(page, table, row, evidence, n);
    }
    ta_puts(page->out, "</ul>\n");
}

static void put_sentence(const struct page *page, const char *before, const char *sentence,
                         const char *after)
{
    if (!sentence || !*sentence)
        return;
    ta_puts(page->out, before);
    html_prose(page, sentence);
    ta_puts(page->out, after);
}

static void put_title(const struct page *page, const struct ta_finding *finding)
{
    const struct look *look = &looks[finding->severity];
    html_put(page,
             "<h3><span class=\"severity\"><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\">"
             "<path d=\"%s\"/></svg>%s</span> <span>",
             look->shape, look->word);
    html_prose(page, finding->title);
    ta_puts(page->out, "</span></h3>\n");
}

void html_finding(const struct page *page, const struct ta_finding *finding, int64_t scale_ns,
                  enum html_opening opening)
{
    const bool is_folded = opening == HTML_FOLDED;
    html_put(page, "<article class=\"finding is-%s\" id=\"f-%s\">\n",
             ta_severity_name(finding->severity), finding->id);
    if (is_folded) {
        ta_puts(page->out, "<details class=\"again\"><summary>");
        put_title(page, finding);
        ta_puts(page->out, "</summary>\n");
    }
    ta_puts(page->out, "<div class=\"body\">\n<div class=\"what\">\n");
    if (!is_folded)
        put_title(page, finding);
    put_sentence(page, "<p class=\"why\">", finding->why, "</p>\n");
    put_sentence(page, "<p class=\"advice\">", finding->advice, "</p>\n");
    put_sentence(page, "<details class=\"more\"><summary>Details</summary><p>", finding->details,
                 "</p></details>\n");
    put_all_evidence(page, finding);

    /* The rule that speaks, and the predicate that made it speak. */
    html_put(page, "<p class=\"rule\">Rule <code>%s</code>", finding->rule);
    if (finding->threshold && finding->threshold[0])
        html_put(page, " fires on <code>%s</code>", finding->threshold);
    ta_puts(page->out, "</p>\n</div>\n<dl class=\"basis\">\n");
    put_saving(page, finding, scale_ns);
    char confidence[TA_UNIT_TEXT_MAX];
    html_put(page, "<div><dt>Confidence</dt><dd>%s</dd></div>\n</dl>\n</div>\n",
             ta_unit_format_tick(confidence, finding->confidence, 1, TA_UNIT_RATIO, true));
    ta_puts(page->out, is_folded ? "</details>\n</article>\n" : "</article>\n");
}
