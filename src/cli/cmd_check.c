/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `traceanalyze check`: what was read, and what is wrong with it. */
#include "cli/cli.h"

#include <inttypes.h>

#include "traceanalyze/output.h"

static void put_finding(struct ta_file *out, const struct ta_quality_finding *finding)
{
    ta_putf(out, "  %s %s", ta_quality_severity_name(finding->severity),
            ta_quality_name(finding->code));
    if (finding->count > 1)
        ta_putf(out, ", %" PRIu64 " times", finding->count);
    if (finding->byte_offset != TA_NO_OFFSET)
        ta_putf(out, ", byte offset %" PRIu64, finding->byte_offset);
    if (finding->count > 1 && finding->last_offset != TA_NO_OFFSET)
        ta_putf(out, " to %" PRIu64, finding->last_offset);
    if (finding->file_offset != TA_NO_OFFSET)
        ta_putf(out, " (%" PRIu64 " in the compressed file)", finding->file_offset);
    ta_puts(out, ": ");
    ta_put_terminal(out, ta_slice_of(ta_quality_info(finding->code)->doc), 0, 0);
    if (finding->text && *finding->text) {
        ta_puts(out, " ");
        ta_put_terminal(out, ta_slice_of(finding->text), 0, 0);
    }
    ta_puts(out, "\n");
}

static void put_file(struct ta_file *out, const struct ta_file_account *file)
{
    char bytes[TA_UNIT_TEXT_MAX];
    ta_put_terminal(out, ta_slice_of(file->path), 0, 0);
    ta_putf(out, ": %s, ", ta_file_state_name(file->state));
    if (*file->format) {
        ta_put_terminal(out, ta_slice_of(file->format), 0, 0);
        ta_puts(out, ", ");
    }
    if (file->rank == TA_MISSING)
        ta_puts(out, file->rank_source == TA_RANK_NONE ? "no rank" : "ranks by row");
    else
        ta_putf(out, "rank %" PRId64 " (from %s)", file->rank,
                ta_rank_source_name(file->rank_source));
    ta_putf(out, ", %s, %" PRIu64 " %s kept, %" PRIu64 " dropped\n",
            ta_unit_format(bytes, (double)file->bytes, TA_UNIT_BYTES), file->events_kept,
            file->is_dump ? "records" : "events", file->events_dropped);
    for (size_t i = 0; i < file->n_findings; i++)
        put_finding(out, &file->findings[i]);
}

static void put_accounts(struct ta_file *out, const struct ta_accounts *accounts)
{
    const struct ta_account_totals *totals = &accounts->totals;
    for (size_t i = 0; i < accounts->n_files; i++)
        put_file(out, &accounts->files[i]);
    if (accounts->n_findings)
        ta_puts(out, "all files:\n");
    for (size_t i = 0; i < accounts->n_findings; i++)
        put_finding(out, &accounts->findings[i]);
    ta_putf(out,
            "%s: %" PRIu64 " of %" PRIu64 " files used, %" PRIu64 " of %" PRIu64
            " %s kept (%" PRIu64 " repaired, %" PRIu64 " dropped)\n",
            ta_quality_status_name(accounts->status), totals->files_used, totals->files_seen,
            totals->events_kept, totals->events_seen,
            ta_accounts_noun(accounts, totals->events_seen == 1), totals->events_repaired,
            totals->events_dropped);
}

/* The accounts as the report has them: the JSON output of a report without analyses. */
static enum ta_status write_json(struct ta_cli *cli)
{
    if (!ta_registry_find(cli->registry, TA_KIND_output, "json"))
        return ta_fail(cli->ctx, TA_ERR_USAGE, "This build has no JSON output");
    return ta_cli_write_stdout(cli, "json");
}

static enum ta_status write_text(struct ta_cli *cli, const struct ta_report *report)
{
    struct ta_stdout out;
    enum ta_status status = ta_stdout_open(cli->ctx, &out);
    if (status != TA_OK)
        return status;
    put_accounts(out.file, ta_report_accounts(report));
    return ta_stdout_close(cli->ctx, &out);
}

enum ta_status ta_cmd_check(struct ta_cli *cli)
{
    enum ta_status status = ta_cli_load_plugins(cli);
    if (status == TA_OK)
        status = ta_cli_add_inputs(cli, 0, cli->args.operands.n);
    if (status == TA_OK)
        status = ta_cli_execute(cli, TA_RUN_CHECK);
    if (status != TA_OK)
        return status;
    const struct ta_report *report = ta_run_report(cli->run);
    status = cli->args.json ? write_json(cli) : write_text(cli, report);
    ta_cli_note_losses(cli, report);
    return status;
}
