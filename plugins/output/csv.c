/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for spreadsheets and data frames: one file per table with raw values (times in ns,
 * shares as 0…1), plus the findings and the accounts of what was read.
 *
 * Where only one file can be written, all tables follow each other, each after a line with
 * "# " and its id, separated by empty lines. */
#include <traceanalyze/output.h>
#include <traceanalyze/plugin.h>

#include <stdio.h>

#define SINGLE_HEAD "# traceanalyze.report/1"

/* What all tables of one run are written to. */
struct job {
    struct ta_ctx *ctx;
    const struct ta_report *report;
    struct ta_sink *sink;
    struct ta_file *single; /* NULL: a file per table */
};

static void put_key(struct ta_file *out, const char *key, bool is_last)
{
    const struct ta_cell cell = ta_string(key);
    ta_put_csv(out, &cell);
    ta_puts(out, is_last ? "\r\n" : ",");
}

static void put_row(struct ta_file *out, const struct ta_cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ta_put_csv(out, &cells[i]);
        ta_puts(out, i + 1 < n ? "," : "\r\n");
    }
}

/* Starts a table. CSV has no place for a signature, so the first key is the signature. */
static struct ta_file *begin(const struct job *job, const char *id, const char *first_key)
{
    if (job->single) {
        ta_putf(job->single, "\r\n# %s\r\n", id);
        return job->single;
    }
    char name[512];
    int length = snprintf(name, sizeof name, "tables/%s.csv", id);
    if (length < 0 || (size_t)length >= sizeof name) {
        ta_fail(job->ctx, TA_ERR_OUTPUT, "Id of a table is too long: id=%s", id);
        return NULL;
    }
    return ta_sink_open(job->ctx, job->sink, name, first_key);
}

static enum ta_status finish(const struct job *job, struct ta_file *out)
{
    return job->single ? TA_OK : ta_file_close(job->ctx, out);
}

/* ---- tables -------------------------------------------------------------------------- */

static enum ta_status write_table(const struct job *job, const struct ta_table *table)
{
    if (table->n_columns == 0)
        return TA_OK;
    struct ta_file *out = begin(job, table->id, table->columns[0].key);
    if (!out)
        return ta_ctx_status(job->ctx);
    for (size_t i = 0; i < table->n_columns; i++)
        put_key(out, table->columns[i].key, i + 1 == table->n_columns);
    for (size_t row = 0; row < table->n_rows; row++)
        put_row(out, ta_table_cell(table, row, 0), table->n_columns);
    return finish(job, out);
}

/* ---- findings ------------------------------------------------------------------------ */

/* One row per piece of evidence, so that each value stays a number of its own. */
static void put_finding(struct ta_file *out, const struct ta_finding *finding)
{
    const struct ta_evidence none = {.row = ta_null(), .value = ta_null()};
    for (size_t i = 0; i == 0 || i < finding->n_evidence; i++) {
        const struct ta_evidence *evidence = finding->n_evidence ? &finding->evidence[i] : &none;
        const struct ta_cell cells[] = {
            ta_string(finding->id),
            ta_string(finding->rule),
            ta_string(ta_severity_name(finding->severity)),
            ta_string(finding->title),
            ta_int(finding->saving_low_ns),
            ta_int(finding->saving_high_ns),
            ta_num(finding->confidence),
            ta_string(finding->why),
            ta_string(finding->advice),
            ta_string(finding->details),
            ta_string(finding->threshold),
            ta_string(evidence->table),
            evidence->row,
            ta_string(evidence->column),
            evidence->value,
            ta_string(evidence->table ? ta_unit_name(evidence->unit) : NULL),
        };
        put_row(out, cells, TA_LENGTH(cells));
    }
}

static enum ta_status write_findings(const struct job *job)
{
    static const char *const keys[] = {"finding",       "rule",
                                       "severity",      "title",
                                       "saving_low_ns", "saving_high_ns",
                                       "confidence",    "why",
                                       "advice",        "details",
                                       "threshold",     "evidence_table",
                                       "evidence_row",  "evidence_column",
                                       "value",         "unit"};
    struct ta_file *out = begin(job, "findings", keys[0]);
    if (!out)
        return ta_ctx_status(job->ctx);
    for (size_t i = 0; i < TA_LENGTH(keys); i++)
        put_key(out, keys[i], i + 1 == TA_LENGTH(keys));
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(job->report, TA_ITEM_FINDING, &walk)) != NULL)
        put_finding(out, item->finding);
    return finish(job, out);
}

/* ---- accounts ------------------------------------------------------------------------ */

/* `file` is NULL for findings about the whole run. */
static void put_quality(struct ta_file *out, const char *file,
                        const struct ta_quality_finding *finding)
{
    const struct ta_cell cells[] = {
        ta_string(ta_quality_name(finding->code)),
        ta_string(ta_quality_severity_name(finding->severity)),
        ta_string(file),
        ta_count(finding->count),
        ta_count(finding->byte_offset),
        ta_count(finding->last_offset),
        ta_count(finding->file_offset),
        ta_string(finding->text),
    };
    put_row(out, cells, TA_LENGTH(cells));
}

static enum ta_status write_quality(const struct job *job)
{
    static const char *const keys[] = {"code",        "severity",    "file",        "count",
                                       "byte_offset", "last_offset", "file_offset", "text"};
    struct ta_file *out = begin(job, "data_quality", keys[0]);
    if (!out)
        return ta_ctx_status(job->ctx);
    for (size_t i = 0; i < TA_LENGTH(keys); i++)
        put_key(out, keys[i], i + 1 == TA_LENGTH(keys));
    const struct ta_accounts *accounts = ta_report_accounts(job->report);
    for (size_t i = 0; i < accounts->n_findings; i++)
        put_quality(out, NULL, &accounts->findings[i]);
    for (size_t f = 0; f < accounts->n_files; f++)
        for (size_t i = 0; i < accounts->files[f].n_findings; i++)
            put_quality(out, accounts->files[f].path, &accounts->files[f].findings[i]);
    return finish(job, out);
}

/* ---- all of it ----------------------------------------------------------------------- */

static enum ta_status write_all(const struct job *job)
{
    enum ta_status status = TA_OK;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while (status == TA_OK && (item = ta_report_next(job->report, TA_ITEM_TABLE, &walk)) != NULL)
        status = write_table(job, item->table);
    if (status == TA_OK)
        status = write_findings(job);
    if (status == TA_OK)
        status = write_quality(job);
    return status;
}

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    (void)options; /* raw values, all rows: nothing to choose */
    struct job job = {.ctx = ctx, .report = report, .sink = sink};
    if (ta_sink_is_single(sink)) {
        job.single = ta_sink_open_report(ctx, sink, report, "csv", SINGLE_HEAD);
        if (!job.single)
            return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the tables");
        ta_puts(job.single, SINGLE_HEAD "\r\n");
    }
    enum ta_status status = write_all(&job);
    if (status == TA_OK && job.single)
        status = ta_file_close(ctx, job.single);
    return status == TA_OK ? TA_OK : ta_cause(ctx, status, "Cannot write the tables");
}

static const struct ta_output_ops ops = {
    .extension = "csv",
    .write = write,
};

TA_PLUGIN(output, csv, &ops, .title = "CSV tables", .version = "1",
          .summary = "tables/*.csv: every table with all rows and raw values");
