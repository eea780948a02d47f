/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was lost of the inputs, as warnings and as an exit code. */
#include "cli/cli.h"

#include <inttypes.h>

#include "base/log.h"
#include "report/report.h"

static void warn(struct ta_cli *cli, const char *file, const struct ta_quality_finding *finding)
{
    char line[6144], place[64] = "", times[64] = "";
    if (finding->byte_offset != TA_NO_OFFSET)
        snprintf(place, sizeof place, "byte offset %" PRIu64 ": ", finding->byte_offset);
    if (finding->count > 1 && finding->last_offset != TA_NO_OFFSET)
        snprintf(times, sizeof times, " (%" PRIu64 " times, last at %" PRIu64 ")", finding->count,
                 finding->last_offset);
    else if (finding->count > 1)
        snprintf(times, sizeof times, " (%" PRIu64 " times)", finding->count);
    snprintf(line, sizeof line, "%s%s%s%s%s", file ? file : "", file ? ": " : "", place,
             finding->text && *finding->text ? finding->text : ta_quality_doc(finding->code),
             times);
    ta_log_line(&cli->shared, finding->severity == TA_QUALITY_INFO ? TA_LOG_INFO : TA_LOG_WARNING,
                ta_quality_name(finding->code), line);
}

void ta_cli_warn(struct ta_cli *cli, const struct ta_report *report)
{
    struct ta_arena arena = {0};
    const struct ta_notices notices = ta_accounts_notices(ta_report_accounts(report), &arena);
    for (size_t i = 0; i < notices.n; i++)
        warn(cli, notices.at[i].where, &notices.at[i].finding);
    ta_arena_free(&arena);
}

/* Data is incomplete when something was lost, or when ranks of a run are not there. */
static bool has_loss(const struct ta_quality_finding *findings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (findings[i].severity >= TA_QUALITY_LOSS ||
            (findings[i].code == TA_Q_RANK_MISSING && findings[i].severity >= TA_QUALITY_NOTICE))
            return true;
    return false;
}

bool ta_cli_has_losses(const struct ta_report *report)
{
    const struct ta_accounts *accounts = ta_report_accounts(report);
    bool loss = has_loss(accounts->findings, accounts->n_findings);
    for (size_t i = 0; !loss && i < accounts->n_files; i++)
        loss = has_loss(accounts->files[i].findings, accounts->files[i].n_findings);
    return loss;
}

void ta_cli_note_losses(struct ta_cli *cli, const struct ta_report *report)
{
    cli->incomplete = cli->args.strict && ta_cli_has_losses(report);
}
