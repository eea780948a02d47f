/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of profilers other than traces: what is added comes back, and what they have in common. */
#include "base/quality.h"
#include "model/allocator.h"
#include "model/builder.h"
#include "trace_fixture.h"

#include <float.h>
#include <math.h>

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
    static const int64_t named[] = {3, 1, TA_NO_RANK, 3, 0, 1};
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

/* ---- numbers out of range ------------------------------------------------------------------ */

static void what_is_out_of_range_is_missing(void **state)
{
    (void)state;
    struct dump d;
    begin(&d);
    ta_quality_set_place(&d.quality, 77);
    add_mark(&d, INT64_MAX, INT64_MAX);
    add_mark(&d, 5, 0);
    size_t n;
    const struct ta_memory_mark *rows = ta_trace_memory_mark_rows(d.builder.trace, &n);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].rank, TA_MISSING);
    assert_int_equal(rows[0].time_ns, TA_MISSING);
    assert_int_equal(rows[1].rank, 5);
    assert_int_equal(ta_quality_count(&d.quality, TA_Q_BAD_NUMBER), 2);
    assert_int_equal(d.quality.slots[TA_Q_BAD_NUMBER].first, 77);
    end(&d);
}

static void samples_out_of_range_are_left_out(void **state)
{
    (void)state;
    struct dump d;
    static const struct {
        double value;
        int64_t device;
        bool is_kept;
    } cases[] = {{0.5, 0, true},
                 {1, TA_MISSING, true},
                 {7.5, TA_MISSING, true},
                 {1.5, 0, false},
                 {1.8e17, 0, false},
                 {-0.5, 0, false},
                 {INFINITY, 0, false},
                 {0.5, INT64_MAX, false},
                 {0.5, INT64_C(1) << 32, false},
                 {1e300, TA_MISSING, false}};
    size_t kept = 0;
    begin(&d);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ta_sample sample = {.rank = 0,
                                         .device = cases[i].device,
                                         .signal = TA_SIGNAL_GPU_UTILIZATION,
                                         .time_ns = 1,
                                         .value = cases[i].value};
        assert_int_equal(ta_builder_add_sample(&d.ctx, &d.builder, &sample), TA_OK);
        kept += cases[i].is_kept;
        assert_int_equal(ta_trace_samples(d.builder.trace).left, kept);
    }
    assert_int_equal(ta_quality_count(&d.quality, TA_Q_BAD_NUMBER),
                     sizeof cases / sizeof *cases - kept);
    end(&d);
}

/* ---- samples ------------------------------------------------------------------------------- */

static double number_of_bits(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Sample i of a file that repeats places and times, jumps, and has values of all kinds. */
static struct ta_sample sample_of(size_t i)
{
    static const int64_t places[] = {TA_MISSING, 0, 1, 0, TA_NO_RANK, INT64_MAX, -1};
    static const int64_t times[] = {0,         0,  1000000000,         TA_MISSING,
                                    INT64_MAX, -5, 1795221242536743000};
    const double values[] = {0,
                             -0.0,
                             0.97,
                             0.01 * 7,
                             85.2 / 100,
                             1,
                             -5,
                             345e6,
                             8100 * 1048576.0,
                             123.45,
                             DBL_MAX,
                             DBL_MIN,
                             1e-300,
                             9007199254740993.0 * 1048576,
                             number_of_bits(1),
                             1.0 / 3};
    return (struct ta_sample){.rank = places[i / 3 % 7],
                              .device = places[i / 5 % 7],
                              .signal = (enum ta_signal)(i % TA_SIGNAL_COUNT),
                              .time_ns = times[i / 4 % 7],
                              .value = values[i % (sizeof values / sizeof *values)],
                              .relative = i / 11 % 2};
}

static void assert_sample(const struct ta_sample *got, size_t i)
{
    const struct ta_sample wanted = sample_of(i);
    assert_int_equal(got->rank, wanted.rank);
    assert_int_equal(got->device, wanted.device);
    assert_int_equal(got->signal, wanted.signal);
    assert_int_equal(got->time_ns, wanted.time_ns);
    assert_memory_equal(&got->value, &wanted.value, sizeof wanted.value);
    assert_int_equal(got->relative, wanted.relative);
}

enum { SAMPLES = 7 * 7 * TA_SIGNAL_COUNT * 16 };

static void add_samples(struct dump *d)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct ta_sample sample = sample_of(i);
        assert_true(ta_dump_push_sample(&d->builder, &sample));
    }
}

static void samples_come_back_exactly(void **state)
{
    (void)state;
    struct dump d;
    begin(&d);
    struct ta_samples samples = ta_trace_samples(d.builder.trace);
    assert_false(ta_samples_next(&samples));
    add_samples(&d);
    samples = ta_trace_samples(d.builder.trace);
    assert_int_equal(samples.left, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        assert_true(ta_samples_next(&samples));
        assert_sample(&samples.sample, i);
    }
    assert_false(ta_samples_next(&samples));
    end(&d);
}

/* Keeps every so many-th. */
struct choice {
    size_t i;
    unsigned step;
};

static bool is_chosen(void *user, const void *row)
{
    struct choice *choice = user;
    (void)row;
    return choice->i++ % choice->step == choice->step - 1;
}

static void samples_can_be_filtered(void **state)
{
    (void)state;
    for (unsigned step = 1; step < 9; step++) {
        struct dump d;
        begin(&d);
        add_samples(&d);
        const size_t before = of(&d)->sample_bytes, kept = SAMPLES / step;
        struct choice choice = {0, step};
        assert_int_equal(ta_dump_filter(&d.builder.trace->dump, TA_DUMP_sample, is_chosen, &choice),
                         SAMPLES - kept);
        assert_true(step == 1 ? of(&d)->sample_bytes == before : of(&d)->sample_bytes < before);
        const struct ta_sample more = sample_of(5); /* behind those that are left */
        assert_int_equal(ta_builder_add_sample(&d.ctx, &d.builder, &more), TA_OK);
        struct ta_samples samples = ta_trace_samples(d.builder.trace);
        for (size_t i = 0; i < kept; i++) {
            assert_true(ta_samples_next(&samples));
            assert_sample(&samples.sample, step * i + step - 1);
        }
        assert_true(ta_samples_next(&samples));
        assert_sample(&samples.sample, 5);
        assert_false(ta_samples_next(&samples));
        end(&d);
    }
}

/* What a device monitor prints takes a few bytes a reading. */
static void usual_samples_are_small(void **state)
{
    static const double values[] = {0.97, 0.46, 8100 * 1048576.0, 79 * 1073741824.0, 61, 312.5};
    (void)state;
    struct dump d;
    begin(&d);
    for (int64_t row = 0; row < 2000; row++)
        for (int signal = 0; signal < 6; signal++) {
            const struct ta_sample sample = {.rank = TA_MISSING,
                                             .device = row % 2,
                                             .time_ns = row / 2 * 1000000000,
                                             .signal = (enum ta_signal)signal,
                                             .value = values[signal],
                                             .relative = true};
            assert_int_equal(ta_builder_add_sample(&d.ctx, &d.builder, &sample), TA_OK);
        }
    assert_in_range(of(&d)->sample_bytes, 1, 2000 * 40); /* a row of six readings */
    end(&d);
}

/* ---- times --------------------------------------------------------------------------------- */

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
        cmocka_unit_test(rows_come_back_in_order),
        cmocka_unit_test(rows_can_be_filtered),
        cmocka_unit_test(ranks_that_rows_name),
        cmocka_unit_test(samples_come_back_exactly),
        cmocka_unit_test(samples_can_be_filtered),
        cmocka_unit_test(usual_samples_are_small),
        cmocka_unit_test(which_times_have_a_date),
        cmocka_unit_test(an_allocator_is_copied),
        cmocka_unit_test(what_is_out_of_range_is_missing),
        cmocka_unit_test(samples_out_of_range_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
