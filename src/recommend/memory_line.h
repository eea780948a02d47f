/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TA_MEMORY_LINE_H
#define TA_MEMORY_LINE_H

#include <traceanalyze/result.h>

/* Writes the sentences on the peak of memory, cut to `size`; none where nothing is known of it. */
void ta_memory_line(const struct ta_report *report, char *line, size_t size);

#endif
