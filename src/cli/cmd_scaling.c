/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze scaling`: runs of different world size in, speed-up and its laws out. */
#include "cli/cli.h"

enum ta_status ta_cmd_scaling(struct ta_cli *cli)
{
    struct ta_products products;
    enum ta_status status =
        ta_cli_prepare_products(cli, TA_RUN_SCALING, "traceanalyze-scaling", &products);
    if (status == TA_OK)
        status = ta_cli_add_inputs(cli, 0, cli->args.operands.n);
    if (status == TA_OK)
        status = ta_cli_execute(cli, TA_RUN_SCALING);
    if (status == TA_OK)
        status = ta_cli_produce(cli, &products);
    free(products.formats);
    return status;
}
