/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was found in the inputs: the worst first, and once where many files have it. */
#include "traceanalyze/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FILES = 5000 };

static const struct ta_quality_finding lost = {
    .code = TA_Q_ANALYSIS_MISSING,
    .severity = TA_QUALITY_LOSS,
    .count = 2,
    .byte_offset = 7,
    .last_offset = 9,
    .file_offset = 3,
    .text = "one of the cases",
};
static const struct ta_quality_finding said = {.code = TA_Q_RANK_FROM_NAME,
                                               .severity = TA_QUALITY_INFO,
                                               .count = 1,
                                               .byte_offset = TA_NO_OFFSET,
                                               .last_offset = TA_NO_OFFSET,
                                               .file_offset = TA_NO_OFFSET};

static char paths[FILES][32];
static struct ta_file_account files[FILES];

/* Files of which the first `n_lost` have lost something, after what all of them say. */
static struct ta_notices list(size_t n_files, size_t n_lost, struct ta_arena *arena)
{
    static struct ta_quality_finding of_file[] = {{.count = 0}, {.count = 0}};
    static struct ta_quality_finding of_run = {.count = 0};
    of_file[0] = said;
    of_file[1] = lost;
    of_run = said;
    of_run.code = TA_Q_WORLD_SIZE;
    of_run.severity = TA_QUALITY_ERROR;
    for (size_t i = 0; i < n_files; i++) {
        snprintf(paths[i], sizeof paths[i], "%04zu.json", i);
        files[i] = (struct ta_file_account){
            .path = paths[i], .findings = of_file, .n_findings = i < n_lost ? 2 : 1};
    }
    const struct ta_accounts accounts = {
        .files = files, .n_files = n_files, .findings = &of_run, .n_findings = 1};
    return ta_accounts_notices(&accounts, arena);
}

static void a_few_one_by_one(void **state)
{
    (void)state;
    struct ta_arena arena = {0};
    const struct ta_notices notices = list(TA_NOTICES_APART, 2, &arena);
    assert_int_equal(notices.n, 1 + 2 + TA_NOTICES_APART);
    assert_int_equal(notices.at[0].finding.code, TA_Q_WORLD_SIZE);
    assert_null(notices.at[0].where);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(notices.at[1 + i].finding.code, TA_Q_ANALYSIS_MISSING);
        assert_int_equal(notices.at[1 + i].finding.byte_offset, 7);
        assert_int_equal(notices.at[1 + i].n_files, 1);
        assert_string_equal(notices.at[1 + i].where, paths[i]);
    }
    for (size_t i = 0; i < TA_NOTICES_APART; i++)
        assert_string_equal(notices.at[3 + i].where, paths[i]);
    ta_arena_free(&arena);
}

static void many_as_one(void **state)
{
    (void)state;
    struct ta_arena arena = {0};
    const struct ta_notices notices = list(FILES, TA_NOTICES_APART + 1, &arena);
    assert_int_equal(notices.n, 3);
    const struct ta_notice *losses = &notices.at[1], *others = &notices.at[2];
    assert_int_equal(losses->finding.code, TA_Q_ANALYSIS_MISSING);
    assert_int_equal(losses->finding.count, 2 * (TA_NOTICES_APART + 1));
    assert_true(losses->finding.byte_offset == TA_NO_OFFSET);
    assert_true(losses->finding.last_offset == TA_NO_OFFSET);
    assert_true(losses->finding.file_offset == TA_NO_OFFSET);
    assert_string_equal(losses->finding.text, "one of the cases");
    assert_string_equal(losses->where, "0000.json, 0001.json, 0002.json and 1 more");
    assert_int_equal(others->finding.count, FILES);
    assert_int_equal(others->n_files, FILES);
    char number[TA_UNIT_TEXT_MAX], expected[100];
    ta_unit_format(number, FILES - TA_NOTICES_APART, TA_UNIT_COUNT);
    snprintf(expected, sizeof expected, "0000.json, 0001.json, 0002.json and %s more", number);
    assert_string_equal(others->where, expected);
    ta_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_one_by_one),
        cmocka_unit_test(many_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
