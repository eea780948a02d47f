/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terminal summary: one screen that can be pasted into a chat, or with -v all there is. */
#include "text.h"

#include <traceanalyze/plugin.h>

#include <stdlib.h>

enum { NARROWEST = 40, WIDEST = 160 };

static size_t clamp_width(uint32_t columns)
{
    if (columns == 0)
        return 80;
    return columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns;
}

static enum ta_status put_all(const struct page *page)
{
    struct text_picks picks;
    if (!text_pick_tables(page->report, &picks))
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Out of memory: doing=pick tables");
    const enum ta_status status =
        (page->options->full_text ? text_full : text_screen)(page, &picks);
    free(picks.at);
    return status;
}

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    struct ta_file *out = ta_sink_open_report(ctx, sink, report, "txt", TEXT_SIGNATURE);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the summary");
    const struct page page = {.ctx = ctx,
                              .out = out,
                              .report = report,
                              .options = options,
                              .width = clamp_width(options->columns)};
    const enum ta_status status = put_all(&page);
    const enum ta_status closed = ta_file_close(ctx, out);
    return status ? ta_cause(ctx, status, "Cannot write the summary") : closed;
}

static const struct ta_output_ops ops = {
    .extension = "txt",
    .write = write,
};

TA_PLUGIN(output, text, &ops, .title = "Terminal summary", .version = "1",
          .summary = "the answer on one screen; report.txt when written to a folder");
