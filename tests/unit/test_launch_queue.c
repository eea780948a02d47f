/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the host is ahead, against a count of what is in the queue in every microsecond. */
#include "report_fixture.h"

enum { MOST = 1600, END = 4000, BINS = 100 };

/* A launch in the queue, in µs: from the start of its call, or of its kernel where that is earlier,
 * to the end of the kernel. */
struct queued {
    int64_t call, start, end;
};

struct queue {
    struct queued at[MOST];
    size_t n;
    int64_t first, last; /* of the window */
};

static void add(struct queue *q, struct text *text, int64_t call, int64_t start, int64_t dur,
                int stream)
{
    const size_t id = q->n + 1;
    text_add(text,
             "{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,'tid':1,'ts':%lld,"
             "'dur':1,'args':{'correlation':%zu}},"
             "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':%d,'ts':%lld,'dur':%lld,"
             "'args':{'correlation':%zu,'device':0,'context':%zu}},",
             (long long)call, id, stream, (long long)start, (long long)dur, id, id);
    q->at[q->n++] = (struct queued){call, start, start + dur};
    q->first = ta_min_i64(q->first, start);
    q->last = ta_max_i64(q->last, start + dur);
}

static int64_t depth_at(const struct queue *q, int64_t time)
{
    int64_t depth = 0;
    for (size_t i = 0; i < q->n; i++)
        depth += ta_min_i64(q->at[i].call, q->at[i].start) <= time && time < q->at[i].end;
    return depth;
}

static void assert_near(double value, double expected, double by)
{
    assert_true(value >= expected - by && value <= expected + by);
}

/* Looks at each microsecond, once for the window and for the parts that it lies in. */
static void assert_queue(const struct ta_report *report, const struct queue *q)
{
    const int64_t length = q->last - q->first;
    int64_t area = 0, most = 0, empty = 0, full = 0, parts[BINS] = {0};
    for (int64_t t = q->first; t < q->last; t++) {
        const int64_t depth = depth_at(q, t);
        area += depth;
        most = ta_max_i64(most, depth);
        empty += depth == 0;
        full += depth > 1000;
        for (int64_t part = (t - q->first) * BINS / length;
             part < BINS && part * length < (t + 1 - q->first) * BINS; part++)
            parts[part] = ta_max_i64(parts[part], depth);
    }
    const struct ta_table *rank = ta_report_table(report, "launch_queue.by_rank");
    const double window = (double)length;
    assert_near(ta_row_number(rank, 0, "depth_mean", -1), (double)area / window, 1e-9);
    assert_int_equal(ta_row_number(rank, 0, "depth_max", -1), most);
    assert_near(ta_row_number(rank, 0, "empty_share", -1), (double)empty / window, 1e-9);
    assert_near(ta_row_number(rank, 0, "full_share", -1), (double)full / window, 1e-9);
    const struct ta_table *over_time = ta_report_table(report, "launch_queue.over_time");
    assert_int_equal(over_time->n_rows, BINS);
    double mean = 0;
    for (size_t part = 0; part < BINS; part++) {
        assert_int_equal(ta_row_number(over_time, part, "depth_max", -1), parts[part]);
        mean += ta_row_number(over_time, part, "depth_mean", -1) / BINS;
    }
    assert_near(mean, (double)area / window, 1e-6);
}

static void check(struct queue *q, struct text *text)
{
    struct ta_report *report = report_on_events(text->at);
    assert_queue(report, q);
    ta_report_free(report);
    text_free(text);
}

/* Calls and kernels anywhere, on streams of which one is busier. */
static void as_every_microsecond_says(void **state)
{
    (void)state;
    struct rng rng = {11};
    for (int round = 0; round < 60; round++) {
        struct queue q = {.first = INT64_MAX, .last = INT64_MIN};
        struct text text = {0};
        const size_t n = 1 + rng_below(&rng, 60);
        for (size_t i = 0; i < n; i++)
            add(&q, &text, (int64_t)rng_below(&rng, END), (int64_t)rng_below(&rng, END),
                1 + (int64_t)rng_below(&rng, rng_below(&rng, 4) ? 20 : 400),
                7 + (rng_below(&rng, 10) == 0));
        check(&q, &text);
    }
}

/* More launches than the driver holds; the window begins when some are waiting. */
static void a_queue_that_is_full(void **state)
{
    (void)state;
    struct queue q = {.first = INT64_MAX, .last = INT64_MIN};
    struct text text = {0};
    for (int64_t i = 0; i < MOST; i++)
        add(&q, &text, i, 700 + 2 * i, 2, 7);
    check(&q, &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_every_microsecond_says),
        cmocka_unit_test(a_queue_that_is_full),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
