/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze diff`: the runs of two sides in, what changed out. */
#include "cli/cli.h"

#include <stdlib.h>

#include "diff/diff.h"
#include "result/report.h"

/* How many operands are of the baseline: those before --vs, or one of two. */
static enum ta_status split(struct ta_cli *cli, size_t *base)
{
    const struct ta_cmdline *args = &cli->args;
    *base = 1;
    for (size_t i = 0; args->vs && i < args->n_given; i++)
        if (strcmp(args->given[i].name, "vs") == 0)
            *base = args->given[i].operands;
    if (*base == 0 || *base == args->operands.n)
        return ta_fail(&cli->ctx, TA_ERR_USAGE, "Nothing to compare: no run stands %s --vs",
                       *base ? "behind" : "before");
    if (!args->vs && args->operands.n > 2)
        return ta_fail(&cli->ctx, TA_ERR_USAGE,
                       "Which runs are the baseline? Put --vs between the two sides, or quote a "
                       "glob that stands for one run: %s",
                       args->operands.items[2]);
    return TA_OK;
}

/* `base` is how many runs, the first, are of the baseline. */
static enum ta_status compare(struct ta_cli *cli, const struct ta_runs *runs, size_t base,
                              const struct ta_products *products)
{
    const struct ta_report *const *at = (const struct ta_report *const *)runs->at;
    const struct ta_diff_side sides[TA_DIFF_SIDES] = {
        [TA_DIFF_BASE] = {at, base},
        [TA_DIFF_NEW] = {at + base, runs->n - base},
    };
    struct ta_report *diff;
    enum ta_status status = ta_diff(&cli->ctx, sides, &cli->gating.judging, cli->args.title, &diff);
    if (status != TA_OK)
        return status;
    status = ta_cli_produce(cli, diff, products);
    ta_report_free(diff);
    return status;
}

enum ta_status ta_cmd_diff(struct ta_cli *cli)
{
    struct ta_runs runs;
    struct ta_products products;
    size_t base;
    enum ta_status status = split(cli, &base);
    if (status == TA_OK)
        status = ta_cli_prepare_products(cli, "traceanalyze-diff", &products);
    if (status != TA_OK)
        return status;
    status = ta_cli_read_runs(cli, &ta_cli_compared, &runs);
    if (status == TA_OK)
        status = compare(cli, &runs, base, &products);
    ta_cli_free_runs(&runs);
    free(products.formats);
    return status;
}
