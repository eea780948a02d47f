/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.pauses: the longest times between two lines of a log, and what the program began before
 * them, where its line says it. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

enum { RANK, FILE_KEY, ORDER, WORK, BEFORE, AFTER, START, DUR, TIMED, LOG, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},     [FILE_KEY] = {"file", TA_FIELD_FILE},
    [ORDER] = {"order", TA_FIELD_INT},    [WORK] = {"work", TA_FIELD_TEXT},
    [BEFORE] = {"before", TA_FIELD_TEXT}, [AFTER] = {"after", TA_FIELD_TEXT},
    [START] = {"start_ns", TA_FIELD_MAX}, [DUR] = {"dur_ns", TA_FIELD_MAX},
    [TIMED] = {"timed_ns", TA_FIELD_MAX}, [LOG] = {"log_ns", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {{"pauses", fields, FIELDS}, {0}};

enum {
    PAUSES_RANK,
    PAUSES_INDEX,
    PAUSES_START,
    PAUSES_WORK,
    PAUSES_DUR,
    PAUSES_SHARE,
    PAUSES_BETWEEN,
    PAUSES_BEFORE,
    PAUSES_AFTER,
    PAUSES_LOG
};
static const struct ta_column pauses_columns[] = {
    [PAUSES_RANK] = TA_DUMP_RANK_COLUMN,
    [PAUSES_INDEX] = {"index", "Index", TA_INTEGER, .role = TA_IN_SERIES,
                      .doc = "Position in the log, starting at 0"},
    [PAUSES_START] = {"start_ns", "At", TA_NS, .role = TA_NOTE,
                      .doc = "Start of the pause, since the first line with a timestamp"},
    [PAUSES_WORK] = {"work", "Activity", TA_WORD,
                     .doc = "What the program did, according to the lines around it: `loading`, "
                            "`compiling`, or `none` if they say neither"},
    [PAUSES_DUR] = {"pause_ns", "Pause", TA_NS, .better = TA_LOWER,
                    .doc = "Time between the two lines that nothing in the log explains: progress "
                           "bars and timed stages are left out"},
    [PAUSES_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                      .doc = "Pause divided by the duration of the log"},
    [PAUSES_BETWEEN] = {"between_ns", "Time between lines", TA_NS, .role = TA_NOTE,
                        .doc = "Full time between the two lines"},
    [PAUSES_BEFORE] = {"before", "Line before", TA_TEXT,
                       .doc = "Last line with a timestamp before the pause, without its prefix"},
    [PAUSES_AFTER] = {"after", "Line after", TA_TEXT,
                      .doc = "First line with a timestamp after the pause"},
    [PAUSES_LOG] = {"log_ns", "Log", TA_NS, .role = TA_NOTE,
                    .doc = "Time from the first to the last line with a timestamp"},
};

static const struct ta_table_def pauses = {
    "progress.pauses",
    "Pauses in the log",
    TA_COLUMNS(pauses_columns),
    .doc = "One row per pause of at least one second in a log, the 32 longest of each file, in log "
           "order.",
    .brief =
        &(const struct ta_brief){
            .place = 425,
            .rows = 5,
            .largest = &pauses_columns[PAUSES_DUR],
            .first = {&pauses_columns[PAUSES_DUR], &pauses_columns[PAUSES_SHARE]},
            .never = {&pauses_columns[PAUSES_INDEX], &pauses_columns[PAUSES_BETWEEN],
                      &pauses_columns[PAUSES_AFTER], &pauses_columns[PAUSES_LOG]},
            .hidden = {&pauses_columns[PAUSES_WORK], {"none"}},
            .remark = &pauses_columns[PAUSES_BEFORE]},
    .not_of_ranks = true};

/* ---- map and finish -------------------------------------------------------------------------- */

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_log_pause *rows = ta_trace_pause_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row =
            TA_PARTIAL_ROW(out[0], ta_row_rank(trace, rows[i].rank), ta_row_file(trace),
                           ta_key_int((int64_t)i), ta_key_text(ta_trace_text(trace, rows[i].work)),
                           ta_key_text(ta_trace_text(trace, rows[i].before)),
                           ta_key_text(ta_trace_text(trace, rows[i].after)));
        row[START] = rows[i].start_ns;
        row[DUR] = rows[i].dur_ns;
        row[TIMED] = rows[i].timed_ns;
        row[LOG] = rows[i].log_ns;
    }
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    int64_t place = 0;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        if (i > 0 && ta_partial_at(merged[0], i - 1)[RANK] != row[RANK])
            place = 0;
        const struct ta_slice work = ta_partial_text(merged[0], row, WORK);
        const int64_t pause_ns = row[DUR] - row[TIMED];
        TA_ROW(out, pauses, [PAUSES_RANK] = ta_int(row[RANK]), [PAUSES_INDEX] = ta_int(place++),
               [PAUSES_START] = ta_int(row[START]),
               [PAUSES_WORK] = ta_text(work.len ? work : TA_LIT("none")),
               [PAUSES_DUR] = ta_int(pause_ns),
               [PAUSES_SHARE] =
                   row[LOG] > 0 ? ta_num((double)pause_ns / (double)row[LOG]) : ta_null(),
               [PAUSES_BETWEEN] = ta_int(row[DUR]),
               [PAUSES_BEFORE] = ta_text_or_null(ta_partial_text(merged[0], row, BEFORE)),
               [PAUSES_AFTER] = ta_text_or_null(ta_partial_text(merged[0], row, AFTER)),
               [PAUSES_LOG] = ta_int(row[LOG]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&pauses, NULL};

static const struct ta_analysis_ops ops = {
    .section = "diffusion", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, pauses, &ops, .title = "Diffusion and throughput",
          .summary = "Longest times between two lines of a log: progress.pauses", .version = "1");
