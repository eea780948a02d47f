/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions of gates: what they mean, and what is said of wrong ones and where. */
#include "compare/gate/expression.h"

#include "trace_fixture.h"

#include <math.h>
#include <stdio.h>

static struct ta_gate read_gate(const char *text)
{
    struct ta_gate gate;
    if (ta_gate_read(&fixture.ctx, text, &gate) != TA_OK)
        fail_msg("%s: %s", text, ta_ctx_causes(&fixture.ctx));
    return gate;
}

static void assert_slice(struct ta_slice slice, const char *text)
{
    if (!ta_slice_equal(slice, ta_slice_of(text)))
        fail_msg("\"%.*s\" is not \"%s\"", (int)slice.len, slice.ptr, text);
}

static void expressions_mean_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ta_gate_kind kind;
        const char *metric, *names, *pattern;
        enum ta_gate_operator operator;
        enum ta_gate_scale scale;
        double value;
        enum ta_unit unit;
    } rows[] = {
        {"regression>5%", TA_GATE_REGRESSION, "regression", "", "", TA_GATE_ABOVE, TA_GATE_PERCENT,
         0.05, TA_UNIT_NONE},
        {"step_time.p50>3%", TA_GATE_FIGURE, "step_time.p50", "", "", TA_GATE_ABOVE,
         TA_GATE_PERCENT, 0.03, TA_UNIT_NONE},
        {"fps<-3%", TA_GATE_FIGURE, "fps", "", "", TA_GATE_BELOW, TA_GATE_PERCENT, -0.03,
         TA_UNIT_NONE},
        {" fps <= 10 ", TA_GATE_FIGURE, "fps", "", "", TA_GATE_TO, TA_GATE_PLAIN, 10, TA_UNIT_NONE},
        {"fps@wall<+10/s", TA_GATE_FIGURE, "fps@wall", "", "", TA_GATE_BELOW, TA_GATE_UNIT, 10,
         TA_UNIT_PER_S},
        {"step_time.p95>=12.5 ms", TA_GATE_FIGURE, "step_time.p95", "", "", TA_GATE_FROM,
         TA_GATE_UNIT, 12.5e6, TA_UNIT_NS},
        {"run_time>50µs", TA_GATE_FIGURE, "run_time", "", "", TA_GATE_ABOVE, TA_GATE_UNIT, 50e3,
         TA_UNIT_NS},
        {"peak_memory>60GiB", TA_GATE_FIGURE, "peak_memory", "", "", TA_GATE_ABOVE, TA_GATE_UNIT,
         60.0 * (1 << 30), TA_UNIT_BYTES},
        {"total@op:attn*>10%", TA_GATE_NAMES, "total", "op", "attn*", TA_GATE_ABOVE,
         TA_GATE_PERCENT, 0.1, TA_UNIT_NONE},
        {"calls@kernel:void f<a<int>, 3>(x)>=7", TA_GATE_NAMES, "calls", "kernel",
         "void f<a<int>, 3>(x)", TA_GATE_FROM, TA_GATE_PLAIN, 7, TA_UNIT_NONE},
        {"mean@copy:Memcpy HtoD (*)>1s", TA_GATE_NAMES, "mean", "copy", "Memcpy HtoD (*)",
         TA_GATE_ABOVE, TA_GATE_UNIT, 1e9, TA_UNIT_NS},
        {"total@stage:a:b@c>2min", TA_GATE_NAMES, "total", "stage", "a:b@c", TA_GATE_ABOVE,
         TA_GATE_UNIT, 120e9, TA_UNIT_NS},
        {"finding>=high", TA_GATE_FINDING, "finding", "", "", TA_GATE_FROM, TA_GATE_PLAIN, TA_HIGH,
         TA_UNIT_NONE},
        {"inconclusive", TA_GATE_INCONCLUSIVE, "", "", "", TA_GATE_ABOVE, TA_GATE_PLAIN, 0,
         TA_UNIT_NONE},
        {"incomplete", TA_GATE_INCOMPLETE, "", "", "", TA_GATE_ABOVE, TA_GATE_PLAIN, 0,
         TA_UNIT_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ta_gate gate = read_gate(rows[i].text);
        assert_int_equal(gate.kind, rows[i].kind);
        assert_slice(gate.metric, rows[i].metric);
        assert_slice(gate.names, rows[i].names);
        assert_slice(gate.pattern, rows[i].pattern);
        assert_int_equal(gate.operator, rows[i].operator);
        assert_int_equal(gate.scale, rows[i].scale);
        assert_int_equal(gate.unit, rows[i].unit);
        assert_true(fabs(gate.value - rows[i].value) <= 1e-12 * fabs(rows[i].value));
    }
}

static void mistakes_are_shown_where_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t column;
        const char *says;
    } rows[] = {
        {"", 1, "expected <, <=, > or >= and a value"},
        {"step_time.p50", 14, "expected <, <=, > or >= and a value"},
        {"inconclusiv", 12, "did you mean 'inconclusive'?"},
        {">5%", 1, "expected a figure"},
        {"Step>5%", 1, "expected a figure"},
        {"step time>5%", 5, "expected <, <=, > or >="},
        {"fps>", 5, "expected a number"},
        {"fps=>5", 4, "expected <, <=, > or >="},
        {"fps>ten", 5, "expected a number"},
        {"fps>1e3", 6, "unknown unit \"e3\""},
        {"fps>-", 5, "expected a number"},
        {"fps>nan", 5, "expected a number"},
        {"run_time>5 parsec", 12, "unknown unit \"parsec\""},
        {"µ>5%", 1, "expected a figure"},
        {"fps@>5%", 4, "expected a selector"},
        {"total@op:>5%", 10, "expected a name"},
        {"total@kernl:x>5%", 7, "did you mean 'kernel'?"},
        {"totals@op:x>5%", 1, "did you mean 'total'?"},
        {"finding>=hihg", 10, "did you mean 'high'?"},
        {"finding>=5%", 10, "expected a severity"},
        {"finding@op:x>=high", 8, "nothing to select"},
        {"regression>5", 12, "a change for the worse"},
        {"regression<5%", 12, "a change for the worse"},
        {"regression>-5%", 12, "a change for the worse"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ta_gate gate;
        char place[32];
        snprintf(place, sizeof place, "column %zu: ", rows[i].column);
        assert_int_equal(ta_gate_read(&fixture.ctx, rows[i].text, &gate), TA_ERR_USAGE);
        const char *says = ta_ctx_causes(&fixture.ctx);
        if (!strstr(says, place) || !strstr(says, rows[i].says))
            fail_msg("\"%s\": %s", rows[i].text, says);
    }
}

static void operators_compare(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool below, at, above; /* at 2, 3, 4 */
    } rows[] = {{"fps>3", false, false, true},
                {"fps>=3", false, true, true},
                {"fps<3", true, false, false},
                {"fps<=3", true, true, false}};
    for (size_t i = 0; i < 4; i++) {
        const struct ta_gate gate = read_gate(rows[i].text);
        assert_int_equal(ta_gate_trips(&gate, 2), rows[i].below);
        assert_int_equal(ta_gate_trips(&gate, 3), rows[i].at);
        assert_int_equal(ta_gate_trips(&gate, 4), rows[i].above);
        assert_false(ta_gate_trips(&gate, (double)NAN));
    }
}

/* What a pattern fits, said in the plainest way. */
static bool fits_plainly(const char *pattern, const char *name)
{
    if (*pattern == '\0')
        return *name == '\0';
    if (*pattern == '*')
        return fits_plainly(pattern + 1, name) || (*name && fits_plainly(pattern, name + 1));
    return *name && (*pattern == '?' || *pattern == *name) && fits_plainly(pattern + 1, name + 1);
}

static void patterns_fit_whole_names(void **state)
{
    (void)state;
    static const char letters[] = "ab*?";
    char pattern[8], name[8];
    for (unsigned p = 0; p < 4 * 4 * 4 * 4 * 4; p++)
        for (unsigned n = 0; n < 2 * 2 * 2 * 2 * 2 * 2; n++) {
            for (unsigned i = 0, rest = p; i < 5; i++, rest /= 4)
                pattern[i] = letters[rest % 4];
            for (unsigned i = 0, rest = n; i < 6; i++, rest /= 2)
                name[i] = letters[rest % 2];
            for (size_t length = 0; length <= 5; length++) {
                pattern[5 - (p % 3)] = '\0';
                const struct ta_slice cut = {name, length + 1};
                char plain[8] = "";
                memcpy(plain, name, length + 1);
                assert_int_equal(ta_gate_fits(ta_slice_of(pattern), cut),
                                 fits_plainly(pattern, plain));
            }
        }
    assert_true(ta_gate_fits(TA_LIT("*"), TA_LIT("")));
    assert_false(ta_gate_fits(TA_LIT(""), TA_LIT("a")));
    assert_true(ta_gate_fits(TA_LIT("a[b"), TA_LIT("a[b")));
}

/* A pattern of many stars must not take for ever. */
static void many_stars_end(void **state)
{
    (void)state;
    char pattern[201], name[4000];
    for (size_t i = 0; i < 200; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[200] = 'b';
    memset(name, 'a', sizeof name);
    assert_false(
        ta_gate_fits((struct ta_slice){pattern, 201}, (struct ta_slice){name, sizeof name}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_mean_what_they_say),
        cmocka_unit_test(mistakes_are_shown_where_they_are),
        cmocka_unit_test(operators_compare),
        cmocka_unit_test(patterns_fit_whole_names),
        cmocka_unit_test(many_stars_end),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
