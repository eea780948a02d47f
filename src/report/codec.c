/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as JSON, the one place that knows its shape (schemas/report-1.schema.json).  A row of a
 * table or an item of evidence takes one line. */
#include "base/write/pieces.h"
#include "report/codec_fields.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- values -------------------------------------------------------------------------- */

static void put_cell_field(const struct writer *w, const char *lead, const char *key,
                           struct ta_cell cell)
{
    put_key(w, lead, key);
    ta_put_json_cell(w->out, &cell, w->in_script);
}

static void put_count_field(const struct writer *w, const char *lead, const char *key,
                            uint64_t count)
{
    ta_putf(w->out, "%s\"%s\": %" PRIu64, lead, key, count);
}

static void put_offset_field(const struct writer *w, const char *key, uint64_t offset)
{
    if (offset == TA_NO_OFFSET)
        ta_putf(w->out, ", \"%s\": null", key);
    else
        put_count_field(w, ", ", key, offset);
}

/* ---- items --------------------------------------------------------------------------- */

static void put_scalar(const struct writer *w, const struct ta_scalar *scalar)
{
    put_text_field(w, "{\"kind\": \"scalar\", ", "id", scalar->id);
    put_text_field(w, ", ", "title", scalar->title);
    put_cell_field(w, ", ", "value", scalar->value);
    put_text_field(w, ", ", "unit", ta_unit_name(scalar->unit));
    put_text_field(w, ", ", "polarity", ta_polarity_name(scalar->polarity));
    put_text_field(w, ", ", "note", scalar->note);
    ta_putc(w->out, '}');
}

static void put_table(const struct writer *w, const struct ta_table *table)
{
    put_text_field(w, "{\"kind\": \"table\", ", "id", table->id);
    put_text_field(w, ", ", "title", table->title);
    ta_puts(w->out, ",\n     \"columns\": [");
    for (size_t i = 0; i < table->n_columns; i++) {
        ta_puts(w->out, i ? ",\n       " : "\n       ");

        const struct ta_column *column = &table->columns[i];

        put_text_field(w, "{", "key", column->key);
        put_text_field(w, ", ", "title", column->title);
        put_text_field(w, ", ", "type", ta_type_name(column->type));
        put_text_field(w, ", ", "unit", ta_unit_name(column->unit));
        put_text_field(w, ", ", "polarity", ta_polarity_name(column->better));
        put_text_field(w, ", ", "doc", column->doc);
        ta_putc(w->out, '}');
    }
    ta_puts(w->out, "],\n     ");
    const bool cut = w->max_rows && w->max_rows < table->n_rows;
    if (cut || table->n_left_out)
        ta_putf(w->out, "\"rows_total\": %zu,\n     ", table->n_rows + table->n_left_out);
    ta_puts(w->out, "\"rows\": [");
    for (size_t i = 0; i < (cut ? w->max_rows : table->n_rows); i++) {
        ta_puts(w->out, i ? ",\n       " : "\n       ");

        ta_putc(w->out, '[');
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
    put_text_field(w, "{\"kind\": \"finding\", ", "id", finding->id);
    put_text_field(w, ", ", "rule", finding->rule);
    put_text_field(w, ", ", "severity", ta_severity_name(finding->severity));
    put_text_field(w, ",\n     ", "title", finding->title);
    ta_puts(w->out, ",\n     \"evidence\": [");
    for (size_t i = 0; i < finding->n_evidence; i++) {
        ta_puts(w->out, i ? ",\n       " : "\n       ");

        const struct ta_evidence *evidence = &finding->evidence[i];

        put_text_field(w, "{", "table", evidence->table);
        put_cell_field(w, ", ", "row", evidence->row);
        put_text_field(w, ", ", "column", evidence->column);
        put_cell_field(w, ", ", "value", evidence->value);
        put_text_field(w, ", ", "unit", ta_unit_name(evidence->unit));
        ta_putc(w->out, '}');
    }
    ta_puts(w->out, "],\n     \"saving_ns\": ");
    if (finding->saving_low_ns == TA_MISSING && finding->saving_high_ns == TA_MISSING) {
        ta_puts(w->out, "null");
    } else {
        put_cell_field(w, "{", "low", ta_int(finding->saving_low_ns));
        put_cell_field(w, ", ", "high", ta_int(finding->saving_high_ns));
        ta_putc(w->out, '}');
    }
    put_cell_field(w, ", ", "confidence", ta_num(finding->confidence));
    put_text_field(w, ",\n     ", "advice", finding->advice);
    put_text_field(w, ",\n     ", "threshold", finding->threshold);
    ta_putc(w->out, '}');
}

/* ---- accounts ------------------------------------------------------------------------ */

static void put_quality_findings(const struct writer *w, const struct ta_quality_finding *findings,
                                 size_t n, const char *lead)
{
    ta_puts(w->out, "\"findings\": [");
    for (size_t i = 0; i < n; i++) {
        ta_putf(w->out, "%s%s", i ? "," : "", lead);
        put_text_field(w, "{", "code", ta_quality_name(findings[i].code));
        put_text_field(w, ", ", "severity", ta_quality_severity_name(findings[i].severity));
        put_count_field(w, ", ", "count", findings[i].count);
        put_offset_field(w, "byte_offset", findings[i].byte_offset);
        put_offset_field(w, "last_offset", findings[i].last_offset);
        if (findings[i].file_offset != TA_NO_OFFSET)
            put_offset_field(w, "file_offset", findings[i].file_offset);
        put_text_field(w, ", ", "text", findings[i].text ? findings[i].text : "");
        ta_putc(w->out, '}');
    }
    ta_putc(w->out, ']');
}

static void put_accounts(const struct writer *w, const struct ta_accounts *accounts)
{
    const struct ta_account_totals *totals = &accounts->totals;
    put_text_field(w, "{", "status", ta_quality_status_name(accounts->status));
    ta_puts(w->out, ",\n   \"totals\": {");
    put_count_field(w, "", "files_seen", totals->files_seen);
    put_count_field(w, ", ", "files_used", totals->files_used);
    put_count_field(w, ", ", "files_refused", totals->files_refused);
    put_count_field(w, ",\n     ", "events_seen", totals->events_seen);
    put_count_field(w, ", ", "events_kept", totals->events_kept);
    put_count_field(w, ", ", "events_repaired", totals->events_repaired);
    put_count_field(w, ", ", "events_dropped", totals->events_dropped);
    put_count_field(w, ", ", "bytes_skipped", totals->bytes_skipped);
    ta_puts(w->out, "},\n   \"files\": [");
    for (size_t i = 0; i < accounts->n_files; i++) {
        ta_puts(w->out, i ? ",\n     " : "\n     ");

        const struct ta_file_account *file = &accounts->files[i];

        put_text_field(w, "{", "file", file->path);
        put_cell_field(w, ", ", "rank", ta_int(file->rank));
        put_text_field(w, ", ", "rank_source", ta_rank_source_name(file->rank_source));
        put_text_field(w, ", ", "format", file->format);
        put_text_field(w, ", ", "state", ta_file_state_name(file->state));
        put_count_field(w, ",\n       ", "bytes", file->bytes);
        put_count_field(w, ", ", "raw_bytes", file->raw_bytes);
        put_count_field(w, ", ", "bytes_skipped", file->bytes_skipped);
        put_count_field(w, ",\n       ", "events_seen", file->events_seen);
        put_count_field(w, ", ", "events_kept", file->events_kept);
        put_count_field(w, ", ", "events_repaired", file->events_repaired);
        put_count_field(w, ", ", "events_dropped", file->events_dropped);
        put_cell_field(w, ",\n       ", "first_ts_ns", ta_int(file->first_ts_ns));
        put_cell_field(w, ", ", "last_ts_ns", ta_int(file->last_ts_ns));
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

/* An item, with the head of its section before the first and the end behind the last. */
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
    put_cell_field(w, "], ", "world_size", ta_int(run->world_size));
    put_text_field(w, ", ", "devices", run->devices);
    ta_puts(w->out, ", \"tags\": {}}");

    put_text_field(w, ",\n \"verdict\": {", "headline", verdict->headline);
    put_text_field(w, ", ", "bottleneck", verdict->bottleneck);
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
