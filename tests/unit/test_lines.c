/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts as lines and lines as cells, however the bytes come in. */
#include "base/quality.h"
#include "parse/text/lines.h"
#include "traceanalyze/document.h"

#include "read/reader.h"
#include "trace_fixture.h"

#include <unistd.h>

struct file {
    struct ta_shared shared;
    struct ta_ctx ctx;
    struct ta_quality quality;
    struct ta_reader *reader;
    struct ta_lines *lines;
};

static void begin(struct file *f, const void *bytes, size_t size)
{
    ta_shared_init(&f->shared);
    ta_ctx_init(&f->ctx, &f->shared);
    ta_quality_init(&f->quality);
    f->reader = ta_reader_open(&f->ctx, NULL, fixture_memory(bytes, size), &f->quality);
    assert_non_null(f->reader);
    f->lines = ta_lines_new(&f->ctx, f->reader);
    assert_non_null(f->lines);
}

static void end(struct file *f)
{
    assert_false(ta_lines_next(f->lines));
    ta_lines_free(f->lines);
    ta_reader_close(f->reader);
    ta_quality_free(&f->quality);
}

static void assert_slice(struct ta_slice text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.ptr, expected, text.len);
}

static void assert_line(struct file *f, uint64_t offset, const char *expected)
{
    assert_true(ta_lines_next(f->lines));
    assert_int_equal(f->lines->offset, offset);
    assert_slice(f->lines->line, expected);
}

/* Files of old systems; one line feed anywhere makes carriage returns what they are elsewhere. */
static void test_lines_that_end_with_carriage_returns(void **state)
{
    (void)state;
    for (fixture_chunk = 0; fixture_chunk < 6; fixture_chunk++) {
        struct file f;
        begin(&f, "one\r\rtwo\rlast\r", 14);
        assert_line(&f, 0, "one");
        assert_line(&f, 4, "");
        assert_line(&f, 5, "two");
        assert_line(&f, 9, "last");
        end(&f);
        begin(&f, "10 %\r20 %\r\nend", 14);
        assert_line(&f, 0, "10 %\r20 %");
        assert_line(&f, 11, "end");
        end(&f);
    }
    fixture_chunk = 0;
    struct ta_slice text = TA_LIT("a\rb\r\r");
    assert_slice(ta_text_line(&text), "a");
    assert_slice(ta_text_line(&text), "b");
    assert_slice(ta_text_line(&text), "");
    assert_int_equal(text.len, 0);
    text = TA_LIT("a\rb\r\n\nc");
    assert_slice(ta_text_line(&text), "a\rb");
    assert_slice(ta_text_line(&text), "");
    assert_slice(ta_text_line(&text), "c");
}

static void test_lines(void **state)
{
    (void)state;
    static const char text[] = "one\ntwo\r\n\nlast";
    for (fixture_chunk = 0; fixture_chunk < 6; fixture_chunk++) {
        struct file f;
        begin(&f, text, sizeof text - 1);
        assert_line(&f, 0, "one");
        assert_line(&f, 4, "two");
        assert_line(&f, 9, "");
        assert_line(&f, 10, "last");
        assert_no_finding(&f.quality);
        end(&f);
    }
    fixture_chunk = 0;
}

/* What is no whole sequence is text. */
static void test_colors(void **state)
{
    (void)state;
    static const char text[] =
        "\033[1;32mbold\033[0m plain\033[K\r\n\033\033[\n\033[1\n\033[1\tm\n";
    struct file f;
    begin(&f, text, sizeof text - 1);
    assert_line(&f, 0, "bold plain");
    assert_line(&f, 26, "\033\033[");
    assert_line(&f, 30, "\033[1");
    assert_line(&f, 34, "\033[1\tm");
    assert_no_finding(&f.quality);
    end(&f);
}

static void test_no_line(void **state)
{
    (void)state;
    struct file f;
    begin(&f, "", 0);
    end(&f);
    begin(&f, "\n", 1);
    assert_line(&f, 0, "");
    end(&f);
}

static void test_bad_bytes(void **state)
{
    (void)state;
    static const char text[] = "a\xff"
                               "b\0c\ngood\n";
    struct file f;
    begin(&f, text, sizeof text - 1);
    assert_line(&f, 0,
                "a\xef\xbf\xbd"
                "b\xef\xbf\xbd"
                "c");
    assert_line(&f, 6, "good");
    assert_finding(&f.quality, TA_Q_TEXT_ENCODING, 1, 1);
    end(&f);
}

/* A line around the limit, at the end of the file and before another one. */
static void test_long_lines(void **state)
{
    (void)state;
    static const size_t most = 1 << 20;
    const size_t lengths[] = {most - 1, most, most + 1, most + 70000, 3 * most};
    char *text = malloc(4 * most);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int more = 0; more < 2; more++) {
            const size_t n = lengths[i];
            memset(text, 'x', n);
            memcpy(text + n, "\nafter", 6);
            struct file f;
            begin(&f, text, more ? n + 6 : n);
            assert_true(ta_lines_next(f.lines));
            assert_int_equal(f.lines->line.len, n < most ? n : most);
            assert_int_equal(f.lines->line.ptr[f.lines->line.len - 1], 'x');
            assert_int_equal(ta_quality_count(&f.quality, TA_Q_TOO_LONG), n > most);
            if (more)
                assert_line(&f, n + 1, "after");
            end(&f);
        }
    }
    free(text);
}

/* Lines of all lengths give the text back. */
static void test_lines_hold_all(void **state)
{
    (void)state;
    struct rng rng = {7};
    struct text text = {0}, back = {0};
    while (text.n < 600000) {
        for (uint64_t n = rng_below(&rng, 3000); n; n--)
            text_add(&text, "%c", (char)('a' + rng_below(&rng, 26)));
        text_add(&text, "\n");
    }
    struct file f;
    begin(&f, text.at, text.n);
    while (ta_lines_next(f.lines)) {
        assert_int_equal(f.lines->offset, back.n);
        text_put(&back, f.lines->line.ptr, f.lines->line.len);
        text_add(&back, "\n");
    }
    assert_int_equal(back.n, text.n);
    assert_memory_equal(back.at, text.at, text.n);
    end(&f);
    text_free(&text);
    text_free(&back);
}

/* ---- cells --------------------------------------------------------------------------------- */

#define assert_cells(line, ...)                                                                    \
    check_cells((line), (const char *const[]){__VA_ARGS__},                                        \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void check_cells(const char *line, const char *const *expected, size_t n)
{
    struct ta_slice cells[8];
    char buffer[64];
    assert_int_equal(ta_csv_split(ta_slice_of(line), ',', cells, 8, buffer, sizeof buffer), n);
    for (size_t i = 0; i < n; i++)
        assert_slice(cells[i], expected[i]);
}

static void test_cells(void **state)
{
    (void)state;
    assert_cells("a,b,c", "a", "b", "c");
    assert_cells("", "");
    assert_cells(",", "", "");
    assert_cells("a,,", "a", "", "");
    assert_cells("\"a,b\",c", "a,b", "c");
    assert_cells("\"a\"\"b\",\"\"\"\"", "a\"b", "\"");
    assert_cells("\"\",x", "", "x");
    assert_cells("\"open, end", "open, end");
    assert_cells("\"a\"b,c", "ab", "c");
    assert_cells("a\"b,c", "a\"b", "c");
}

static void test_cells_are_bounded(void **state)
{
    (void)state;
    struct ta_slice cells[2];
    char buffer[2];
    assert_int_equal(ta_csv_split(TA_LIT("a;b;c"), ';', cells, 2, buffer, sizeof buffer), 2);
    assert_slice(cells[1], "b");
    assert_int_equal(ta_csv_split(TA_LIT("\"a\"\"bc\";b"), ';', cells, 2, buffer, sizeof buffer),
                     2);
    assert_slice(cells[0], "a\"");
    assert_slice(cells[1], "b");
}

static void test_trim(void **state)
{
    (void)state;
    assert_slice(ta_text_trim(TA_LIT("  a b\t\r\n")), "a b");
    assert_slice(ta_text_trim(TA_LIT(" \t ")), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_that_end_with_carriage_returns),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_colors),
        cmocka_unit_test(test_no_line),
        cmocka_unit_test(test_bad_bytes),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_lines_hold_all),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_cells_are_bounded),
        cmocka_unit_test(test_trim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
