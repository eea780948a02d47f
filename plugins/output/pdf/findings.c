/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings: what to change, what it would save, and the numbers it rests on. */
#include "pdf.h"

#include <string.h>

struct numbered {
    const struct ta_finding *finding;
    size_t number; /* from 1 */
};

static const struct ta_finding *next_finding(const struct ta_section *section, size_t *at)
{
    while (*at < section->n_items) {
        const struct ta_item *item = &section->items[(*at)++];
        if (item->kind == TA_ITEM_FINDING)
            return item->finding;
    }
    return NULL;
}

size_t pdf_finding_number(const struct pdf *pdf, const char *id)
{
    size_t n = 0, n_sections = ta_report_section_count(pdf->report);
    for (size_t s = 0; s < n_sections; s++) {
        const struct ta_finding *finding;
        for (size_t i = 0; (finding = next_finding(ta_report_section(pdf->report, s), &i));) {
            n++;
            if (id && strcmp(finding->id, id) == 0)
                return n;
        }
    }
    return id ? 0 : n;
}

static const char *severity_name(enum ta_severity severity)
{
    static const char *const names[] = {[TA_INFO] = "INFO",
                                        [TA_LOW] = "LOW",
                                        [TA_MEDIUM] = "MEDIUM",
                                        [TA_HIGH] = "HIGH",
                                        [TA_CRITICAL] = "CRITICAL"};
    return names[severity];
}

static enum ta_ink severity_ink(enum ta_severity severity)
{
    return severity >= TA_HIGH     ? TA_INK_COMM
           : severity == TA_MEDIUM ? TA_INK_SERIES_1
                                   : TA_INK_IDLE;
}

static const char *saving_text(struct pdf *pdf, const struct ta_finding *finding)
{
    if (finding->saving_low_ns == TA_MISSING || finding->saving_high_ns == TA_MISSING)
        return "saving not estimated";
    const char *high = pdf_number(pdf, (double)finding->saving_high_ns, TA_UNIT_NS);
    if (finding->saving_low_ns == finding->saving_high_ns)
        return pdf_printf(pdf, "saves %s", high);
    if (finding->saving_low_ns == 0)
        return pdf_printf(pdf, "saves up to %s", high);
    return pdf_printf(pdf, "saves %s to %s",
                      pdf_number(pdf, (double)finding->saving_low_ns, TA_UNIT_NS), high);
}

/* A line of evidence, as a link to its table. */
static void put_evidence(struct pdf *pdf, const struct ta_evidence *evidence)
{
    char place[PDF_PLACE_MAX], line[512];
    ta_evidence_text(pdf->report, evidence, line, sizeof line);
    const char *text = pdf_safe(pdf, line);
    double height = pdf_style_size(PDF_SMALL) * 1.45, indent = 10;
    bool linked = pdf_table_place(pdf, evidence->table, place);
    pdf_need(pdf, height);
    pdf_line(pdf, PDF_SMALL, TA_INK_MUTED, "•", pdf->left, pdf->y, indent);
    if (linked)
        pdf_link(pdf, place);
    pdf_line(pdf, PDF_SMALL, linked ? TA_INK_COMPUTE : TA_INK_TEXT, text, pdf->left + indent,
             pdf->y, pdf->right - pdf->left - indent);
    if (linked && pdf->drawing)
        cairo_tag_end(pdf->cr, CAIRO_TAG_LINK);
    pdf->y += height;
}

static void put_title(struct pdf *pdf, const struct numbered *numbered)
{
    enum { PAD = 5, GAP = 8 };
    const struct ta_finding *finding = numbered->finding;
    const char *name = severity_name(finding->severity);
    enum ta_ink ink = severity_ink(finding->severity);
    double pill = pdf_text_width(pdf, PDF_LABEL, name) + 2 * PAD;
    PangoLayout *title = pdf_layout(
        pdf, PDF_H2, pdf_printf(pdf, "%zu. %s", numbered->number, pdf_safe(pdf, finding->title)),
        pdf->right - pdf->left - pill - GAP);
    double line = pdf_style_size(PDF_H2) * 1.2;
    pdf_box(pdf, ink, pdf->left, pdf->y, pill, line);
    if (pdf->drawing) {
        uint32_t color = ta_ink_color_on(ink, false);
        PangoLayout *label = pdf_layout(pdf, PDF_LABEL, name, -1);
        cairo_set_source_rgb(pdf->cr, (color >> 16 & 0xff) / 255.0, (color >> 8 & 0xff) / 255.0,
                             (color & 0xff) / 255.0);
        cairo_move_to(pdf->cr, pdf->left + PAD, pdf->y + (line - pdf_layout_height(label)) / 2);
        pango_cairo_show_layout(pdf->cr, label);
        g_object_unref(label);
    }
    pdf_tag(pdf, "H2");
    pdf_show(pdf, title, TA_INK_TEXT, pdf->left + pill + GAP, pdf->y);
    pdf_untag(pdf, "H2");
    pdf->y += pdf_layout_height(title) + 4;
    g_object_unref(title);
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
    pdf_paragraph(pdf, PDF_BODY, TA_INK_TEXT, pdf_safe(pdf, finding->advice), 4);
    for (size_t i = 0; i < finding->n_evidence; i++)
        put_evidence(pdf, &finding->evidence[i]);
    if (finding->threshold && *finding->threshold)
        pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED,
                      pdf_printf(pdf, "Fired on: %s", pdf_safe(pdf, finding->threshold)), 0);
    pdf->y += 14;
}

void pdf_findings(struct pdf *pdf)
{
    size_t number = 0, n_sections = ta_report_section_count(pdf->report);
    const bool none = pdf_finding_number(pdf, NULL) == 0;
    if (none && ta_report_kind(pdf->report) == TA_REPORT_DIFF)
        return; /* a comparison is no advice */
    pdf->section = "Findings";
    pdf_tag(pdf, "Sect");
    pdf_heading(pdf, 1, "Findings", PDF_AT_FINDINGS, 60);
    int entry = pdf_outline(pdf, 0, "Findings", PDF_AT_FINDINGS);
    if (none)
        pdf_paragraph(pdf, PDF_BODY, TA_INK_TEXT, "No rule found anything to improve.", 6);
    for (size_t s = 0; s < n_sections; s++) {
        const struct ta_section *section = ta_report_section(pdf->report, s);
        const struct ta_finding *finding;
        for (size_t i = 0; (finding = next_finding(section, &i));) {
            const struct numbered numbered = {finding, ++number};
            pdf_need(pdf, pdf_trial(pdf, put_finding, &numbered));
            pdf_outline(pdf, entry, pdf_safe(pdf, finding->title),
                        pdf_printf(pdf, PDF_AT_FINDING, number));
            put_finding(pdf, &numbered);
        }
    }
    pdf_untag(pdf, "Sect");
}
