/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The accounts of a report out of JSON. */
#include "report/decode.h"
#include "report/decode_fields.h"
#include "report/report.h"

static const char *code_name(int code)
{
    return ta_quality_name((enum ta_quality_code)code);
}

static const char *severity_name(int severity)
{
    return ta_quality_severity_name((enum ta_quality_severity)severity);
}

static const char *state_name(int state)
{
    return ta_file_state_name((enum ta_file_state)state);
}

static const char *source_name(int source)
{
    return ta_rank_source_name((enum ta_rank_source)source);
}

static const char *status_name(int status)
{
    return ta_quality_status_name((enum ta_quality_status)status);
}

static uint64_t offset_of(struct decode *in, const json_t *object, const char *key)
{
    if (json_is_null(json_object_get(object, key)))
        return TA_NO_OFFSET;
    return decode_count(in, object, key);
}

static const struct ta_quality_finding *read_findings(struct decode *in, const json_t *owner,
                                                      size_t *n)
{
    const json_t *list = decode_array(in, owner, "findings");
    *n = json_array_size(list);
    struct ta_quality_finding *findings = decode_alloc(in, (*n + 1) * sizeof *findings);
    for (size_t i = 0; i < *n && in->status == TA_OK; i++) {
        const json_t *finding = json_array_get(list, i);

        findings[i] = (struct ta_quality_finding){
            .code = (enum ta_quality_code)decode_word(in, finding, "code", TA_Q_COUNT, code_name),
            .severity = (enum ta_quality_severity)decode_word(in, finding, "severity",
                                                              TA_QUALITY_ERROR + 1, severity_name),
            .count = decode_count(in, finding, "count"),
            .byte_offset = offset_of(in, finding, "byte_offset"),
            .last_offset = offset_of(in, finding, "last_offset"),
            .file_offset = json_object_get(finding, "file_offset")
                               ? offset_of(in, finding, "file_offset")
                               : TA_NO_OFFSET,
            .text = decode_text(in, finding, "text"),
        };
    }
    return findings;
}

static const struct ta_file_account *read_files(struct decode *in, const json_t *list, size_t *n)
{
    *n = json_array_size(list);
    struct ta_file_account *files = decode_alloc(in, (*n + 1) * sizeof *files);
    for (size_t i = 0; i < *n && in->status == TA_OK; i++) {
        const json_t *file = json_array_get(list, i);

        struct ta_file_account account = {
            .path = decode_text(in, file, "file"),
            .rank = decode_integer_or_null(in, file, "rank"),
            .rank_source = (enum ta_rank_source)decode_word(in, file, "rank_source",
                                                            TA_RANK_NONE + 1, source_name),
            .format = decode_text(in, file, "format"),
            .state =
                (enum ta_file_state)decode_word(in, file, "state", TA_FILE_REFUSED + 1, state_name),
            .bytes = decode_count(in, file, "bytes"),
            .raw_bytes = decode_count(in, file, "raw_bytes"),
            .bytes_skipped = decode_count(in, file, "bytes_skipped"),
            .events_seen = decode_count(in, file, "events_seen"),
            .events_kept = decode_count(in, file, "events_kept"),
            .events_repaired = decode_count(in, file, "events_repaired"),
            .events_dropped = decode_count(in, file, "events_dropped"),
            .first_ts_ns = decode_integer_or_null(in, file, "first_ts_ns"),
            .last_ts_ns = decode_integer_or_null(in, file, "last_ts_ns"),
        };
        account.is_dump =
            in->status == TA_OK && in->declared->is_dump(in->declared->all, account.format);
        account.findings = read_findings(in, file, &account.n_findings);
        files[i] = account;

        if (in->status != TA_OK)
            ta_cause(in->ctx, in->status, "In file %zu", i + 1);
    }
    return files;
}

static struct ta_account_totals read_totals(struct decode *in, const json_t *totals)
{
    return (struct ta_account_totals){
        .files_seen = decode_count(in, totals, "files_seen"),
        .files_used = decode_count(in, totals, "files_used"),
        .files_refused = decode_count(in, totals, "files_refused"),
        .events_seen = decode_count(in, totals, "events_seen"),
        .events_kept = decode_count(in, totals, "events_kept"),
        .events_repaired = decode_count(in, totals, "events_repaired"),
        .events_dropped = decode_count(in, totals, "events_dropped"),
        .bytes_skipped = decode_count(in, totals, "bytes_skipped"),
    };
}

void decode_accounts(struct decode *in, struct ta_report *report, const json_t *quality)
{
    struct ta_accounts accounts = {
        .status = (enum ta_quality_status)decode_word(in, quality, "status", TA_QUALITY_LOSSY + 1,
                                                      status_name),
        .totals = read_totals(in, decode_member(in, quality, "totals")),
    };
    accounts.files = read_files(in, decode_array(in, quality, "files"), &accounts.n_files);
    accounts.findings = read_findings(in, quality, &accounts.n_findings);
    if (in->status == TA_OK)
        ta_report_set_accounts(report, &accounts);
    else
        ta_cause(in->ctx, in->status, "In \"data_quality\"");
}
