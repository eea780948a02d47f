/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks below and beyond the limit, folders that cannot take them, and traces made of either. */
#include "base/store.h"

#include "base/memory.h"
#include "model/append.h"
#include "normalize/normalize.h"
#include "trace_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static struct ta_space space = TA_SPACE_INIT;
static char folder[64];

/* A store whose large blocks all go to the file (1), or none (UINT64_MAX). */
static struct ta_store store_with(uint64_t limit, const char *where)
{
    ta_space_open(&space, limit, where);
    return (struct ta_store){.space = &space};
}

static void fill(uint32_t *at, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        at[i] = (uint32_t)(i * 2654435761u);
}

static void assert_filled(const uint32_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at[i] != (uint32_t)(i * 2654435761u))
            fail_msg("Element %zu of %zu has changed", i, n);
}

/* Grows a block by half again and again, from 1000 elements to more than `n`. */
static uint32_t *grow_to(struct ta_store *store, size_t n)
{
    uint32_t *at = NULL;
    for (size_t max = 1000, filled = 0; filled <= n; max += max / 2) {
        at = ta_store_resize(store, at, max, sizeof *at);
        assert_non_null(at);
        assert_filled(at, filled);
        fill(at, filled, max);
        filled = max;
    }
    return at;
}

static void assert_empty(const char *path)
{
    DIR *listing = opendir(path);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));)
        if (entry->d_name[0] != '.')
            fail_msg("%s was left in the folder", entry->d_name);
    closedir(listing);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void below_the_limit(void **state)
{
    (void)state;
    struct ta_store store = store_with(UINT64_MAX, "/nowhere at all");
    uint32_t *at = grow_to(&store, MIB);
    assert_false(store.has_file);
    assert_true(atomic_load(&space.held) >= 4 * MIB);
    at = ta_store_fit(&store, at, MIB);
    assert_filled(at, MIB / sizeof *at);
    assert_in_range(atomic_load(&space.held), MIB, MIB + 8192);
    ta_store_free(&store, at);
    assert_int_equal(atomic_load(&space.held), 0);
    assert_false(space.failed);
    ta_store_close(&store);
}

static void beyond_the_limit(void **state)
{
    (void)state;
    struct ta_store store = store_with(1, folder);
    uint32_t *small = ta_store_resize(&store, NULL, 1000, sizeof *small);
    assert_non_null(small);
    assert_false(store.has_file);
    uint32_t *a = grow_to(&store, 2 * MIB), *b = grow_to(&store, MIB);
    assert_int_equal(store.spilled.n, 2);
    assert_int_equal(atomic_load(&space.held), 0);
    assert_empty(folder);
    a = ta_store_fit(&store, a, MIB);
    assert_filled(a, MIB / sizeof *a);
    ta_store_free(&store, a);
    assert_filled(b, MIB);
    ta_store_free(&store, b);
    assert_int_equal(store.spilled.n, 0);
    ta_store_free(&store, small);
    ta_store_close(&store);
}

/* Nobody else can read what is in the file, children do not get it, and it does not outlive the
 * process. */
static void the_file_is_ours(void **state)
{
    (void)state;
    struct ta_store store = store_with(1, folder);
    grow_to(&store, 2 * MIB);
    struct stat file;
    assert_int_equal(fstat(store.file, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(file.st_nlink, 0);
    assert_true(fcntl(store.file, F_GETFD) & FD_CLOEXEC);
    /* Blocks that were left behind have given back their place: the last one is a third of what was
     * taken in all, where the file system can tell. */
    assert_in_range((uint64_t)file.st_blocks * 512, 8 * MIB, store.end);
    const int number = store.file;
    ta_store_close(&store); /* with a block still there */
    assert_int_equal(fcntl(number, F_GETFD), -1);
}

/* A column that began in memory moves as a whole when it grows beyond what is left. */
static void a_block_moves(void **state)
{
    (void)state;
    struct ta_store store = store_with(UINT64_MAX, folder);
    uint32_t *at = grow_to(&store, MIB), *other = grow_to(&store, MIB);
    space.limit = ta_memory_used();
    at = ta_store_resize(&store, at, 3 * MIB, sizeof *at);
    assert_non_null(at);
    assert_filled(at, MIB);
    assert_int_equal(store.spilled.n, 1);
    ta_store_free(&store, at);
    ta_store_free(&store, other);
    assert_int_equal(atomic_load(&space.held), 0);
    ta_store_close(&store);
}

/* Decides by what the process uses, not only by what is in columns. */
static void other_memory_counts(void **state)
{
    (void)state;
    const uint64_t limit = 2 * (ta_memory_used() + 64 * MIB); /* half of it is for columns */
    struct ta_store store = store_with(limit, folder);
    void *first = ta_store_resize(&store, NULL, 16 * MIB, 1);
    assert_non_null(first);
    assert_int_equal(store.spilled.n, 0);
    char *other = malloc(64 * MIB);
    assert_non_null(other);
    memset(other, 1, 64 * MIB);
    void *second = ta_store_resize(&store, NULL, 16 * MIB, 1);
    assert_non_null(second);
    assert_int_equal(store.spilled.n, other[MIB]);
    free(other);
    ta_store_free(&store, first);
    ta_store_free(&store, second);
    ta_store_close(&store);
}

/* ---- what cannot be had ---------------------------------------------------------------------- */

static void a_folder_that_is_none(void **state)
{
    (void)state;
    const char *const folders[] = {"/nowhere/at/all", "/proc", "/dev/null"};
    for (size_t i = 0; i < 3; i++) {
        struct ta_store store = store_with(UINT64_MAX, folders[i]);
        uint32_t *at = grow_to(&store, MIB);
        space.limit = 1;
        assert_null(ta_store_resize(&store, at, 4 * MIB, sizeof *at));
        assert_filled(at, MIB);
        assert_true(space.failed);
        assert_int_equal(space.needed, 16 * MIB);
        assert_true(space.error == ENOENT || space.error == ENOTDIR || space.error == EACCES);
        ta_store_free(&store, at);
        ta_store_close(&store);
    }
}

/* The limit on the size of files stands for a full disk. */
static void no_place_on_the_disk(void **state)
{
    (void)state;
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low = (struct rlimit){4 * MIB, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    struct ta_store store = store_with(1, folder);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    uint32_t *at = ta_store_resize(&store, NULL, MIB / 2, sizeof *at);
    assert_non_null(at);
    fill(at, 0, MIB / 2);
    assert_null(ta_store_resize(&store, at, MIB, sizeof *at));
    assert_filled(at, MIB / 2);
    assert_true(space.failed);
    assert_int_equal(space.error, EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    ta_store_close(&store);
}

/* A write into a mapped file for which the disk has no place would be a signal. */
static void place_is_taken_before_it_is_used(void **state)
{
    (void)state;
    struct ta_store store = store_with(1, folder);
    void *at = ta_store_resize(&store, NULL, 2 * MIB, 1);
    struct stat file;
    assert_non_null(at);
    assert_int_equal(fstat(store.file, &file), 0);
    assert_true((uint64_t)file.st_blocks * 512 >= 2 * MIB);
    ta_store_close(&store);
}

static void sizes_that_overflow(void **state)
{
    (void)state;
    struct ta_store store = store_with(1, folder);
    assert_null(ta_store_resize(&store, NULL, SIZE_MAX / 2, 8));
    assert_null(ta_store_resize(&store, NULL, SIZE_MAX - 1, 1));
    assert_null(ta_store_resize(NULL, NULL, SIZE_MAX / 2, 8));
    ta_store_close(&store);
}

/* Refuses O_TMPFILE from now on, as some file systems do. */
static bool refuse_nameless_files(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int use_named_file(void)
{
    if (!refuse_nameless_files())
        return 77;
    if (open(folder, O_TMPFILE | O_RDWR, 0600) >= 0 || errno != EOPNOTSUPP)
        return 77;
    struct ta_store store = store_with(1, folder);
    uint32_t *at = ta_store_resize(&store, NULL, MIB, sizeof *at);
    struct stat file;
    if (!at || fstat(store.file, &file) != 0 || file.st_nlink != 0 || (file.st_mode & 077))
        return 1;
    fill(at, 0, MIB);
    ta_store_close(&store);
    return 0;
}

static void without_nameless_files(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0)
        _exit(use_named_file());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_empty(folder);
}

/* ---- traces ---------------------------------------------------------------------------------- */

enum { EVENTS = 200000, THREADS = 3 };

static const struct ta_slice keys[] = {{"correlation", 11}};

static void add(struct ta_ctx *ctx, struct ta_builder *b, size_t i)
{
    static const char *const cats[] = {"cpu_op", "cuda_runtime", "kernel", "cuda_runtime"};
    static const char phases[] = "XXXBEXbesf";
    static const char *const tids[THREADS] = {"1", "2", "3"};
    const struct ta_event_arg arg = {.key = 0, .value = (int64_t)(i / 4 + 1)};
    const char *const tid = tids[i / 1000 % THREADS];
    const struct ta_event event = {
        .phase = phases[i % 10],
        .has_ts = true,
        .has_dur = true,
        .ts_ns = (int64_t)(i / 3000 % 2 ? i * 10 : (EVENTS - i) * 10), /* runs to be merged */
        .dur_ns = (int64_t)(i % 7 * 5),
        .name = ta_builder_string(b, ta_slice_of(cats[i % 3])),
        .category = ta_builder_string(b, ta_slice_of(cats[i % 4])),
        .pid = ta_builder_string(b, TA_LIT("1")),
        .tid = ta_builder_string(b, ta_slice_of(tid)),
        .id = ta_slice_of(tid),
        .args = &arg,
        .n_args = 1};
    if (ta_builder_add(ctx, b, &event) != TA_OK ||
        ta_builder_counter(ctx, b, &event, event.name, (double)i) != TA_OK)
        fail_msg("Event %zu found no room", i);
}

/* The same trace, from two builders, with all columns in memory or all large ones in the file. */
static struct ta_trace *make_trace(struct ta_ctx *ctx, struct ta_space *in)
{
    struct ta_quality quality;
    struct ta_builder first, second;
    struct ta_trace *trace = NULL;
    ta_quality_init(&quality);
    assert_true(ta_builder_init(&first, &quality, ~0u, keys, 1, 1000));
    assert_true(ta_builder_init(&second, &quality, ~0u, keys, 1, 1000));
    first.trace->store.space = second.trace->store.space = in;
    for (size_t i = 0; i < 2 * EVENTS; i++)
        add(ctx, i < EVENTS ? &first : &second, i);
    struct ta_renaming ids = {.names = {.at = NULL}};
    assert_true(ta_builder_append(&first, &second, &ids));
    ta_renaming_free(&ids);
    ta_builder_free(&second);
    assert_int_equal(ta_normalize(ctx, &first, &trace), TA_OK);
    ta_builder_free(&first);
    ta_quality_free(&quality);
    return trace;
}

#define SAME(column) assert_memory_equal(a.column, b.column, a.n * sizeof *a.column)

static void assert_same_spans(struct ta_spans a, struct ta_spans b)
{
    assert_int_equal(a.n, b.n);
    SAME(ts);
    SAME(dur);
    SAME(self);
    SAME(name);
    SAME(cat);
    SAME(track);
    SAME(parent);
    SAME(depth);
}

static void assert_same_others(const struct ta_trace *x, const struct ta_trace *y)
{
    {
        const struct ta_counters a = ta_trace_counters(x), b = ta_trace_counters(y);
        assert_int_equal(a.n, b.n);
        SAME(ts);
        SAME(value);
        assert_int_equal(a.n_series, b.n_series);
        for (size_t i = 0; i < a.n_series; i++) {
            assert_int_equal(a.series[i].track, b.series[i].track);
            assert_int_equal(a.series[i].first, b.series[i].first);
        }
    }
    {
        const struct ta_asyncs a = ta_trace_asyncs(x), b = ta_trace_asyncs(y);
        assert_int_equal(a.n, b.n);
        SAME(ts);
        SAME(id);
    }
    {
        const struct ta_args a = ta_trace_args(x, "correlation"), b = ta_trace_args(y, keys[0].ptr);
        assert_int_equal(a.n, b.n);
        SAME(row);
        for (size_t i = 0; i < a.n; i++)
            assert_int_equal(ta_args_value(&a, i), ta_args_value(&b, i));
    }
    const struct ta_activities a = ta_trace_activities(x), b = ta_trace_activities(y);
    assert_int_equal(a.n, b.n);
    assert_true(a.n > 20000);
    for (size_t i = 0; i < a.n; i++) /* not by bytes: there are some between the members */
        if (a.at[i].span != b.at[i].span || a.at[i].launch != b.at[i].launch ||
            a.at[i].op != b.at[i].op || a.at[i].device != b.at[i].device)
            fail_msg("Activity %zu differs", i);
}

static void the_same_trace(void **state)
{
    (void)state;
    struct ta_shared shared;
    struct ta_ctx ctx;
    ta_shared_init(&shared);
    ta_ctx_init(&ctx, &shared);
    ta_space_open(&space, 1, folder);
    struct ta_trace *plain = make_trace(&ctx, NULL), *spilled = make_trace(&ctx, &space);
    assert_true(spilled->store.spilled.n >= 10);
    assert_int_equal(atomic_load(&space.held), 0);
    assert_false(plain->store.has_file);
    assert_same_spans(ta_trace_spans(plain), ta_trace_spans(spilled));
    assert_same_others(plain, spilled);
    ta_trace_free(plain);
    ta_trace_free(spilled);
    assert_empty(folder);
}

static int make_folder(void **state)
{
    (void)state;
    fixture_folder(folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    fixture_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_the_limit),      cmocka_unit_test(beyond_the_limit),
        cmocka_unit_test(the_file_is_ours),     cmocka_unit_test(a_block_moves),
        cmocka_unit_test(other_memory_counts),  cmocka_unit_test(a_folder_that_is_none),
        cmocka_unit_test(no_place_on_the_disk), cmocka_unit_test(place_is_taken_before_it_is_used),
        cmocka_unit_test(sizes_that_overflow),  cmocka_unit_test(without_nameless_files),
        cmocka_unit_test(the_same_trace),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
