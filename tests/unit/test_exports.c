/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of several exports of one run the longest counts, and other runs stay. */
#include "ingest/dumps/dumps.h"
#include "model/says.h"

#include "kept_files.h"

#define S INT64_C(1000000000)

/* A file of sections named "0", "1", …; a duration of 0 ends the list. */
static void add_export(struct files *f, const char *shown, enum ta_exactness exactness,
                       const int64_t *durations)
{
    struct ta_builder *b = add_file(f, shown, 0, shown, exactness);
    for (int i = 0; durations[i]; i++) {
        const char name = (char)('0' + i);
        const struct ta_timed_stage row = {
            .rank = TA_MISSING,
            .name = ta_builder_string(b, (struct ta_slice){&name, 1}),
            .total_ns = durations[i],
        };
        const struct ta_tag tag = {.rank = TA_MISSING};
        assert_int_equal(ta_builder_add_stage(&f->ctx, b, &row), TA_OK);
        assert_int_equal(ta_builder_add_tag(&f->ctx, b, &tag), TA_OK);
    }
    ta_builder_set_growing(b);
}

/* How many sections each file has left; its other records go with them. */
static void check(struct files *f, const size_t *left, const char *text)
{
    const struct ta_quality_slot *slot = &f->quality.slots[TA_Q_EARLIER_EXPORT];
    assert_true(ta_drop_earlier_exports(f->kept, f->n, &f->quality));
    for (size_t i = 0; i < f->n; i++) {
        assert_int_equal(f->kept[i].trace->dump.rows[TA_DUMP_stage].n, left[i]);
        assert_int_equal(f->kept[i].trace->dump.rows[TA_DUMP_tag].n, left[i]);
    }
    assert_int_equal(slot->count, text ? 1 : 0);
    if (text && !strstr(slot->text, text))
        fail_msg("\"%s\" does not say \"%s\"", slot->text, text);
    end(f);
}

static void test_the_longest_counts(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_export(&f, "a.json", TA_EXACT_FULL, (int64_t[]){2 * S, 0});
    add_export(&f, "b.json", TA_EXACT_FULL, (int64_t[]){2 * S, 3 * S, 4 * S, 0});
    add_export(&f, "c.json", TA_EXACT_FULL, (int64_t[]){2 * S, 3 * S, 0});
    check(&f, (size_t[]){0, 3, 0},
          "\"a.json\" and \"c.json\" repeat the first of the 3 sections that \"b.json\" holds");
}

/* Texts have four decimals, and are told by their most exact form. */
static void test_forms_of_one_export(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_export(&f, "a.csv", TA_EXACT_TABLE, (int64_t[]){2 * S + 1234567, 0});
    add_export(&f, "a.json", TA_EXACT_FULL, (int64_t[]){2 * S + 1234567, 0});
    add_export(&f, "a.txt", TA_EXACT_TEXT, (int64_t[]){2 * S + 1200000, 0});
    add_export(&f, "b.json", TA_EXACT_FULL, (int64_t[]){2 * S + 1234567, 3 * S, 0});
    check(&f, (size_t[]){0, 0, 0, 2},
          "\"a.json\" and 2 more files repeat the first of the 2 sections that \"b.json\" holds");
}

static void test_two_runs_stay(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_export(&f, "a.json", TA_EXACT_FULL, (int64_t[]){2 * S, 3 * S, 0});
    add_export(&f, "b.json", TA_EXACT_FULL, (int64_t[]){2 * S, 3 * S + 1, 4 * S, 0});
    add_export(&f, "c.json", TA_EXACT_FULL, (int64_t[]){2 * S, 5 * S, 0});
    check(&f, (size_t[]){2, 3, 2}, NULL);
}

/* A file in two copies is none of its own earlier exports. */
static void test_equal_files_are_left_to_copies(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_export(&f, "a.csv", TA_EXACT_TABLE, (int64_t[]){2 * S, 3 * S, 0});
    add_export(&f, "a.json", TA_EXACT_FULL, (int64_t[]){2 * S, 3 * S, 0});
    check(&f, (size_t[]){2, 2}, NULL);
}

/* Durations that a text shows as 0.0000 are those of any run. */
static void test_nothing_is_no_evidence(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_export(&f, "a.txt", TA_EXACT_TEXT, (int64_t[]){40000, 0});
    add_export(&f, "b.txt", TA_EXACT_TEXT, (int64_t[]){20000, 3 * S, 0});
    check(&f, (size_t[]){1, 2}, NULL);
}

static void test_other_folders_and_names_stay(void **state)
{
    (void)state;
    struct files f;
    begin(&f);
    add_export(&f, "d/a.json", TA_EXACT_FULL, (int64_t[]){2 * S, 0});
    add_export(&f, "e/b.json", TA_EXACT_FULL, (int64_t[]){2 * S, 3 * S, 0});
    struct ta_builder *other = add_file(&f, "e/c.json", 0, "c", TA_EXACT_FULL);
    const struct ta_timed_stage row = {
        .rank = TA_MISSING, .name = ta_builder_string(other, TA_LIT("x")), .total_ns = 2 * S};
    const struct ta_tag tag = {.rank = TA_MISSING};
    assert_int_equal(ta_builder_add_stage(&f.ctx, other, &row), TA_OK);
    assert_int_equal(ta_builder_add_tag(&f.ctx, other, &tag), TA_OK);
    ta_builder_set_growing(other);
    check(&f, (size_t[]){1, 2, 1}, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_longest_counts),
        cmocka_unit_test(test_forms_of_one_export),
        cmocka_unit_test(test_two_runs_stay),
        cmocka_unit_test(test_equal_files_are_left_to_copies),
        cmocka_unit_test(test_nothing_is_no_evidence),
        cmocka_unit_test(test_other_folders_and_names_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
