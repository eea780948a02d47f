/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables, records and values of summaries: what is written is read again, and nothing else is. */
#include "analyze/summary/records.h"
#include "analyze/summary/summary.h"
#include "analyze/summary/table.h"

#include "stat/dist.h"
#include "trace_fixture.h"

#include <math.h>
#include <stdio.h>

/* ---- values -------------------------------------------------------------------------------- */

static struct ta_slice text_of(const struct ta_text *text)
{
    assert_false(text->failed);
    return ta_text_slice(text);
}

static void integers(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, -1, 9, 10, INT64_MAX, -INT64_MAX, TA_MISSING};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct ta_text text = {0};
        ta_text_int(&text, values[i]);
        ta_text_putc(&text, ' '); /* a number does not end with the text */
        struct ta_pull pull = ta_pull_of(text_of(&text), NULL);
        assert_true(ta_pull_int(&pull) == values[i] && !pull.problem && ta_pull_at_end(&pull));
        free(text.bytes.at);
    }
}

static void wide_numbers(void **state)
{
    (void)state;
    const unsigned __int128 most = ~(unsigned __int128)0;
    const unsigned __int128 values[] = {0, 7, UINT64_MAX, (unsigned __int128)1 << 64, most};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct ta_text text = {0};
        ta_text_wide(&text, values[i]);
        struct ta_pull pull = ta_pull_of(text_of(&text), NULL);
        assert_true(ta_pull_wide(&pull) == values[i] && !pull.problem);
        free(text.bytes.at);
    }
    /* 2^128, one too many. */
    struct ta_pull pull = ta_pull_of(TA_LIT("\"340282366920938463463374607431768211456\""), NULL);
    ta_pull_wide(&pull);
    assert_non_null(pull.problem);
}

static void reals(void **state)
{
    (void)state;
    static const double values[] = {0.0, -0.5, 0.1, 1e-310, 1.7976931348623157e308, 12345678.9};
    struct ta_text text = {0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        text.bytes.n = 0;
        ta_text_real(&text, values[i]);
        ta_text_putc(&text, ' ');
        struct ta_pull pull = ta_pull_of(text_of(&text), NULL);
        assert_true(ta_pull_real(&pull) == values[i] && !pull.problem);
    }
    text.bytes.n = 0;
    ta_text_real(&text, (double)-INFINITY);
    ta_text_putc(&text, ' ');
    struct ta_pull pull = ta_pull_of(text_of(&text), NULL);
    assert_true(isinf(ta_pull_real(&pull)));
    text.bytes.n = 0;
    ta_text_real(&text, (double)NAN);
    ta_text_putc(&text, ' ');
    pull = ta_pull_of(text_of(&text), NULL);
    assert_true(isnan(ta_pull_real(&pull)) && !pull.problem);
    free(text.bytes.at);
}

static void strings(void **state)
{
    (void)state;
    static const struct ta_slice values[] = {{"", 0},         {"plain", 5},        {"\"\\/", 3},
                                             {"a\0b", 3},     {"\x01\n\x7f", 3},   {"\xc3\xa4", 2},
                                             {"\xff\xfe", 2}, {"x\xed\xa0\x80", 4}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct ta_text text = {0};
        struct ta_arena arena = {0};
        ta_text_string(&text, values[i]);
        struct ta_pull pull = ta_pull_of(text_of(&text), &arena);
        assert_true(ta_slice_equal(ta_pull_string(&pull), values[i]));
        assert_null(pull.problem);
        assert_true(ta_pull_at_end(&pull));
        free(text.bytes.at);
        ta_arena_free(&arena);
    }
}

static void what_is_no_value(void **state)
{
    (void)state;
    static const struct {
        const char *text, *problem;
        size_t place;
        enum { INT, STRING, BOOL, REAL, SKIP } as;
    } cases[] = {
        {"", "it ends early", 0, INT},
        {"12", "it ends early", 2, INT},
        {"1.5,", "expected a whole number", 0, INT},
        {"1e3,", "expected a whole number", 0, INT},
        {"01,", "expected a whole number", 0, INT},
        {"9223372036854775808,", "a number is out of range", 0, INT},
        {"nul", "it ends early", 3, INT},
        {"nil,", "expected a value", 0, INT},
        {"\"abc", "it ends early", 4, STRING},
        {"\"a\\q\"", "a string holds an unknown escape", 2, STRING},
        {"\"\xff\"", "a string is no UTF-8", 1, STRING},
        {"\"a\nb\"", "a string holds a control character", 2, STRING},
        {"{\"hex\":\"0g\"}", "expected a string or bytes", 11, STRING},
        {"{\"hex\":\"012\"}", "expected a string or bytes", 12, STRING},
        {"truth", "expected true or false", 0, BOOL},
        {"1.2.3,", "expected a number", 3, REAL},
        {"NaN,", "a number is out of range", 0, REAL},
        {"[[1,2]", "it ends early", 6, SKIP},
        {"[1,]", "a comma too many", 3, SKIP},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ta_arena arena = {0};
        struct ta_pull pull = ta_pull_of(ta_slice_of(cases[i].text), &arena);
        switch (cases[i].as) {
        case INT:
            ta_pull_int(&pull);
            break;
        case STRING:
            ta_pull_string(&pull);
            break;
        case BOOL:
            ta_pull_bool(&pull);
            break;
        case REAL:
            ta_pull_real(&pull);
            break;
        case SKIP:
            ta_pull_skip(&pull);
        }
        if (!pull.problem)
            fail_msg("accepted: %s", cases[i].text);
        assert_string_equal(pull.problem, cases[i].problem);
        assert_int_equal(pull.scan.p - pull.start, cases[i].place);
        ta_arena_free(&arena);
    }
}

static void structure(void **state)
{
    (void)state;
    static const char *const bad[] = {"[1 2]", "[1,]", "[,1]", "[1,2", "[1}", "{}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ta_pull pull = ta_pull_of(ta_slice_of(bad[i]), NULL);
        if (ta_pull_open(&pull, '['))
            while (ta_pull_item(&pull, ']'))
                ta_pull_int(&pull);
        if (!pull.problem)
            fail_msg("accepted: %s", bad[i]);
    }
    struct ta_pull pull = ta_pull_of(TA_LIT(" [ 1 , [ ] , 2 ] "), NULL);
    assert_true(ta_pull_open(&pull, '[') && ta_pull_item(&pull, ']'));
    assert_int_equal(ta_pull_int(&pull), 1);
    assert_true(ta_pull_item(&pull, ']') && ta_pull_open(&pull, '[') && !ta_pull_item(&pull, ']'));
    assert_true(ta_pull_item(&pull, ']'));
    assert_int_equal(ta_pull_int(&pull), 2);
    assert_true(!ta_pull_item(&pull, ']') && !pull.problem && ta_pull_at_end(&pull));
}

/* A head that is cut anywhere asks for more of it, in the middle of a string as well. */
static void heads_ask_for_more(void **state)
{
    (void)state;
    static const char text[] = "{\"schema\":\"traceanalyze.summary/1\",\"version\":\"1\","
                               "\"title\":\"a run\",\"files\":[{\"path\":\"a \\u0022\xc3\xa4\","
                               "\"format\":\"chrome_json\",\"truncated\":false,\"bytes\":10}]";
    struct ta_shared shared = {0};
    struct ta_ctx ctx;
    ta_ctx_init(&ctx, &shared);
    for (size_t n = 1; n < sizeof text; n++) {
        struct ta_arena arena = {0};
        struct ta_summary_head head;
        bool more = false;
        const bool is_whole = n == sizeof text - 1;
        const enum ta_status status =
            ta_summary_read_head(&ctx, (struct ta_slice){text, n}, &arena, &head, &more);
        if (status != (is_whole ? TA_OK : TA_ERR_INPUT) || more == is_whole)
            fail_msg("after %zu bytes: status %d, more %d", n, status, more);
        if (is_whole)
            ta_summary_head_free(&head);
        ta_arena_free(&arena);
    }
}

/* ---- tables -------------------------------------------------------------------------------- */

enum { RANK, FILE_KEY, KIND, NAME, SUM, LEAST, MOST, PLACE, DIST, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK}, [FILE_KEY] = {"file", TA_FIELD_FILE},
    [KIND] = {"kind", TA_FIELD_INT},  [NAME] = {"name", TA_FIELD_TEXT},
    [SUM] = {"sum", TA_FIELD_SUM},    [LEAST] = {"least", TA_FIELD_MIN},
    [MOST] = {"most", TA_FIELD_MAX},  [PLACE] = {"place", TA_FIELD_PLACE},
    [DIST] = {"dist", TA_FIELD_DIST},
};
static const struct ta_partial_def defs[] = {{"rows", fields, FIELDS}, {0}};
static const struct ta_bound bounds[] = {{0, KIND, 3}, {0, MOST, 100}, TA_BOUNDS_END};
static const struct ta_analysis_ops ops = {.partials = defs, .bounds = bounds};

static int64_t *row_of(struct ta_partial *p, int64_t rank, int64_t file, int64_t kind,
                       const char *name)
{
    return TA_PARTIAL_ROW(p, ta_key_int(rank), ta_key_int(file), ta_key_int(kind),
                          ta_key_text(ta_slice_of(name)));
}

/* Rows of files 5 and 7 of a run; a few samples in one, more than are kept one by one in another.
 */
static struct ta_partial *made(size_t many)
{
    struct ta_partial *p = ta_partial_new(defs);
    int64_t *row = row_of(p, 7, 5, 2, "\xff packed");
    row[SUM] = -3;
    row[LEAST] = INT64_MAX;
    row[MOST] = 99;
    row[PLACE] = ta_file_place(7, 12);
    struct ta_dist *dist = ta_partial_dist(p, row, DIST);
    for (int i = 0; i < 5; i++)
        ta_dist_add(dist, 1000 - i % 2);
    row = row_of(p, TA_RANK_NAMED + 31, TA_MISSING, 0, "");
    row[MOST] = 0;
    ta_partial_dist(p, row, DIST); /* without samples */
    row = row_of(p, TA_MISSING, 7, 1, "\"x\"");
    row[MOST] = 1;
    dist = ta_partial_dist(p, row, DIST);
    for (size_t i = 0; i < many; i++)
        ta_dist_add(dist, (int64_t)(i * i % 1000003));
    return p;
}

/* The table as text, files 5 and 7 being 0 and 1 there. */
static struct ta_text written(struct ta_partial *p, struct ta_summary_out *out)
{
    static const size_t place_of[8] = {[5] = 0, [7] = 1};
    struct ta_text text = {0};
    out->place_of = place_of;
    assert_true(ta_strings_init(&out->texts, 1000));
    assert_true(ta_summary_put_table(out, &text, p));
    return text;
}

/* Reads the table with its files at other places of another run. */
static const char *take(struct ta_slice text, const struct ta_strings *texts,
                        struct ta_partial *into)
{
    static const size_t index_of[2] = {20, 30};
    struct ta_arena arena = {0};
    struct ta_summary_in in = {.pull = ta_pull_of(text, &arena),
                               .texts = texts->texts.at + 1,
                               .n_texts = texts->texts.n - 1,
                               .index_of = index_of,
                               .n_files = 2};
    ta_summary_take_table(&in, &ops, 0, into);
    const char *problem = in.pull.problem;
    if (!problem)
        assert_true(ta_pull_at_end(&in.pull));
    free(in.samples.at);
    free(in.counts.at);
    ta_arena_free(&arena);
    return problem;
}

static void check_dist(const struct ta_dist *found, const struct ta_dist *expected)
{
    assert_true(found && expected);
    assert_int_equal(ta_dist_count(found), ta_dist_count(expected));
    assert_true(found->sum == expected->sum && found->squares == expected->squares);
    assert_true(ta_dist_min(found) == ta_dist_min(expected));
    assert_true(ta_dist_max(found) == ta_dist_max(expected));
    for (unsigned percent = 0; ta_dist_count(found) && percent <= 100; percent += 5)
        assert_true(ta_dist_quantile(found, percent) == ta_dist_quantile(expected, percent));
}

static void rows_again(void **state)
{
    (void)state;
    for (size_t many = 1; many < 200000; many *= 100000) {
        struct ta_partial *p = made(many), *again = ta_partial_new(defs);
        struct ta_summary_out out = {0};
        struct ta_text text = written(p, &out);
        assert_null(take(text_of(&text), &out.texts, NULL)); /* only a check */
        assert_int_equal(ta_partial_rows(again), 0);
        assert_null(take(text_of(&text), &out.texts, again));
        assert_true(ta_partial_settle(again));
        assert_int_equal(ta_partial_rows(again), 3);
        const int64_t *row = ta_partial_at(again, 1), *old = ta_partial_at(p, 1);
        assert_int_equal(row[RANK], 30);
        assert_int_equal(row[FILE_KEY], 20);
        assert_true(ta_slice_equal(ta_partial_text(again, row, NAME), TA_LIT("\xff packed")));
        assert_true(row[SUM] == -3 && row[LEAST] == INT64_MAX && row[MOST] == 99);
        assert_true(row[PLACE] == ta_file_place(30, 12));
        check_dist(ta_partial_dist_at(again, row, DIST), ta_partial_dist_at(p, old, DIST));
        row = ta_partial_at(again, 0);
        assert_true(row[RANK] == TA_MISSING && row[FILE_KEY] == 30 && row[SUM] == TA_MISSING);
        check_dist(ta_partial_dist_at(again, row, DIST),
                   ta_partial_dist_at(p, ta_partial_at(p, 0), DIST));
        row = ta_partial_at(again, 2);
        assert_true(row[RANK] == TA_RANK_NAMED + 31 && row[FILE_KEY] == TA_MISSING);
        assert_int_equal(ta_dist_count(ta_partial_dist_at(again, row, DIST)), 0);
        ta_strings_free(&out.texts);
        free(text.bytes.at);
        ta_partial_free(p);
        ta_partial_free(again);
    }
}

static void hostile_rows(void **state)
{
    (void)state;
#define HEAD                                                                                       \
    "{\"fields\":[[\"rank\",\"rank\"],[\"file\",\"file\"],[\"kind\",\"integer\"],[\"name\","       \
    "\"text\"],"                                                                                   \
    "[\"sum\",\"sum\"],[\"least\",\"least\"],[\"most\",\"largest\"],[\"place\",\"place\"],"        \
    "[\"dist\",\"distribution\"]],\"rows\":[["
    static const struct {
        const char *row, *problem; /* NULL: accepted */
    } cases[] = {
        {"0,1,2,0,1,1,1,1,null", NULL},
        {"2,1,2,0,1,1,1,1,null", "a number is out of range"},
        {"-2147483650,1,2,0,1,1,1,1,null", "a number is out of range"},
        {"0,-1,2,0,1,1,1,1,null", "a number is out of range"},
        {"0,1,3,0,1,1,1,1,null", "a number is out of range"},
        {"0,1,-1,0,1,1,1,1,null", "a number is out of range"},
        {"0,1,null,0,1,1,1,1,null", "a number is out of range"},
        {"0,1,2,1,1,1,1,1,null", "a number is out of range"},
        {"0,1,2,null,1,1,1,1,null", "a number is out of range"},
        {"0,1,2,0,1,1,100,1,null", "a number is out of range"},
        {"0,1,2,0,1,1,null,1,null", "a number is out of range"},
        {"0,1,2,0,null,null,1,null,null", NULL},
        {"0,1,2,0,1,1,1,8589934592,null", "a number is out of range"},
        {"0,1,2,0,1,1,1,1,{\"samples\":[1,-1]}", "a number is out of range"},
        {"0,1,2,0,1,1,1,1,{\"samples\":[9223372036854775807,1]}", "too many or too large samples"},
        {"0,1,2,0,1,1,1,1,{}", "expected a distribution"},
        {"0,1,2,0,1,1,1,1,{\"least\":0,\"largest\":1,\"sum\":\"1\",\"squares\":\"1\","
         "\"buckets\":[7296,1]}",
         "expected a bucket and its count"},
        {"0,1,2,0,1,1,1,1,{\"least\":0,\"largest\":1,\"sum\":\"1\",\"squares\":\"1\","
         "\"buckets\":[7295,1,0,1]}",
         "expected a bucket and its count"},
        {"0,1,2,0,1,1,1,1,{\"least\":0,\"largest\":1,\"sum\":\"1\",\"squares\":\"1\","
         "\"buckets\":[0,70368744177665]}",
         "a number is out of range"},
        {"0,1,2,0,1,1,1,1,{\"buckets\":[]}", "a distribution has too many samples, or none"},
        {"0,1,2,0,1,1,1,1", "a row is too short"},
        {"0,1,2,0,1,1,1,1,null,0", "a row is too long"},
    };
    struct ta_strings texts;
    ta_str id;
    assert_true(ta_strings_init(&texts, 10));
    assert_int_equal(ta_strings_intern(&texts, TA_LIT("name"), &id), TA_INTERN_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct ta_partial *p = ta_partial_new(defs);
        snprintf(text, sizeof text, HEAD "%s]]}", cases[i].row);
        const char *problem = take(ta_slice_of(text), &texts, p);
        if (!problem != !cases[i].problem)
            fail_msg("%s: %s", cases[i].row, problem ? problem : "accepted");
        if (problem)
            assert_string_equal(problem, cases[i].problem);
        ta_partial_free(p);
    }
    ta_strings_free(&texts);
}

/* ---- records ------------------------------------------------------------------------------- */

/* Each byte of a row belongs to a field, or lies before one that is aligned. */
static void no_field_is_missing(void **state)
{
    (void)state;
    static const size_t sizes[] = {[TA_RECORD_INTEGER] = sizeof(int64_t),
                                   [TA_RECORD_REAL] = sizeof(double),
                                   [TA_RECORD_TEXT] = sizeof(ta_str),
                                   [TA_RECORD_BOOL] = sizeof(bool),
                                   [TA_RECORD_WORD] = sizeof(int)};
    for (int table = 0; table < TA_DUMP_COUNT; table++) {
        const struct ta_record_table *shape = &ta_record_tables[table];
        size_t end = 0;
        for (const struct ta_record_field *field = shape->fields; field->name; field++) {
            const size_t size = sizes[field->type];
            if (field->offset != (end + size - 1) / size * size)
                fail_msg("%s: something is missing before %s", shape->name, field->name);
            assert_true((field->type == TA_RECORD_WORD) == (field->below > 0));
            end = field->offset + size;
        }
        if ((end + sizeof(int64_t) - 1) / sizeof(int64_t) * sizeof(int64_t) != shape->size)
            fail_msg("%s: something is missing at its end", shape->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(wide_numbers),
        cmocka_unit_test(reals),
        cmocka_unit_test(strings),
        cmocka_unit_test(what_is_no_value),
        cmocka_unit_test(structure),
        cmocka_unit_test(heads_ask_for_more),
        cmocka_unit_test(rows_again),
        cmocka_unit_test(hostile_rows),
        cmocka_unit_test(no_field_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
