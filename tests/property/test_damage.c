/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damage at every byte of a trace: cut there, or another byte.  Whatever was whole is kept, and
 * what is lost is said. */
#include "base/quality.h"
#include "sanitized.h"
#include "trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

/* A sanitizer takes minutes for all of it: there one kind of damage per byte is enough, and what is
 * found is held to without one. */
#if IS_SANITIZED
enum { THINNED = 5 };
#else
enum { THINNED = 1 };
#endif

/* ---- where the events lie -------------------------------------------------------------------- */

struct bounds {
    size_t array, array_end; /* first byte in the array of events, and its closing bracket */
    size_t end[512];         /* behind each event */
    size_t n, whole;         /* length from which on the document is whole */
};

/* Brackets counted, strings respected: all that is needed for a text that is right. */
static void find_events(const struct text *text, struct bounds *b)
{
    static const char key[] = "\"traceEvents\":";
    const char *found = strstr(text->at, key);
    assert_non_null(found);
    b->array = (size_t)(strchr(found, '[') + 1 - text->at);
    b->array_end = b->n = 0;
    bool in_string = false;
    int depth = 0;
    for (size_t i = b->array; i < text->n; i++) {
        const char c = text->at[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
            if (depth == 0 && !b->array_end)
                b->end[b->n++] = i + 1;
            else if (depth == -1 && c == ']')
                b->array_end = i;
            else if (depth == -2)
                b->whole = i + 1;
        }
    }
    assert_true(b->n > 5 && b->array_end >= b->end[b->n - 1] && b->whole > b->array_end);
}

static size_t whole_events(const struct bounds *b, size_t length)
{
    size_t n = 0;
    while (n < b->n && b->end[n] <= length)
        n++;
    return n;
}

static void make_trace(struct text *text, size_t n_events, int layout, struct bounds *b)
{
    *text = (struct text){0};
    fixture_trace_text(text, 77, n_events, layout, 2);
    find_events(text, b);
    assert_true(b->n >= n_events); /* an operator brings its call and its work along */
}

/* ---- cut at every byte ---------------------------------------------------------------------- */

static void check_prefix(const struct text *text, const struct bounds *b, size_t length)
{
    struct reading r;
    const size_t n = whole_events(b, length);
    fixture_scan(&fixture, text->at, length, &r);
    if (r.kept != n)
        fail_msg("%" PRIu64 " events of the first %zu bytes, not %zu", r.kept, length, n);
    assert_int_equal(r.status, n ? TA_OK : TA_ERR_INPUT);
    const bool cut = length > 0 && length < b->whole;
    assert_int_equal(r.truncated, cut);
    assert_int_equal(ta_quality_count(&r.quality, TA_Q_TRUNCATED), cut);
    if (cut && n)
        assert_finding(&r.quality, TA_Q_TRUNCATED, 1, b->end[n - 1]);
    if (cut && n)
        assert_int_equal(r.skipped, length - b->end[n - 1]);
    assert_no_finding_but(&r.quality, TA_Q_TRUNCATED);
    assert_true(r.dropped <= 1);
    reading_free(&r);
}

static void every_prefix(void **state)
{
    (void)state;
    for (int layout = 0; layout < 3; layout++) {
        struct text text;
        struct bounds b;
        make_trace(&text, layout == 0 ? 90 : 20, layout, &b);
        assert_true(layout || (text.n > 17000 && text.n < 23000)); /* about 20 KB */
        for (size_t length = text.n % THINNED; length <= text.n; length += THINNED)
            check_prefix(&text, &b, length);
        text_free(&text);
    }
}

/* How much of the content a cut file holds, by zlib alone. */
static size_t inflated_length(const unsigned char *gz, size_t size, size_t most)
{
    z_stream z = {0};
    unsigned char *out = malloc(most + 1);
    assert_non_null(out);
    assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)gz;
    z.avail_in = (unsigned)size;
    z.next_out = out;
    z.avail_out = (unsigned)most + 1;
    inflate(&z, Z_SYNC_FLUSH);
    const size_t n = z.total_out;
    inflateEnd(&z);
    free(out);
    return n;
}

static void every_prefix_of_a_gzip_file(void **state)
{
    (void)state;
    struct text text;
    struct bounds b;
    make_trace(&text, 120, 0, &b);
    size_t size, before = 0;
    unsigned char *gz = fixture_gzip(text.at, text.n, &size);
    for (size_t cut = 2; cut <= size; cut++) {
        struct reading r;
        const size_t length = inflated_length(gz, cut, text.n), n = whole_events(&b, length);
        fixture_scan(&fixture, gz, cut, &r);
        assert_int_equal(r.kept, n);
        assert_true(n >= before);
        before = n;
        assert_finding(&r.quality, TA_Q_GZIP_TRUNCATED, cut < size, TA_NO_OFFSET);
        if (cut < size)
            assert_int_equal(r.quality.slots[TA_Q_GZIP_TRUNCATED].file_offset, cut);
        assert_int_equal(r.early, cut < size);
        if (length > 0 && length < b.whole && n)
            assert_finding(&r.quality, TA_Q_TRUNCATED, 1, b.end[n - 1]);
        assert_no_finding_but(&r.quality, TA_Q_TRUNCATED, TA_Q_GZIP_TRUNCATED);
        reading_free(&r);
    }
    assert_int_equal(before, b.n);
    free(gz);
    text_free(&text);
}

/* ---- another byte --------------------------------------------------------------------------- */

static void check_byte(const struct text *text, const struct bounds *b, size_t at)
{
    struct reading r;
    fixture_read(&fixture, text->at, text->n, &r);
    if (r.status != TA_OK || r.kept + 1 < b->n || r.kept > b->n)
        fail_msg("byte %zu as %02x: %" PRIu64 " of %zu events", at, (unsigned char)text->at[at],
                 r.kept, b->n);
    if (r.kept < b->n && !ta_quality_reaches(&r.quality, TA_QUALITY_LOSS))
        fail_msg("byte %zu as %02x: an event is lost in silence", at, (unsigned char)text->at[at]);
    if (r.kept < b->n)
        assert_true(r.dropped > 0);
    reading_free(&r);
}

static void every_byte(int layout)
{
    static const unsigned char values[] = {0x00, 0x22, 0x5c, 0x7b, 0xff};
    struct text text;
    struct bounds b;
    make_trace(&text, layout == 1 ? 18 : layout == 0 ? 24 : 30, layout, &b);
    assert_true(text.n > 4000 && text.n < 6500); /* about 5 KB */
    for (size_t at = b.array; at < b.array_end; at++) {
        const char right = text.at[at];
        for (size_t v = at % THINNED; v < sizeof values; v += THINNED) {
            text.at[at] = (char)values[v];
            check_byte(&text, &b, at);
        }
        text.at[at] = right;
    }
    text_free(&text);
}

static void every_byte_of_kineto(void **state)
{
    (void)state;
    every_byte(0);
}

static void every_byte_of_indented_json(void **state)
{
    (void)state;
    every_byte(1);
}

static void every_byte_of_one_line(void **state)
{
    (void)state;
    every_byte(2);
}

/* Runs the part that is named, or all of them. */
int main(int argc, char **argv)
{
    static const struct {
        const char *part;
        struct CMUnitTest test;
    } parts[] = {
        {"prefix", cmocka_unit_test(every_prefix)},
        {"gzip", cmocka_unit_test(every_prefix_of_a_gzip_file)},
        {"kineto", cmocka_unit_test(every_byte_of_kineto)},
        {"indent", cmocka_unit_test(every_byte_of_indented_json)},
        {"line", cmocka_unit_test(every_byte_of_one_line)},
    };
    int failed = argc > 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct CMUnitTest tests[] = {parts[i].test};
        if (argc > 1 && strcmp(argv[1], parts[i].part) != 0)
            continue;
        failed = cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
        if (failed)
            break;
    }
    return failed;
}
