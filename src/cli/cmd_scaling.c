/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze scaling`: runs of different world size in, speed-up and its laws out. */
#include "cli/cli.h"

#include <stdlib.h>

#include "result/report.h"
#include "scaling/scaling.h"

struct runs {
    struct ta_report **at;
    size_t n;
};

/* Each operand is a run of its own, so that ranks of different runs never meet. */
static enum ta_status read_runs(struct ta_cli *cli, struct runs *runs)
{
    const struct ta_texts *operands = &cli->args.operands;
    const char *title = cli->args.title;
    enum ta_status status = TA_OK;
    runs->at = calloc(operands->n, sizeof(struct ta_report *));
    if (!runs->at)
        return ta_fail(&cli->ctx, TA_ERR_NOMEM, "Out of memory: runs=%zu", operands->n);
    cli->args.title = NULL;
    for (; status == TA_OK && runs->n < operands->n; runs->n += status == TA_OK) {
        const char *operand = operands->items[runs->n];
        status = ta_cli_run(cli, &operand, 1, false, &runs->at[runs->n]);
        if (status != TA_OK)
            status = ta_cause(&cli->ctx, status, "Cannot read the run %s", operand);
    }
    cli->args.title = title;
    return status;
}

static enum ta_status compare(struct ta_cli *cli, const struct runs *runs,
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
    struct runs runs = {NULL, 0};
    struct ta_products products;
    if (cli->args.strong && cli->args.weak)
        return ta_fail(&cli->ctx, TA_ERR_USAGE, "--strong and --weak exclude each other");
    enum ta_status status = ta_cli_prepare_products(cli, "traceanalyze-scaling", &products);
    if (status != TA_OK)
        return status;
    status = read_runs(cli, &runs);
    if (status == TA_OK)
        status = compare(cli, &runs, &products);
    for (size_t i = 0; i < runs.n; i++)
        ta_report_free(runs.at[i]);
    free(runs.at);
    free(products.formats);
    return status;
}
