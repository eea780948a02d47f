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

enum { FILES_PATH, FILES_FORMAT, FILES_RANK, FILES_BYTES, FILES_RAW, FILES_EVENTS, FILES_RECORDS };
static const struct ta_column files_table_columns[] = {
    [FILES_PATH] = {"path", "File", TA_TEXT, .doc = "Path below the input"},
    [FILES_FORMAT] = {"format", "Format", TA_WORD, .doc = "Input plugin that read the file"},
    [FILES_RANK] = TA_RANK_COLUMN_OF("Rank the file belongs to"),
    [FILES_BYTES] = {"bytes", "On disk", TA_BYTES, .doc = "Size of the file"},
    [FILES_RAW] = {"raw_bytes", "Inflated", TA_BYTES,
                   .doc = "Size of its content after decompression"},
    [FILES_EVENTS] = {"events", "Events", TA_COUNT,
                      .doc = "Event records read; none of a dump, whose records are no events"},
    [FILES_RECORDS] = {"records", "Records", TA_COUNT,
                       .doc = "Records of a dump: stages, steps, samples, figures and the like"},
};

static const struct ta_table_def files_table = {"run.files", "Files",
                                                TA_COLUMNS(files_table_columns)};

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
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *files = merged[0];

    for (size_t i = 0; i < ta_partial_rows(files); i++) {
        const int64_t *row = ta_partial_at(files, i);
        TA_ROW(out, files_table, [FILES_PATH] = ta_text(ta_partial_text(files, row, PATH)),
               [FILES_FORMAT] = ta_text(ta_partial_text(files, row, FORMAT)),
               [FILES_RANK] = ta_int(row[RANK]), [FILES_BYTES] = ta_int(row[BYTES]),
               [FILES_RAW] = ta_int(row[RAW_BYTES]), [FILES_EVENTS] = ta_int(row[EVENTS]),
               [FILES_RECORDS] = ta_int(row[RECORDS]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&files_table, NULL};

static const struct ta_analysis_ops ops = {
    .section = "run", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, files, &ops, .title = "Files", .summary = "Files read: run.files",
          .version = "1");
