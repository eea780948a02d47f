/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the PDF report.
 *
 * The report is composed twice by the same code: the first pass only measures, so that the second
 * one knows the number of pages. A part asks for room, draws at `y` and moves it down; what it
 * draws may be nothing (pass one, trials), but the distance it moves may not depend on that. */
#ifndef TA_PLUGIN_PDF_H
#define TA_PLUGIN_PDF_H

#include "render/chart/draw.h"

#include <traceanalyze/base.h>
#include <traceanalyze/output.h>
#include <traceanalyze/timeline.h>

/* Id of the section whose scalars are the key figures on top of the first page. */
#define PDF_OVERVIEW "overview"
/* Scalars on the first page, at most; findings on it, with what to do. */
enum { PDF_BRIEF_FINDINGS = 5 };

/* Names of places that outline and links point to. */
#define PDF_AT_FINDINGS "findings"
#define PDF_AT_EVIDENCE "evidence"
#define PDF_AT_QUALITY "quality"
#define PDF_AT_METHOD "method"
enum { PDF_PLACE_MAX = 48 };

/* Places of findings count from 1. */
#define PDF_AT_FINDING "finding%zu"

enum pdf_style {
    PDF_TITLE,
    PDF_H1,
    PDF_H2,
    PDF_FIGURE, /* a key figure */
    PDF_LEAD,   /* the verdict */
    PDF_BODY,
    PDF_SMALL,
    PDF_LABEL, /* small and bold */
    PDF_NOTE,  /* under a small figure */
    PDF_CELL,
    PDF_HEAD, /* of a column */
    PDF_MONO,
    PDF_STYLE_COUNT
};

struct pdf {
    struct ta_ctx *ctx;
    const struct ta_report *report;
    const struct ta_render_options *options;
    struct ta_arena arena; /* texts; lives through both passes */
    cairo_surface_t *surface;
    cairo_t *cr;
    PangoContext *context;
    bool tight; /* lower figures, fewer rows and a lower margin, where the last page would be nearly
                   empty */
    bool drawing;
    bool trying;                     /* pdf_trial() */
    double width, height;            /* of the page */
    double left, right, top, bottom; /* of the text on it */
    double y;
    int page, pages;             /* from 1; `pages` is known in the second pass */
    const char *title, *section; /* in the head of a page */
    const struct ta_scalar *key_figures[TA_FIGURES_MOST]; /* on the first page */
    size_t n_key_figures;
    struct grid *grids;           /* of the tables so far (table.c) */
    struct built *built;          /* charts so far (figure.c) */
    struct drawn *drawn;          /* tables whose charts this pass has put (figure.c) */
    struct place *places;         /* so far, with their pages (page.c) */
    struct contents_line *lines;  /* of the page of contents (contents.c) */
    struct contents_line **after; /* where the next one goes */
    size_t n_lines;
    size_t n_brief; /* findings of which the first page says what to do */
};

/* ---- page.c: sheets of paper ----------------------------------------------------------- */

void pdf_end(struct pdf *pdf);
/* Starts a new page unless `height` still fits on this one. */
void pdf_need(struct pdf *pdf, double height);
/* Height that a part takes up, found by composing it without drawing. */
double pdf_trial(struct pdf *pdf, void (*part)(struct pdf *pdf, const void *data),
                 const void *data);

void pdf_box(const struct pdf *pdf, enum ta_ink ink, double x, double y, double w, double h);
void pdf_rule(const struct pdf *pdf, enum ta_ink ink, double x, double y, double w);

/* Structure tags and places; nothing happens in a pass that does not draw. */
void pdf_tag(const struct pdf *pdf, const char *tag);
void pdf_untag(const struct pdf *pdf, const char *tag);
void pdf_place(struct pdf *pdf, const char *place);
/* The page of a place that the first pass came to, 0 where there is no such place. */
int pdf_page_of(const struct pdf *pdf, const char *place);
/* What is drawn until pdf_unlink() leads to the place; nothing leads to one that there is not.
 * Returns the ink of what is drawn. */
enum ta_ink pdf_link(const struct pdf *pdf, const char *place, enum ta_ink otherwise);
void pdf_unlink(const struct pdf *pdf, const char *place);
/* Adds an entry below `parent` (0: the top) and returns its number. */
int pdf_outline(const struct pdf *pdf, int parent, const char *text, const char *place);
/* Puts parts next to each other, each in its share of the width; they must fit on a page. */
struct pdf_part {
    void (*put)(struct pdf *pdf, const void *data);
    const void *data;
    double share;
};
#define PDF_PARTS_MAX 2
void pdf_beside(struct pdf *pdf, const struct pdf_part *parts, size_t n);
/* Begins a section, which ends with pdf_untag(pdf, "Sect"), with its heading; returns the number of
 * its entry.  `follows` is as in pdf_heading(). */
int pdf_section(struct pdf *pdf, const char *title, const char *place, double follows);

/* ---- text.c: type ---------------------------------------------------------------------- */

double pdf_style_size(enum pdf_style style);
/* A layout of this width (< 0: one line); unref it. */
PangoLayout *pdf_layout(const struct pdf *pdf, enum pdf_style style, const char *text,
                        double width);
double pdf_layout_height(PangoLayout *layout);
double pdf_layout_width(PangoLayout *layout);
void pdf_show(const struct pdf *pdf, PangoLayout *layout, enum ta_ink ink, double x, double y);
/* Text of this width with a tag, or NULL; returns its height. */
double pdf_text(const struct pdf *pdf, const char *tag, enum pdf_style style, enum ta_ink ink,
                const char *text, double x, double y, double width);
/* One line, shortened in the middle where needed; returns its width. */
double pdf_line(const struct pdf *pdf, enum pdf_style style, enum ta_ink ink, const char *text,
                double x, double y, double width);
/* One line that ends at `right`. */
void pdf_line_right(const struct pdf *pdf, enum pdf_style style, enum ta_ink ink, const char *text,
                    double right, double y);
double pdf_text_width(const struct pdf *pdf, enum pdf_style style, const char *text);
/* A paragraph at `y`, over several pages if it must be, and a gap below it. */
void pdf_paragraph(struct pdf *pdf, enum pdf_style style, enum ta_ink ink, const char *text,
                   double gap);
/* A heading of level 1 or 2 with a place; stays on a page with `follows` points after it. */
void pdf_heading(struct pdf *pdf, int level, const char *text, const char *place, double follows);

/* Text from input, safe to draw; "" when memory ran out. */
const char *pdf_safe(struct pdf *pdf, const char *text);

/* A sentence of a finding, without the backticks around names. */
const char *pdf_prose(struct pdf *pdf, const char *text);
/* A cell with its unit, "–" for null. */
const char *pdf_cell_text(struct pdf *pdf, const struct ta_cell *cell, enum ta_unit unit);
/* A cell of a table, "–" for null. */
const char *pdf_table_text(struct pdf *pdf, const struct ta_table *table, size_t row,
                           size_t column);
const char *pdf_number(struct pdf *pdf, double value, enum ta_unit unit);
const char *pdf_count(struct pdf *pdf, uint64_t n);
const char *pdf_printf(struct pdf *pdf, const char *format, ...) TA_PRINTF(2, 3);

/* ---- parts of the report ---------------------------------------------------------------- */

/* front.c: title, verdict, picture, key figures, findings with what to do. */
void pdf_front(struct pdf *pdf);
/* findings.c: what findings rest on. */
void pdf_findings(struct pdf *pdf);
/* Number of a finding, from 1; 0 when there is none of this id (NULL: how many there are). */
size_t pdf_finding_number(const struct pdf *pdf, const char *id);
/* The line of a finding: its severity, number and title. */
void pdf_finding_title(struct pdf *pdf, enum ta_severity severity, const char *text, size_t number,
                       const char *tag);
/* "saves 1.00 ms to 2.00 ms". */
const char *pdf_saving(struct pdf *pdf, const struct ta_finding *finding);

/* chapters.c: the story in a few pages. */
void pdf_chapters(struct pdf *pdf);
/* sections.c: everything else that the analyses say. */
void pdf_sections(struct pdf *pdf);
/* contents.c: what a document of every table has, with pages. */
void pdf_contents(struct pdf *pdf);
/* Its pages, once the first pass is through. */
int pdf_contents_pages(const struct pdf *pdf);
void pdf_contents_add(struct pdf *pdf, int level, const char *text, const char *place);

/* figure.c: all charts of a table. */
void pdf_figures(struct pdf *pdf, const struct ta_table *table);
/* A small chart between `left` and `right`; for pdf_beside(), the data is a struct pdf_small. */
struct pdf_small {
    const struct ta_table *table;
    const struct ta_chart *chart;
};
void pdf_small_figure(struct pdf *pdf, const void *small);
/* The chart of the run as a whole, where the report has one. */
void pdf_picture(struct pdf *pdf);
/* Whether a chart of the table is in this pass already, or now does. */
bool pdf_is_drawn(const struct pdf *pdf, const struct ta_table *table);
void pdf_mark_drawn(struct pdf *pdf, const struct ta_table *table);
/* Frees what figures hold. */
void pdf_figures_free(struct pdf *pdf);
/* The timeline as a still picture, and what its heading needs below it on its page. */
double pdf_timeline_least(struct pdf *pdf, const struct ta_timeline *timeline);
void pdf_timeline(struct pdf *pdf, const struct ta_timeline *timeline);
/* Room the first chart of a table needs at least, texts around it included: a chart is made
 * smaller to fill the rest of a page, down to this share of it. */
#define PDF_LEAST_FIGURE 0.3
double pdf_figure_least(struct pdf *pdf, const struct ta_table *table);

/* print.c: whether the rows of a table stand on paper that has everything. */
bool pdf_prints(const struct ta_table *table);
/* Their rows: as many as the options ask for, and those that findings cite. */
struct pdf_rows {
    size_t *at, n;
    size_t measure; /* the column by which they stand out (ta_table_measure()), or SIZE_MAX */
};
bool pdf_pick_rows(struct pdf *pdf, const struct ta_table *table, struct pdf_rows *rows);
/* table.c: the rows of a table. */
void pdf_table(struct pdf *pdf, const struct ta_table *table);
/* quality.c: what was read, repaired and lost. */
void pdf_quality(struct pdf *pdf);
/* method.c: how figures are to be read, and what the columns mean where all tables stand. */
void pdf_method(struct pdf *pdf);

/* Place of a table, from its place in the report; false when the report has none. */
bool pdf_table_place(const struct pdf *pdf, const char *table, char place[PDF_PLACE_MAX]);

#endif
