/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of an earlier session go where another file of the session says when that began, and
 * nowhere else. */
#include "ingest/dumps/dumps.h"

#include "kept_files.h"

enum { SAMPLES = 4 };

/* A file of a set says of itself that it is a full copy. */
static struct ta_builder *add(struct files *f, const char *shown, int64_t rank, const char *set)
{
    return add_file(f, shown, rank, set, TA_EXACT_FULL);
}

static void add_session(struct files *f, struct ta_builder *b, int64_t start)
{
    const struct ta_session row = {.rank = TA_MISSING, .start_ns = start};
    assert_int_equal(ta_builder_add_session(&f->ctx, b, &row), TA_OK);
}

/* At 0, 10, 20 and at a time that was not recorded. */
static void add_samples(struct files *f, struct ta_builder *b)
{
    for (int i = 0; i < SAMPLES; i++) {
        const struct ta_sample row = {.rank = TA_MISSING,
                                      .time_ns = i < SAMPLES - 1 ? i * 10 : TA_MISSING};
        assert_int_equal(ta_builder_add_sample(&f->ctx, b, &row), TA_OK);
    }
}

static void check(struct files *f, size_t file, size_t left, uint64_t said)
{
    assert_true(ta_drop_earlier_samples(f->kept, f->n, &f->quality));
    assert_int_equal(f->kept[file].trace->dump.rows[TA_DUMP_sample].n, left);
    assert_int_equal(f->quality.slots[TA_Q_OTHER_SESSION].count, said);
    end(f);
}

static void test_drops_what_is_earlier(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_session(&f, add(&f, "d/rank_1/a", 1, "s"), 10);
    add_samples(&f, add(&f, "d/b", 1, "s"));
    check(&f, 1, 3, 1);
}

static void test_first_of_several_sessions(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_samples(&f, add(&f, "a", 1, "s"));
    add_session(&f, add(&f, "b", 1, "s"), 20);
    add_session(&f, add(&f, "c", 1, "s"), 10);
    check(&f, 0, 3, 1);
}

/* Another folder, set or rank, a file that is a set of its own, a start that is not known. */
static void test_keeps_all_else(void **state)
{
    (void)state;
    static const struct {
        const char *shown, *set;
        int64_t rank, start;
    } others[] = {{"other/a", "s", 1, 10}, {"d/a", "t", 1, 10},         {"d/a", "s", 2, 10},
                  {"d/a", NULL, 1, 10},    {"d/a", "s", 1, TA_MISSING}, {"d/a", "s", 1, 0}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct files f;
        begin(&f);
        add_session(&f, add(&f, others[i].shown, others[i].rank, others[i].set), others[i].start);
        add_samples(&f, add(&f, "d/b", 1, "s"));
        check(&f, 1, SAMPLES, 0);
    }
}

/* A file that says when its session began has looked at its samples itself. */
static void test_keeps_own(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    struct ta_builder *own = add(&f, "a", 1, "s");
    add_session(&f, own, 10);
    add_samples(&f, own);
    check(&f, 0, SAMPLES, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drops_what_is_earlier),
        cmocka_unit_test(test_first_of_several_sessions),
        cmocka_unit_test(test_keeps_all_else),
        cmocka_unit_test(test_keeps_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
