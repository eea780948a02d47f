/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparison that operands ask for, BASE OPT or BASE... --vs OPT... */
#include "cli/cli.h"

/* How many operands, from the one numbered `skip` on, are of the baseline: those before --vs, or
 * one of two. */
static enum ta_status split(struct ta_cli *cli, size_t skip, size_t *base)
{
    const struct ta_cmdline *args = &cli->args;
    const size_t n = args->operands.n - skip;
    *base = 1;
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
    if (status == TA_OK)
        status = ta_cli_add_inputs(cli, skip + base, operands->n);
    return status == TA_OK ? ta_cli_execute(cli, TA_RUN_DIFF) : status;
}
