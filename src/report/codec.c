/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as JSON, in the shape of shape.c.  A row of a table or an item of evidence takes one
 * line. */
#include "base/write/pieces.h"
#include "report/codec.h"
#include "report/fields.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- items --------------------------------------------------------------------------- */

static void put_scalar(const struct writer *w, const struct ta_scalar *scalar)
{
    fields_put(w, "{\"kind\": \"scalar\", ", &shape_scalar, scalar);
    ta_putc(w->out, '}');
}

static void put_table(const struct writer *w, const struct ta_table *table)
{
    put_text_field(w, "{\"kind\": \"table\", ", "id", table->id);
    put_text_field(w, ", ", "title", table->title);
    ta_puts(w->out, ",\n     \"columns\": [");
    for (size_t i = 0; i < table->n_columns; i++) {
        fields_put(w, i ? ",\n       {" : "\n       {", &shape_column, &table->columns[i]);
        ta_putc(w->out, '}');
    }
    ta_puts(w->out, "],\n     ");
    const bool cut = w->max_rows && w->max_rows < table->n_rows;
    if (cut || table->n_left_out)
        ta_putf(w->out, "\"rows_total\": %zu,\n     ", table->n_rows + table->n_left_out);
    ta_puts(w->out, "\"rows\": [");
    for (size_t i = 0; i < (cut ? w->max_rows : table->n_rows); i++) {
        ta_puts(w->out, i ? ",\n       [" : "\n       [");
        for (size_t column = 0; column < table->n_columns; column++) {
            if (column)
                ta_puts(w->out, ", ");
            ta_put_json_cell(w->out, ta_table_cell(table, i, column), w->in_script);
        }
        ta_putc(w->out, ']');
    }
    ta_puts(w->out, "],\n     \"chart\": ");
    codec_put_chart(w, table->chart);
    ta_putc(w->out, '}');
}

static void put_finding(const struct writer *w, const struct ta_finding *finding)
{
    fields_put(w, "{\"kind\": \"finding\", ", &shape_finding, finding);
    ta_puts(w->out, ",\n     \"evidence\": [");
    for (size_t i = 0; i < finding->n_evidence; i++) {
        fields_put(w, i ? ",\n       {" : "\n       {", &shape_evidence, &finding->evidence[i]);
        ta_putc(w->out, '}');
    }
    ta_puts(w->out, "],\n     \"saving_ns\": ");
    if (finding->saving_low_ns == TA_MISSING && finding->saving_high_ns == TA_MISSING) {
        ta_puts(w->out, "null");
    } else {
        put_key(w, "{", "low");
        put_cell(w, ta_int(finding->saving_low_ns));
        put_key(w, ", ", "high");
        put_cell(w, ta_int(finding->saving_high_ns));
        if (finding->saving_high_share > 0)
            fields_put(w, ", ", &shape_saving_of_run, finding);
        ta_putc(w->out, '}');
    }
    fields_put(w, ", ", &shape_finding_words, finding);
    ta_putc(w->out, '}');
}

/* ---- accounts ------------------------------------------------------------------------ */

static void put_quality_findings(const struct writer *w, const struct ta_quality_finding *findings,
                                 size_t n, const char *lead)
{
    ta_puts(w->out, "\"findings\": [");
    for (size_t i = 0; i < n; i++) {
        ta_putf(w->out, "%s%s", i ? "," : "", lead);
        fields_put(w, "{", &shape_quality, &findings[i]);
        ta_putc(w->out, '}');
    }
    ta_putc(w->out, ']');
}

static void put_accounts(const struct writer *w, const struct ta_accounts *accounts)
{
    put_text_field(w, "{", "status", ta_quality_status_name(accounts->status));
    fields_put(w, ",\n   \"totals\": {", &shape_totals, &accounts->totals);
    ta_puts(w->out, "},\n   \"files\": [");
    for (size_t i = 0; i < accounts->n_files; i++) {
        const struct ta_file_account *file = &accounts->files[i];
        fields_put(w, i ? ",\n     {" : "\n     {", &shape_file, file);
        ta_puts(w->out, ",\n       ");
        put_quality_findings(w, file->findings, file->n_findings, "\n         ");
        ta_putc(w->out, '}');
    }
    ta_puts(w->out, "],\n   ");
    put_quality_findings(w, accounts->findings, accounts->n_findings, "\n     ");
    ta_putc(w->out, '}');
}

/* ---- the document -------------------------------------------------------------------- */

const char *ta_report_schema(const struct ta_report *report)
{
    return ta_report_kind(report) == TA_REPORT_DIFF ? "\"schema\": \"traceanalyze.diff/1\""
                                                    : "\"schema\": \"traceanalyze.report/1\"";
}

/* ---- items as pieces that several threads may write ---------------------------------------- */

struct piece {
    const struct ta_section *section;
    size_t section_at, item_at;
};

struct writing {
    struct writer writer; /* but for `out` */
    const struct piece *pieces;
};

/* An item, with the head of its section before the first and the end after the last. */
static enum ta_status put_piece(struct ta_ctx *ctx, struct ta_file *out, size_t i, void *user)
{
    const struct writing *writing = user;
    const struct piece *piece = &writing->pieces[i];
    const struct ta_section *section = piece->section;
    struct writer writer = writing->writer;
    (void)ctx;
    writer.out = out;
    if (piece->item_at == 0) {
        ta_puts(out, piece->section_at ? ",\n  " : "\n  ");
        put_text_field(&writer, "{", "id", section->id);
        put_text_field(&writer, ", ", "title", section->title);
        if (section->summary)
            put_text_field(&writer, ", ", "summary", section->summary);
        if (section->missing)
            put_text_field(&writer, ", ", "missing", section->missing);
        ta_puts(writer.out, ", \"items\": [");
    }
    if (piece->item_at < section->n_items) {
        ta_puts(out, piece->item_at ? ",\n    " : "\n    ");
        const struct ta_item *item = &section->items[piece->item_at];
        switch (item->kind) {
        case TA_ITEM_SCALAR:
            put_scalar(&writer, item->scalar);
            break;
        case TA_ITEM_TABLE:
            put_table(&writer, item->table);
            break;
        case TA_ITEM_FINDING:
            put_finding(&writer, item->finding);
            break;
        }
    }
    if (piece->item_at + 1 >= section->n_items)
        ta_puts(out, "]}");
    return TA_OK;
}

/* A piece for each item, and one for a section without any; NULL without memory. */
static struct piece *list_pieces(const struct ta_report *report, size_t *n)
{
    const size_t n_sections = ta_report_section_count(report);
    size_t most = 1;
    for (size_t i = 0; i < n_sections; i++)
        most += ta_report_section(report, i)->n_items + 1;
    struct piece *pieces = calloc(most, sizeof *pieces);
    *n = 0;
    for (size_t s = 0; pieces && s < n_sections; s++) {
        const struct ta_section *section = ta_report_section(report, s);
        size_t item = 0;
        do
            pieces[(*n)++] = (struct piece){section, s, item};
        while (++item < section->n_items);
    }
    return pieces;
}

enum ta_status ta_put_report_json(struct ta_ctx *ctx, struct ta_file *out,
                                  const struct ta_report *report, const char *version,
                                  bool in_script, size_t max_rows)
{
    size_t n;
    struct piece *pieces = list_pieces(report, &n);
    if (!pieces)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot list the items of the report");
    struct writing writing = {{out, in_script, max_rows}, pieces};
    const struct writer *w = &writing.writer;
    const struct ta_verdict *verdict = ta_report_verdict(report);
    ta_putf(w->out, "{%s,\n", ta_report_schema(report));
    put_text_field(w, " \"generator\": {\"name\": \"traceanalyze\", ", "version", version);
    ta_puts(w->out, "},\n \"run\": ");
    const struct ta_run_info *run = ta_report_run(report);
    put_text_field(w, "{", "title", run->title);
    ta_puts(w->out, ", \"ranks\": [");
    for (size_t i = 0; i < run->n_ranks; i++)
        ta_putf(w->out, "%s%" PRId64, i ? ", " : "", run->ranks[i]);
    put_key(w, "], ", "world_size");
    put_cell(w, ta_int(run->world_size));
    put_text_field(w, ", ", "devices", run->devices);
    ta_puts(w->out, ", \"tags\": {}}");
    put_text_field(w, ",\n \"verdict\": {", "headline", verdict->headline);
    put_text_field(w, ", ", "bottleneck", verdict->bottleneck);
    for (size_t i = 0; i < verdict->n_figures; i++) {
        ta_puts(w->out, i ? ", " : ", \"figures\": [");
        put_text(w, verdict->figures[i]);
    }
    ta_puts(w->out, verdict->n_figures ? "]" : "");
    ta_puts(w->out, "},\n \"sections\": [");
    const enum ta_status status = ta_put_pieces(ctx, out, n, put_piece, &writing);
    free(pieces);
    if (status != TA_OK)
        return status;
    ta_puts(out, "],\n \"data_quality\": ");
    put_accounts(&writing.writer, ta_report_accounts(report));
    ta_putc(out, '}');
    return TA_OK;
}
