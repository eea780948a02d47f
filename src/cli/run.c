/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of a comparison: inputs to read, or a report that was written before. */
#include "cli/cli.h"

#include <stdlib.h>

#include "compare/diff.h"
#include "report/report.h"

const struct ta_wanted ta_cli_compared = {
    .parts = ta_diff_parts, .loaded = true, .compared = true};

enum ta_status ta_cli_read_run(struct ta_cli *cli, const char *operand,
                               const struct ta_wanted *wanted, struct ta_report **report)
{
    cli->takes_reports = true;
    return ta_cli_run(cli, &operand, 1, wanted, report);
}

enum ta_status ta_cli_read_runs(struct ta_cli *cli, size_t skip, const struct ta_wanted *wanted,
                                struct ta_runs *runs)
{
    const struct ta_texts *operands = &cli->args.operands;
    const size_t n = operands->n - skip;
    const char *title = cli->args.title;
    *runs = (struct ta_runs){calloc(n + 1, sizeof(struct ta_report *)), n};
    if (!runs->at) {
        runs->n = 0;
        return ta_fail(&cli->ctx, TA_ERR_NOMEM, "Out of memory: runs=%zu", n);
    }
    cli->args.title = NULL;
    cli->takes_reports = true;
    const enum ta_status status = ta_cli_run_each(cli, operands->items + skip, n, wanted, runs->at);
    cli->args.title = title;
    return status;
}

void ta_cli_free_runs(struct ta_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        ta_report_free(runs->at[i]);
    free(runs->at);
}
