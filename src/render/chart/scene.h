/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenes for a page, and what those who draw one need to know of faces and inks. */
#ifndef TA_RENDER_CHART_SCENE_H
#define TA_RENDER_CHART_SCENE_H

#include "traceanalyze/chart.h"

/* The same for a page, whose reader has other fonts than this machine: loads none, and leaves room
 * for the widest that browsers use (src/render/chart/advance.c). */
struct ta_scene *ta_page_scene(const struct ta_table *table, const struct ta_chart *chart,
                               double width);
/* What does not fit a height is drawn as one rest, where the kind of chart can. */
struct ta_scene *ta_page_scene_within(const struct ta_table *table, const struct ta_chart *chart,
                                      double width, double height);

/* Face metrics shared by layout and sinks. */
double ta_face_size(enum ta_face face);

/* How marks of an ink are filled: idle time is hatched, whatever its tint. */
enum ta_hatch { TA_HATCH_NONE, TA_HATCH_RISING, TA_HATCH_FALLING };
enum ta_hatch ta_ink_hatch(enum ta_ink ink);

/* Color of text inside a mark of this ink. */
uint32_t ta_ink_color_on(enum ta_ink ink, bool dark);

#endif
