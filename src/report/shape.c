/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shape of report.json, as schemas/report-1.schema.json states it: the members of each
 * structure in their order. */
#include "report/fields.h"
#include "report/words.h"

#define MEMBER(structure, name, type, field, ...)                                                  \
    {                                                                                              \
        .key = name, .kind = FIELD_##type, .offset = offsetof(struct structure, field),            \
        __VA_ARGS__                                                                                \
    }
/* An enumerator up to `last`. */
#define WORD(structure, name, field, last, of_word)                                                \
    MEMBER(structure, name, WORD, field, .n_words = (last) + 1, .word = of_word)
#define FIELDS(name, ...)                                                                          \
    static const struct field name##_fields[] = {__VA_ARGS__};                                     \
    const struct fields shape_##name = {name##_fields, sizeof name##_fields / sizeof *name##_fields}

#define UNIT(structure) WORD(structure, "unit", unit, TA_UNIT_COUNT_OF_UNITS - 1, ta_unit_name)
#define POLARITY(structure, field) WORD(structure, "polarity", field, TA_HIGHER, ta_polarity_name)
#define INK(structure) WORD(structure, "ink", ink, TA_INK_COUNT - 1, ta_ink_name)

/* ---- items --------------------------------------------------------------------------------- */

FIELDS(scalar, MEMBER(ta_scalar, "id", TEXT, id), MEMBER(ta_scalar, "title", TEXT, title),
       MEMBER(ta_scalar, "value", CELL, value), UNIT(ta_scalar), POLARITY(ta_scalar, polarity),
       MEMBER(ta_scalar, "note", TEXT_OR_NULL, note));

FIELDS(column, MEMBER(ta_column, "key", ID, key), MEMBER(ta_column, "title", TEXT, title),
       WORD(ta_column, "type", type, TA_TYPE_BOOLEAN, ta_type_name), UNIT(ta_column),
       POLARITY(ta_column, better), MEMBER(ta_column, "doc", TEXT, doc));

FIELDS(finding, MEMBER(ta_finding, "id", TEXT, id), MEMBER(ta_finding, "rule", TEXT, rule),
       WORD(ta_finding, "severity", severity, TA_CRITICAL, ta_severity_name),
       MEMBER(ta_finding, "title", TEXT, title, .lead = ",\n     "));

FIELDS(finding_words, MEMBER(ta_finding, "confidence", SHARE, confidence),
       MEMBER(ta_finding, "why", TEXT, why, .lead = ",\n     ", .is_optional = true),
       MEMBER(ta_finding, "advice", TEXT_OR_NULL, advice, .lead = ",\n     "),
       MEMBER(ta_finding, "details", TEXT, details, .lead = ",\n     ", .is_optional = true),
       MEMBER(ta_finding, "threshold", TEXT_OR_NULL, threshold, .lead = ",\n     "));

FIELDS(saving_of_run, MEMBER(ta_finding, "low_share", SHARE, saving_low_share),
       MEMBER(ta_finding, "high_share", SHARE, saving_high_share));

FIELDS(evidence, MEMBER(ta_evidence, "table", TEXT, table), MEMBER(ta_evidence, "row", CELL, row),
       MEMBER(ta_evidence, "column", TEXT, column), MEMBER(ta_evidence, "value", CELL, value),
       UNIT(ta_evidence));

/* ---- charts: before what they draw, and after --------------------------------------------- */

FIELDS(chart, MEMBER(ta_chart, "id", ID, id), MEMBER(ta_chart, "title", TEXT, title),
       WORD(ta_chart, "kind", kind, TA_CHART_KINDS - 1, ta_chart_kind_name),
       MEMBER(ta_chart, "caption", TEXT, caption, .is_optional = true));

FIELDS(chart_x, MEMBER(ta_chart, "x", COLUMN, x, .is_optional = true));

FIELDS(chart_rest, MEMBER(ta_chart, "group", COLUMN, group, .is_optional = true),
       MEMBER(ta_chart, "size", COLUMN, size, .is_optional = true),
       MEMBER(ta_chart, "log_x", FLAG, log_x, .is_optional = true),
       MEMBER(ta_chart, "log_y", FLAG, log_y, .is_optional = true),
       MEMBER(ta_chart, "steps", FLAG, steps, .is_optional = true),
       MEMBER(ta_chart, "band", COLUMN, band, .is_optional = true),
       MEMBER(ta_chart, "with", COLUMN, with, .is_optional = true),
       MEMBER(ta_chart, "without", COLUMN, without, .is_optional = true));

FIELDS(series, MEMBER(ta_series, "column", COLUMN, column),
       MEMBER(ta_series, "label", TEXT_OR_NULL, label), INK(ta_series));

FIELDS(kind, MEMBER(ta_kind, "value", TEXT, value), MEMBER(ta_kind, "label", TEXT, label),
       INK(ta_kind));

FIELDS(roof, MEMBER(ta_roof, "level", COLUMN, level), MEMBER(ta_roof, "slope", COLUMN, slope),
       MEMBER(ta_roof, "name", COLUMN, name));

/* ---- accounts ------------------------------------------------------------------------------ */

FIELDS(quality, WORD(ta_quality_finding, "code", code, TA_Q_COUNT - 1, ta_quality_name),
       WORD(ta_quality_finding, "severity", severity, TA_QUALITY_ERROR, ta_quality_severity_name),
       MEMBER(ta_quality_finding, "count", COUNT, count),
       MEMBER(ta_quality_finding, "byte_offset", OFFSET, byte_offset),
       MEMBER(ta_quality_finding, "last_offset", OFFSET, last_offset),
       MEMBER(ta_quality_finding, "file_offset", OFFSET, file_offset, .is_optional = true),
       MEMBER(ta_quality_finding, "text", TEXT, text));

FIELDS(totals, MEMBER(ta_account_totals, "files_seen", COUNT, files_seen),
       MEMBER(ta_account_totals, "files_used", COUNT, files_used),
       MEMBER(ta_account_totals, "files_refused", COUNT, files_refused),
       MEMBER(ta_account_totals, "events_seen", COUNT, events_seen, .lead = ",\n     "),
       MEMBER(ta_account_totals, "events_kept", COUNT, events_kept),
       MEMBER(ta_account_totals, "events_repaired", COUNT, events_repaired),
       MEMBER(ta_account_totals, "events_dropped", COUNT, events_dropped),
       MEMBER(ta_account_totals, "bytes_skipped", COUNT, bytes_skipped));

FIELDS(file, MEMBER(ta_file_account, "file", TEXT, path),
       MEMBER(ta_file_account, "rank", INTEGER, rank),
       WORD(ta_file_account, "rank_source", rank_source, TA_RANK_NONE, ta_rank_source_name),
       MEMBER(ta_file_account, "format", TEXT, format),
       WORD(ta_file_account, "state", state, TA_FILE_REFUSED, ta_file_state_name),
       MEMBER(ta_file_account, "bytes", COUNT, bytes, .lead = ",\n       "),
       MEMBER(ta_file_account, "raw_bytes", COUNT, raw_bytes),
       MEMBER(ta_file_account, "bytes_skipped", COUNT, bytes_skipped),
       MEMBER(ta_file_account, "events_seen", COUNT, events_seen, .lead = ",\n       "),
       MEMBER(ta_file_account, "events_kept", COUNT, events_kept),
       MEMBER(ta_file_account, "events_repaired", COUNT, events_repaired),
       MEMBER(ta_file_account, "events_dropped", COUNT, events_dropped),
       MEMBER(ta_file_account, "first_ts_ns", INTEGER, first_ts_ns, .lead = ",\n       "),
       MEMBER(ta_file_account, "last_ts_ns", INTEGER, last_ts_ns));
