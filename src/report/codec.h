/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as JSON. */
#ifndef TA_REPORT_CODEC_H
#define TA_REPORT_CODEC_H

#include "traceanalyze/output.h"

/* The whole report in the shape of schemas/report-1.schema.json.  With `max_rows` longer tables
 * are cut, and "rows_total" says how long they are. */
enum ta_status ta_put_report_json(struct ta_ctx *ctx, struct ta_file *out,
                                  const struct ta_report *report, const char *version,
                                  bool in_script, size_t max_rows) TA_MUST_CHECK;

/* How every such text begins, after its first brace: the member that names its schema. */
const char *ta_report_schema(const struct ta_report *report);

#endif
