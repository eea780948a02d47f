/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was lost of the inputs, as warnings and as an exit code. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdio.h>

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
             finding->text && *finding->text ? finding->text : ta_quality_info(finding->code)->doc,
             times);
    ta_console_say(&cli->console,
                   finding->severity == TA_QUALITY_INFO ? TA_LOG_INFO : TA_LOG_WARNING,
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

void ta_cli_note_losses(struct ta_cli *cli, const struct ta_report *report)
{
    cli->incomplete = cli->args.strict && ta_report_has_losses(report);
}
