/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Method: how the figures are to be read, and what each column means where all tables stand. */
#include "pdf.h"

static const char *const notes[] = {
    "Times are integers of nanoseconds read from the traces without rounding through floating "
    "point; they are shown with three significant digits. Intervals include their start and "
    "exclude their end.",
    ("Shares of device time count each moment once: communication, copies and memory sets only "
     "where no kernel runs at the same time, idle is what remains between the first and the last "
     "activity of a device."),
    ("A value that was not recorded is shown as “–” and enters no sum. Every number of this "
     "document, and all rows and columns left out here, are in report.json."),
};

static const char short_form[] =
    "Method: Times are whole nanoseconds from the traces. Communication, copies and memory sets "
    "count only where no kernel runs; idle is what remains between the first and the last activity "
    "of a device. “–” was not recorded and enters no sum. report.json has all rows; report.html, "
    "and paper with --paper-detail=full, have all charts and tables.";

static void put_definitions(struct pdf *pdf, const struct ta_table *table)
{
    const char *text = "";
    for (size_t i = 0; i < table->n_columns; i++)
        if (ta_column_is_useful(table, i) && table->columns[i].doc && *table->columns[i].doc)
            text = pdf_printf(pdf, "%s%s%s: %s", text, *text ? " · " : "", table->columns[i].title,
                              table->columns[i].doc);
    if (!*text)
        return;
    pdf_heading(pdf, 2, pdf_safe(pdf, table->title), NULL, 30);
    pdf_paragraph(pdf, PDF_SMALL, TA_INK_TEXT, text, 2);
}

static void put_short_form(struct pdf *pdf, const void *data)
{
    (void)data;
    pdf_paragraph(pdf, PDF_NOTE, TA_INK_MUTED, short_form, 0);
}

/* A footnote to the story, which is not to take a page of its own. */
static void put_footnote(struct pdf *pdf)
{
    pdf_need(pdf, pdf_trial(pdf, put_short_form, NULL));
    pdf_place(pdf, PDF_AT_METHOD);
    pdf_outline(pdf, 0, "Method", PDF_AT_METHOD);
    put_short_form(pdf, NULL);
}

void pdf_method(struct pdf *pdf)
{
    if (!pdf->options->full_paper) {
        put_footnote(pdf);
        return;
    }
    pdf_section(pdf, "Method", PDF_AT_METHOD, 60);
    for (size_t i = 0; i < TA_LENGTH(notes); i++)
        pdf_paragraph(pdf, PDF_BODY, TA_INK_TEXT, notes[i], 4);
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(pdf->report, TA_ITEM_TABLE, &walk)) != NULL)
        if (pdf_prints(item->table))
            put_definitions(pdf, item->table);
    pdf_untag(pdf, "Sect");
}
