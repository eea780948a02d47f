/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the scatter chart share: its dots and its roofs, in one plot. */
#ifndef TA_CHART_SCATTER_H
#define TA_CHART_SCATTER_H

#include "render/chart/layout.h"

/* More roofs than this are not told apart. */
enum { TA_ROOFS_MAX = 6 };

/* y = min(level, slope · x); INFINITY where there is no such limit. */
struct ta_roof_line {
    double level, slope;
    const char *name;
    struct ta_point corners[3]; /* start, bend, end inside the plot, set when it is drawn */
    size_t n;
};

struct ta_scatter_dot {
    double x, y, size; /* size 0: not known */
    size_t row;
};

struct ta_box {
    double left, top, right, bottom;
};

/* Texts inside the plot keep away from each other and from the dots. */
enum { TA_LABELS_MAX = 24 };

struct ta_scatter {
    size_t x_column, y_column, size_column, group_column;
    enum ta_unit x_unit, y_unit, size_unit;
    struct ta_groups groups;
    struct ta_scatter_dot *dots; /* from the largest to the smallest */
    size_t n, left_out;          /* rows drawn; rows with values that are not */
    struct ta_roof_line roofs[TA_ROOFS_MAX];
    size_t n_roofs;
    enum ta_unit slope_unit;
    struct ta_axis x_axis, y_axis;
    struct ta_plot plot;
    struct ta_box labels[TA_LABELS_MAX];
    size_t n_labels;
};

/* Where a pair of positive values lies; outside the axes at their ends. */
struct ta_point ta_scatter_at(const struct ta_scatter *scatter, double x, double y);

/* Writes a text whose base line starts at (x, y) unless it would touch what is there or leave the
 * plot; returns whether it did. */
bool ta_scatter_label(struct ta_layout *layout, struct ta_scatter *scatter, enum ta_ink ink,
                      double x, double y, const char *text);

/* The limits of the rows that are drawn (roof.c). */
void ta_roof_read(struct ta_layout *layout, struct ta_scatter *scatter);
/* Moves the ends of the axes so that the lines and their bends are to be seen. */
void ta_roof_widen(const struct ta_scatter *scatter, double x[2], double y[2]);
void ta_roof_draw(struct ta_layout *layout, struct ta_scatter *scatter);
bool ta_roof_touches(const struct ta_scatter *scatter, const struct ta_box *box);
/* After the lines and dots, to which it gives way. */
void ta_roof_name(struct ta_layout *layout, struct ta_scatter *scatter);

#endif
