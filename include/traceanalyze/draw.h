/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing scenes with Cairo; only outputs that draw include this. */
#ifndef TRACEANALYZE_DRAW_H
#define TRACEANALYZE_DRAW_H

#include "chart.h"

#include <cairo.h>

TA_BEGIN_DECLS

/* Draws the scene with its top left corner at the current origin of `cr`. */
TA_API void ta_scene_draw(const struct ta_scene *scene, cairo_t *cr, bool dark);

TA_END_DECLS

#endif
