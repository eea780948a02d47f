/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze diff`: the runs of two sides in, what changed out. */
#include "cli/cli.h"

#include <stdlib.h>

#include "base/log.h"
#include "diff/diff.h"
#include "result/report.h"
#include "saved.h"

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

/* Whether a page of a report holds less than the report did. */
static bool is_cut(const struct ta_report *report)
{
    for (const struct ta_table *table = ta_report_table_after(report, NULL); table;
         table = ta_report_table_after(report, table))
        if (table->n_left_out)
            return true;
    return false;
}

/* An operand is a run to read, or a report that was written before. */
static enum ta_status read_run(struct ta_cli *cli, const char *operand, struct ta_report **report)
{
    if (!ta_saved_is(&cli->ctx, operand))
        return ta_cli_run(cli, &operand, 1, false, report);
    const enum ta_status status = ta_saved_read(&cli->ctx, operand, report);
    if (status == TA_OK && is_cut(*report))
        ta_log(&cli->ctx, TA_LOG_WARNING,
               "%s has only the first rows of long tables; report.json has all", operand);
    return status;
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
        status = read_run(cli, operand, &runs->at[runs->n]);
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
