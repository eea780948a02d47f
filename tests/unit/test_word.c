/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words for programs as people read them, columns that people see, evidence in a line. */
#include "report/report.h"
#include "report/tables.h"
#include "report/words.h"
#include "traceanalyze/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *word, *text;
    } cases[] = {
        {"fps", "FPS"},
        {"as_reported", "As reported"},
        {"as_reported (block)", "As reported (block)"},
        {"first_block_ns", "First block"},
        {"steps_per_s", "Steps per second"},
        {"gpu_memory_used", "GPU memory used"},
        {"cpu_utilization", "CPU utilization"},
        {"avg_computation_time_ns", "Average computation time"},
        {"vae_decode/share_ratio", "vae_decode: Share"},
        {"marker", "Marker"},
        {"tpot_ns", "Time per output token"},
        {"_ns", "Ns"},
        {"__", ""},
        {"", ""},
        {"\xc3\xa9t\xc3\xa9_ns", "\xc3\xa9t\xc3\xa9_ns"}, /* a name, no word of ours */
        {"a_very_long_word_that_no_analysis_writes_and_that_is_surely_a_name_of_the_input",
         "a_very_long_word_that_no_analysis_writes_and_that_is_surely_a_name_of_the_input"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buffer[TA_WORD_TEXT_MAX];
        const struct ta_slice text = ta_word_text(ta_slice_of(cases[i].word), buffer);
        const struct ta_slice wanted = ta_slice_of(cases[i].text);
        if (!ta_slice_equal(text, wanted))
            fail_msg("%s reads \"%.*s\"", cases[i].word, (int)text.len, text.ptr);
    }
}

/* The longest words with the longest readings stay within the buffer. */
static void test_words_fit(void **state)
{
    (void)state;
    char word[200], buffer[TA_WORD_TEXT_MAX];
    for (size_t n = 1; n < sizeof word; n++) {
        for (size_t i = 0; i < n; i++)
            word[i] = "fps_framepack_viztracer_"[i % 24];
        const struct ta_slice text = ta_word_text((struct ta_slice){word, n}, buffer);
        assert_true(text.ptr == word || text.len <= TA_WORD_TEXT_MAX);
    }
}

static const struct ta_column columns[] = {
    {"rank", "Rank", TA_INTEGER, .doc = "Rank"},
    {"id", "Id", TA_ID, .doc = "For programs"},
    {"signal", "Signal", TA_WORD, .doc = "What"},
    {"value", "Value", TA_NUMBER, .doc = "Value"},
    {"unit", "Unit", TA_TEXT, .role = TA_UNIT_OF_ROW, .doc = "Unit"},
    {"never", "Never", TA_NS_MEAN, .doc = "Nothing"},
};

static void add(struct ta_table_builder *table, int64_t rank, const char *signal, double value,
                const char *unit)
{
    TA_CELLS(table, ta_int(rank), ta_text(TA_LIT("x_y")), ta_text(ta_slice_of(signal)),
             ta_num(value), ta_text(ta_slice_of(unit)), ta_null());
}

static struct ta_report *report_of_samples(void)
{
    struct ta_report *report = ta_report_new();
    struct ta_table_builder *table = ta_add_table(ta_report_open_section(report, "s", "Section"),
                                                  "samples", "Samples", columns, 6);
    add(table, 0, "gpu_clock", 1.98e9, "per_s");
    add(table, 0, "requests", 12, "per_s");
    add(table, 3, "gpu_power", 650, "watt");
    assert_int_equal(ta_report_freeze(report), TA_OK);
    return report;
}

static void test_columns_for_people(void **state)
{
    (void)state;
    struct ta_report *report = report_of_samples();
    const struct ta_table *table = ta_report_table(report, "samples");
    static const bool useful[] = {true, false, true, true, false, false};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(ta_column_is_useful(table, i), useful[i]);
    assert_true(ta_column_is_shown(table, 5)); /* it only lacks values */
    ta_report_free(report);
}

static void test_clocks_are_frequencies(void **state)
{
    (void)state;
    static const char *const texts[] = {("1\xe2\x80\xaf"
                                         "980 MHz"),
                                        "12 /s", "650 W"};
    struct ta_report *report = report_of_samples();
    const struct ta_table *table = ta_report_table(report, "samples");
    for (size_t row = 0; row < 3; row++) {
        char buffer[TA_WORD_TEXT_MAX];
        assert_true(ta_slice_equal(ta_table_text(table, row, 3, buffer), ta_slice_of(texts[row])));
    }
    assert_string_equal(ta_unit_name(TA_UNIT_HERTZ), "per_s"); /* as the contract has it */
    ta_report_free(report);
}

static void test_evidence_is_a_line(void **state)
{
    (void)state;
    struct ta_report *report = report_of_samples();
    const struct ta_evidence evidence = {.table = "samples",
                                         .column = "value",
                                         .row = ta_int(0),
                                         .value = ta_num(12),
                                         .unit = TA_UNIT_PER_S};
    char line[100], narrow[10];
    assert_int_equal(ta_evidence_row(ta_report_table(report, "samples"), &evidence), 1);
    ta_evidence_text(report, &evidence, line, sizeof line);
    assert_string_equal(line, "Samples · rank 0 · Requests · Value: 12 /s");
    ta_evidence_text(report, &evidence, narrow, sizeof narrow);
    assert_string_equal(narrow, "Samples "); /* no half of the point */
    const struct ta_evidence unknown = {.table = "gone",
                                        .column = "total_ns",
                                        .row = ta_text(TA_LIT("a_b")),
                                        .value = ta_int(1000),
                                        .unit = TA_UNIT_NS};
    ta_evidence_text(report, &unknown, line, sizeof line);
    assert_string_equal(line, "gone · a_b · Total: 1.00 µs");
    ta_report_free(report);
}

/* A kernel of a template is named by what it does, not by all its types. */
static void test_evidence_is_short(void **state)
{
    (void)state;
    static const struct ta_column names[] = {
        {"name", "Name", TA_TEXT, .doc = ""},
        {"total_ns", "Total", TA_NS, .better = TA_LOWER, .doc = ""},
    };
    static const char name[] =
        "void at::native::batch_norm_backward_kernel<c10::BFloat16, c10::BFloat16, float, int>("
        "at::GenericPackedTensorAccessor<c10::BFloat16 const, 3ul, at::DefaultPtrTraits, int>, "
        "at::GenericPackedTensorAccessor<c10::BFloat16, 1ul, at::DefaultPtrTraits, int>)";
    struct ta_report *report = ta_report_new();
    struct ta_table_builder *table =
        ta_add_table(ta_report_open_section(report, "s", "Section"), "k", "Kernels", names, 2);
    TA_CELLS(table, ta_text(ta_slice_of(name)), ta_int(1000));
    assert_int_equal(ta_report_freeze(report), TA_OK);
    const struct ta_evidence evidence = {.table = "k",
                                         .column = "total_ns",
                                         .row = ta_text(ta_slice_of(name)),
                                         .value = ta_int(1000),
                                         .unit = TA_UNIT_NS};
    char line[400];
    ta_evidence_text(report, &evidence, line, sizeof line);
    assert_string_equal(line, "Kernels · batch_norm_backward_kernel<BFloat16, BFloat16, float, "
                              "int> · Total: 1.00 µs");
    ta_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_fit),
        cmocka_unit_test(test_columns_for_people),
        cmocka_unit_test(test_clocks_are_frequencies),
        cmocka_unit_test(test_evidence_is_a_line),
        cmocka_unit_test(test_evidence_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
