/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as files of their own: PNG, SVG, PDF. */
#ifndef TA_CHART_FILES_H
#define TA_CHART_FILES_H

#include "traceanalyze/chart.h"
#include "traceanalyze/output.h"

/* Writes the scene with its title and caption as the product `name` ("charts/step-time.png").
 * `format` is "png", "svg" or "pdf"; `scale` multiplies the size in pixels of a PNG.  The same
 * scene gives the same bytes. */
enum ta_status ta_chart_write(struct ta_ctx *ctx, struct ta_sink *sink,
                              const struct ta_scene *scene, const char *format, double scale,
                              bool dark, const char *name) TA_MUST_CHECK;

/* What margins, title and caption add to the size of a chart's scene, when the whole picture is
 * `width` points wide: a picture of W × H holds a scene of (W - width) × (H - height). */
struct ta_chart_frame {
    double width, height;
};
struct ta_chart_frame ta_chart_frame(const char *title, const char *caption, double width);

#endif
