/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of `nvidia-smi dmon`: columns, units, stamps, and rows that are none. */
#include "trace_fixture.h"

#include "traceanalyze/dump.h"

#include <inttypes.h>
#include <stdio.h>

static const char input[] = "nvidia_smi_dmon";

/* "device signal seconds value;" of all samples, or "refused". */
static char *samples_of(const char *bytes, struct reading *r)
{
    static const char *const names[TA_SIGNAL_COUNT] = {
        [TA_SIGNAL_GPU_UTILIZATION] = "sm",    [TA_SIGNAL_GPU_MEMORY_ACTIVITY] = "mem",
        [TA_SIGNAL_GPU_MEMORY_USED] = "fb",    [TA_SIGNAL_GPU_TEMPERATURE] = "temp",
        [TA_SIGNAL_GPU_POWER] = "pwr",         [TA_SIGNAL_GPU_CLOCK] = "pclk",
        [TA_SIGNAL_GPU_MEMORY_CLOCK] = "mclk",
    };
    struct text out = {NULL, 0, 0};
    fixture_read_as(&fixture, input, bytes, strlen(bytes), r);
    text_add(&out, "%s", r->status == TA_OK ? "" : "refused");
    struct ta_samples samples = {.left = 0};
    if (r->trace)
        samples = ta_trace_samples(r->trace);
    while (ta_samples_next(&samples)) {
        const struct ta_sample *s = &samples.sample;
        assert_true(s->rank == TA_MISSING && s->relative && names[s->signal]);
        text_add(&out, "%" PRId64 " %s %g %.17g;", s->device, names[s->signal],
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

#define HEADER "# gpu     sm    mem    enc   mclk   pclk     fb   bar1 \n"
#define UNITS "# Idx      %      %      %    MHz    MHz     MB     MB \n"

static void test_columns(void **state)
{
    (void)state;
    struct reading r;
    static const char text[] =
        HEADER UNITS "    0     97      -      0   2619   1980   8100      4 \n"
                     "    1     35      0      -      -    345      0      - \n" HEADER UNITS
                     "    0    100     46      0   2619   1980   8101      4 \n";
    assert_int_equal(sniff(text), 95);
    assert_samples(text,
                   "0 sm 0 0.96999999999999997;0 mclk 0 2619000000;0 pclk 0 1980000000;"
                   "0 fb 0 8493465600;"
                   "1 sm 0 0.34999999999999998;1 mem 0 0;1 pclk 0 345000000;1 fb 0 0;"
                   "0 sm 1 1;0 mem 1 0.46000000000000002;0 mclk 1 2619000000;"
                   "0 pclk 1 1980000000;0 fb 1 8494514176;",
                   &r);
    assert_finding(&r.quality, TA_Q_UNREAD_COLUMNS, 1, 0);
    assert_int_equal(r.kept, 3);
    reading_free(&r);
}

/* The order is that of the tool, and both names of the temperature are in use. */
static void test_power_and_heat(void **state)
{
    (void)state;
    struct reading r;
    assert_samples("# gpu    pwr  gtemp  mtemp     sm \n# Idx      W      C      C      % \n"
                   "    0    312     61      -     90 \n    0      0     -5      -      0 \n"
                   "# gpu   temp    pwr \n"
                   "    0     70    100 \n",
                   "0 pwr 0 312;0 temp 0 61;0 sm 0 0.90000000000000002;0 temp 1 -5;0 sm 1 0;"
                   "0 temp 2 70;0 pwr 2 100;",
                   &r);
    assert_no_finding(&r.quality);
    reading_free(&r);
}

static void test_stamps(void **state)
{
    (void)state;
    struct reading r;
    static const char dates[] = "#Date       Time        gpu    sm \n"
                                "#YYYYMMDD   HH:MM:SS    Idx     % \n"
                                " 20240228   23:59:58      0    50 \n"
                                " 20240301   00:00:08      0    50 \n"
                                " 20240230   00:00:09     -1    50 \n"
                                " 2024022    00:00:09      0    50 \n"
                                " 20240301   00:00:5       0    50 \n"
                                " 20240301   24:00:00      0    50 \n";
    assert_int_equal(sniff(dates), 95);
    /* 2024 has a 29th of February. */
    assert_samples(dates, "0 sm 0 0.5;0 sm 86410 0.5;", &r);
    assert_int_equal(r.quality.slots[TA_Q_BAD_RECORD].count, 4);
    reading_free(&r);
    assert_samples("#Time        gpu    sm\n#HH:MM:SS    Idx     %\n"
                   " 23:59:09      0    50\n 23:59:09      1    50\n 00:00:01      0    50\n",
                   "0 sm 0 0.5;1 sm 0 0.5;0 sm 52 0.5;", &r);
    reading_free(&r);
    assert_samples("#gpu, sm, fb\n#Idx, %, MB\n0, 50, 1\n", "0 sm 0 0.5;0 fb 0 1048576;", &r);
    reading_free(&r);
}

static void test_damage(void **state)
{
    (void)state;
    struct reading r;
    assert_samples("Fan failed\n" HEADER UNITS "    0     97      1      0   2619   1980   8100\n"
                   "    0     9x      1      0    nan    inf    -81      4 \n"
                   "    x     97      1      0   2619   1980   8100      4 \n"
                   "99999     97      1      0   2619   1980   8100      4 \n"
                   "    0     97      1      0   26",
                   "0 mem 0 0.01;", &r);
    assert_finding(&r.quality, TA_Q_BAD_RECORD, 5, 0);
    assert_int_equal(r.quality.slots[TA_Q_BAD_NUMBER].count, 4);
    assert_int_equal(r.kept, 1);
    assert_int_equal(r.dropped, 5);
    reading_free(&r);
}

static void test_empty(void **state)
{
    (void)state;
    struct reading r;
    static const char *const refused[] = {"", "\n\n", "words\n", HEADER "x\n",
                                          "# Idx % %\n 0 1 2\n"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_samples(refused[i], "refused", &r);
        assert_int_equal(r.status, TA_ERR_INPUT);
        reading_free(&r);
    }
    assert_samples(HEADER UNITS, "", &r);
    assert_finding(&r.quality, TA_Q_NO_EVENTS, 1, TA_NO_OFFSET);
    reading_free(&r);
}

static void test_sniff(void **state)
{
    (void)state;
    assert_int_equal(sniff("$ nvidia-smi dmon\n" HEADER), 85);
    assert_int_equal(sniff("\n" HEADER), 95);
    assert_int_equal(sniff("# gpu pid type sm\n"), 0); /* pmon */
    assert_int_equal(sniff("# gpu\n"), 0);
    assert_int_equal(sniff("gpu sm mem\n"), 0);
    assert_int_equal(sniff("# A heading about the gpu and more\n"), 0);
    assert_int_equal(sniff(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_power_and_heat),
        cmocka_unit_test(test_stamps),  cmocka_unit_test(test_damage),
        cmocka_unit_test(test_empty),   cmocka_unit_test(test_sniff),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
