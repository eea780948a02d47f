/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learned layout against the grammar: for each instruction set, records that are damaged in
 * every place, in every way that a byte can matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parse/json/cpu.h"
#include "parse/json/layout.h"
#include "read/reader.h"

#include <stdio.h>
#include <stdlib.h>

enum { PH, NAME, TS, ARGS };

static const struct ta_slice wanted[] = {{"shape", 5}, {"n", 1}};
static const struct ta_record_schema schema = {.array = "list",
                                               .mark = PH,
                                               .field = {"ph", "name", "ts", "args"},
                                               .nested = ARGS,
                                               .nested_keys = wanted,
                                               .n_nested_keys = 2};

/* A record with a value of each kind at %s, and around it what a writer repeats. */
static const char *const layouts[] = {
    ("{\"ph\": \"X\", \"name\": \"a name\", \"ts\": 12.345, \"args\": {\"n\": 7, \"shape\": %s, "
     "\"z\": 0}}"),
    "{\n    \"ph\":\"X\",\n    \"other\": %s,\n    \"args\": {\n      \"shape\": %s\n    }\n  }",
    "{\"name\":%s,\"ts\":%s,\"ph\":\"X\"}",
};

static const char *const values[] = {
    "0",
    "7",
    "-7",
    "-0",
    "12.5",
    "1700000000123456.789",
    "31415926535897932384626433832795",
    "1e5",
    "01",
    "-",
    "1.",
    ".5",
    "\"\"",
    "\"aten::mm\"",
    "\"a longer name than fits into one vector at once\"",
    "\"esc\\n\"",
    "\"\xc3\xa9\"",
    "true",
    "false",
    "null",
    "nul",
    "[]",
    "[[]]",
    "[1]",
    "[1, 2]",
    "[1,2]",
    "[[1, 16, 1560], [], [3]]",
    "[ 1 ]",
    "[1 ,2]",
    "[01]",
    "[0, 10]",
    "[1 2]",
    "[,1]",
    "[1,]",
    "[1",
    "[[1]",
    "[1]]",
    "[-1, 2.5]",
    "[\"a\", \"\", true, null]",
    "[\n  1,\n  2\n]",
    "[{}]",
    "[1,[2,[3,[4,[5]]]]]",
    "[1234567890, 1234567890, 1234567890, 1234567890, 1234567890, 123]",
    "{}",
    "{\"a\": [1, {\"b\": 2}]}",
    "",
};

/* Bytes that mean something, and some that do not. */
static const char bytes[] = "\0\x01\t\n\r \"\\,:.-+0189aeEntf/[]{}\x7f\x80\xc3\xff";

/* Values that were the same in so many records are part of longer gaps. */
enum { FUSED_WITHIN = 100 };

struct bench {
    struct record_keys keys;
    struct layout layout;
    struct ta_record by_layout, by_grammar;
    uint64_t stack[32];
    uint64_t taken, left; /* records scanned by the layout, and left to the grammar */
};

static struct bench *new_bench(void)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    record_keys_init(&b->keys, &schema);
    return b;
}

static struct scan scan_of(struct bench *b, const char *text, size_t size)
{
    return (struct scan){.p = text,
                         .end = text + size,
                         .string_limit = 1000,
                         .number_limit = 1000,
                         .stack = b->stack,
                         .stack_limit = 1024};
}

static void assert_same(const struct ta_token *a, const struct ta_token *b, const char *text)
{
    if (a->type != b->type || (a->type != TA_TOKEN_ABSENT &&
                               (a->ptr != b->ptr || a->len != b->len || a->plain != b->plain)))
        fail_msg("the layout makes %d of %u bytes, the grammar %d of %u, of %s", a->type, a->len,
                 b->type, b->len, text);
}

/* Whatever the layout takes, the grammar takes just so. */
static void compare(struct bench *b, const char *text, size_t size)
{
    struct scan scan = scan_of(b, text, size), plain = scan;
    const enum scan_result result = b->layout.scan(&b->layout, &b->keys, &scan, &b->by_layout);
    if (result == SCAN_BAD) {
        b->left++;
        return;
    }
    b->taken++;
    const enum scan_result expected = record_scan(&b->keys, &plain, &b->by_grammar);
    if (result != expected)
        fail_msg("the layout says %d, the grammar %d, of %s", result, expected, text);
    if (result != SCAN_OK)
        return;
    if (scan.p != plain.p)
        fail_msg("the layout ends at %td, the grammar at %td, of %s", scan.p - text, plain.p - text,
                 text);
    assert_int_equal(scan.notes, plain.notes);
    for (int i = 0; i <= ARGS; i++)
        assert_same(&b->by_layout.field[i], &b->by_grammar.field[i], text);
    for (int i = 0; i < 2; i++)
        assert_same(&b->by_layout.nested[i], &b->by_grammar.nested[i], text);
    assert_int_equal(b->by_layout.has_nested, b->by_grammar.has_nested);
}

/* Numbers that are known to be plain have their digits counted. */
static void assert_counted(const struct ta_record *record)
{
    const struct ta_token *ts = &record->field[TS];
    if (ts->type == TA_TOKEN_NUMBER && ts->whole)
        assert_true(strspn(ts->ptr + (*ts->ptr == '-'), "0123456789") == ts->whole);
}

/* The record as it is, cut everywhere, and with every byte replaced by every other one.  The window
 * ends behind the record, with zeros. */
static void damage(struct bench *b, const char *record)
{
    char text[512] = {0};
    const size_t size = strlen(record);
    assert_true(size + TA_PADDING < sizeof text);
    memcpy(text, record, size);
    b->layout.fusing.left = FUSED_WITHIN;
    for (int i = 0; i < FUSED_WITHIN; i++)
        compare(b, text, size);
    assert_counted(&b->by_layout);
    for (size_t at = 0; at < size; at++) {
        const char before = text[at];
        for (size_t i = 0; i < sizeof bytes - 1; i++) {
            text[at] = bytes[i];
            compare(b, text, size);
        }
        text[at] = before;
    }
    for (size_t cut = size; cut-- > 1;) {
        text[cut] = '\0';
        compare(b, text, cut);
    }
}

static void scan_with(const char *cpu, bool in_order)
{
    struct bench *b = new_bench();
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        assert_true(layout_init(&b->layout, cpu, 1000));
        b->layout.unordered = !in_order;
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            char record[300];
            /* Known before it is damaged, so that nothing is left to the grammar for being new. */
            snprintf(record, sizeof record, layouts[l], "1", "2");
            damage(b, record);
            snprintf(record, sizeof record, layouts[l], values[i], values[i]);
            damage(b, record);
        }
        assert_true(!in_order || b->layout.fusing.n_fused > 3);
        layout_free(&b->layout);
    }
    assert_true(b->taken > 10000);
    assert_true(b->left > 10000);
    free(b);
}

static void every_instruction_set_agrees_with_the_grammar(void **state)
{
    (void)state;
    static const char *const names[] = {"avx2", "sse2", "scalar"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ta_cpu_has(names[i])) {
            scan_with(names[i], true);
            scan_with(names[i], false);
        }
    assert_true(ta_cpu_has("scalar"));
}

/* ---- keys in no order ------------------------------------------------------------------------ */

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

enum { MIXED_KEYS = 6 };

static void shuffle(uint64_t *state, int *order)
{
    for (int i = 0; i < MIXED_KEYS; i++)
        order[i] = i;
    for (int i = MIXED_KEYS; i > 1; i--) {
        const int j = (int)draw(state, (uint32_t)i), at = order[j];
        order[j] = order[i - 1];
        order[i - 1] = at;
    }
}

/* How a writer separates members: behind an opening brace, between them, before a closing one. */
struct writer {
    const char *begin, *between, *colon, *end;
};

static void put_member(char *text, const struct writer *writer, bool first, const char *key,
                       const char *value)
{
    char *const end = text + strlen(text);
    sprintf(end, "%s\"%s\"%s%s", first ? writer->begin : writer->between, key, writer->colon,
            value);
}

/* A record whose keys, and those of its arguments, come in any order; `odd` of 100 values are of
 * any kind, and some members are missing. */
static void put_mixed(char *text, uint64_t *state, const struct writer *writer, uint32_t odd)
{
    static const char *const keys[] = {"ph", "name", "ts", "args", "other", "s"};
    static const char *const nested[] = {"n",  "shape", "z", "a long key of the arguments",
                                         "ts", "y"};
    static const char *const usual[] = {"\"X\"", "\"aten::mm\"", "17.25", "3", "\"a\\\"}b: {\""};
    int order[MIXED_KEYS], inner[MIXED_KEYS];
    bool first = true;
    shuffle(state, order);
    strcpy(text, "{");
    for (int i = 0; i < MIXED_KEYS; i++) {
        if (draw(state, 8) == 0)
            continue;
        char value[2000] = "{";
        bool first_inner = true;
        shuffle(state, inner);
        for (int k = 0; k < MIXED_KEYS; k++) {
            const bool is_odd = draw(state, 100) < odd;
            const char *const plain = usual[draw(state, 5)];
            const char *const any = values[draw(state, sizeof values / sizeof *values)];
            if (draw(state, 3) == 0)
                continue;
            put_member(value, writer, first_inner, nested[inner[k]], is_odd ? any : plain);
            first_inner = false;
        }
        strcat(value, first_inner ? "}" : writer->end);
        const bool is_args = order[i] == ARGS && draw(state, 100) >= odd;
        const char *const any = values[draw(state, sizeof values / sizeof *values)];
        const char *const plain = draw(state, 100) < odd ? any : usual[draw(state, 5)];
        put_member(text, writer, first, keys[order[i]], is_args ? value : plain);
        first = false;
    }
    strcat(text, first ? "}" : writer->end);
}

/* A window with record after record, each of which the grammar takes just so.  Returns the share of
 * them that the layout takes as well. */
static double scan_mixed(struct bench *b, const struct writer *writer, uint32_t odd)
{
    enum { RECORDS = 60, WINDOWS = 60, RECORD_BYTES = 4000 };
    char *const text = calloc(RECORDS + 1, RECORD_BYTES);
    uint64_t state = 7 + odd;
    size_t n = 0;
    assert_non_null(text);
    const uint64_t left = b->left;
    for (int window = 0; window < WINDOWS; window++) {
        char *end = text;
        memset(text, 0, (RECORDS + 1) * (size_t)RECORD_BYTES);
        for (int i = 0; i < RECORDS; i++) {
            put_mixed(end, &state, writer, odd);
            end += strlen(end);
            end += sprintf(end, ",\n");
        }
        const size_t cut = draw(&state, 2) ? 0 : draw(&state, 500);
        memset(end - cut, 0, cut);
        end -= cut;
        for (const char *p = text; p < end;) {
            struct scan grammar = scan_of(b, p, (size_t)(end - p));
            compare(b, p, (size_t)(end - p));
            if (record_scan(&b->keys, &grammar, &b->by_grammar) != SCAN_OK)
                break;
            p = grammar.p + strspn(grammar.p, ",\n");
            n++;
        }
    }
    free(text);
    return 1 - (double)(b->left - left) / (double)n;
}

static void mix_with(const char *cpu)
{
    static const struct writer writers[] = {
        {"", ", ", ": ", "}"},
        {"", ",", ":", "}"},
        {"\n    ", ",\n    ", ": ", "\n  }"},
        {"\r\n\t\t", ",\r\n\t\t", " :\t", "\r\n\t}"},
    };
    struct bench *b = new_bench();
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        assert_true(layout_init(&b->layout, cpu, 1000));
        b->layout.unordered = 1;
        const double regular = scan_mixed(b, &writers[i], 0);
        const double odd = scan_mixed(b, &writers[i], 4);
        if (regular < 0.98 || odd < 0.1 || odd > 0.98)
            fail_msg("%s, writer %zu: the layout takes %.3f of regular records and %.3f of others",
                     cpu, i, regular, odd);
        layout_free(&b->layout);
    }
    assert_true(b->taken > 10000);
    free(b);
}

static void keys_in_no_order_agree_with_the_grammar(void **state)
{
    (void)state;
    static const char *const names[] = {"avx2", "sse2", "scalar"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ta_cpu_has(names[i]))
            mix_with(names[i]);
}

/* When gaps come in no order, none is expected for a while; then it is looked for again. */
static void order_is_judged(void **state)
{
    (void)state;
    struct layout layout;
    assert_true(layout_init(&layout, "scalar", 1000));
    layout.records = 100;
    layout.searches = 199;
    layout_judge(&layout);
    assert_int_equal(layout.unordered, 0);
    layout.records = 100;
    layout.searches = 200;
    layout_judge(&layout);
    assert_true(layout.unordered > 1);
    assert_int_equal(layout.fusing.left, 0);
    for (int i = 0; i < 100 && layout.unordered; i++)
        layout_judge(&layout);
    assert_int_equal(layout.unordered, 0);
    assert_true(layout.fusing.left > 0);
    layout_free(&layout);
}

/* Events of one kind have a space behind a key, those of another several: the gap of the first is
 * the beginning of that of the others, which have to be learned nevertheless. */
static void longer_white_space_is_learned(void **state)
{
    static const char *const records[] = {
        "{\"name\": \"a\", \"ts\": 1, \"x\": [1], \"ph\": \"X\"}",
        "{\"name\": \"b\", \"ts\": 2, \"x\":     [1, 2], \"ph\": \"X\"}",
        "{\"name\": \"c\", \"ts\": 3, \"x\":\n  [1, 2], \"ph\": \"X\"}",
    };
    (void)state;
    struct bench *b = new_bench();
    assert_true(layout_init(&b->layout, NULL, 1000));
    b->layout.fusing.left = 0;
    for (int i = 0; i < 300; i++) {
        char text[200] = {0};
        memcpy(text, records[i % 3], strlen(records[i % 3]));
        compare(b, text, strlen(text));
    }
    assert_true(b->left <= 3);
    layout_free(&b->layout);
    free(b);
}

static void layouts_are_chosen_by_name(void **state)
{
    (void)state;
    struct layout layout;
    assert_true(layout_init(&layout, "none", 1000));
    assert_false(layout_on(&layout));
    layout_free(&layout);
    assert_true(layout_init(&layout, "scalar", 1000));
    assert_true(layout.scan == layout_scan_scalar);
    assert_true(layout_on(&layout));
    layout_free(&layout);
    assert_true(layout_init(&layout, NULL, 31)); /* only the grammar counts digits */
    assert_false(layout_on(&layout));
    layout_free(&layout);
    assert_false(ta_cpu_has("mmx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_set_agrees_with_the_grammar),
        cmocka_unit_test(keys_in_no_order_agree_with_the_grammar),
        cmocka_unit_test(order_is_judged),
        cmocka_unit_test(longer_white_space_is_learned),
        cmocka_unit_test(layouts_are_chosen_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
