/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing scenes with Cairo; only outputs that draw include this. */
#ifndef TA_RENDER_CHART_DRAW_H
#define TA_RENDER_CHART_DRAW_H

#include "traceanalyze/base.h"
#include "traceanalyze/chart.h"

#include <pango/pangocairo.h>

/* Draws the scene with its top left corner at the current origin of `cr`. */
void ta_scene_draw(const struct ta_scene *scene, cairo_t *cr, bool dark);

/* Finds the fonts, once per process, before anything of Pango is used: left to itself it waits for
 * ever when memory is short meanwhile.  False without memory. */
bool ta_draw_start(void) TA_MUST_CHECK;

/* Makes a context measure and draw text in points of 1/72 inch, without hinting, so that what was
 * laid out is what is drawn on every kind of surface and at every scale. */
void ta_draw_prepare(PangoContext *context);

/* Makes 0xrrggbb the color of what is drawn. */
void ta_draw_color(cairo_t *cr, uint32_t color);

/* Text from input as it may be drawn: valid UTF-8, control and bidirectional characters as visible
 * escapes.  Of a text longer than `most` bytes (0: any length) only the two ends are kept.  NULL
 * when memory ran out. */
const char *ta_draw_text(struct ta_arena *arena, struct ta_slice text, size_t most);

#endif
