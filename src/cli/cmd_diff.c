/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze diff`: the runs of two sides in, what changed out. */
#include "cli/cli.h"

#include <stdlib.h>

#include "report/report.h"

enum ta_status ta_cmd_diff(struct ta_cli *cli)
{
    struct ta_products products;
    struct ta_report *diff;
    enum ta_status status = ta_cli_prepare_products(cli, "traceanalyze-diff", &products);
    if (status != TA_OK)
        return status;
    status = ta_cli_compare(cli, 0, &diff);
    if (status == TA_OK) {
        status = ta_cli_produce(cli, diff, &products);
        ta_report_free(diff);
    }
    free(products.formats);
    return status;
}
