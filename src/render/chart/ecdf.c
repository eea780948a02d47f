/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cumulative distributions: the share of all that is at most x, a line of steps per group. */
#include "render/chart/layout.h"

#include <math.h>
#include <stdlib.h>

enum { TITLE_LINE = 18, LOG_TICK_ROOM = 60, LEAST_HEIGHT = 130, MOST_HEIGHT = 270 };

/* Steps closer than this many points to each other are drawn as one. */
#define CLOSEST 0.5

struct sample {
    size_t group;
    double x, share, band; /* NaN: without a band */
};

struct ecdf {
    size_t x_column, share_column, group_column, band_column;
    enum ta_unit unit;
    struct ta_groups groups;
    struct sample *samples; /* by group, then x */
    size_t n;
    struct ta_plot plot;
    struct ta_axis x_axis, y_axis;
};

static int by_group(const void *a, const void *b)
{
    const struct sample *s = a, *t = b;
    if (s->group != t->group)
        return (s->group > t->group) - (s->group < t->group);
    if (s->x != t->x)
        return (s->x > t->x) - (s->x < t->x);
    return (s->share > t->share) - (s->share < t->share);
}

static size_t group_end(const struct ecdf *ecdf, size_t first)
{
    size_t end = first;
    while (end < ecdf->n && ecdf->samples[end].group == ecdf->samples[first].group)
        end++;
    return end;
}

/* Smallest x at which the share is reached; the last one when it never is. */
static double quantile(const struct sample *samples, size_t n, double share)
{
    for (size_t i = 0; i < n; i++)
        if (samples[i].share >= share)
            return samples[i].x;
    return samples[n - 1].x;
}

/* Groups with the longest tail get the colors. */
static bool color(struct ta_layout *layout, struct ecdf *ecdf)
{
    double *scores = ta_arena_alloc(layout->arena, (ecdf->groups.n + 1) * sizeof *scores);
    if (!scores)
        return false;
    for (size_t first = 0, end; first < ecdf->n; first = end) {
        end = group_end(ecdf, first);
        scores[ecdf->samples[first].group] = quantile(&ecdf->samples[first], end - first, 0.95);
    }
    ta_data_color_groups(&ecdf->groups, scores);
    return true;
}

/* ---- frame --------------------------------------------------------------------------- */

static double draw_legend(struct ta_layout *layout, const struct ecdf *ecdf)
{
    struct ta_legend_entry entries[TA_GROUPS_SHOWN + 1];
    size_t n = 0;
    for (size_t first = 0, end; first < ecdf->n && n < TA_GROUPS_SHOWN; first = end) {
        end = group_end(ecdf, first);
        size_t group = ecdf->samples[first].group;
        double median = quantile(&ecdf->samples[first], end - first, 0.5);
        if (ta_groups_rest(&ecdf->groups, group))
            continue;
        const char *name = ecdf->groups.names[group];
        entries[n++] =
            (struct ta_legend_entry){ecdf->groups.inks[group], TA_MARK_LINE,
                                     ta_pen_printf(layout, "%s%smedian %s", name, *name ? ", " : "",
                                                   ta_pen_value(layout, median, ecdf->unit))};
    }
    if (ecdf->groups.others) {
        const char *rest = ta_pen_printf(layout, "other (%zu)", ecdf->groups.n - n);
        entries[n++] = (struct ta_legend_entry){ecdf->groups.rest, TA_MARK_LINE, rest};
    }
    return ta_guide_legend(layout, entries, n, 0) + 6;
}

/* A logarithmic axis starts at the smallest positive value: 0 has no place on it. */
static struct ta_axis make_x_axis(struct ta_layout *layout, const struct ecdf *ecdf)
{
    double least = INFINITY, positive = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < ecdf->n; i++) {
        double x = ecdf->samples[i].x;
        least = fmin(least, x);
        most = fmax(most, x);
        positive = x > 0 ? fmin(positive, x) : positive;
    }
    if (layout->chart->log_x && isfinite(positive))
        return ta_axis_log(positive, most, ecdf->unit, ta_whole_size(ecdf->plot.w / LOG_TICK_ROOM));
    return ta_guide_fit(layout, fmin(0, least), most, ecdf->unit, ecdf->plot.w);
}

static void draw_frame(struct ta_layout *layout, struct ecdf *ecdf)
{
    const char *x_title = ta_data_title(layout, ecdf->x_column);
    double top = draw_legend(layout, ecdf) + TITLE_LINE, below = ta_guide_x_height(x_title);
    double free = layout->height > 0 ? layout->height - top - below : layout->width * 0.32;
    ecdf->y_axis = ta_axis_linear(0, 1, TA_UNIT_RATIO, 5, TA_AXIS_ROUND);
    ecdf->plot.x = ta_guide_y_width(layout, &ecdf->y_axis);
    ecdf->plot.y = top;
    ecdf->plot.w = layout->width - ecdf->plot.x - 10;
    double most = layout->height > 0 ? INFINITY : MOST_HEIGHT;
    ecdf->plot.h = round(fmin(fmax(free, LEAST_HEIGHT), most));
    ecdf->x_axis = make_x_axis(layout, ecdf);
    ta_guide_y_axis(layout, &ecdf->y_axis, &ecdf->plot);
    ta_guide_x_axis(layout, &ecdf->x_axis, &ecdf->plot,
                    ta_guide_title(layout, x_title, &ecdf->x_axis));
    ta_guide_y_title(
        layout, ta_guide_title(layout, ta_data_title(layout, ecdf->share_column), &ecdf->y_axis), 0,
        top);
    layout->height = ecdf->plot.y + ecdf->plot.h + below;
}

/* ---- lines --------------------------------------------------------------------------- */

static struct ta_point place(const struct ecdf *ecdf, double x, double share)
{
    return (struct ta_point){ta_plot_x(&ecdf->plot, &ecdf->x_axis, x),
                             ta_plot_y(&ecdf->plot, &ecdf->y_axis, share)};
}

/* The steps moved up or down by the band, from x to x; as many points as 2 n. */
static void move_steps(const struct ecdf *ecdf, const struct sample *samples, size_t n, double sign,
                       struct ta_point *points)
{
    double before = 0;
    for (size_t i = 0; i < n; i++) {
        const double move = sign * samples[i].band;
        points[2 * i] = place(ecdf, samples[i].x, fmin(fmax(before + move, 0), 1));
        before = fmax(before, samples[i].share);
        points[2 * i + 1] = place(ecdf, samples[i].x, fmin(fmax(before + move, 0), 1));
    }
}

/* What the true curve is within, as thin lines of its color: filled bands would hide each other. */
static void draw_band(struct ta_layout *layout, const struct ecdf *ecdf,
                      const struct sample *samples, size_t n)
{
    struct ta_point *points = ta_arena_alloc(layout->arena, 4 * n * sizeof *points);
    if (!points || isnan(samples[0].band))
        return;
    const enum ta_ink ink = ecdf->groups.inks[samples[0].group];
    move_steps(ecdf, samples, n, 1, points);
    move_steps(ecdf, samples, n, -1, points + 2 * n);
    ta_pen_line(layout, ink, points, 2 * n, 0.6, NULL);
    ta_pen_line(layout, ink, points + 2 * n, 2 * n, 0.6, NULL);
}

static void draw_group(struct ta_layout *layout, const struct ecdf *ecdf,
                       const struct sample *samples, size_t n)
{
    struct ta_point *points = ta_arena_alloc(layout->arena, (2 * n + 1) * sizeof *points);
    if (!points)
        return;
    size_t n_points = 0;
    double before = 0; /* shares never fall, whatever the table says */
    for (size_t i = 0; i < n; i++) {
        struct ta_point foot = place(ecdf, samples[i].x, before);
        before = fmax(before, samples[i].share);
        struct ta_point head = place(ecdf, samples[i].x, before);
        bool close = n_points > 0 && i + 1 < n && head.x - points[n_points - 1].x < CLOSEST &&
                     points[n_points - 1].y - head.y < CLOSEST;
        if (close)
            continue; /* smaller than a pixel */
        if (n_points > 0)
            foot.y = points[n_points - 1].y;
        points[n_points++] = foot;
        points[n_points++] = head;
    }
    size_t group = samples[0].group;
    enum ta_ink ink = ecdf->groups.inks[group];
    bool rest = ta_groups_rest(&ecdf->groups, group);
    double median = quantile(samples, n, 0.5);
    const char *tip = ta_pen_printf(layout, "%s%smedian %s · p95 %s", ecdf->groups.names[group],
                                    *ecdf->groups.names[group] ? " · " : "",
                                    ta_pen_value(layout, median, ecdf->unit),
                                    ta_pen_value(layout, quantile(samples, n, 0.95), ecdf->unit));
    ta_pen_line(layout, ink, points, n_points, rest ? 1 : 1.8, tip);
    if (rest)
        return;
    struct ta_point middle = place(ecdf, median, 0.5);
    ta_pen_circle(layout, TA_INK_NONE, middle.x, middle.y, 4.2, NULL);
    ta_pen_circle(layout, ink, middle.x, middle.y, 3.2, tip);
}

static void summarize(struct ta_layout *layout, const struct ecdf *ecdf)
{
    const char *text = "";
    for (size_t first = 0, end, said = 0; first < ecdf->n && said < TA_GROUPS_SHOWN;
         first = end, said++) {
        end = group_end(ecdf, first);
        const char *name = ecdf->groups.names[ecdf->samples[first].group];
        const struct sample *samples = &ecdf->samples[first];
        text = ta_pen_printf(
            layout, "%s%s%s%smedian %s, p95 %s", text, said ? "; " : "", name, *name ? ": " : "",
            ta_pen_value(layout, quantile(samples, end - first, 0.5), ecdf->unit),
            ta_pen_value(layout, quantile(samples, end - first, 0.95), ecdf->unit));
    }
    layout->summary = ta_pen_printf(layout, "%s.", text);
    layout->note = "Dots mark medians.";
}

static void draw(struct ta_layout *layout, struct ecdf *ecdf)
{
    draw_frame(layout, ecdf);
    for (int pass = 0; pass < 2; pass++) { /* those without a color of their own lie below */
        for (size_t first = 0, end; first < ecdf->n; first = end) {
            end = group_end(ecdf, first);
            if (ta_groups_rest(&ecdf->groups, ecdf->samples[first].group) != (pass == 0))
                continue;
            draw_band(layout, ecdf, &ecdf->samples[first], end - first);
            draw_group(layout, ecdf, &ecdf->samples[first], end - first);
        }
    }
    summarize(layout, ecdf);
}

void ta_lay_ecdf(struct ta_layout *layout)
{
    struct ecdf ecdf = {
        .x_column = ta_data_column(layout, layout->chart->x),
        .share_column = ta_data_column(layout, layout->chart->y[0].column),
        .group_column = ta_data_column(layout, layout->chart->group),
        .band_column = ta_data_column(layout, layout->chart->y[1].column),
        .samples = calloc(layout->table->n_rows + 1, sizeof *ecdf.samples),
    };
    ecdf.unit = ta_data_unit(layout, ecdf.x_column);
    if (!ecdf.samples || !ta_data_groups(layout, ecdf.group_column, &ecdf.groups))
        layout->failed = true;
    else {
        for (size_t row = 0; row < layout->table->n_rows; row++) {
            double x = ta_data_value(layout, row, ecdf.x_column);
            double share = ta_data_value(layout, row, ecdf.share_column);
            if (!isnan(x) && !isnan(share))
                ecdf.samples[ecdf.n++] =
                    (struct sample){ecdf.groups.of_row[row], x, share,
                                    ta_data_value(layout, row, ecdf.band_column)};
        }
        if (ecdf.n)
            qsort(ecdf.samples, ecdf.n, sizeof *ecdf.samples, by_group);
    }
    if (ecdf.n && color(layout, &ecdf))
        draw(layout, &ecdf);
    else
        ta_guide_empty(layout);
    free(ecdf.samples);
}
