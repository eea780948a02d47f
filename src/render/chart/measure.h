/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How wide texts are, and making them fit: the only place that measures type for charts, with the
 * fonts of this machine where it draws them itself (width.c) and without any where a browser will
 * (advance.c). */
#ifndef TA_CHART_MEASURE_H
#define TA_CHART_MEASURE_H

#include "render/chart/draw.h"

struct ta_measure {
    double (*width)(struct ta_measure *measure, enum ta_face face, const char *line);
};

/* What the calling thread measures its own drawings with; NULL when out of memory. */
struct ta_measure *ta_measure_new(void);
void ta_measure_free(struct ta_measure *measure);

/* What pages are measured with. */
struct ta_measure ta_measure_of_page(void);

/* Advance width in points of one line of UTF-8. */
double ta_measure_width(struct ta_measure *measure, enum ta_face face, const char *line);

/* `line` itself when it fits into `width`, else a copy in `arena` with an ellipsis in its middle:
 * kernel names differ at both ends.  "" when not even the ellipsis fits. */
const char *ta_measure_fit(struct ta_measure *measure, struct ta_arena *arena, enum ta_face face,
                           const char *line, double width);

/* The font of a face; free it with pango_font_description_free(). */
PangoFontDescription *ta_face_font(enum ta_face face);

#endif
