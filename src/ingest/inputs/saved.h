/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports that were written before: report.json, compressed or not, and report.html. */
#ifndef TA_SAVED_H
#define TA_SAVED_H

#include "traceanalyze/report.h"

struct ta_ctx;
struct ta_registry;

/* Whether a file is such a report, by its first bytes. */
bool ta_saved_is_head(struct ta_slice head);

/* Reads one. Unlike a trace it is not mended: what is cut, broken or of another schema is refused
 * with TA_ERR_INPUT and the place. Of report.html the tables hold what the page holds, see
 * n_left_out of struct ta_table. Its tables have the declarations of the registry, and its input
 * date is the file's. The caller owns *report. */
enum ta_status ta_saved_read(struct ta_ctx *ctx, const struct ta_registry *registry,
                             const char *path, struct ta_report **report) TA_MUST_CHECK;

#endif
