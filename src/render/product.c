/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How products are named after what a report is of. */
#include "render/sink.h"
#include "traceanalyze/output.h"

#include <stdio.h>

const char *ta_report_file_name(const struct ta_report *report, const char *extension,
                                char name[32])
{
    snprintf(name, 32, "%s.%s", ta_report_kind(report) == TA_REPORT_DIFF ? "diff" : "report",
             extension);
    return name;
}

struct ta_file *ta_sink_open_report(struct ta_ctx *ctx, struct ta_sink *sink,
                                    const struct ta_report *report, const char *extension,
                                    const char *signature)
{
    char name[32];
    return ta_sink_open(ctx, sink, ta_report_file_name(report, extension, name), signature);
}
