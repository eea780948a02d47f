/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.md: the report as text for pull requests, job summaries and wikis. */
#include "base/write/escape.h"
#include "lib/markup.h"
#include "lib/identity.h"
#include "report/sections.h"
#include "report/short_name.h"
#include "report/tables.h"
#include "report/unit.h"

#include <traceanalyze/plugin.h>
#include <traceanalyze/table.h>

#include <inttypes.h>
#include <stdlib.h>

#define SIGNATURE "<!-- traceanalyze.report/1 -->"

static void put_count(struct ta_file *out, uint64_t count)
{
    char text[TA_UNIT_TEXT_MAX];
    ta_puts(out, ta_unit_format(text, (double)count, TA_UNIT_COUNT));
}

/* A name as people say it. */
static void put_said(struct ta_file *out, struct ta_slice name)
{
    struct ta_arena arena = {0};
    ta_put_markdown(out, ta_said_name(&arena, name));
    ta_arena_free(&arena);
}

/* Names stand in code spans; numbers carry their unit. */
static void put_cell(struct ta_file *out, const struct ta_cell *cell, enum ta_unit unit)
{
    char buffer[TA_UNIT_TEXT_MAX];
    const struct ta_slice text = ta_cell_text(cell, unit, buffer);
    if (cell->kind == TA_CELL_TEXT)
        ta_put_markdown(out, text);
    else
        ta_put(out, cell->kind == TA_CELL_NULL ? TA_LIT("–") : text);
}

static void put_name(struct ta_file *out, const char *name)
{
    ta_put_markdown(out, ta_slice_of(name));
}

/* ---- tables -------------------------------------------------------------------------- */

static void put_heads(struct ta_file *out, const struct ta_table *table)
{
    ta_putc(out, '|');
    for (size_t i = 0; i < table->n_columns; i++)
        if (ta_column_is_useful(table, i))
            ta_put_markdown_f(out, " %s |", table->columns[i].title);
    ta_puts(out, "\n|");
    for (size_t i = 0; i < table->n_columns; i++)
        if (ta_column_is_useful(table, i))
            ta_puts(out, ta_column_is_number(&table->columns[i]) ? " ---: |" : " --- |");
    ta_putc(out, '\n');
}

static void put_row(struct ta_file *out, const struct ta_table *table, size_t row)
{
    char buffer[TA_WORD_TEXT_MAX];
    ta_putc(out, '|');
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct ta_cell *cell = ta_table_cell(table, row, i);
        if (!ta_column_is_useful(table, i))
            continue;
        ta_putc(out, ' ');
        if (table->columns[i].type == TA_TYPE_WORD && cell->kind == TA_CELL_TEXT)
            ta_put_markdown_text(out, ta_table_text(table, row, i, buffer));
        else if (table->columns[i].type == TA_TYPE_STRING && cell->kind == TA_CELL_TEXT)
            put_said(out, cell->text);
        else if (ta_column_is_number(&table->columns[i]) && cell->kind != TA_CELL_NULL)
            ta_put(out, ta_table_text(table, row, i, buffer));
        else
            put_cell(out, cell, ta_table_unit(table, row, i));
        ta_puts(out, " |");
    }
    ta_putc(out, '\n');
}

static enum ta_status put_table(struct ta_ctx *ctx, struct ta_file *out,
                                const struct ta_table *table,
                                const struct ta_render_options *options)
{
    const size_t n = options->top && options->top < table->n_rows ? options->top : table->n_rows;
    const size_t measure = ta_table_measure(table, n);
    size_t *rows = reallocarray(NULL, n + 1, sizeof *rows);
    if (!rows || !ta_table_pick_rows(table, measure, n, rows)) {
        free(rows);
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot lay out a table: id=\"%s\"", table->id);
    }
    ta_put_markdown_f(out, "\n### %s\n\n", table->title);
    put_heads(out, table);
    for (size_t i = 0; i < n; i++)
        put_row(out, table, rows[i]);
    if (n < table->n_rows) { /* What is not in the document, and which rows are. */
        ta_puts(out, "\n");
        if (measure != SIZE_MAX)
            ta_put_markdown_f(out, "These have the %s “%s”; ",
                              ta_table_more_is_worse(table, measure) ? "largest" : "smallest",
                              table->columns[measure].title);
        put_count(out, table->n_rows - n);
        ta_puts(out,
                table->n_rows - n == 1 ? " more row is in table " : " more rows are in table ");
        put_name(out, table->id);
        ta_puts(out, " of `report.json`.\n");
    }
    free(rows);
    return TA_OK;
}

/* ---- findings ------------------------------------------------------------------------ */

/* "- **Why:** The GPU waits." */
static void put_point(struct ta_file *out, const char *point, const char *sentence)
{
    if (!sentence || !*sentence)
        return;
    ta_putf(out, "- **%s:** ", point);
    ta_put_markdown_prose(out, sentence);
    ta_putc(out, '\n');
}

static void put_finding(struct ta_file *out, const struct ta_report *report,
                        const struct ta_finding *finding, size_t number)
{
    ta_put_markdown_f(out, "\n### %zu. %s: ", number, ta_severity_name(finding->severity));
    ta_put_markdown_prose(out, finding->title);
    ta_puts(out, "\n\n");
    char saving[TA_SAVING_TEXT_MAX], confidence[TA_UNIT_TEXT_MAX];
    put_point(out, "Why", finding->why);
    put_point(out, "What to do", finding->advice);
    put_point(out, "Details", finding->details);
    if (finding->saving_high_ns != TA_MISSING)
        ta_putf(out, "- **Saving:** %s\n", ta_saving_text(finding, saving));
    ta_putf(out, "- **Confidence:** %s\n",
            ta_unit_format_tick(confidence, finding->confidence, 1, TA_UNIT_RATIO, true));
    if (finding->threshold) {
        ta_puts(out, "- **Rule:** ");
        put_name(out, finding->rule);
        ta_puts(out, ", ");
        put_name(out, finding->threshold);
        ta_putc(out, '\n');
    }
    if (finding->n_evidence)
        ta_puts(out, "- **Evidence:**\n");
    for (size_t i = 0; i < finding->n_evidence; i++) {
        char line[512];
        ta_evidence_text(report, &finding->evidence[i], line, sizeof line);
        ta_put_markdown_f(out, "  - %s\n", line);
    }
}

static void put_paragraph(struct ta_file *out, const char *sentence)
{
    ta_putc(out, '\n');
    ta_put_markdown_prose(out, sentence);
    ta_putc(out, '\n');
}

static void put_findings(struct ta_file *out, const struct ta_report *report)
{
    size_t number = 0;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    ta_puts(out, "\n## Findings\n");
    while ((item = ta_report_next(report, TA_ITEM_FINDING, &walk)) != NULL)
        put_finding(out, report, item->finding, ++number);
    for (size_t s = 0; s < ta_report_section_count(report); s++)
        if (ta_report_section(report, s)->summary)
            put_paragraph(out, ta_report_section(report, s)->summary);
    char rules[TA_RULES_TEXT_MAX];
    if (*ta_rules_said(report, rules))
        put_paragraph(out, rules);
    else if (number == 0)
        ta_puts(out, "\nNo rule found anything worth changing.\n");
}

/* ---- sections ------------------------------------------------------------------------ */

/* Tables, or the scalars that are shown. */
static size_t count_items(const struct ta_report *report, const struct ta_section *section,
                          enum ta_item_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < section->n_items; i++)
        n += section->items[i].kind == kind &&
             (kind != TA_ITEM_TABLE || !ta_table_is_points(section->items[i].table)) &&
             (kind != TA_ITEM_SCALAR || ta_scalar_is_shown(report, section->items[i].scalar));
    return n;
}

static enum ta_status put_section(struct ta_ctx *ctx, struct ta_file *out,
                                  const struct ta_report *report, const struct ta_section *section,
                                  const struct ta_render_options *options)
{
    const size_t n_scalars = count_items(report, section, TA_ITEM_SCALAR);
    if (n_scalars + count_items(report, section, TA_ITEM_TABLE) == 0 && !section->missing)
        return TA_OK; /* its findings stand above */
    if (strcmp(section->id, TA_SECTION_FINDINGS) != 0)
        ta_put_markdown_f(out, "\n## %s\n", section->title);
    if (section->missing)
        ta_put_markdown_f(out, "\n%s\n", section->missing);
    if (n_scalars) {
        ta_puts(out, "\n| Figure | Value | Note |\n| --- | ---: | --- |\n");
        for (size_t i = 0; i < section->n_items; i++) {
            const struct ta_scalar *scalar = section->items[i].scalar;
            if (section->items[i].kind != TA_ITEM_SCALAR || !ta_scalar_is_shown(report, scalar))
                continue;
            ta_put_markdown_f(out, "| %s | ", scalar->title);
            put_cell(out, &scalar->value, scalar->unit);
            ta_put_markdown_f(out, " | %s |\n", scalar->note);
        }
    }
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < section->n_items; i++)
        if (section->items[i].kind == TA_ITEM_TABLE && !ta_table_is_points(section->items[i].table))
            status = put_table(ctx, out, section->items[i].table, options);
    return status;
}

/* ---- accounts ------------------------------------------------------------------------ */

static enum ta_status put_quality_rows(struct ta_ctx *ctx, struct ta_file *out,
                                       const struct ta_accounts *accounts)
{
    struct ta_arena arena = {0};
    const struct ta_notices notices = ta_accounts_notices(accounts, &arena);
    if (notices.n)
        ta_puts(out, "\n| Severity | Code | File | Count | First byte | What |\n"
                     "| --- | --- | --- | ---: | ---: | --- |\n");
    for (size_t i = 0; i < notices.n; i++) {
        const struct ta_quality_finding *finding = &notices.at[i].finding;
        ta_putf(out, "| %s | %s | ", ta_quality_severity_name(finding->severity),
                ta_quality_name(finding->code));
        put_name(out, notices.at[i].where);
        ta_puts(out, " | ");
        put_count(out, finding->count);
        if (finding->byte_offset == TA_NO_OFFSET)
            ta_puts(out, " | – | ");
        else
            ta_putf(out, " | %" PRIu64 " | ", finding->byte_offset);
        ta_put_markdown_f(out, "%s |\n",
                          finding->text && *finding->text ? finding->text
                                                          : ta_quality_info(finding->code)->doc);
    }
    const bool failed = arena.failed;
    ta_arena_free(&arena);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot list what was found in the inputs") : TA_OK;
}

static enum ta_status put_accounts(struct ta_ctx *ctx, struct ta_file *out,
                                   const struct ta_accounts *accounts)
{
    const struct ta_account_totals *totals = &accounts->totals;
    ta_putf(out,
            "\n## Data quality\n\nThe input is **%s**: ", ta_quality_status_name(accounts->status));
    put_count(out, totals->files_used);
    ta_puts(out, " of ");
    put_count(out, totals->files_seen);
    ta_puts(out, " files and ");
    put_count(out, totals->events_kept);
    ta_puts(out, " of ");
    put_count(out, totals->events_seen);
    ta_putf(out, " %s are used.\n", ta_accounts_noun(accounts, false));
    if (accounts->n_files)
        ta_puts(out, "\n| File | Rank | Format | State | Kept | Dropped |\n"
                     "| --- | ---: | --- | --- | ---: | ---: |\n");
    for (size_t i = 0; i < accounts->n_files; i++) {
        const struct ta_file_account *file = &accounts->files[i];
        const struct ta_cell rank = ta_int(file->rank);
        ta_puts(out, "| ");
        put_name(out, file->path);
        ta_puts(out, " | ");
        put_cell(out, &rank, TA_UNIT_NONE);
        ta_puts(out, " | ");
        put_name(out, file->format);
        ta_putf(out, " | %s | ", ta_file_state_name(file->state));
        put_count(out, file->events_kept);
        ta_puts(out, " | ");
        put_count(out, file->events_dropped);
        ta_puts(out, " |\n");
    }
    return put_quality_rows(ctx, out, accounts);
}

/* ---- the document -------------------------------------------------------------------- */

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    struct ta_file *out = ta_sink_open_report(ctx, sink, report, "md", SIGNATURE);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the Markdown report");
    const struct ta_run_info *run = ta_report_run(report);
    struct ta_identity identity;
    char line[TA_IDENTITY_TEXT_MAX];
    ta_put_markdown_f(out, SIGNATURE "\n# %s\n\n", run->title);
    if (*ta_report_verdict(report)->headline) {
        ta_puts(out, "**");
        ta_put_markdown_prose(out, ta_report_verdict(report)->headline);
        ta_puts(out, "**\n\n");
    }
    ta_identity_say(&identity, report);
    ta_put_markdown_f(out, "%s%straceanalyze %s\n", ta_identity_line(&identity, line),
                      identity.n ? " · " : "", options->version);
    put_findings(out, report);
    enum ta_status status = TA_OK;
    for (size_t i = 0; status == TA_OK && i < ta_report_section_count(report); i++)
        status = put_section(ctx, out, report, ta_report_section(report, i), options);
    if (status == TA_OK)
        status = put_accounts(ctx, out, ta_report_accounts(report));
    const enum ta_status closed = ta_file_close(ctx, out);
    return status ? status : closed;
}

static const struct ta_output_ops ops = {
    .extension = "md",
    .write = write,
};

TA_PLUGIN(output, md, &ops, .title = "Markdown", .version = "1",
          .summary = "report.md: verdict, findings and tables for a pull request or wiki");
