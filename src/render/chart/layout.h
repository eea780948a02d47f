/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the layouts of the chart kinds share: a pen that collects marks, the numbers and names of
 * the table, a legend, axes.
 *
 * A layout draws from y = 0 downwards and sets `height` to where it ends.  Nothing may stand
 * outside 0 … width; texts are measured before they are placed. */
#ifndef TA_CHART_LAYOUT_H
#define TA_CHART_LAYOUT_H

#include "base/vec.h"
#include "render/chart/axis.h"
#include "render/chart/measure.h"

struct ta_layout {
    const struct ta_table *table;
    const struct ta_chart *chart;
    struct ta_arena *arena; /* of the scene */
    struct ta_measure *measure;
    double width;
    double height; /* asked for (0: free), in the end what was used */
    TA_VEC(struct ta_mark) marks;
    bool failed;         /* out of memory */
    const char *summary; /* set by the kind: the numbers in one sentence */
    const char *note;    /* set by the kind: sample size, rows left out */
};

/* One function per kind of chart. */
void ta_lay_stacked(struct ta_layout *layout);
void ta_lay_pareto(struct ta_layout *layout);
void ta_lay_bars(struct ta_layout *layout);
void ta_lay_dots(struct ta_layout *layout);
void ta_lay_ecdf(struct ta_layout *layout);
void ta_lay_lines(struct ta_layout *layout);
void ta_lay_scatter(struct ta_layout *layout);
void ta_lay_heat(struct ta_layout *layout);
void ta_lay_tree(struct ta_layout *layout);
void ta_lay_waterfall(struct ta_layout *layout);
void ta_lay_forest(struct ta_layout *layout);
void ta_lay_heatmap(struct ta_layout *layout);
void ta_lay_lanes(struct ta_layout *layout);
void ta_lay_areas(struct ta_layout *layout);
/* A picture that has no table. */
struct ta_timeline;
void ta_lay_timeline(struct ta_layout *layout, const struct ta_timeline *timeline);

/* ---- pen (pen.c) ------------------------------------------------------------------------ */
/* Texts must live as long as the scene: constants or in its arena. */

void ta_pen_rect(struct ta_layout *layout, enum ta_ink ink, double x, double y, double w, double h,
                 const char *tip);
void ta_pen_segment(struct ta_layout *layout, enum ta_ink ink, struct ta_point from,
                    struct ta_point to, double width, bool dashed);
/* Takes the points as they are; they must live in the arena. */
void ta_pen_line(struct ta_layout *layout, enum ta_ink ink, const struct ta_point *points, size_t n,
                 double width, const char *tip);
/* The same, filled. */
void ta_pen_area(struct ta_layout *layout, enum ta_ink ink, const struct ta_point *points, size_t n,
                 const char *tip);
void ta_pen_circle(struct ta_layout *layout, enum ta_ink ink, double x, double y, double r,
                   const char *tip);
void ta_pen_text(struct ta_layout *layout, enum ta_ink ink, enum ta_face face,
                 enum ta_anchor anchor, double x, double y, const char *text, const char *tip);
/* Text inside a mark of ink `on`. */
void ta_pen_text_on(struct ta_layout *layout, enum ta_ink on, enum ta_face face,
                    enum ta_anchor anchor, double x, double y, const char *text);
/* Text in the middle of a rectangle of an ink.  Nothing can be read on hatching: there it gets a
 * piece of paper. */
void ta_pen_text_in(struct ta_layout *layout, enum ta_ink ink, double x, double y, double w,
                    double h, const char *text);
/* printf into the arena; "" when memory ran out, which the arena remembers. */
const char *ta_pen_printf(struct ta_layout *layout, const char *format, ...) TA_PRINTF(2, 3);
/* A value with its unit, in the arena. */
const char *ta_pen_value(struct ta_layout *layout, double value, enum ta_unit unit);
/* "n = 412, 3 without a value": the sample of a caption, not broken between lines. */
const char *ta_pen_sample(struct ta_layout *layout, size_t n, size_t missing);

double ta_pen_width(const struct ta_layout *layout, enum ta_face face, const char *text);
const char *ta_pen_fit(const struct ta_layout *layout, enum ta_face face, const char *text,
                       double width);

/* ---- guides (guide.c) ------------------------------------------------------------------- */

struct ta_legend_entry {
    enum ta_ink ink;
    enum ta_mark_kind kind; /* of the key: rect, circle or line */
    const char *label;
};

/* Draws the entries from the left, in as many lines as needed; returns the height used. */
double ta_guide_legend(struct ta_layout *layout, const struct ta_legend_entry *entries, size_t n,
                       double y);

/* The rectangle in which values are drawn. */
struct ta_plot {
    double x, y, w, h;
};

static inline double ta_plot_x(const struct ta_plot *plot, const struct ta_axis *axis, double value)
{
    return plot->x + plot->w * ta_axis_share(axis, value);
}

static inline double ta_plot_y(const struct ta_plot *plot, const struct ta_axis *axis, double value)
{
    return plot->y + plot->h * (1 - ta_axis_share(axis, value));
}

/* Grid lines and tick labels; both draw nothing but guides, so call them before the marks. */
void ta_guide_x_axis(struct ta_layout *layout, const struct ta_axis *axis,
                     const struct ta_plot *plot, const char *title);
/* The grid alone, for plots that are not one piece. */
void ta_guide_x_grid(struct ta_layout *layout, const struct ta_axis *axis,
                     const struct ta_plot *plot);
/* A label in the middle of x, moved inside the scene; left out when that would put it left of
 * `free_from`.  Returns from where the next one may start. */
double ta_guide_centered(struct ta_layout *layout, double x, double y, double free_from,
                         const char *label);
void ta_guide_x_labels(struct ta_layout *layout, const struct ta_axis *axis,
                       const struct ta_plot *plot, const char *title);
void ta_guide_y_axis(struct ta_layout *layout, const struct ta_axis *axis,
                     const struct ta_plot *plot);
/* A linear axis with as many ticks as there is room for on `width`. */
struct ta_axis ta_guide_fit(struct ta_layout *layout, double low, double high, enum ta_unit unit,
                            double width);
/* The title of y, above the upper left corner of a plot that begins at `top`, from `left` on. */
void ta_guide_y_title(struct ta_layout *layout, const char *title, double left, double top);
/* Room below a plot for what ta_guide_x_axis() writes, left of it for ta_guide_y_axis(). */
double ta_guide_x_height(const char *title);
double ta_guide_y_width(struct ta_layout *layout, const struct ta_axis *axis);
/* "Duration (ms)". */
const char *ta_guide_title(struct ta_layout *layout, const char *title, const struct ta_axis *axis);

/* The whole drawing when there is nothing to draw. */
void ta_guide_empty(struct ta_layout *layout);

/* ---- data (data.c) ---------------------------------------------------------------------- */

/* Column of a key; SIZE_MAX for NULL and for a key the table does not have. */
size_t ta_data_column(const struct ta_layout *layout, const char *key);
/* A number, or NaN when the cell is null, not a number, or there is no such column. */
double ta_data_value(const struct ta_layout *layout, size_t row, size_t column);
enum ta_unit ta_data_unit(const struct ta_layout *layout, size_t column);
const char *ta_data_title(const struct ta_layout *layout, size_t column);
/* Name of a row from the label columns: "rank 0 · HtoD".  The column `without` is left out when
 * there is another. */
const char *ta_data_name(struct ta_layout *layout, size_t row, size_t without);
/* The same with the group in front when no label names it: "rank 2 · step 17". */
const char *ta_data_full_name(struct ta_layout *layout, size_t row);
/* One cell as text; integers carry the title of their column: "rank 0". */
const char *ta_data_cell(struct ta_layout *layout, size_t row, size_t column);

enum { TA_GROUPS_SHOWN = 7 };

/* Rows split by the values of a column. */
struct ta_groups {
    size_t n;
    const char **names; /* n */
    size_t *of_row;     /* group of each row of the table */
    enum ta_ink *inks;  /* n */
    bool others;        /* there are more than colors: some share the entry "other" */
    enum ta_ink rest;   /* of those */
};

static inline bool ta_groups_rest(const struct ta_groups *groups, size_t group)
{
    return groups->others && groups->inks[group] == groups->rest;
}

/* Groups in order of appearance; one group "" without a column.  Inks are not yet set.  False
 * when memory ran out. */
bool ta_data_groups(struct ta_layout *layout, size_t column, struct ta_groups *groups);
/* Gives a color to each group; of more than TA_GROUPS_SHOWN only the largest scores get one. */
/* The ink that a class of device time or a family of kernels has in all charts; NONE of others. */
enum ta_ink ta_data_class_ink(const char *name);
/* The ink of groups that share the entry "other", of groups with these names. */
enum ta_ink ta_data_rest_ink(const char *const *names, size_t n);
/* The ink of the first group that is no such class, of groups with these names. */
enum ta_ink ta_data_first_series(const char *const *names, size_t n);
/* The ink at hand, and then the next one; after the last the third again. */
enum ta_ink ta_data_next_series(int *series);
void ta_data_color_groups(struct ta_groups *groups, const double *scores);
/* Entries of a legend for them, the rest as one; returns how many. */
size_t ta_data_legend(struct ta_layout *layout, const struct ta_groups *groups,
                      enum ta_mark_kind kind, struct ta_legend_entry entries[TA_GROUPS_SHOWN + 1]);

/* ---- places along an axis of rows (slots.c) ---------------------------------------------- */

/* Rows of the same label (step 17 of each rank) share a slot; rows without a value have none. */
struct ta_slots {
    size_t n;
    size_t *of_row;      /* slot of each row of the table */
    const char **labels; /* n; NULL where no row is */
    bool numbered;       /* labels are consecutive numbers from `first` on */
    int64_t first;
    const char *title; /* of the label column, or what else the slots are */
};

/* Slots by the first label column that is not the group; by the order of rows inside each group
 * when there is none.  False when memory ran out. */
bool ta_slots_make(struct ta_layout *layout, const struct ta_groups *groups, size_t group_column,
                   struct ta_slots *slots);
/* Labels below the plot, as many as fit, and the title. */
void ta_slots_guide(struct ta_layout *layout, const struct ta_slots *slots,
                    const struct ta_plot *plot);
/* Middle of a slot. */
double ta_slots_x(const struct ta_slots *slots, const struct ta_plot *plot, size_t slot);

#endif
