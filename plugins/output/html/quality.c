/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section on data quality: each file, and each kind of repair or loss with its place.
 *
 * The accounts are turned into tables of the result model, so that they are drawn, sorted and
 * exported like any other table. */
#include "html.h"

#include <stdlib.h>
#include <traceanalyze/base.h>

enum {
    FILE_PATH,
    FILE_RANK,
    FILE_SOURCE,
    FILE_FORMAT,
    FILE_STATE,
    FILE_BYTES,
    FILE_RAW,
    FILE_KEPT,
    FILE_REPAIRED,
    FILE_DROPPED,
    FILE_SKIPPED,
    FILE_COLUMNS
};

static const struct ta_column file_columns[FILE_COLUMNS] = {
    [FILE_PATH] = {"path", "File", TA_TEXT, .doc = "Path of the file below the input."},
    [FILE_RANK] = {"rank", "Rank", TA_INTEGER, .doc = "Rank whose trace the file holds."},
    [FILE_SOURCE] =
        {"rank_source", "Rank from", TA_TEXT,
         .doc = "What the rank was taken from: an option, the content, the name, the position."},
    [FILE_FORMAT] = {"format", "Format", TA_WORD, .doc = "Reader that understood the file."},
    [FILE_STATE] = {"state", "State", TA_TEXT,
                    .doc = "Whether the file was read as it is, repaired, cut short, or refused."},
    [FILE_BYTES] = {"bytes", "File size", TA_BYTES, .doc = "Size of the file on disk."},
    [FILE_RAW] = {"raw_bytes", "Decompressed size", TA_BYTES,
                  .doc = "Size of the file after decompression."},
    [FILE_KEPT] = {"events_kept", "Kept", TA_COUNT,
                   .doc = "Events, or records of a dump, that were used, including repaired ones."},
    [FILE_REPAIRED] = {"events_repaired", "Repaired", TA_COUNT, .better = TA_LOWER,
                       .doc = "Events or records that were used after a repair."},
    [FILE_DROPPED] = {"events_dropped", "Dropped", TA_COUNT, .better = TA_LOWER,
                      .doc = "Events or records that could not be used."},
    [FILE_SKIPPED] = {"bytes_skipped", "Skipped", TA_BYTES, .better = TA_LOWER,
                      .doc = "Bytes that were skipped without being understood."},
};

enum {
    NOTE_CODE,
    NOTE_SEVERITY,
    NOTE_FILE,
    NOTE_COUNT,
    NOTE_FIRST,
    NOTE_LAST,
    NOTE_PLACE,
    NOTE_TEXT,
    NOTE_DOC,
    NOTE_COLUMNS
};

static const struct ta_column note_columns[NOTE_COLUMNS] = {
    [NOTE_CODE] = {"code", "Code", TA_TEXT,
                   .doc = "Name of the problem; a code never changes its meaning."},
    [NOTE_SEVERITY] =
        {"severity", "Severity", TA_TEXT,
         .doc = "Info and notice mean that nothing was lost; with loss and error, data was lost."},
    [NOTE_FILE] = {"path", "File", TA_SENTENCE,
                   .doc = "File with the problem; empty if it concerns the whole run. A problem of "
                          "many files is one row here; report.json lists them by file."},
    [NOTE_COUNT] = {"count", "Count", TA_COUNT, .better = TA_LOWER,
                    .doc = "Number of times that the problem was found there."},
    [NOTE_FIRST] = {"byte_offset", "First at byte", TA_COUNT,
                    .doc = "Byte offset of the first case in the decompressed file."},
    [NOTE_LAST] = {"last_offset", "Last at byte", TA_COUNT,
                   .doc = "Byte offset of the last case in the decompressed file."},
    [NOTE_PLACE] = {"file_offset", "In file at", TA_COUNT,
                    .doc = "Byte offset in the compressed file, if known."},
    [NOTE_TEXT] = {"text", "Example", TA_SENTENCE, .doc = "One of the cases."},
    [NOTE_DOC] = {"meaning", "Meaning", TA_SENTENCE,
                  .doc = "What the code means and what was done."},
};

static enum ta_status put_files(const struct page *page, const struct ta_accounts *accounts)
{
    if (accounts->n_files == 0)
        return TA_OK;
    struct ta_cell *cells = calloc(accounts->n_files, FILE_COLUMNS * sizeof *cells);
    if (!cells)
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot list input files: files=%zu",
                       accounts->n_files);
    for (size_t i = 0; i < accounts->n_files; i++) {
        struct ta_cell *row = &cells[i * FILE_COLUMNS];
        const struct ta_file_account *file = &accounts->files[i];
        row[FILE_PATH] = ta_text(ta_slice_of(file->path));
        row[FILE_RANK] = ta_int(file->rank);
        row[FILE_SOURCE] = ta_string(ta_rank_source_name(file->rank_source));
        row[FILE_FORMAT] = ta_string(file->format);
        row[FILE_STATE] = ta_string(ta_file_state_name(file->state));
        row[FILE_BYTES] = ta_count(file->bytes);
        row[FILE_RAW] = ta_count(file->raw_bytes);
        row[FILE_KEPT] = ta_count(file->events_kept);
        row[FILE_REPAIRED] = ta_count(file->events_repaired);
        row[FILE_DROPPED] = ta_count(file->events_dropped);
        row[FILE_SKIPPED] = ta_count(file->bytes_skipped);
    }
    const struct ta_table table = {.id = "data_quality.files",
                                   .title = "Input files",
                                   .columns = file_columns,
                                   .n_columns = FILE_COLUMNS,
                                   .n_rows = accounts->n_files,
                                   .cells = cells};
    const enum ta_status status = html_table(page, &table, HTML_FOLDED);
    free(cells);
    return status;
}

static enum ta_status put_notes(const struct page *page, const struct ta_accounts *accounts)
{
    struct ta_arena arena = {0};
    const struct ta_notices notices = ta_accounts_notices(accounts, &arena);
    struct ta_cell *cells = ta_arena_alloc(&arena, (notices.n + 1) * NOTE_COLUMNS * sizeof *cells);
    enum ta_status status = TA_OK;
    if (!cells || arena.failed) {
        status = ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot list what was found in the inputs");
    } else if (notices.n == 0) {
        ta_puts(page->out, "<p class=\"prose\">Nothing was repaired, skipped or lost.</p>\n");
    } else {
        for (size_t i = 0; i < notices.n; i++) {
            struct ta_cell *row = &cells[i * NOTE_COLUMNS];
            const struct ta_quality_finding *finding = &notices.at[i].finding;
            row[NOTE_CODE] = ta_string(ta_quality_name(finding->code));
            row[NOTE_SEVERITY] = ta_string(ta_quality_severity_name(finding->severity));
            row[NOTE_FILE] = ta_string(notices.at[i].where);
            row[NOTE_COUNT] = ta_count(finding->count);
            row[NOTE_FIRST] = ta_count(finding->byte_offset);
            row[NOTE_LAST] = ta_count(finding->last_offset);
            row[NOTE_PLACE] = ta_count(finding->file_offset);
            row[NOTE_TEXT] = ta_string(finding->text);
            row[NOTE_DOC] = ta_string(ta_quality_info(finding->code)->doc);
        }
        const struct ta_table table = {.id = "data_quality.findings",
                                       .title = "What was found",
                                       .columns = note_columns,
                                       .n_columns = NOTE_COLUMNS,
                                       .n_rows = notices.n,
                                       .cells = cells};
        status = html_table(page, &table, HTML_OPEN);
    }
    ta_arena_free(&arena);
    return status;
}

enum ta_status html_quality(const struct page *page)
{
    const struct ta_accounts *accounts = ta_report_accounts(page->report);
    ta_puts(page->out,
            "<section id=\"s-" HTML_QUALITY "\" aria-labelledby=\"h-" HTML_QUALITY "\">\n"
            "<h3 class=\"part\" id=\"h-" HTML_QUALITY "\">Data quality</h3>\n<p class=\"prose\">");
    html_count(page, accounts->totals.events_seen, ta_accounts_noun(accounts, true),
               ta_accounts_noun(accounts, false));
    ta_puts(page->out, accounts->totals.events_seen == 1 ? " was seen: " : " were seen: ");
    html_number(page, accounts->totals.events_kept);
    ta_puts(page->out, " used, of these ");
    html_number(page, accounts->totals.events_repaired);
    ta_puts(page->out, " after a repair; ");
    html_number(page, accounts->totals.events_dropped);
    ta_puts(page->out, " dropped. ");
    html_count(page, accounts->totals.files_refused, "file was refused.", "files were refused.");
    ta_puts(page->out, "</p>\n");
    enum ta_status status = put_notes(page, accounts);
    if (status == TA_OK)
        status = put_files(page, accounts);
    ta_puts(page->out, "</section>\n");
    return status;
}
