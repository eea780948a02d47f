/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scene as semantic inline SVG for HTML: text stays text, inks are CSS classes. */
#ifndef TA_RENDER_CHART_SVG_H
#define TA_RENDER_CHART_SVG_H

#include "traceanalyze/base.h"
#include "traceanalyze/chart.h"
#include "traceanalyze/output.h"

/* Writes <svg class="chart" role="img" …> with <title>, <desc> and classes; no style or event
 * attribute (the page's CSP forbids them).  Ids are prefixed by the id of the scene.  Width and
 * height are given in pt, so the page decides how large it is (max-width: 100%).
 *
 * Classes: the color of a mark is `color`, set by "ink-compute", "ink-series-3" … or, for text
 * inside a mark, by "on-compute" …; "fill" paints with it, "line" strokes with it, "face-small"
 * … set the font.  Idle bars are filled by a pattern whose parts are "hatch-ground" and
 * "hatch-line". */
void ta_put_svg(struct ta_file *out, const struct ta_scene *scene);

/* The style rules of these classes for both themes: custom properties "--ink-compute" and
 * "--on-compute" on :root (light), on :root[data-theme="dark"], and where the reader prefers
 * dark and :root is not [data-theme="light"].  A constant text is made in `arena`; NULL when
 * memory ran out. */
const char *ta_chart_css(struct ta_arena *arena);

#endif
