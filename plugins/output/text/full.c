/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With -v: all that the summary knows to say, with evidence and tables. */
#include "report/tables.h"
#include "report/unit.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIGURES_MOST = 12, EVIDENCE_MOST = 3, QUALITY_MOST = 6, MARGIN = TEXT_INDENT + 10 };

/* ---- key figures --------------------------------------------------------------------- */

static size_t list_figures(const struct page *page, const struct ta_scalar *figures[], size_t most)
{
    size_t n = 0;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while (n < most && (item = ta_report_next(page->report, TA_ITEM_SCALAR, &walk)) != NULL)
        if (item->scalar->value.kind != TA_CELL_NULL &&
            ta_scalar_is_shown(page->report, item->scalar))
            figures[n++] = item->scalar;
    return n;
}

/* Two or more figures per line, titles and values aligned in columns. */
static void put_figures(const struct page *page)
{
    const struct ta_scalar *figures[FIGURES_MOST];
    const size_t n = ta_report_kind(page->report) == TA_REPORT_DIFF
                         ? ta_report_figures(page->report, figures)
                         : list_figures(page, figures, FIGURES_MOST);
    size_t title = 0, value = 0;
    char buffer[TA_UNIT_TEXT_MAX];
    for (size_t i = 0; i < n; i++) {
        const struct ta_slice text = ta_cell_text(&figures[i]->value, figures[i]->unit, buffer);
        const size_t columns = ta_terminal_width(text);
        value = columns > value ? columns : value;
        const size_t name = ta_terminal_width(ta_slice_of(figures[i]->title));
        title = name > title ? name : title;
    }
    if (n == 0)
        return;
    value = value < 24 ? value : 24;
    title = title < 32 ? title : 32;
    const size_t cell = title + 2 + value + 4;
    size_t per_line = (page->width - TEXT_INDENT + 4) / cell;
    per_line = per_line == 0 ? 1 : per_line < 4 ? per_line : 4;
    ta_putc(page->out, '\n');
    for (size_t i = 0; i < n; i++) {
        text_blanks(page, i % per_line ? 4 : TEXT_INDENT);
        text_style(page, TEXT_DIM);
        ta_put_terminal(page->out, ta_slice_of(figures[i]->title), title, 1);
        text_reset(page);
        text_blanks(page, 2);
        const struct ta_slice text = ta_cell_text(&figures[i]->value, figures[i]->unit, buffer);
        ta_put_terminal(page->out, text, value, -1);
        if ((i + 1) % per_line == 0 || i + 1 == n)
            ta_putc(page->out, '\n');
    }
}

/* ---- findings ------------------------------------------------------------------------ */

static void put_evidence(const struct page *page, const struct ta_evidence *evidence)
{
    char line[512];
    ta_evidence_text(page->report, evidence, line, sizeof line);
    text_blanks(page, MARGIN);
    text_style(page, TEXT_DIM);
    text_wrap(page, line, MARGIN);
    text_reset(page);
}

static void put_finding(const struct page *page, const struct ta_finding *finding)
{
    char saving[TEXT_SAVING_MAX];
    text_blanks(page, TEXT_INDENT);
    text_style(page, text_severity(finding->severity));
    ta_put_terminal(page->out, ta_slice_of(ta_severity_name(finding->severity)),
                    MARGIN - TEXT_INDENT, 1);
    text_reset(page);
    text_style(page, TEXT_BOLD);
    text_wrap(page, finding->title, MARGIN);
    text_reset(page);
    text_sentence(page, text_saving(finding, saving), MARGIN, TEXT_GOOD);
    text_sentence(page, finding->why, MARGIN, TEXT_PLAIN);
    text_sentence(page, finding->advice, MARGIN, TEXT_PLAIN);
    text_sentence(page, finding->details, MARGIN, TEXT_PLAIN);
    for (size_t i = 0; i < finding->n_evidence && i < EVIDENCE_MOST; i++)
        put_evidence(page, &finding->evidence[i]);
}

static void put_findings(const struct page *page)
{
    struct ta_walk walk = {0};
    const struct ta_item *item;
    for (size_t n = 0; (item = ta_report_next(page->report, TA_ITEM_FINDING, &walk)) != NULL; n++) {
        if (n == 0)
            text_heading(page, "Findings");
        else
            ta_putc(page->out, '\n');
        put_finding(page, item->finding);
    }
    for (size_t s = 0; s < ta_report_section_count(page->report); s++) {
        const char *summary = ta_report_section(page->report, s)->summary;
        if (!summary)
            continue;
        ta_putc(page->out, '\n');
        text_sentence(page, summary, TEXT_INDENT, TEXT_PLAIN);
    }
    char rules[TA_RULES_TEXT_MAX];
    if (*ta_rules_said(page->report, rules)) {
        ta_putc(page->out, '\n');
        text_sentence(page, rules, TEXT_INDENT, TEXT_PLAIN);
    }
}

/* ---- data quality -------------------------------------------------------------------- */

static void put_notice(const struct page *page, const struct ta_quality_finding *finding,
                       const char *file)
{
    const size_t indent = TEXT_INDENT + 8; /* "notice" and a gap */
    char count[TA_UNIT_TEXT_MAX], line[1024];
    size_t n = (size_t)snprintf(line, sizeof line, "%s × %s", ta_quality_name(finding->code),
                                ta_unit_format(count, (double)finding->count, TA_UNIT_COUNT));
    if (finding->byte_offset != TA_NO_OFFSET)
        n += (size_t)snprintf(line + n, sizeof line - n, " from byte %" PRIu64,
                              finding->byte_offset);
    if (file)
        snprintf(line + n, sizeof line - n, " of %s", file);
    text_blanks(page, TEXT_INDENT);
    text_style(page, finding->severity >= TA_QUALITY_LOSS ? TEXT_BAD : TEXT_WARN);
    ta_put_terminal(page->out, ta_slice_of(ta_quality_severity_name(finding->severity)), 8, 1);
    text_reset(page);
    text_wrap(page, line, indent);
    text_sentence(page, finding->text, indent, TEXT_PLAIN);
}

/* The worst first; what needs no action stays in the report. */
static enum ta_status put_notices(const struct page *page, const struct ta_accounts *accounts)
{
    struct ta_arena arena = {0};
    const struct ta_notices notices = ta_accounts_notices(accounts, &arena);
    size_t n = 0;
    for (; n < notices.n && notices.at[n].finding.severity > TA_QUALITY_INFO; n++)
        if (n < QUALITY_MOST)
            put_notice(page, &notices.at[n].finding, notices.at[n].where);
    if (n > QUALITY_MOST)
        ta_putf(page->out, "  and %zu more in the report\n", n - QUALITY_MOST);
    const bool failed = arena.failed;
    ta_arena_free(&arena);
    return failed ? ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot list what was found") : TA_OK;
}

static enum ta_status put_quality(const struct page *page)
{
    char line[TEXT_QUALITY_MAX];
    text_heading(page, "Data quality");
    text_sentence(page, text_quality(page, line), TEXT_INDENT,
                  text_quality_style(ta_report_accounts(page->report)->status));
    return put_notices(page, ta_report_accounts(page->report));
}

/* ---- the rest ------------------------------------------------------------------------ */

static void put_missing(const struct page *page)
{
    bool first = true;
    for (size_t s = 0; s < ta_report_section_count(page->report); s++) {
        const struct ta_section *section = ta_report_section(page->report, s);
        if (!section->missing)
            continue;
        if (first)
            text_heading(page, "Not in the input");
        first = false;
        text_sentence(page, section->missing, TEXT_INDENT, TEXT_PLAIN);
    }
}

/* Names the tables that the summary leaves to the other outputs. */
static void put_others(const struct page *page, const struct text_picks *picks)
{
    char line[4096];
    size_t n = 0;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(page->report, TA_ITEM_TABLE, &walk)) != NULL) {
        if (ta_table_is_points(item->table) || text_is_picked(picks, item->table) ||
            n + 200 > sizeof line)
            continue;
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%.150s", n ? " · " : "",
                              item->table->title);
    }
    if (n == 0)
        return;
    text_heading(page, "More tables in the report");
    text_sentence(page, line, TEXT_INDENT, TEXT_PLAIN);
}

enum ta_status text_full(const struct page *page, const struct text_picks *picks)
{
    text_head(page);
    bool has_picture;
    enum ta_status status = text_picture(page, SIZE_MAX, &has_picture);
    put_figures(page);
    put_findings(page);
    for (size_t i = 0; status == TA_OK && i < picks->n; i++)
        status = text_table(page, picks->at[i]);
    put_others(page, picks);
    put_missing(page);
    return status == TA_OK ? put_quality(page) : status;
}
