/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of a comparison: inputs to read, or a report that was written before. */
#include "cli/cli.h"

#include <stdlib.h>

#include "diff/diff.h"
#include "result/report.h"

const struct ta_wanted ta_cli_compared = {.ids = ta_diff_analyses, .loaded = true};

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
    const char *title = cli->args.title;
    enum ta_status status = TA_OK;
    *runs = (struct ta_runs){calloc(operands->n, sizeof(struct ta_report *)), 0};
    if (!runs->at)
        return ta_fail(&cli->ctx, TA_ERR_NOMEM, "Out of memory: runs=%zu", operands->n);
    cli->args.title = NULL;
    for (; status == TA_OK && skip + runs->n < operands->n; runs->n += status == TA_OK) {
        const char *operand = operands->items[skip + runs->n];
        status = ta_cli_read_run(cli, operand, wanted, &runs->at[runs->n]);
        if (status != TA_OK)
            status = ta_cause(&cli->ctx, status, "Cannot compare with %s", operand);
    }
    cli->args.title = title;
    return status;
}

void ta_cli_free_runs(struct ta_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        ta_report_free(runs->at[i]);
    free(runs->at);
}
