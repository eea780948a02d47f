/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.files: what was read. */
#include <traceanalyze/analysis.h>

enum { PATH, FORMAT, RANK, BYTES, RAW_BYTES, EVENTS, RECORDS, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [PATH] = {"path", TA_FIELD_TEXT},          [FORMAT] = {"format", TA_FIELD_TEXT},
    [RANK] = {"rank", TA_FIELD_RANK},          [BYTES] = {"bytes", TA_FIELD_SUM},
    [RAW_BYTES] = {"raw_bytes", TA_FIELD_SUM}, [EVENTS] = {"events", TA_FIELD_SUM},
    [RECORDS] = {"records", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"files", fields, FIELDS}, {0}};

static const struct ta_column columns[] = {
    {"path", "File", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Path below the input"},
    {"format", "Format", TA_TYPE_WORD, TA_UNIT_NONE, TA_NEUTRAL, "Input plugin that read the file"},
    TA_RANK_COLUMN_OF("Rank the file belongs to"),
    {"bytes", "On disk", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_NEUTRAL, "Size of the file"},
    {"raw_bytes", "Inflated", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_NEUTRAL,
     "Size of its content after decompression"},
    {"events", "Events", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Event records read; none of a dump, whose records are no events"},
    {"records", "Records", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL,
     "Records of a dump: stages, steps, samples, figures and the like"},
};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    const struct ta_trace_file file = ta_trace_file(trace);
    int64_t *row =
        TA_PARTIAL_ROW(out[0], ta_key_text(ta_slice_of(file.path)),
                       ta_key_text(ta_slice_of(file.format)), ta_key_int(ta_trace_rank(trace)));
    ta_sum(&row[BYTES], (int64_t)file.bytes);
    ta_sum(&row[RAW_BYTES], (int64_t)file.raw_bytes);
    if (file.records)
        ta_sum(&row[RECORDS], (int64_t)file.records);
    else
        ta_sum(&row[EVENTS], (int64_t)file.events);
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    const struct ta_partial *files = merged[0];
    struct ta_table_builder *table =
        ta_add_table(out, "run.files", "Files", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < ta_partial_rows(files); i++) {
        const int64_t *row = ta_partial_at(files, i);
        TA_ROW(table, ta_text(ta_partial_text(files, row, PATH)),
               ta_text(ta_partial_text(files, row, FORMAT)), ta_int(row[RANK]), ta_int(row[BYTES]),
               ta_int(row[RAW_BYTES]), ta_int(row[EVENTS]), ta_int(row[RECORDS]));
    }
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "run", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, files, &ops, .title = "Files", .summary = "Files read: run.files",
          .version = "1");
