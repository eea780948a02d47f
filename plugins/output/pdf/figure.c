/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as vector figures with title and caption; a figure is never split. */
#include "pdf.h"
#include "render/chart/says.h"
#include "render/chart/timeline.h"
#include "report/tables.h"

#include <math.h>
#include <string.h>

/* Scenes are laid out for a screen; on paper they stand smaller, at this width in their points. */
enum { SCENE_WIDTH = 660 };
/* Highest figure, as a share of the page. */
#define MOST_HEIGHT 0.55
/* What a figure may be made smaller by to stay on its page. */
#define LEAST_SCALE 0.8
/* What heading, caption and summary may take, and the gap over a heading. */
enum { AROUND = 90, ABOVE = 10 };

/* Small figures: how much smaller they stand than they are laid out, and for which height. */
#define SMALL_SCALE 0.7
enum { SMALL_HEIGHT = 190, TIGHT_HEIGHT = 130, PICTURE_HEIGHT = 260 };

struct figure {
    const struct ta_scene *scene;
    double scale;
};

/* Both passes, and trials before them, want the same scenes: laying one out takes most of its time.
 */
struct built {
    struct built *next;
    const struct ta_chart *chart;
    double width, height;
    struct ta_scene *scene;
};

/* NULL without memory. */
static const struct ta_scene *build(struct pdf *pdf, const struct ta_table *table,
                                    const struct ta_chart *chart, double width, double height)
{
    for (const struct built *built = pdf->built; built; built = built->next)
        if (built->chart == chart && fabs(built->width - width) < 0.5 &&
            fabs(built->height - height) < 0.5)
            return built->scene;
    struct built *built = ta_arena_alloc(&pdf->arena, sizeof *built);
    struct ta_scene *scene = built ? ta_scene_build(table, chart, width, height) : NULL;
    if (!scene) {
        pdf->arena.failed = true;
        return NULL;
    }
    *built = (struct built){pdf->built, chart, width, height, scene};
    pdf->built = built;
    return scene;
}

void pdf_figures_free(struct pdf *pdf)
{
    for (; pdf->built; pdf->built = pdf->built->next)
        ta_scene_free(pdf->built->scene);
}

/* ---- which charts stand on paper ----------------------------------------------------------- */

struct drawn {
    struct drawn *next;
    const struct ta_table *table;
};

bool pdf_is_drawn(const struct pdf *pdf, const struct ta_table *table)
{
    for (const struct drawn *drawn = pdf->drawn; drawn; drawn = drawn->next)
        if (drawn->table == table)
            return true;
    return false;
}

void pdf_mark_drawn(struct pdf *pdf, const struct ta_table *table)
{
    struct drawn *drawn = ta_arena_alloc(&pdf->arena, sizeof *drawn);
    if (!drawn)
        return;
    *drawn = (struct drawn){pdf->drawn, table};
    pdf->drawn = drawn;
}

/* ---- small figures -------------------------------------------------------------------------- */

static void draw_scene(struct pdf *pdf, const struct ta_scene *scene, double scale)
{
    pdf_tag(pdf, "Figure");
    if (pdf->drawing) {
        cairo_save(pdf->cr);
        cairo_translate(pdf->cr, pdf->left, pdf->y + 2);
        cairo_scale(pdf->cr, scale, scale);
        ta_scene_draw(scene, pdf->cr, false);
        cairo_restore(pdf->cr);
    }
    pdf_untag(pdf, "Figure");
    pdf->y += scene->height * scale;
}

void pdf_small_figure(struct pdf *pdf, const void *data)
{
    const struct pdf_small *small = data;
    const double width = (pdf->right - pdf->left) / SMALL_SCALE;
    const struct ta_scene *scene =
        build(pdf, small->table, small->chart, width, pdf->tight ? TIGHT_HEIGHT : SMALL_HEIGHT);
    char place[PDF_PLACE_MAX];
    if (!scene)
        return;
    if (pdf_table_place(pdf, small->table->id, place))
        pdf_place(pdf, place);
    pdf->y += 3 + pdf_text(pdf, "P", PDF_LABEL, TA_INK_TEXT, scene->title, pdf->left, pdf->y,
                           pdf->right - pdf->left);
    draw_scene(pdf, scene, SMALL_SCALE);
    pdf->y += 6;
    pdf_paragraph(pdf, PDF_NOTE, TA_INK_MUTED, scene->summary, 4);
}

void pdf_picture(struct pdf *pdf)
{
    const struct ta_table *table;
    const struct ta_chart *chart = ta_report_picture(pdf->report, &table);
    if (!chart)
        return;
    const struct ta_scene *scene = build(pdf, table, chart, SCENE_WIDTH, PICTURE_HEIGHT);
    if (!scene)
        return;
    pdf->y += 3 + pdf_text(pdf, "P", PDF_LABEL, TA_INK_TEXT, scene->title, pdf->left, pdf->y,
                           pdf->right - pdf->left);
    draw_scene(pdf, scene, (pdf->right - pdf->left) / scene->width);
    pdf->y += 12; /* its legend says what its summary would */
    pdf_mark_drawn(pdf, table);
}

/* ---- figures as wide as the page ------------------------------------------------------------- */

static void put_figure(struct pdf *pdf, const void *data)
{
    const struct figure *figure = data;
    double height = figure->scene->height * figure->scale;
    pdf_heading(pdf, 2, figure->scene->title, NULL, height);
    draw_scene(pdf, figure->scene, figure->scale);
    pdf->y += 8;
    pdf_paragraph(pdf, PDF_SMALL, TA_INK_MUTED, figure->scene->caption, 3);
    pdf_paragraph(pdf, PDF_SMALL, TA_INK_TEXT, figure->scene->summary, 10);
}

/* Most charts can be drawn smaller: tries to fill the rest of the page before leaving it empty. */
static const struct ta_scene *build_to_fit(struct pdf *pdf, const struct ta_table *table,
                                           const struct ta_chart *chart, double scale)
{
    double page = pdf->bottom - pdf->top, rest = pdf->bottom - pdf->y - AROUND;
    const struct ta_scene *scene = build(pdf, table, chart, SCENE_WIDTH, 0);
    if (!scene || (scene->height * scale <= page * MOST_HEIGHT && scene->height * scale <= rest))
        return scene;
    double height =
        rest >= page * PDF_LEAST_FIGURE && rest < page * MOST_HEIGHT ? rest : page * MOST_HEIGHT;
    if (scene->height * scale <= height)
        return scene;
    return build(pdf, table, chart, SCENE_WIDTH, height / scale);
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

/* Puts a scene on this page or the next. */
static void put_scene(struct pdf *pdf, const struct ta_scene *scene)
{
    if (!scene)
        return;
    const struct figure figure = {scene, scale_of(pdf, scene)};
    pdf_need(pdf, pdf_trial(pdf, put_figure, &figure) + ABOVE);
    put_figure(pdf, &figure);
}

double pdf_figure_least(struct pdf *pdf, const struct ta_table *table)
{
    double scale = (pdf->right - pdf->left) / SCENE_WIDTH;
    const struct ta_scene *scene = build(pdf, table, ta_chart_after(table, NULL), SCENE_WIDTH, 0);
    double height = scene ? scene->height * scale : 0;
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
    ta_scene_free(scene);
}

void pdf_figures(struct pdf *pdf, const struct ta_table *table)
{
    const struct ta_table *of_picture;
    const struct ta_chart *picture = ta_report_picture(pdf->report, &of_picture);
    for (const struct ta_chart *chart = NULL; (chart = ta_chart_after(table, chart)) != NULL;)
        if (chart != picture)
            put_scene(pdf, build_to_fit(pdf, table, chart, (pdf->right - pdf->left) / SCENE_WIDTH));
}
