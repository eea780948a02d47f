/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the terminal summary. */
#ifndef TA_PLUGIN_TEXT_H
#define TA_PLUGIN_TEXT_H

#include <traceanalyze/chart.h>
#include <traceanalyze/output.h>
#include <traceanalyze/table.h>

/* What every part needs. */
struct page {
    struct ta_ctx *ctx;
    struct ta_file *out;
    const struct ta_report *report;
    const struct ta_render_options *options;
    size_t width;     /* columns of the terminal */
    size_t rows_most; /* of a table; 0: as it declares */
};

/* Columns that everything below a heading is moved in by. */
enum { TEXT_INDENT = 2 };

enum text_style { TEXT_PLAIN, TEXT_BOLD, TEXT_DIM, TEXT_GOOD, TEXT_WARN, TEXT_BAD };

/* Both do nothing without colors. */
void text_style(const struct page *page, enum text_style style);
void text_reset(const struct page *page);

void text_heading(const struct page *page, const char *title);
void text_blanks(const struct page *page, size_t n);

/* Writes a paragraph and ends the line. The cursor is at column `indent`, where further lines begin
 * as well. */
void text_wrap(const struct page *page, const char *text, size_t indent);

/* A paragraph of its own, moved in; nothing for an empty text or NULL. */
void text_sentence(const struct page *page, const char *text, size_t indent, enum text_style style);

/* The whole: on one screen, or all of it. */
struct text_picks;
enum ta_status text_screen(const struct page *page, const struct text_picks *picks) TA_MUST_CHECK;
enum ta_status text_full(const struct page *page, const struct text_picks *picks) TA_MUST_CHECK;

/* What was run, and the verdict. */
void text_head(const struct page *page);

/* ---- parts (parts.c) ------------------------------------------------------------------- */

/* The first words of every summary, which distinguish report.txt from other text files. */
#define TEXT_SIGNATURE "traceanalyze "

enum { TEXT_SAVING_MAX = TA_SAVING_TEXT_MAX + TA_UNIT_TEXT_MAX + 32, TEXT_QUALITY_MAX = 300 };

enum text_style text_severity(enum ta_severity severity);
/* "saves 1 ms to 2 ms, confidence 50 %"; "" without a saving. */
const char *text_saving(const struct ta_finding *finding, char text[TEXT_SAVING_MAX]);

enum text_style text_quality_style(enum ta_quality_status status);
/* "clean · 1 of 1 files · 100 of 100 events used". */
const char *text_quality(const struct page *page, char text[TEXT_QUALITY_MAX]);

/* ---- the picture (lanes.c) ------------------------------------------------------------- */

enum { TEXT_LANES_MOST = TA_PICTURE_RANKS_MOST };

/* Draws it with at most so many lanes; it is not drawn where the report has none. */
enum ta_status text_picture(const struct page *page, size_t most, bool *is_drawn) TA_MUST_CHECK;

/* The picture of memory by call site: what was alive at its peak, as one bar (levels.c).  False
 * where there is nothing to draw. */
bool text_levels(const struct page *page, const struct ta_table *table,
                 const struct ta_chart *chart);

/* ---- legends (legend.c) ---------------------------------------------------------------- */

/* Entries next to each other, as many as a line holds. */
struct text_legend {
    const struct page *page;
    size_t used; /* columns of the line so far */
};
void text_legend_add(struct text_legend *legend, enum ta_ink ink, const char *glyph,
                     struct ta_slice label);
void text_legend_end(const struct text_legend *legend);

/* ---- tables (picks.c) ------------------------------------------------------------------ */

/* The tables that the summary shows, in its order, as their declarations say. */
struct text_picks {
    const struct ta_table **at;
    size_t n;
};

/* False without memory; the caller frees `at`. */
bool text_pick_tables(const struct ta_report *report, struct text_picks *picks) TA_MUST_CHECK;
bool text_is_picked(const struct text_picks *picks, const struct ta_table *table);

/* Where a declared column is in a table, which was made by an earlier version perhaps; SIZE_MAX:
 * nowhere, or `column` is NULL. */
size_t text_place_of(const struct ta_table *table, const struct ta_column *column);

/* ---- rows (rows.c) --------------------------------------------------------------------- */

struct text_rows {
    size_t *at, n;
    bool is_cut; /* more are worth showing */
};

/* All rows in order of the table, or those with the largest values; false without memory. */
bool text_rows_choose(const struct page *page, const struct ta_table *table,
                      struct text_rows *rows) TA_MUST_CHECK;

/* Whether the summary never shows a row. */
bool text_row_is_hidden(const struct ta_table *table, size_t row);

/* Whether a row has two names that differ in more than numbers. */
bool text_row_is_renamed(const struct ta_table *table, size_t row);

/* Draws a table within the width: keys, then the columns that matter most, then bars. */
enum ta_status text_table(const struct page *page, const struct ta_table *table) TA_MUST_CHECK;

/* ---- bars (bars.c) --------------------------------------------------------------------- */

/* What follows is in the color of an ink, until text_reset(). */
void text_ink(const struct page *page, enum ta_ink ink);

/* The sign for idle time of an ink, told apart where there is no color; NULL for other inks. */
const char *text_idle_glyph(enum ta_ink ink);

/* The bar at the end of a row, from the first chart of a table that is made of bars. */
struct text_segment {
    size_t column;
    double sign; /* 1; -1 where only values below 0 count */
    enum ta_ink ink;
    const char *label;
    bool seen; /* not 0 in every row shown */
};

struct text_bars {
    const struct ta_chart *chart; /* NULL: no bars */
    struct text_segment segments[TA_CHART_SERIES_MAX];
    size_t n;
    double largest; /* length of the longest bar shown */
};

struct text_bars text_bars_of(const struct ta_table *table, const size_t *rows, size_t n_rows);
/* Writes the bar of one row, at most `width` columns, after `gap` blanks; nothing at all for a
 * bar too short to be seen. */
void text_bar(const struct page *page, const struct text_bars *bars, const struct ta_table *table,
              size_t row, size_t width, size_t gap);
/* Says which segment is what; nothing for bars of one segment. */
void text_bar_legend(const struct page *page, const struct text_bars *bars);

#endif
