/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings: what to change, what it would save, and the numbers it rests on. */
#include "pdf.h"
#include "render/chart/scene.h"

#include <string.h>

struct numbered {
    const struct ta_finding *finding;
    size_t number; /* from 1 */
};

size_t pdf_finding_number(const struct pdf *pdf, const char *id)
{
    size_t n = 0;
    struct ta_walk walk = {0};
    const struct ta_item *item;
    while ((item = ta_report_next(pdf->report, TA_ITEM_FINDING, &walk)) != NULL) {
        n++;
        if (id && strcmp(item->finding->id, id) == 0)
            return n;
    }
    return id ? 0 : n;
}

static const char *saving_text(struct pdf *pdf, const struct ta_finding *finding)
{
    char saving[TA_SAVING_TEXT_MAX];
    if (finding->saving_high_ns == TA_MISSING)
        return "saving not estimated";
    return pdf_printf(pdf, "saves %s", ta_saving_text(finding, saving));
}

static void put_title(struct pdf *pdf, const struct numbered *numbered)
{
    enum { PAD = 5, GAP = 8 };
    static const struct {
        const char *name;
        enum ta_ink ink;
    } looks[] = {
        [TA_INFO] = {"INFO", TA_INK_IDLE},         [TA_LOW] = {"LOW", TA_INK_IDLE},
        [TA_MEDIUM] = {"MEDIUM", TA_INK_SERIES_1}, [TA_HIGH] = {"HIGH", TA_INK_COMM},
        [TA_CRITICAL] = {"CRITICAL", TA_INK_COMM},
    };
    const struct ta_finding *finding = numbered->finding;
    const char *name = looks[finding->severity].name;
    const enum ta_ink ink = looks[finding->severity].ink;
    double pill = pdf_text_width(pdf, PDF_LABEL, name) + 2 * PAD;
    double line = pdf_style_size(PDF_H2) * 1.2;
    pdf_box(pdf, ink, pdf->left, pdf->y, pill, line);
    if (pdf->drawing) {
        PangoLayout *label = pdf_layout(pdf, PDF_LABEL, name, -1);
        ta_draw_color(pdf->cr, ta_ink_color_on(ink, false));
        cairo_move_to(pdf->cr, pdf->left + PAD, pdf->y + (line - pdf_layout_height(label)) / 2);
        pango_cairo_show_layout(pdf->cr, label);
        g_object_unref(label);
    }
    const char *title =
        pdf_printf(pdf, "%zu. %s", numbered->number, pdf_prose(pdf, finding->title));
    pdf->y += pdf_text(pdf, "H2", PDF_H2, TA_INK_TEXT, title, pdf->left + pill + GAP, pdf->y,
                       pdf->right - pdf->left - pill - GAP) +
              4;
}

static void put_finding(struct pdf *pdf, const void *data)
{
    const struct numbered *numbered = data;
    const struct ta_finding *finding = numbered->finding;
    pdf_place(pdf, pdf_printf(pdf, PDF_AT_FINDING, numbered->number));
    put_title(pdf, numbered);
    pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED,
                  pdf_printf(pdf, "%s · confidence %s · rule %s", saving_text(pdf, finding),
                             pdf_number(pdf, finding->confidence, TA_UNIT_RATIO),
                             pdf_safe(pdf, finding->rule)),
                  4);
    const char *const sentences[] = {finding->why, finding->advice, finding->details};
    for (size_t i = 0; i < TA_LENGTH(sentences); i++)
        if (sentences[i] && *sentences[i])
            pdf_paragraph(pdf, i < 2 ? PDF_BODY : PDF_SMALL, i < 2 ? TA_INK_TEXT : TA_INK_MUTED,
                          pdf_prose(pdf, sentences[i]), 4);
    for (size_t i = 0; i < finding->n_evidence; i++) { /* a line each, as a link to its table */
        char place[PDF_PLACE_MAX], line[512];
        ta_evidence_text(pdf->report, &finding->evidence[i], line, sizeof line);
        const char *text = pdf_safe(pdf, line);
        double height = pdf_style_size(PDF_SMALL) * 1.45, indent = 10;
        bool linked = pdf_table_place(pdf, finding->evidence[i].table, place);
        pdf_need(pdf, height);
        pdf_line(pdf, PDF_SMALL, TA_INK_MUTED, "•", pdf->left, pdf->y, indent);
        if (linked)
            pdf_link(pdf, place);
        pdf_line(pdf, PDF_SMALL, linked ? TA_INK_COMPUTE : TA_INK_TEXT, text, pdf->left + indent,
                 pdf->y, pdf->right - pdf->left - indent);
        if (linked)
            pdf_untag(pdf, CAIRO_TAG_LINK);
        pdf->y += height;
    }
    if (finding->threshold && *finding->threshold)
        pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED,
                      pdf_printf(pdf, "Fired on: %s", pdf_safe(pdf, finding->threshold)), 0);
    pdf->y += 14;
}

void pdf_findings(struct pdf *pdf)
{
    const bool none = pdf_finding_number(pdf, NULL) == 0;
    if (none && ta_report_kind(pdf->report) == TA_REPORT_DIFF)
        return; /* a comparison is no advice */
    const int entry = pdf_section(pdf, "Findings", PDF_AT_FINDINGS, 60);
    if (none)
        pdf_paragraph(pdf, PDF_BODY, TA_INK_TEXT, "No rule found anything to improve.", 6);
    for (size_t s = 0; s < ta_report_section_count(pdf->report); s++)
        if (ta_report_section(pdf->report, s)->summary)
            pdf_paragraph(pdf, PDF_BODY, TA_INK_TEXT,
                          pdf_prose(pdf, ta_report_section(pdf->report, s)->summary), 6);
    struct ta_walk walk = {0};
    const struct ta_item *item;
    for (size_t n = 1; (item = ta_report_next(pdf->report, TA_ITEM_FINDING, &walk)) != NULL; n++) {
        const struct numbered numbered = {item->finding, n};
        pdf_need(pdf, pdf_trial(pdf, put_finding, &numbered));
        pdf_outline(pdf, entry, pdf_prose(pdf, item->finding->title),
                    pdf_printf(pdf, PDF_AT_FINDING, n));
        put_finding(pdf, &numbered);
    }
    pdf_untag(pdf, "Sect");
}
