/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze report`: traces in, reports out. */
#include "cli/cli.h"

enum ta_status ta_cmd_aggregate(struct ta_cli *cli)
{
    return ta_cmd_report(cli);
}

enum ta_status ta_cmd_report(struct ta_cli *cli)
{
    struct ta_products products;
    enum ta_status status =
        ta_cli_prepare_products(cli, TA_RUN_REPORT, "traceanalyze-report", &products);
    if (status == TA_OK)
        status = ta_cli_add_inputs(cli, 0, cli->args.operands.n);
    if (status == TA_OK && cli->args.baseline)
        status = ta_run_baseline(cli->run, cli->args.baseline);
    if (status == TA_OK)
        status = ta_cli_execute(cli, TA_RUN_REPORT);
    if (status == TA_OK)
        status = ta_cli_produce(cli, &products);
    free(products.formats);
    return status;
}
