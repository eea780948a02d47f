/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report for programs: report.json in a <script>, with the first rows of each table. */
#include "html.h"

enum ta_status html_data(const struct page *page)
{
    ta_puts(page->out, "<script type=\"application/json\" id=\"traceanalyze-report\">");
    const enum ta_status status = ta_put_report_json(
        page->ctx, page->out, page->report, page->options->version, true, page->options->top);
    ta_puts(page->out, "</script>\n");
    return status;
}
