/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From operands to files: folders, links, loops, globs, what is left out, and the order. */
#include "discover/discover.h"

#include "trace_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <unistd.h>

static struct ta_shared shared;
static struct ta_ctx ctx;
static char root[64];

/* ---- making files ----------------------------------------------------------------------- */

static const char *path_of(const char *name)
{
    static char paths[64][1024];
    static size_t next;
    char *path = paths[next++ % 64];
    snprintf(path, 1024, "%s/%s", root, name);
    return path;
}

static void make_file(const char *name)
{
    fixture_write(path_of(name), name, strlen(name));
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(path_of(name), 0700), 0);
}

static void make_link(const char *target, const char *name)
{
    assert_int_equal(symlink(target, path_of(name)), 0);
}

static int set_up(void **state)
{
    (void)state;
    fixture_folder(root);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_remove(root);
    return 0;
}

/* ---- discovering ------------------------------------------------------------------------- */

struct found {
    struct ta_sources sources;
    struct ta_quality quality;
    enum ta_status status;
};

static void discover(struct found *found, const char *const *inputs, size_t n)
{
    *found = (struct found){.status = TA_OK};
    ta_quality_init(&found->quality);
    found->sources.quality = &found->quality;
    found->status = ta_discover(&ctx, inputs, n, &found->sources);
}

#define DISCOVER(found, ...)                                                                       \
    discover((found), (const char *const[]){__VA_ARGS__},                                          \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void forget(struct found *found)
{
    ta_sources_free(&found->sources);
    ta_quality_free(&found->quality);
}

/* The shown names, joined by "|". */
static void assert_shown(const struct found *found, const char *expected)
{
    struct text names = {0};
    text_add(&names, "%s", "");
    for (size_t i = 0; i < found->sources.list.n; i++)
        text_add(&names, "%s%s", i ? "|" : "", found->sources.list.at[i].shown);
    assert_int_equal(found->status, TA_OK);
    assert_string_equal(names.at, expected);
    text_free(&names);
}

static void assert_skipped(const struct found *found, uint64_t count, const char *text)
{
    assert_finding(&found->quality, TA_Q_SKIPPED_FILE, count, TA_NO_OFFSET);
    const char *said = found->quality.slots[TA_Q_SKIPPED_FILE].text;
    if (count && (!said || !strstr(said, text)))
        fail_msg("\"%s\" does not say \"%s\"", said ? said : "", text);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void folders_are_walked_in_byte_order(void **state)
{
    (void)state;
    struct found found;
    make_folder("a");
    make_folder("a/empty");
    make_folder("B");
    make_file("a/rank10.json");
    make_file("a/rank2.json");
    make_file("a-file.txt");
    make_file("B/z.json.gz");
    make_file("\xc3\xa9.json");
    make_file("0.json");
    DISCOVER(&found, root);
    assert_shown(&found, "0.json|B/z.json.gz|a-file.txt|a/rank10.json|a/rank2.json|\u00e9.json");
    assert_no_finding(&found.quality);
    for (size_t i = 0; i < found.sources.list.n; i++) {
        const struct ta_source *source = &found.sources.list.at[i];
        struct stat st;
        assert_int_equal(stat(source->path, &st), 0);
        assert_int_equal(source->inode, st.st_ino);
        assert_int_equal(source->size, st.st_size);
        assert_null(source->refusal);
        assert_int_equal(source->expected, strcmp(source->shown, "a-file.txt") != 0);
    }
    forget(&found);
}

static void slashes_at_the_end_change_nothing(void **state)
{
    (void)state;
    struct found found;
    char operand[128];
    make_folder("a");
    make_file("a/x.json");
    snprintf(operand, sizeof operand, "%s/a///", root);
    DISCOVER(&found, operand);
    assert_shown(&found, "x.json");
    assert_string_equal(found.sources.list.at[0].path, path_of("a/x.json"));
    forget(&found);
}

static void hidden_files_and_folders_are_left_out(void **state)
{
    (void)state;
    struct found found;
    make_folder(".git");
    make_file(".git/x.json");
    make_file(".hidden.json");
    make_file("x.json");
    DISCOVER(&found, root);
    assert_shown(&found, "x.json");
    assert_skipped(&found, 1, ".hidden.json\" is hidden");
    forget(&found);
    DISCOVER(&found, path_of(".hidden.json")); /* but not when named */
    assert_shown(&found, ".hidden.json");
    forget(&found);
}

static void links(void **state)
{
    (void)state;
    struct found found;
    make_folder("real");
    make_file("real/x.json");
    make_file("y.json");
    make_link("y.json", "z.json");     /* another name of a file */
    make_link("real", "folder.json");  /* a folder, whatever its name */
    make_link("nowhere", "gone.json"); /* looks like a trace: said aloud */
    make_link("nowhere", "gone.txt");
    DISCOVER(&found, root);
    assert_shown(&found, "gone.json|real/x.json|y.json");
    assert_string_equal(found.sources.list.at[0].refusal, "a link that leads nowhere");
    assert_true(found.sources.list.at[0].expected);
    assert_skipped(&found, 3, "");
    forget(&found);
    DISCOVER(&found, path_of("folder.json")); /* an operand may be a link */
    assert_shown(&found, "x.json");
    forget(&found);
}

static void loops_end(void **state)
{
    (void)state;
    struct found found;
    make_folder("a");
    make_file("a/x.json");
    make_link("..", "a/up");
    make_link("self", "self");
    DISCOVER(&found, root);
    assert_shown(&found, "a/x.json");
    assert_skipped(&found, 2, "");
    forget(&found);
}

static void what_is_no_file(void **state)
{
    (void)state;
    struct found found;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    assert_int_equal(mkfifo(path_of("pipe.json"), 0600), 0);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", root);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    make_file("x.json");
    DISCOVER(&found, root);
    assert_shown(&found, "pipe.json|x.json");
    assert_string_equal(found.sources.list.at[0].refusal, "a named pipe");
    assert_null(found.sources.list.at[1].refusal);
    assert_skipped(&found, 2, "");
    forget(&found);
    DISCOVER(&found, path_of("pipe"));
    assert_int_equal(found.status, TA_OK);
    assert_string_equal(found.sources.list.at[0].refusal, "a named pipe");
    forget(&found);
    DISCOVER(&found, "/dev/null");
    assert_string_equal(found.sources.list.at[0].refusal, "a device");
    forget(&found);
    close(fd);
}

static void what_is_not_there(void **state)
{
    (void)state;
    struct found found;
    make_folder("empty");
    const char *const inputs[] = {path_of("no.json"), path_of("empty"), path_of("*.none")};
    static const char *const said[] = {"no.json", "No file in the folder", "No file matches"};
    for (size_t i = 0; i < 3; i++) {
        DISCOVER(&found, inputs[i]);
        assert_int_equal(found.status, TA_ERR_INPUT);
        assert_non_null(strstr(ta_ctx_causes(&ctx), said[i]));
        forget(&found);
    }
}

static void globs(void **state)
{
    (void)state;
    struct found found;
    make_file("rank1.json");
    make_file("rank0.json");
    make_file("other.json");
    make_file("[x]*.json");
    make_folder("rank9");
    make_file("rank9/in.json");
    DISCOVER(&found, path_of("rank?.json"));
    assert_shown(&found, "rank0.json|rank1.json");
    forget(&found);
    DISCOVER(&found, path_of("[x]*.json")); /* a file of that very name */
    assert_shown(&found, "[x]*.json");
    forget(&found);
    DISCOVER(&found, path_of("rank*"));
    assert_shown(&found, "rank0.json|rank1.json|rank9/in.json");
    forget(&found);
    DISCOVER(&found, path_of("rank9*"));
    assert_shown(&found, "in.json"); /* one folder, as if it was named */
    forget(&found);
}

/* The same file through several operands and links counts once; the first name by bytes stays. */
static void each_file_counts_once(void **state)
{
    (void)state;
    struct found found;
    make_folder("a");
    make_file("a/x.json");
    assert_int_equal(link(path_of("a/x.json"), path_of("a/hard.json")), 0);
    DISCOVER(&found, path_of("a"));
    assert_shown(&found, "hard.json");
    assert_skipped(&found, 1, "\"x.json\" is another name of a file that was read");
    forget(&found);
    DISCOVER(&found, path_of("a"), path_of("a/x.json"), path_of("a"));
    assert_shown(&found, "a/hard.json");
    assert_skipped(&found, 4, "another name");
    forget(&found);
}

static void operands_in_any_order(void **state)
{
    (void)state;
    make_folder("one");
    make_folder("one/t");
    make_folder("two");
    make_folder("two/t");
    make_file("one/t/x.json");
    make_file("two/t/x.json");
    make_file("two/t/y.json");
    make_file("single.json");
    const char *const inputs[] = {path_of("one/t"), path_of("two/t"), path_of("single.json")};
    static const size_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < 6; i++) {
        struct found found;
        DISCOVER(&found, inputs[orders[i][0]], inputs[orders[i][1]], inputs[orders[i][2]]);
        /* Names that clash are told apart, in the order of their paths. */
        assert_shown(&found, "single.json|t/x.json|t/x.json (2)|t/y.json");
        assert_string_equal(found.sources.list.at[1].path, path_of("one/t/x.json"));
        assert_string_equal(found.sources.list.at[2].path, path_of("two/t/x.json"));
        forget(&found);
    }
}

/* One folder of several operands keeps its name, wildcard or not. */
static void a_glob_of_one_folder_among_others(void **state)
{
    (void)state;
    struct found found;
    make_folder("one");
    make_folder("two");
    make_file("one/x.json");
    make_file("two/x.json");
    DISCOVER(&found, path_of("on*"), path_of("two"));
    assert_shown(&found, "one/x.json|two/x.json");
    forget(&found);
}

static void standard_input(void **state)
{
    (void)state;
    struct found found;
    DISCOVER(&found, "-");
    assert_shown(&found, "stdin");
    assert_null(found.sources.list.at[0].path);
    assert_true(found.sources.list.at[0].expected);
    forget(&found);
}

static void deep_folders(void **state)
{
    (void)state;
    struct found found;
    char name[512] = "d";
    make_folder(name);
    for (int depth = 1; depth < 70; depth++) {
        strcat(name, "/d");
        make_folder(name);
    }
    strcat(name, "/x.json");
    make_file(name);
    make_file("d/x.json");
    DISCOVER(&found, path_of("d"));
    assert_shown(&found, "x.json");
    assert_skipped(&found, 1, "nested too deeply");
    forget(&found);
}

static void the_limit_of_files(void **state)
{
    (void)state;
    struct found found;
    /* Folders list in an order of their own; names decide all the same. */
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "%02d.json", i * 7 % 40);
        make_file(name);
    }
    make_file("0");
    assert_int_equal(link(path_of("0"), path_of("00")), 0); /* a second name takes no place */
    for (uint64_t limit = 2; limit < 20; limit += 6) {
        char first[16];
        shared.limits[TA_LIMIT_FILES] = limit;
        DISCOVER(&found, root);
        shared.limits[TA_LIMIT_FILES] = ta_limit_default(TA_LIMIT_FILES);
        assert_int_equal(found.sources.list.n, limit);
        assert_string_equal(found.sources.list.at[0].shown, "0");
        for (size_t i = 1; i < limit; i++)
            assert_int_equal(strtol(found.sources.list.at[i].shown, NULL, 10), i - 1);
        snprintf(first, sizeof first, "\"%02d.json\"", (int)limit - 1);
        assert_true(found.quality.slots[TA_Q_LIMIT].count >= 41 - limit);
        assert_non_null(strstr(found.quality.slots[TA_Q_LIMIT].text, first));
        forget(&found);
    }
}

/* ---- the same content ------------------------------------------------------------------------ */

static void write_gzip(const char *name, const char *content)
{
    size_t size;
    unsigned char *gz = fixture_gzip(content, strlen(content), &size);
    fixture_write(path_of(name), gz, size);
    free(gz);
}

static void same_content_is_found(void **state)
{
    (void)state;
    struct found found;
    static const char *const contents[] = {"content of equal length A",
                                           "content of equal length B"};
    fixture_write(path_of("0.json"), contents[0], 25);
    fixture_write(path_of("1.json"), contents[1], 25);
    write_gzip("2.json.gz", contents[1]); /* that of the second, not of the first */
    write_gzip("3.json.gz", contents[0]);
    fixture_write(path_of("4.json"), "shorter", 7);
    fixture_write(path_of("5.json"), contents[1], 25);
    fixture_write(path_of("6.json"), "", 0);
    fixture_write(path_of("7.json"), "", 0); /* nothing is not the same as nothing */
    DISCOVER(&found, root);
    size_t original[8];
    static const size_t expected[] = {0, 1, 1, 0, 4, 1, 6, 7};
    assert_int_equal(found.sources.list.n, 8);
    assert_int_equal(ta_find_duplicates(&ctx, &found.sources, NULL, original), TA_OK);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(original[i], expected[i]);
    forget(&found);
}

/* Files that begin alike and differ late are not the same. */
static void late_differences_count(void **state)
{
    (void)state;
    enum { SIZE = 300000 };
    struct found found;
    char *bytes = malloc(SIZE);
    assert_non_null(bytes);
    memset(bytes, 'x', SIZE);
    fixture_write(path_of("a.json"), bytes, SIZE);
    bytes[SIZE - 1] = 'y';
    fixture_write(path_of("b.json"), bytes, SIZE);
    fixture_write(path_of("c.json"), bytes, SIZE);
    DISCOVER(&found, root);
    size_t original[3];
    assert_int_equal(ta_find_duplicates(&ctx, &found.sources, NULL, original), TA_OK);
    assert_int_equal(original[0], 0);
    assert_int_equal(original[1], 1);
    assert_int_equal(original[2], 1);
    forget(&found);
    free(bytes);
}

/* With descriptors for `n` more files: folders that cannot be opened, also for root. */
static void discover_with_files(struct found *found, rlim_t n)
{
    struct rlimit before, few;
    const int next = dup(STDIN_FILENO);
    assert_true(next >= 0 && close(next) == 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = (struct rlimit){(rlim_t)next + n, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    DISCOVER(found, root);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Folders below one another until their path is longer than any that can be opened, with a file in
 * the last. */
static void long_path(bool make)
{
    enum { LEVELS = 17 };
    char name[251];
    int at[LEVELS + 1] = {open(root, O_RDONLY | O_DIRECTORY)};
    memset(name, 'd', 250);
    name[250] = '\0';
    for (int i = 0; i < LEVELS; i++) {
        assert_true(!make || mkdirat(at[i], name, 0777) == 0);
        at[i + 1] = openat(at[i], name, O_RDONLY | O_DIRECTORY);
        assert_true(at[i + 1] >= 0);
    }
    if (make)
        assert_int_equal(close(openat(at[LEVELS], "a.json", O_CREAT | O_WRONLY, 0666)), 0);
    else
        assert_int_equal(unlinkat(at[LEVELS], "a.json", 0), 0);
    for (int i = LEVELS; i >= 0; i--) {
        assert_int_equal(close(at[i]), 0);
        if (!make && i)
            assert_int_equal(unlinkat(at[i - 1], name, AT_REMOVEDIR), 0);
    }
}

/* By anybody: not for a long path, and not without descriptors. */
static void folders_that_cannot_be_read(void **state)
{
    (void)state;
    struct found found;
    make_file("b.json");
    long_path(true);
    DISCOVER(&found, root);
    assert_int_equal(found.status, TA_OK);
    assert_int_equal(found.sources.list.n, 2);
    assert_string_equal(found.sources.list.at[0].shown, "b.json");
    assert_string_equal(found.sources.list.at[1].refusal, "a file that cannot be looked at");
    assert_true(found.sources.list.at[1].expected);
    forget(&found);
    long_path(false);
    discover_with_files(&found, 0);
    assert_int_equal(found.status, TA_ERR_INPUT);
    assert_non_null(strstr(ta_ctx_causes(&ctx), "Cannot read the folder"));
    forget(&found);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(folders_are_walked_in_byte_order),
        TEST(slashes_at_the_end_change_nothing),
        TEST(hidden_files_and_folders_are_left_out),
        TEST(links),
        TEST(loops_end),
        TEST(what_is_no_file),
        TEST(what_is_not_there),
        TEST(globs),
        TEST(each_file_counts_once),
        TEST(operands_in_any_order),
        TEST(a_glob_of_one_folder_among_others),
        TEST(standard_input),
        TEST(deep_folders),
        TEST(folders_that_cannot_be_read),
        TEST(the_limit_of_files),
        TEST(same_content_is_found),
        TEST(late_differences_count),
    };
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
