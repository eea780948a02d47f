/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pickles: what is read, what is refused and how that is said, and that nothing ever runs. */
#include "trace_fixture.h"

#include "parse/pickle/machine.h"
#include "read/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static struct ta_quality quality;

static int setup(void **state)
{
    fixture_set_up(state);
    ta_quality_init(&quality);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_chunk = 0;
    ta_quality_free(&quality);
    fixture_close(&fixture);
    return 0;
}

/* Objects, or NULL when the bytes are refused; anything but a refusal fails the test. */
static struct ta_objects *read_bytes(const void *bytes, size_t size)
{
    struct ta_reader *reader =
        ta_reader_open(&fixture.ctx, NULL, fixture_memory(bytes, size), &quality);
    assert_non_null(reader);
    struct ta_objects *objects = ta_objects_read(&fixture.ctx, reader);
    ta_reader_close(reader);
    if (!objects)
        assert_int_equal(ta_ctx_status(&fixture.ctx), TA_ERR_INPUT);
    return objects;
}

/* ---- objects as text, in Python's notation ------------------------------------------------- */

static void show(struct text *out, const struct ta_objects *o, ta_object id);

static void show_items(struct text *out, const struct ta_objects *o, ta_object id, const char *ends)
{
    const bool is_dict = ta_object_kind(o, id) == TA_OBJECT_DICT;
    text_add(out, "%c", ends[0]);
    for (size_t i = 0; i < ta_object_size(o, id); i++) {
        if (i)
            text_add(out, "%s", is_dict && i % 2 ? ": " : ", ");
        show(out, o, ta_object_item(o, id, i));
    }
    text_add(out, "%c", ends[1]);
}

static void show_integer(struct text *out, const struct ta_objects *o, ta_object id)
{
    int64_t value;
    uint64_t large;
    if (ta_object_signed(o, id, &value))
        text_add(out, "%" PRId64, value);
    else if (ta_object_unsigned(o, id, &large))
        text_add(out, "%" PRIu64 "u", large);
    else
        text_add(out, "huge");
}

static void show(struct text *out, const struct ta_objects *o, ta_object id)
{
    const struct ta_slice text = ta_object_text(o, id);
    switch (ta_object_kind(o, id)) {
    case TA_OBJECT_NONE:
        text_add(out, "None");
        break;
    case TA_OBJECT_BOOL:
        text_add(out, ta_object_is_true(o, id) ? "True" : "False");
        break;
    case TA_OBJECT_INT:
        show_integer(out, o, id);
        break;
    case TA_OBJECT_FLOAT:
        text_add(out, "%.17g", ta_object_double(o, id));
        break;
    case TA_OBJECT_TEXT:
        text_add(out, "'%.*s'", (int)text.len, text.ptr);
        break;
    case TA_OBJECT_BYTES:
        text_add(out, "bytes");
        break;
    case TA_OBJECT_LIST:
        show_items(out, o, id, "[]");
        break;
    case TA_OBJECT_TUPLE:
        show_items(out, o, id, "()");
        break;
    case TA_OBJECT_SET:
        show_items(out, o, id, "<>");
        break;
    case TA_OBJECT_DICT:
        show_items(out, o, id, "{}");
        break;
    }
}

struct sample {
    const char *bytes;
    size_t size;
    const char *expected;
};
#define SAMPLE(bytes, expected)                                                                    \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, expected                                                         \
    }

static void assert_reads(const struct sample *sample)
{
    struct text out = {0};
    struct ta_objects *objects = read_bytes(sample->bytes, sample->size);
    if (!objects)
        fail_msg("%s: refused: %s", sample->expected, ta_ctx_causes(&fixture.ctx));
    show(&out, objects, ta_objects_root(objects));
    assert_string_equal(out.at, sample->expected);
    text_free(&out);
    ta_objects_free(objects);
}

/* ---- what is read -------------------------------------------------------------------------- */

static const struct sample samples[] = {
    /* the same object in every protocol, as Python writes it */
    SAMPLE("(dp0\nVkey\np1\n(lp2\nI1\naF2.5\naNaI01\na(I3\nVx\ntp3\nas.",
           "{'key': [1, 2.5, None, True, (3, 'x')]}"),
    SAMPLE("}q\0X\3\0\0\0keyq\1]q\2(K\1G@\4\0\0\0\0\0\0NI01\n(K\3X\1\0\0\0xq\3tq\4es.",
           "{'key': [1, 2.5, None, True, (3, 'x')]}"),
    SAMPLE("\x80\2}q\0X\3\0\0\0keyq\1]q\2(K\1G@\4\0\0\0\0\0\0N\x88K\3X\1\0\0\0xq\3\x86q\4es.",
           "{'key': [1, 2.5, None, True, (3, 'x')]}"),
    SAMPLE("\x80\4\x95\x23\0\0\0\0\0\0\0}\x94\x8c\3key\x94]\x94(K\1G@\4\0\0\0\0\0\0N\x88K\3\x8c\1x"
           "\x94\x86\x94"
           "es.",
           "{'key': [1, 2.5, None, True, (3, 'x')]}"),
    SAMPLE("\x80\5]\x94(\x88\x89Ne.", "[True, False, None]"),
    /* integers */
    SAMPLE("(I-7\nI00\nL12L\nL-3\nI9223372036854775807\nl.",
           "[-7, False, 12, -3, 9223372036854775807]"),
    SAMPLE("(J\xfe\xff\xff\xffM\x34\x12K\xffl.", "[-2, 4660, 255]"),
    SAMPLE("(\x8a\0\x8a\1\xff\x8a\2\0\x80\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fl.",
           "[0, -1, -32768, 9223372036854775807]"),
    SAMPLE("(\x8a\x09\0\0\0\0\0\0\0\x80\0\x8a\x08\0\0\0\0\0\0\0\x80\x8a\x09\0\0\0\0\0\0\0\0\1l.",
           "[9223372036854775808u, -9223372036854775808, huge]"),
    SAMPLE("(\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff\x8a\x09\0\0\0\0\0\0\0\0\xffl.",
           "[-1, huge]"),
    SAMPLE("(I18446744073709551615\nI18446744073709551616\nI-9223372036854775809\nl.",
           "[18446744073709551615u, huge, huge]"),
    SAMPLE("\x8b\2\0\0\0\1\2.", "513"),
    /* floats */
    SAMPLE("(F-0.5\nF1e3\nFnan\nG\xbf\xe0\0\0\0\0\0\0l.", "[-0.5, 1000, nan, -0.5]"),
    /* texts */
    SAMPLE("(S'a\\n\\x41\\101\\'\\\\'\nS\"q\"\nS'\\q'\nl.", "['a\nAA'\\', 'q', '\\q']"),
    SAMPLE("(V\\u00e9\\U0001f600\xe9\\ud800\\x\nl.", "['\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9\xef\xbf"
                                                     "\xbd\\x']"),
    SAMPLE("(U\2okT\1\0\0\0zX\0\0\0\0\x8d\3\0\0\0\0\0\0\0abcl.", "['ok', 'z', '', 'abc']"),
    SAMPLE("(B\1\0\0\0\xff"
           "C\1\xff\x8e\1\0\0\0\0\0\0\0\xff\x96\1\0\0\0\0\0\0\0\xffl.",
           "[bytes, bytes, bytes, bytes]"),
    /* containers */
    SAMPLE("(])}(t(l(d\x8f(K\1K\2\x90(K\3\x91K\4\x85K\5K\6K\7\x87l.",
           "[[], (), {}, (), [], {}, <1, 2>, <3>, (4), (5, 6, 7)]"),
    SAMPLE("(Va\nI1\nVb\nI2\nd.", "{'a': 1, 'b': 2}"),
    SAMPLE("}Va\nK\1sVb\nK\2s(Vc\nK\3Vd\nK\4u.", "{'a': 1, 'b': 2, 'c': 3, 'd': 4}"),
    SAMPLE("](K\1K\2e(eK\3a.", "[1, 2, 3]"),
    /* the stack and the memo */
    SAMPLE("K\1K\2002K\3(K\4K\0051.", "3"),
    SAMPLE("K\1(0.", "1"),
    SAMPLE("]q\xff\x94r\xf0\xff\xff\xffp77\n0(h\xffj\xf0\xff\xff\xffg77\nh\1l.",
           "[[], [], [], []]"),
    /* a dict with a key twice has both; who reads it takes the last */
    SAMPLE("}(Va\nK\1Va\nK\2u.", "{'a': 1, 'a': 2}"),
};

static void reads_what_python_writes(void **state)
{
    (void)state;
    for (fixture_chunk = 0; fixture_chunk < 2; fixture_chunk++)
        for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
            assert_reads(&samples[i]);
    assert_no_finding_but(&quality, TA_Q_TEXT_ENCODING);
}

static void shares_objects(void **state)
{
    (void)state;
    struct ta_objects *o = read_bytes("(]q\0h\0]l.", 9);
    assert_non_null(o);
    const ta_object root = ta_objects_root(o);
    assert_true(ta_object_item(o, root, 0) == ta_object_item(o, root, 1));
    assert_true(ta_object_item(o, root, 0) != ta_object_item(o, root, 2));
    assert_int_equal(ta_object_offset(o, ta_object_item(o, root, 2)), 6);
    assert_true(ta_object_item(o, root, 3) == TA_NO_OBJECT);
    ta_objects_free(o);
}

static void says_nothing_of_no_object(void **state)
{
    (void)state;
    struct ta_objects *o = read_bytes("K\1.", 3);
    int64_t number = 5;
    uint64_t size = 5;
    assert_int_equal(ta_object_kind(o, TA_NO_OBJECT), TA_OBJECT_NONE);
    assert_false(ta_object_signed(o, TA_NO_OBJECT, &number));
    assert_false(ta_object_unsigned(o, TA_NO_OBJECT, &size));
    assert_false(ta_object_is_true(o, TA_NO_OBJECT));
    assert_true(isnan(ta_object_double(o, TA_NO_OBJECT)));
    assert_null(ta_object_text(o, TA_NO_OBJECT).ptr);
    assert_int_equal(ta_object_size(o, TA_NO_OBJECT), 0);
    assert_true(ta_object_item(o, TA_NO_OBJECT, 0) == TA_NO_OBJECT);
    assert_int_equal(number, 5);
    assert_int_equal(size, 5);
    ta_objects_free(o);
}

static void converts_numbers(void **state)
{
    (void)state;
    struct ta_objects *o = read_bytes("(F3.0\nF-2.0\nF0.5\nF1e300\nI-1\n"
                                      "I18446744073709551615\nl.",
                                      58 - 6);
    assert_non_null(o);
    const ta_object root = ta_objects_root(o);
    int64_t number;
    uint64_t size;
    assert_true(ta_object_signed(o, ta_object_item(o, root, 0), &number) && number == 3);
    assert_true(ta_object_unsigned(o, ta_object_item(o, root, 0), &size) && size == 3);
    assert_true(ta_object_signed(o, ta_object_item(o, root, 1), &number) && number == -2);
    assert_false(ta_object_unsigned(o, ta_object_item(o, root, 1), &size));
    assert_false(ta_object_signed(o, ta_object_item(o, root, 2), &number));
    assert_false(ta_object_signed(o, ta_object_item(o, root, 3), &number));
    assert_false(ta_object_unsigned(o, ta_object_item(o, root, 4), &size));
    assert_true(ta_object_double(o, ta_object_item(o, root, 4)) == -1);
    assert_true(ta_object_double(o, ta_object_item(o, root, 5)) == 0x1p64);
    ta_objects_free(o);
}

static void reads_json(void **state)
{
    (void)state;
    static const struct sample json[] = {
        SAMPLE(" {\"a\": [1, -2.5, null, true, false, \"x\\u00e9\", {}, []]}",
               "{'a': [1, -2.5, None, True, False, 'x\xc3\xa9', {}, []]}"),
        SAMPLE("[]", "[]"),
    };
    for (size_t i = 0; i < sizeof json / sizeof *json; i++)
        assert_reads(&json[i]);
    assert_null(read_bytes("[1, }", 5));
    assert_non_null(strstr(ta_ctx_causes(&fixture.ctx), "byte offset 5"));
}

static void accounts_for_odd_bytes(void **state)
{
    (void)state;
    static const struct sample odd = SAMPLE("(X\3\0\0\0a\xff"
                                            "bU\2\xc3\x28l.more",
                                            "['a\xef\xbf\xbd"
                                            "b', '\xef\xbf\xbd(']");
    assert_reads(&odd);
    assert_finding(&quality, TA_Q_TEXT_ENCODING, 2, 1);
    assert_finding(&quality, TA_Q_TRAILING_TEXT, 1, 15);
}

/* ---- what is refused ----------------------------------------------------------------------- */

/* Refused with these words, in order. */
static void assert_refused(const void *bytes, size_t size, const char *words, uint64_t offset)
{
    struct ta_objects *objects = read_bytes(bytes, size);
    char place[64];
    snprintf(place, sizeof place, "byte offset %" PRIu64, offset);
    if (objects)
        fail_msg("read, expected \"%s\" at %s", words, place);
    const char *causes = ta_ctx_causes(&fixture.ctx);
    const char *at = strstr(causes, words);
    const char *there = at ? strstr(at, place) : NULL;
    if (!there || (there[strlen(place)] >= '0' && there[strlen(place)] <= '9'))
        fail_msg("\"%s\" lacks \"%s\" at %s", causes, words, place);
}

#define REFUSED(bytes, words, offset) assert_refused(bytes, sizeof(bytes) - 1, words, offset)

static void refuses_broken_pickles(void **state)
{
    (void)state;
    REFUSED("K\1", "no STOP", 2);
    REFUSED("\x80\6N.", "Unknown protocol: version=6", 0);
    REFUSED(".", "stack is too short: opcode STOP", 0);
    REFUSED("K\1\xffN.", "Not an opcode of a pickle: byte=0xff", 2);
    REFUSED("0.", "stack is too short: opcode POP", 0);
    REFUSED("2.", "stack is too short: opcode DUP", 0);
    REFUSED("1.", "no mark on the stack: opcode POP_MARK", 0);
    REFUSED("K\1t.", "no mark on the stack: opcode TUPLE", 2);
    REFUSED("K\1\x86.", "stack is too short: opcode TUPLE2", 2);
    REFUSED("K\1(\x85.", "stack is too short: opcode TUPLE1", 3);
    REFUSED("K\1a.", "stack is too short: opcode APPEND", 2);
    REFUSED("}K\1a.", "cannot hold them: opcode APPEND", 3);
    REFUSED("]K\1K\2s.", "cannot hold them: opcode SETITEM", 5);
    REFUSED("](K\1K\2u.", "cannot hold them: opcode SETITEMS", 6);
    REFUSED("](K\1\x90.", "cannot hold them: opcode ADDITEMS", 4);
    REFUSED("(K\1e.", "stack is too short: opcode APPENDS", 3);
    REFUSED("](K\1(a.", "stack is too short: opcode APPEND", 5);
    REFUSED("}(K\1u.", "A key has no value: opcode SETITEMS", 4);
    REFUSED("(K\1d.", "A key has no value: opcode DICT", 3);
    REFUSED("}]K\1s.", "cannot be a key: opcode SETITEM", 4);
    REFUSED("(}\x91.", "cannot be a key: opcode FROZENSET", 2);
    REFUSED("h\7.", "Nothing was remembered under 7: opcode BINGET", 0);
    REFUSED("g-1\n.", "Not an index: opcode GET", 0);
    REFUSED("q\0.", "stack is too short: opcode BINPUT", 0);
    REFUSED("Ix\n.", "Not an integer: opcode INT", 0);
    REFUSED("L\n.", "Not an integer: opcode LONG", 0);
    REFUSED("F\n.", "Not a number: opcode FLOAT", 0);
    REFUSED("F1x\n.", "Not a number: opcode FLOAT", 0);
    REFUSED("Sx\n.", "not in quotes: opcode STRING", 0);
    REFUSED("S'\n.", "not in quotes: opcode STRING", 0);
    REFUSED("V\\u12\n.", "broken escape: opcode UNICODE", 0);
    REFUSED("K\1Vx", "a line has no end: opcode UNICODE", 2);
}

static void compares_lengths_with_what_remains(void **state)
{
    (void)state;
    REFUSED("\x8d\0\0\0\0\0\0\0\x40segments.", "4611686018427387904 bytes should follow, 9 are", 0);
    REFUSED("T\xff\xff\xff\xffx.", "4294967295 bytes should follow, 2 are left", 0);
    REFUSED("\x8b\xff\xff\xff\xff.", "should follow, 1 are left: opcode LONG4", 0);
    REFUSED("\x8a\5\1.", "should follow, 2 are left: opcode LONG1", 0);
    REFUSED("\x96\xff\xff\xff\xff\xff\xff\xff\xff.", "should follow, 1 are left", 0);
    REFUSED("G\0\0", "8 bytes should follow, 2 are left: opcode BINFLOAT", 0);
    REFUSED("\x80\4\x95\xff\xff\xff\xff\xff\xff\xff\xffN.", "the frame at byte offset 2", 12);
}

static void bounds_objects(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } floods[] = {
        {"]", 1}, {"(", 1}, {"N", 1}, {"K\1", 2}, {")\x94", 2}, {"2", 1}, {"h\0", 2},
    };
    assert_int_equal(ta_limits_set(&fixture.ctx, "pickle-objects=1000"), TA_OK);
    for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
        struct text bytes = {0};
        text_put(&bytes, "Nq\0", 3);
        for (int n = 0; n < 2000; n++)
            text_put(&bytes, floods[i].bytes, floods[i].size);
        assert_null(read_bytes(bytes.at, bytes.n));
        if (!strstr(ta_ctx_causes(&fixture.ctx), "The limit \"pickle-objects\" is reached"))
            fail_msg("%zu: %s", i, ta_ctx_causes(&fixture.ctx));
        text_free(&bytes);
    }
}

/* ---- shape --------------------------------------------------------------------------------- */

/* n lists in one another. */
static void put_nested(struct text *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_put(bytes, "]", 1);
    for (size_t i = 1; i < n; i++)
        text_put(bytes, "a", 1);
    text_put(bytes, ".", 1);
}

static void bounds_nesting(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        bool fits;
    } depths[] = {{1, true}, {199, true}, {200, true}, {201, false}, {1000000, false}};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        struct text bytes = {0};
        put_nested(&bytes, depths[i].n);
        struct ta_objects *objects = read_bytes(bytes.at, bytes.n);
        assert_int_equal(objects != NULL, depths[i].fits);
        if (!objects)
            assert_non_null(strstr(ta_ctx_causes(&fixture.ctx), "pickle-depth"));
        ta_objects_free(objects);
        text_free(&bytes);
    }
}

/* A list of 150 levels is fine, and so is one of 100 around it; both together are not, although
 * what is shared was looked at before. */
static void bounds_nesting_of_what_is_shared(void **state)
{
    (void)state;
    for (int levels = 49; levels < 52; levels++) {
        struct text bytes = {0};
        text_put(&bytes, "(", 1);
        for (int i = 0; i < 150; i++)
            text_put(&bytes, "]", 1);
        for (int i = 1; i < 150; i++)
            text_put(&bytes, "a", 1);
        text_put(&bytes, "q\0", 2);
        for (int i = 0; i < levels - 1; i++)
            text_put(&bytes, "]", 1);
        text_put(&bytes, "h\0", 2);
        for (int i = 0; i < levels - 1; i++)
            text_put(&bytes, "a", 1);
        text_put(&bytes, "l.", 2);
        struct ta_objects *objects = read_bytes(bytes.at, bytes.n);
        assert_int_equal(objects != NULL, levels + 150 <= 200);
        ta_objects_free(objects);
        text_free(&bytes);
    }
}

static void refuses_cycles(void **state)
{
    (void)state;
    REFUSED("]q\0h\0a.", "An object contains itself", 0);
    REFUSED("}q\0Va\nh\0s.", "An object contains itself", 0);
    REFUSED("](]q\0(h\0tae.", "An object contains itself", 2);
    /* one that is not part of the result hurts nobody */
    static const struct sample harmless = SAMPLE("]q\0h\0a0K\1.", "1");
    assert_reads(&harmless);
}

/* Ten references to ten references, forty deep: 10^40 ways, but forty lists. */
static void visits_shared_objects_once(void **state)
{
    (void)state;
    struct text bytes = {0};
    text_put(&bytes, "]q\0K\1a", 6);
    for (unsigned char level = 0; level < 40; level++) {
        const unsigned char get[] = {'h', level}, put[] = {'q', (unsigned char)(level + 1)};
        text_put(&bytes, "](", 2);
        for (int i = 0; i < 10; i++)
            text_put(&bytes, get, sizeof get);
        text_put(&bytes, "e", 1);
        text_put(&bytes, put, sizeof put);
    }
    text_put(&bytes, ".", 1);
    struct ta_objects *objects = read_bytes(bytes.at, bytes.n);
    assert_non_null(objects);
    assert_int_equal(ta_objects_count(objects), OBJECT_CONSTANTS + 42);
    ta_objects_free(objects);
    text_free(&bytes);
}

/* ---- nothing runs -------------------------------------------------------------------------- */

static const struct {
    const char *bytes;
    size_t size;
    const char *words;
    uint64_t offset;
} hostile[] = {
#define HOSTILE(bytes, words, offset)                                                              \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, words, offset                                                    \
    }
    HOSTILE("cposix\nsystem\n(S'x'\ntR.",
            "\"posix.system\"; only plain data is read: opcode GLOBAL", 0),
    HOSTILE("\x80\4\x8c\2os\x8c\6system\x93\x8c\1x\x85R.",
            "\"os.system\"; only plain data is read:"
            " opcode STACK_GLOBAL",
            14),
    HOSTILE("\x80\4U\2osq\0U\6systemq\1U\5torch\x94U\4load\x94h\0h\1\x93X\1\0\0\0x\x85R.",
            "\"os.system\"", 37),
    HOSTILE("(S'x'\nios\nsystem\n.", "\"os.system\"; only plain data is read: opcode INST", 6),
    HOSTILE("K\1(R.", "call something; only plain data is read: opcode REDUCE", 3),
    HOSTILE("K\1o.", "opcode OBJ", 2),
    HOSTILE("K\1)\x81.", "opcode NEWOBJ", 3),
    HOSTILE("K\1)}\x92.", "opcode NEWOBJ_EX", 4),
    HOSTILE("K\1}b.", "opcode BUILD", 3),
    HOSTILE("\x82\1.", "opcode EXT1", 0),
    HOSTILE("\x83\1\0.", "opcode EXT2", 0),
    HOSTILE("\x84\1\0\0\0.", "opcode EXT4", 0),
    HOSTILE("Pid\n.", "opcode PERSID", 0),
    HOSTILE("K\1Q.", "opcode BINPERSID", 2),
    HOSTILE("\x97.", "opcode NEXT_BUFFER", 0),
    HOSTILE("K\1\x98.", "opcode READONLY_BUFFER", 2),
    /* also when what follows is broken, cut, or hidden behind a false frame */
    HOSTILE("cos\nsystem\n\xff\xff", "\"os.system\"", 0),
    HOSTILE("cos\nsyst", "\"os.syst\"", 0),
    HOSTILE("cos", "\"os.\"", 0),
    HOSTILE("c", "opcode GLOBAL", 0),
    HOSTILE("\x80\4\x95\xff\0\0\0\0\0\0\0cos\nsystem\n)R.", "\"os.system\"", 11),
    HOSTILE("\x93", "opcode STACK_GLOBAL", 0),
    HOSTILE("K\1K\2\x93", "opcode STACK_GLOBAL", 4),
    /* names are shown, not obeyed */
    HOSTILE("c\33[31mos\n\xe2\x80\xae\n", "\"?[31mos.???\"", 0),
#undef HOSTILE
};

static void refuses_all_that_names_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        assert_refused(hostile[i].bytes, hostile[i].size, hostile[i].words, hostile[i].offset);
}

/* Pickles that make Python create a file do not make us create it. */
static void runs_nothing(void **state)
{
    (void)state;
    static const char *const starts[] = {
        "cos\nsystem\n(S'touch %s'\ntR.",
        "cposix\nsystem\n(S'touch %s'\ntR.",
        "c__builtin__\nopen\n(S'%s'\nS'w'\ntR.",
        "(S'touch %s'\nios\nsystem\n.",
        "}(Vsegments\ncos\nsystem\n(S'touch %s'\ntRu.",
    };
    char folder[64], marker[128];
    fixture_folder(folder);
    snprintf(marker, sizeof marker, "%s/ran", folder);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const char *gap = strstr(starts[i], "%s");
        struct text bytes = {0};
        text_put(&bytes, starts[i], (size_t)(gap - starts[i]));
        text_put(&bytes, marker, strlen(marker));
        text_put(&bytes, gap + 2, strlen(gap + 2));
        assert_null(read_bytes(bytes.at, bytes.n));
        assert_non_null(strstr(ta_ctx_causes(&fixture.ctx), "only plain data is read"));
        text_free(&bytes);
        assert_int_equal(access(marker, F_OK), -1);
    }
    fixture_remove(folder);
}

/* Opcodes that name or make something lead to one function, which refuses. */
/* Of protocols 0 and 1, which begin like any text. */
static void knows_what_calls(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool calls;
    } texts[] = {
        {"cos\nsystem\nS'true'\n\205R.", true},
        {"cos\nsystem\np0\n(Vtrue\np1\ntp2\nRp3\n.", true}, /* as Python writes it */
        {"cposix\nsystem\nq\001(X\004\0\0\0trueq\002tq\003Rq\004.", false}, /* ends at the NUL */
        {"(S'true'\nios\nsystem\n.", true},
        {"(cos\nsystem\nS'true'\no.", true},
        {"cos\nsystem\n.", true},
        {"(dp0\nS'a'\ncos\nsystem\n(S'x'\ntRs.", true},
        {"(lp0\nI1\naF2.5\na.", false}, /* plain data */
        {"cos\nsystem\nR.", false},     /* no arguments */
        {"cos\nsystem", false},
        {"cat\ndog\nRabbit\n", false},
        {"certifi\nnumpy\npandas\n", false},
        {"count,name\n1,a\n", false},
        {"c++\nstd\n.", false},
        {"(info)\nNo such file\n", false},
        {"iteration\nsystem\n", false},
        {"", false},
        {"{\"a\": 1}", false},
        {"((((((((((((((((((((((((((((((((((((((((", false},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct ta_slice head = {texts[i].text, strlen(texts[i].text)};
        if (ta_pickle_calls(head) != texts[i].calls)
            fail_msg("%zu: %s", i, texts[i].text);
    }
    static const char binary[] = "cposix\nsystem\nq\001(X\004\0\0\0trueq\002tq\003Rq\004.";
    assert_true(ta_pickle_calls((struct ta_slice){binary, sizeof binary - 1}));
    /* Up to the byte that calls, no beginning is enough. */
    const size_t n = sizeof binary - 5;
    for (size_t size = 0; size <= n; size++)
        assert_false(ta_pickle_calls((struct ta_slice){binary, size}));
}

static void allows_no_other_opcodes(void **state)
{
    (void)state;
    static const char forbidden[] = "ci\x93o\x81\x92Rb\x82\x83\x84PQ\x97\x98";
    int allowed = 0;
    for (int byte = 0; byte < 256; byte++) {
        const struct opcode *opcode = &pickle_opcodes[byte];
        const bool bad = memchr(forbidden, byte, sizeof forbidden - 1);
        if (opcode->run)
            assert_int_equal(opcode->run == pickle_opcodes['c'].run, bad);
        else
            assert_false(bad);
        allowed += opcode->run && !bad;
    }
    assert_int_equal(allowed, 53);
}

/* ---- damage -------------------------------------------------------------------------------- */

/* No prefix of a pickle is a pickle, and none does harm. */
static void refuses_every_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (size_t size = 0; size + 1 < samples[i].size; size++)
            assert_null(read_bytes(samples[i].bytes, size));
}

/* Any byte may become any other: read or refused, nothing else. */
static void survives_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (size_t at = 0; at < samples[i].size; at++) {
            static const unsigned char values[] = {0, 1, '(', '.', 'a', 'c', 0x80, 0x8d, 0xff};
            char bytes[256];
            assert_true(samples[i].size <= sizeof bytes);
            memcpy(bytes, samples[i].bytes, samples[i].size);
            for (size_t v = 0; v < sizeof values; v++) {
                bytes[at] = (char)values[v];
                ta_objects_free(read_bytes(bytes, samples[i].size));
            }
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_what_python_writes),
        TEST(shares_objects),
        TEST(says_nothing_of_no_object),
        TEST(converts_numbers),
        TEST(reads_json),
        TEST(accounts_for_odd_bytes),
        TEST(refuses_broken_pickles),
        TEST(compares_lengths_with_what_remains),
        TEST(bounds_objects),
        TEST(bounds_nesting),
        TEST(bounds_nesting_of_what_is_shared),
        TEST(refuses_cycles),
        TEST(visits_shared_objects_once),
        TEST(refuses_all_that_names_code),
        TEST(runs_nothing),
        TEST(knows_what_calls),
        TEST(allows_no_other_opcodes),
        TEST(refuses_every_prefix),
        TEST(survives_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
