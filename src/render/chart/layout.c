/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a table and its hint to a scene: the frame that all kinds of chart share. */
#include "render/chart/layout.h"

#include "render/chart/says.h"
#include "render/chart/scene.h"
#include "render/chart/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Narrower than this no chart can be read; the scene is laid out for it and scales down. */
enum { LEAST_WIDTH = 240 };

/* A scene and the memory of its marks, points and texts. */
struct owner {
    struct ta_scene scene; /* first: ta_scene_free() gets a pointer to it */
    struct ta_arena arena;
    struct ta_mark *marks;
};

typedef void ta_lay(struct ta_layout *layout);

static ta_lay *const kinds[TA_CHART_KINDS] = {
    [TA_CHART_STACKED_BARS] = ta_lay_stacked,
    [TA_CHART_PARETO] = ta_lay_pareto,
    [TA_CHART_BARS] = ta_lay_bars,
    [TA_CHART_DOTS] = ta_lay_dots,
    [TA_CHART_ECDF] = ta_lay_ecdf,
    [TA_CHART_LINES] = ta_lay_lines,
    [TA_CHART_SCATTER] = ta_lay_scatter,
    [TA_CHART_HEAT] = ta_lay_heat,
    [TA_CHART_TREE] = ta_lay_tree,
    [TA_CHART_WATERFALL] = ta_lay_waterfall,
    [TA_CHART_FOREST] = ta_lay_forest,
    [TA_CHART_HEATMAP] = ta_lay_heatmap,
    [TA_CHART_LANES] = ta_lay_lanes,
    [TA_CHART_AREAS] = ta_lay_areas,
};

static const char *join(struct ta_layout *layout, const char *caption, const char *note)
{
    if (!caption || !*caption)
        return note ? note : "";
    return note && *note ? ta_pen_printf(layout, "%s %s", caption, note) : caption;
}

static bool has_value(const struct ta_table *table, size_t row, const char *key)
{
    const size_t column = ta_table_column(table, key);
    return column != SIZE_MAX && ta_table_cell(table, row, column)->kind != TA_CELL_NULL;
}

bool ta_chart_draws(const struct ta_table *table, const struct ta_chart *chart, size_t row)
{
    return (!chart->with || has_value(table, row, chart->with)) &&
           (!chart->without || !has_value(table, row, chart->without));
}

/* The rows of a table that a chart is of, which keep their order. */
static void pick_rows(struct ta_layout *layout, struct ta_table *picked)
{
    const struct ta_table *table = layout->table;
    if (!table || (!layout->chart->with && !layout->chart->without))
        return;
    const size_t size = table->n_columns * sizeof *table->cells;
    struct ta_cell *cells = ta_arena_alloc(layout->arena, (table->n_rows + 1) * size);
    *picked = *table;
    picked->cells = cells;
    picked->n_rows = 0;
    for (size_t row = 0; cells && row < table->n_rows; row++)
        if (ta_chart_draws(table, layout->chart, row))
            memcpy(&cells[picked->n_rows++ * table->n_columns], ta_table_cell(table, row, 0), size);
    layout->table = picked;
}

/* Draws a chart of a table, or of a timeline. */
static struct ta_scene *build(struct ta_measure *measure, const struct ta_table *table,
                              const struct ta_timeline *timeline, const struct ta_chart *chart,
                              double width, double height)
{
    struct owner *owner = measure ? calloc(1, sizeof *owner) : NULL;
    if (!owner)
        return NULL;
    struct ta_layout layout = {
        .table = table,
        .chart = chart,
        .arena = &owner->arena,
        .measure = measure,
        .width = fmax(LEAST_WIDTH, width),
        .height = height > 0 ? height : 0,
    };
    struct ta_table picked;
    pick_rows(&layout, &picked);
    if (timeline)
        ta_lay_timeline(&layout, timeline);
    else if (chart->y[0].column)
        kinds[chart->kind](&layout);
    else
        ta_guide_empty(&layout);
    owner->marks = layout.marks.at;
    owner->scene = (struct ta_scene){
        .id = ta_pen_printf(&layout, "%s", chart->id),
        .title = ta_pen_printf(&layout, "%s", chart->title),
        .caption = ta_pen_printf(&layout, "%s", join(&layout, chart->caption, layout.note)),
        .summary = layout.summary ? layout.summary : "",
        .width = layout.width,
        .height = layout.height,
        .marks = layout.marks.at,
        .n_marks = layout.marks.n,
        .is_nested = chart->kind == TA_CHART_TREE,
    };
    if (!layout.failed && !owner->arena.failed)
        return &owner->scene;
    ta_scene_free(&owner->scene);
    return NULL;
}

struct ta_scene *ta_scene_build(const struct ta_table *table, const struct ta_chart *chart,
                                double width, double height)
{
    struct ta_measure *measure = ta_measure_new();
    struct ta_scene *scene = build(measure, table, NULL, chart, width, height);
    ta_measure_free(measure);
    return scene;
}

struct ta_scene *ta_page_scene(const struct ta_table *table, const struct ta_chart *chart,
                               double width)
{
    return ta_page_scene_within(table, chart, width, 0);
}

struct ta_scene *ta_page_scene_within(const struct ta_table *table, const struct ta_chart *chart,
                                      double width, double height)
{
    struct ta_measure measure = ta_measure_of_page();
    return build(&measure, table, NULL, chart, width, height);
}

static const struct ta_chart timeline_chart = {.id = TA_TIMELINE_SCENE_ID,
                                               .title = TA_TIMELINE_SCENE_TITLE};

struct ta_scene *ta_timeline_scene(const struct ta_timeline *timeline, double width)
{
    struct ta_measure *measure = ta_measure_new();
    struct ta_scene *scene = build(measure, NULL, timeline, &timeline_chart, width, 0);
    ta_measure_free(measure);
    return scene;
}

struct ta_scene *ta_timeline_page_scene(const struct ta_timeline *timeline, double width)
{
    struct ta_measure measure = ta_measure_of_page();
    return build(&measure, NULL, timeline, &timeline_chart, width, 0);
}

void ta_scene_free(struct ta_scene *scene)
{
    if (!scene)
        return;
    struct owner *owner = (struct owner *)scene;
    free(owner->marks);
    ta_arena_free(&owner->arena);
    free(owner);
}
