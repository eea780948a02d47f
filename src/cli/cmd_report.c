/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands that make a report: `report` and `aggregate` of a run, `diff` of the runs of two
 * sides, `scaling` of runs of different world size. */
#include "cli/cli.h"

/* How many operands, from the one numbered `skip` on, are of the baseline: those before --vs, or
 * one of two. */
static enum ta_status split(struct ta_cli *cli, size_t skip, size_t *base)
{
    const struct ta_cmdline *args = &cli->args;
    const size_t n = args->operands.n - skip;
    *base = 1;
    if (n == 1 && !args->vs && args->runs.n == 2)
        return TA_OK; /* two runs of it */
    if (n == 1 && !args->vs)
        return ta_fail(cli->ctx, TA_ERR_USAGE,
                       "Nothing to compare %s with: give another run, or name two of its runs with "
                       "--run",
                       args->operands.items[skip]);
    for (size_t i = 0; args->vs && i < args->n_given; i++)
        if (strcmp(args->given[i].name, "vs") == 0)
            *base = args->given[i].operands < skip ? 0 : args->given[i].operands - skip;
    if (*base == 0 || *base >= n)
        return ta_fail(cli->ctx, TA_ERR_USAGE, "Nothing to compare: no run stands %s --vs",
                       *base ? "behind" : "before");
    if (!args->vs && n > 2)
        return ta_fail(cli->ctx, TA_ERR_USAGE,
                       "Which runs are the baseline? Put --vs between the two sides, or quote a "
                       "glob that stands for one run: %s",
                       args->operands.items[skip + 2]);
    return TA_OK;
}

enum ta_status ta_cli_compare(struct ta_cli *cli, size_t skip)
{
    const struct ta_texts *operands = &cli->args.operands;
    size_t base;
    enum ta_status status = split(cli, skip, &base);
    for (size_t i = 0; status == TA_OK && i < base; i++)
        status = ta_run_baseline(cli->run, operands->items[skip + i]);
    if (status == TA_OK && skip + base == operands->n)
        base = 0; /* both runs are of the same input */
    if (status == TA_OK)
        status = ta_cli_add_inputs(cli, skip + base, operands->n);
    return status == TA_OK ? ta_cli_execute(cli, TA_RUN_DIFF) : status;
}

static enum ta_status produce(struct ta_cli *cli, enum ta_run_task task, const char *folder)
{
    struct ta_products products;
    enum ta_status status = ta_cli_prepare_products(cli, task, folder, &products);
    if (status == TA_OK && task == TA_RUN_DIFF) {
        status = ta_cli_compare(cli, 0);
    } else if (status == TA_OK) {
        status = ta_cli_add_inputs(cli, 0, cli->args.operands.n);
        if (status == TA_OK && cli->args.baseline)
            status = ta_run_baseline(cli->run, cli->args.baseline);
        if (status == TA_OK)
            status = ta_cli_execute(cli, task);
    }
    if (status == TA_OK)
        status = ta_cli_produce(cli, &products);
    free(products.formats);
    return status;
}

enum ta_status ta_cmd_report(struct ta_cli *cli)
{
    return produce(cli, TA_RUN_REPORT, "traceanalyze-report");
}

enum ta_status ta_cmd_diff(struct ta_cli *cli)
{
    return produce(cli, TA_RUN_DIFF, "traceanalyze-diff");
}

enum ta_status ta_cmd_scaling(struct ta_cli *cli)
{
    return produce(cli, TA_RUN_SCALING, "traceanalyze-scaling");
}
