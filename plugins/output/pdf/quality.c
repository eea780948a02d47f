/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data quality: what was read, repaired and lost, in total and by file. */
#include "pdf.h"

#include <stdlib.h>

enum { PATH, FORMAT, RANK, STATE, BYTES, KEPT, REPAIRED, DROPPED, FILE_COLUMNS };

static const struct ta_column file_columns[FILE_COLUMNS] = {
    [PATH] = {"path", "File", TA_TEXT, .doc = ""},
    [FORMAT] = {"format", "Format", TA_WORD, .doc = ""},
    [RANK] = {"rank", "Rank", TA_INTEGER, .doc = ""},
    [STATE] = {"state", "State", TA_TEXT, .doc = ""},
    [BYTES] = {"bytes", "Size", TA_BYTES, .doc = ""},
    [KEPT] = {"kept", "Kept", TA_COUNT, .doc = ""},
    [REPAIRED] = {"repaired", "Repaired", TA_COUNT, .doc = ""},
    [DROPPED] = {"dropped", "Dropped", TA_COUNT, .doc = ""},
};

enum { CODE, SEVERITY, COUNT, WHERE, EXAMPLE, FINDING_COLUMNS };

static const struct ta_column finding_columns[FINDING_COLUMNS] = {
    [CODE] = {"code", "What", TA_TEXT, .doc = ""},
    [SEVERITY] = {"severity", "Severity", TA_TEXT, .doc = ""},
    [COUNT] = {"count", "Count", TA_COUNT, .doc = ""},
    [WHERE] = {"file", "File", TA_TEXT, .doc = ""},
    [EXAMPLE] = {"example", "First case", TA_SENTENCE, .doc = ""},
};

/* Files that were not read as they are; those without any fault are in the section on files. */
static void put_files(struct pdf *pdf, const struct ta_accounts *accounts)
{
    struct ta_cell *cells = calloc(accounts->n_files, FILE_COLUMNS * sizeof *cells);
    size_t n = 0;
    if (!cells) {
        pdf->arena.failed = true;
        return;
    }
    for (size_t i = 0; i < accounts->n_files; i++) {
        const struct ta_file_account *file = &accounts->files[i];
        if (file->state == TA_FILE_OK && file->events_repaired == 0 && file->events_dropped == 0)
            continue;
        struct ta_cell *row = &cells[n++ * FILE_COLUMNS];
        row[PATH] = ta_string(file->path);
        row[FORMAT] = ta_string(file->format);
        row[RANK] = ta_int(file->rank);
        row[STATE] = ta_string(ta_file_state_name(file->state));
        row[BYTES] = ta_count(file->bytes);
        row[KEPT] = ta_count(file->events_kept);
        row[REPAIRED] = ta_count(file->events_repaired);
        row[DROPPED] = ta_count(file->events_dropped);
    }
    const struct ta_table table = {.id = "files",
                                   .title = "Files with losses or repairs",
                                   .columns = file_columns,
                                   .n_columns = FILE_COLUMNS,
                                   .n_rows = n,
                                   .cells = cells};
    if (n) {
        pdf_heading(pdf, 2, table.title, NULL, 60);
        pdf_table(pdf, &table);
    } else {
        pdf_paragraph(pdf, PDF_BODY, TA_INK_TEXT,
                      "Every file was read completely, nothing was repaired or lost.", 4);
    }
    free(cells);
}

static void put_findings(struct pdf *pdf, const struct ta_accounts *accounts)
{
    const struct ta_notices notices = ta_accounts_notices(accounts, &pdf->arena);
    struct ta_cell *cells =
        ta_arena_alloc(&pdf->arena, (notices.n + 1) * FINDING_COLUMNS * sizeof *cells);
    if (!cells || notices.n == 0)
        return;
    for (size_t i = 0; i < notices.n; i++) {
        const struct ta_quality_finding *finding = &notices.at[i].finding;
        struct ta_cell *row = &cells[i * FINDING_COLUMNS];
        row[CODE] = ta_string(ta_quality_name(finding->code));
        row[SEVERITY] = ta_string(ta_quality_severity_name(finding->severity));
        row[COUNT] = ta_count(finding->count);
        row[WHERE] = ta_string(notices.at[i].where);
        row[EXAMPLE] =
            ta_string(finding->text ? finding->text : ta_quality_info(finding->code)->doc);
    }
    const struct ta_table table = {.id = "quality",
                                   .title = "What was repaired or lost",
                                   .columns = finding_columns,
                                   .n_columns = FINDING_COLUMNS,
                                   .n_rows = notices.n,
                                   .cells = cells};
    pdf_heading(pdf, 2, table.title, NULL, 60);
    pdf_table(pdf, &table);
}

void pdf_quality(struct pdf *pdf)
{
    const struct ta_accounts *accounts = ta_report_accounts(pdf->report);
    const struct ta_account_totals *totals = &accounts->totals;
    if (accounts->status == TA_QUALITY_CLEAN && !pdf->options->full_paper)
        return; /* the first page says so */
    pdf_section(pdf, "Data quality", PDF_AT_QUALITY, 60);
    pdf_paragraph(
        pdf, PDF_BODY, TA_INK_TEXT,
        pdf_printf(pdf,
                   "Status: %s. Files: %s seen, %s used, %s refused. %s: %s seen, %s kept, %s "
                   "repaired, %s dropped; %s skipped.",
                   ta_quality_status_name(accounts->status), pdf_count(pdf, totals->files_seen),
                   pdf_count(pdf, totals->files_used), pdf_count(pdf, totals->files_refused),
                   ta_accounts_noun(accounts, false)[0] == 'e' ? "Events" : "Records",
                   pdf_count(pdf, totals->events_seen), pdf_count(pdf, totals->events_kept),
                   pdf_count(pdf, totals->events_repaired), pdf_count(pdf, totals->events_dropped),
                   pdf_number(pdf, (double)totals->bytes_skipped, TA_UNIT_BYTES)),
        4);
    put_findings(pdf, accounts);
    if (accounts->n_files)
        put_files(pdf, accounts);
    pdf_untag(pdf, "Sect");
}
