/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.md: what a pull request or the summary of a job should show, as Markdown: the verdict,
 * the gates, the figures that tell most, and what changed most.  report.md has the rest. */
#include "lib/markup.h"

#include <traceanalyze/model.h>
#include <traceanalyze/plugin.h>

#include <math.h>

#define SIGNATURE "<!-- traceanalyze.summary/1 -->"

enum { FIGURES_MOST = 12, CHANGES_MOST = 10, FINDINGS_MOST = 5 };

/* A table as a list of its columns; those without values are left out. */
struct view {
    const char *id, *title;
    size_t rows; /* at most */
    const char *columns[8];
};

/* " (+8.50 % … +13.8 %)": the interval of a change. */
static void put_interval(struct ta_file *out, const struct ta_table *table, size_t row)
{
    char low[TA_UNIT_TEXT_MAX], high[TA_UNIT_TEXT_MAX];
    const double from = ta_row_number(table, row, "ci_low", (double)NAN);
    const double to = ta_row_number(table, row, "ci_high", (double)NAN);
    if (isnan(from) || isnan(to) || from == to)
        return;
    ta_putf(out, " (%s … %s)", ta_unit_format(low, from - 1, TA_UNIT_RATIO_CHANGE),
            ta_unit_format(high, to - 1, TA_UNIT_RATIO_CHANGE));
}

/* Bytes of a name; longer ones say no more. */
enum { NAME_MOST = 80 };

/* A name as people say it, whole or with its end left out; gives its length. */
static size_t brief(struct ta_slice name, char out[NAME_MOST + sizeof "…"])
{
    char whole[4 * NAME_MOST];
    size_t n = ta_kernel_brief(name, whole, sizeof whole);
    const bool is_cut = n > NAME_MOST;
    for (n = is_cut ? NAME_MOST : n; is_cut && n && ((unsigned char)whole[n] & 0xc0) == 0x80;)
        n--;
    memcpy(out, whole, n);
    memcpy(out + n, "…", is_cut ? strlen("…") : 0);
    return n + (is_cut ? strlen("…") : 0);
}

/* A name of a run, or "old → new". */
static void put_name(struct ta_file *out, const struct ta_table *table, size_t row,
                     struct ta_slice name)
{
    char text[2 * (NAME_MOST + sizeof "…") + sizeof " → "];
    const struct ta_slice now = ta_row_text(table, row, "matched_as");
    if (memmem(name.ptr, name.len, " → ", strlen(" → "))) { /* of terms, and short */
        ta_put_markdown(out, name);
        return;
    }
    size_t n = brief(name, text);
    if (now.len) {
        memcpy(text + n, " → ", strlen(" → "));
        n += strlen(" → ");
        n += brief(now, text + n);
    }
    ta_put_markdown(out, (struct ta_slice){text, n});
}

static size_t column_at(const struct ta_table *table, const struct view *view, size_t i)
{
    const size_t column = ta_table_column(table, view->columns[i]);
    return column != SIZE_MAX && ta_column_has_values(table, column) ? column : SIZE_MAX;
}

static void put_heads(struct ta_file *out, const struct ta_table *table, const struct view *view)
{
    ta_puts(out, "\n|");
    for (size_t i = 0; view->columns[i]; i++) {
        const size_t column = column_at(table, view, i);
        if (column != SIZE_MAX)
            ta_put_markdown_f(out, " %s |", table->columns[column].title);
    }
    ta_puts(out, "\n|");
    for (size_t i = 0; view->columns[i]; i++) {
        const size_t column = column_at(table, view, i);
        if (column != SIZE_MAX)
            ta_puts(out, ta_column_is_number(&table->columns[column]) ? " ---: |" : " --- |");
    }
    ta_putc(out, '\n');
}

static void put_row(struct ta_file *out, const struct ta_table *table, const struct view *view,
                    size_t row)
{
    ta_putc(out, '|');
    for (size_t i = 0; view->columns[i]; i++) {
        const size_t column = column_at(table, view, i);
        if (column == SIZE_MAX)
            continue;
        ta_putc(out, ' ');
        /* Names stand in code spans, words and numbers as text. */
        char buffer[TA_WORD_TEXT_MAX], name[NAME_MOST + sizeof "…"];
        const struct ta_slice text = ta_table_text(table, row, column, buffer);
        const enum ta_type type = table->columns[column].type;
        const struct ta_cell *cell = ta_table_cell(table, row, column);
        if (text.len == 0)
            ta_puts(out, "–");
        else if (column == 0 && type == TA_TYPE_STRING)
            put_name(out, table, row, text);
        else if (cell->kind == TA_CELL_TEXT && type == TA_TYPE_STRING)
            ta_put_markdown(out, (struct ta_slice){name, brief(text, name)});
        else
            ta_put_markdown_text(out, text);
        if (strcmp(table->columns[column].key, "change") == 0)
            put_interval(out, table, row);
        ta_puts(out, " |");
    }
    ta_putc(out, '\n');
}

/* Rows but those of names that did not change. */
static size_t count_rows(const struct ta_table *table)
{
    size_t n = 0;
    for (size_t row = 0; row < table->n_rows; row++)
        n += !ta_row_reads(table, row, "status", "same");
    return n;
}

static void put_view(struct ta_file *out, const struct ta_report *report, const struct view *view)
{
    const struct ta_table *table = ta_report_table(report, view->id);
    const size_t rows = table ? count_rows(table) : 0;
    if (rows == 0)
        return;
    ta_put_markdown_f(out, "\n**%s**\n", view->title);
    put_heads(out, table, view);
    for (size_t row = 0, n = 0; row < table->n_rows && n < view->rows; row++) {
        if (ta_row_reads(table, row, "status", "same"))
            continue;
        put_row(out, table, view, row);
        n++;
    }
    if (rows > view->rows)
        ta_putf(out, "\n%zu more %s in the report.\n", rows - view->rows,
                rows - view->rows == 1 ? "row is" : "rows are");
}

/* ---- one run -------------------------------------------------------------------------- */

static void put_scalars(struct ta_file *out, const struct ta_report *report)
{
    char buffer[TA_UNIT_TEXT_MAX];
    struct ta_walk walk = {0};
    const struct ta_item *item;
    for (size_t n = 0;
         n < FIGURES_MOST && (item = ta_report_next(report, TA_ITEM_SCALAR, &walk)) != NULL;) {
        const struct ta_scalar *scalar = item->scalar;
        if (scalar->value.kind == TA_CELL_NULL || !ta_scalar_is_shown(report, scalar))
            continue;
        ta_puts(out, n++ == 0 ? "\n| Figure | Value |\n| --- | ---: |\n" : "");
        ta_put_markdown_f(out, "| %s | ", scalar->title);
        ta_put_markdown_text(out, ta_cell_text(&scalar->value, scalar->unit, buffer));
        ta_puts(out, " |\n");
    }
}

static void put_findings(struct ta_file *out, const struct ta_report *report)
{
    struct ta_walk walk = {0};
    const struct ta_item *item;
    for (size_t n = 0;
         n < FINDINGS_MOST && (item = ta_report_next(report, TA_ITEM_FINDING, &walk)) != NULL; n++)
        ta_put_markdown_f(out, n == 0 ? "\n**Findings**\n\n- %s: %s\n" : "- %s: %s\n",
                          ta_severity_name(item->finding->severity), item->finding->title);
}

/* ---- the whole ------------------------------------------------------------------------ */

static const struct view gates = {
    "gates.results",
    "Gates",
    SIZE_MAX,
    {"gate", "outcome", "what", "base", "new", "change", "reason", NULL}};
static const struct view figures = {
    "diff.metrics", "Figures", FIGURES_MOST, {"title", "base", "new", "change", "verdict", NULL}};
static const struct view changes[] = {
    {"diff.waterfall",
     "What changed the time of the run",
     CHANGES_MOST,
     {"term", "kind", "base_ns", "new_ns", "delta_ns", NULL}},
    {"diff.stages",
     "Stages",
     CHANGES_MOST,
     {"name", "status", "base_total_ns", "new_total_ns", "delta_ns", "change", "q_value", NULL}},
    {"diff.kernels",
     "Kernels",
     CHANGES_MOST,
     {"name", "status", "base_total_ns", "new_total_ns", "delta_ns", "change", "q_value", NULL}},
};

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    struct ta_file *out = ta_sink_open(ctx, sink, "summary.md", SIGNATURE);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the summary");
    ta_put_markdown_f(out, SIGNATURE "\n### %s\n\n**%s**\n", ta_report_run(report)->title,
                      ta_report_verdict(report)->headline);
    put_view(out, report, &gates);
    if (ta_report_table(report, figures.id)) {
        put_view(out, report, &figures);
        ta_puts(out, "\n<details><summary>What changed</summary>\n");
        for (size_t i = 0; i < TA_LENGTH(changes); i++)
            put_view(out, report, &changes[i]);
        ta_puts(out, "\n</details>\n");
    } else {
        put_scalars(out, report);
        put_findings(out, report);
    }
    ta_put_markdown_f(out, "\ntraceanalyze %s\n\n", options->version);
    return ta_file_close(ctx, out);
}

static const struct ta_output_ops ops = {.extension = "summary.md", .write = write};

TA_PLUGIN(
    output, summary, &ops, .title = "Summary", .version = "1",
    .summary = "summary.md: verdict, gates and what changed most, for pull requests and jobs");
