/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze diff`: the runs of two sides in, what changed out. */
#include "cli/cli.h"

enum ta_status ta_cmd_diff(struct ta_cli *cli)
{
    struct ta_products products;
    enum ta_status status =
        ta_cli_prepare_products(cli, TA_RUN_DIFF, "traceanalyze-diff", &products);
    if (status == TA_OK)
        status = ta_cli_compare(cli, 0);
    if (status == TA_OK)
        status = ta_cli_produce(cli, &products);
    free(products.formats);
    return status;
}
