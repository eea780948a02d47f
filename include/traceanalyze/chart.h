/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a table is drawn (struct ta_chart), and the drawing as data (struct ta_scene).
 *
 * A chart names columns of its table; ta_scene_build() lays it out once, with Pango metrics,
 * into marks.  Cairo draws the marks into PNG, PDF and SVG files; the HTML report writes such
 * marks, which ta_page_scene() lays out, as semantic inline SVG. */
#ifndef TRACEANALYZE_CHART_H
#define TRACEANALYZE_CHART_H

#include "report.h"

TA_BEGIN_DECLS

enum ta_chart_kind {
    TA_CHART_STACKED_BARS, /* a bar per row, a segment per y column; with `group` rows of the same
                              label are a bar, a segment of y[0] per group; absolute and percent */
    TA_CHART_PARETO,       /* a bar per row by y[0] descending, cumulative share as text */
    TA_CHART_BARS,         /* a bar per row, grouped by `group` */
    TA_CHART_DOTS,    /* y[0] of each row in row order, one color per `group`; median, p5–p95 */
    TA_CHART_ECDF,    /* y[0] (share) as steps over x, one line per `group` */
    TA_CHART_LINES,   /* y over x: a panel per y column, one line per `group`; without groups and
                         with one unit a single panel, one line per y column */
    TA_CHART_SCATTER, /* y[0] over x, both logarithmic: a dot per row, its color by `group`, its
                        area by `size`, below the lines of `roof` */
    TA_CHART_HEAT,    /* a line per label[0], a cell per x, an integer; its color by y[0] */
    TA_CHART_TREE, /* y[0] of each row as a box below the box of its parent; rows in preorder, their
                      depth in x, their inks by `group` and `kinds` */
    TA_CHART_WATERFALL, /* y[2], the change from y[0] to y[1], of each row after the change of the
                           row before */
    TA_CHART_FOREST,    /* y[0], a ratio, of each row with its interval from y[1] to y[2] */
    TA_CHART_HEATMAP,   /* y[0], a change, of each row as a cell at `x` and the first label */
    TA_CHART_LANES, /* each row as a segment from x on, y[0] long, on the lane label[0]; label[1] is
                       written in it, its ink by `group` and `kinds` */
    TA_CHART_AREAS, /* y[0] of each `group` stacked over x, each row for `size` from x on; inks of
                       some groups by `kinds` */
    TA_CHART_KINDS
};

/* In trees a call says nothing by itself that passes on at least this share of its time to one of
 * its own: charts and pages skip chains of these.  And as captions write it. */
#define TA_TREE_PASSES_ON 0.995
#define TA_TREE_PASSES_ON_TEXT "99.5 %"

/* What a mark means; its color is fixed in all charts and outputs (render/chart/palette.c). */
enum ta_ink {
    TA_INK_NONE, /* the paper itself: it hides what lies below */
    TA_INK_TEXT,
    TA_INK_MUTED, /* captions, ticks */
    TA_INK_GRID,
    TA_INK_COMPUTE,
    TA_INK_COMM,
    TA_INK_MEMCPY,
    TA_INK_MEMSET,
    TA_INK_IDLE, /* grey with hatching, as all idle time; launches that come late, or all of it */
    TA_INK_COMM_HIDDEN, /* communication while compute runs */
    TA_INK_WAIT,        /* for other ranks */
    TA_INK_OTHER,
    TA_INK_BAND,    /* pale band under lines and dots */
    TA_INK_WORSE_1, /* steps of a change, from pale to TA_INK_WORSE or TA_INK_BETTER */
    TA_INK_WORSE_2,
    TA_INK_BETTER_1,
    TA_INK_BETTER_2,
    TA_INK_SERIES_1, /* categorical, for groups without a fixed meaning */
    TA_INK_SERIES_2,
    TA_INK_SERIES_3,
    TA_INK_SERIES_4,
    TA_INK_SERIES_5,
    TA_INK_SERIES_6,
    TA_INK_SERIES_7,
    TA_INK_OP, /* what host threads do, on a timeline */
    TA_INK_RUNTIME,
    TA_INK_HOST,
    TA_INK_RANGE,
    TA_INK_SYNC,
    TA_INK_ATTENTION, /* of what computes; TA_INK_COMPUTE is all of it, or GEMM */
    TA_INK_CONV,
    TA_INK_POINTWISE,
    TA_INK_KERNEL, /* kernels that are none of these */
    TA_INK_NORM,   /* where classes of kernels are compared: normalization apart from pointwise, */
    TA_INK_FUSED,  /* kernels that Inductor fused, */
    TA_INK_MOVE,   /* kernels that copy or index, */
    TA_INK_REDUCE, /* and those that reduce */
    TA_INK_IDLE_SYNC, /* idle time by its other causes: hatched, each in a tint */
    TA_INK_IDLE_INPUT,
    TA_INK_IDLE_COMPUTE, /* on the host */
    TA_INK_IDLE_LATENCY,
    TA_INK_IDLE_EARLIER, /* nothing was recorded, but work from before the recording may run */
    TA_INK_IDLE_QUEUED,
    TA_INK_IDLE_UNKNOWN,
    TA_INK_IDLE_AROUND, /* before the first work and after the last */
    TA_INK_IDLE_SETUP,
    TA_INK_IDLE_ALLOCATE,
    TA_INK_IDLE_HOST, /* does what was not recorded */
    TA_INK_WORSE,     /* changes */
    TA_INK_BETTER,
    TA_INK_HEAT_1, /* little to much (cividis) */
    TA_INK_HEAT_2,
    TA_INK_HEAT_3,
    TA_INK_HEAT_4,
    TA_INK_HEAT_5,
    TA_INK_HEAT_6,
    TA_INK_HEAT_7,
    TA_INK_COUNT
};

#define TA_CHART_SERIES_MAX 9
#define TA_CHART_LABELS 3

struct ta_series {
    const char *column; /* key of a column */
    const char *label;  /* legend */
    enum ta_ink ink;
};

/* What y cannot pass at an x: the least of `level` and `slope` × x, of which one may be NULL.  All
 * are columns; rows of equal limits share a line, whose label is the text of `name`. */
struct ta_roof {
    const char *level, *slope, *name;
};

/* The picture of a run of more ranks has those that say most. */
enum { TA_PICTURE_RANKS_MOST = 8 };

/* A value of the column `group`, which has its own ink. Segments of lanes name kinds whose label is
 * empty. */
struct ta_kind {
    const char *value;
    const char *label; /* legend */
    enum ta_ink ink;
};

struct ta_chart {
    const char *id; /* "gpu-time-breakdown" */
    const char *title;
    const char *caption; /* what is shown and how it is aggregated; one or two sentences */
    enum ta_chart_kind kind;
    const char *label[TA_CHART_LABELS];      /* key columns that name a row; NULL after the last */
    const char *x;                           /* ECDF, lines, scatter: value column */
    struct ta_series y[TA_CHART_SERIES_MAX]; /* ends with a NULL column; a chart without any, of a
                                                report of an earlier version, cannot be drawn */
    const char *group;                       /* column that splits rows into series, or NULL */
    bool log_x;                              /* ECDF, lines */
    uint32_t top;                            /* rows drawn at most; 0 is all */
    const struct ta_chart *next;             /* set by the report */
    const char *size;                        /* scatter, areas: value column, or NULL */
    struct ta_roof roof;                     /* scatter */
    const struct ta_kind *kinds; /* of a tree what says most first, of dots, lanes, areas, stacked
                                    bars; ends with a NULL value */
    bool log_y;                  /* lines in one panel */
    int64_t whole;               /* Pareto: what shares are of; 0: the sum of all rows */
    bool steps;                  /* lines: a value holds until the next one */
    const char *with, *without;  /* only rows that have a value, or none, in this column; or NULL */
    const char *band; /* lines: column of texts; stretches of the axis in which it stays the same
                         are shaded and named, or NULL */
};

/* ---- scenes -------------------------------------------------------------------------- */

enum ta_mark_kind { TA_MARK_RECT, TA_MARK_LINE, TA_MARK_CIRCLE, TA_MARK_TEXT };
enum ta_anchor { TA_ANCHOR_START, TA_ANCHOR_MIDDLE, TA_ANCHOR_END };
enum ta_face {
    TA_FACE_BODY,
    TA_FACE_SMALL,
    TA_FACE_TITLE,
    TA_FACE_MONO,
    TA_FACE_STRONG, /* small and bold: headings inside a chart */
    TA_FACE_COUNT
};

struct ta_point {
    double x, y;
};

/* Coordinates are points of 1/72 inch from the top left corner; y grows downwards. */
struct ta_mark {
    enum ta_mark_kind kind;
    enum ta_ink ink;
    union {
        struct {
            double x, y, w, h;
        } rect;
        struct {
            const struct ta_point *points;
            size_t n;
            double width;
            bool closed, dashed; /* closed is filled, not stroked */
        } line;
        struct {
            double x, y, r;
        } circle;
        struct {
            double x, y; /* y is the base line */
            enum ta_anchor anchor;
            enum ta_face face;
            enum ta_ink on; /* not NONE: written inside a mark of this ink, in the color of
                               ta_ink_color_on(); `ink` is TA_INK_TEXT then */
            const char *text;
        } text;
    };
    const char *tip; /* "aten::mm · 412 ms · 18.4 %", shown on hover; NULL for decoration */
};

struct ta_scene {
    const char *id, *title, *caption;
    const char *summary; /* the chart in one sentence with its main numbers, for readers who
                            cannot see it */
    double width, height;
    const struct ta_mark *marks;
    size_t n_marks;
    bool is_nested; /* marks with a tip are boxes of a tree, each below the box it is part of */
};

/* Lays a chart out for a width in points (height 0: what the chart needs).  NULL when memory
 * ran out; a chart whose rows are all missing gives a scene that says so. */
TA_API struct ta_scene *ta_scene_build(const struct ta_table *table, const struct ta_chart *chart,
                                       double width, double height);
TA_API void ta_scene_free(struct ta_scene *scene);

/* Color of an ink as 0xRRGGBB; `dark` chooses the dark theme. */
TA_API uint32_t ta_ink_color(enum ta_ink ink, bool dark);

TA_END_DECLS

#endif
