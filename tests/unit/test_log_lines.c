/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of logs: texts found in one pass, prefixes taken off, numbers with units. */

#include "base/needles.h"
#include "parse/log/pieces.h"
#include "parse/log/prefix.h"
#include "trace_fixture.h"

static void test_needles(void **state)
{
    (void)state;
    static const struct ta_needle list[] = {{"he", 0},   {"she", 1}, {"his", 2},
                                            {"hers", 3}, {"%|", 4},  {"\xe2\x96\x88", 5}};
    struct ta_needles *needles = ta_needles_new(list, sizeof list / sizeof *list);
    assert_non_null(needles);
    assert_int_equal(ta_needles_in(needles, TA_LIT("ushers")), 1u << 0 | 1u << 1 | 1u << 3);
    assert_int_equal(ta_needles_in(needles, TA_LIT("h is")), 0);
    assert_int_equal(ta_needles_in(needles, TA_LIT("35%|\xe2\x96\x88")), 1u << 4 | 1u << 5);
    assert_int_equal(ta_needles_in(needles, (struct ta_slice){NULL, 0}), 0);
    ta_needles_free(needles);
}

/* Against a search for one text after the other. */
static void test_needles_at_random(void **state)
{
    (void)state;
    struct rng rng = {7};
    for (unsigned round = 0; round < 300; round++) {
        char texts[8][6], line[40];
        struct ta_needle list[8];
        const size_t n = 1 + rng_below(&rng, 8), len = rng_below(&rng, sizeof line);
        for (size_t i = 0; i < n; i++) {
            const size_t size = 1 + rng_below(&rng, 5);
            for (size_t c = 0; c < size; c++)
                texts[i][c] = (char)('a' + rng_below(&rng, 3));
            texts[i][size] = '\0';
            list[i] = (struct ta_needle){texts[i], (unsigned)i};
        }
        for (size_t c = 0; c < len; c++)
            line[c] = (char)('a' + rng_below(&rng, 4));
        uint64_t expected = 0;
        for (size_t i = 0; i < n; i++)
            expected |= (uint64_t)(len && memmem(line, len, texts[i], strlen(texts[i]))) << i;
        struct ta_needles *needles = ta_needles_new(list, n);
        assert_non_null(needles);
        assert_int_equal(ta_needles_in(needles, (struct ta_slice){line, len}), expected);
        ta_needles_free(needles);
    }
}

static void test_prefixes(void **state)
{
    (void)state;
    static const struct {
        const char *line, *text;
        int64_t rank;
        bool dated;
    } cases[] = {
        {"Denoising:  35%|", "Denoising:  35%|", TA_MISSING, false},
        {"2025-09-30 21:14:00,123 INFO a.b: text", "text", TA_MISSING, true},
        {"2025-09-30 21:14:00,123 - name - INFO - text", "text", TA_MISSING, true},
        {"2025-09-30T21:14:00.123456Z text", "text", TA_MISSING, true},
        {"INFO 09-30 21:14:00 [worker.py:123] text", "text", TA_MISSING, false},
        {"[2025-09-30 21:14:00 TP1] text", "text", 1, true},
        {"(Worker_TP0 pid=123) text", "text", 0, false},
        {"V0930 21:14:00.123000 4711 torch/x.py:12] [0/1] text", "[0/1] text", TA_MISSING, false},
        {"[rank3]: text", "text", 3, false},
        {"[rank3]:[rank3] text", "text", 3, false},
        {"3: text", "text", 3, false},
        {"server-1  | text", "text", TA_MISSING, false},
        {"comfy-rocm  | 2025-09-30 21:14:00,123 INFO text", "text", TA_MISSING, true},
        {"2025-11-16T20:00:00.123456789Z stdout F text", "text", TA_MISSING, true},
        {"2025-11-16T20:00:00+0100 host python[4711]: text", "text", TA_MISSING, true},
        {"Nov  6 20:00:00 host python[4711]: text", "text", TA_MISSING, false},
        {"> > [rank1]: text", "text", 1, false},
        {"stdout F text", "stdout F text", TA_MISSING, false},
        {"name  | calls  |", "name  | calls  |", TA_MISSING, false},
        {"[12-16 08:13:02] [DenoisingStage] started...", "[DenoisingStage] started...", TA_MISSING,
         false},
        {"WARNING:root: text", "text", TA_MISSING, false},
        {"INFO:__main__:text", "text", TA_MISSING, false},
        {"2025-09-30 21:14:00,123 INFO __main__: text", "text", TA_MISSING, true},
        {"rank of a matrix 3: text", "rank of a matrix 3: text", TA_MISSING, false},
        {"2025-09-30 21:14:00.123 | INFO     | app:main:12 - text", "text", TA_MISSING, true},
        {"2025-09-30 21:14:00,123 | INFO | text", "text", TA_MISSING, true},
        {"[rank0]:   - VAE decoding time: 5 ms", "- VAE decoding time: 5 ms", 0, false},
        {"INFO: - item", "- item", TA_MISSING, false},
        {"[2025-09-30 21:14:00] | a | b |", "| a | b |", TA_MISSING, true},
        {"", "", TA_MISSING, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ta_log_line line = {.whole = ta_slice_of(cases[i].line)};
        ta_log_strip_prefix(&line);
        if (!ta_slice_equal(line.text, ta_slice_of(cases[i].text)) || line.rank != cases[i].rank ||
            (line.time_ns != TA_MISSING) != cases[i].dated)
            fail_msg("%s: \"%.*s\", rank %lld", cases[i].line, (int)line.text.len, line.text.ptr,
                     (long long)line.rank);
    }
    struct ta_log_line line = {.whole = TA_LIT("2025-09-30 21:14:00,5 x")};
    ta_log_strip_prefix(&line);
    assert_int_equal(line.time_ns, INT64_C(1759266840500000000));
}

static void test_clocks(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum ta_log_clock_kind kind;
        int64_t seconds;
    } cases[] = {
        {"2025-09-30 21:14:00,5 x", TA_CLOCK_FULL, 1759266840},
        {"[12-16 08:13:02] x", TA_CLOCK_YEARLY, (350 * 24 + 8) * 3600 + 13 * 60 + 2},
        {"INFO 01-02 00:00:01 [a.py:1] x", TA_CLOCK_YEARLY, 86401},
        {"I0102 00:00:01.250000 4711 a.cc:1] x", TA_CLOCK_YEARLY, 86401},
        {"21:14:00 - x", TA_CLOCK_DAILY, 21 * 3600 + 14 * 60},
        {"[rank3]: 21:14:00 x", TA_CLOCK_DAILY, 21 * 3600 + 14 * 60},
        {"Jan  2 00:00:01 host python[1]: x", TA_CLOCK_YEARLY, 86401},
        {"> 21:14:00 x", TA_CLOCK_DAILY, 21 * 3600 + 14 * 60},
        {"2199-12-31 23:59:59 x", TA_CLOCK_FULL, INT64_C(7258118399)},
        {"4041-09-30 21:14:00 x", TA_CLOCK_NONE, 0},
        {"0000-00-00 00:00:00 x", TA_CLOCK_NONE, 0},
        {"at 21:14:00 x", TA_CLOCK_NONE, 0},
        {"21:14:0", TA_CLOCK_NONE, 0},
        {"", TA_CLOCK_NONE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ta_log_line line = {.whole = ta_slice_of(cases[i].line)};
        int64_t ns = 0;
        const enum ta_log_clock_kind kind = ta_log_clock_of(&line, &ns);
        if (kind != cases[i].kind || (kind && ns / 1000000000 != cases[i].seconds))
            fail_msg("%s: %d, %lld s", cases[i].line, (int)kind, (long long)(ns / 1000000000));
    }
}

static void test_numbers(void **state)
{
    (void)state;
    struct ta_slice text = TA_LIT("30.29 GiB. ");
    assert_int_equal(ta_log_bytes(&text), INT64_C(32523639849));
    assert_true(ta_slice_equal(text, TA_LIT(". ")));
    text = TA_LIT("512MiB free");
    assert_int_equal(ta_log_bytes(&text), 512 << 20);
    text = TA_LIT("1,024 KB");
    assert_int_equal(ta_log_bytes(&text), 1 << 20);
    text = TA_LIT("3 Birds");
    assert_int_equal(ta_log_bytes(&text), TA_MISSING);
    assert_int_equal(text.len, 7);
    text = TA_LIT(" 641.68 seconds");
    assert_int_equal(ta_log_time(&text), INT64_C(641680000000));
    text = TA_LIT("48 ms");
    assert_int_equal(ta_log_time(&text), 48000000);
    text = TA_LIT("04:02<00:00");
    assert_int_equal(ta_log_clock(&text), INT64_C(242000000000));
    text = TA_LIT("1:02:03,");
    assert_int_equal(ta_log_clock(&text), INT64_C(3723000000000));
    text = TA_LIT("2 days, 1:02:03");
    assert_int_equal(ta_log_clock(&text), INT64_C(176523000000000));
    text = TA_LIT("9999999:59:59");
    assert_int_equal(ta_log_clock(&text), TA_MISSING);
    text = TA_LIT("10001 days, 1:02:03");
    assert_int_equal(ta_log_clock(&text), TA_MISSING);
    text = TA_LIT("04:72");
    assert_int_equal(ta_log_clock(&text), TA_MISSING);
    text = TA_LIT("7/20");
    assert_int_equal(ta_log_integer(&text), 7);
    text = TA_LIT("2.41");
    assert_int_equal(ta_log_integer(&text), TA_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needles),  cmocka_unit_test(test_needles_at_random),
        cmocka_unit_test(test_prefixes), cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
