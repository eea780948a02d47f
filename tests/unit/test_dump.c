/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of profilers other than traces: what is added comes back, and what they have in common. */
#include "model/builder.h"
#include "trace_fixture.h"

struct dump {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_quality quality;
    struct ta_builder builder;
};

static void begin(struct dump *d)
{
    ta_shared_init(&d->shared);
    ta_ctx_init(&d->ctx, &d->shared);
    ta_quality_init(&d->quality);
    assert_true(ta_builder_init(&d->builder, &d->quality, 0, NULL, 0, 1000));
}

static void end(struct dump *d)
{
    ta_builder_free(&d->builder);
    ta_quality_free(&d->quality);
}

static const struct ta_dump *of(const struct dump *d)
{
    return &d->builder.trace->dump;
}

static void add_mark(struct dump *d, int64_t rank, int64_t time_ns)
{
    const struct ta_memory_mark row = {.rank = rank, .time_ns = time_ns};
    assert_int_equal(ta_builder_add_memory_mark(&d->ctx, &d->builder, &row), TA_OK);
}

static void rows_come_back_in_order(void **state)
{
    (void)state;
    struct dump d;
    begin(&d);
    size_t n;
    assert_null(ta_trace_memory_mark_rows(d.builder.trace, &n));
    assert_int_equal(n, 0);
    assert_false(ta_dump_holds_any(of(&d)));
    for (int64_t i = 0; i < 1000; i++)
        add_mark(&d, i, -i);
    const struct ta_memory_mark *rows = ta_trace_memory_mark_rows(d.builder.trace, &n);
    assert_int_equal(n, 1000);
    for (size_t i = 0; i < n; i++)
        assert_true(rows[i].rank == (int64_t)i && rows[i].time_ns == -(int64_t)i);
    assert_true(ta_dump_holds_any(of(&d)));
    ta_trace_stage_rows(d.builder.trace, &n);
    assert_int_equal(n, 0);
    end(&d);
}

static bool is_odd(void *user, const void *row)
{
    ++*(int *)user;
    return ta_dump_rank(row) % 2;
}

static void rows_can_be_filtered(void **state)
{
    (void)state;
    struct dump d;
    begin(&d);
    for (int64_t i = 0; i < 11; i++)
        add_mark(&d, i, i);
    int calls = 0;
    assert_int_equal(ta_dump_filter(&d.builder.trace->dump, TA_DUMP_memory_mark, is_odd, &calls),
                     6);
    assert_int_equal(calls, 11);
    size_t n;
    const struct ta_memory_mark *rows = ta_trace_memory_mark_rows(d.builder.trace, &n);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rows[i].time_ns, 2 * i + 1);
    end(&d);
}

static void ranks_that_rows_name(void **state)
{
    (void)state;
    struct dump d;
    struct ta_arena arena = {0};
    begin(&d);
    static const int64_t named[] = {3, 1, TA_NO_RANK, 3, 0, INT64_MAX, 1};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        add_mark(&d, named[i], 0);
    size_t n;
    bool all;
    const int64_t *ranks = ta_dump_ranks(of(&d), &arena, &n, &all);
    assert_int_equal(n, 3);
    assert_true(ranks[0] == 0 && ranks[1] == 1 && ranks[2] == 3);
    assert_true(all);
    add_mark(&d, TA_MISSING, 0);
    assert_non_null(ta_dump_ranks(of(&d), &arena, &n, &all));
    assert_int_equal(n, 3);
    assert_false(all);
    ta_arena_free(&arena);
    end(&d);
}

static void which_times_have_a_date(void **state)
{
    (void)state;
    struct dump d;
    begin(&d);
    struct ta_sample sample = {.rank = TA_MISSING, .time_ns = TA_MISSING};
    assert_int_equal(ta_builder_add_sample(&d.ctx, &d.builder, &sample), TA_OK);
    add_mark(&d, TA_MISSING, TA_MISSING);
    assert_false(ta_dump_is_dated(of(&d)) || ta_dump_is_relative(of(&d)));
    sample.relative = true;
    sample.time_ns = 5;
    assert_int_equal(ta_builder_add_sample(&d.ctx, &d.builder, &sample), TA_OK);
    assert_false(ta_dump_is_dated(of(&d)));
    assert_true(ta_dump_is_relative(of(&d)));
    add_mark(&d, TA_MISSING, 5);
    assert_true(ta_dump_is_dated(of(&d)));
    end(&d);
}

static void an_allocator_is_copied(void **state)
{
    (void)state;
    struct dump d;
    begin(&d);
    const ta_str frame = ta_builder_string(&d.builder, TA_LIT("f (a.py:1)"));
    struct ta_frames stack = {.n = 1, .at = &frame};
    struct ta_alloc_event event = {.time_ns = 7, .frames = 0};
    const struct ta_allocator allocator = {
        .events = &event, .n_events = 1, .stacks = &stack, .n_stacks = 1};
    for (int i = 0; i < 2; i++) /* the last call wins */
        assert_int_equal(ta_builder_set_allocator(&d.ctx, &d.builder, &allocator), TA_OK);
    event.time_ns = 8;
    const struct ta_allocator *copy = ta_trace_allocator(d.builder.trace);
    assert_int_equal(copy->n_events, 1);
    assert_int_equal(copy->events[0].time_ns, 7);
    assert_int_equal(copy->stacks[0].at[0], frame);
    assert_true(ta_dump_is_dated(of(&d)));
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_in_order), cmocka_unit_test(rows_can_be_filtered),
        cmocka_unit_test(ranks_that_rows_name),    cmocka_unit_test(which_times_have_a_date),
        cmocka_unit_test(an_allocator_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
