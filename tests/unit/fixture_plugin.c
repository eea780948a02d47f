/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loadable output plugin for test_registry.c. */
#include <traceanalyze/output.h>
#include <traceanalyze/plugin.h>

static enum ta_status write_nothing(struct ta_ctx *ctx, const struct ta_report *report,
                                    const struct ta_render_options *options, struct ta_sink *sink)
{
    (void)ctx, (void)report, (void)options, (void)sink;
    return TA_OK;
}

static const struct ta_output_ops ops = {.extension = "fixture", .write = write_nothing};

TA_PLUGIN(output, fixture, &ops, .title = "Fixture", .version = "1");
