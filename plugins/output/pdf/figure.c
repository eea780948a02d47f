/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as vector figures with title and caption; a figure is never split. */
#include "pdf.h"
#include "render/chart/timeline.h"

#include <math.h>

/* Scenes are laid out for a screen; on paper they stand smaller, at this width in their points. */
enum { SCENE_WIDTH = 660 };
/* Highest figure, as a share of the page. */
#define MOST_HEIGHT 0.55
/* What a figure may be made smaller by to stay on its page. */
#define LEAST_SCALE 0.8
/* What heading, caption and summary may take, and the gap over a heading. */
enum { AROUND = 90, ABOVE = 10 };

struct figure {
    const struct ta_scene *scene;
    double scale;
};

static void put_figure(struct pdf *pdf, const void *data)
{
    const struct figure *figure = data;
    double height = figure->scene->height * figure->scale;
    pdf_heading(pdf, 2, figure->scene->title, NULL, height);
    pdf_tag(pdf, "Figure");
    if (pdf->drawing) {
        cairo_save(pdf->cr);
        cairo_translate(pdf->cr, pdf->left, pdf->y + 2);
        cairo_scale(pdf->cr, figure->scale, figure->scale);
        ta_scene_draw(figure->scene, pdf->cr, false);
        cairo_restore(pdf->cr);
    }
    pdf_untag(pdf, "Figure");
    pdf->y += height + 8;
    pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED, figure->scene->caption, 3);
    pdf_paragraph(pdf, PDF_SMALL, TA_INK_TEXT, figure->scene->summary, 10);
}

static struct ta_scene *build(struct pdf *pdf, const struct ta_table *table,
                              const struct ta_chart *chart, double height)
{
    struct ta_scene *scene = ta_scene_build(table, chart, SCENE_WIDTH, height);
    if (!scene)
        pdf->arena.failed = true;
    return scene;
}

/* Most charts can be drawn smaller: tries to fill the rest of the page before leaving it empty. */
static struct ta_scene *build_to_fit(struct pdf *pdf, const struct ta_table *table,
                                     const struct ta_chart *chart, double scale)
{
    double page = pdf->bottom - pdf->top, rest = pdf->bottom - pdf->y - AROUND;
    struct ta_scene *scene = build(pdf, table, chart, 0);
    if (!scene || (scene->height * scale <= page * MOST_HEIGHT && scene->height * scale <= rest))
        return scene;
    double height =
        rest >= page * PDF_LEAST_FIGURE && rest < page * MOST_HEIGHT ? rest : page * MOST_HEIGHT;
    if (scene->height * scale <= height)
        return scene;
    ta_scene_free(scene);
    return build(pdf, table, chart, height / scale);
}

/* As wide as the page, where it is high enough for that; a little smaller to stay on this page. */
static double scale_of(const struct pdf *pdf, const struct ta_scene *scene)
{
    const double width = (pdf->right - pdf->left) / SCENE_WIDTH;
    const double page = (pdf->bottom - pdf->top - AROUND) / scene->height;
    const double rest = (pdf->bottom - pdf->y - AROUND) / scene->height;
    const double scale = fmin(width, page);
    return rest < scale && rest > LEAST_SCALE * scale ? rest : scale;
}

/* Puts a scene on this page or the next, and frees it. */
static void put_scene(struct pdf *pdf, struct ta_scene *scene)
{
    if (!scene)
        return;
    const struct figure figure = {scene, scale_of(pdf, scene)};
    pdf_need(pdf, pdf_trial(pdf, put_figure, &figure) + ABOVE);
    put_figure(pdf, &figure);
    ta_scene_free(scene);
}

double pdf_figure_least(struct pdf *pdf, const struct ta_table *table)
{
    double scale = (pdf->right - pdf->left) / SCENE_WIDTH;
    struct ta_scene *scene = build(pdf, table, table->chart, 0);
    double height = scene ? scene->height * scale : 0;
    ta_scene_free(scene);
    return fmin(height, (pdf->bottom - pdf->top) * PDF_LEAST_FIGURE) + AROUND;
}

double pdf_timeline_least(struct pdf *pdf, const struct ta_timeline *timeline)
{
    struct ta_scene *scene = ta_timeline_scene(timeline, SCENE_WIDTH);
    const double page = pdf->bottom - pdf->top - 2 * AROUND;
    const double height = scene ? scene->height * (pdf->right - pdf->left) / SCENE_WIDTH : 0;
    ta_scene_free(scene);
    return fmin(height, page) + AROUND;
}

void pdf_timeline(struct pdf *pdf, const struct ta_timeline *timeline)
{
    struct ta_scene *scene = ta_timeline_scene(timeline, SCENE_WIDTH);
    pdf->arena.failed |= !scene;
    put_scene(pdf, scene);
}

void pdf_figures(struct pdf *pdf, const struct ta_table *table)
{
    for (const struct ta_chart *chart = table->chart; chart; chart = chart->next)
        put_scene(pdf, build_to_fit(pdf, table, chart, (pdf->right - pdf->left) / SCENE_WIDTH));
}
