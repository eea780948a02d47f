/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the page; each writes one piece of markup in place.
 *
 * Ids in the page: g-ID chapter, s-ID section, t-ID table, r-ID-N row N of a table, c-ID chart,
 * f-ID finding. Every text that may come from input passes html_put() or html_name(). */
#ifndef TA_PLUGIN_HTML_H
#define TA_PLUGIN_HTML_H

#include <traceanalyze/output.h>
#include <traceanalyze/table.h>
#include <traceanalyze/timeline.h>

/* What every part needs. */
struct page {
    struct ta_ctx *ctx;
    struct ta_file *out;
    struct ta_sink *sink;
    const struct ta_report *report;
    const struct ta_render_options *options;
    const struct ta_timeline *timeline; /* NULL: the page has none */
    size_t rows_markup;                 /* rows of a table that stand in the markup, at most */
    size_t rows_carried; /* with those that travel as data; the whole is always in report.json */
};

/* Id of the section whose scalars are the key figures on top of the page. */
#define HTML_OVERVIEW "overview"
/* So many findings are on the first screen. */
enum { HTML_FIRST_FINDINGS = 3 };
/* Ids of the sections that the page adds at its end. */
#define HTML_QUALITY "data_quality"
#define HTML_METHOD "method"

/* Tables and findings that readers open themselves. */
enum html_opening {
    HTML_OPEN,
    HTML_FOLDED, /* of a table, rows are data, of which the script makes rows when it is opened */
    HTML_FOLDED_ALONE /* of a table whose charts stand elsewhere */
};

/* text.c: small pieces of text. */
/* Markup; each %s is a text that is escaped, other numbers than %d, %zu and %ld are none. */
void html_put(const struct page *page, const char *format, ...) TA_PRINTF(2, 3);
/* A sentence of a finding: names between backticks are set as code. */
void html_prose(const struct page *page, const char *text);
void html_value(const struct page *page, const struct ta_cell *cell, enum ta_unit unit);
void html_number(const struct page *page, uint64_t n);
void html_count(const struct page *page, uint64_t n, const char *one, const char *many);
void html_name(const struct page *page, struct ta_slice name);
/* A name of the input as people say it, which is short: kernels without scopes and parameters, as
 * in charts and findings; as long as the arena or the name. */
struct ta_slice html_said(struct ta_arena *arena, struct ta_slice name);
/* Writes it so; the whole name shows when it is opened. */
void html_said_name(const struct page *page, struct ta_slice name);
/* Bytes of the first of the two runs in which html_name() writes a name; all if it is short. */
size_t html_name_split(struct ta_slice name);

/* assets.c: policy, style and script, in the page or in separate files. */
enum ta_status html_assets(const struct page *page) TA_MUST_CHECK;

/* hero.c: title, verdict, picture, first findings, key figures, the line on data quality. */
enum ta_status html_hero(const struct page *page) TA_MUST_CHECK;
/* The scalars of a section, side by side. */
void html_tiles(const struct page *page, const struct ta_section *section);

/* findings.c: one finding as a card; `scale_ns` is the largest saving of its list.  Folded are
 * those that stand on the first screen with what to do. */
void html_finding(const struct page *page, const struct ta_finding *finding, int64_t scale_ns,
                  enum html_opening opening);

/* figures.c: whether a chart is on the first screen, and not in its section. */
bool html_is_picture(const struct page *page, const struct ta_chart *chart);

/* figures.c: the picture of the first screen; all charts of a table. */
enum ta_status html_picture(const struct page *page) TA_MUST_CHECK;
enum ta_status html_figures(const struct page *page, const struct ta_table *table) TA_MUST_CHECK;

/* rows.c: how many rows of a table the page holds, so that reports of thousands of ranks do not
 * outgrow browsers. */
void html_choose_rows(struct page *page);
/* The rows themselves, by their number in the report; the first ones stand in the markup. */
struct html_rows {
    size_t *at; /* malloc'd */
    size_t n, n_markup;
};
enum ta_status html_pick_rows(const struct page *page, const struct ta_table *table,
                              struct html_rows *rows) TA_MUST_CHECK;
/* The column by which the worst come first; SIZE_MAX: they are in the order of the report. */
size_t html_measure(const struct page *page, const struct ta_table *table);
/* Whether a link to a row finds it: in the markup, or in the data of a folded table. */
bool html_has_row(const struct page *page, const struct ta_table *table, size_t row);

/* tables.c: a table with everything a script needs to sort and filter it. */
enum ta_status html_table(const struct page *page, const struct ta_table *table,
                          enum html_opening opening) TA_MUST_CHECK;

/* columns.c: which columns a page shows at first, and why not the others. */
enum html_hidden {
    HTML_SHOWN,
    HTML_EMPTY,
    HTML_NOTHING, /* zeros that are no answer */
    HTML_CONSTANT,
    HTML_OF_OWNER,
    HTML_REPEATED,
    HTML_DETAIL,
    HTML_FOR_PROGRAMS /* not named anywhere */
};
void html_choose_columns(const struct ta_table *table, enum html_opening opening,
                         enum html_hidden *hidden);
/* The line below a table that names those. */
void html_put_hidden(const struct page *page, const struct ta_table *table,
                     const enum html_hidden *hidden);

/* tables.c: one cell of a table body. */
enum { HTML_CELL_HEAD = 1 /* of its row */, HTML_CELL_HIDDEN = 2 };
void html_cell(const struct page *page, const struct ta_table *table, size_t row, size_t column,
               int flags);

/* quality.c: what was read, repaired and lost. */
enum ta_status html_quality(const struct page *page) TA_MUST_CHECK;

/* timeline.c: the section, and the slices that it shows, as many as the rest of the page leaves
 * room for; they come last. */
#define HTML_TIMELINE "timeline"
enum ta_status html_timeline(const struct page *page) TA_MUST_CHECK;
enum ta_status html_timeline_data(const struct page *page) TA_MUST_CHECK;
/* Links from evidence to the timeline; nothing where it has no place there. */
void html_timeline_link(const struct page *page, const struct ta_table *table,
                        const struct ta_evidence *evidence);
/* The attribute of a column whose cells are starts of stretches of time. */
void html_timeline_column(const struct page *page, const struct ta_table *table, size_t column);

/* method.c: how the figures are defined. */
void html_method(const struct page *page);

#endif
