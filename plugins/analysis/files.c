/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.files: what was read. */
#include <traceanalyze/analysis.h>

#include <time.h>

enum { PATH, FORMAT, RANK, BYTES, RAW_BYTES, EVENTS, RECORDS, STARTED, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [PATH] = {"path", TA_FIELD_TEXT},          [FORMAT] = {"format", TA_FIELD_TEXT},
    [RANK] = {"rank", TA_FIELD_RANK},          [BYTES] = {"bytes", TA_FIELD_SUM},
    [RAW_BYTES] = {"raw_bytes", TA_FIELD_SUM}, [EVENTS] = {"events", TA_FIELD_SUM},
    [RECORDS] = {"records", TA_FIELD_SUM},     [STARTED] = {"started", TA_FIELD_MIN},
};

static const struct ta_partial_def partials[] = {{"files", fields, FIELDS}, {0}};

static const struct ta_column run_files_columns[] = {
    [PATH] = {"path", "File", TA_TEXT, .role = TA_NOTE,
              .doc = "Path of the file, relative to the input"},
    [FORMAT] = {"format", "Format", TA_WORD, .role = TA_NOTE, .read_as = TA_AS_FORMAT,
                .doc = "Input plugin that read the file"},
    [RANK] = TA_RANK_COLUMN_OF("Rank that the file belongs to"),
    [BYTES] = {"bytes", "File size", TA_BYTES, .doc = "Size of the file as stored"},
    [RAW_BYTES] = {"raw_bytes", "Decompressed size", TA_BYTES, .read_as = TA_AS_FORMAT_BYTES,
                   .doc = "Size of the file after decompression"},
    [EVENTS] = {"events", "Events", TA_COUNT,
                .doc = "Number of event records read; empty for a dump, which has no events"},
    [RECORDS] = {"records", "Records", TA_COUNT,
                 .doc = "Number of records of a dump: stages, steps, samples, figures and so on"},
    [STARTED] =
        {"started", "Recorded (UTC)", TA_WORD, .role = TA_NOTE,
         .doc = "Date and time of the first event of the file; empty if its clock has no date"},
};

static const struct ta_table_def run_files = {
    "run.files", "Files", TA_COLUMNS(run_files_columns),
    .doc = "One row per file that was used; a file with several ranks has one row per rank, and "
           "its size is in the first.",
    .tier = TA_TIER_DETAIL};

/* Start of the first event in seconds since 1970; TA_MISSING if the clock has no date. */
static int64_t start_of(const struct ta_trace *trace)
{
    const int64_t first = ta_trace_view(trace)->origin, base = ta_trace_base_ns(trace);
    const int64_t start = base == TA_MISSING ? first : ta_add_sat(base, first);
    if (ta_trace_spans(trace).n == 0 || start < TA_DATED_FROM_NS)
        return TA_MISSING;
    return start / INT64_C(1000000000);
}

/* "2026-01-15 10:30:00", or NULL. */
static const char *date_of(int64_t seconds, char text[32])
{
    struct tm utc;
    const time_t time = (time_t)seconds;
    if (seconds == TA_MISSING || !gmtime_r(&time, &utc) ||
        !strftime(text, 32, "%Y-%m-%d %H:%M:%S", &utc))
        return NULL;
    return text;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    const struct ta_trace_file file = ta_trace_file(trace);
    int64_t *row =
        TA_PARTIAL_ROW(out[0], ta_key_text(ta_slice_of(file.path)),
                       ta_key_text(ta_slice_of(file.format)), ta_key_int(ta_trace_rank(trace)));
    if (!file.is_counted) {
        ta_sum(&row[BYTES], (int64_t)file.bytes);
        ta_sum(&row[RAW_BYTES], (int64_t)file.raw_bytes);
    }
    ta_least(&row[STARTED], start_of(trace));
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
        char date[32];
        TA_ROW(out, run_files, [PATH] = ta_text(ta_partial_text(files, row, PATH)),
               [FORMAT] = ta_text(ta_partial_text(files, row, FORMAT)), [RANK] = ta_int(row[RANK]),
               [BYTES] = ta_int(row[BYTES]), [RAW_BYTES] = ta_int(row[RAW_BYTES]),
               [EVENTS] = ta_int(row[EVENTS]), [RECORDS] = ta_int(row[RECORDS]),
               [STARTED] = ta_string(date_of(row[STARTED], date)));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&run_files, NULL};

static const struct ta_analysis_ops ops = {
    .section = "run", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, files, &ops, .title = "Files", .summary = "Files read: run.files",
          .version = "1");
