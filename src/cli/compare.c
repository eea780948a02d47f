/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparison that operands ask for, BASE OPT or BASE... --vs OPT... */
#include "cli/cli.h"

#include "compare/diff.h"
#include "report/report.h"

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
        return ta_fail(&cli->ctx, TA_ERR_USAGE, "Nothing to compare: no run stands %s --vs",
                       *base ? "behind" : "before");
    if (!args->vs && n > 2)
        return ta_fail(&cli->ctx, TA_ERR_USAGE,
                       "Which runs are the baseline? Put --vs between the two sides, or quote a "
                       "glob that stands for one run: %s",
                       args->operands.items[skip + 2]);
    return TA_OK;
}

enum ta_status ta_cli_compare(struct ta_cli *cli, size_t skip, struct ta_report **diff)
{
    struct ta_runs runs = {0};
    size_t base;
    enum ta_status status = split(cli, skip, &base);
    if (status == TA_OK)
        status = ta_cli_read_runs(cli, skip, &ta_cli_compared, &runs);
    if (status == TA_OK) {
        const struct ta_report *const *at = (const struct ta_report *const *)runs.at;
        const struct ta_diff_side sides[TA_DIFF_SIDES] = {
            [TA_DIFF_BASE] = {at, base},
            [TA_DIFF_NEW] = {at + base, runs.n - base},
        };
        status =
            ta_diff(&cli->ctx, cli->registry, sides, &cli->gating.judging, cli->args.title, diff);
    }
    ta_cli_free_runs(&runs);
    return status;
}
