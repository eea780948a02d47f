/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report for programs: a <script> of JSON in the shape of report.json, with the first rows
 * of each table; rows_total says how many the whole table has. */
#include "html.h"

#include <inttypes.h>

static void put_string(const struct page *page, const char *text)
{
    ta_put_json(page->out, ta_slice_of(text), true);
}

/* `,"key":"text"`, or null. */
static void put_member(const struct page *page, const char *key, const char *text)
{
    ta_putf(page->out, ",\"%s\":", key);
    if (text)
        put_string(page, text);
    else
        ta_puts(page->out, "null");
}

static void put_cell_member(const struct page *page, const char *key, const struct ta_cell *cell)
{
    ta_putf(page->out, ",\"%s\":", key);
    ta_put_json_cell(page->out, cell, true);
}

static void put_scalar(const struct page *page, const struct ta_scalar *scalar)
{
    ta_puts(page->out, "{\"kind\":\"scalar\"");
    put_member(page, "id", scalar->id);
    put_member(page, "title", scalar->title);
    put_cell_member(page, "value", &scalar->value);
    put_member(page, "unit", ta_unit_name(scalar->unit));
    put_member(page, "polarity", ta_polarity_name(scalar->polarity));
    put_member(page, "note", scalar->note);
    ta_putc(page->out, '}');
}

static void put_columns(const struct page *page, const struct ta_table *table)
{
    ta_puts(page->out, ",\"columns\":[");
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct ta_column *column = &table->columns[i];
        ta_puts(page->out, i ? ",\n{\"key\":" : "\n{\"key\":");
        put_string(page, column->key);
        put_member(page, "title", column->title);
        put_member(page, "type", ta_type_name(column->type));
        put_member(page, "unit", ta_unit_name(column->unit));
        put_member(page, "polarity", ta_polarity_name(column->polarity));
        put_member(page, "doc", column->doc);
        ta_putc(page->out, '}');
    }
    ta_putc(page->out, ']');
}

static void put_table(const struct page *page, const struct ta_table *table)
{
    const uint32_t top = page->options->top;
    const size_t n = top && top < table->n_rows ? top : table->n_rows;
    ta_puts(page->out, "{\"kind\":\"table\"");
    put_member(page, "id", table->id);
    put_member(page, "title", table->title);
    put_columns(page, table);
    ta_putf(page->out, ",\"rows_total\":%zu,\"rows\":[", table->n_rows);
    for (size_t row = 0; row < n; row++) {
        ta_puts(page->out, row ? ",\n[" : "\n[");
        for (size_t i = 0; i < table->n_columns; i++) {
            if (i)
                ta_putc(page->out, ',');
            ta_put_json_cell(page->out, ta_table_cell(table, row, i), true);
        }
        ta_putc(page->out, ']');
    }
    ta_puts(page->out, "],\"chart\":null}");
}

static void put_evidence(const struct page *page, const struct ta_evidence *evidence)
{
    ta_puts(page->out, "{\"table\":");
    put_string(page, evidence->table);
    put_cell_member(page, "row", &evidence->row);
    put_member(page, "column", evidence->column);
    put_cell_member(page, "value", &evidence->value);
    put_member(page, "unit", ta_unit_name(evidence->unit));
    ta_putc(page->out, '}');
}

static void put_finding(const struct page *page, const struct ta_finding *finding)
{
    const struct ta_cell low = ta_int(finding->saving_low_ns);
    const struct ta_cell high = ta_int(finding->saving_high_ns);
    const struct ta_cell confidence = ta_num(finding->confidence);
    ta_puts(page->out, "{\"kind\":\"finding\"");
    put_member(page, "id", finding->id);
    put_member(page, "rule", finding->rule);
    put_member(page, "severity", ta_severity_name(finding->severity));
    put_member(page, "title", finding->title);
    ta_puts(page->out, ",\"evidence\":[");
    for (size_t i = 0; i < finding->n_evidence; i++) {
        ta_puts(page->out, i ? ",\n" : "\n");
        put_evidence(page, &finding->evidence[i]);
    }
    if (low.kind == TA_CELL_NULL || high.kind == TA_CELL_NULL) {
        ta_puts(page->out, "],\"saving_ns\":null");
    } else {
        ta_puts(page->out, "],\"saving_ns\":{\"low\":");
        ta_put_json_cell(page->out, &low, true);
        put_cell_member(page, "high", &high);
        ta_putc(page->out, '}');
    }
    put_cell_member(page, "confidence", &confidence);
    put_member(page, "advice", finding->advice);
    put_member(page, "threshold", finding->threshold);
    ta_putc(page->out, '}');
}

static void put_section(const struct page *page, const struct ta_section *section)
{
    ta_puts(page->out, "{\"id\":");
    put_string(page, section->id);
    put_member(page, "title", section->title);
    if (section->missing)
        put_member(page, "missing", section->missing);
    ta_puts(page->out, ",\"items\":[");
    for (size_t i = 0; i < section->n_items; i++) {
        const struct ta_item *item = &section->items[i];
        ta_puts(page->out, i ? ",\n" : "\n");
        if (item->kind == TA_ITEM_SCALAR)
            put_scalar(page, item->scalar);
        else if (item->kind == TA_ITEM_TABLE)
            put_table(page, item->table);
        else
            put_finding(page, item->finding);
    }
    ta_puts(page->out, "]}");
}

static void put_run(const struct page *page)
{
    const struct ta_run_info *run = ta_report_run(page->report);
    const struct ta_verdict *verdict = ta_report_verdict(page->report);
    const struct ta_cell world_size = ta_int(run->world_size);
    ta_puts(page->out, ",\n\"run\":{\"title\":");
    put_string(page, run->title);
    ta_puts(page->out, ",\"ranks\":[");
    for (size_t i = 0; i < run->n_ranks; i++)
        ta_putf(page->out, "%s%" PRId64, i ? "," : "", run->ranks[i]);
    ta_putc(page->out, ']');
    put_cell_member(page, "world_size", &world_size);
    put_member(page, "devices", run->devices);
    ta_puts(page->out, ",\"tags\":{}},\n\"verdict\":{\"headline\":");
    put_string(page, verdict->headline);
    put_member(page, "bottleneck", verdict->bottleneck);
    ta_putc(page->out, '}');
}

/* The accounts in short: files and offsets stand in the section on data quality. */
static void put_accounts(const struct page *page)
{
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    const struct ta_account_totals *totals = &accounts->totals;
    ta_puts(page->out, ",\n\"data_quality\":{\"status\":");
    put_string(page, ta_quality_status_name(accounts->status));
    ta_putf(page->out,
            ",\"totals\":{\"files_seen\":%" PRIu64 ",\"files_used\":%" PRIu64
            ",\"files_refused\":%" PRIu64 ",\"events_seen\":%" PRIu64 ",\"events_kept\":%" PRIu64
            ",\"events_repaired\":%" PRIu64 ",\"events_dropped\":%" PRIu64
            ",\"bytes_skipped\":%" PRIu64 "},\"files\":[],\"findings\":[]}",
            totals->files_seen, totals->files_used, totals->files_refused, totals->events_seen,
            totals->events_kept, totals->events_repaired, totals->events_dropped,
            totals->bytes_skipped);
}

void html_data(const struct page *page)
{
    ta_puts(page->out, "<script type=\"application/json\" id=\"traceanalyze-report\">"
                       "{\"schema\":\"traceanalyze.report/1\","
                       "\"generator\":{\"name\":\"traceanalyze\",\"version\":");
    put_string(page, page->options->version);
    ta_putc(page->out, '}');
    put_run(page);
    ta_puts(page->out, ",\n\"sections\":[");
    for (size_t i = 0; i < ta_report_section_count(page->report); i++) {
        ta_puts(page->out, i ? ",\n" : "\n");
        put_section(page, ta_report_section(page->report, i));
    }
    ta_putc(page->out, ']');
    put_accounts(page);
    ta_puts(page->out, "}</script>\n");
}
