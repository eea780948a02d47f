/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze report`: traces in, reports out. */
#include "cli/cli.h"

#include <stdlib.h>

#include "compare/diff.h"
#include "report/report.h"

/* Packing a timeline takes time, and not every format shows it. */
static bool wants_timeline(const struct ta_cli *cli, const struct ta_products *products)
{
    bool wanted = false;
    for (size_t i = 0; i < products->n; i++)
        wanted |= products->formats[i].chosen &&
                  ta_registry_at(cli->registry, TA_KIND_output, i)->plugin.output->needs_timeline;
    return wanted && cli->args.timeline != TA_TIMELINE_NONE;
}

/* Adds what changed against the run of --baseline. */
static enum ta_status compare(struct ta_cli *cli, struct ta_report *report)
{
    struct ta_report *baseline;
    if (!cli->args.baseline)
        return TA_OK;
    const char *title = cli->args.title;
    cli->args.title = NULL;
    cli->wants_timeline = false;
    enum ta_status status = ta_cli_read_run(cli, cli->args.baseline, &ta_cli_compared, &baseline);
    cli->args.title = title;
    if (status != TA_OK)
        return ta_cause(&cli->ctx, status, "Cannot compare with %s", cli->args.baseline);
    const struct ta_report *const before = baseline, *const after = report;
    const struct ta_diff_side sides[TA_DIFF_SIDES] = {
        [TA_DIFF_BASE] = {&before, 1}, [TA_DIFF_NEW] = {&after, 1}};
    status = ta_diff_add(&cli->ctx, cli->registry, sides, &cli->gating.judging, report);
    ta_report_free(baseline);
    return status;
}

enum ta_status ta_cmd_aggregate(struct ta_cli *cli)
{
    return ta_cmd_report(cli);
}

enum ta_status ta_cmd_report(struct ta_cli *cli)
{
    struct ta_products products;
    struct ta_report *report;
    const struct ta_texts *inputs = &cli->args.operands;
    enum ta_status status = ta_cli_prepare_products(cli, "traceanalyze-report", &products);
    if (status != TA_OK)
        return status;
    cli->wants_timeline = wants_timeline(cli, &products);
    cli->takes_reports = true;
    status = ta_cli_run(cli, inputs->items, inputs->n, NULL, &report);
    if (status == TA_OK) {
        status = compare(cli, report);
        if (status == TA_OK)
            status = ta_cli_produce(cli, report, &products);
        ta_report_free(report);
    }
    free(products.formats);
    return status;
}
