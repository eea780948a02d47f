/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What findings rest on: why, the numbers, and the chart of the table that they cite. */
#include "pdf.h"
#include "render/chart/says.h"
#include "render/chart/scene.h"
#include "report/tables.h"

#include <math.h>
#include <string.h>

enum { EVIDENCE_SHOWN = 4 };
/* Of the width, for the text next to a chart. */
#define TEXT_SHARE 0.54

struct numbered {
    const struct ta_finding *finding;
    size_t number;          /* from 1 */
    struct pdf_small small; /* the chart of its evidence, or no table */
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

const char *pdf_saving(struct pdf *pdf, const struct ta_finding *finding)
{
    char saving[TA_SAVING_TEXT_MAX];
    if (finding->saving_high_ns == TA_MISSING)
        return "saving not estimated";
    return pdf_printf(pdf, "saves %s", ta_saving_text(finding, saving));
}

void pdf_finding_title(struct pdf *pdf, enum ta_severity severity, const char *text, size_t number,
                       const char *tag)
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
    const char *name = looks[severity].name;
    const enum ta_ink ink = looks[severity].ink;
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
    const char *title = pdf_printf(pdf, "%zu. %s", number, pdf_prose(pdf, text));
    pdf->y += pdf_text(pdf, tag, PDF_H2, TA_INK_TEXT, title, pdf->left + pill + GAP, pdf->y,
                       pdf->right - pdf->left - pill - GAP) +
              4;
}

/* A line each, as a link to its table. */
static void put_evidence(struct pdf *pdf, const struct ta_evidence *evidence)
{
    char place[PDF_PLACE_MAX] = "", line[512];
    const double height = pdf_style_size(PDF_SMALL) * 1.45, indent = 10;
    ta_evidence_text(pdf->report, evidence, line, sizeof line);
    const char *text = pdf_safe(pdf, line);
    pdf_table_place(pdf, evidence->table, place);
    pdf_need(pdf, height);
    pdf_tag(pdf, "P");
    pdf_line(pdf, PDF_SMALL, TA_INK_MUTED, "•", pdf->left, pdf->y, indent);
    const enum ta_ink ink = pdf_link(pdf, place, TA_INK_TEXT);
    pdf_line(pdf, PDF_SMALL, ink, text, pdf->left + indent, pdf->y,
             pdf->right - pdf->left - indent);
    pdf_unlink(pdf, place);
    pdf_untag(pdf, "P");
    pdf->y += height;
}

static void put_text(struct pdf *pdf, const void *data)
{
    const struct numbered *numbered = data;
    const struct ta_finding *finding = numbered->finding;
    const bool is_full = pdf->options->full_paper;
    const char *const sentences[] = {
        finding->why, is_full || numbered->number > pdf->n_brief ? finding->advice : NULL,
        finding->details};
    pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED,
                  pdf_printf(pdf, "%s · confidence %s · rule %s", pdf_saving(pdf, finding),
                             pdf_number(pdf, finding->confidence, TA_UNIT_RATIO),
                             pdf_safe(pdf, finding->rule)),
                  4);
    for (size_t i = 0; i < TA_LENGTH(sentences); i++)
        if (sentences[i] && *sentences[i])
            pdf_paragraph(pdf, i < 2 ? PDF_BODY : PDF_SMALL, i < 2 ? TA_INK_TEXT : TA_INK_MUTED,
                          pdf_prose(pdf, sentences[i]), 4);
    const size_t most = is_full ? SIZE_MAX : EVIDENCE_SHOWN;
    for (size_t i = 0; i < finding->n_evidence && i < most; i++)
        put_evidence(pdf, &finding->evidence[i]);
    if (is_full && finding->threshold && *finding->threshold)
        pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED,
                      pdf_printf(pdf, "Fired on: %s", pdf_safe(pdf, finding->threshold)), 0);
}

static void put_finding(struct pdf *pdf, const void *data)
{
    const struct numbered *numbered = data;
    const struct pdf_part parts[] = {{put_text, numbered, TEXT_SHARE},
                                     {pdf_small_figure, &numbered->small, 1 - TEXT_SHARE}};
    pdf_place(pdf, pdf_printf(pdf, PDF_AT_FINDING, numbered->number));
    pdf_finding_title(pdf, numbered->finding->severity, numbered->finding->title, numbered->number,
                      "H2");
    if (numbered->small.table)
        pdf_beside(pdf, parts, TA_LENGTH(parts));
    else
        put_text(pdf, numbered);
    pdf->y += pdf->tight ? 9 : 14;
}

/* The chart of the first table that a finding cites and that no chart before was of. */
static struct pdf_small choose(struct pdf *pdf, const struct ta_finding *finding)
{
    for (size_t i = 0; i < finding->n_evidence; i++) {
        const struct ta_table *table = ta_report_table(pdf->report, finding->evidence[i].table);
        const struct ta_chart *chart = table ? ta_chart_after(table, NULL) : NULL;
        if (chart && !pdf_is_drawn(pdf, table))
            return (struct pdf_small){table, chart};
    }
    return (struct pdf_small){NULL, NULL};
}

static struct numbered numbered_of(struct pdf *pdf, const struct ta_finding *finding, size_t n)
{
    struct numbered numbered = {finding, n, choose(pdf, finding)};
    if (numbered.small.table && pdf_trial(pdf, put_finding, &numbered) > pdf->bottom - pdf->top)
        numbered.small.table = NULL;
    return numbered;
}

/* What has to stand under the heading of the evidence. */
static double first_height(struct pdf *pdf)
{
    struct ta_walk walk = {0};
    const struct ta_item *item = ta_report_next(pdf->report, TA_ITEM_FINDING, &walk);
    const struct numbered numbered = numbered_of(pdf, item->finding, 1);
    return fmin(pdf_trial(pdf, put_finding, &numbered), (pdf->bottom - pdf->top) / 2);
}

/* How many rules looked; of a comparison none did. */
static void put_rules(struct pdf *pdf)
{
    char text[TA_RULES_TEXT_MAX];
    if (*ta_rules_said(pdf->report, text))
        pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED, pdf_printf(pdf, "%s", text), 6);
}

void pdf_findings(struct pdf *pdf)
{
    struct ta_walk walk = {0};
    const struct ta_item *item;
    if (pdf_finding_number(pdf, NULL) == 0) {
        put_rules(pdf);
        return;
    }
    const int entry = pdf_section(pdf, "Evidence", PDF_AT_EVIDENCE, first_height(pdf));
    for (size_t n = 1; (item = ta_report_next(pdf->report, TA_ITEM_FINDING, &walk)) != NULL; n++) {
        const struct numbered numbered = numbered_of(pdf, item->finding, n);
        pdf_need(pdf, pdf_trial(pdf, put_finding, &numbered));
        pdf_outline(pdf, entry, pdf_prose(pdf, item->finding->title),
                    pdf_printf(pdf, PDF_AT_FINDING, n));
        if (numbered.small.table)
            pdf_mark_drawn(pdf, numbered.small.table);
        put_finding(pdf, &numbered);
    }
    put_rules(pdf);
    pdf_untag(pdf, "Sect");
}
