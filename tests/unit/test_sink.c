/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products appear whole or not at all, and never harm what is not ours. */
#include "traceanalyze/output.h"

#include "base/context.h"
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SIGNATURE "made by a test"

/* A scratch folder per test, and a context. */
struct scratch {
    struct ta_shared shared;
    struct ta_ctx ctx;
    char root[64];
    char path[512];
};

static int set_up(void **state)
{
    struct scratch *s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    ta_shared_init(&s->shared);
    ta_ctx_init(&s->ctx, &s->shared);
    strcpy(s->root, "/tmp/ta-sink-XXXXXX");
    *state = s;
    return mkdtemp(s->root) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct scratch *s = *state;
    fixture_remove(s->root);
    ta_shared_end(&s->shared);
    free(s);
    return 0;
}

static const char *below(struct scratch *s, const char *name)
{
    snprintf(s->path, sizeof s->path, "%s/%s", s->root, name);
    return s->path;
}

static void make_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_content(const char *path, const char *text)
{
    char bytes[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    bytes[n] = '\0';
    assert_string_equal(bytes, text);
}

/* Entries of a folder, temporary files and all. */
static size_t count_entries(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static struct ta_sink *new_sink(struct scratch *s, enum ta_sink_kind kind, const char *name)
{
    struct ta_sink *sink = ta_sink_new(&s->ctx, kind, below(s, name));
    assert_non_null(sink);
    return sink;
}

static enum ta_status write_product(struct scratch *s, struct ta_sink *sink, const char *name,
                                    const char *text)
{
    struct ta_file *file = ta_sink_open(&s->ctx, sink, name, SIGNATURE);
    if (!file)
        return s->ctx.status;
    ta_puts(file, text);
    return ta_file_close(&s->ctx, file);
}

static void assert_said(const struct scratch *s, const char *text)
{
    if (!strstr(ta_ctx_causes(&s->ctx), text))
        fail_msg("\"%s\" does not say \"%s\"", ta_ctx_causes(&s->ctx), text);
}

static void products_appear_at_commit(void **state)
{
    struct scratch *s = *state;
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "a/b/out");
    assert_int_equal(access(below(s, "a"), F_OK), -1);
    assert_int_equal(write_product(s, sink, "report.json", "one"), TA_OK);
    assert_int_equal(write_product(s, sink, "tables/x.csv", "two"), TA_OK);
    assert_int_equal(access(below(s, "a/b/out/report.json"), F_OK), -1);
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_OK);
    ta_sink_free(sink);
    assert_content(below(s, "a/b/out/report.json"), "one");
    assert_content(below(s, "a/b/out/tables/x.csv"), "two");
    assert_int_equal(count_entries(below(s, "a/b/out")), 2);
    struct stat st;
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(below(s, "a/b/out/report.json"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0666 & ~mask);
}

static void without_commit_nothing_remains(void **state)
{
    struct scratch *s = *state;
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "new/out");
    assert_int_equal(write_product(s, sink, "tables/x.csv", "two"), TA_OK);
    struct ta_file *open = ta_sink_open(&s->ctx, sink, "report.html", SIGNATURE);
    assert_non_null(open);
    ta_puts(open, "half");
    ta_sink_free(sink);
    assert_int_equal(count_entries(s->root), 0);
}

static void an_unfinished_product_is_not_committed(void **state)
{
    struct scratch *s = *state;
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "out");
    assert_non_null(ta_sink_open(&s->ctx, sink, "report.html", SIGNATURE));
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_ERR_INTERNAL);
    ta_sink_free(sink);
    assert_int_equal(count_entries(s->root), 0);
}

static void a_stopped_run_commits_nothing(void **state)
{
    struct scratch *s = *state;
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "out");
    assert_int_equal(write_product(s, sink, "report.html", "x"), TA_OK);
    atomic_store(&s->shared.canceled, SIGINT);
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_ERR_CANCELED);
    ta_sink_free(sink);
    assert_int_equal(count_entries(s->root), 0);
}

static void only_files_of_ours_are_replaced(void **state)
{
    struct scratch *s = *state;
    char *long_text = malloc(20000);
    assert_non_null(long_text);
    memset(long_text, '-', 20000);
    strcpy(long_text + 19900, SIGNATURE " at the end");
    make_file(below(s, "ours"), "made by a test, earlier");
    make_file(below(s, "long"), long_text);
    make_file(below(s, "empty"), "");
    make_file(below(s, "theirs"), "precious");
    free(long_text);
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "");
    assert_int_equal(write_product(s, sink, "ours", "new"), TA_OK);
    assert_int_equal(write_product(s, sink, "long", "new"), TA_OK);
    assert_int_equal(write_product(s, sink, "empty", "new"), TA_OK);
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_OK);
    ta_sink_free(sink);
    assert_content(below(s, "ours"), "new");
    assert_content(below(s, "long"), "new");
    assert_content(below(s, "empty"), "new");
    assert_int_equal(count_entries(s->root), 4);

    sink = new_sink(s, TA_SINK_FOLDER, "");
    assert_int_equal(write_product(s, sink, "theirs", "new"), TA_ERR_OUTPUT);
    assert_said(s, "not ours");
    ta_sink_free(sink);
    assert_content(below(s, "theirs"), "precious");
}

static void links_are_replaced_not_followed(void **state)
{
    struct scratch *s = *state;
    char link[512];
    make_file(below(s, "victim"), "precious");
    assert_int_equal(mkdir(below(s, "out"), 0777), 0);
    snprintf(link, sizeof link, "%s/out/report.html", s->root);
    assert_int_equal(symlink(below(s, "victim"), link), 0);
    snprintf(link, sizeof link, "%s/out/report.md", s->root);
    assert_int_equal(symlink(below(s, "nowhere"), link), 0);
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "out");
    assert_int_equal(write_product(s, sink, "report.html", "new"), TA_OK);
    assert_int_equal(write_product(s, sink, "report.md", "new"), TA_OK);
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_OK);
    ta_sink_free(sink);
    assert_content(below(s, "victim"), "precious");
    assert_int_equal(access(below(s, "nowhere"), F_OK), -1);
    struct stat st;
    assert_int_equal(lstat(below(s, "out/report.md"), &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(count_entries(below(s, "out")), 2);
}

static void a_linked_folder_of_products_is_refused(void **state)
{
    struct scratch *s = *state;
    char link[512];
    assert_int_equal(mkdir(below(s, "elsewhere"), 0777), 0);
    assert_int_equal(mkdir(below(s, "out"), 0777), 0);
    snprintf(link, sizeof link, "%s/out/tables", s->root);
    assert_int_equal(symlink(below(s, "elsewhere"), link), 0);
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "out");
    assert_int_equal(write_product(s, sink, "tables/x.csv", "new"), TA_ERR_OUTPUT);
    ta_sink_free(sink);
    assert_int_equal(count_entries(below(s, "elsewhere")), 0);
}

static void a_folder_in_the_place_is_refused(void **state)
{
    struct scratch *s = *state;
    assert_int_equal(mkdir(below(s, "report.html"), 0777), 0);
    struct ta_sink *sink = new_sink(s, TA_SINK_FILE, "report.html");
    assert_int_equal(write_product(s, sink, "report.html", "new"), TA_ERR_OUTPUT);
    assert_said(s, "folder is where an output file should go");
    ta_sink_free(sink);
    sink = new_sink(s, TA_SINK_FILE, "report.html/");
    assert_int_equal(write_product(s, sink, "report.html", "new"), TA_ERR_OUTPUT);
    ta_sink_free(sink);
    assert_int_equal(count_entries(s->root), 1);
}

static void a_file_in_place_of_the_folder_is_refused(void **state)
{
    struct scratch *s = *state;
    make_file(below(s, "out"), "precious");
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "out");
    assert_int_equal(write_product(s, sink, "report.html", "new"), TA_ERR_OUTPUT);
    assert_said(s, strerror(ENOTDIR));
    ta_sink_free(sink);
    assert_content(below(s, "out"), "precious");
}

static void the_parent_of_a_file_must_exist(void **state)
{
    struct scratch *s = *state;
    struct ta_sink *sink = new_sink(s, TA_SINK_FILE, "no/such/report.json");
    assert_int_equal(write_product(s, sink, "report.json", "new"), TA_ERR_OUTPUT);
    assert_said(s, strerror(ENOENT));
    ta_sink_free(sink);
    assert_int_equal(count_entries(s->root), 0);
}

static void the_longest_name_can_be_written(void **state)
{
    struct scratch *s = *state;
    char name[257];
    memset(name, 'o', 255);
    name[255] = '\0';
    struct ta_sink *sink = new_sink(s, TA_SINK_FILE, name);
    assert_int_equal(write_product(s, sink, "report.json", "new"), TA_OK);
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_OK);
    ta_sink_free(sink);
    assert_content(below(s, name), "new");
    strcpy(name + 255, "o");
    sink = new_sink(s, TA_SINK_FILE, name);
    assert_int_equal(write_product(s, sink, "report.json", "new"), TA_ERR_OUTPUT);
    ta_sink_free(sink);
    assert_int_equal(count_entries(s->root), 1);
}

static void one_place_takes_one_product(void **state)
{
    struct scratch *s = *state;
    struct ta_sink *sink = new_sink(s, TA_SINK_FILE, "x.json");
    assert_true(ta_sink_is_single(sink));
    assert_int_equal(write_product(s, sink, "report.json", "new"), TA_OK);
    assert_int_equal(write_product(s, sink, "report.html", "new"), TA_ERR_USAGE);
    ta_sink_free(sink);
    sink = new_sink(s, TA_SINK_FOLDER, "out");
    assert_false(ta_sink_is_single(sink));
    assert_int_equal(write_product(s, sink, "report.html", "new"), TA_OK);
    assert_int_equal(write_product(s, sink, "report.html", "new"), TA_ERR_INTERNAL);
    ta_sink_free(sink);
}

static void names_cannot_leave_the_folder(void **state)
{
    struct scratch *s = *state;
    static const char *const names[] = {"../x",  "/x", "..", ".x",  "a/../x",
                                        "a/b/c", "a/", "",   "a//b"};
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "out");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(write_product(s, sink, names[i], "x"), TA_ERR_OUTPUT);
    ta_sink_free(sink);
    assert_int_equal(count_entries(s->root), 0);
    assert_null(ta_sink_new(&s->ctx, TA_SINK_FOLDER, ""));
}

static void a_device_is_written_directly(void **state)
{
    struct scratch *s = *state;
    struct ta_sink *sink = ta_sink_new(&s->ctx, TA_SINK_FILE, "/dev/null");
    assert_int_equal(write_product(s, sink, "report.json", "new"), TA_OK);
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_OK);
    ta_sink_free(sink);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));

    sink = ta_sink_new(&s->ctx, TA_SINK_FILE, "/dev/full");
    assert_int_equal(write_product(s, sink, "report.json", "new"), TA_ERR_OUTPUT);
    assert_said(s, "/dev/full");
    assert_said(s, strerror(ENOSPC));
    ta_sink_free(sink);
}

static void a_pipe_is_written_directly(void **state)
{
    struct scratch *s = *state;
    assert_int_equal(mkfifo(below(s, "pipe"), 0600), 0);
    int reader = open(below(s, "pipe"), O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    struct ta_sink *sink = new_sink(s, TA_SINK_FILE, "pipe");
    assert_int_equal(write_product(s, sink, "report.json", "through"), TA_OK);
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_OK);
    ta_sink_free(sink);
    char bytes[16] = "";
    assert_int_equal(read(reader, bytes, sizeof bytes), 7);
    assert_string_equal(bytes, "through");
    close(reader);
}

/* Runs with standard output replaced by a descriptor, -1 for closed. */
static enum ta_status write_to_stdout(struct scratch *s, int fd)
{
    int saved = dup(STDOUT_FILENO);
    fflush(stdout);
    if (fd >= 0)
        dup2(fd, STDOUT_FILENO);
    else
        close(STDOUT_FILENO);
    struct ta_sink *sink = ta_sink_new(&s->ctx, TA_SINK_STDOUT, NULL);
    enum ta_status status = write_product(s, sink, "report.json", "new");
    if (status == TA_OK)
        status = ta_sink_commit(&s->ctx, sink);
    ta_sink_free(sink);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    return status;
}

static void standard_output_tells_when_it_failed(void **state)
{
    struct scratch *s = *state;
    int full = open("/dev/full", O_WRONLY), file = open(below(s, "x"), O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write_to_stdout(s, full), TA_ERR_OUTPUT);
    assert_said(s, "standard output");
    assert_int_equal(write_to_stdout(s, -1), TA_ERR_OUTPUT);
    assert_said(s, strerror(EBADF));
    assert_int_equal(write_to_stdout(s, file), TA_OK);
    assert_content(below(s, "x"), "new");
    close(full);
    close(file);
}

/* A limit on the size of files stands for a full disk. */
static void a_full_disk_leaves_the_earlier_product(void **state)
{
    struct scratch *s = *state;
    struct rlimit old, small;
    make_file(below(s, "report.json"), SIGNATURE);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){64, old.rlim_max};
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "");
    struct ta_file *file = ta_sink_open(&s->ctx, sink, "report.json", SIGNATURE);
    enum ta_status status = TA_ERR_INTERNAL;
    if (file) {
        for (int i = 0; i < 50000; i++)
            ta_putf(file, "%d\n", i);
        status = ta_file_close(&s->ctx, file);
    }
    enum ta_status commit = ta_sink_commit(&s->ctx, sink);
    ta_sink_free(sink);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, before);
    assert_non_null(file);
    assert_int_equal(status, TA_ERR_OUTPUT);
    assert_int_equal(commit, TA_ERR_INTERNAL);
    assert_content(below(s, "report.json"), SIGNATURE);
    assert_int_equal(count_entries(s->root), 1);
}

/* report.json is placed last, so what was placed before must go back. */
static void a_failed_commit_is_taken_back(void **state)
{
    struct scratch *s = *state;
    make_file(below(s, "report.html"), SIGNATURE " earlier");
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "");
    assert_int_equal(write_product(s, sink, "report.json", "new"), TA_OK);
    assert_int_equal(write_product(s, sink, "report.html", "new"), TA_OK);
    assert_int_equal(write_product(s, sink, "report.md", "new"), TA_OK);
    assert_int_equal(mkdir(below(s, "report.json"), 0777), 0);
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_ERR_OUTPUT);
    assert_said(s, "report.json");
    ta_sink_free(sink);
    assert_content(below(s, "report.html"), SIGNATURE " earlier");
    assert_int_equal(access(below(s, "report.md"), F_OK), -1);
    assert_int_equal(count_entries(s->root), 2);
}

static void a_signal_handler_can_clean_up(void **state)
{
    struct scratch *s = *state;
    struct ta_sink *sink = new_sink(s, TA_SINK_FOLDER, "");
    for (int i = 0; i < 150; i++) { /* more than one block of the list */
        char name[32];
        snprintf(name, sizeof name, "report-%d.html", i);
        assert_int_equal(write_product(s, sink, name, "new"), TA_OK);
    }
    assert_int_equal(count_entries(s->root), 150);
    ta_temps_remove(&s->shared.temps);
    assert_int_equal(count_entries(s->root), 0);
    ta_sink_free(sink);
}

static void large_and_small_pieces_arrive(void **state)
{
    struct scratch *s = *state;
    enum { LARGE = 300000 };
    char *large = malloc(LARGE);
    assert_non_null(large);
    memset(large, 'x', LARGE);
    struct ta_sink *sink = new_sink(s, TA_SINK_FILE, "big");
    struct ta_file *file = ta_sink_open(&s->ctx, sink, "report.json", SIGNATURE);
    assert_non_null(file);
    for (int i = 0; i < 70000; i++)
        ta_putc(file, 'y');
    ta_put(file, (struct ta_slice){large, LARGE});
    ta_put(file, (struct ta_slice){NULL, 0});
    assert_int_equal(ta_file_close(&s->ctx, file), TA_OK);
    assert_int_equal(ta_sink_commit(&s->ctx, sink), TA_OK);
    ta_sink_free(sink);
    free(large);
    struct stat st;
    assert_int_equal(stat(below(s, "big"), &st), 0);
    assert_int_equal(st.st_size, 370000);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(products_appear_at_commit),
        TEST(without_commit_nothing_remains),
        TEST(an_unfinished_product_is_not_committed),
        TEST(a_stopped_run_commits_nothing),
        TEST(only_files_of_ours_are_replaced),
        TEST(links_are_replaced_not_followed),
        TEST(a_linked_folder_of_products_is_refused),
        TEST(a_folder_in_the_place_is_refused),
        TEST(a_file_in_place_of_the_folder_is_refused),
        TEST(the_parent_of_a_file_must_exist),
        TEST(the_longest_name_can_be_written),
        TEST(one_place_takes_one_product),
        TEST(names_cannot_leave_the_folder),
        TEST(a_device_is_written_directly),
        TEST(a_pipe_is_written_directly),
        TEST(standard_output_tells_when_it_failed),
        TEST(a_full_disk_leaves_the_earlier_product),
        TEST(a_failed_commit_is_taken_back),
        TEST(a_signal_handler_can_clean_up),
        TEST(large_and_small_pieces_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
