/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts to read: synthetic traces, parts of real ones, and damage. */
#include "inputs.h"

#include "traceanalyze/document.h"

#include <inttypes.h>

const char *const form_names[FORM_COUNT] = {"kineto", "dense",  "indent", "array",
                                            "lines",  "ragged", "mixed"};

enum { PARTS = 20 };

struct maker {
    struct text *out;
    struct rng rng;
    enum form form;
    unsigned regular; /* events of the usual kind, in percent */
    int64_t now;      /* ns */
    struct text parts[PARTS];
    size_t n_parts;
};

/* True `percent` times in a hundred. */
static bool chance(struct maker *m, unsigned percent)
{
    return rng_below(&m->rng, 100) < percent;
}

static const char *pick(struct maker *m, const char *const *from, size_t n)
{
    return from[rng_below(&m->rng, n)];
}

#define PICK(m, list) pick((m), (list), sizeof(list) / sizeof *(list))

/* ---- white space --------------------------------------------------------------------------- */

enum spot { BEFORE_EVENT, BEFORE_MEMBER, BEHIND_COLON, BEFORE_END, SPOTS };

static void space(struct maker *m, enum spot spot)
{
    static const char *const spaces[FORM_COUNT][SPOTS] = {
        [FORM_KINETO] = {"\n  ", "\n    ", " ", "\n  "},
        [FORM_DENSE] = {"", "", "", ""},
        [FORM_INDENT] = {"\r\n\t\t", "\r\n\t\t\t", " ", "\r\n\t\t"},
        [FORM_ARRAY] = {"\n", " ", " ", ""},
        [FORM_LINES] = {"", " ", " ", ""},
        [FORM_MIXED] = {" ", " ", " ", ""},
    };
    static const char *const any[] = {
        "",       "",
        " ",      "  ",
        "\n",     "\t",
        "\r\n",   " \n   ",
        "\n\n\n", "                                                                      "};
    /* Now and then otherwise, so that what was learned nearly fits. */
    const bool odd = m->form == FORM_RAGGED || (m->regular && chance(m, m->regular > 90 ? 1 : 4));
    const char *text = odd ? PICK(m, any) : spaces[m->form][spot];
    text_add(m->out, "%s", text);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_string(struct maker *m, bool key)
{
    static const char *const pieces[] = {"aten::mm",
                                         "void k<float, {256}>(int*, [3])",
                                         "a",
                                         "",
                                         " ",
                                         "\\\"",
                                         "\\\\",
                                         "\\/",
                                         "\\b\\f\\n\\r\\t",
                                         "\\u00e9",
                                         "\\u6f22",
                                         "\\ud83d\\ude00",
                                         "\\u0041",
                                         "\xc3\xa9",
                                         "\xe6\xbc\xa2",
                                         "\xf0\x9f\x98\x80",
                                         "{\\\"ph\\\": \\\"X\\\"}",
                                         "[[[",
                                         "}}}",
                                         ",",
                                         ":",
                                         "\x7f",
                                         "//",
                                         "/*",
                                         "\\\\\\\"",
                                         "0123456789abcdef",
                                         "null"};
    text_add(m->out, "\"");
    const size_t kind = rng_below(&m->rng, 20);
    const size_t n = kind == 0 ? 0 : kind < 12 ? 1 : kind < 19 ? 1 + rng_below(&m->rng, 6) : 20;
    for (size_t i = 0; i < n; i++)
        text_add(m->out, "%s", PICK(m, pieces));
    /* Lengths about those of registers and blocks. */
    if (chance(m, 8))
        text_add(m->out, "%0*d", (int)(1 + rng_below(&m->rng, 140)), 7);
    if (chance(m, 2) && !key) /* jansson holds it in values alone */
        text_add(m->out, "\\u0000");
    if (chance(m, 1))
        text_add(m->out, "%0*d", (int)(1000 + rng_below(&m->rng, 2500)), 7);
    text_add(m->out, "\"");
}

static void put_digits(struct maker *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_add(m->out, "%d", (int)rng_below(&m->rng, 10));
}

/* Any number of JSON. */
static void put_number(struct maker *m)
{
    static const char *const odd[] = {"0",
                                      "-0",
                                      "0.0",
                                      "-0.000",
                                      "0e5",
                                      "1E+3",
                                      "1e-3",
                                      "5e-4",
                                      "4.9999e-4",
                                      "-5e-4",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "-9223372036854775808",
                                      "9223372036854775.807",
                                      "9223372036854775.8075",
                                      "18446744073709551615",
                                      "340282366920938463463374607431768211456",
                                      "4611686018427387.904",
                                      "1e15",
                                      "1e19",
                                      "1e30",
                                      "0.0005",
                                      "0.00049999999999999999",
                                      "1700000000123456.789",
                                      "1.7000000001234567890e15",
                                      "1e-400",
                                      "12345678901234567890123456789e-20",
                                      "2.5",
                                      "-2.5",
                                      "0.0015",
                                      "-0.0015"};
    if (chance(m, 25)) {
        text_add(m->out, "%s", PICK(m, odd));
        return;
    }
    text_add(m->out, "%s%d", chance(m, 15) ? "-" : "", (int)(1 + rng_below(&m->rng, 9)));
    put_digits(m, rng_below(&m->rng, chance(m, 20) ? 25 : 12));
    if (chance(m, 60)) {
        text_add(m->out, ".");
        put_digits(m, 1 + rng_below(&m->rng, 12));
    }
    if (chance(m, 10))
        text_add(m->out, "%s%d", chance(m, 50) ? "e" : "E-", (int)rng_below(&m->rng, 12));
}

static void put_value(struct maker *m, int depth);

static void put_nested(struct maker *m, int depth)
{
    const bool object = chance(m, 50);
    const size_t n = rng_below(&m->rng, 4);
    text_add(m->out, object ? "{" : "[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            text_add(m->out, ",");
        space(m, BEHIND_COLON);
        if (object) {
            put_string(m, true);
            text_add(m->out, ":");
            space(m, BEHIND_COLON);
        }
        put_value(m, depth + 1);
    }
    text_add(m->out, object ? "}" : "]");
}

static void put_value(struct maker *m, int depth)
{
    static const char *const words[] = {"true", "false", "null", "[]", "{}", "[ ]", "{ }"};
    const size_t kind = rng_below(&m->rng, 10);
    if (kind < 3 && depth < 6)
        put_nested(m, depth);
    else if (kind < 6)
        put_number(m);
    else if (kind < 9)
        put_string(m, false);
    else
        text_add(m->out, "%s", PICK(m, words));
}

/* ---- members -------------------------------------------------------------------------------- */

static void put_key(struct maker *m, const char *key)
{
    text_add(m->out, "\"");
    const bool escape = chance(m, m->regular > 90 ? 1 : 4);
    /* Another key, but for one letter; a line needs its phase. */
    const bool other = chance(m, 1) && strcmp(key, "ph") != 0;
    const char *const changed = other ? key + rng_below(&m->rng, strlen(key) + 1) : NULL;
    for (; *key; key++) {
        if (key == changed && *key >= 'a')
            text_add(m->out, "%c", 'a' + (*key & 15));
        else if (*key == '\t')
            text_add(m->out, "\\t");
        else if (escape && (unsigned char)*key < 0x80 && chance(m, 50))
            text_add(m->out, "\\u%04x", (unsigned)*key);
        else
            text_add(m->out, "%c", *key);
    }
    text_add(m->out, "\":");
    if (m->form == FORM_RAGGED && chance(m, 20)) {
        m->out->n--;
        space(m, BEHIND_COLON);
        text_add(m->out, ":");
    }
    space(m, BEHIND_COLON);
}

/* What follows goes into the next part of the event, which are shuffled at its end. */
static void begin_part(struct maker *m, const char *key)
{
    assert_true(m->n_parts < PARTS);
    m->parts[m->n_parts].n = 0;
    m->out = &m->parts[m->n_parts++];
    put_key(m, key);
}

static void put_text_member(struct maker *m, const char *key, const char *text)
{
    begin_part(m, key);
    text_add(m->out, "\"%s\"", text);
}

static void put_id(struct maker *m, const char *key)
{
    static const char *const ids[] = {"0",
                                      "7",
                                      "4711",
                                      "\"Spans\"",
                                      "\"4711\"",
                                      "-1",
                                      "1.50",
                                      "\"stream \\u0037\"",
                                      "281474976710656"};
    static const char *const odd[] = {
        "null", "{\"a\": [1]}", "true", "\"\"", "1e2", "[]", "99999999999999999999999", "\"null\""};
    begin_part(m, key);
    text_add(m->out, "%s", chance(m, 96) ? PICK(m, ids) : PICK(m, odd));
}

static void put_time(struct maker *m, const char *key, int64_t ns)
{
    begin_part(m, key);
    if (!chance(m, m->regular > 90 ? 99 : 93)) {
        static const char *const odd[] = {"null", "\"12.5\"", "\"-7\"", "\"soon\"", "true",
                                          "\"\"", "\"1e3\"",  "[1]",    "{}"};
        if (chance(m, 50))
            put_number(m);
        else
            text_add(m->out, "%s", PICK(m, odd));
        return;
    }
    text_add(m->out, "%s%" PRId64, ns < 0 ? "-" : "", (ns < 0 ? -ns : ns) / 1000);
    const size_t decimals = rng_below(&m->rng, 13);
    if (decimals) {
        text_add(m->out, ".%03d", (int)((ns < 0 ? -ns : ns) % 1000));
        put_digits(m, decimals > 3 ? decimals - 3 : 0);
    }
}

static void put_wanted_value(struct maker *m)
{
    static const char *const values[] = {"0",
                                         "1",
                                         "17",
                                         "4711",
                                         "-1",
                                         "null",
                                         "true",
                                         "false",
                                         "\"12\"",
                                         "\"-3\"",
                                         "\"\"",
                                         "\"-\"",
                                         "1.0",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "\"9223372036854775808\"",
                                         "[[2, 3], []]",
                                         "[ 1 , 2 ]",
                                         "{\"device\": 5}",
                                         "\"[1]\"",
                                         "12e1",
                                         "\"0012\""};
    if (chance(m, 70))
        text_add(m->out, "%s", PICK(m, values));
    else
        put_value(m, 2);
}

static void put_args(struct maker *m)
{
    static const char *const unwanted[] = {"cbid",        "ts",       "ph",           "args",
                                           "traceEvents", "Sequence", "correlation ", "Correlation",
                                           "devic",       "\xc3\xa9"};
    static const char *const whole[] = {"null", "\"text\"", "[1, {\"device\": 3}]",
                                        "{}",   "{ }",      "3"};
    begin_part(m, "args");
    if (chance(m, 6)) {
        text_add(m->out, "%s", PICK(m, whole));
        return;
    }
    text_add(m->out, "{");
    const size_t n = rng_below(&m->rng, 7), from = rng_below(&m->rng, ORACLE_KEYS);
    for (size_t i = 0; i < n; i++) {
        /* In a row, so that few come twice. */
        const char *key =
            chance(m, 70) ? oracle_keys[(from + i) % ORACLE_KEYS].ptr : PICK(m, unwanted);
        if (i)
            text_add(m->out, ",");
        space(m, BEFORE_MEMBER);
        put_key(m, key);
        put_wanted_value(m);
    }
    if (n && chance(m, 2)) {
        text_add(m->out, ", \"device\": 1, \"device\": ");
        put_wanted_value(m);
    }
    space(m, BEFORE_END);
    text_add(m->out, "}");
}

/* ---- events --------------------------------------------------------------------------------- */

static void put_counter_args(struct maker *m)
{
    const bool last = chance(m, 50);
    begin_part(m, "args");
    text_add(m->out, "{%s\"bytes\": ", last ? "\"none\": null, " : "");
    put_number(m);
    text_add(m->out, ", \"a \\\"series\\\"\": ");
    put_number(m);
    text_add(m->out, last ? "}" : ", \"none\": \"5\"}");
}

static void put_name_event(struct maker *m)
{
    static const char *const kinds[] = {"process_name", "thread_name", "process_labels"};
    put_text_member(m, "name", PICK(m, kinds));
    begin_part(m, "args");
    text_add(m->out, "{\"name\": ");
    put_string(m, false);
    text_add(m->out, "}");
}

/* What phase an event has; "" when it has none, or something else in its place. */
static const char *put_phase(struct maker *m)
{
    static const char *const known[] = {"X", "X", "X", "B", "E", "i", "I", "C", "s", "t",
                                        "f", "b", "n", "e", "M", "N", "O", "D", "P", "v",
                                        "V", "R", "c", "(", ")", ",", "S", "T", "p", "F"};
    static const char *const odd[] = {"\"Q\"", "\"XX\"",      "\"\"", "1",
                                      "null",  "\"\\u0058\"", "[]",   "\"\\n\""};
    if (chance(m, 4)) {
        /* A line without a phase would be a document. */
        if (m->form == FORM_LINES || chance(m, 80)) {
            begin_part(m, "ph");
            text_add(m->out, "%s", PICK(m, odd));
        }
        return "";
    }
    const char *phase = chance(m, m->regular) ? "X" : PICK(m, known);
    put_text_member(m, "ph", phase);
    return phase;
}

static void put_names(struct maker *m)
{
    static const char *const categories[] = {"cpu_op",     "cuda_runtime",    "kernel",
                                             "gpu_memcpy", "user_annotation", "ac2g",
                                             "",           "cat\\u0041"};
    if (chance(m, 97)) {
        begin_part(m, "name");
        if (chance(m, 97))
            put_string(m, false);
        else
            put_value(m, 0);
    }
    if (chance(m, 90))
        put_text_member(m, "cat", PICK(m, categories));
    else if (chance(m, 30))
        put_id(m, "cat");
}

/* Members that nobody wants, and such as come again. */
static void put_more(struct maker *m)
{
    static const char *const extra[] = {"bp", "s", "sf", "cname", "traceevents", "tts", "pi", ""};
    static const char *const again[] = {"pid", "tid", "dur", "ts", "id"};
    for (size_t i = rng_below(&m->rng, 3); i > 0; i--) {
        begin_part(m, PICK(m, extra));
        put_value(m, 0);
    }
    if (chance(m, 2)) {
        const char *key = PICK(m, again);
        if (*key == 't' && key[1] == 's')
            put_time(m, key, m->now);
        else
            put_id(m, key);
    }
    if (chance(m, 1))
        put_args(m);
}

static void join_parts(struct maker *m, struct text *out, bool shuffle)
{
    for (size_t i = m->n_parts; shuffle && i > 1; i--) {
        const size_t j = rng_below(&m->rng, i);
        const struct text swap = m->parts[i - 1];
        m->parts[i - 1] = m->parts[j];
        m->parts[j] = swap;
    }
    m->out = out;
    text_add(out, "{");
    for (size_t i = 0; i < m->n_parts; i++) {
        if (i)
            text_add(out, ",");
        space(m, BEFORE_MEMBER);
        text_put(out, m->parts[i].at, m->parts[i].n);
    }
    space(m, BEFORE_END);
    text_add(out, "}");
}

static void put_event(struct maker *m)
{
    struct text *const out = m->out;
    m->n_parts = 0;
    m->now += (int64_t)rng_below(&m->rng, 3000) - 300;
    const char *phase = put_phase(m);
    if (*phase == 'M' && chance(m, 70))
        put_name_event(m);
    else
        put_names(m);
    put_id(m, "pid");
    put_id(m, "tid");
    if (chance(m, 97))
        put_time(m, "ts", m->now);
    if (*phase == 'X' ? chance(m, 96) : chance(m, 10))
        put_time(m, "dur", chance(m, 95) ? (int64_t)rng_below(&m->rng, 90000) : -5);
    if (*phase && strchr("stfbneNODSTpF", *phase))
        put_id(m, "id");
    if (*phase == 'C')
        put_counter_args(m);
    else if (*phase != 'M' && chance(m, 80))
        put_args(m);
    if (!chance(m, m->regular))
        put_more(m);
    join_parts(m, out, m->form == FORM_MIXED || !chance(m, m->regular));
}

static void put_element(struct maker *m)
{
    static const char *const others[] = {"{}",  "null", "3",     "\"{\"", "[]", "[{\"ph\": \"X\"}]",
                                         "{ }", "true", "-1.5e3"};
    if (m->form == FORM_LINES || chance(m, 97))
        put_event(m);
    else
        text_add(m->out, "%s", PICK(m, others));
}

void make_synthetic(struct text *out, uint64_t seed, enum form form, size_t n)
{
    static const unsigned regular[] = {0, 97, 60};
    struct maker m = {.out = out,
                      .rng = {seed * 2654435761u + form + 1},
                      .form = form,
                      .regular = form == FORM_MIXED ? 97 : regular[seed % 3],
                      .now = seed % 5 ? INT64_C(1700000000123456789) : 0};
    const bool bare = form == FORM_ARRAY, lines = form == FORM_LINES;
    if (!bare && !lines)
        text_add(out,
                 "{ \"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"A "
                 "\\u0042\"}, {\"name\": \"\"}, 3], \"baseTimeNanoseconds\": %d%s,\n"
                 "\"traceEvents\":",
                 17, seed % 2 ? ", \"distributedInfo\": {\"rank\": \"3\", \"world_size\": 8}" : "");
    text_add(out, lines ? "" : "[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            text_add(out, lines ? "\n" : ",");
        space(&m, BEFORE_EVENT);
        put_element(&m);
    }
    space(&m, BEFORE_EVENT);
    text_add(out, lines ? "\n" : "]");
    if (!bare && !lines)
        text_add(out, ", \"traceName\": \"/data/{[\\\"\", \"displayTimeUnit\": \"ms\" }\n");
    for (size_t i = 0; i < PARTS; i++)
        free(m.parts[i].at);
}

/* ---- parts of real traces -------------------------------------------------------------------- */

/* The event behind a run of about `size` bytes that starts with event `from`. */
static size_t run_end(const struct slow_reading *slow, size_t from, size_t size)
{
    size_t end = from;
    const uint64_t start = slow->events.at[from].offset;
    while (end < slow->events.n && slow->events.at[end].end - start <= size)
        end++;
    return end > from ? end : from + 1;
}

void make_cutout(struct text *out, const char *text, size_t size, const struct slow_reading *slow,
                 size_t run)
{
    const size_t n = slow->events.n;
    const struct slow_event *const e = slow->events.at;
    if (n < 2)
        return;
    const uint64_t tail = size - e[n - 1].end;
    if (e[0].offset + tail > run)
        return;
    text_put(out, text, e[0].offset);
    size_t done = 0;
    for (size_t part = 0; part < 3; part++) {
        size_t from = n * part / 2, end;
        from = part == 2 && n > 8 ? n - 8 : from < n ? from : n - 1;
        from = from < done ? done : from;
        if (from >= n)
            break;
        end = run_end(slow, from, run);
        /* What stood between the first two events stands between the runs. */
        if (done)
            text_put(out, text + e[0].end, e[1].offset - e[0].end);
        text_put(out, text + e[from].offset, e[end - 1].end - e[from].offset);
        done = end;
    }
    text_put(out, text + e[n - 1].end, tail);
}

/* ---- damage --------------------------------------------------------------------------------- */

static void cut_out(struct text *text, size_t at, size_t n)
{
    n = n < text->n - at ? n : text->n - at;
    memmove(text->at + at, text->at + at + n, text->n - at - n);
    text->n -= n;
    text->at[text->n] = '\0';
}

static void put_in(struct text *text, size_t at, const char *bytes, size_t n)
{
    char *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n); /* it may lie in the text */
    text_put(text, copy, n);
    memmove(text->at + at + n, text->at + at, text->n - n - at);
    memcpy(text->at + at, copy, n);
    free(copy);
}

/* The place of some byte of a set at or behind `at`, or `at`. */
static size_t find_any(const struct text *text, size_t at, const char *set)
{
    for (size_t i = at; i < text->n; i++)
        if (text->at[i] && strchr(set, text->at[i]))
            return i;
    return at;
}

/* In half of the cases near the start of a structure, where damage does most. */
static size_t choose_place(const struct text *text, struct rng *rng)
{
    const size_t at = rng_below(rng, text->n);
    return rng_below(rng, 2) ? at : find_any(text, at, "{}[]\",:");
}

static void insert_piece(struct text *text, struct rng *rng, size_t at)
{
    static const char *const pieces[] = {"\"",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         ":",
                                         "\\",
                                         "/",
                                         "//",
                                         "/* c */",
                                         "NaN",
                                         "-",
                                         ".",
                                         "e",
                                         "0",
                                         "\n",
                                         " ",
                                         "\xff",
                                         "\xc3",
                                         "\xe2\x82",
                                         "\xef\xbb\xbf",
                                         "\\u",
                                         "\\ud800",
                                         "\\q",
                                         "null",
                                         "{\"ph\": \"X\", \"ts\": 1, \"dur\": 2}",
                                         "{\"traceEvents\": [",
                                         "]}",
                                         "\"ph\":",
                                         "{}",
                                         ",,"};
    const char *piece = pieces[rng_below(rng, sizeof pieces / sizeof *pieces)];
    put_in(text, at, piece, strlen(piece));
}

/* A bit of a byte, all of it, or to zero. */
static void flip(struct text *text, struct rng *rng, size_t at)
{
    const size_t kind = rng_below(rng, 3);
    const char bit = (char)(1 << rng_below(rng, 7));
    text->at[at] = (char)(kind == 0   ? text->at[at] ^ bit
                          : kind == 1 ? (char)rng_below(rng, 256)
                                      : 0);
}

void mutate(struct text *text, struct rng *rng)
{
    static const char *const marks[] = {",", "\"", "{}[]"};
    if (text->n == 0)
        return;
    const size_t at = choose_place(text, rng), kind = rng_below(rng, 12);
    const size_t span = 1 + rng_below(rng, rng_below(rng, 2) ? 4 : 600);
    const size_t length = span < text->n - at ? span : text->n - at;
    switch (kind) {
    case 0:
        flip(text, rng, at);
        break;
    case 1:
        cut_out(text, at, length);
        break;
    case 2:
        put_in(text, at, text->at + at, length);
        break;
    case 3:
        put_in(text, rng_below(rng, text->n), text->at + at, length);
        break;
    case 4: /* the end */
        cut_out(text, at, text->n);
        break;
    case 5: /* inside a character, with or without what follows */
        cut_out(text, find_any(text, at, "\xc3\xe6\xf0") + 1, rng_below(rng, 2) ? text->n : 1);
        break;
    case 6:
    case 7:
    case 8:
        cut_out(text, find_any(text, at, marks[kind - 6]), 1);
        break;
    case 9: /* a digit, which may leave all valid */
        text->at[find_any(text, at, "0123456789")] = (char)('0' + rng_below(rng, 10));
        break;
    default:
        insert_piece(text, rng, at);
    }
}
