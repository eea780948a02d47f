/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounts of damage: the vocabulary, counting, merging, examples. */
#include "base/quality.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Scripts compare these names; a code never changes its meaning. */
static void vocabulary_is_closed(void **state)
{
    (void)state;
    assert_string_equal(ta_quality_name(TA_Q_TRUNCATED), "truncated");
    assert_string_equal(ta_quality_name(TA_Q_GZIP_CHECKSUM), "gzip-checksum");
    assert_string_equal(ta_quality_name(TA_Q_DUPLICATE_CONTENT), "duplicate-content");
    assert_int_equal(ta_quality_info(TA_Q_TRUNCATED)->severity, TA_QUALITY_LOSS);
    assert_int_equal(ta_quality_info(TA_Q_REFUSED)->severity, TA_QUALITY_ERROR);
    assert_int_equal(ta_quality_info(TA_Q_STRING_NUMBER)->severity, TA_QUALITY_INFO);
    for (int i = 0; i < TA_Q_COUNT; i++) {
        const char *name = ta_quality_name((enum ta_quality_code)i);
        const char *doc = ta_quality_info((enum ta_quality_code)i)->doc;
        assert_non_null(name);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(name));
        assert_non_null(doc);
        assert_int_equal(doc[strlen(doc) - 1], '.');
        for (int j = 0; j < i; j++)
            assert_string_not_equal(name, ta_quality_name((enum ta_quality_code)j));
    }
}

static void cases_of_one_code_become_one_finding(void **state)
{
    (void)state;
    struct ta_quality quality;
    ta_quality_init(&quality);
    ta_quality_add(&quality, TA_Q_SYNTAX, 500, "A stray %s.", "quote");
    ta_quality_add(&quality, TA_Q_SYNTAX, 900, "Another one.");
    ta_quality_add(&quality, TA_Q_COMMA, 20, NULL);
    struct ta_arena arena = {0};
    size_t n = 0;
    const struct ta_quality_finding *findings = ta_quality_findings(&quality, &arena, &n);
    assert_int_equal(n, 2);
    assert_int_equal(findings[0].code, TA_Q_SYNTAX); /* the order of the codes, not of adding */
    assert_int_equal(findings[0].count, 2);
    assert_int_equal(findings[0].byte_offset, 500);
    assert_int_equal(findings[0].last_offset, 900);
    assert_true(findings[0].file_offset == TA_NO_OFFSET);
    assert_string_equal(findings[0].text, "A stray quote.");
    assert_string_equal(findings[1].text, "");
    assert_int_equal(ta_quality_count(&quality, TA_Q_SYNTAX), 2);
    assert_int_equal(ta_quality_count(&quality, TA_Q_UTF16), 0);
    assert_true(ta_quality_reaches(&quality, TA_QUALITY_LOSS));
    assert_false(ta_quality_reaches(&quality, TA_QUALITY_ERROR));
    ta_arena_free(&arena);
    ta_quality_free(&quality);
}

static void nothing_added_is_no_finding(void **state)
{
    (void)state;
    struct ta_quality quality;
    ta_quality_init(&quality);
    struct ta_arena arena = {0};
    size_t n = 7;
    assert_non_null(ta_quality_findings(&quality, &arena, &n));
    assert_int_equal(n, 0);
    assert_false(ta_quality_reaches(&quality, TA_QUALITY_INFO));
    ta_arena_free(&arena);
    ta_quality_free(&quality);
}

static void the_harshest_severity_stays(void **state)
{
    (void)state;
    struct ta_quality quality;
    ta_quality_init(&quality);
    ta_quality_add_severity(&quality, TA_Q_NOT_AN_EVENT, TA_QUALITY_INFO, 10, 3, "Empty object.");
    assert_false(ta_quality_reaches(&quality, TA_QUALITY_NOTICE));
    ta_quality_add(&quality, TA_Q_NOT_AN_EVENT, 20, "A number.");
    ta_quality_add_severity(&quality, TA_Q_NOT_AN_EVENT, TA_QUALITY_INFO, 30, 9, NULL);
    struct ta_arena arena = {0};
    size_t n;
    const struct ta_quality_finding *finding = ta_quality_findings(&quality, &arena, &n);
    assert_int_equal(finding->severity, TA_QUALITY_LOSS);
    assert_int_equal(finding->count, 3);
    assert_int_equal(finding->file_offset, 3);
    ta_arena_free(&arena);
    ta_quality_free(&quality);
}

static void places_that_are_unknown_do_not_count(void **state)
{
    (void)state;
    struct ta_quality quality;
    ta_quality_init(&quality);
    ta_quality_add(&quality, TA_Q_LIMIT, TA_NO_OFFSET, "Somewhere.");
    ta_quality_add(&quality, TA_Q_LIMIT, 40, "At 40.");
    struct ta_arena arena = {0};
    size_t n;
    const struct ta_quality_finding *finding = ta_quality_findings(&quality, &arena, &n);
    assert_int_equal(finding->byte_offset, 40);
    assert_int_equal(finding->last_offset, 40);
    assert_string_equal(finding->text, "At 40.");
    ta_arena_free(&arena);
    ta_quality_free(&quality);
}

static void many_at_once(void **state)
{
    (void)state;
    struct ta_quality quality;
    ta_quality_init(&quality);
    ta_quality_add_many(&quality, TA_Q_OVERLAP, 0, 1, 1, "Never.");
    assert_int_equal(ta_quality_count(&quality, TA_Q_OVERLAP), 0);
    ta_quality_add_many(&quality, TA_Q_OVERLAP, 1000, 70, 990, "Spans cross.");
    ta_quality_add_many(&quality, TA_Q_OVERLAP, UINT64_MAX, 60, 80, NULL);
    struct ta_arena arena = {0};
    size_t n;
    const struct ta_quality_finding *finding = ta_quality_findings(&quality, &arena, &n);
    assert_true(finding->count == UINT64_MAX); /* saturates */
    assert_int_equal(finding->byte_offset, 60);
    assert_int_equal(finding->last_offset, 990);
    assert_string_equal(finding->text, "Spans cross.");
    ta_arena_free(&arena);
    ta_quality_free(&quality);
}

/* Threads find cases in any order; the report may not show it. */
static void merging_does_not_depend_on_order(void **state)
{
    (void)state;
    struct ta_quality parts[3], forth, back;
    for (int i = 0; i < 3; i++) {
        ta_quality_init(&parts[i]);
        for (unsigned k = 0; k < 5; k++)
            ta_quality_add(&parts[i], TA_Q_TEXT_ENCODING, (uint64_t)(3 - i) * 100 + k, "At %d:%u.",
                           i, k);
    }
    ta_quality_init(&forth);
    ta_quality_init(&back);
    for (int i = 0; i < 3; i++) {
        ta_quality_merge(&forth, &parts[i]);
        ta_quality_merge(&back, &parts[2 - i]);
    }
    struct ta_arena arena = {0};
    size_t n, m;
    const struct ta_quality_finding *a = ta_quality_findings(&forth, &arena, &n);
    const struct ta_quality_finding *b = ta_quality_findings(&back, &arena, &m);
    assert_int_equal(n, 1);
    assert_int_equal(m, 1);
    assert_int_equal(a->count, 15);
    assert_int_equal(b->count, 15);
    assert_int_equal(a->byte_offset, b->byte_offset);
    assert_int_equal(a->last_offset, 304);
    assert_string_equal(a->text, "At 2:0.");
    assert_string_equal(a->text, b->text);
    ta_arena_free(&arena);
    for (int i = 0; i < 3; i++)
        ta_quality_free(&parts[i]);
    ta_quality_free(&forth);
    ta_quality_free(&back);
}

static void long_examples_are_bounded(void **state)
{
    (void)state;
    struct ta_quality quality;
    ta_quality_init(&quality);
    char *name = malloc(1 << 20);
    assert_non_null(name);
    memset(name, 'x', 1 << 20);
    ta_quality_add(&quality, TA_Q_TOO_LONG, 0, "%.*s", 1 << 20, name);
    struct ta_arena arena = {0};
    size_t n;
    assert_in_range(strlen(ta_quality_findings(&quality, &arena, &n)->text), 1000, 20000);
    free(name);
    ta_arena_free(&arena);
    ta_quality_free(&quality);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vocabulary_is_closed),
        cmocka_unit_test(cases_of_one_code_become_one_finding),
        cmocka_unit_test(nothing_added_is_no_finding),
        cmocka_unit_test(the_harshest_severity_stays),
        cmocka_unit_test(places_that_are_unknown_do_not_count),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(merging_does_not_depend_on_order),
        cmocka_unit_test(long_examples_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
