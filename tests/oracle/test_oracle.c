/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every variant of the scanner, block size and number of threads gives the columns that the slow
 * reader gives: on traces of real programs, of the generator, of no program at all, and on
 * damaged ones, which all variants must recover from alike. */
#include "inputs.h"
#include "jobs.h"
#include "matrix.h"

#include <dirent.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct oracle oracle;
static bool all; /* --all: every combination */

/* ---- named cases ---------------------------------------------------------------------------- */

#define EVENTS(text) "{\"traceEvents\": [" text "]}"
#define SPAN(more) "{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 2" more "}"

#define HUNDRED                                                                                    \
    "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901" \
    "23"                                                                                           \
    "456789"

static const struct {
    const char *name, *text;
    bool valid;
} named[] = {
    {"empty text", "", false},
    {"one bracket", "{", false},
    {"no events", EVENTS(""), true},
    {"no array", "{\"a\": 1}", true},
    {"empty array", "[]", true},
    {"one event", EVENTS(SPAN("")), true},
    {"byte order mark", "\xef\xbb\xbf" EVENTS(SPAN("")), true},
    {"empty object among events", EVENTS(SPAN("") ", {}"), true},
    {"only dropped", EVENTS("{\"ph\": \"X\"}"), true},
    {"two arrays", "{\"traceEvents\": [" SPAN("") "], \"traceEvents\": [" SPAN("") "]}", true},
    {"array behind members", "{\"a\": [1], \"b\": \"[{\", \"traceEvents\": [" SPAN("") "]}", true},
    {"unterminated array", "[" SPAN("") ",\n" SPAN(""), false},
    {"comma before the bracket", "[" SPAN("") "," SPAN("") ",]", false},
    {"two documents", EVENTS(SPAN("")) "\n" EVENTS(SPAN("")), false},
    {"text behind", EVENTS(SPAN("")) "\nERROR: {lost} [1] connection\n", false},
    {"a number at a border", EVENTS(SPAN(", \"args\": {\"device\": 12345678901234567890}")), true},
    {"time with 25 digits",
     EVENTS("{\"ph\": \"X\", \"ts\": 1234567890123.456789012345, \"dur\": 0.9999999999999}"), true},
    {"halves",
     EVENTS("{\"ph\": \"X\", \"ts\": 0.0005, \"dur\": 2.0015},{\"ph\": \"X\", \"ts\": -0.0005, "
            "\"dur\": 0.00149999999999999999999}"),
     true},
    {"time at the end of the range",
     EVENTS("{\"ph\": \"i\", \"ts\": 4539628424389459.967}, {\"ph\": \"i\", \"ts\": "
            "4539628424389459.968}, {\"ph\": \"i\", \"ts\": -4539628424389459.968}"),
     true},
    {"key of an argument with escapes",
     EVENTS(SPAN(", \"args\": {\"\\u0064evice\": 1, \"bytes\\u0020\": 2, \"b\\u0079tes\": 3}")),
     true},
    {"key of a field with escapes", EVENTS("{\"p\\u0068\": \"X\", \"\\u0074s\": 1, \"dur\": 2}"),
     true},
    {"arguments again", EVENTS(SPAN(", \"args\": {\"device\": 1}, \"args\": {\"bytes\": 2}")),
     true},
    {"arguments, then null", EVENTS(SPAN(", \"args\": {\"device\": 1}, \"args\": null")), true},
    {"null, then arguments", EVENTS(SPAN(", \"args\": null, \"args\": {\"device\": 1}")), true},
    {"arguments are a list",
     EVENTS(SPAN(", \"args\": {\"device\": 1}") ", " SPAN(", \"args\": [1]") ", " SPAN(
         ", \"args\": {\"device\": 2}")),
     true},
    {"arguments in arguments",
     EVENTS(SPAN(", \"args\": {\"args\": {\"device\": 1}, \"device\": {\"device\": 3}}")), true},
    {"fields in arguments", EVENTS(SPAN(", \"args\": {\"ts\": 7, \"ph\": \"i\", \"dur\": 9}")),
     true},
    {"a trace in an event", EVENTS(SPAN(", \"traceEvents\": [" SPAN("") "]")), false},
    {"pairs of surrogates", EVENTS("{\"ph\": \"i\", \"ts\": 1, \"name\": \"\\ud83d\\ude00\"}"),
     true},
    {"resumed inside an event that is cut",
     "{\"traceEvents\": [" SPAN("") ", {\"name\": \"b\", \"args\": {\"ph\": \"X\"}, \"pid\": 0",
     false},
    {"a null that was a text",
     EVENTS(SPAN(", \"pid\": \"null\"") ", " SPAN(", \"pid\": null") ", " SPAN("")), true},
    {"nothing behind something",
     EVENTS(SPAN(", \"cat\": \"kernel\", \"tid\": 7, \"pid\": 8") ", " SPAN(
         "") ", {\"ph\": \"s\", \"ts\": 3, \"id\": 5}, "
             "{\"ph\": \"t\", \"ts\": 4}"),
     true},
    {"an id with escapes before arguments with escapes",
     EVENTS("{\"ph\": \"s\", \"ts\": 1, \"id\": \"a\\u0041b\", \"args\": {\"device\": "
            "\"xy\\u007az\"}}"),
     true},
    {"a phase behind the array", "{\"traceEvents\": [" SPAN("") "], \"ph\": 1}", true},
    {"a damaged line with its phase behind other members",
     SPAN("") "\n{\"a\": \"" HUNDRED "\", \"b\": \"" HUNDRED
              "\", \"ph\": \"X\", \"ts\": }\n" SPAN("") "\n",
     false},
    {"a first line damaged behind other members",
     "{\"a\": \"" HUNDRED "\", \"b\": \"" HUNDRED "\", \"ph\": \"X\", \"ts\": }\n" SPAN("") "\n",
     false},
    {"a damaged line with its phase behind much else",
     SPAN("") "\n{\"args\": {\"name\": \"" HUNDRED HUNDRED HUNDRED "\"}, \"a\": {}, \"ph\": "
              "\"X\", \"ts\": }\n" SPAN("") "\n",
     false},
    {"a comment without an end behind a value",
     "[" SPAN("") ", \"value\" /* [" SPAN("") ", " SPAN(""), false},
    {"half a pair", EVENTS("{\"ph\": \"i\", \"ts\": 1, \"name\": \"\\ud83d\\u0041\"}"), false},
    {"half a character", EVENTS("{\"ph\": \"i\", \"ts\": 1, \"name\": \"\xe6\xbc\"}"), false},
    {"name of a process with an escaped key",
     EVENTS("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"n\\u0061me\": "
            "\"p\"}}, {\"ph\": \"X\", \"pid\": 1, \"ts\": 1, \"dur\": 1}"),
     true},
    {"kind of a name with escapes",
     EVENTS("{\"ph\": \"M\", \"name\": \"process\\u005fname\", \"pid\": 1, \"args\": {\"name\": "
            "\"p\"}}, {\"ph\": \"X\", \"pid\": 1, \"ts\": 1, \"dur\": 1}"),
     true},
    {"name of a process twice",
     EVENTS("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"a\", "
            "\"name\": \"b\"}}, {\"ph\": \"X\", \"pid\": 1, \"ts\": 1, \"dur\": 1}"),
     true},
    {"key of the array with escapes", "{\"trace\\u0045vents\": [" SPAN("") "]}", true},
    {"keys of the rank with escapes",
     "{\"distributed\\u0049nfo\": {\"r\\u0061nk\": 3}, \"traceEvents\": [" SPAN("") "]}", true},
    {"device with a large number",
     "{\"deviceProperties\": [{\"name\": \"A\", \"totalGlobalMem\": 18446744073709551616}], "
     "\"traceEvents\": [" SPAN("") "]}",
     true},
    {"device with a key twice",
     "{\"deviceProperties\": [{\"name\": \"A\", \"name\": \"B\"}], \"traceEvents\": [" SPAN(
         "") "]}",
     true},
};

/* Values that are nearly right, behind events from which their surroundings were learned. */
static void check_values(void)
{
    static const char *const values[] = {"[[02, 3]]",   "[2 3]",    "[2,, 3]",
                                         "[2, 3,]",     "[,2]",     "[-, 1]",
                                         "[1.]",        "[-01]",    "[1e]",
                                         "[.5]",        "[2 , 3]",  "[[2], ]",
                                         "[[2]",        "[2]]",     "[00]",
                                         "[0, 10]",     "[2\n,3]",  "[1]2",
                                         "[[],[]]",     "[ ]",      "[\"a]\"]",
                                         "[\"\x01\"]",  "01",       "-",
                                         "1.",          "1.5.5",    "1-",
                                         "--1",         "+1",       "0x1",
                                         "1e+",         "12a",      "tru",
                                         "trueX",       "nullnull", "NaN",
                                         "-inf",        "\"a\"b",   "{}}",
                                         "{\"a\"}",     "{,}",      "\"\\q\"",
                                         "\"\\u12g4\"", "\"\xff\"", "\"\xed\xa0\x80\"",
                                         "'a'",         "1 2",      ""};
    static const char *const good[] = {"[[2, 3], []]", "17", "\"text\"", "null"};
    static const char event[] =
        "{\"ph\": \"X\", \"ts\": 1, \"dur\": 2, \"args\": {\"Input Dims\": ";
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct text text = {0};
        char name[64];
        text_add(&text, "{\"traceEvents\": [");
        for (size_t k = 0; k < 8; k++)
            text_add(&text, "%s%s, \"device\": 1}},\n", event, good[k % 4]);
        text_add(&text, "%s%s, \"device\": 1}},\n", event, values[i]);
        for (size_t k = 0; k < 8; k++)
            text_add(&text, "%s%s, \"device\": 1}}%s\n", event, good[k % 4], k < 7 ? "," : "]}");
        snprintf(name, sizeof name, "value %zu", i);
        oracle_check_text(&oracle, name, text.at, false);
        text_free(&text);
    }
}

static void named_cases(void **state)
{
    (void)state;
    check_values();
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        oracle_check_text(&oracle, named[i].name, named[i].text, named[i].valid);
    oracle_conclude(&oracle);
}

/* ---- traces of no program ------------------------------------------------------------------- */

static void check_synthetic(uint64_t seed, enum form form, size_t n, const struct effort *effort)
{
    struct text text = {0};
    char name[64];
    make_synthetic(&text, seed, form, n);
    snprintf(name, sizeof name, "synthetic %s %" PRIu64, form_names[form], seed);
    oracle_check(&oracle, name, text.at, text.n, effort);
    text_free(&text);
}

static void synthetic_traces(void **state)
{
    (void)state;
    const uint64_t seeds = all ? 200 : 10;
    for (uint64_t seed = 0; seed < seeds; seed++)
        for (int form = 0; form < FORM_COUNT; form++)
            check_synthetic(seed, (enum form)form, 40,
                            &(struct effort){blocks_all, .gzip = seed < 2, .valid = true});
    /* Long enough for what is learned to be judged, given up and taken up again. */
    for (uint64_t seed = 0; seed < (all ? 12 : 3); seed++)
        for (int form = 0; form < FORM_COUNT; form++)
            check_synthetic(seed, (enum form)form, 6000,
                            &(struct effort){blocks_large, .gzip = seed == 0, .valid = true});
    for (uint64_t seed = 0; seed < (all ? 12 : 2); seed++)
        check_synthetic(seed, FORM_MIXED, 1500,
                        &(struct effort){all ? blocks_all : blocks_some, .valid = true});
    oracle_conclude(&oracle);
}

/* ---- the generator's files ------------------------------------------------------------------ */

#ifdef TA_GENERATOR

static void generate(const char *folder, const char *layout, const char *packing, const char *more)
{
    extern char **environ;
    char generator[] = TA_GENERATOR, ranks[] = "--ranks=2", blocks[] = "--blocks=1",
         steps[] = "--steps=1", output[128], with_layout[64], with_packing[32], with_more[64];
    char *argv[] = {generator,   ranks,        blocks,    steps, output,
                    with_layout, with_packing, with_more, NULL};
    snprintf(output, sizeof output, "--output=%s", folder);
    snprintf(with_layout, sizeof with_layout, "--layout=%s", layout);
    snprintf(with_packing, sizeof with_packing, "%s", packing);
    snprintf(with_more, sizeof with_more, "%s", more);
    pid_t child;
    int status;
    posix_spawn_file_actions_t quiet;
    assert_int_equal(posix_spawn_file_actions_init(&quiet), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1, 0), 0);
    assert_int_equal(posix_spawn(&child, generator, &quiet, NULL, argv, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    posix_spawn_file_actions_destroy(&quiet);
}

static void check_generated(const char *layout, const char *packing)
{
    char folder[64], path[160], name[64];
    fixture_folder(folder);
    generate(folder, layout, packing, "--layers=4");
    snprintf(path, sizeof path, "%s/wan-t2v-rank0.pt.trace.json%s", folder,
             strcmp(packing, "--gzip") == 0 ? ".gz" : "");
    snprintf(name, sizeof name, "generated %s %s", layout, packing);
    assert_true(oracle_check_file(
        &oracle, name, path,
        &(struct effort){all ? blocks_all : blocks_large, .gzip = true, .valid = true}));
    fixture_remove(folder);
}

static void generated_traces(void **state)
{
    (void)state;
    static const char *const layouts[] = {"kineto", "indent2", "oneline"};
    for (size_t i = 0; i < 3; i++) {
        check_generated(layouts[i], "--gzip");
        check_generated(layouts[i], "--plain");
    }
    oracle_conclude(&oracle);
}

#else

static void generated_traces(void **state)
{
    (void)state;
    print_message("skipped: this build has no generator\n");
    exit(77);
}

#endif

/* ---- damage
 * -------------------------------------------------------------------------------------- */

static void check_damaged(const char *name, const struct text *right, size_t n)
{
    struct rng rng = {right->n * 77 + 5};
    for (size_t i = 0; i < n; i++) {
        struct text text = {0};
        char case_name[256];
        text_put(&text, right->at, right->n);
        for (size_t times = 1 + rng_below(&rng, 3); times > 0; times--)
            mutate(&text, &rng);
        snprintf(case_name, sizeof case_name, "%s, damaged %zu", name, i);
        oracle_check(&oracle, case_name, text.at, text.n,
                     &(struct effort){all ? blocks_all : blocks_some, .gzip = false});
        text_free(&text);
    }
}

static void damaged_traces(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++)
        for (int form = 0; form < FORM_COUNT; form++) {
            struct text text = {0};
            char name[64];
            make_synthetic(&text, 100 + seed, (enum form)form, 12);
            snprintf(name, sizeof name, "synthetic %s %" PRIu64, form_names[form], 100 + seed);
            check_damaged(name, &text, all ? 2000 : 60);
            text_free(&text);
        }
    for (int layout = 0; layout < 3; layout++) {
        struct text text = {0};
        char name[64];
        fixture_trace_text(&text, 9, 25, layout, 1);
        snprintf(name, sizeof name, "regular %d", layout);
        check_damaged(name, &text, all ? 4000 : 150);
        text_free(&text);
    }
    oracle_conclude(&oracle);
}

/* ---- what is larger than a block
 * ------------------------------------------------------------------ */

static void put_long(struct text *text, size_t n)
{
    char piece[1024];
    memset(piece, 'x', sizeof piece);
    for (; n > sizeof piece; n -= sizeof piece)
        text_put(text, piece, sizeof piece);
    text_put(text, piece, n);
}

/* A text with something long in its middle. */
static void check_long(const char *name, const char *head, size_t n, const char *tail, bool valid)
{
    struct text text = {0};
    char full[160];
    text_put(&text, head, strlen(head));
    put_long(&text, n);
    text_put(&text, tail, strlen(tail));
    snprintf(full, sizeof full, "%s of %zu bytes", name, n);
    oracle_check(&oracle, full, text.at, text.n,
                 &(struct effort){blocks_large, .gzip = true, .valid = valid});
    text_free(&text);
}

static void large_things(void **state)
{
    (void)state;
    static const size_t sizes[] = {60000, 300000, 524000, 1048400, 1048600, 1300000, 2500000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i];
        check_long("name", "{\"traceEvents\": [" SPAN("") ", {\"ph\": \"X\", \"name\": \"", n,
                   "\", \"ts\": 5, \"dur\": 1}, " SPAN("") "]}", true);
        check_long("member", "{\"distributedInfo\": {\"pad\": \"", n,
                   "\", \"rank\": 3}, \"traceEvents\": [" SPAN("") "]}", true);
        check_long("value among events", "{\"traceEvents\": [" SPAN("") ", \"", n,
                   "\", " SPAN("") "]}", n < 1048000);
        check_long("line", SPAN("") "\n{\"ph\": \"X\", \"args\": {\"name\": \"", n,
                   "\"}, \"ts\": 5, \"dur\": 1}\n" SPAN("") "\n", true);
        check_long("text between", "{\"traceEvents\": [" SPAN("") ", ", n, SPAN("") "]}", false);
        check_long("event behind damage",
                   "{\"traceEvents\": [" SPAN("") ", {\"a\" 1}, {\"name\": \"", n,
                   "\", \"ph\": \"X\", \"ts\": 5, \"dur\": 1}, " SPAN("") "]}", false);
        check_long("cut string", "{\"traceEvents\": [" SPAN("") ", {\"name\": \"", n, "", false);
    }
    check_long("line", SPAN("") "\n{\"ph\": \"X\", \"args\": {\"name\": \"", 4300000,
               "\"}, \"ts\": 5, \"dur\": 1}\n" SPAN("") "\n", true);
    check_long("event behind damage", "{\"traceEvents\": [" SPAN("") ", {\"a\" 1}, {\"name\": \"",
               4300000, "\", \"ph\": \"X\", \"ts\": 5, \"dur\": 1}, " SPAN("") "]}", false);
    oracle_conclude(&oracle);
}

/* ---- threads
 * -------------------------------------------------------------------------------------- */

static void put_file(const char *folder, const char *name, const struct text *text)
{
    char path[256];
    const bool pack = strstr(name, ".gz") != NULL;
    size_t size = text->n;
    unsigned char *gz = pack ? fixture_gzip(text->at, text->n, &size) : NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    fixture_write(path, pack ? (const void *)gz : text->at, size);
    free(gz);
}

/* Traces of all forms, a damaged one of each, and something that is no trace. */
static void fill_folder(const char *folder, size_t n_events)
{
    for (int form = 0; form < FORM_COUNT; form++) {
        struct text text = {0};
        struct rng rng = {(uint64_t)form + 3};
        char name[64];
        make_synthetic(&text, (uint64_t)form, (enum form)form, n_events);
        snprintf(name, sizeof name, "%s.json%s", form_names[form], form % 2 ? ".gz" : "");
        put_file(folder, name, &text);
        for (int i = 0; i < 5; i++)
            mutate(&text, &rng);
        snprintf(name, sizeof name, "%s-damaged.json%s", form_names[form], form % 2 ? "" : ".gz");
        put_file(folder, name, &text);
        text_free(&text);
    }
    struct text none = {0};
    text_add(&none, "{\"no\": \"trace\"}");
    put_file(folder, "none.json", &none);
    text_free(&none);
}

static void threads(void **state)
{
    (void)state;
    static const size_t blocks[] = {7, 255, 65537, 0};
    char folder[64];
    fixture_folder(folder);
    fill_folder(folder, 60);
    jobs_check(&oracle, folder, all ? blocks_all : blocks);
    fixture_remove(folder);
    /* Large enough to be worth sharing out. */
    fixture_folder(folder);
    fill_folder(folder, all ? 60000 : 6000);
#ifdef TA_GENERATOR
    generate(folder, "kineto", "--plain", all ? "--target-size=64M" : "--target-size=6M");
#endif
    jobs_check(&oracle, folder, blocks_none);
    fixture_remove(folder);
    oracle_conclude(&oracle);
}

/* ---- real traces
 * ------------------------------------------------------------------------------------ */

static bool is_trace(const char *name)
{
    const size_t n = strlen(name);
    return strncmp(name, "INDEX", 5) != 0 && ((n > 3 && strcmp(name + n - 3, ".gz") == 0) ||
                                              (n > 5 && strcmp(name + n - 5, ".json") == 0));
}

static void check_folder(const char *path);

static void check_real(const char *path, off_t size)
{
    const char *name = path + strlen(TA_SHARED_TRACES) + 1;
    const bool large = size > 60000;
    /* jansson takes ten times as long as all others together; --all has it read all the same. */
    const bool huge = !all && size > 1000000;
    assert_true(oracle_check_file(&oracle, name, path,
                                  &(struct effort){all     ? blocks_all
                                                   : large ? blocks_none
                                                           : blocks_some,
                                                   .valid = true, .large = huge}));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void check_folder(const char *path)
{
    struct dirent **entries;
    const int n = scandir(path, &entries, NULL, by_name);
    assert_true(n >= 0);
    for (int i = 0; i < n; i++) {
        char below[1024];
        struct stat st;
        snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(below, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                check_folder(below);
            else if (is_trace(entries[i]->d_name))
                check_real(below, st.st_size);
        }
        free(entries[i]);
    }
    free(entries);
}

static void real_traces(void **state)
{
    (void)state;
    check_folder(TA_SHARED_TRACES);
    assert_true(oracle.inputs > 0);
    oracle_conclude(&oracle);
}

/* ---- parts
 * -------------------------------------------------------------------------------------------- */

static int open_oracle(void **state)
{
    (void)state;
    oracle_open(&oracle, all);
    return 0;
}

static int close_oracle(void **state)
{
    (void)state;
    oracle_close(&oracle);
    return 0;
}

static bool is_there(const char *part)
{
    struct stat st;
    if (strcmp(part, "traces") != 0 || stat(TA_SHARED_TRACES, &st) == 0)
        return true;
    printf("skipped: there is no folder %s with real traces\n", TA_SHARED_TRACES);
    return false;
}

/* test_oracle [PART] [--all] */
int main(int argc, char **argv)
{
    static const struct {
        const char *part;
        struct CMUnitTest test;
    } parts[] = {
        {"named", cmocka_unit_test(named_cases)},
        {"synthetic", cmocka_unit_test(synthetic_traces)},
        {"generated", cmocka_unit_test(generated_traces)},
        {"damaged", cmocka_unit_test(damaged_traces)},
        {"large", cmocka_unit_test(large_things)},
        {"jobs", cmocka_unit_test(threads)},
        {"traces", cmocka_unit_test(real_traces)},
    };
    all = argc > 1 && strcmp(argv[argc - 1], "--all") == 0;
    const char *wanted = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    int failed = 0;
    bool ran = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct CMUnitTest tests[] = {parts[i].test};
        if (wanted && strcmp(wanted, parts[i].part) != 0)
            continue;
        if (!is_there(parts[i].part)) {
            if (wanted)
                return 77;
            continue;
        }
        failed += cmocka_run_group_tests(tests, open_oracle, close_oracle);
        ran = true;
    }
    return failed || !ran;
}
