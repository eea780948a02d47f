/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first page: what was run, the verdict, the picture of the run, the key figures, what to do,
 * and how good the data is. */
#include "lib/identity.h"
#include "lib/short_finding.h"
#include "pdf.h"

#include <math.h>
#include <string.h>

enum { TILES_PER_ROW = 6, PAIRS_PER_ROW = 3, TILE_GAP = 10 };

static const char *facts(struct pdf *pdf)
{
    struct ta_identity identity;
    char line[TA_IDENTITY_TEXT_MAX];
    ta_identity_say(&identity, pdf->report);
    return pdf_safe(pdf, ta_identity_line(&identity, line));
}

static void put_verdict(struct pdf *pdf)
{
    enum { PAD = 10, BAR = 3 };
    const struct ta_verdict *verdict = ta_report_verdict(pdf->report);
    if (!verdict->headline || !*verdict->headline)
        return;
    double width = pdf->right - pdf->left;
    PangoLayout *headline =
        pdf_layout(pdf, PDF_LEAD, pdf_prose(pdf, verdict->headline), width - 2 * PAD - BAR);
    size_t finding = verdict->bottleneck ? pdf_finding_number(pdf, verdict->bottleneck) : 0;
    double label = pdf_style_size(PDF_LABEL) + 6;
    double height = label + pdf_layout_height(headline) + 2 * PAD;
    pdf_box(pdf, TA_INK_BAND, pdf->left, pdf->y, width, height);
    pdf_box(pdf, TA_INK_COMPUTE, pdf->left, pdf->y, BAR, height);
    pdf_line(pdf, PDF_LABEL, TA_INK_MUTED, "VERDICT", pdf->left + BAR + PAD, pdf->y + PAD - 1,
             width);
    pdf_tag(pdf, "P");
    pdf_show(pdf, headline, TA_INK_TEXT, pdf->left + BAR + PAD, pdf->y + PAD + label);
    pdf_untag(pdf, "P");
    if (finding) {
        const char *text = pdf_printf(pdf, "see finding %zu", finding);
        const char *place = pdf_printf(pdf, PDF_AT_FINDING, finding);
        const enum ta_ink ink = pdf_link(pdf, place, TA_INK_MUTED);
        pdf_line_right(pdf, PDF_SMALL, ink, text, pdf->right - PAD, pdf->y + PAD - 1);
        pdf_unlink(pdf, place);
    }
    pdf->y += height + 14;
    g_object_unref(headline);
}

/* ---- key figures --------------------------------------------------------------------- */

static double tile_height(struct pdf *pdf, const struct ta_scalar *scalar, double width, double x,
                          double y)
{
    const double value = pdf_style_size(PDF_FIGURE) * 1.25;
    pdf_tag(pdf, "P");
    pdf_line(pdf, PDF_FIGURE, TA_INK_TEXT, pdf_cell_text(pdf, &scalar->value, scalar->unit), x, y,
             width);
    const double title = pdf_text(pdf, NULL, PDF_SMALL, TA_INK_MUTED, pdf_safe(pdf, scalar->title),
                                  x, y + value, width);
    pdf_untag(pdf, "P");
    return value + title;
}

static void put_key_figures(struct pdf *pdf)
{
    const size_t n = pdf->n_key_figures = ta_report_figures(pdf->report, pdf->key_figures);
    /* In a comparison they are pairs, before and after. */
    const size_t per_row =
        ta_report_kind(pdf->report) == TA_REPORT_DIFF ? PAIRS_PER_ROW : TILES_PER_ROW;
    const double width =
        (pdf->right - pdf->left - (double)(per_row - 1) * TILE_GAP) / (double)per_row;
    for (size_t first = 0; first < n; first += per_row) {
        double highest = 0;
        for (size_t i = first; i < n && i < first + per_row; i++) {
            double x = pdf->left + (double)(i - first) * (width + TILE_GAP);
            pdf_rule(pdf, TA_INK_GRID, x, pdf->y, width);
            highest = fmax(highest, tile_height(pdf, pdf->key_figures[i], width, x, pdf->y + 5));
        }
        pdf->y += highest + 5 + TILE_GAP;
    }
}

/* ---- findings with what to do ------------------------------------------------------------ */

static void put_brief(struct pdf *pdf, const void *data)
{
    const struct ta_finding *finding = data;
    struct ta_short_finding words;
    ta_finding_shorten(&words, pdf->report, finding);
    pdf_finding_title(pdf, finding->severity, words.title, pdf_finding_number(pdf, finding->id),
                      "P");
    pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED, pdf_saving(pdf, finding), words.advice ? 2 : 9);
    if (words.advice)
        pdf_paragraph(pdf, PDF_BODY, TA_INK_TEXT, pdf_prose(pdf, words.advice), 9);
}

/* As many as there is room for on this page; the pages that follow have all. */
static void put_findings(struct pdf *pdf)
{
    struct ta_walk walk = {0};
    const struct ta_item *item;
    const double quality = pdf_style_size(PDF_SMALL) * 1.6;
    pdf->n_brief = 0;
    if (!pdf_finding_number(pdf, NULL))
        return;
    pdf_section(pdf, "Findings", PDF_AT_FINDINGS, 0);
    for (size_t s = 0; s < ta_report_section_count(pdf->report); s++)
        if (ta_report_section(pdf->report, s)->summary)
            pdf_paragraph(pdf, PDF_BODY, TA_INK_TEXT,
                          pdf_prose(pdf, ta_report_section(pdf->report, s)->summary), 6);
    while (pdf->n_brief < PDF_BRIEF_FINDINGS &&
           (item = ta_report_next(pdf->report, TA_ITEM_FINDING, &walk)) != NULL) {
        const double height = pdf_trial(pdf, put_brief, item->finding);
        if (pdf->y + height + quality > pdf->bottom && pdf->page == 1 && pdf->n_brief)
            break;
        put_brief(pdf, item->finding);
        pdf->n_brief++;
    }
    pdf_untag(pdf, "Sect");
}

static void put_quality(struct pdf *pdf)
{
    const struct ta_accounts *accounts = ta_report_accounts(pdf->report);
    const struct ta_account_totals *totals = &accounts->totals;
    const char *text =
        pdf_printf(pdf, "Data quality: %s · %s of %s files used · %s %s kept, %s dropped",
                   ta_quality_status_name(accounts->status), pdf_count(pdf, totals->files_used),
                   pdf_count(pdf, totals->files_seen), pdf_count(pdf, totals->events_kept),
                   ta_accounts_noun(accounts, totals->events_kept == 1),
                   pdf_count(pdf, totals->events_dropped));
    pdf_link(pdf, PDF_AT_QUALITY, TA_INK_MUTED);
    pdf_line(pdf, PDF_SMALL, TA_INK_MUTED, text, pdf->left, pdf->y, pdf->right - pdf->left);
    pdf_unlink(pdf, PDF_AT_QUALITY);
    pdf->y += pdf_style_size(PDF_SMALL) * 1.6;
}

void pdf_front(struct pdf *pdf)
{
    pdf_tag(pdf, "Sect");
    pdf->y += 3 + pdf_text(pdf, "H1", PDF_TITLE, TA_INK_TEXT, pdf->title, pdf->left, pdf->y,
                           pdf->right - pdf->left);
    pdf_paragraph(pdf, PDF_BODY, TA_INK_MUTED, facts(pdf), 14);
    put_verdict(pdf);
    pdf_picture(pdf);
    put_key_figures(pdf);
    pdf_untag(pdf, "Sect");
    put_findings(pdf);
    put_quality(pdf);
}
