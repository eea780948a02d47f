/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs say about a change, and what a gate makes of it: by hand, and how often it is wrong
 * over a thousand simulated comparisons. */
#include "compare/diff.h"
#include "compare/gate/judge.h"

#include "trace_fixture.h"

#include <math.h>

/* splitmix64: not the generator of the library. */
struct noise {
    uint64_t state;
};

/* From 0 to 1, without 1. */
static double noise_uniform(struct noise *noise)
{
    uint64_t x = noise->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) / 0x1p53;
}

static const struct ta_judging usual = {.confidence = 0.95, .min_effect_ns = 50e3};

static struct ta_evidence_of_change evidence_of(const struct ta_judging *judging,
                                                const double *base, size_t n, const double *new,
                                                size_t m)
{
    struct ta_evidence_of_change evidence;
    assert_true(ta_evidence_of_runs(judging, "f", (struct ta_values){base, n},
                                    (struct ta_values){new, m}, &evidence));
    return evidence;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* ---- what there is to judge by ------------------------------------------------------------- */

/* The tests themselves are compared with scipy in tests/stat. */
static void three_runs_a_side_give_an_interval(void **state)
{
    (void)state;
    static const double base[] = {100e6, 103e6, 98e6, 101e6}, new[] = {110e6, 108e6, 113e6, 111e6};
    const struct ta_evidence_of_change three = evidence_of(&usual, base, 3, new, 3);
    assert_int_equal(three.basis, TA_BASIS_RUNS);
    assert_near(three.ratio.value, cbrt(110.0 * 108 * 113) / cbrt(100.0 * 103 * 98));
    assert_true(three.ratio.low > 1 && three.ratio.low < three.ratio.value);
    assert_true(isnan(three.p_rank));
    const struct ta_evidence_of_change four = evidence_of(&usual, base, 4, new, 4);
    assert_near(four.p_rank, 2.0 / 70); /* the most extreme of C(8, 4) orders, both ways */
    assert_true(four.p < three.p);
    assert_near(four.detectable, (1.959963984540054 + 0.8416212335729143) * four.spread / sqrt(2));
}

static void fewer_runs_give_none(void **state)
{
    (void)state;
    static const double base[] = {100e6, 103e6, 98e6}, new[] = {210e6, 208e6, 213e6};
    for (size_t n = 1; n <= 2; n++)
        for (size_t m = 1; m <= 2; m++) {
            const struct ta_evidence_of_change evidence = evidence_of(&usual, base, n, new, m);
            assert_int_equal(evidence.basis, TA_BASIS_NONE);
            assert_true(isnan(evidence.ratio.low) && isnan(evidence.p));
            assert_int_equal(ta_judge_change(&usual, 100e6, 210e6, TA_UNIT_NS, TA_LOWER, &evidence),
                             TA_CHANGE_INCONCLUSIVE);
        }
}

static void one_side_may_judge_for_both(void **state)
{
    (void)state;
    static const double base[] = {100e6, 103e6, 98e6, 101e6, 99e6}, new[] = {120e6};
    const struct ta_evidence_of_change evidence = evidence_of(&usual, base, 5, new, 1);
    assert_int_equal(evidence.basis, TA_BASIS_NOISE);
    assert_true(evidence.ratio.low > 1);
    assert_int_equal(ta_judge_change(&usual, 100e6, 120e6, TA_UNIT_NS, TA_LOWER, &evidence),
                     TA_CHANGE_SLOWER);
    assert_int_equal(ta_judge_change(&usual, 100e6, 120e6, TA_UNIT_NS, TA_HIGHER, &evidence),
                     TA_CHANGE_FASTER);
}

/* Bytes and counts repeat exactly: no test can judge that, and none is needed. */
static void equal_runs_are_sure(void **state)
{
    (void)state;
    static const double base[] = {7, 7, 7}, new[] = {8, 8, 8};
    const struct ta_evidence_of_change evidence = evidence_of(&usual, base, 3, new, 3);
    assert_int_equal(evidence.basis, TA_BASIS_RUNS);
    assert_near(evidence.ratio.low, 8.0 / 7);
    assert_true(isnan(evidence.p));
    assert_int_equal(ta_judge_change(&usual, 7, 8, TA_UNIT_BYTES, TA_LOWER, &evidence),
                     TA_CHANGE_SLOWER);
}

static void small_effects_are_none(void **state)
{
    (void)state;
    static const double base[] = {1e5, 1.001e5, 0.999e5}, new[] = {1.4e5, 1.401e5, 1.399e5};
    const struct ta_evidence_of_change evidence = evidence_of(&usual, base, 3, new, 3);
    const struct ta_judging keen = {.confidence = 0.95};
    assert_int_equal(ta_judge_change(&usual, 1e5, 1.4e5, TA_UNIT_NS, TA_LOWER, &evidence),
                     TA_CHANGE_NEGLIGIBLE);
    assert_int_equal(ta_judge_change(&usual, 1e5, 1.01e5, TA_UNIT_NS, TA_LOWER, &evidence),
                     TA_CHANGE_SAME);
    assert_int_equal(ta_judge_change(&usual, 1e5, 1.4e5, TA_UNIT_NS, TA_NEUTRAL, &evidence),
                     TA_CHANGE_NEUTRAL);
    assert_int_equal(ta_judge_change(&keen, 1e5, 1.4e5, TA_UNIT_NS, TA_LOWER, &evidence),
                     TA_CHANGE_SLOWER);
}

/* ---- within a run --------------------------------------------------------------------------- */

static void steps_give_an_interval_that_is_labelled(void **state)
{
    (void)state;
    struct noise noise = {7};
    double base[60], new[80];
    for (size_t i = 0; i < 60; i++)
        base[i] = 100 + noise_uniform(&noise);
    for (size_t i = 0; i < 80; i++)
        new[i] = 110 + noise_uniform(&noise);
    const struct ta_durations before = {base, 30, 2}, after = {new, 40, 2};
    struct ta_evidence_of_change evidence = evidence_of(&usual, base, 1, new, 1), again;
    assert_true(ta_evidence_within_runs(&usual, "f", &before, &after, &evidence));
    assert_int_equal(evidence.basis, TA_BASIS_WITHIN);
    assert_true(evidence.ratio.low > 1.09 && evidence.ratio.high < 1.11);
    assert_true(evidence.ratio.low < evidence.ratio.value);
    again = evidence;
    assert_true(ta_evidence_within_runs(&usual, "f", &before, &after, &again));
    assert_true(again.ratio.low == evidence.ratio.low); /* a fixed seed */
    assert_int_equal(ta_judge_change(&usual, 100, 110, TA_UNIT_NONE, TA_LOWER, &evidence),
                     TA_CHANGE_INCONCLUSIVE);
    const struct ta_judging single = {.confidence = 0.95, .allow_single_run = true};
    assert_int_equal(ta_judge_change(&single, 100, 110, TA_UNIT_NONE, TA_LOWER, &evidence),
                     TA_CHANGE_SLOWER);
}

/* The ratio is that of the medians of all ranks' steps, whatever ranks lack steps. */
static void medians_are_of_all_ranks(void **state)
{
    (void)state;
    const double none = (double)NAN;
    const double base[] = {1, 5, 2, 6, 3, 7, 4, none, 8, none, 9, none};
    double new[12];
    for (size_t i = 0; i < 12; i++)
        new[i] = 3 * base[i];
    const struct ta_durations before = {base, 6, 2}, after = {new, 6, 2};
    struct ta_evidence_of_change evidence = evidence_of(&usual, base, 1, new, 1);
    assert_true(ta_evidence_within_runs(&usual, "f", &before, &after, &evidence));
    assert_near(evidence.ratio.value, 3);
}

static void few_steps_give_none(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5};
    const struct ta_durations five = {values, 5, 1};
    struct ta_evidence_of_change evidence = evidence_of(&usual, values, 1, values, 1);
    assert_true(ta_evidence_within_runs(&usual, "f", &five, &five, &evidence));
    assert_int_equal(evidence.basis, TA_BASIS_NONE);
}

/* ---- gates ----------------------------------------------------------------------------------- */

static enum gate_outcome outcome_of(const char *text, enum ta_gate_mode mode,
                                    const struct ta_judging *judging, const double *base,
                                    const double *new, size_t n, bool rises)
{
    struct ta_gate gate;
    assert_int_equal(ta_gate_read(&fixture.ctx, text, &gate), TA_OK);
    const struct ta_gates gates = {.at = &gate, .n = 1, .mode = mode, .judging = judging};
    const struct gate_job job = {.ctx = &fixture.ctx, .gates = &gates};
    const struct gate_change change = {
        .base = base[0],
        .new = new[0],
        .unit = TA_UNIT_NS,
        .worse = gate.kind == TA_GATE_REGRESSION,
        .rises = rises,
        .evidence = evidence_of(judging, base, n, new, n),
    };
    return gate_judge_change(&job, &gate, &change).outcome;
}

static void modes_ask_for_more_or_less(void **state)
{
    (void)state;
    static const double base[] = {100e6, 101e6, 99e6}, sure[] = {120e6, 121e6, 119e6};
    static const double close[] = {106e6, 105e6, 107.5e6}, wild[] = {106e6, 90e6, 135e6};
    static const struct {
        const double *new;
        enum gate_outcome confident, strict, point;
    } rows[] = {
        {sure, GATE_FAILED, GATE_FAILED, GATE_FAILED},
        {close, GATE_FAILED, GATE_INCONCLUSIVE, GATE_FAILED},
        {wild, GATE_INCONCLUSIVE, GATE_INCONCLUSIVE, GATE_FAILED},
        {base, GATE_PASSED, GATE_PASSED, GATE_PASSED},
    };
    for (size_t i = 0; i < 4; i++) {
        const enum gate_outcome all[] = {rows[i].confident, rows[i].strict, rows[i].point};
        for (int mode = TA_MODE_CONFIDENT; mode <= TA_MODE_POINT; mode++)
            assert_int_equal(outcome_of("regression>5%", (enum ta_gate_mode)mode, &usual, base,
                                        rows[i].new, 3, false),
                             all[mode]);
    }
}

static void worse_is_down_where_more_is_better(void **state)
{
    (void)state;
    static const double base[] = {100e6, 101e6, 99e6}, less[] = {80e6, 81e6, 79e6};
    assert_int_equal(outcome_of("regression>5%", TA_MODE_CONFIDENT, &usual, base, less, 3, true),
                     GATE_FAILED);
    assert_int_equal(outcome_of("regression>5%", TA_MODE_STRICT, &usual, base, less, 3, true),
                     GATE_FAILED);
    assert_int_equal(outcome_of("regression>5%", TA_MODE_CONFIDENT, &usual, base, less, 3, false),
                     GATE_PASSED);
    assert_int_equal(outcome_of("fps<-3%", TA_MODE_STRICT, &usual, base, less, 3, true),
                     GATE_FAILED);
}

static void one_run_is_inconclusive_unless_allowed(void **state)
{
    (void)state;
    static const double base[] = {100e6}, new[] = {130e6};
    const struct ta_judging single = {.confidence = 0.95, .allow_single_run = true};
    assert_int_equal(outcome_of("regression>5%", TA_MODE_CONFIDENT, &usual, base, new, 1, false),
                     GATE_INCONCLUSIVE);
    assert_int_equal(outcome_of("regression>5%", TA_MODE_CONFIDENT, &single, base, new, 1, false),
                     GATE_FAILED);
    assert_int_equal(outcome_of("regression>5%", TA_MODE_CONFIDENT, &usual, base, base, 1, false),
                     GATE_PASSED);
    assert_int_equal(outcome_of("regression>5%", TA_MODE_POINT, &usual, base, new, 1, false),
                     GATE_FAILED);
}

/* ---- how often it is wrong ------------------------------------------------------------------ */

enum { COMPARISONS = 1000, RUNS = 5 };

static double normal(struct noise *noise)
{
    return sqrt(-2 * log(1 - noise_uniform(noise))) * cos(6.283185307179586 * noise_uniform(noise));
}

/* Share of comparisons of 5 with 5 runs, 3 % apart, that fail the gate. */
static double share_of_failures(double change, enum ta_gate_mode mode, uint64_t seed)
{
    struct noise noise = {seed};
    size_t failures = 0;
    for (size_t i = 0; i < COMPARISONS; i++) {
        double base[RUNS], new[RUNS];
        for (size_t run = 0; run < RUNS; run++) {
            base[run] = 1e9 * (1 + 0.03 * normal(&noise));
            new[run] = 1e9 * (1 + change) * (1 + 0.03 * normal(&noise));
        }
        failures +=
            outcome_of("regression>5%", mode, &usual, base, new, RUNS, false) == GATE_FAILED;
    }
    return (double)failures / COMPARISONS;
}

static void equal_runs_hardly_fail_and_slow_ones_do(void **state)
{
    (void)state;
    static const struct {
        double change;
        enum ta_gate_mode mode;
        double least, most;
    } rows[] = {
        {0, TA_MODE_CONFIDENT, 0, 0.01},     {0.1, TA_MODE_CONFIDENT, 0.95, 1},
        {0, TA_MODE_STRICT, 0, 0.001},       {0.1, TA_MODE_STRICT, 0.3, 0.8},
        {-0.1, TA_MODE_CONFIDENT, 0, 0.001},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double share = share_of_failures(rows[i].change, rows[i].mode, 20261122 + i);
        print_message("%+.0f %%, mode %d: %.1f %% fail\n", 100 * rows[i].change, rows[i].mode,
                      100 * share);
        if (share < rows[i].least || share > rows[i].most)
            fail_msg("%.1f %% fail, not %g to %g %%", 100 * share, 100 * rows[i].least,
                     100 * rows[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_runs_a_side_give_an_interval),
        cmocka_unit_test(fewer_runs_give_none),
        cmocka_unit_test(one_side_may_judge_for_both),
        cmocka_unit_test(equal_runs_are_sure),
        cmocka_unit_test(small_effects_are_none),
        cmocka_unit_test(steps_give_an_interval_that_is_labelled),
        cmocka_unit_test(medians_are_of_all_ranks),
        cmocka_unit_test(few_steps_give_none),
        cmocka_unit_test(modes_ask_for_more_or_less),
        cmocka_unit_test(worse_is_down_where_more_is_better),
        cmocka_unit_test(one_run_is_inconclusive_unless_allowed),
        cmocka_unit_test(equal_runs_hardly_fail_and_slow_ones_do),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
