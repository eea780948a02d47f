/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.sessions, run.tags and run.happenings: what was recorded, with which settings, and what
 * happened. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

enum { RANK };
enum { SESSION_FILE = 1, SESSION_ORDER, ID, START, DURATION, REQUEST, SESSION_FIELDS };
enum { KEY = 1, TAG_VALUE, TAGS, TAG_FIELDS };
enum { FILE_KEY = 1, ORDER, NAME, DATA, TIME, HAPPENING_FIELDS };

static const struct ta_field session_fields[SESSION_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},          [SESSION_FILE] = {"file", TA_FIELD_FILE},
    [SESSION_ORDER] = {"order", TA_FIELD_INT}, [ID] = {"session", TA_FIELD_TEXT},
    [START] = {"start_ns", TA_FIELD_MIN},      [DURATION] = {"dur_ns", TA_FIELD_MAX},
    [REQUEST] = {"request", TA_FIELD_MAX},
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

enum { SESSION_RANK, SESSION_INDEX, SESSION_NAME, SESSION_START, SESSION_DUR, SESSION_KIND };
static const struct ta_column session_columns[] = {
    [SESSION_RANK] = TA_DUMP_RANK_COLUMN,
    [SESSION_INDEX] = {"index", "Index", TA_INTEGER, .role = TA_IN_SERIES,
                       .doc = "Position among the sessions of the rank, starting at 0"},
    [SESSION_NAME] = {"session", "Session", TA_TEXT, .doc = "Name of the session"},
    [SESSION_START] = {"start_ns", "Start", TA_NS, .role = TA_IN_SERIES,
                       .doc = "Start since the first session of the run, by the hosts' clocks"},
    [SESSION_DUR] = {"dur_ns", "Duration", TA_NS, .better = TA_LOWER, .read_as = TA_AS_SESSION_TIME,
                     .doc = "Duration of the session"},
    [SESSION_KIND] = {"kind", "Kind", TA_TEXT, .role = TA_NOTE,
                      .doc = "`session`, or `request` for a request that a server answered"},
};

static const struct ta_table_def session = {"run.sessions", "Sessions", TA_COLUMNS(session_columns),
                                            .doc = "One row per session of a dump."};

enum { TAGS_RANK, TAGS_KEY, TAGS_VALUE, TAGS_COUNT };
static const struct ta_column tag_columns[] = {
    [TAGS_RANK] = TA_DUMP_RANK_COLUMN,
    [TAGS_KEY] = {"key", "Tag", TA_TEXT, .read_as = TA_AS_TAG, .doc = "Name of the tag or setting"},
    [TAGS_VALUE] = {"value", "Value", TA_TEXT, .read_as = TA_AS_TAG_VALUE,
                    .doc = "Value of the tag or setting, as written"},
    [TAGS_COUNT] = {"count", "Times", TA_COUNT, .doc = "Times that it was recorded"},
};

static const struct ta_table_def tag = {"run.tags",
                                        "Tags",
                                        TA_COLUMNS(tag_columns),
                                        .doc = "One row per rank, tag and value.",
                                        .tier = TA_TIER_DETAIL,
                                        .not_of_ranks = true};

enum { HAPPENING_RANK, HAPPENING_INDEX, HAPPENING_NAME, HAPPENING_TIME, HAPPENING_DATA };
static const struct ta_column happening_columns[] = {
    [HAPPENING_RANK] = TA_DUMP_RANK_COLUMN,
    [HAPPENING_INDEX] = {"index", "Index", TA_INTEGER, .role = TA_IN_SERIES,
                         .doc = "Position in recording order, starting at 0"},
    [HAPPENING_NAME] = {"name", "Event", TA_TEXT, .role = TA_NOTE, .doc = "Name of the event",
                        .read_as = TA_AS_HAPPENING},
    [HAPPENING_TIME] = {"time_ns", "Time", TA_NS, .doc = "Time since the first event of the rank"},
    [HAPPENING_DATA] = {"data", "Data", TA_SENTENCE, .doc = "Data recorded with the event"},
};

static const struct ta_table_def happening = {
    "run.happenings", "Events in the dumps", TA_COLUMNS(happening_columns),
    .doc = "One row per event of a dump that no other table holds."};

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
        row[REQUEST] = sessions[i].is_request;
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

/* Place of row i among the rows of its rank, counted on from the row before. */
static int64_t next_index(const struct ta_partial *rows, size_t i, int64_t before)
{
    return i && ta_partial_at(rows, i)[RANK] == ta_partial_at(rows, i - 1)[RANK] ? before + 1 : 0;
}

static struct ta_cell since(int64_t time, int64_t origin)
{
    return time == TA_MISSING || origin == TA_MISSING ? ta_null() : ta_int(time - origin);
}

static void add_happenings(struct ta_section_builder *out, const struct ta_partial *happenings)
{
    int64_t first = TA_MISSING, index = 0;
    for (size_t i = 0; i < ta_partial_rows(happenings); i++) {
        const int64_t *row = ta_partial_at(happenings, i);
        index = next_index(happenings, i, index);
        if (index == 0)
            first = TA_MISSING;
        first = first == TA_MISSING ? row[TIME] : first;
        TA_ROW(out,
               happening, [HAPPENING_RANK] = ta_int(row[RANK]), [HAPPENING_INDEX] = ta_int(index),
               [HAPPENING_NAME] = ta_text_or_null(ta_partial_text(happenings, row, NAME)),
               [HAPPENING_TIME] = since(row[TIME], first),
               [HAPPENING_DATA] = ta_text_or_null(ta_partial_text(happenings, row, DATA)));
    }
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *sessions = merged[0];
    int64_t first = TA_MISSING, index = 0;
    for (size_t i = 0; i < ta_partial_rows(sessions); i++)
        ta_least(&first, ta_partial_at(sessions, i)[START]);
    for (size_t i = 0; i < ta_partial_rows(sessions); i++) {
        const int64_t *row = ta_partial_at(sessions, i);
        index = next_index(sessions, i, index);
        TA_ROW(out, session, [SESSION_RANK] = ta_int(row[RANK]), [SESSION_INDEX] = ta_int(index),
               [SESSION_NAME] = ta_text_or_null(ta_partial_text(sessions, row, ID)),
               [SESSION_START] = since(row[START], first), [SESSION_DUR] = ta_int(row[DURATION]),
               [SESSION_KIND] = ta_text(row[REQUEST] > 0 ? TA_LIT("request") : TA_LIT("session")));
    }

    for (size_t i = 0; i < ta_partial_rows(merged[1]); i++) {
        const int64_t *row = ta_partial_at(merged[1], i);
        TA_ROW(out, tag, [TAGS_RANK] = ta_int(row[RANK]),
               [TAGS_KEY] = ta_text(ta_partial_text(merged[1], row, KEY)),
               [TAGS_VALUE] = ta_text(ta_partial_text(merged[1], row, TAG_VALUE)),
               [TAGS_COUNT] = ta_int(row[TAGS]));
    }
    add_happenings(out, merged[2]);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&session, &tag, &happening, NULL};

static const struct ta_analysis_ops ops = {
    .section = "run", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, sessions, &ops, .title = "Files and events",
          .summary = "Sessions, tags and events of dumps: run.sessions, run.tags, run.happenings",
          .version = "1");
