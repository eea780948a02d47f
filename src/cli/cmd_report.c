/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze report`: traces in, reports out. */
#include "cli/cli.h"

#include <stdlib.h>

#include "result/report.h"

/* Packing a timeline takes time, and not every format shows it. */
static bool wants_timeline(const struct ta_cli *cli, const struct ta_products *products)
{
    bool wanted = false;
    for (size_t i = 0; i < products->n; i++)
        wanted |= products->formats[i].chosen &&
                  ta_registry_at(cli->registry, TA_KIND_output, i)->plugin.output->needs_timeline;
    return wanted && cli->args.timeline != TA_TIMELINE_NONE;
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
    status = ta_cli_run(cli, inputs->items, inputs->n, false, &report);
    if (status == TA_OK) {
        status = ta_cli_produce(cli, report, &products);
        ta_report_free(report);
    }
    free(products.formats);
    return status;
}
