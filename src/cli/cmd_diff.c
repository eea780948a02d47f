/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze diff`: the runs of two sides in, what changed out. */
#include "cli/cli.h"

#include <stdlib.h>

#include "diff/diff.h"
#include "result/report.h"

/* The reports of all runs, those of the baseline first. */
struct runs {
    struct ta_report **at;
    size_t n, base; /* base: how many are of the baseline */
};

/* How many operands are of the baseline: those before --vs, or one of two. */
static enum ta_status split(struct ta_cli *cli, size_t *base)
{
    const struct ta_args *args = &cli->args;
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

/* The title is that of the comparison; each run has that of its input. */
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
        status = ta_cli_read_run(cli, operand, &runs->at[runs->n]);
        if (status != TA_OK)
            status = ta_cause(&cli->ctx, status, "Cannot compare with %s", operand);
    }
    cli->args.title = title;
    return status;
}

static void free_runs(struct runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        ta_report_free(runs->at[i]);
    free(runs->at);
}

static enum ta_status compare(struct ta_cli *cli, const struct runs *runs,
                              const struct ta_products *products)
{
    const struct ta_report *const *at = (const struct ta_report *const *)runs->at;
    const struct ta_diff_side sides[TA_DIFF_SIDES] = {
        [TA_DIFF_BASE] = {at, runs->base},
        [TA_DIFF_NEW] = {at + runs->base, runs->n - runs->base},
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
    struct runs runs = {0};
    struct ta_products products;
    enum ta_status status = split(cli, &runs.base);
    if (status == TA_OK)
        status = ta_cli_prepare_products(cli, "traceanalyze-diff", &products);
    if (status != TA_OK)
        return status;
    status = read_runs(cli, &runs);
    if (status == TA_OK)
        status = compare(cli, &runs, &products);
    free_runs(&runs);
    free(products.formats);
    return status;
}
