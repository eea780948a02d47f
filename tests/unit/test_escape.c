/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hostile text stays text in every context. */
#include "base/write/escape.h"
#include "traceanalyze/output.h"

#include "base/context.h"
#include "cli/annotate.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* Writes through a product in a scratch file and hands back its bytes. */
static struct scratch {
    struct ta_shared shared;
    struct ta_ctx ctx;
    char path[64], bytes[4096];
    size_t length;
    struct ta_sink *sink;
    struct ta_file *file;
} scratch;

static struct ta_file *begin(void)
{
    strcpy(scratch.path, "/tmp/ta-escape-XXXXXX");
    close(mkstemp(scratch.path));
    scratch.sink = ta_sink_new(&scratch.ctx, TA_SINK_FILE, scratch.path);
    scratch.file = ta_sink_open(&scratch.ctx, scratch.sink, "x", "");
    assert_non_null(scratch.file);
    return scratch.file;
}

static const char *end(void)
{
    assert_int_equal(ta_file_close(&scratch.ctx, scratch.file), TA_OK);
    assert_int_equal(ta_sink_commit(&scratch.ctx, scratch.sink), TA_OK);
    ta_sink_free(scratch.sink);
    FILE *file = fopen(scratch.path, "r");
    assert_non_null(file);
    scratch.length = fread(scratch.bytes, 1, sizeof scratch.bytes - 1, file);
    scratch.bytes[scratch.length] = '\0';
    fclose(file);
    unlink(scratch.path);
    return scratch.bytes;
}

/* A slice of a literal that may hold NUL. */
#define TEXT(literal) TA_LIT(literal)

#define WRITE(call) (begin(), (call), end())
#define OUT scratch.file

static void json_strings(void **state)
{
    (void)state;
    assert_string_equal(WRITE(ta_put_json(OUT, TEXT(""), false)), "\"\"");
    assert_string_equal(WRITE(ta_put_json(OUT, (struct ta_slice){NULL, 0}, false)), "\"\"");
    assert_string_equal(WRITE(ta_put_json(OUT, TEXT("a\"b\\c\n\x1b"), false)),
                        "\"a\\\"b\\\\c\\n\\u001b\"");
    assert_string_equal(WRITE(ta_put_json(OUT, TEXT("</script>&"), false)), "\"</script>&\"");
    assert_string_equal(WRITE(ta_put_json(OUT, TEXT("</script>&"), true)),
                        "\"\\u003c/script\\u003e\\u0026\"");
    assert_string_equal(WRITE(ta_put_json(OUT, TEXT("\xe2\x80\xa8\xe2\x80\xae\xc2\x9b"), false)),
                        "\"\\u2028\\u202e\\u009b\"");
    assert_string_equal(WRITE(ta_put_json(OUT, TEXT("a\xff\xc3"), false)),
                        "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_string_equal(WRITE(ta_put_json(OUT, TEXT("µ🔥"), false)), "\"µ🔥\"");
}

/* What a JSON reader gets back is what was written. */
static void json_reads_back(void **state)
{
    (void)state;
    static const char text[] = "\x01\x02\t\r\n\"'\\/<>&\x7f µ \xc2\x9b \xe2\x80\xae 日本 🔥";
    WRITE(ta_put_json(OUT, ta_slice_of(text), true));
    json_t *value = json_loads(scratch.bytes, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    assert_string_equal(json_string_value(value), text);
    json_decref(value);
}

static void json_cells(void **state)
{
    (void)state;
    struct ta_cell cells[] = {ta_null(),         ta_int(INT64_MAX), ta_int(TA_MISSING),
                              ta_num(0.1),       ta_bool(true),     ta_bool(false),
                              ta_num(1.0 / 0.0), ta_text(TEXT("x"))};
    begin();
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        ta_put_json_cell(OUT, &cells[i], false);
        ta_putc(OUT, ' ');
    }
    assert_string_equal(end(), "null 9223372036854775807 null 0.1 true false null \"x\" ");
}

static void html(void **state)
{
    (void)state;
    assert_string_equal(WRITE(ta_put_html(OUT, TEXT("<img src=x onerror='a()' a=\"&\">"))),
                        "&lt;img src=x onerror=&#39;a()&#39; a=&quot;&amp;&quot;&gt;");
    assert_string_equal(WRITE(ta_put_html(OUT, TEXT("a\xe2\x80\xae\x1b\n\xff"))),
                        "a\\u202e\\x1b\\x0a\xef\xbf\xbd");
}

static void xml(void **state)
{
    (void)state;
    assert_string_equal(WRITE(ta_put_xml(OUT, TEXT("</a b='\"'>&µ"))),
                        "&#60;/a b=&#39;&#34;&#39;&#62;&#38;µ");
    assert_string_equal(WRITE(ta_put_xml(OUT, TEXT("a\0\n\x1b\xff]]>"))),
                        "a\\x00\\x0a\\x1b\xef\xbf\xbd]]&#62;");
    assert_string_equal(WRITE(ta_put_xml(OUT, TEXT("a\xef\xbf\xbe\xef\xbf\xbf"
                                                   "b\xef\xbf\xbd"))),
                        "ab\xef\xbf\xbd");
}

static void github(void **state)
{
    (void)state;
    static const struct ta_slice text = TA_LIT("a\r\n::error::b, 5% %0A");
    assert_string_equal(WRITE(ta_put_github(OUT, text, false)),
                        "a\\x0d\\x0a::error::b, 5%25 %250A");
    assert_string_equal(WRITE(ta_put_github(OUT, text, true)),
                        "a\\x0d\\x0a%3A%3Aerror%3A%3Ab%2C 5%25 %250A");
}

static const char *csv(struct ta_slice text)
{
    struct ta_cell cell = ta_text(text);
    return WRITE(ta_put_csv(OUT, &cell));
}

static void csv_cells(void **state)
{
    (void)state;
    assert_string_equal(csv(TEXT("plain")), "plain");
    assert_string_equal(csv(TEXT("")), "\"\"");
    assert_string_equal(csv(TEXT("a,b")), "\"a,b\"");
    assert_string_equal(csv(TEXT("say \"x\"")), "\"say \"\"x\"\"\"");
    assert_string_equal(csv(TEXT("two\nlines")), "two\\x0alines");
    struct ta_cell cells[] = {ta_null(), ta_int(-5), ta_num(-0.5), ta_bool(true)};
    static const char *const texts[] = {"", "-5", "-0.5", "true"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(WRITE(ta_put_csv(OUT, &cells[i])), texts[i]);
}

/* OWASP's list of beginnings, with blanks and full-width forms. */
static void csv_formulas_get_an_apostrophe(void **state)
{
    (void)state;
    assert_string_equal(csv(TEXT("=1+1")), "'=1+1");
    assert_string_equal(csv(TEXT("+1")), "'+1");
    assert_string_equal(csv(TEXT("-1")), "'-1");
    assert_string_equal(csv(TEXT("@SUM(A1)")), "'@SUM(A1)");
    assert_string_equal(csv(TEXT("  =1")), "\"'  =1\"");
    assert_string_equal(csv(TEXT("\xc2\xa0=1")), "'\xc2\xa0=1");
    assert_string_equal(csv(TEXT("\xef\xbb\xbf=1")), "'\xef\xbb\xbf=1");
    assert_string_equal(csv(TEXT("\t=1")), "'\\x09=1");
    assert_string_equal(csv(TEXT("\rx")), "'\\x0dx");
    assert_string_equal(csv(TEXT("\xef\xbc\x9d"
                                 "1")),
                        "'\xef\xbc\x9d"
                        "1");
    assert_string_equal(csv(TEXT("\xef\xbc\x8d"
                                 "1")),
                        "'\xef\xbc\x8d"
                        "1");
    assert_string_equal(csv(TEXT("=a,\"b\"")), "\"'=a,\"\"b\"\"\"");
    assert_string_equal(csv(TEXT("a=b")), "a=b");
}

static const char *code(struct ta_slice text)
{
    return WRITE(ta_put_markdown(OUT, text));
}

static void markdown_code_spans(void **state)
{
    (void)state;
    assert_string_equal(code(TEXT("aten::mm")), "`aten::mm`");
    assert_string_equal(code(TEXT("")), "");
    assert_string_equal(code(TEXT("a|b")), "`a\\|b`");
    assert_string_equal(code(TEXT("a\\|b")), "`a\\\\\\|b`");
    assert_string_equal(code(TEXT("a\\\\|b")), "`a\\\\\\|b`");
    assert_string_equal(code(TEXT("a``b")), "```a``b```");
    assert_string_equal(code(TEXT("`")), "`` ` ``");
    assert_string_equal(code(TEXT(" x")), "`  x `");
    assert_string_equal(code(TEXT("a\nb<i>")), "`a\\x0ab<i>`");
}

static const char *prose(struct ta_slice text)
{
    return WRITE(ta_put_markdown_text(OUT, text));
}

static void markdown_text(void **state)
{
    (void)state;
    assert_string_equal(prose(TEXT("GPU busy 78.4 %, 3 ranks (of 4)")),
                        "GPU busy 78.4 %, 3 ranks (of 4)");
    assert_string_equal(prose(TEXT("[x](y) *a* `b` <script> a|b")),
                        "\\[x\\](y) \\*a\\* \\`b\\` &lt;script&gt; a\\|b");
    assert_string_equal(prose(TEXT("# x")), "\\# x");
    assert_string_equal(prose(TEXT("- x")), "\\- x");
    assert_string_equal(prose(TEXT("12. x")), "12\\. x");
    assert_string_equal(prose(TEXT("1.0 x 3.")), "1.0 x 3.");
    assert_string_equal(prose(TEXT("https://x")), "https\\://x");
    assert_string_equal(prose(TEXT("a\x1b&amp;")), "a\\\\x1b&amp;amp;");
}

static const char *terminal(struct ta_slice text, size_t width, int pad)
{
    return WRITE(ta_put_terminal(OUT, text, width, pad));
}

static void terminal_text(void **state)
{
    (void)state;
    assert_string_equal(terminal(TEXT("abc"), 0, 0), "abc");
    assert_string_equal(terminal(TEXT("abc"), 5, 1), "abc  ");
    assert_string_equal(terminal(TEXT("abc"), 5, -1), "  abc");
    assert_string_equal(terminal(TEXT("abc"), 5, 0), "abc");
    assert_string_equal(terminal(TEXT("abcdefghi"), 5, 1), "ab…hi");
    assert_string_equal(terminal(TEXT("abcdefghi"), 4, 1), "ab…i");
    assert_string_equal(terminal(TEXT("abcdefghi"), 1, 1), "…");
    assert_string_equal(terminal(TEXT("abcdefghi… (7)"), 11, 1), "abcde… (7) ");
    assert_string_equal(terminal(TEXT("a\x1b[2Jb"), 0, 0), "a\\x1b[2Jb");
    assert_string_equal(terminal(TEXT("\xff\xe2\x80\xae\n"), 0, 0), "\\xff\\u202e\\x0a");
}

/* Wide characters take two columns, marks none; neither is ever torn apart. */
static void terminal_width_counts_columns(void **state)
{
    (void)state;
    assert_int_equal(ta_terminal_width(TEXT("日本語")), 6);
    assert_int_equal(ta_terminal_width(TEXT("e\xcc\x81")), 1);
    assert_int_equal(ta_terminal_width(TEXT("\x1b")), 4);
    assert_int_equal(ta_terminal_width(TEXT("µ")), 1);
    assert_int_equal(ta_terminal_width(TEXT("")), 0);
    assert_string_equal(terminal(TEXT("日本語日本語"), 6, 1), "日…語 ");
    assert_string_equal(terminal(TEXT("ae\xcc\x81zzzzzzzz"), 4, 0), "ae\xcc\x81…z");
    assert_string_equal(terminal(TEXT("zzzzzzzze\xcc\x81"
                                      "b"),
                                 3, 0),
                        "z…b");
    for (size_t width = 1; width < 30; width++) {
        terminal(TEXT("日a本\x1b語b\xcc\x81日本\xff語ccccc🔥🔥🔥🔥"), width, 1);
        assert_int_equal(ta_terminal_width((struct ta_slice){scratch.bytes, scratch.length}),
                         width);
    }
}

static void cells_for_people(void **state)
{
    (void)state;
    char buffer[TA_UNIT_TEXT_MAX];
    struct ta_cell cells[] = {ta_null(), ta_int(INT64_MAX), ta_int(412000000), ta_num(0.184),
                              ta_bool(true)};
    const enum ta_unit units[] = {TA_UNIT_NS, TA_UNIT_NONE, TA_UNIT_NS, TA_UNIT_RATIO,
                                  TA_UNIT_NONE};
    static const char *const texts[] = {"", "9223372036854775807", "412 ms", "18.4 %", "yes"};
    for (size_t i = 0; i < 5; i++) {
        struct ta_slice text = ta_cell_text(&cells[i], units[i], buffer);
        assert_true(ta_slice_equal(text, ta_slice_of(texts[i])));
    }
}

static int set_up(void **state)
{
    (void)state;
    ta_shared_init(&scratch.shared);
    ta_ctx_init(&scratch.ctx, &scratch.shared);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_strings),
        cmocka_unit_test(json_reads_back),
        cmocka_unit_test(json_cells),
        cmocka_unit_test(html),
        cmocka_unit_test(xml),
        cmocka_unit_test(github),
        cmocka_unit_test(csv_cells),
        cmocka_unit_test(csv_formulas_get_an_apostrophe),
        cmocka_unit_test(markdown_code_spans),
        cmocka_unit_test(markdown_text),
        cmocka_unit_test(terminal_text),
        cmocka_unit_test(terminal_width_counts_columns),
        cmocka_unit_test(cells_for_people),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
