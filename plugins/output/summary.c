/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.md: what a pull request or the summary of a job should show, as Markdown: the verdict,
 * the gates, the figures that tell most, and what changed most.  report.md has the rest. */
#include "base/write/escape.h"
#include "lib/markup.h"
#include "report/short_name.h"
#include "report/tables.h"

#include <traceanalyze/model.h>
#include <traceanalyze/plugin.h>
#include <traceanalyze/table.h>

#include <limits.h>
#include <math.h>

#define SIGNATURE "<!-- traceanalyze.summary/1 -->"

enum { FINDINGS_MOST = 5 };

/* Where a declared column is in a table of perhaps an earlier version; SIZE_MAX: nowhere. */
static size_t place_of(const struct ta_table *table, const struct ta_column *column)
{
    return column ? ta_table_column(table, column->key) : SIZE_MAX;
}

/* " (+8.50 % … +13.8 %)": the interval of a change. */
static void put_interval(struct ta_file *out, const struct ta_table *table, size_t row)
{
    char low[TA_UNIT_TEXT_MAX], high[TA_UNIT_TEXT_MAX];
    const size_t at[] = {place_of(table, table->def->digest->low),
                         place_of(table, table->def->digest->high)};
    if (at[0] == SIZE_MAX || at[1] == SIZE_MAX)
        return;
    const double from = ta_cell_number(ta_table_cell(table, row, at[0]), (double)NAN);
    const double to = ta_cell_number(ta_table_cell(table, row, at[1]), (double)NAN);
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
    struct ta_arena arena = {0};
    const struct ta_slice said = ta_short_name(&arena, name, NAME_MOST);
    const size_t n = said.ptr ? said.len : 0;
    memcpy(out, said.ptr ? said.ptr : "", n);
    ta_arena_free(&arena);
    return n;
}

/* A name of a run, or "old → new". */
static void put_name(struct ta_file *out, const struct ta_table *table, size_t row,
                     struct ta_slice name)
{
    char text[2 * (NAME_MOST + sizeof "…") + sizeof " → "];
    const size_t renamed = place_of(table, table->def->brief->renamed.name);
    const struct ta_cell *now = renamed == SIZE_MAX ? NULL : ta_table_cell(table, row, renamed);
    if (memmem(name.ptr, name.len, " → ", strlen(" → "))) { /* of terms, and short */
        ta_put_markdown(out, name);
        return;
    }
    size_t n = brief(name, text);
    if (now && now->kind == TA_CELL_TEXT) {
        memcpy(text + n, " → ", strlen(" → "));
        n += strlen(" → ");
        n += brief(now->text, text + n);
    }
    ta_put_markdown(out, (struct ta_slice){text, n});
}

/* Names stand in code spans, words and numbers as text. */
static void put_cell(struct ta_file *out, const struct ta_table *table, size_t row, size_t column)
{
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
    if (column == place_of(table, table->def->digest->change))
        put_interval(out, table, row);
}

/* Where the columns are that are shown; those without values are left out. */
static size_t list_columns(const struct ta_table *table, size_t columns[TA_BRIEF_COLUMNS])
{
    size_t n = 0;
    for (size_t i = 0; i < TA_BRIEF_COLUMNS; i++) {
        const size_t column = place_of(table, table->def->digest->columns[i]);
        if (column != SIZE_MAX && ta_column_has_values(table, column))
            columns[n++] = column;
    }
    return n;
}

static void put_heads(struct ta_file *out, const struct ta_table *table, const size_t *columns,
                      size_t n)
{
    ta_puts(out, "\n|");
    for (size_t i = 0; i < n; i++)
        ta_put_markdown_f(out, " %s |", table->columns[columns[i]].title);
    ta_puts(out, "\n|");
    for (size_t i = 0; i < n; i++)
        ta_puts(out, ta_column_is_number(&table->columns[columns[i]]) ? " ---: |" : " --- |");
    ta_putc(out, '\n');
}

/* Whether it is of a name that did not change. */
static bool is_same(const struct ta_table *table, size_t row)
{
    const struct ta_brief *brief = table->def->brief;
    const size_t column = place_of(table, brief->hidden.column);
    if (column == SIZE_MAX || ta_table_cell(table, row, column)->kind != TA_CELL_TEXT)
        return false;
    for (size_t i = 0; i < TA_BRIEF_WORDS && brief->hidden.words[i]; i++)
        if (ta_slice_equal(ta_table_cell(table, row, column)->text,
                           ta_slice_of(brief->hidden.words[i])))
            return true;
    return false;
}

static void put_table(struct ta_file *out, const struct ta_table *table)
{
    const size_t most = table->def->digest->rows ? table->def->digest->rows : SIZE_MAX;
    size_t columns[TA_BRIEF_COLUMNS], n_rows = 0;
    const size_t n = list_columns(table, columns);
    for (size_t row = 0; row < table->n_rows; row++) {
        if (is_same(table, row))
            continue;
        if (n_rows == 0) {
            ta_put_markdown_f(out, "\n**%s**\n", table->def->digest->title);
            put_heads(out, table, columns, n);
        }
        if (n_rows++ >= most)
            continue;
        ta_putc(out, '|');
        for (size_t i = 0; i < n; i++) {
            ta_putc(out, ' ');
            put_cell(out, table, row, columns[i]);
            ta_puts(out, " |");
        }
        ta_putc(out, '\n');
    }
    if (n_rows > most)
        ta_putf(out, "\n%zu more %s in the report.\n", n_rows - most,
                n_rows - most == 1 ? "row is" : "rows are");
}

/* The tables of a part, in the order of their briefs; false when there are none. */
static bool put_part(struct ta_file *out, const struct ta_report *report, enum ta_digest_part part)
{
    const struct ta_table *next;
    for (int last = INT_MIN;; last = next->def->brief->place) {
        next = NULL;
        for (const struct ta_table *t = NULL; (t = ta_report_table_after(report, t));)
            if (t->n_rows && t->def && t->def->digest && t->def->digest->part == part &&
                t->def->brief->place > last &&
                (!next || t->def->brief->place < next->def->brief->place))
                next = t;
        if (!next)
            return last != INT_MIN;
        put_table(out, next);
    }
}

/* ---- one run -------------------------------------------------------------------------- */

static void put_scalars(struct ta_file *out, const struct ta_report *report)
{
    char buffer[TA_UNIT_TEXT_MAX];
    const struct ta_scalar *figures[TA_FIGURES_MOST];
    const size_t n = ta_report_figures(report, figures);
    for (size_t i = 0; i < n; i++) {
        ta_puts(out, i == 0 ? "\n| Figure | Value |\n| --- | ---: |\n" : "");
        ta_put_markdown_f(out, "| %s | ", figures[i]->title);
        ta_put_markdown_text(out, ta_cell_text(&figures[i]->value, figures[i]->unit, buffer));
        ta_puts(out, " |\n");
    }
}

/* "1. high: **The GPU waits.** Copy from pinned memory. Saves 11.0 ms to 14.1 ms." */
static void put_finding(struct ta_file *out, const struct ta_finding *finding, size_t number)
{
    char saving[TA_SAVING_TEXT_MAX];
    ta_putf(out, "%zu. %s: **", number, ta_severity_name(finding->severity));
    ta_put_markdown_prose(out, finding->title);
    ta_puts(out, ".**");
    if (finding->advice && *finding->advice) {
        ta_putc(out, ' ');
        ta_put_markdown_prose(out, finding->advice);
    }
    if (finding->saving_high_ns != TA_MISSING)
        ta_put_markdown_f(out, " Saves %s.", ta_saving_text(finding, saving));
    ta_putc(out, '\n');
}

static void put_findings(struct ta_file *out, const struct ta_report *report)
{
    struct ta_walk walk = {0};
    const struct ta_item *item;
    size_t n = 0;
    while (n < FINDINGS_MOST && (item = ta_report_next(report, TA_ITEM_FINDING, &walk)) != NULL) {
        ta_puts(out, n == 0 ? "\n**Findings**\n\n" : "");
        put_finding(out, item->finding, ++n);
    }
    for (size_t s = 0; n && s < ta_report_section_count(report); s++)
        if (ta_report_section(report, s)->summary) {
            ta_putc(out, '\n');
            ta_put_markdown_prose(out, ta_report_section(report, s)->summary);
            ta_putc(out, '\n');
        }
}

/* ---- the whole ------------------------------------------------------------------------ */

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    struct ta_file *out = ta_sink_open(ctx, sink, "summary.md", SIGNATURE);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the summary");
    ta_puts(out, SIGNATURE "\n### ");
    ta_put_markdown_text(out, ta_slice_of(ta_report_run(report)->title));
    ta_puts(out, "\n\n**");
    ta_put_markdown_prose(out, ta_report_verdict(report)->headline);
    ta_puts(out, "**\n");
    put_part(out, report, TA_DIGEST_OUTCOME);
    put_findings(out, report);
    if (put_part(out, report, TA_DIGEST_FIGURES)) {
        ta_puts(out, "\n<details><summary>What changed</summary>\n");
        put_part(out, report, TA_DIGEST_CHANGES);
        ta_puts(out, "\n</details>\n");
    } else {
        put_scalars(out, report);
    }
    ta_put_markdown_f(out, "\ntraceanalyze %s\n\n", options->version);
    return ta_file_close(ctx, out);
}

static const struct ta_output_ops ops = {.extension = "summary.md", .write = write};

TA_PLUGIN(
    output, summary, &ops, .title = "Summary", .version = "1",
    .summary = "summary.md: verdict, gates and what changed most, for pull requests and jobs");
