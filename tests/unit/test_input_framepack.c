/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FramePack's reports, memory logs and printed tables: what is read of them, whole and damaged. */
#include "trace_fixture.h"

#include "traceanalyze/dump.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- rows as text ------------------------------------------------------------------------- */

static void put_number(struct text *out, int64_t value)
{
    if (value == TA_MISSING)
        text_add(out, " ?");
    else
        text_add(out, " %" PRId64, value);
}

static void put_numbers(struct text *out, const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_number(out, values[i]);
    text_add(out, "\n");
}

static void put_name(struct text *out, const struct ta_trace *trace, const char *kind, ta_str name)
{
    const struct ta_slice text = name == TA_STR_ABSENT ? TA_LIT("?") : ta_trace_text(trace, name);
    text_add(out, "%s %.*s", kind, (int)text.len, text.ptr);
}

static void put_stages(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_timed_stage *s = ta_trace_stage_rows(trace, &n);
    for (; n; n--, s++) {
        assert_true(s->rank == TA_MISSING && !s->is_call);
        put_name(out, trace, "stage", s->name);
        put_numbers(out, (int64_t[]){s->calls, s->total_ns, s->min_ns, s->max_ns, s->last_ns}, 5);
    }
}

static void put_marks(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_memory_mark *m = ta_trace_memory_mark_rows(trace, &n);
    for (; n; n--, m++) {
        put_name(out, trace, "memory", m->label);
        put_numbers(
            out,
            (int64_t[]){m->time_ns, m->allocated_bytes, m->reserved_bytes, m->max_allocated_bytes},
            4);
    }
}

static void put_hits(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_cache_hit *h = ta_trace_cache_hit_rows(trace, &n);
    for (; n; n--, h++) {
        put_name(out, trace, "hit", h->cache);
        put_name(out, trace, "", h->details);
        put_numbers(out, (int64_t[]){h->video_ns, h->frame}, 2);
    }
}

static void put_operators(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_operator_sum *o = ta_trace_operator_sum_rows(trace, &n);
    for (; n; n--, o++) {
        put_name(out, trace, o->is_total ? "total" : "op", o->name);
        if (o->is_total) {
            put_numbers(out, (int64_t[]){o->self_cpu_ns, o->self_device_ns}, 2);
            continue;
        }
        put_numbers(out,
                    (int64_t[]){o->calls, o->self_cpu_ns, o->cpu_ns, o->self_device_ns,
                                o->device_ns, o->self_cpu_bytes, o->self_device_bytes},
                    7);
    }
}

static void put_rest(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_iterations *i = ta_trace_iterations_rows(trace, &n);
    for (; n; n--, i++) {
        put_name(out, trace, "iterations", i->name);
        put_numbers(out, (int64_t[]){i->count, i->total_ns, i->min_ns, i->max_ns, i->median_ns}, 5);
    }
    const struct ta_figure *f = ta_trace_figure_rows(trace, &n);
    for (; n; n--, f++) {
        put_name(out, trace, "figure", f->name);
        text_add(out, " %g\n", f->value);
    }
    const struct ta_happening *h = ta_trace_happening_rows(trace, &n);
    for (; n; n--, h++) {
        put_name(out, trace, "happened", h->name);
        put_numbers(out, &h->time_ns, 1);
    }
}

static const struct {
    const char *json, *text;
} inputs = {"framepack", "log"};

/* All rows of a file; `r` stays for its accounts. */
static char *rows_of(const char *input, const char *bytes, struct reading *r)
{
    struct text out = {NULL, 0, 0};
    fixture_read_as(&fixture, input, bytes, strlen(bytes), r);
    text_add(&out, "%s", r->status == TA_OK ? "" : "refused\n");
    if (r->trace) {
        put_stages(&out, r->trace);
        put_marks(&out, r->trace);
        put_hits(&out, r->trace);
        put_operators(&out, r->trace);
        put_rest(&out, r->trace);
    }
    return out.at;
}

#define assert_rows(input, bytes, expected, r)                                                     \
    do {                                                                                           \
        char *rows_ = rows_of(input, bytes, r);                                                    \
        assert_string_equal(rows_, expected);                                                      \
        free(rows_);                                                                               \
    } while (0)

static int sniff(const char *input, const char *bytes)
{
    return fixture_sniff(&fixture, input, bytes, strlen(bytes));
}

/* ---- JSON -------------------------------------------------------------------------------- */

#define SNAPSHOT(label, time, a, b, c)                                                             \
    "{\"label\": \"" label "\", \"timestamp\": " time ", \"allocated_mb\": " a                     \
    ", \"reserved_mb\": " b ", \"max_allocated_mb\": " c "}"

static const char report[] =
    "{\"timestamp\": 1700000009.25, \"timing_stats\": {\n"
    "  \"encode text\": {\"count\": 1, \"total\": 0.1128, \"mean\": 0.1128, \"min\": 0.1128, "
    "\"max\": 0.1128},\n"
    "  \"\\u89c6 step\": {\"count\": 3, \"total\": 0.0183103084564209, \"mean\": 0.006, \"min\": "
    "0.0060956, \"max\": 6.2e-3, \"last\": 0.0000000005}},\n"
    " \"memory_snapshots\": [" SNAPSHOT(
        "start", "1700000000.098685", "1024.5", "2048.0",
        "4096.199999809265") "],\n"
                             " \"iteration_stats\": {\"count\": 48, \"total\": 1.5, \"mean\": "
                             "0.03, \"min\": 0.02, "
                             "\"max\": 0.05, \"median\": 0.025}}";

static void test_report(void **state)
{
    (void)state;
    struct reading r;
    assert_int_equal(sniff(inputs.json, report), 92);
    assert_int_equal(sniff(inputs.text, report), 0);
    assert_rows(inputs.json, report,
                "stage encode text 1 112800000 112800000 112800000 ?\n"
                "stage 视 step 3 18310308 6095600 6200000 1\n"
                "memory start 1700000000098685000 1074266112 2147483648 4295177011\n"
                "iterations iterations 48 1500000000 20000000 50000000 25000000\n"
                "happened profiling report written 1700000009250000000\n",
                &r);
    assert_no_finding(&r.quality);
    assert_int_equal(r.kept, 4);
    assert_int_equal(r.rank, TA_MISSING);
    reading_free(&r);
}

static void test_report_without_device(void **state)
{
    (void)state;
    struct reading r;
    assert_rows(inputs.json,
                "{\"timestamp\": 1.5, \"timing_stats\": {\"a\": {\"count\": 2, \"total\": 1, "
                "\"min\": 0.25, \"max\": 0.75, \"last\": 0.25}}, \"memory_snapshots\": [], "
                "\"iteration_stats\": {}}",
                "stage a 2 1000000000 250000000 750000000 250000000\n"
                "happened profiling report written 1500000000\n",
                &r);
    assert_no_finding(&r.quality);
    reading_free(&r);
    assert_rows(inputs.json, "{\"timing_stats\": {}, \"memory_snapshots\": []}", "", &r);
    assert_finding(&r.quality, TA_Q_NO_EVENTS, 1, TA_NO_OFFSET);
    reading_free(&r);
}

static void test_clock_set_back(void **state)
{
    (void)state;
    struct reading r;
    assert_rows(inputs.json,
                "{\"timing_stats\": {\"a\": {\"count\": 1, \"total\": -0.49590015411376953, "
                "\"min\": -0.5, \"max\": -0.5}, \"b\": {\"count\": 2, \"total\": 0.5, \"min\": "
                "-0.25, \"max\": 0.75}}}",
                "stage a 1 -495900154 -500000000 -500000000 ?\n"
                "stage b 2 500000000 -250000000 750000000 ?\n",
                &r);
    assert_finding(&r.quality, TA_Q_CLOCK_SET_BACK, 2, TA_NO_OFFSET);
    reading_free(&r);
}

static void test_memory_log(void **state)
{
    (void)state;
    struct reading r;
    static const char log[] = "[\n " SNAPSHOT("one", "2.5", "0", "0.5", "1") ",\n " SNAPSHOT(
        "two", "3", "1e3", "null", "NaN") "]";
    assert_int_equal(sniff(inputs.json, log), 92);
    assert_rows(inputs.json, log,
                "memory one 2500000000 0 524288 1048576\n"
                "memory two 3000000000 1048576000 ? ?\n",
                &r);
    assert_int_equal(r.quality.slots[TA_Q_BAD_NUMBER].count, 1);
    assert_int_equal(r.kept, 2);
    reading_free(&r);
}

static void test_wrong_types(void **state)
{
    (void)state;
    struct reading r;
    assert_rows(inputs.json,
                "{\"timestamp\": \"today\", \"timing_stats\": {\"a\": [], \"b\": {\"count\": -1, "
                "\"total\": \"slow\"}, \"c\": {\"count\": 1.5, \"total\": true}, \"d\": null, "
                "\"e\": {\"count\": \"3\", \"total\": \"0.5\"}, \"f\": {\"count\": 1e300, "
                "\"total\": 1e300, \"min\": {}}}, \"memory_snapshots\": {}, \"iteration_stats\": "
                "[1], \"more\": 1}",
                "stage e 3 500000000 ? ? ?\n", &r);
    assert_finding(&r.quality, TA_Q_BAD_RECORD, 7, TA_NO_OFFSET);
    assert_int_equal(r.kept, 1);
    assert_int_equal(r.dropped, 7);
    reading_free(&r);
    assert_rows(inputs.json,
                "[1, \"x\", null, [], {}, {\"label\": 7, \"allocated_mb\": \"-1\"}, {\"label\": "
                "{}, \"reserved_mb\": 1}]",
                "memory ? ? ? 1048576 ?\n", &r);
    assert_finding(&r.quality, TA_Q_BAD_RECORD, 6, TA_NO_OFFSET);
    reading_free(&r);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "  ",
                                        "{",
                                        "[",
                                        "{\"a\": 1}",
                                        "[1]",
                                        "12",
                                        "{\"timing_stats\": {\"a\": 1}}",
                                        "{\"timing_stats\": 3}",
                                        "\x80\x02}q\x01."};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct reading r;
        assert_rows(inputs.json, texts[i], "refused\n", &r);
        assert_int_equal(r.status, TA_ERR_INPUT);
        reading_free(&r);
    }
}

/* Wherever a report is cut, what is left is a part of it or refused. */
static void test_cut(void **state)
{
    (void)state;
    struct reading whole;
    char *all = rows_of(inputs.json, report, &whole);
    for (size_t n = 0; n < strlen(report); n++) {
        char cut[sizeof report];
        struct reading r;
        memcpy(cut, report, n);
        cut[n] = '\0';
        char *rows = rows_of(inputs.json, cut, &r);
        if (r.status == TA_OK && r.kept)
            assert_true(r.quality.slots[TA_Q_TRUNCATED].count == 1);
        assert_true(r.kept <= whole.kept);
        free(rows);
        reading_free(&r);
    }
    free(all);
    reading_free(&whole);
}

static void test_not_mine(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"traceEvents\": [{\"name\": \"\\\"timing_stats\\\": {\"}]}",
        "{\"traceEvents\": [], \"timing_stats\": {}}",
        "{\"text\": \"timing_stats\"}",
        "{\"timing_stats\": []}",
        "[{\"label\": \"a\", \"allocated_mb\": 1}]",
        "PROFILING of a SUMMARY",
        "a\nb\n",
        "| Time | Frame |\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(sniff(inputs.json, texts[i]), 0);
        assert_int_equal(sniff(inputs.text, texts[i]), 0);
    }
}

/* ---- printed tables ----------------------------------------------------------------------- */

#define RULE "================================================================================\n"
#define LINE "--------------------------------------------------------------------------------\n"
#define TIMING                                                                                     \
    RULE "PROFILING SUMMARY - Top Operations by Total Time\n" RULE                                 \
         "Operation                   Count      Total       Mean        Min        Max\n" LINE
#define MEMORY                                                                                     \
    RULE "MEMORY USAGE SUMMARY\n" RULE                                                             \
         "Label                     Allocated     Reserved    Max Alloc\n" LINE

static void test_tables(void **state)
{
    (void)state;
    struct reading r;
    static const char text[] =
        "Prompt: MEMORY USAGE\n\n" TIMING
        "décodage 视频 🎬                          1      0.022s      0.022s      0.022s      "
        "0.022s\n"
        "step two   3 1.5s 500ms 0.25s 0.75s\n" RULE "\n\n" MEMORY
        "after encode                  1024.5M      2048.0M      4096.2M\n" RULE "\n" RULE
        "ITERATION PROFILING: diffusion_step\n" RULE "Total iterations: 48\n"
        "Total time:       1.165s\nMean time/iter:   0.024s (41.21 it/s)\nMin time:         "
        "0.019s\nMax time:         0.049s\nMedian time:      0.024s\n" RULE;
    assert_int_equal(sniff(inputs.text, text), 45);
    assert_int_equal(sniff(inputs.json, text), 0);
    assert_rows(inputs.text, text,
                "stage décodage 视频 🎬 1 22000000 22000000 22000000 ?\n"
                "stage step two 3 1500000000 250000000 750000000 ?\n"
                "memory after encode ? 1074266112 2147483648 4295177011\n"
                "iterations diffusion_step 48 1165000000 19000000 49000000 24000000\n"
                "figure iterations_per_s 41.21\n",
                &r);
    assert_no_finding(&r.quality);
    assert_int_equal(r.kept, 4);
    reading_free(&r);
}

/* A terminal shows more than tables, and bars of progress overwrite their line. */
static void test_noise(void **state)
{
    (void)state;
    struct reading r;
    assert_rows(
        inputs.text,
        "100%|####| 25/25 [00:10<00:00,  2.4it/s]\rPROFILING SUMMARY - Top\r\n"
        "Operation Count Total Mean Min Max\r\n" LINE
        "  0%|          | 0/25 [00:00<?, ?it/s]\r 50%|##   | 12/25 [00:05<00:05,  2.4it/s]\n"
        "a   1   0.5s  0.5s  0.5s  0.5s\r\n"
        " 60%|###  | 15/25 [00:05<00:04,  2.4it/s]\n"
        "b  x 0.5s 0.5s 0.5s 0.5s\n"
        "c  2 -0.5s -0.25s -0.3s -0.2s\n"
        "d  1 0.5s 0.5s 0.5s\n\n"
        "e  1 0.5s 0.5s 0.5s 0.5s\n",
        "stage a 1 500000000 500000000 500000000 ?\n"
        "stage c 2 -500000000 -300000000 -200000000 ?\n"
        "iterations ? 25 10000000000 ? ? ?\n" /* of the bars */
        "iterations ? 15 5000000000 ? ? ?\n",
        &r);
    assert_int_equal(r.quality.slots[TA_Q_BAD_RECORD].count, 2);
    assert_int_equal(r.quality.slots[TA_Q_CLOCK_SET_BACK].count, 1);
    assert_int_equal(r.dropped, 2);
    reading_free(&r);
}

/* The sums of a process grow, so of tables printed one after the other the last counts; names that
 * were cut may be equal within one. */
static void test_printed_again(void **state)
{
    (void)state;
    struct reading r;
    assert_rows(inputs.text,
                TIMING
                "cut_name 1 1s 1s 1s 1s\ncut_name 2 2s 1s 1s 1s\nold 1 3s 3s 3s 3s\n" RULE MEMORY
                "one 1.0M 1.0M 1.0M\n" RULE MEMORY "one 1.0M 1.0M 1.0M\n"
                "two 2.0M 2.0M 2.0M\n" RULE TIMING "cut_name 5 5s 1s 1s 1s\n" RULE MEMORY
                "one 7.0M 1.0M 1.0M\n" RULE,
                "stage cut_name 1 1000000000 1000000000 1000000000 ?\n"
                "stage cut_name 5 5000000000 1000000000 1000000000 ?\n"
                "stage old 1 3000000000 3000000000 3000000000 ?\n"
                "memory one ? 1048576 1048576 1048576\n"
                "memory two ? 2097152 2097152 2097152\n"
                "memory one ? 7340032 1048576 1048576\n",
                &r);
    reading_free(&r);
}

static void test_timeline(void **state)
{
    (void)state;
    struct reading r;
    static const char text[] = "| Time (s) | Frame | Cache | Details |\n| --- | --- | --- | --- |\n"
                               "| 0.37 | 11 | teacache | step: 4, score: 0.9 |\n"
                               "|1.00|30|similarity_cache|block: a|b|\n"
                               "| 2.00 | 60 | first_block_cache | - |\n"
                               "| soon | 60 | first_block_cache | - |\n"
                               "| 2.00 | 60\n";
    assert_int_equal(sniff(inputs.text, text), 45);
    assert_rows(inputs.text, text,
                "hit teacache step: 4, score: 0.9 370000000 11\n"
                "hit similarity_cache block: a|b 1000000000 30\n"
                "hit first_block_cache ? 2000000000 60\n",
                &r);
    assert_int_equal(r.quality.slots[TA_Q_BAD_RECORD].count, 2);
    reading_free(&r);
    assert_int_equal(sniff(inputs.text, "No cache hits recorded yet.\n"), 45);
    assert_rows(inputs.text, "No cache hits recorded yet.\n", "", &r);
    assert_finding(&r.quality, TA_Q_NO_EVENTS, 1, TA_NO_OFFSET);
    reading_free(&r);
}

#define DASHES "----------  ----------  ----------  ----------  ----------  \n"

static void test_operators(void **state)
{
    (void)state;
    struct reading r;
    static const char text[] =
        "PyTorch Profiler trace exported to: a/trace.json\n" DASHES
        "   Name  Self CPU %  Self CPU  CPU total %  CPU total  CPU time avg  Self CUDA  Self CUDA "
        "%  CUDA total  CUDA Mem  Self CPU Mem  Self CUDA Mem  # of Calls  \n" DASHES
        "   my stage  95.36%  1.696s  96%  1.709s  427.3ms  2.500us  1.0%  3.000ms  1 Mb  -1.50 Kb "
        " "
        "-292 b  4  \n"
        "   aten::mm  -0.02%  -437.000us  1%  0.000us  1us  0.000us  0.00%  0.000us  0 b  0 b  "
        "2.00 Gb  48  \n"
        "   cut row  1%\n" DASHES "Self CPU time total: 1.779s\nSelf CUDA time total: 20.000us\n"
        "after it  1  2  3  4  5  6  7  8  9  10  11  12\n";
    assert_int_equal(sniff(inputs.text, text), 45);
    assert_rows(inputs.text, text,
                "op my stage 4 1696000000 1709000000 2500 3000000 -1536 -292\n"
                "op aten::mm 48 -437000 0 0 0 0 2147483648\n"
                "total CUDA 1779000000 20000\n"
                "figure self_cpu_total_ns 1.779e+09\nfigure self_device_total_ns 20000\n",
                &r);
    assert_int_equal(r.quality.slots[TA_Q_BAD_RECORD].count, 1);
    reading_free(&r);
}

static void test_iterations(void **state)
{
    (void)state;
    struct reading r;
    assert_rows(inputs.text,
                RULE
                "ITERATION PROFILING:\n" RULE "Total iterations: many\nMean time/iter: 0.5s (x "
                "it/s)\nTotal time: 2s\nwords\n" RULE "Max 3s\nITERATION PROFILING: a b\n",
                "iterations iterations ? 2000000000 ? ? ?\n", &r);
    assert_int_equal(r.quality.slots[TA_Q_BAD_NUMBER].count, 1);
    assert_int_equal(r.quality.slots[TA_Q_BAD_RECORD].count, 1);
    assert_int_equal(r.kept, 1);
    reading_free(&r);
}

static void test_text_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "words\n",
                                        TIMING "a  1 0.5s 0.5s 0.5s\nb\n",
                                        MEMORY "a 1.0 2.0 3.0\n" RULE,
                                        TIMING,
                                        TIMING RULE "words behind it\n"};
    static const char *const rows[] = {"refused\n", "refused\n", "refused\n", "refused\n", "", ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct reading r;
        assert_rows(inputs.text, texts[i], rows[i], &r);
        assert_int_equal(r.kept, 0);
        reading_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_report_without_device),
        cmocka_unit_test(test_clock_set_back),
        cmocka_unit_test(test_memory_log),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_not_mine),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_printed_again),
        cmocka_unit_test(test_timeline),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_text_refused),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
