/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.sessions, run.tags and run.happenings: what was recorded, with which settings, and what
 * happened. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

enum { RANK };
enum { SESSION_FILE = 1, SESSION_ORDER, ID, START, DURATION, SESSION_FIELDS };
enum { KEY = 1, TAG_VALUE, TAGS, TAG_FIELDS };
enum { FILE_KEY = 1, ORDER, NAME, DATA, TIME, HAPPENING_FIELDS };

static const struct ta_field session_fields[SESSION_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},          [SESSION_FILE] = {"file", TA_FIELD_FILE},
    [SESSION_ORDER] = {"order", TA_FIELD_INT}, [ID] = {"session", TA_FIELD_TEXT},
    [START] = {"start_ns", TA_FIELD_MIN},      [DURATION] = {"dur_ns", TA_FIELD_MAX},
};

static const struct ta_field tag_fields[TAG_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [KEY] = {"key", TA_FIELD_TEXT},
    [TAG_VALUE] = {"value", TA_FIELD_TEXT},
    [TAGS] = {"count", TA_FIELD_SUM},
};

static const struct ta_field happening_fields[HAPPENING_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},  [FILE_KEY] = {"file", TA_FIELD_FILE},
    [ORDER] = {"order", TA_FIELD_INT}, [NAME] = {"name", TA_FIELD_TEXT},
    [DATA] = {"data", TA_FIELD_TEXT},  [TIME] = {"time_ns", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {{"sessions", session_fields, SESSION_FIELDS},
                                                 {"tags", tag_fields, TAG_FIELDS},
                                                 {"happenings", happening_fields, HAPPENING_FIELDS},
                                                 {0}};

static const struct ta_column session_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"index", "Index", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Place among the sessions of the rank, from 0"},
    {"session", "Session", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the session"},
    {"start_ns", "Start", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "Start since the first session of the run, by the clocks of the hosts"},
    {"dur_ns", "Duration", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER, "Duration of the session"},
};

static const struct ta_column tag_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"key", "Tag", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the tag or setting"},
    {"value", "Value", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Its value, as written"},
    {"count", "Times", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "How often it is recorded"},
};

static const struct ta_column happening_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"index", "Index", TA_TYPE_INTEGER, TA_UNIT_NONE, TA_NEUTRAL,
     "Place in the order of recording, from 0"},
    {"name", "Event", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the event"},
    {"time_ns", "Time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_NEUTRAL,
     "Time since the first event of the rank"},
    {"data", "Data", TA_TYPE_SENTENCE, TA_UNIT_NONE, TA_NEUTRAL, "What was recorded with it"},
};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_session *sessions = ta_trace_session_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, sessions[i].rank),
                                      ta_row_file(trace), ta_key_int((int64_t)i),
                                      ta_key_text(ta_trace_text(trace, sessions[i].id)));
        row[START] = sessions[i].start_ns;
        row[DURATION] = sessions[i].dur_ns;
    }
    const struct ta_tag *tags = ta_trace_tag_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        ta_sum(&TA_PARTIAL_ROW(out[1], ta_row_rank(trace, tags[i].rank),
                               ta_key_text(ta_trace_text(trace, tags[i].key)),
                               ta_key_text(ta_trace_text(trace, tags[i].value)))[TAGS],
               1);
    const struct ta_happening *happenings = ta_trace_happening_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        TA_PARTIAL_ROW(out[2], ta_row_rank(trace, happenings[i].rank), ta_row_file(trace),
                       ta_key_int((int64_t)i),
                       ta_key_text(ta_trace_text(trace, happenings[i].name)),
                       ta_key_text(ta_trace_text(trace, happenings[i].data)))
    [TIME] = happenings[i].time_ns;
    return TA_OK;
}

/* Place of row i among those of its rank, from that of the row before. */
static int64_t next_index(const struct ta_partial *rows, size_t i, int64_t before)
{
    return i && ta_partial_at(rows, i)[RANK] == ta_partial_at(rows, i - 1)[RANK] ? before + 1 : 0;
}

static struct ta_cell since(int64_t time, int64_t origin)
{
    return time == TA_MISSING || origin == TA_MISSING ? ta_null() : ta_int(time - origin);
}

static void add_sessions(struct ta_section_builder *out, const struct ta_partial *sessions)
{
    struct ta_table_builder *table =
        ta_add_table(out, "run.sessions", "Sessions", session_columns, 5);
    int64_t first = TA_MISSING, index = 0;
    for (size_t i = 0; i < ta_partial_rows(sessions); i++)
        ta_least(&first, ta_partial_at(sessions, i)[START]);
    for (size_t i = 0; i < ta_partial_rows(sessions); i++) {
        const int64_t *row = ta_partial_at(sessions, i);
        index = next_index(sessions, i, index);
        TA_ROW(table, ta_int(row[RANK]), ta_int(index),
               ta_text_or_null(ta_partial_text(sessions, row, ID)), since(row[START], first),
               ta_int(row[DURATION]));
    }
}

static void add_happenings(struct ta_section_builder *out, const struct ta_partial *happenings)
{
    struct ta_table_builder *table =
        ta_add_table(out, "run.happenings", "Events of the dumps", happening_columns, 5);
    int64_t first = TA_MISSING, index = 0;
    for (size_t i = 0; i < ta_partial_rows(happenings); i++) {
        const int64_t *row = ta_partial_at(happenings, i);
        index = next_index(happenings, i, index);
        if (index == 0)
            first = TA_MISSING;
        first = first == TA_MISSING ? row[TIME] : first;
        TA_ROW(table, ta_int(row[RANK]), ta_int(index),
               ta_text_or_null(ta_partial_text(happenings, row, NAME)), since(row[TIME], first),
               ta_text_or_null(ta_partial_text(happenings, row, DATA)));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    add_sessions(out, merged[0]);
    struct ta_table_builder *tags = ta_add_table(out, "run.tags", "Tags", tag_columns, 4);
    for (size_t i = 0; i < ta_partial_rows(merged[1]); i++) {
        const int64_t *row = ta_partial_at(merged[1], i);
        TA_ROW(tags, ta_int(row[RANK]), ta_text(ta_partial_text(merged[1], row, KEY)),
               ta_text(ta_partial_text(merged[1], row, TAG_VALUE)), ta_int(row[TAGS]));
    }
    add_happenings(out, merged[2]);
    return TA_OK;
}

static const struct ta_analysis_ops ops = {
    .section = "run", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, sessions, &ops, .title = "Files and events",
          .summary = "Sessions, tags and events of dumps: run.sessions, run.tags, run.happenings",
          .version = "1");
