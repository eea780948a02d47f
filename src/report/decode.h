/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading what codec.c writes: report.json, or the report in a page, back into a report. */
#ifndef TA_REPORT_DECODE_H
#define TA_REPORT_DECODE_H

#include "report/report.h"

struct json_t;

/* Makes a report of a document (traceanalyze/document.h) in the shape of version 1 of the schema,
 * which is checked in full: a value that it does not allow refuses the document, and the chain of
 * causes says where it stands.  Members that later versions add are passed over.
 *
 * Written again, such a report gives the same bytes.  What report.json does not hold is missing:
 * words of ours are plain texts, and there is no timeline. */
enum ta_status ta_report_decode(struct ta_ctx *ctx, const struct json_t *document,
                                struct ta_report **report) TA_MUST_CHECK;

#endif
