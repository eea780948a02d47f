/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How wide texts are, and making them fit: the only place that measures type for charts. */
#ifndef TA_RENDER_CHART_TEXT_H
#define TA_RENDER_CHART_TEXT_H

#include "traceanalyze/draw.h"

struct ta_text;

/* NULL when out of memory. */
struct ta_text *ta_text_new(void);
void ta_text_free(struct ta_text *text);

/* Advance width in points of one line of UTF-8. */
double ta_text_width(struct ta_text *text, enum ta_face face, const char *line);

/* `line` itself when it fits into `width`, else a copy in `arena` with an ellipsis in its middle:
 * kernel names differ at both ends.  "" when not even the ellipsis fits. */
const char *ta_text_fit(struct ta_text *text, struct ta_arena *arena, enum ta_face face,
                        const char *line, double width);

/* The font of a face; free it with pango_font_description_free(). */
PangoFontDescription *ta_text_font(enum ta_face face);

#endif
