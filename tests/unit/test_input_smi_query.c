/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of `nvidia-smi --query-gpu`: columns, units, missing readings, and tables without a
 * header. */
#include "trace_fixture.h"

#include "traceanalyze/dump.h"

#include <inttypes.h>
#include <stdio.h>

static const char input[] = "nvidia_smi_query";

/* "device signal seconds value;" of all samples, or "refused". */
static char *samples_of(const char *bytes, struct reading *r)
{
    struct text out = {NULL, 0, 0};
    fixture_read_as(&fixture, input, bytes, strlen(bytes), r);
    text_add(&out, "%s", r->status == TA_OK ? "" : "refused");
    struct ta_samples samples = {.left = 0};
    if (r->trace)
        samples = ta_trace_samples(r->trace);
    while (ta_samples_next(&samples)) {
        const struct ta_sample *s = &samples.sample;
        assert_true(s->rank == TA_MISSING && s->relative);
        text_add(&out, "%" PRId64 " %s %g %.12g;", s->device, ta_signal_name(s->signal) + 4,
                 (double)s->time_ns / 1e9, s->value);
    }
    return out.at;
}

#define assert_samples(bytes, expected, r)                                                         \
    do {                                                                                           \
        char *samples_ = samples_of(bytes, r);                                                     \
        assert_string_equal(samples_, expected);                                                   \
        free(samples_);                                                                            \
    } while (0)

static int sniff(const char *bytes)
{
    return fixture_sniff(&fixture, input, bytes, strlen(bytes));
}

/* Units are in the cells, in the header only, or nowhere. */
static void test_units(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "utilization.gpu [%], index, memory.used [MiB], clocks.sm [MHz], power.draw [W]\n"
        "7 %, 1, 2 MiB, 210 MHz, 61.20 W\n",
        "utilization.gpu [%], index, memory.used [MiB], clocks.sm [MHz], power.draw [W]\r\n"
        "7, 1, 2, 210, 61.20\r\n",
        "utilization.gpu,index,memory.used,clocks.sm,power.draw\n7,1,2,210,61.20\n",
        "utilization.gpu;index;memory.used;clocks.sm;power.draw\n7;1;2;210;61,20\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct reading r;
        assert_int_equal(sniff(texts[i]), 95);
        assert_samples(texts[i],
                       "1 utilization 0 0.07;1 memory_used 0 2097152;1 clock 0 210000000;"
                       "1 power 0 61.2;",
                       &r);
        if (i == 3)
            assert_finding(&r.quality, TA_Q_NUMBER_FORM, 1, 55);
        else
            assert_no_finding(&r.quality);
        reading_free(&r);
    }
}

static void test_stamps_and_devices(void **state)
{
    (void)state;
    struct reading r;
    assert_samples("$ nvidia-smi …\ntimestamp, index, temperature.gpu\n"
                   "2025/12/31 23:59:59.900, 0, 46\n2025/12/31 23:59:59.904, 1, 47\n"
                   "2026/01/01 00:00:00.900, 0, 48\n"
                   "timestamp, index, temperature.gpu\n"
                   "2026/01/01 00:00:01.900, 1, 49\n"
                   "2026/13/01 00:00:01.900, 1, 49\n2026/01/01 00:00:02.900, 1\n",
                   "0 temperature 0 46;1 temperature 0.004 47;0 temperature 1 48;"
                   "1 temperature 2 49;",
                   &r);
    assert_int_equal(r.quality.slots[TA_Q_BAD_RECORD].count, 3);
    assert_int_equal(r.kept, 4);
    assert_int_equal(r.dropped, 3);
    reading_free(&r);
    /* Without an index devices differ by their identity. */
    assert_samples("uuid, temperature.gpu\nGPU-b, 1\nGPU-a, 2\nGPU-b, 3\n",
                   "0 temperature 0 1;1 temperature 0 2;0 temperature 1 3;", &r);
    reading_free(&r);
}

static void test_missing(void **state)
{
    (void)state;
    struct reading r;
    assert_samples("index, temperature.gpu, power.draw [W], utilization.gpu [%]\n"
                   "0, [N/A], [Not Supported], [Unknown Error]\n0, N/A, 0.00 W, 5 %\n"
                   "0, 4x, 3 V, 50 %\n",
                   "0 utilization 1 0.05;0 utilization 2 0.5;", &r);
    assert_int_equal(r.quality.slots[TA_Q_BAD_NUMBER].count, 2);
    reading_free(&r);
}

/* The end of a file that is cut is no reading of its own. */
static void test_cut(void **state)
{
    (void)state;
    struct reading r;
    assert_samples("index, power.draw [W]\n0, 262.40 W\n0, 26", "0 power 0 262.4;", &r);
    assert_int_equal(r.quality.slots[TA_Q_BAD_NUMBER].count, 1);
    reading_free(&r);
    char *samples = samples_of("temperature.gpu, clocks_event_reasons.active\n"
                               "50, 0x0000000000000000\n51, 0x00000000000000",
                               &r);
    assert_non_null(strstr(samples, "0 temperature 1 51;"));
    assert_null(strstr(samples, "power_cap 1"));
    free(samples);
    reading_free(&r);
}

static void test_reasons(void **state)
{
    (void)state;
    struct reading r;
    assert_samples("index, clocks_throttle_reasons.active\n0, 0x0000000000000024\n",
                   "0 power_cap 0 1;0 thermal_slowdown 0 1;0 hardware_thermal_slowdown 0 0;"
                   "0 hardware_slowdown 0 0;0 power_brake 0 0;0 clock_setting 0 0;",
                   &r);
    reading_free(&r);
    assert_samples("index, clocks_event_reasons.hw_slowdown, clocks_event_reasons.sw_power_cap\n"
                   "0, Not Active, Active\n",
                   "0 hardware_slowdown 0 0;0 power_cap 0 1;", &r);
    reading_free(&r);
}

/* What is not read is named; of several columns for a signal one is. */
static void test_columns(void **state)
{
    (void)state;
    struct reading r;
    assert_samples("name, pstate, clocks.gr [MHz], clocks.current.sm [MHz]\nA, P2, 5 MHz, 7 MHz\n",
                   "0 clock 0 7000000;", &r);
    assert_finding(&r.quality, TA_Q_UNREAD_COLUMNS, 1, 0);
    reading_free(&r);
}

static void test_no_header(void **state)
{
    (void)state;
    struct reading r;
    static const char told[] = "2025/09/30 21:14:00.412, 0, 46, 7 %, 804 MiB, 61.20 W, 0x4\n"
                               "2025/09/30 21:14:01.412, 0, 47, 8 %, 804 MiB, 61.20 W, 0x0\n";
    assert_int_equal(sniff(told), 80);
    char *samples = samples_of(told, &r);
    assert_non_null(strstr(samples, "0 temperature 0 46;0 utilization 0 0.07;"));
    assert_non_null(strstr(samples, "0 power 0 61.2;0 power_cap 0 1;"));
    free(samples);
    assert_int_equal(r.kept, 2);
    reading_free(&r);
    /* Which of two percentages is which nobody says. */
    samples = samples_of("2025/09/30 21:14:00.412, 7 %, 8 %, 61.20 W\n", &r);
    assert_string_equal(samples, "0 power 0 61.2;");
    free(samples);
    assert_finding(&r.quality, TA_Q_UNREAD_COLUMNS, 1, 0);
    reading_free(&r);
    static const char untold[] = "2025/09/30 21:14:00.412, 0, 46, 7, 804, 61.20\n";
    assert_int_equal(sniff(untold), 80);
    assert_samples(untold, "refused", &r);
    reading_free(&r);
}

static void test_sniff(void **state)
{
    (void)state;
    assert_int_equal(sniff("$ nvidia-smi\ntemperature.gpu\n1\n"), 85);
    assert_int_equal(sniff("name, index\nA, 0\n"), 0);
    assert_int_equal(sniff("timestamp, value\n1, 0\n"), 0);
    assert_int_equal(sniff("1, 2, 3\n4, 5, 6\n"), 0);
    assert_int_equal(sniff("2025/09/30 21:14:00.412, loaded the model, in 3 s\n"), 0);
    assert_int_equal(sniff(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),   cmocka_unit_test(test_stamps_and_devices),
        cmocka_unit_test(test_missing), cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_columns), cmocka_unit_test(test_no_header),
        cmocka_unit_test(test_sniff),   cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
