/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From event texts to a frozen trace: order, nesting, pairs, links, categories, and the tables
 * that are only kept when asked for. */
#include "traceanalyze/model.h"

#include "model/trace.h"
#include "traceanalyze/analysis.h"
#include "trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- events in few words ---------------------------------------------------------------- */

static size_t event_at[32]; /* of the events read last */
static const char *const *event_texts;

/* The offset of an event, and of a part of it. */
static size_t at(size_t event)
{
    return event_at[event];
}

static size_t at_part(size_t event, const char *part)
{
    const char *found = strstr(event_texts[event], part);
    assert_non_null(found);
    return event_at[event] + 1 + (size_t)(found - event_texts[event]);
}

/* Builds {"traceEvents": [...]} from members without their braces; ' stands for ". */
static void read_events(const char *const *events, size_t n, struct reading *r)
{
    struct text text = {0};
    assert_true(n <= 32);
    event_texts = events;
    text_add(&text, "{\"traceEvents\": [");
    for (size_t i = 0; i < n; i++) {
        text_add(&text, "%s{", i ? "," : "");
        event_at[i] = text.n - 1;
        for (const char *p = events[i]; *p; p++)
            text_put(&text, *p == '\'' ? "\"" : p, 1);
        text_add(&text, "}");
    }
    text_add(&text, "]}");
    fixture_read(&fixture, text.at, text.n, r);
    assert_int_equal(r->status, TA_OK);
    text_free(&text);
}

#define READ(r, ...)                                                                               \
    read_events((const char *const[]){__VA_ARGS__},                                                \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), (r))

static const char *name_of(const struct ta_trace *trace, ta_str id)
{
    return ta_trace_text(trace, id).ptr;
}

/* The row of the span with this name. */
static ta_row row_of(const struct ta_trace *trace, const char *name)
{
    const struct ta_spans s = ta_trace_spans(trace);
    for (size_t row = 0; row < s.n; row++)
        if (strcmp(name_of(trace, s.name[row]), name) == 0)
            return (ta_row)row;
    fail_msg("no span %s", name);
    return TA_NO_ROW;
}

static void assert_span(const struct ta_trace *trace, const char *name, int64_t ts, int64_t dur,
                        int64_t self, const char *parent, unsigned depth)
{
    const struct ta_spans s = ta_trace_spans(trace);
    const ta_row row = row_of(trace, name);
    if (s.ts[row] != ts || s.dur[row] != dur || s.self[row] != self || s.depth[row] != depth ||
        s.parent[row] != (parent ? row_of(trace, parent) : TA_NO_ROW))
        fail_msg("%s: ts %" PRId64 ", dur %" PRId64 ", self %" PRId64 ", parent %s, depth %u", name,
                 s.ts[row], s.dur[row], s.self[row],
                 s.parent[row] == TA_NO_ROW ? "none" : name_of(trace, s.name[s.parent[row]]),
                 s.depth[row]);
}

/* ---- order and nesting --------------------------------------------------------------------- */

static void spans_are_ordered(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'c','pid':1,'tid':1,'ts':5,'dur':1",
         "'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':2",
         "'ph':'X','name':'other','pid':1,'tid':2,'ts':0,'dur':9",
         "'ph':'X','name':'b','pid':1,'tid':1,'ts':1,'dur':2",
         "'ph':'X','name':'long','pid':1,'tid':1,'ts':1,'dur':7",
         "'ph':'X','name':'text','pid':'1','tid':'1','ts':'-3','dur':'0.5'");
    const struct ta_spans s = ta_trace_spans(r.trace);
    static const char *const expected[] = {"text", "long", "a", "b", "c", "other"};
    assert_int_equal(s.n, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(name_of(r.trace, s.name[i]), expected[i]);
    const struct ta_tracks tracks = ta_trace_tracks(r.trace);
    assert_int_equal(tracks.n, 2);
    assert_int_equal(tracks.at[0].first, 0);
    assert_int_equal(tracks.at[0].n, 5);
    assert_int_equal(tracks.at[1].first, 5);
    assert_int_equal(tracks.at[1].n, 1);
    assert_int_equal(s.track[5], 1);
    assert_int_equal(s.ts[0], -3000);
    assert_int_equal(s.dur[0], 500);
    assert_int_equal(ta_trace_origin(r.trace), -3000);
    assert_finding(&r.quality, TA_Q_STRING_NUMBER, 2, at(5));
    reading_free(&r);
}

static void children_take_from_their_parents(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'root','pid':1,'tid':1,'ts':0,'dur':100",
         "'ph':'X','name':'a','pid':1,'tid':1,'ts':10,'dur':30",
         "'ph':'X','name':'aa','pid':1,'tid':1,'ts':15,'dur':5",
         "'ph':'X','name':'b','pid':1,'tid':1,'ts':40,'dur':10",
         "'ph':'X','name':'point','pid':1,'tid':1,'ts':40,'dur':0",
         "'ph':'X','name':'next','pid':1,'tid':1,'ts':100,'dur':1",
         "'ph':'X','name':'device','cat':'kernel','pid':1,'tid':1,'ts':1,'dur':98",
         "'ph':'X','name':'note','cat':'gpu_user_annotation','pid':1,'tid':1,'ts':2,'dur':9");
    assert_span(r.trace, "root", 0, 100000, 60000, NULL, 0);
    assert_span(r.trace, "a", 10000, 30000, 25000, "root", 1);
    assert_span(r.trace, "aa", 15000, 5000, 5000, "a", 2);
    assert_span(r.trace, "b", 40000, 10000, 10000, "root", 1);
    assert_span(r.trace, "point", 40000, 0, 0, "b", 2);
    assert_span(r.trace, "next", 100000, 1000, 1000, NULL, 0);
    assert_span(r.trace, "device", 1000, 98000, 0, NULL, 0);
    assert_span(r.trace, "note", 2000, 9000, 0, NULL, 0);
    assert_no_finding(&r.quality);
    reading_free(&r);
}

static void crossing_spans_share_no_time(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'a','pid':1,'tid':1,'ts':0,'dur':10",
         "'ph':'X','name':'b','pid':1,'tid':1,'ts':5,'dur':10",
         "'ph':'X','name':'c','pid':1,'tid':1,'ts':6,'dur':1",
         "'ph':'X','name':'d','pid':1,'tid':1,'ts':12,'dur':5");
    assert_span(r.trace, "a", 0, 10000, 5000, NULL, 0);
    assert_span(r.trace, "b", 5000, 10000, 6000, "a", 1);
    assert_span(r.trace, "c", 6000, 1000, 1000, "b", 2);
    assert_span(r.trace, "d", 12000, 5000, 5000, "b", 2);
    assert_finding(&r.quality, TA_Q_OVERLAP, 2, TA_NO_OFFSET);
    assert_no_finding_but(&r.quality, TA_Q_OVERLAP);
    reading_free(&r);
}

/* Clock rounding is no crossing: up to a microsecond beyond the parent. */
static void rounding_is_no_overlap(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'a','pid':1,'tid':1,'ts':0,'dur':10",
         "'ph':'X','name':'b','pid':1,'tid':1,'ts':5,'dur':6");
    assert_no_finding(&r.quality);
    reading_free(&r);
    READ(&r, "'ph':'X','name':'a','pid':1,'tid':1,'ts':0,'dur':10",
         "'ph':'X','name':'b','pid':1,'tid':1,'ts':5,'dur':6.001");
    assert_finding(&r.quality, TA_Q_OVERLAP, 1, TA_NO_OFFSET);
    reading_free(&r);
}

/* Spans that nest, cross, coincide and have no length, on several threads and in any order. */
static void add_random_spans(struct text *text, struct rng *rng, size_t n, uint64_t range)
{
    static const char *const categories[] = {"cpu_op", "cuda_runtime",        "user_annotation",
                                             "kernel", "gpu_user_annotation", "Operator"};
    text_add(text, "[");
    for (size_t i = 0; i < n; i++)
        text_add(text,
                 "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"s%d\",\"pid\":1,\"tid\":%d,\"ts\":%d,"
                 "\"dur\":%d,\"args\":{\"correlation\":%d}}",
                 i ? "," : "", categories[rng_below(rng, 6)], (int)rng_below(rng, 9),
                 (int)rng_below(rng, 3), (int)rng_below(rng, range), (int)rng_below(rng, range / 2),
                 (int)rng_below(rng, n / 2 + 2));
    text_add(text, "]");
}

static void assert_nesting_as_oracle(const struct ta_trace *trace)
{
    const struct ta_spans s = ta_trace_spans(trace);
    struct oracle_span *expected = oracle_nesting(trace);
    for (size_t row = 0; row < s.n; row++) {
        if (s.self[row] != expected[row].self || s.parent[row] != expected[row].parent ||
            s.depth[row] != expected[row].depth)
            fail_msg("row %zu of %zu: self %" PRId64 " not %" PRId64 ", parent %u not %u", row, s.n,
                     s.self[row], expected[row].self, s.parent[row], expected[row].parent);
        if (row == 0 || s.track[row] != s.track[row - 1] ||
            ta_class_is_device(ta_trace_categories(trace).at[s.cat[row - 1]].class))
            continue; /* an activity may be cut after all are in order */
        assert_true(s.ts[row - 1] < s.ts[row] ||
                    (s.ts[row - 1] == s.ts[row] && s.dur[row - 1] >= s.dur[row]));
    }
    free(expected);
}

/* Of the calls with the id of an activity the earliest, then the first of the file. */
static ta_row call_with(const struct ta_trace *trace, int64_t correlation)
{
    const struct ta_spans s = ta_trace_spans(trace);
    const struct ta_args ids = ta_trace_args(trace, "correlation");
    ta_row found = TA_NO_ROW;
    for (size_t row = 0; row < s.n; row++) {
        int64_t id;
        if (correlation > 0 && ta_args_find(&ids, (ta_row)row, &id) && id == correlation &&
            ta_trace_categories(trace).at[s.cat[row]].class == TA_CLASS_RUNTIME &&
            (found == TA_NO_ROW || s.ts[row] < s.ts[found]))
            found = (ta_row)row;
    }
    return found;
}

static void assert_links_as_oracle(const struct ta_trace *trace)
{
    const struct ta_spans s = ta_trace_spans(trace);
    const struct ta_args ids = ta_trace_args(trace, "correlation");
    const struct ta_activities activities = ta_trace_activities(trace);
    size_t n = 0;
    for (size_t row = 0; row < s.n; row++)
        n += ta_class_is_device(ta_trace_categories(trace).at[s.cat[row]].class);
    assert_int_equal(activities.n, n);
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        int64_t id = 0;
        ta_args_find(&ids, a->span, &id);
        const ta_row call = call_with(trace, id);
        /* Which of two calls that start together is first, only the file knows. */
        assert_int_equal(a->launch == TA_NO_ROW, call == TA_NO_ROW);
        if (call == TA_NO_ROW) {
            assert_int_equal(a->op, TA_NO_ROW);
            continue;
        }
        assert_int_equal(s.ts[a->launch], s.ts[call]);
        assert_int_equal(a->op, oracle_operator(trace, a->launch));
    }
}

static void random_spans_as_by_brute_force(void **state)
{
    (void)state;
    struct rng rng = {31};
    for (int round = 0; round < 400; round++) {
        struct text text = {0};
        struct reading r;
        add_random_spans(&text, &rng, 1 + rng_below(&rng, 60), round % 2 ? 40 : 1000);
        fixture_read(&fixture, text.at, text.n, &r);
        assert_int_equal(r.status, TA_OK);
        assert_nesting_as_oracle(r.trace);
        assert_links_as_oracle(r.trace);
        reading_free(&r);
        text_free(&text);
    }
}

/* Far more disorder than the insertion pass is meant for. */
static void many_spans_in_no_order(void **state)
{
    (void)state;
    struct rng rng = {32};
    struct text text = {0};
    struct reading r;
    add_random_spans(&text, &rng, 3000, 100000);
    fixture_read(&fixture, text.at, text.n, &r);
    assert_nesting_as_oracle(r.trace);
    reading_free(&r);
    text_free(&text);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void begins_get_the_last_end(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'B','name':'a','cat':'cpu_op','pid':1,'tid':1,'ts':0,'args':{'bytes':5}",
         "'ph':'B','name':'b','pid':1,'tid':1,'ts':10", "'ph':'E','pid':1,'tid':1,'ts':20",
         "'ph':'B','name':'other','pid':1,'tid':2,'ts':5",
         "'ph':'E','name':'a','pid':1,'tid':1,'ts':50,'args':{'bytes':6}",
         "'ph':'E','name':'other','pid':1,'tid':2,'ts':5");
    const struct ta_spans s = ta_trace_spans(r.trace);
    assert_int_equal(s.n, 3);
    assert_span(r.trace, "a", 0, 50000, 40000, NULL, 0);
    assert_span(r.trace, "b", 10000, 10000, 10000, "a", 1);
    assert_span(r.trace, "other", 5000, 0, 0, NULL, 0);
    assert_int_equal(ta_trace_categories(r.trace).at[s.cat[0]].class, TA_CLASS_OP);
    const struct ta_args bytes = ta_trace_args(r.trace, "bytes");
    int64_t value = 0;
    assert_true(ta_args_find(&bytes, 0, &value)); /* those of the begin */
    assert_int_equal(value, 5);
    assert_int_equal(bytes.n, 1);
    assert_int_equal(r.kept, 6);
    assert_no_finding(&r.quality); /* an end need not name what it ends */
    reading_free(&r);
}

/* The values of a begin without an end go with it, those of its neighbors stay with theirs. */
static void arguments_of_dropped_spans_are_gone(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'last','pid':1,'tid':1,'ts':30,'dur':1,'args':{'bytes':3}",
         "'ph':'B','name':'open','pid':1,'tid':1,'ts':20,'args':{'bytes':2}",
         "'ph':'X','name':'first','pid':1,'tid':1,'ts':10,'dur':1,'args':{'bytes':1}");
    const struct ta_args bytes = ta_trace_args(r.trace, "bytes");
    assert_int_equal(ta_trace_spans(r.trace).n, 2);
    assert_int_equal(bytes.n, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(bytes.row[i], i);
    assert_int_equal(ta_args_value(&bytes, 0), 1);
    assert_int_equal(ta_args_value(&bytes, 1), 3);
    reading_free(&r);
}

/* Ends are met in time order, whatever the order of the file; at one time the file decides. */
static void pairs_out_of_order(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'E','name':'a','pid':1,'tid':1,'ts':30",
         "'ph':'B','name':'a','pid':1,'tid':1,'ts':10",
         "'ph':'E','name':'z','pid':1,'tid':1,'ts':40",
         "'ph':'B','name':'z','pid':1,'tid':1,'ts':40");
    assert_int_equal(ta_trace_spans(r.trace).n, 1);
    assert_span(r.trace, "a", 10000, 20000, 20000, NULL, 0);
    /* The end at 40 stands before the begin at 40. */
    assert_finding(&r.quality, TA_Q_UNMATCHED_END, 1, at(2));
    assert_finding(&r.quality, TA_Q_UNFINISHED, 1, at(3));
    assert_int_equal(r.kept, 3);
    assert_int_equal(r.dropped, 1);
    reading_free(&r);
}

static void pairs_that_do_not_fit(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'E','name':'early','pid':1,'tid':1,'ts':1",
         "'ph':'B','name':'a','pid':1,'tid':1,'ts':2", "'ph':'B','name':'b','pid':1,'tid':1,'ts':3",
         "'ph':'E','name':'a','pid':1,'tid':1,'ts':4", "'ph':'E','name':'b','pid':1,'tid':1,'ts':5",
         "'ph':'B','name':'open','pid':1,'tid':1,'ts':6",
         "'ph':'B','name':'far','pid':1,'tid':9,'ts':0",
         "'ph':'E','name':'far','pid':1,'tid':9,'ts':80000000000000");
    assert_int_equal(ta_trace_spans(r.trace).n, 2);
    assert_span(r.trace, "a", 2000, 3000, 2000, NULL, 0);
    assert_span(r.trace, "b", 3000, 1000, 1000, "a", 1);
    assert_finding(&r.quality, TA_Q_UNMATCHED_END, 1, at(0));
    assert_finding(&r.quality, TA_Q_CROSSED_PAIR, 2, at(3));
    assert_finding(&r.quality, TA_Q_UNFINISHED, 1, at(5));
    assert_finding(&r.quality, TA_Q_BAD_DURATION, 1, at(6));
    assert_no_finding_but(&r.quality, TA_Q_UNMATCHED_END, TA_Q_CROSSED_PAIR, TA_Q_UNFINISHED,
                          TA_Q_BAD_DURATION);
    assert_int_equal(r.kept, 7);
    assert_int_equal(r.dropped, 1);
    reading_free(&r);
}

/* ---- what has no duration or time ----------------------------------------------------------- */

static void durations(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'none','pid':1,'tid':1,'ts':1",
         "'ph':'X','name':'null','pid':1,'tid':1,'ts':1,'dur':null",
         "'ph':'X','name':'nan','pid':1,'tid':1,'ts':1,'dur':NaN",
         "'ph':'X','name':'negative','pid':1,'tid':1,'ts':1,'dur':-5",
         "'ph':'X','name':'wrapped','pid':1,'tid':1,'ts':1,'dur':18446744073709551.615",
         "'ph':'X','name':'huge','pid':1,'tid':1,'ts':1,'dur':1e300",
         "'ph':'X','name':'longest','pid':1,'tid':1,'ts':1,'dur':72057594037927.936",
         "'ph':'X','name':'longer','pid':1,'tid':1,'ts':1,'dur':72057594037927.937");
    assert_int_equal(ta_trace_spans(r.trace).n, 2);
    assert_int_equal(ta_trace_spans(r.trace).dur[row_of(r.trace, "longest")], INT64_C(1) << 56);
    assert_int_equal(ta_trace_spans(r.trace).dur[row_of(r.trace, "negative")], 0);
    assert_finding(&r.quality, TA_Q_UNFINISHED, 3, at(0));
    assert_finding(&r.quality, TA_Q_NEGATIVE_DURATION, 1, at(3));
    assert_finding(&r.quality, TA_Q_BAD_DURATION, 3, at(4));
    assert_finding(&r.quality, TA_Q_BAD_NUMBER, 1, at_part(2, "NaN"));
    assert_int_equal(r.kept, 8);
    assert_int_equal(r.dropped, 0);
    reading_free(&r);
}

static void times(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'good','pid':1,'tid':1,'ts':4539628424389459.967,'dur':1",
         "'ph':'X','name':'far','pid':1,'tid':1,'ts':4539628424389459.968,'dur':1",
         "'ph':'X','name':'none','pid':1,'tid':1,'dur':1",
         "'ph':'X','name':'nan','pid':1,'tid':1,'ts':NaN,'dur':1",
         "'ph':'i','name':'text','pid':1,'tid':1,'ts':'soon'",
         "'ph':'M','name':'process_name','pid':1,'args':{'name':'python'}");
    assert_int_equal(ta_trace_spans(r.trace).n, 1);
    assert_finding(&r.quality, TA_Q_BAD_TS, 4, at(1));
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 4);
    assert_int_equal(ta_trace_origin(r.trace), TA_TS_LARGEST - 1);
    reading_free(&r);
}

static void phases(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'a','ts':1,'dur':1", "'ph':'\\u0058','name':'escaped','ts':1,'dur':1",
         "'ph':'Y','ts':1", "'ph':'','ts':1", "'ph':'XX','ts':1", "'ph':5,'ts':1", "'ts':1",
         "'ph':'\\u0000','ts':1", "");
    assert_int_equal(ta_trace_spans(r.trace).n, 2);
    assert_finding(&r.quality, TA_Q_UNKNOWN_PHASE, 6, at(2));
    assert_finding(&r.quality, TA_Q_NOT_AN_EVENT, 1, at(8));
    assert_int_equal(r.quality.slots[TA_Q_NOT_AN_EVENT].severity, TA_QUALITY_INFO);
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 7);
    reading_free(&r);
    /* A raw NUL is no phase either. */
    static const char with_nul[] = "[{\"ph\":\"\0\",\"ts\":1},{\"ph\":\"X\",\"ts\":1,\"dur\":1}]";
    fixture_read(&fixture, with_nul, sizeof with_nul - 1, &r);
    assert_int_equal(r.kept, 1);
    assert_finding(&r.quality, TA_Q_UNKNOWN_PHASE, 1, 1);
    reading_free(&r);
}

static void events_without_a_time(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'a','ts':0,'dur':1", "'ph':'X','name':'b','ts':0,'dur':0",
         "'ph':'X','name':'c','ts':1700000000000000,'dur':1", "'ph':'i','name':'d','ts':0",
         "'ph':'X','name':'e','ts':1700000000000004,'dur':1");
    assert_finding(&r.quality, TA_Q_ZERO_TIME, 3, at(0));
    assert_int_equal(r.quality.slots[TA_Q_ZERO_TIME].severity, TA_QUALITY_LOSS);
    assert_int_equal(ta_trace_spans(r.trace).n, 2);
    assert_int_equal(ta_trace_instants(r.trace).n, 0);
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 3);
    assert_int_equal(ta_trace_origin(r.trace), 1700000000000000000);
    reading_free(&r);
    /* With a base of the clock that was subtracted, all have the same stamp before all others. */
    READ(&r, "'ph':'X','name':'a','ts':-1700000000000000,'dur':0",
         "'ph':'X','name':'b','ts':-1700000000000000,'dur':0", "'ph':'X','name':'c','ts':4,'dur':1",
         "'ph':'X','name':'e','ts':6,'dur':1");
    assert_finding(&r.quality, TA_Q_ZERO_TIME, 2, TA_NO_OFFSET);
    assert_int_equal(ta_trace_origin(r.trace), 4000);
    reading_free(&r);
    /* A kernel takes time, so an empty one apart from all others has none. */
    READ(&r, "'ph':'X','name':'k','cat':'kernel','ts':0,'dur':0",
         "'ph':'X','name':'c','ts':5000,'dur':1", "'ph':'X','name':'e','ts':60000,'dur':1");
    assert_finding(&r.quality, TA_Q_ZERO_TIME, 1, at(0));
    reading_free(&r);
    /* A trace may well begin at 0. */
    READ(&r, "'ph':'X','name':'a','ts':0,'dur':1", "'ph':'X','name':'b','ts':1,'dur':1");
    assert_no_finding(&r.quality);
    reading_free(&r);
    READ(&r, "'ph':'X','name':'a','ts':0,'dur':0", "'ph':'X','name':'b','ts':0,'dur':0",
         "'ph':'X','name':'c','ts':0,'dur':9", "'ph':'X','name':'d','ts':2000,'dur':1");
    assert_no_finding(&r.quality);
    assert_int_equal(ta_trace_origin(r.trace), 0);
    reading_free(&r);
}

/* ---- links ---------------------------------------------------------------------------------- */

static const struct ta_activity *activity_of(const struct ta_trace *trace, const char *name)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const ta_row row = row_of(trace, name);
    for (size_t i = 0; i < activities.n; i++)
        if (activities.at[i].span == row)
            return &activities.at[i];
    fail_msg("%s is no activity", name);
    return NULL;
}

static void assert_link(const struct ta_trace *trace, const char *name, const char *launch,
                        const char *op)
{
    const struct ta_activity *a = activity_of(trace, name);
    assert_int_equal(a->launch, launch ? row_of(trace, launch) : TA_NO_ROW);
    assert_int_equal(a->op, op ? row_of(trace, op) : TA_NO_ROW);
}

static void activities_find_their_call(void **state)
{
    (void)state;
    struct reading r;
    READ(
        &r, "'ph':'X','cat':'cpu_op','name':'outer','pid':1,'tid':1,'ts':0,'dur':100",
        "'ph':'X','cat':'cpu_op','name':'inner','pid':1,'tid':1,'ts':10,'dur':20",
        "'ph':'X','cat':'cpu_op','name':'ProfilerStep#3','pid':1,'tid':1,'ts':11,'dur':19",
        "'ph':'X','cat':'user_annotation','name':'note','pid':1,'tid':1,'ts':12,'dur':8",
        "'ph':'X','cat':'cuda_runtime','name':'launch','pid':1,'tid':1,'ts':15,'dur':2,'args':{"
        "'correlation':7}",
        "'ph':'X','cat':'cuda_runtime','name':'late','pid':1,'tid':1,'ts':16,'dur':2,'args':{"
        "'correlation':7}",
        "'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':40,'dur':5,'args':{'device':0,"
        "'correlation':7}",
        "'ph':'X','cat':'gpu_memset','name':'lost','pid':0,'tid':7,'ts':50,'dur':5,'args':{"
        "'device':0,'correlation':8}",
        "'ph':'X','cat':'cuda_driver','name':'alone','pid':1,'tid':2,'ts':15,'dur':2,'args':{"
        "'correlation':'9'}",
        "'ph':'X','cat':'gpu_memcpy','name':'m','pid':0,'tid':7,'ts':60,'dur':5,'args':{'device':0,"
        "'correlation':9}",
        "'ph':'X','cat':'cuda_runtime','name':'zero','pid':1,'tid':1,'ts':15,'dur':2,'args':{"
        "'correlation':0}",
        "'ph':'X','cat':'kernel','name':'none','pid':0,'tid':7,'ts':70,'dur':5,'args':{'"
        "correlation'"
        ":0}",
        "'ph':'X','cat':'cuda_runtime','name':'end','pid':1,'tid':1,'ts':30,'dur':2,'args':{"
        "'correlation':10}",
        "'ph':'X','cat':'kernel','name':'at end','pid':0,'tid':7,'ts':80,'dur':5,'args':{"
        "'correlation':10}");
    assert_link(r.trace, "k", "launch", "inner");
    assert_link(r.trace, "lost", NULL, NULL);
    assert_link(r.trace, "m", "alone", "alone"); /* no operator: the call itself */
    assert_link(r.trace, "none", NULL, NULL);
    assert_link(r.trace, "at end", "end", "outer"); /* the inner one ends where the call starts */
    reading_free(&r);
}

/* A call and an operator that start together: the operator counts as open, the shorter one too. */
static void operators_that_start_with_the_call(void **state)
{
    (void)state;
    struct reading r;
    READ(&r,
         "'ph':'X','cat':'cuda_runtime','name':'call','pid':1,'tid':1,'ts':5,'dur':9,'args':{"
         "'correlation':1}",
         "'ph':'X','cat':'cpu_op','name':'long','pid':1,'tid':1,'ts':5,'dur':20",
         "'ph':'X','cat':'Operator','name':'short','pid':1,'tid':1,'ts':5,'dur':1",
         "'ph':'X','cat':'cpu_op','name':'empty','pid':1,'tid':1,'ts':5,'dur':0",
         "'ph':'X','cat':'Kernel','name':'k','pid':0,'tid':7,'ts':40,'dur':5,'args':{'correlation':"
         "1}");
    assert_link(r.trace, "k", "call", "short");
    reading_free(&r);
}

/* Two calls with one id at one time: the first of the file, wherever it lies after sorting. */
static void calls_that_tie(void **state)
{
    (void)state;
    struct reading r;
    READ(&r,
         "'ph':'X','cat':'cuda_runtime','name':'first','pid':1,'tid':1,'ts':5,'dur':1,'args':{"
         "'correlation':1}",
         "'ph':'X','cat':'cuda_runtime','name':'longer','pid':1,'tid':1,'ts':5,'dur':9,'args':{"
         "'correlation':1}",
         "'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':40,'dur':5,'args':{'correlation':"
         "1}");
    assert_link(r.trace, "k", "first", "first");
    reading_free(&r);
}

static void devices_and_order_of_activities(void **state)
{
    (void)state;
    struct reading r;
    READ(&r,
         "'ph':'X','cat':'kernel','name':'d1','pid':9,'tid':7,'ts':1,'dur':5,'args':{'device':1}",
         "'ph':'X','cat':'kernel','name':'d0 "
         "late','pid':9,'tid':7,'ts':9,'dur':5,'args':{'device':0}",
         "'ph':'X','cat':'kernel','name':'pid','pid':0,'tid':8,'ts':3,'dur':5",
         "'ph':'X','cat':'kernel','name':'unknown','pid':'GPU','tid':8,'ts':2,'dur':5",
         "'ph':'X','cat':'kernel','name':'text','pid':'2','tid':8,'ts':2,'dur':5,'args':{'device':'"
         "x'}",
         "'ph':'X','cat':'cuda_sync','name':'sync','pid':0,'tid':8,'ts':2,'dur':5,'args':{'device':"
         "0}");
    const struct ta_activities activities = ta_trace_activities(r.trace);
    static const struct {
        const char *name;
        int64_t device;
    } expected[] = {
        {"unknown", TA_MISSING}, {"pid", 0}, {"d0 late", 0}, {"d1", 1}, {"text", 2},
    };
    assert_int_equal(activities.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(activities.at[i].span, row_of(r.trace, expected[i].name));
        assert_true(activities.at[i].device == expected[i].device);
    }
    reading_free(&r);
}

/* ---- vendors
 * ------------------------------------------------------------------------------------- */

static void vendors(void **state)
{
    (void)state;
    static const struct {
        const char *category, *call, *vendor;
    } cases[] = {
        {"cuda_runtime", "cudaLaunchKernel", "CUDA"}, {"cuda_driver", "cuLaunchKernelEx", "CUDA"},
        {"cuda_runtime", "hipLaunchKernel", "ROCm"},  {"hip_runtime", "hipModuleLaunch", "ROCm"},
        {"mtia_runtime", "mtiaLaunch", "MTIA"},       {"xpu_runtime", "zeCommandList", "XPU"},
        {"cuda_runtime", "somethingElse", NULL},      {"cpu_op", "cudaLaunchKernel", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r;
        char event[256];
        snprintf(event, sizeof event,
                 "'ph':'X','cat':'%s','name':'%s','pid':1,'tid':1,'ts':1,'dur':2",
                 cases[i].category, cases[i].call);
        READ(&r, event);
        if (cases[i].vendor)
            assert_string_equal(r.vendor, cases[i].vendor);
        else
            assert_null(r.vendor);
        reading_free(&r);
    }
}

/* ---- facts of the file
 * ------------------------------------------------------------------------------ */

static void names_of_processes_and_threads(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'M','name':'process_name','pid':1,'tid':0,'args':{'name':'old'}",
         "'ph':'X','name':'a','pid':1,'tid':5,'ts':1,'dur':1",
         "'ph':'X','name':'b','pid':1,'tid':6,'ts':1,'dur':1",
         "'ph':'X','name':'c','pid':2,'tid':5,'ts':1,'dur':1",
         "'ph':'M','name':'thread_name','pid':1,'tid':6,'args':{'sort':1,'name':'worker'}",
         "'ph':'M','name':'process_name','pid':1,'args':{'name':'python'}",
         "'ph':'M','name':'process_labels','pid':2,'args':{'labels':'GPU'}");
    const struct ta_tracks tracks = ta_trace_tracks(r.trace);
    const struct ta_spans s = ta_trace_spans(r.trace);
    const struct ta_track *a = &tracks.at[s.track[row_of(r.trace, "a")]];
    const struct ta_track *b = &tracks.at[s.track[row_of(r.trace, "b")]];
    const struct ta_track *c = &tracks.at[s.track[row_of(r.trace, "c")]];
    assert_string_equal(name_of(r.trace, a->process_name), "python"); /* the last one wins */
    assert_int_equal(a->thread_name, TA_STR_ABSENT);
    assert_string_equal(name_of(r.trace, b->process_name), "python");
    assert_string_equal(name_of(r.trace, b->thread_name), "worker");
    assert_int_equal(c->process_name, TA_STR_ABSENT);
    assert_string_equal(name_of(r.trace, c->pid), "2");
    reading_free(&r);
}

static void what_the_file_says_about_itself(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_text(
        &fixture,
        "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"dur\":1}],\"distributedInfo\":{\"rank\":"
        "\"3\",\"world_size\":8},\"baseTimeNanoseconds\":1700000000123456789}",
        &r);
    assert_int_equal(r.rank, 3);
    assert_int_equal(r.world_size, 8);
    assert_int_equal(ta_trace_base_ns(r.trace), INT64_C(1700000000123456789));
    assert_no_finding(&r.quality);
    reading_free(&r);
    fixture_read_text(
        &fixture,
        "{\"distributedInfo\":{\"rank\":-1,\"world_size\":null},\"baseTimeNanoseconds\":"
        "1.5,\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"dur\":1}]}",
        &r);
    assert_true(r.rank == TA_MISSING && r.world_size == TA_MISSING);
    assert_true(ta_trace_base_ns(r.trace) == TA_MISSING);
    reading_free(&r);
}

/* ---- traces of nothing ---------------------------------------------------------------------- */

static void empty_traces(void **state)
{
    (void)state;
    static const char *const empty[] = {"[]", "{\"traceEvents\":[]}", " [ ] "};
    static const char *const refused[] = {"[",
                                          "[ \n",
                                          "[,",
                                          "[]\n[",
                                          "{}",
                                          "{\"a\":1}",
                                          "[5]",
                                          "[{\"ph\":\"X\"}]",
                                          "{\"traceEvents\":[{\"ph\":\"X\"",
                                          "",
                                          "x"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        struct reading r;
        fixture_read_text(&fixture, empty[i], &r);
        assert_int_equal(r.status, TA_OK);
        assert_finding(&r.quality, TA_Q_NO_EVENTS, 1, TA_NO_OFFSET);
        assert_int_equal(ta_trace_spans(r.trace).n, 0);
        assert_int_equal(ta_trace_origin(r.trace), 0);
        reading_free(&r);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct reading r;
        fixture_read_text(&fixture, refused[i], &r);
        assert_int_equal(r.status, TA_ERR_INPUT);
        assert_int_equal(r.kept, 0);
        assert_null(r.trace);
        reading_free(&r);
    }
    struct reading r;
    READ(&r, "'ph':'M','name':'process_name','pid':1,'args':{'name':'python'}");
    assert_int_equal(r.kept, 1);
    assert_finding(&r.quality, TA_Q_NO_EVENTS, 1, TA_NO_OFFSET);
    reading_free(&r);
}

/* ---- tables on demand
 * ------------------------------------------------------------------------------ */

#define SOME_OF_EACH                                                                               \
    "'ph':'C','name':'memory','pid':1,'tid':1,'ts':5,'args':{'used':1.5,'free':2,'no':'x'}",       \
        "'ph':'C','name':'memory','pid':1,'tid':1,'ts':3,'args':{'used':0.5}",                     \
        "'ph':'i','name':'mark','cat':'x','pid':1,'tid':1,'ts':9",                                 \
        "'ph':'I','name':'old mark','pid':1,'tid':1,'ts':8",                                       \
        "'ph':'s','name':'flow','id':7,'cat':'ac2g','pid':1,'tid':1,'ts':1",                       \
        "'ph':'f','name':'flow','id':7,'cat':'ac2g','pid':1,'tid':2,'ts':2,'bp':'e'",              \
        "'ph':'b','name':'job','id':'0x1','cat':'j','pid':1,'tid':1,'ts':10",                      \
        "'ph':'e','name':'job','id':'0x1','cat':'j','pid':1,'tid':9,'ts':25",                      \
        "'ph':'X','name':'span','pid':1,'tid':1,'ts':0,'dur':1"

static void nobody_asked(void **state)
{
    (void)state;
    struct reading r;
    const uint32_t needs = fixture.plan.needs;
    fixture.plan.needs = 0;
    READ(&r, SOME_OF_EACH);
    fixture.plan.needs = needs;
    assert_int_equal(ta_trace_counters(r.trace).n, 0);
    assert_int_equal(ta_trace_instants(r.trace).n, 0);
    assert_int_equal(ta_trace_flows(r.trace).n, 0);
    assert_int_equal(ta_trace_asyncs(r.trace).n, 0);
    assert_int_equal(ta_trace_spans(r.trace).n, 1);
    int64_t events = 0;
    const struct ta_kind_counts kinds = ta_trace_kind_counts(r.trace);
    for (size_t i = 0; i < kinds.n; i++)
        events += kinds.at[i].count;
    assert_int_equal(events, 9); /* counted all the same */
    assert_int_equal(r.kept, 9);
    reading_free(&r);
}

static void somebody_asked(void **state)
{
    (void)state;
    struct reading r;
    const uint32_t needs = fixture.plan.needs;
    fixture.plan.needs = TA_NEED_COUNTERS | TA_NEED_INSTANTS | TA_NEED_FLOWS | TA_NEED_ASYNCS;
    READ(&r, SOME_OF_EACH);
    fixture.plan.needs = needs;
    const struct ta_counters counters = ta_trace_counters(r.trace);
    assert_int_equal(counters.n, 3);
    bool found = false;
    for (size_t i = 0; i < counters.n_series; i++) {
        const struct ta_counter_series *series = &counters.series[i];
        assert_string_equal(name_of(r.trace, series->name), "memory");
        for (size_t s = series->first; s < series->first + series->n; s++)
            found |= counters.value[s] == 1.5 && counters.ts[s] == 5000 &&
                     strcmp(name_of(r.trace, series->series), "used") == 0;
    }
    assert_true(found);
    const struct ta_instants instants = ta_trace_instants(r.trace);
    assert_int_equal(instants.n, 2);
    assert_string_equal(name_of(r.trace, instants.name[0]), "mark");
    assert_int_equal(instants.ts[1], 8000);
    const struct ta_flows flows = ta_trace_flows(r.trace);
    assert_int_equal(flows.n, 2);
    assert_int_equal(flows.phase[0], 's');
    assert_int_equal(flows.phase[1], 'f');
    assert_int_equal(flows.id[0], flows.id[1]);
    const struct ta_asyncs asyncs = ta_trace_asyncs(r.trace);
    assert_int_equal(asyncs.n, 1);
    assert_int_equal(asyncs.ts[0], 10000);
    assert_int_equal(asyncs.dur[0], 15000);
    assert_string_equal(name_of(r.trace, asyncs.id[0]), "0x1");
    reading_free(&r);
}

/* Each series once, by its ids, and the samples of all one after the other, by time; those of one
 * time by their value, as the tests number them. */
static void assert_counters(const struct ta_counters *c, size_t n)
{
    size_t next = 0;
    for (size_t i = 0; i < c->n_series; i++) {
        const struct ta_counter_series *s = &c->series[i];
        const uint64_t name = (uint64_t)s->name << 32 | s->series;
        if (i && s->track == s[-1].track)
            assert_true(name > ((uint64_t)s[-1].name << 32 | s[-1].series));
        else if (i)
            assert_true(s->track > s[-1].track);
        assert_int_equal(s->first, next);
        assert_true(s->n > 0);
        next += s->n;
        for (size_t at = s->first + 1; at < next; at++)
            assert_true(c->ts[at - 1] < c->ts[at] ||
                        (c->ts[at - 1] == c->ts[at] && c->value[at - 1] < c->value[at]));
    }
    assert_int_equal(next, n);
    assert_int_equal(c->n, n);
}

/* Counter samples are ordered by (track, name, series, time), whatever the file does. */
static void counters_are_ordered(void **state)
{
    (void)state;
    struct reading r;
    const uint32_t needs = fixture.plan.needs;
    fixture.plan.needs = TA_NEED_COUNTERS;
    READ(&r, "'ph':'C','name':'m','pid':1,'tid':1,'ts':5,'args':{'b':4,'a':2}",
         "'ph':'C','name':'m','pid':2,'tid':1,'ts':1,'args':{'a':5}",
         "'ph':'C','name':'m','pid':1,'tid':1,'ts':3,'args':{'a':1,'b':3}");
    fixture.plan.needs = needs;
    const struct ta_counters c = ta_trace_counters(r.trace);
    assert_counters(&c, 5);
    assert_int_equal(c.n_series, 3);
    const double values[] = {3, 4, 1, 2, 5}; /* names have their numbers in the order of the file */
    assert_memory_equal(c.value, values, sizeof values);
    reading_free(&r);
}

/* The same of many series in any order, and samples of one time stay as they came. */
static void counters_of_many_series(void **state)
{
    (void)state;
    enum { SAMPLES = 4000 };
    struct text text = {0};
    struct reading r;
    const uint32_t needs = fixture.plan.needs;
    text_add(&text, "[");
    for (unsigned i = 0, random = 7; i < SAMPLES; i++) {
        random = random * 1103515245 + 12345;
        text_add(&text,
                 "%s{\"ph\":\"C\",\"name\":\"n%u\",\"pid\":%u,\"tid\":1,\"ts\":%u,"
                 "\"args\":{\"s%u\":%u}}",
                 i ? "," : "", random >> 10 & 3, random >> 12 & 1, random >> 16 & 255,
                 random >> 13 & 7, i);
    }
    text_add(&text, "]");
    fixture.plan.needs = TA_NEED_COUNTERS;
    fixture_read(&fixture, text.at, text.n, &r);
    fixture.plan.needs = needs;
    const struct ta_counters c = ta_trace_counters(r.trace);
    assert_int_equal(c.n_series, 2 * 4 * 8);
    assert_counters(&c, SAMPLES);
    reading_free(&r);
    text_free(&text);
}

static void asynchronous_pairs(void **state)
{
    (void)state;
    struct reading r;
    const uint32_t needs = fixture.plan.needs;
    fixture.plan.needs = TA_NEED_ASYNCS;
    READ(&r, "'ph':'b','name':'a','id':1,'cat':'x','ts':0",
         "'ph':'b','name':'a','id':2,'cat':'x','ts':1",
         "'ph':'b','name':'b','id':1,'cat':'x','ts':2",
         "'ph':'b','name':'a','id':1,'cat':'y','ts':3",
         "'ph':'b','name':'a','id':1,'cat':'x','ts':4",
         "'ph':'e','name':'a','id':1,'cat':'x','ts':10",
         "'ph':'e','name':'a','id':1,'cat':'x','ts':20",
         "'ph':'e','name':'a','id':2,'cat':'x','ts':30",
         "'ph':'e','name':'a','id':1,'cat':'y','ts':40",
         "'ph':'e','name':'c','id':1,'cat':'x','ts':50", "'ph':'X','name':'span','ts':0,'dur':1");
    fixture.plan.needs = needs;
    const struct ta_asyncs asyncs = ta_trace_asyncs(r.trace);
    assert_int_equal(asyncs.n, 4);
    int64_t sum = 0;
    for (size_t i = 0; i < asyncs.n; i++)
        sum += asyncs.dur[i];
    /* Last in first out within (category, id, name): 4–10, 0–20, 1–30, 3–40. */
    assert_int_equal(sum, 92000);
    reading_free(&r);
}

/* ---- arguments and limits
 * ------------------------------------------------------------------------- */

static void arguments_follow_their_spans(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'late','ts':9,'dur':1,'args':{'bytes':90}",
         "'ph':'X','name':'open','ts':5,'args':{'bytes':50}",
         "'ph':'X','name':'early','ts':1,'dur':1,'args':{'other':1,'bytes':'10'}",
         "'ph':'X','name':'none','ts':2,'dur':1,'args':{'bytes':null}",
         "'ph':'X','name':'text','ts':3,'dur':1,'args':{'bytes':'many'}",
         "'ph':'X','name':'real','ts':4,'dur':1,'args':{'bytes':1.5}");
    const struct ta_args bytes = ta_trace_args(r.trace, "bytes");
    int64_t value = 0;
    assert_true(ta_args_find(&bytes, row_of(r.trace, "late"), &value));
    assert_int_equal(value, 90);
    assert_true(ta_args_find(&bytes, row_of(r.trace, "early"), &value));
    assert_int_equal(value, 10);
    assert_false(ta_args_find(&bytes, row_of(r.trace, "none"), &value));
    assert_false(ta_args_find(&bytes, row_of(r.trace, "text"), &value));
    assert_false(ta_args_find(&bytes, row_of(r.trace, "real"), &value));
    assert_false(ta_args_find(&bytes, 1000, &value));
    assert_int_equal(value, 10);
    for (size_t i = 1; i < bytes.n; i++)
        assert_true(bytes.row[i - 1] < bytes.row[i]);
    assert_int_equal(ta_trace_args(r.trace, "other").n, 0); /* nobody asked */
    reading_free(&r);
}

/* What only linking asks for is gone once launches are linked; nothing else is. */
static void arguments_for_linking(void **state)
{
    (void)state;
    static const char text[] =
        "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":20,\"dur\":5,\"pid\":0,\"tid\":7,"
        "\"args\":{\"correlation\":3,\"device\":2,\"grid\":[1,1,1]}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":10,\"dur\":2,"
        "\"pid\":1,\"tid\":1,\"args\":{\"correlation\":3}}]";
    for (int clears = 0; clears < 2; clears++) {
        struct reading r;
        fixture.drops_args = clears;
        fixture_read_text(&fixture, text, &r);
        fixture.drops_args = false;
        const struct ta_activities activities = ta_trace_activities(r.trace);
        assert_int_equal(activities.n, 1);
        assert_int_equal(activities.at[0].device, 2);
        assert_int_equal(ta_trace_spans(r.trace).ts[activities.at[0].launch], 10000);
        assert_int_equal(ta_trace_args(r.trace, "correlation").n, clears ? 0 : 2);
        assert_int_equal(ta_trace_args(r.trace, "device").n, clears ? 0 : 1);
        assert_int_equal(ta_trace_args(r.trace, "grid").n, 1);
        reading_free(&r);
    }
}

/* Of an argument that analyses want of a sample of operators other events keep no value. */
static void arguments_of_operators(void **state)
{
    (void)state;
    static const char text[] =
        "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":20,\"dur\":5,\"pid\":0,\"tid\":7,"
        "\"args\":{\"External id\":3,\"bytes\":8}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ts\":10,\"dur\":2,"
        "\"pid\":1,\"tid\":1,\"args\":{\"External id\":3,\"bytes\":9}}]";
    for (int drops = 0; drops < 2; drops++) {
        struct reading r;
        fixture.drops_args = drops;
        fixture_read_text(&fixture, text, &r);
        fixture.drops_args = false;
        const struct ta_args ids = ta_trace_args(r.trace, "External id");
        assert_int_equal(ids.n, drops ? 1 : 2);
        assert_true(ta_args_place(&ids, row_of(r.trace, "aten::mm")) < ids.n);
        assert_int_equal(ta_trace_args(r.trace, "bytes").n, 2);
        reading_free(&r);
    }
}

/* Operators behind the first TA_SAMPLED_BYTES of a file are not of its sample. */
static void arguments_of_first_operators(void **state)
{
    (void)state;
    static const char event[] = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":%d,"
                                "\"dur\":2,\"pid\":1,\"tid\":1,\"args\":"
                                "{\"External id\":3,\"bytes\":9}}";
    char *text = malloc(TA_SAMPLED_BYTES + 1024);
    assert_non_null(text);
    size_t at = 0;
    text[at++] = '[';
    at += (size_t)sprintf(text + at, event, "early", 10);
    text[at++] = ',';
    memset(text + at, ' ', TA_SAMPLED_BYTES - at);
    at = TA_SAMPLED_BYTES;
    at += (size_t)sprintf(text + at, event, "late", 20);
    strcpy(text + at, "]");
    struct reading r;
    fixture.drops_args = true;
    fixture_read_text(&fixture, text, &r);
    fixture.drops_args = false;
    free(text);
    assert_int_equal(ta_trace_spans(r.trace).n, 2);
    const struct ta_args ids = ta_trace_args(r.trace, "External id");
    assert_int_equal(ids.n, 1);
    assert_int_equal(ta_args_place(&ids, row_of(r.trace, "early")), 0);
    assert_int_equal(ta_trace_args(r.trace, "bytes").n, 2);
    reading_free(&r);
}

/* Arguments that the same spans have share one list of rows; others do not. */
static void arguments_share_rows(void **state)
{
    (void)state;
    struct reading r;
    READ(&r, "'ph':'X','name':'third','ts':9,'dur':1,'args':{'grid':[3],'block':[30],'bytes':3}",
         "'ph':'X','name':'first','ts':1,'dur':1,'args':{'grid':[1],'block':7,'bytes':'1'}",
         "'ph':'X','name':'second','ts':5,'dur':1,'args':{'grid':[2],'block':[20]}",
         "'ph':'X','name':'open','ts':6,'args':{'grid':[9],'block':[9]}");
    const struct ta_args grid = ta_trace_args(r.trace, "grid");
    const struct ta_args block = ta_trace_args(r.trace, "block");
    const struct ta_args bytes = ta_trace_args(r.trace, "bytes");
    assert_int_equal(grid.n, 3);
    assert_int_equal(block.n, 3);
    assert_ptr_equal(grid.row, block.row);
    assert_ptr_not_equal(grid.row, bytes.row);
    assert_int_equal(bytes.n, 2);
    static const struct {
        const char *name, *grid, *block;
    } all[] = {{"first", "[1]", NULL}, {"second", "[2]", "[20]"}, {"third", "[3]", "[30]"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const ta_row row = row_of(r.trace, all[i].name);
        assert_int_equal(ta_args_place(&grid, row), i);
        assert_int_equal(ta_args_place(&block, row), i);
        assert_string_equal(name_of(r.trace, ta_args_text(&grid, row)), all[i].grid);
        if (all[i].block)
            assert_string_equal(name_of(r.trace, ta_args_text(&block, row)), all[i].block);
    }
    int64_t value = 0;
    assert_true(ta_args_find(&block, row_of(r.trace, "first"), &value));
    assert_int_equal(value, 7);
    assert_int_equal(ta_args_place(&bytes, row_of(r.trace, "second")), bytes.n);
    assert_int_equal(ta_args_place(&bytes, row_of(r.trace, "third")), 1);
    reading_free(&r);
}

/* Names beyond the limit share one, and totals stay right. */
static void the_limit_of_names(void **state)
{
    (void)state;
    struct text text = {0};
    struct reading r;
    text_add(&text, "[");
    for (int i = 0; i < 100; i++)
        text_add(&text, "%s{\"ph\":\"X\",\"name\":\"n%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1}",
                 i ? "," : "", i, i);
    text_add(&text, "]");
    const uint64_t before = fixture.shared.limits[TA_LIMIT_NAMES];
    fixture.shared.limits[TA_LIMIT_NAMES] = 20;
    fixture_read(&fixture, text.at, text.n, &r);
    fixture.shared.limits[TA_LIMIT_NAMES] = before;
    assert_int_equal(ta_trace_spans(r.trace).n, 100);
    /* 20 texts, the one for all others, and the absent one. */
    assert_int_equal(ta_trace_string_count(r.trace), 22);
    assert_true(r.quality.slots[TA_Q_LIMIT].count > 0);
    assert_non_null(strstr(r.quality.slots[TA_Q_LIMIT].text, "\"names\""));
    size_t pooled = 0;
    for (size_t row = 0; row < 100; row++)
        pooled += strcmp(name_of(r.trace, ta_trace_spans(r.trace).name[row]), "(other names)") == 0;
    assert_int_equal(pooled, 100 - 17); /* "1", "" and "[memory]" are among the 20 */
    reading_free(&r);
    text_free(&text);
}

static void very_many_categories(void **state)
{
    (void)state;
    struct text text = {0};
    struct reading r;
    text_add(&text, "[");
    for (int i = 0; i < 5000; i++)
        text_add(&text, "%s{\"ph\":\"X\",\"cat\":\"c%d\",\"name\":\"n\",\"ts\":%d,\"dur\":1}",
                 i ? "," : "", i, i);
    text_add(&text, "]");
    fixture_read(&fixture, text.at, text.n, &r);
    assert_int_equal(ta_trace_categories(r.trace).n, 4096);
    assert_int_equal(r.quality.slots[TA_Q_LIMIT].count, 5000 - 4096);
    int64_t events = 0;
    const struct ta_kind_counts kinds = ta_trace_kind_counts(r.trace);
    for (size_t i = 0; i < kinds.n; i++)
        events += kinds.at[i].count;
    assert_int_equal(events, 5000);
    reading_free(&r);
    text_free(&text);
}

/* ---- all of it together
 * ----------------------------------------------------------------------------- */

static void a_whole_trace_as_by_brute_force(void **state)
{
    (void)state;
    for (int layout = 0; layout < 3; layout++) {
        struct text text = {0};
        struct reading r;
        fixture_trace_text(&text, 5, 900, layout, 3);
        fixture_read(&fixture, text.at, text.n, &r);
        assert_int_equal(r.kept, 900);
        assert_int_equal(r.rank, 3);
        assert_int_equal(r.world_size, 8);
        r.quality.slots[TA_Q_OVERLONG].count = 0; /* its kernels lie anywhere */
        assert_no_finding_but(&r.quality, TA_Q_OVERLAP);
        assert_nesting_as_oracle(r.trace);
        assert_links_as_oracle(r.trace);
        assert_true(ta_trace_activities(r.trace).n > 200);
        reading_free(&r);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_ordered),
        cmocka_unit_test(children_take_from_their_parents),
        cmocka_unit_test(crossing_spans_share_no_time),
        cmocka_unit_test(rounding_is_no_overlap),
        cmocka_unit_test(random_spans_as_by_brute_force),
        cmocka_unit_test(many_spans_in_no_order),
        cmocka_unit_test(begins_get_the_last_end),
        cmocka_unit_test(arguments_of_dropped_spans_are_gone),
        cmocka_unit_test(pairs_out_of_order),
        cmocka_unit_test(pairs_that_do_not_fit),
        cmocka_unit_test(durations),
        cmocka_unit_test(times),
        cmocka_unit_test(phases),
        cmocka_unit_test(events_without_a_time),
        cmocka_unit_test(activities_find_their_call),
        cmocka_unit_test(operators_that_start_with_the_call),
        cmocka_unit_test(calls_that_tie),
        cmocka_unit_test(devices_and_order_of_activities),
        cmocka_unit_test(vendors),
        cmocka_unit_test(names_of_processes_and_threads),
        cmocka_unit_test(what_the_file_says_about_itself),
        cmocka_unit_test(empty_traces),
        cmocka_unit_test(nobody_asked),
        cmocka_unit_test(somebody_asked),
        cmocka_unit_test(counters_are_ordered),
        cmocka_unit_test(counters_of_many_series),
        cmocka_unit_test(asynchronous_pairs),
        cmocka_unit_test(arguments_follow_their_spans),
        cmocka_unit_test(arguments_for_linking),
        cmocka_unit_test(arguments_of_operators),
        cmocka_unit_test(arguments_of_first_operators),
        cmocka_unit_test(arguments_share_rows),
        cmocka_unit_test(the_limit_of_names),
        cmocka_unit_test(very_many_categories),
        cmocka_unit_test(a_whole_trace_as_by_brute_force),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
