/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line: what is accepted, where it lands, and what errors say. */
#include "cli/args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/context.h"

static struct ta_shared shared;
static struct ta_ctx ctx;
static struct ta_cmdline args;

/* Parses the words after the name of the program. */
static enum ta_status parse_words(const char *const *words, size_t n)
{
    char *argv[16] = {(char[]){"traceanalyze"}};
    assert_true(n + 2 <= sizeof argv / sizeof *argv);
    /* getopt_long() reads argv only: POSIXLY_CORRECT or not, '-' keeps its order. */
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = (char *)(uintptr_t)words[i];
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    return ta_cmdline_parse(&ctx, (int)n + 1, argv, &args);
}

#define PARSE(...)                                                                                 \
    parse_words((const char *const[]){__VA_ARGS__},                                                \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Refused with a message that holds the text. */
#define REFUSES(text, ...)                                                                         \
    do {                                                                                           \
        assert_int_equal(PARSE(__VA_ARGS__), TA_ERR_USAGE);                                        \
        if (!strstr(ta_ctx_causes(&ctx), text))                                                    \
            fail_msg("'%s' not in: %s", text, ta_ctx_causes(&ctx));                                \
        ta_cmdline_free(&args);                                                                    \
    } while (0)

static void reads_options_in_any_place(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-q", "--jobs=3", "report", "a", "--format", "csv", "b", "-oout"),
                     TA_OK);
    assert_ptr_equal(args.command, &ta_commands[TA_COMMAND_REPORT]);
    assert_true(args.quiet);
    assert_int_equal(args.jobs, 3);
    assert_string_equal(args.format, "csv");
    assert_string_equal(args.out, "out");
    assert_int_equal(args.operands.n, 2);
    assert_string_equal(args.operands.items[0], "a");
    assert_string_equal(args.operands.items[1], "b");
    ta_cmdline_free(&args);
}

static void what_contradicts_itself_is_refused(void **state)
{
    (void)state;
    REFUSES("Option --output is given twice: a, b", "report", "x", "-o", "a", "--output=b");
    REFUSES("Option --format is given twice", "report", "x", "--format", "html", "--format=pdf");
    assert_int_equal(PARSE("report", "x", "-o", "a", "-oa", "--jobs=1", "--jobs=2"), TA_OK);
    assert_string_equal(args.out, "a");
    assert_int_equal(args.jobs, 2); /* of numbers the last one counts */
    ta_cmdline_free(&args);
}

static void double_dash_ends_options(void **state)
{
    (void)state;
    assert_int_equal(PARSE("check", "--", "-v", "--json"), TA_OK);
    assert_int_equal(args.operands.n, 2);
    assert_string_equal(args.operands.items[0], "-v");
    assert_false(args.json);
    ta_cmdline_free(&args);
}

static void a_dash_is_an_operand(void **state)
{
    (void)state;
    assert_int_equal(PARSE("report", "-", "-o", "-"), TA_OK);
    assert_string_equal(args.operands.items[0], "-");
    assert_string_equal(args.out, "-");
    ta_cmdline_free(&args);
}

static void has_defaults(void **state)
{
    (void)state;
    assert_int_equal(PARSE("report", "a"), TA_OK);
    assert_null(args.out);
    assert_null(args.format);
    assert_int_equal(args.jobs, 0);
    assert_int_equal(args.top, 15);
    assert_true(args.world_size == TA_MISSING);
    assert_int_equal(args.theme, 0);
    assert_int_equal(args.color, TA_WHEN_AUTO);
    ta_cmdline_free(&args);
}

static void collects_repeated_options(void **state)
{
    (void)state;
    assert_int_equal(PARSE("check", "a", "-vv", "--limit=a=1", "--limit", "b=2", "--set", "x.y=1"),
                     TA_OK);
    assert_int_equal(args.verbose, 2);
    assert_int_equal(args.limits.n, 2);
    assert_string_equal(args.limits.items[0], "a=1");
    assert_string_equal(args.limits.items[1], "b=2");
    assert_int_equal(args.settings.n, 1);
    ta_cmdline_free(&args);
}

static void one_name_means_different_things(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--theme", "auto", "report", "a"), TA_OK);
    assert_int_equal(args.theme, 0);
    ta_cmdline_free(&args);
    assert_int_equal(PARSE("chart", "all", "a", "--theme=dark", "--size=800x600", "--scale", "1.5"),
                     TA_OK);
    assert_int_equal(args.theme, 2);
    assert_true(args.size.width == 800 && args.size.height == 600);
    assert_true(args.scale == 1.5);
    ta_cmdline_free(&args);
    REFUSES("light, dark", "chart", "all", "a", "--theme=auto");
}

static void suggests_what_was_meant(void **state)
{
    (void)state;
    REFUSES("did you mean 'report'?", "reprot", "a");
    REFUSES("did you mean --format?", "report", "a", "--fromat=json");
    REFUSES("did you mean 'always'?", "report", "a", "--color=allways");
    assert_int_equal(PARSE("report", "a", "--xyzzy"), TA_ERR_USAGE);
    assert_null(strstr(ta_ctx_causes(&ctx), "did you mean"));
    ta_cmdline_free(&args);
}

static void refuses_wrong_use(void **state)
{
    (void)state;
    REFUSES("--xyzzy", "report", "a", "--xyzzy");
    REFUSES("-y", "report", "a", "-y");
    REFUSES("--paper", "check", "a", "--paper=a4");
    REFUSES("report", "check", "a", "--paper=a4");
    REFUSES("--json", "report", "a", "--json=yes");
    REFUSES("--output", "report", "a", "-o");
    REFUSES("--top", "report", "a", "--top");
    REFUSES("INPUT", "report");
    REFUSES("extra", "schema", "a", "extra");
}

static void checks_ranges(void **state)
{
    (void)state;
    REFUSES("from 1 to 1024", "report", "a", "-j", "0");
    REFUSES("whole number", "report", "a", "-j", "2x");
    REFUSES("whole number", "report", "a", "-j", "99999999999999999999");
    REFUSES("whole number", "report", "a", "--world-size=-1");
    REFUSES("WxH", "chart", "all", "a", "--size=800");
    REFUSES("WxH", "chart", "all", "a", "--size=800x");
    REFUSES("WxH", "chart", "all", "a", "--size=800x1e9");
    REFUSES("WxH", "chart", "all", "a", "--size=nanxnan");
    REFUSES("from 1 to 10", "chart", "all", "a", "--scale=nan");
}

/* Whatever is wrong, wherever, is said in the form that was asked for. */
static void errors_keep_the_form_of_messages(void **state)
{
    (void)state;
    REFUSES("--frob", "report", "a", "--frob", "--log-format=json");
    assert_int_equal(args.json_log, 1);
    REFUSES("reprot", "reprot", "a", "--log-format", "json", "--frob");
    assert_int_equal(args.json_log, 1);
    REFUSES("--jobs", "report", "a", "--jobs=0", "--log-format=json");
    assert_int_equal(args.json_log, 1);
    REFUSES("--log-format=xml", "report", "a", "--log-format=xml");
    assert_int_equal(args.json_log, 0);
    REFUSES("--frob", "report", "--frob", "--", "--log-format=json");
    assert_int_equal(args.json_log, 0);
}

static void help_needs_no_operands(void **state)
{
    (void)state;
    assert_int_equal(PARSE("report", "-h"), TA_OK);
    assert_true(args.help);
    ta_cmdline_free(&args);
    assert_int_equal(PARSE("-V"), TA_OK);
    assert_true(args.version);
    assert_null(args.command);
    ta_cmdline_free(&args);
}

/* A row that breaks these rules would be found by a user. */
static void table_is_sound(void **state)
{
    (void)state;
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++) {
        assert_true(o->commands != 0);
        assert_true(o->help || ta_run_option(o->name)); /* one of the run says what it is */
        const struct ta_run_option takes = ta_arg_takes(o);
        assert_int_equal(takes.type, o->type);
        assert_true(*takes.help);
        assert_true(o->offset < sizeof(struct ta_cmdline));
        assert_int_equal(o->type == TA_VALUE_CHOICE, takes.choices != NULL);
        assert_int_equal(o->type == TA_VALUE_FLAG || o->type == TA_VALUE_COUNT,
                         takes.argument == NULL);
        for (const struct ta_arg_option *other = ta_arg_options; other < o; other++) {
            const bool same = strcmp(o->name, other->name) == 0;
            assert_false(o->letter && o->letter == other->letter && !same);
            if (same) {
                assert_int_equal(o->letter, other->letter);
                assert_int_equal(o->commands & other->commands, 0);
                assert_int_equal(o->type, other->type);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_options_in_any_place),
        cmocka_unit_test(what_contradicts_itself_is_refused),
        cmocka_unit_test(double_dash_ends_options),
        cmocka_unit_test(a_dash_is_an_operand),
        cmocka_unit_test(has_defaults),
        cmocka_unit_test(collects_repeated_options),
        cmocka_unit_test(one_name_means_different_things),
        cmocka_unit_test(suggests_what_was_meant),
        cmocka_unit_test(refuses_wrong_use),
        cmocka_unit_test(checks_ranges),
        cmocka_unit_test(errors_keep_the_form_of_messages),
        cmocka_unit_test(help_needs_no_operands),
        cmocka_unit_test(table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
