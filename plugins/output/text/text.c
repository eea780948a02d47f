/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terminal summary: verdict, key figures, findings, the tables that matter, data quality.
 * It fits a screen and can be pasted into a chat. */
#include "text.h"

#include "lib/scheme.h"
#include "report/unit.h"

#include <traceanalyze/plugin.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The first words of every summary, and what tells report.txt from other text files. */
#define SIGNATURE "traceanalyze "

enum {
    NARROWEST = 40,
    WIDEST = 160,
    FIGURES_MOST = 12,
    FINDINGS_MOST = 5,
    EVIDENCE_MOST = 3,
    QUALITY_MOST = 6
};

/* ---- head ---------------------------------------------------------------------------- */

/* The answer of a comparison comes first: it is pasted elsewhere. */
static void put_headline(const struct page *page)
{
    text_style(page, TEXT_BOLD);
    text_wrap(page, ta_report_verdict(page->report)->headline, 0);
    text_reset(page);
}

/* What files are that are not simply ranks of the run. */
static void put_recordings(const struct page *page)
{
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    for (size_t i = 0; i < accounts->n_findings; i++) {
        const struct ta_quality_finding *finding = &accounts->findings[i];
        if (finding->code != TA_Q_RECORDINGS || !finding->text)
            continue;
        text_style(page, TEXT_DIM);
        text_wrap(page, finding->text, 0);
        text_reset(page);
    }
}

static void put_head(const struct page *page)
{
    const struct ta_run_info *run = ta_report_run(page->report);
    char here[TA_UNIT_TEXT_MAX], world[TA_UNIT_TEXT_MAX], line[2048];
    const bool known = run->world_size != TA_MISSING;
    const bool devices = run->devices && *run->devices;
    char ranks[2 * TA_UNIT_TEXT_MAX + TA_SCHEME_TEXT_MAX + 16] = "", scheme[TA_SCHEME_TEXT_MAX];
    ta_scheme_say(scheme, page->report);
    if (run->n_ranks) /* several runs have none together */
        snprintf(ranks, sizeof ranks, " · %s%s%s rank%s%s%s",
                 ta_unit_format(here, (double)run->n_ranks, TA_UNIT_COUNT), known ? " of " : "",
                 known ? ta_unit_format(world, (double)run->world_size, TA_UNIT_COUNT) : "",
                 (known ? run->world_size : (int64_t)run->n_ranks) == 1 ? "" : "s",
                 *scheme ? ", " : "", scheme);
    snprintf(line, sizeof line, SIGNATURE "%s · %s%s%s%s", page->options->version, run->title,
             ranks, devices ? " · " : "", devices ? run->devices : "");
    if (ta_report_kind(page->report) == TA_REPORT_DIFF) {
        put_headline(page);
        text_style(page, TEXT_DIM);
        text_wrap(page, line, 0);
        text_reset(page);
    } else {
        text_wrap(page, line, 0);
        put_recordings(page);
        ta_putc(page->out, '\n');
        put_headline(page);
    }
}

/* ---- key figures --------------------------------------------------------------------- */

static size_t collect_figures(const struct page *page, const struct ta_scalar *figures[])
{
    size_t n = 0;
    for (size_t s = 0; s < ta_report_section_count(page->report); s++) {
        const struct ta_section *section = ta_report_section(page->report, s);
        for (size_t i = 0; i < section->n_items && n < FIGURES_MOST; i++)
            if (section->items[i].kind == TA_ITEM_SCALAR &&
                section->items[i].scalar->value.kind != TA_CELL_NULL &&
                ta_scalar_is_shown(page->report, section->items[i].scalar))
                figures[n++] = section->items[i].scalar;
    }
    return n;
}

/* Two or more figures per line, titles and values aligned in columns. */
static void put_figures(const struct page *page)
{
    const struct ta_scalar *figures[FIGURES_MOST];
    const size_t n = collect_figures(page, figures);
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

static void put_saving(const struct page *page, const struct ta_finding *finding, size_t indent)
{
    char saving[TA_SAVING_TEXT_MAX], confidence[TA_UNIT_TEXT_MAX];
    char line[TA_SAVING_TEXT_MAX + TA_UNIT_TEXT_MAX + 32];
    if (finding->saving_high_ns == TA_MISSING)
        return;
    snprintf(line, sizeof line, "saves %s, confidence %s", ta_saving_text(finding, saving),
             ta_unit_format_tick(confidence, finding->confidence, 1, TA_UNIT_RATIO, true));
    text_blanks(page, indent);
    text_style(page, TEXT_GOOD);
    text_wrap(page, line, indent);
    text_reset(page);
}

static void put_sentence(const struct page *page, const char *sentence, size_t indent)
{
    if (!sentence || !*sentence)
        return;
    text_blanks(page, indent);
    text_wrap(page, sentence, indent);
}

static void put_evidence(const struct page *page, const struct ta_evidence *evidence, size_t indent)
{
    char line[512];
    ta_evidence_text(page->report, evidence, line, sizeof line);
    text_blanks(page, indent);
    text_style(page, TEXT_DIM);
    text_wrap(page, line, indent);
    text_reset(page);
}

static void put_finding(const struct page *page, const struct ta_finding *finding)
{
    const size_t indent = TEXT_INDENT + 10; /* "critical" and a gap */
    text_blanks(page, TEXT_INDENT);
    text_style(page, finding->severity >= TA_HIGH     ? TEXT_BAD
                     : finding->severity == TA_MEDIUM ? TEXT_WARN
                                                      : TEXT_DIM);
    ta_put_terminal(page->out, ta_slice_of(ta_severity_name(finding->severity)), 10, 1);
    text_reset(page);
    text_style(page, TEXT_BOLD);
    text_wrap(page, finding->title, indent);
    text_reset(page);
    put_saving(page, finding, indent);
    put_sentence(page, finding->why, indent);
    put_sentence(page, finding->advice, indent);
    for (size_t i = 0; i < finding->n_evidence && i < EVIDENCE_MOST; i++)
        put_evidence(page, &finding->evidence[i], indent);
}

/* What the findings come to. */
static void put_summaries(const struct page *page)
{
    for (size_t s = 0; s < ta_report_section_count(page->report); s++) {
        const struct ta_section *section = ta_report_section(page->report, s);
        if (!section->summary)
            continue;
        ta_putc(page->out, '\n');
        text_blanks(page, TEXT_INDENT);
        text_wrap(page, section->summary, TEXT_INDENT);
    }
}

static void put_findings(const struct page *page)
{
    size_t n = 0;
    for (size_t s = 0; s < ta_report_section_count(page->report); s++) {
        const struct ta_section *section = ta_report_section(page->report, s);
        for (size_t i = 0; i < section->n_items; i++) {
            if (section->items[i].kind != TA_ITEM_FINDING)
                continue;
            if (n == 0)
                text_heading(page, "Findings");
            else if (n < FINDINGS_MOST)
                ta_putc(page->out, '\n');
            if (n++ < FINDINGS_MOST)
                put_finding(page, section->items[i].finding);
        }
    }
    if (n > FINDINGS_MOST)
        ta_putf(page->out, "  and %zu more in the report\n", n - FINDINGS_MOST);
    put_summaries(page);
}

/* ---- data quality -------------------------------------------------------------------- */

static void put_quality_finding(const struct page *page, const struct ta_quality_finding *finding,
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
    if (finding->text && *finding->text) {
        text_blanks(page, indent);
        text_wrap(page, finding->text, indent);
    }
}

/* The worst first; what needs no action stays in the report. */
static enum ta_status put_notices(const struct page *page, const struct ta_accounts *accounts)
{
    struct ta_arena arena = {0};
    const struct ta_notices notices = ta_accounts_notices(accounts, &arena);
    size_t n = 0;
    for (; n < notices.n && notices.at[n].finding.severity > TA_QUALITY_INFO; n++)
        if (n < QUALITY_MOST)
            put_quality_finding(page, &notices.at[n].finding, notices.at[n].where);
    if (n > QUALITY_MOST)
        ta_putf(page->out, "  and %zu more in the report\n", n - QUALITY_MOST);
    const bool failed = arena.failed;
    ta_arena_free(&arena);
    return failed ? ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot list what was found") : TA_OK;
}

static enum ta_status put_quality(const struct page *page)
{
    static const enum text_style styles[] = {[TA_QUALITY_CLEAN] = TEXT_GOOD,
                                             [TA_QUALITY_REPAIRED] = TEXT_WARN,
                                             [TA_QUALITY_LOSSY] = TEXT_BAD};
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    const struct ta_account_totals *totals = &accounts->totals;
    const uint64_t counts[] = {totals->files_used, totals->files_seen, totals->events_kept,
                               totals->events_seen};
    char texts[4][TA_UNIT_TEXT_MAX], line[300];
    for (size_t i = 0; i < 4; i++)
        ta_unit_format(texts[i], (double)counts[i], TA_UNIT_COUNT);
    snprintf(line, sizeof line, "%s · %s of %s files · %s of %s %s used",
             ta_quality_status_name(accounts->status), texts[0], texts[1], texts[2], texts[3],
             ta_accounts_noun(accounts, totals->events_seen == 1));
    text_heading(page, "Data quality");
    text_blanks(page, TEXT_INDENT);
    text_style(page, styles[accounts->status]);
    text_wrap(page, line, TEXT_INDENT);
    text_reset(page);
    return put_notices(page, accounts);
}

/* ---- the whole ----------------------------------------------------------------------- */

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
        text_blanks(page, TEXT_INDENT);
        text_wrap(page, section->missing, TEXT_INDENT);
    }
}

/* Names the tables that the summary leaves to the other outputs. */
static void put_others(const struct page *page, const struct text_picks *picks)
{
    char line[4096];
    size_t n = 0;
    for (size_t s = 0; s < ta_report_section_count(page->report); s++) {
        const struct ta_section *section = ta_report_section(page->report, s);
        for (size_t i = 0; i < section->n_items; i++) {
            if (section->items[i].kind != TA_ITEM_TABLE ||
                ta_table_is_points(section->items[i].table) ||
                text_is_picked(picks, section->items[i].table) || n + 200 > sizeof line)
                continue;
            n += (size_t)snprintf(line + n, sizeof line - n, "%s%.150s", n ? " · " : "",
                                  section->items[i].table->title);
        }
    }
    if (n == 0)
        return;
    text_heading(page, "More tables in the report");
    text_blanks(page, TEXT_INDENT);
    text_wrap(page, line, TEXT_INDENT);
}

static size_t clamp_width(uint32_t columns)
{
    if (columns == 0)
        return 80;
    return columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns;
}

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    struct ta_file *out = ta_sink_open_report(ctx, sink, report, "txt", SIGNATURE);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the summary");
    const struct page page = {.ctx = ctx,
                              .out = out,
                              .report = report,
                              .options = options,
                              .width = clamp_width(options->columns)};
    put_head(&page);
    put_figures(&page);
    put_findings(&page);
    struct text_picks picks;
    enum ta_status status = text_pick_tables(report, &picks)
                                ? TA_OK
                                : ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: doing=pick tables");
    for (size_t i = 0; status == TA_OK && i < picks.n; i++)
        status = text_table(&page, picks.at[i]);
    put_others(&page, &picks);
    free(picks.at);
    put_missing(&page);
    if (status == TA_OK)
        status = put_quality(&page);
    const enum ta_status closed = ta_file_close(ctx, out);
    return status ? ta_cause(ctx, status, "Cannot write the summary") : closed;
}

static const struct ta_output_ops ops = {
    .extension = "txt",
    .write = write,
};

TA_PLUGIN(output, text, &ops, .title = "Terminal summary", .version = "1",
          .summary = "the answer on one screen; report.txt when written to a folder");
