/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.json: everything a report says, for programs. */
#include "report/codec.h"

#include <traceanalyze/output.h>
#include <traceanalyze/plugin.h>

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    struct ta_file *out = ta_sink_open_report(ctx, sink, report, "json", ta_report_schema(report));
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the JSON report");
    const enum ta_status status = ta_put_report_json(ctx, out, report, options->version, false, 0);
    ta_putc(out, '\n');
    const enum ta_status closed = ta_file_close(ctx, out);
    return status ? status : closed;
}

static const struct ta_output_ops ops = {
    .extension = "json",
    .by_default = true,
    .write = write,
};

TA_PLUGIN(output, json, &ops, .title = "JSON", .version = "1",
          .summary = "report.json: everything the report says, for programs");
