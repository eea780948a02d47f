/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary on one screen: what was run, the verdict, the picture, the findings with what to do
 * and what that saves, a line of figures.
 *
 * The least of it is drawn first; what a reader wants next is added while it still fits. */
#include "lib/short_finding.h"
#include "render/sink.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LINES_MOST = 40,
    LINES_LEFT = 2, /* to say where the report lies */
    WHOLE_MOST = 3, /* findings that are more than a title */
    LANES_LEAST = 3,
    ROWS_MOST = 5, /* of a table */
    FIGURE_LINES_MOST = 2,
    MARGIN = TEXT_INDENT + 3 /* of findings: "1", and a gap */
};

/* How much of it is drawn. */
struct plan {
    size_t lanes;    /* of the picture */
    size_t advices;  /* findings with all of their advice, not the first sentence alone */
    size_t whys;     /* findings with where it comes from */
    size_t findings; /* the rest is counted */
    size_t gaps;     /* 1: blank lines between findings */
    size_t figures;  /* lines of them */
    bool *tables;    /* by their place among those picked */
};

struct screen {
    const struct page *page;
    const struct text_picks *picks;
    const struct ta_finding **findings;
    size_t n_findings;
    bool has_picture;
    enum ta_status status;
};

/* ---- findings ------------------------------------------------------------------------ */

static void put_saving(const struct page *page, const struct ta_finding *finding)
{
    char saving[TEXT_SAVING_MAX], line[TEXT_SAVING_MAX + 16];
    text_saving(finding, saving);
    if (!*saving && finding->severity == TA_INFO)
        return; /* nothing to weigh */
    snprintf(line, sizeof line, "%s%s%s", ta_severity_name(finding->severity), *saving ? ": " : "",
             saving);
    text_sentence(page, line, MARGIN, *saving ? TEXT_GOOD : text_severity(finding->severity));
}

static void put_finding(const struct screen *screen, const struct plan *plan, size_t i)
{
    const struct page *page = screen->page;
    const struct ta_finding *finding = screen->findings[i];
    char number[24], sentence[TA_SENTENCE_MAX];
    const char *rest;
    struct ta_short_finding words;
    ta_finding_shorten(&words, page->report, finding);
    snprintf(number, sizeof number, "%zu", i + 1);
    text_blanks(page, TEXT_INDENT);
    text_style(page, text_severity(finding->severity));
    ta_put_terminal(page->out, ta_slice_of(number), MARGIN - TEXT_INDENT, 1);
    text_reset(page);
    text_style(page, i < WHOLE_MOST ? TEXT_BOLD : TEXT_PLAIN);
    text_wrap(page, words.title, MARGIN);
    text_reset(page);
    if (i >= WHOLE_MOST)
        return;
    if (i < plan->whys)
        text_sentence(page, finding->why, MARGIN, TEXT_PLAIN);
    if (words.advice)
        text_sentence(page,
                      i < plan->advices ? words.advice
                                        : ta_first_sentence(words.advice, sentence, &rest),
                      MARGIN, TEXT_PLAIN);
    put_saving(page, finding);
}

/* How many more there are, and what all of them come to; "" for nothing. */
static const char *summary_of(const struct page *page, size_t left_out, char *line, size_t size)
{
    size_t n = 0;
    line[0] = '\0';
    if (left_out)
        n = (size_t)snprintf(line, size, "%zu more finding%s with -v. ", left_out,
                             left_out == 1 ? "" : "s");
    for (size_t s = 0; s < ta_report_section_count(page->report); s++) {
        const char *summary = ta_report_section(page->report, s)->summary;
        if (summary && n + strlen(summary) + 2 < size)
            n += (size_t)snprintf(line + n, size - n, "%s ", summary);
    }
    return line;
}

static void put_findings(const struct screen *screen, const struct plan *plan)
{
    const struct page *page = screen->page;
    const size_t n = plan->findings < screen->n_findings ? plan->findings : screen->n_findings;
    char line[1024];
    if (screen->n_findings)
        text_heading(page, "Findings");
    for (size_t i = 0; i < n; i++) {
        if (i && i <= WHOLE_MOST && plan->gaps)
            ta_putc(page->out, '\n');
        put_finding(screen, plan, i);
    }
    summary_of(page, screen->n_findings - n, line, sizeof line);
    if (n && *line && plan->gaps)
        ta_putc(page->out, '\n');
    text_sentence(page, line, TEXT_INDENT, TEXT_PLAIN);
}

/* ---- figures and data ---------------------------------------------------------------- */

/* "GPU busy 59.6 % · Step time (p50 of 4) 248 ms", as many as the lines hold. */
static void put_figures(const struct page *page, size_t lines_most)
{
    const struct ta_scalar *figures[TA_FIGURES_MOST];
    const size_t n = ta_report_figures(page->report, figures), between = strlen(" . ");
    size_t columns = page->width, lines = 0; /* as after a full line */
    for (size_t i = 0; i < n; i++) {
        char buffer[TA_UNIT_TEXT_MAX], figure[200];
        const struct ta_slice value = ta_cell_text(&figures[i]->value, figures[i]->unit, buffer);
        snprintf(figure, sizeof figure, "%.100s %.*s", figures[i]->title,
                 (int)(value.len < 60 ? value.len : 60), value.ptr);
        const size_t width = ta_terminal_width(ta_slice_of(figure));
        if (columns + between + width <= page->width) {
            ta_puts(page->out, " · ");
            columns += between + width;
        } else if (lines < lines_most) {
            text_reset(page);
            ta_putc(page->out, '\n');
            text_blanks(page, TEXT_INDENT);
            text_style(page, TEXT_DIM);
            columns = TEXT_INDENT + width;
            lines++;
        } else {
            continue;
        }
        ta_put_terminal(page->out, ta_slice_of(figure), page->width - TEXT_INDENT, 0);
    }
    text_reset(page);
    if (lines)
        ta_putc(page->out, '\n');
}

/* Nothing where all files were read whole: then there is nothing to know. */
static void put_quality(const struct page *page)
{
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    char counts[TEXT_QUALITY_MAX], line[TEXT_QUALITY_MAX + 64];
    if (accounts->status == TA_QUALITY_CLEAN)
        return;
    snprintf(line, sizeof line, "Data: %s; -v says what is wrong.", text_quality(page, counts));
    text_sentence(page, line, TEXT_INDENT, text_quality_style(accounts->status));
}

/* ---- what fits ----------------------------------------------------------------------- */

static void draw(struct screen *screen, const struct plan *plan)
{
    const struct page *page = screen->page;
    text_head(page);
    const enum ta_status drawn = text_picture(page, plan->lanes, &screen->has_picture);
    if (screen->status == TA_OK)
        screen->status = drawn;
    put_findings(screen, plan);
    for (size_t i = 0; screen->status == TA_OK && i < screen->picks->n; i++)
        if (plan->tables[i])
            screen->status = text_table(page, screen->picks->at[i]);
    put_figures(page, plan->figures);
    put_quality(page);
}

/* Whether a plan fits, and keeps what it looks like if so. */
static bool fits(struct screen *screen, const struct plan *plan)
{
    struct page trial = *screen->page;
    const struct page *page = screen->page;
    struct ta_sink *sink = ta_sink_new(page->ctx, TA_SINK_MEMORY, NULL);
    trial.out = sink ? ta_sink_open(page->ctx, sink, "screen", "") : NULL;
    if (!trial.out) {
        screen->status = ta_ctx_status(page->ctx);
        ta_sink_free(sink);
        return false;
    }
    screen->page = &trial;
    draw(screen, plan);
    screen->page = page;
    const enum ta_status closed = ta_file_close(page->ctx, trial.out);
    if (screen->status == TA_OK)
        screen->status = closed;
    size_t n = 0, lines = 0;
    char *bytes = screen->status == TA_OK ? ta_sink_take(sink, &n) : NULL;
    for (size_t i = 0; bytes && i < n; i++)
        lines += bytes[i] == '\n';
    free(bytes);
    ta_sink_free(sink);
    return screen->status == TA_OK && lines + LINES_LEFT <= LINES_MOST;
}

/* Raises a member of the plan as far as it fits. */
static void raise(struct screen *screen, struct plan *plan, size_t *member, size_t most)
{
    while (*member < most && screen->status == TA_OK) {
        (*member)++;
        if (!fits(screen, plan)) {
            (*member)--;
            return;
        }
    }
}

/* Whether a table has bars of several parts, which the picture shows as well. */
static bool is_like_picture(const struct ta_table *table)
{
    return table->chart && table->chart->kind == TA_CHART_STACKED_BARS;
}

/* Next to the picture, figures that say something else come first. */
static void add_tables(struct screen *screen, struct plan *plan)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < screen->picks->n && screen->status == TA_OK; i++) {
            const bool waits = screen->has_picture && is_like_picture(screen->picks->at[i]);
            if (plan->tables[i] || waits != (pass == 1))
                continue;
            plan->tables[i] = true;
            plan->tables[i] = fits(screen, plan);
        }
}

static void choose(struct screen *screen, struct plan *plan)
{
    const bool is_diff = ta_report_kind(screen->page->report) == TA_REPORT_DIFF;
    if (is_diff)
        add_tables(screen, plan);
    raise(screen, plan, &plan->advices, WHOLE_MOST);
    raise(screen, plan, &plan->lanes, TEXT_LANES_MOST);
    raise(screen, plan, &plan->gaps, 1);
    raise(screen, plan, &plan->whys, WHOLE_MOST);
    raise(screen, plan, &plan->findings, screen->n_findings);
    raise(screen, plan, &plan->figures, FIGURE_LINES_MOST);
    if (!is_diff)
        add_tables(screen, plan);
}

static bool list_findings(struct screen *screen)
{
    struct ta_walk walk = {0};
    const struct ta_item *item;
    size_t n = 0;
    while (ta_report_next(screen->page->report, TA_ITEM_FINDING, &walk))
        n++;
    walk = (struct ta_walk){0};
    screen->findings = calloc(n + 1, sizeof(const struct ta_finding *));
    while (screen->findings &&
           (item = ta_report_next(screen->page->report, TA_ITEM_FINDING, &walk)) != NULL)
        screen->findings[screen->n_findings++] = item->finding;
    return screen->findings != NULL;
}

enum ta_status text_screen(const struct page *page, const struct text_picks *picks)
{
    struct page narrow = *page;
    struct screen screen = {.page = &narrow, .picks = picks};
    struct plan plan = {.lanes = LANES_LEAST,
                        .findings = WHOLE_MOST,
                        .figures = 1,
                        .tables = calloc(picks->n + 1, sizeof *plan.tables)};
    narrow.rows_most = ROWS_MOST;
    if (!plan.tables || !list_findings(&screen)) {
        free(plan.tables);
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Out of memory: doing=lay out the summary");
    }
    choose(&screen, &plan);
    if (screen.status == TA_OK)
        draw(&screen, &plan);
    free(screen.findings);
    free(plan.tables);
    return screen.status;
}
