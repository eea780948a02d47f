/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze scaling`: runs of different world size in, speed-up and its laws out. */
#include "cli/cli.h"

#include <stdlib.h>

#include "report/report.h"
#include "compare/scaling/scaling.h"

static enum ta_status compare(struct ta_cli *cli, const struct ta_runs *runs,
                              const struct ta_products *products)
{
    const enum ta_scaling_kind kind = cli->args.weak     ? TA_SCALING_WEAK
                                      : cli->args.strong ? TA_SCALING_STRONG
                                                         : TA_SCALING_AUTO;
    struct ta_report *scaling;
    enum ta_status status =
        ta_scaling(&cli->ctx, cli->registry, (const struct ta_report *const *)runs->at, runs->n,
                   kind, cli->args.title, &scaling);
    if (status != TA_OK)
        return status;
    status = ta_cli_produce(cli, scaling, products);
    ta_report_free(scaling);
    return status;
}

enum ta_status ta_cmd_scaling(struct ta_cli *cli)
{
    struct ta_runs runs;
    struct ta_products products;
    if (cli->args.strong && cli->args.weak)
        return ta_fail(&cli->ctx, TA_ERR_USAGE, "--strong and --weak exclude each other");
    enum ta_status status = ta_cli_prepare_products(cli, "traceanalyze-scaling", &products);
    if (status != TA_OK)
        return status;
    status = ta_cli_read_runs(cli, 0, NULL, &runs);
    if (status == TA_OK)
        status = compare(cli, &runs, &products);
    ta_cli_free_runs(&runs);
    free(products.formats);
    return status;
}
