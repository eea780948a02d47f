/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only the library and its outputs ask of a sink. */
#ifndef TA_RENDER_SINK_H
#define TA_RENDER_SINK_H

#include "traceanalyze/output.h"

/* What a TA_SINK_MEMORY holds once its product was closed, to free(); a NUL follows the `n` bytes.
 * NULL when it holds none. */
char *ta_sink_take(struct ta_sink *sink, size_t *n);

/* Whether products go to a folder, where others may lie next to them. */
bool ta_sink_is_folder(const struct ta_sink *sink);

/* The name of that product, "report.css", in at most 32 bytes with its NUL. */
const char *ta_report_file_name(const struct ta_report *report, const char *extension,
                                char name[32]);

#endif
