/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading what codec.c writes: report.json, or the report in a page, back into a report. */
#ifndef TA_REPORT_DECODE_H
#define TA_REPORT_DECODE_H

#include "report/report.h"

struct json_t;

/* What is declared: what a report does not hold follows from that. */
struct ta_declarations {
    const struct ta_table_def *(*table)(const void *all, const char *id); /* NULL: nothing has it */
    bool (*is_dump)(const void *all, const char *format); /* whether an input reads dumps */
    const void *all;
};

/* Makes a report of a document (traceanalyze/document.h) in the shape of version 1 of the schema,
 * which is checked in full: a value that it does not allow refuses the document, and the chain of
 * causes says where it is. Members that later versions add are passed over.
 *
 * Written again, such a report gives the same bytes. What report.json does not hold of a table and
 * its columns, such as roles and which texts are words of ours, comes from the declaration with the
 * same id and keys. There is no timeline. */
enum ta_status ta_report_decode(struct ta_ctx *ctx, const struct json_t *document,
                                const struct ta_declarations *declared,
                                struct ta_report **report) TA_MUST_CHECK;

#endif
