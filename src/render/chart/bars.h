/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of horizontal bars with names, segments and numbers; every bar chart is one. */
#ifndef TA_CHART_BARS_H
#define TA_CHART_BARS_H

#include "render/chart/layout.h"

enum ta_bar_kind {
    TA_BAR_HEADING, /* a line of text over the bars that follow */
    TA_BAR_STACK,   /* segments side by side from zero */
    TA_BAR_RANGE    /* p5 … p95 as a thin bar, the median as a mark on it */
};

struct ta_bar_part {
    enum ta_ink ink;
    double value;            /* > 0 */
    const char *label, *tip; /* either may be NULL; the label is left out where it does not fit */
};

struct ta_bar {
    enum ta_bar_kind kind;
    const char *name; /* shortened in the middle where it does not fit */
    enum ta_ink name_ink;
    const char *numbers[2]; /* text in the columns at the right, NULL for none */
    struct ta_bar_part parts[TA_CHART_SERIES_MAX];
    size_t n_parts;
    double low, median, high; /* of a range, in the ink and with the tip of parts[0] */
};

struct ta_bar_list {
    struct ta_bar *bars;
    size_t n;
    enum ta_face face;    /* of the names */
    const char *heads[2]; /* over the columns at the right, NULL for none */
    const char *title;    /* of the value axis, without unit */
    enum ta_unit unit;
    struct ta_legend_entry legend[TA_CHART_SERIES_MAX];
    size_t n_legend;
};

void ta_bars_draw(struct ta_layout *layout, const struct ta_bar_list *list);

/* How many bars fit into the height asked for; SIZE_MAX when it is free. */
size_t ta_bars_room(const struct ta_layout *layout);

#endif
