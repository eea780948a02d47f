/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is found once for all who ask of the spans of a trace, against a look at each of them: those
 * of some names, those that do some work, and the extent of each category. */
#include "model/extent.h"
#include "model/named.h"
#include "traceanalyze/model.h"

#include "trace_fixture.h"

enum { SPANS = 9000 };

/* The first letter of a name says what is wanted of it. */
static uint8_t is_wanted(struct ta_slice name)
{
    return name.ptr[0] == 's' ? 1 : name.ptr[0] == 'f' ? 2 : 0;
}

static uint8_t is_seldom(struct ta_slice name)
{
    return name.ptr[0] == 's' ? 3 : 0;
}

static uint8_t is_nothing(struct ta_slice name)
{
    (void)name;
    return 0;
}

struct expected {
    const struct ta_trace *trace;
    ta_name_kind *kind;
    size_t row, n; /* before which all have come; how many */
};

static uint8_t kind_at(const struct expected *e, size_t row)
{
    return e->kind(ta_trace_text(e->trace, ta_trace_spans(e->trace).name[row]));
}

static void come(void *user, ta_row row, uint8_t kind)
{
    struct expected *e = user;
    assert_int_equal(kind, kind_at(e, row));
    for (; e->row < row; e->row++)
        assert_int_equal(kind_at(e, e->row), 0);
    e->row = row + 1;
    e->n++;
}

static size_t assert_each(const struct ta_trace *trace, ta_name_kind *kind)
{
    struct expected e = {.trace = trace, .kind = kind};
    assert_true(ta_each_named(trace, kind, come, &e));
    for (; e.row < ta_trace_spans(trace).n; e.row++)
        assert_int_equal(kind_at(&e, e.row), 0);
    return e.n;
}

/* One name in every second span, some in one of a thousand, others in a few; on two threads. */
static void make(struct reading *r, size_t spans)
{
    struct text text = {0};
    for (size_t i = 0; i < spans; i++) {
        text_add(&text, "{'ph':'X','cat':'%s','pid':1,'tid':%d,'ts':%zu,'dur':%zu,'name':'",
                 i % 3 ? "cpu_op" : "cuda_runtime", (int)(i % 5 == 0), 10 * i, 1 + i % 50);
        if (i % 2)
            text_add(&text, "frequent'},");
        else if (i % 1000 == 0)
            text_add(&text, "seldom %zu'},", i % 3);
        else
            text_add(&text, "%s %zu'},", i % 4 ? "cudaStreamSynchronize" : "other", i % 100);
    }
    fixture_read_events(&fixture, text.at, r);
    text_free(&text);
    assert_non_null(r->trace);
}

static void spans_of_some_names(void **state)
{
    (void)state;
    struct reading r;
    make(&r, SPANS);
    assert_int_equal(assert_each(r.trace, is_seldom), SPANS / 1000);
    assert_int_equal(assert_each(r.trace, is_wanted), SPANS / 1000 + SPANS / 2);
    assert_int_equal(assert_each(r.trace, is_nothing), 0);
    reading_free(&r);
    make(&r, 10); /* where no name is seldom */
    assert_int_equal(assert_each(r.trace, is_wanted), 6);
    reading_free(&r);
}

static void spans_that_do_some_work(void **state)
{
    (void)state;
    struct reading r;
    fixture.plan.needs |= TA_NEED_HOST_WORK;
    make(&r, SPANS);
    const struct ta_spans spans = ta_trace_spans(r.trace);
    size_t found = 0, expected = 0;
    for (ta_row row = 0; (row = ta_host_next(&spans, row, TA_HOST_SYNC)) < spans.n; row++) {
        assert_int_equal(spans.work[row], TA_HOST_SYNC);
        found++;
    }
    for (size_t row = 0; row < spans.n; row++)
        expected += spans.work[row] == TA_HOST_SYNC;
    assert_true(expected > 0);
    assert_int_equal(found, expected);
    assert_int_equal(ta_host_next(&spans, spans.n, TA_HOST_SYNC), spans.n);
    reading_free(&r);
}

static void extents_of_categories(void **state)
{
    (void)state;
    struct reading r;
    make(&r, SPANS);
    const struct ta_spans spans = ta_trace_spans(r.trace);
    const struct ta_extent *extents = ta_trace_extents(r.trace);
    assert_non_null(extents);
    for (size_t cat = 0; cat < ta_trace_categories(r.trace).n; cat++) {
        struct ta_extent expected = TA_EXTENT_EMPTY;
        for (size_t row = 0; row < spans.n; row++)
            if (spans.cat[row] == cat)
                expected = ta_extent_join(
                    expected, (struct ta_extent){1, spans.ts[row], spans.ts[row] + spans.dur[row]});
        assert_int_equal(extents[cat].n, expected.n);
        assert_int_equal(extents[cat].start, expected.start);
        assert_int_equal(extents[cat].end, expected.end);
        size_t found = 0;
        for (ta_row row = 0; (row = ta_category_next(&spans, row, (ta_cat)cat)) < spans.n; row++) {
            assert_int_equal(spans.cat[row], cat);
            found++;
        }
        assert_int_equal(found, expected.n);
    }
    reading_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_of_some_names),
        cmocka_unit_test(spans_that_do_some_work),
        cmocka_unit_test(extents_of_categories),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
