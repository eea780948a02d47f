/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same bytes from any number of threads, any order of files in a folder and any order of
 * operands. */
#include "pipeline.h"
#include "report_fixture.h"

#include <stdio.h>
#include <sys/stat.h>

/* ---- a folder with a bit of everything --------------------------------------------------- */

enum { FILES = 12 };

static const char *name_of(size_t i)
{
    static const char *const names[FILES] = {
        "rank0.json",
        "rank1.json.gz",
        "sub/rank2.json",
        "rank10.json",
        "copy-of-rank0.json.gz",
        "cut-rank4.json",
        "not.json",
        "notes.txt",
        "bad.json.gz",
        "empty.json",
        "a/b/rank7.json",
        "rank0-again.json",
    };
    return names[i];
}

static void make_content(size_t i, struct text *text)
{
    static const size_t like[FILES] = {0, 1, 2, 3, 0, 5, 6, 7, 8, 9, 10, 11};
    struct text trace = {0};
    switch (i) {
    case 6:
    case 7:
        text_add(text, "no trace at all");
        return;
    case 9:
        text_add(text, "[]");
        return;
    default:
        break;
    }
    fixture_trace_text(&trace, like[i], 80 + 70 * like[i], (int)i % 2 ? 1 : 2, (int64_t)like[i]);
    if (i == 5)
        trace.n = trace.n * 2 / 3;
    if (strstr(name_of(i), ".gz")) {
        size_t size;
        unsigned char *gz = fixture_gzip(trace.at, trace.n, &size);
        if (i == 8)
            gz[size / 2] ^= 0x55;
        text_put(text, gz, size);
        free(gz);
    } else {
        text_put(text, trace.at, trace.n);
    }
    text_free(&trace);
}

/* Fills a folder, its files made in an order that depends on `turn`. */
static void fill(const char *root, size_t turn)
{
    static const char *const folders[] = {"sub", "a", "a/b"};
    char path[256];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (size_t i = 0; i < FILES; i++) {
        struct text text = {0};
        const size_t file = (i * 5 + turn * 7) % FILES;
        make_content(file, &text);
        snprintf(path, sizeof path, "%s/%s", root, name_of(file));
        fixture_write(path, text.at, text.n);
        text_free(&text);
    }
}

/* Threads and the order of making files. */
static void threads_and_folders(void **state)
{
    (void)state;
    assert_same_for_all_jobs(fill);
}

static void orders_of_operands(void **state)
{
    (void)state;
    char root[64], paths[FILES][256];
    const char *inputs[FILES];
    struct rng rng = {4};
    fixture_folder(root);
    fill(root, 0);
    for (size_t i = 0; i < FILES; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", root, name_of(i));
        inputs[i] = paths[i];
    }
    size_t size, again;
    char *expected = report_bytes(inputs, FILES, 1, &size);
    for (int round = 0; round < 20; round++) {
        for (size_t i = FILES - 1; i > 0; i--) {
            const size_t j = rng_below(&rng, i + 1);
            const char *swap = inputs[i];
            inputs[i] = inputs[j];
            inputs[j] = swap;
        }
        char *bytes = report_bytes(inputs, FILES, round % 2 ? 8 : 2, &again);
        assert_same_bytes(expected, size, bytes, again);
    }
    free(expected);
    fixture_remove(root);
}

static void samples_on_any_number_of_threads(void **state)
{
    (void)state;
    const char *const inputs[] = {TA_SAMPLES "/video-4ranks"};
    size_t size, again;
    char *expected = report_bytes(inputs, 1, 1, &size);
    char *bytes = report_bytes(inputs, 1, 8, &again);
    assert_same_bytes(expected, size, bytes, again);
    free(expected);
}

/* ---- runs to be compared ------------------------------------------------------------------ */

/* How many files a crew had, at most. */
static void note_files(void *user, uint64_t bytes_done, uint64_t bytes_all, size_t files_done,
                       size_t files_all)
{
    size_t *most = user;
    (void)bytes_done, (void)bytes_all;
    assert_true(files_done <= files_all);
    *most = files_all > *most ? files_all : *most;
}

/* Each has the bytes that it has alone; those of one file are read together by so many threads. */
static void runs_read_together(void **state)
{
    (void)state;
    enum { RUNS = 4 };
    char root[64], paths[3][256];
    fixture_folder(root);
    fill(root, 0);
    static const size_t singles[] = {0, 1, 5};
    for (size_t i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", root, name_of(singles[i]));
    const char *const inputs[RUNS] = {paths[0], paths[1], root, paths[2]};
    static const struct {
        unsigned jobs;
        size_t files; /* of the runs that are read together, at most */
    } cases[] = {{1, FILES}, {2, FILES}, {3, FILES + 2}, {64, FILES + 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ta_report *reports[RUNS] = {NULL};
        size_t most = 0;
        const struct ta_run_options options = {.inputs = inputs,
                                               .n_inputs = RUNS,
                                               .jobs = cases[i].jobs,
                                               .world_size = TA_MISSING,
                                               .title = "a title",
                                               .progress = note_files,
                                               .progress_user = &most};
        if (ta_pipeline_run_each(&fixture.ctx, fixture.registry, &options, reports) != TA_OK)
            fail_msg("%s", ta_ctx_causes(&fixture.ctx));
        assert_int_equal(most, cases[i].files);
        for (size_t run = 0; run < RUNS; run++) {
            size_t size, again;
            char *alone = report_bytes(&inputs[run], 1, 1, &size);
            char *bytes = fixture_render(&fixture, reports[run], "json", &again);
            assert_same_bytes(alone, size, bytes, again);
            ta_report_free(reports[run]);
            free(alone);
        }
    }
    fixture_remove(root);
}

/* The one that cannot be read is named, and what others left is given back. */
static void a_run_that_is_not_there(void **state)
{
    (void)state;
    const char *const inputs[] = {TA_SAMPLES "/video-4ranks", "/nowhere/at/all"};
    for (unsigned jobs = 1; jobs <= 8; jobs *= 8) {
        struct ta_report *reports[2] = {NULL};
        const struct ta_run_options options = {
            .inputs = inputs, .n_inputs = 2, .jobs = jobs, .world_size = TA_MISSING};
        assert_int_equal(ta_pipeline_run_each(&fixture.ctx, fixture.registry, &options, reports),
                         TA_ERR_INPUT);
        const char *causes = ta_ctx_causes(&fixture.ctx);
        assert_non_null(strstr(causes, "Cannot compare with /nowhere/at/all: "));
        ta_report_free(reports[0]);
        ta_report_free(reports[1]);
    }
}

/* What became of the files of the folder: each one for its reason. */
static void everything_is_accounted_for(void **state)
{
    (void)state;
    char root[64];
    fixture_folder(root);
    fill(root, 0);
    const char *const inputs[] = {root};
    struct ta_report *report = report_of_run(inputs, 1, 2);
    const struct ta_accounts *accounts = ta_report_accounts(report);
    assert_int_equal(accounts->status, TA_QUALITY_LOSSY);
    /* The notes and what is no JSON but in its name are nobody's trace. */
    assert_int_equal(accounts->totals.files_seen, FILES - 2);
    assert_int_equal(accounts->totals.files_used + accounts->totals.files_refused,
                     accounts->totals.files_seen);
    struct ta_account_totals sums = {0};
    for (size_t i = 0; i < accounts->n_files; i++) {
        const struct ta_file_account *file = &accounts->files[i];
        assert_true(i == 0 || strcmp(accounts->files[i - 1].path, file->path) < 0);
        assert_int_equal(file->events_seen, file->events_kept + file->events_dropped);
        assert_true(file->events_repaired <= file->events_kept);
        sums.events_seen += file->events_seen;
        sums.events_kept += file->events_kept;
        sums.files_refused += file->state == TA_FILE_REFUSED;
        if (strcmp(file->path, "copy-of-rank0.json.gz") == 0)
            assert_int_equal(file->state, TA_FILE_OK); /* first by name: the original */
        if (strcmp(file->path, "rank0.json") == 0) {
            assert_int_equal(file->state, TA_FILE_REFUSED);
            assert_int_equal(file->findings[0].code, TA_Q_DUPLICATE_CONTENT);
        }
        if (strcmp(file->path, "cut-rank4.json") == 0)
            assert_int_equal(file->state, TA_FILE_TRUNCATED);
    }
    assert_int_equal(sums.events_seen, accounts->totals.events_seen);
    assert_int_equal(sums.events_kept, accounts->totals.events_kept);
    assert_int_equal(sums.files_refused, accounts->totals.files_refused);
    assert_int_equal(sums.files_refused, 1);
    ta_report_free(report);
    fixture_remove(root);
}

/* A device whose name begins another one's is another device. */
static void devices_are_listed_once_each(void **state)
{
    (void)state;
    static const char *const devices[] = {"NVIDIA H200", "NVIDIA H20", "H200", "NVIDIA H200"};
    char root[64], path[128];
    fixture_folder(root);
    for (int i = 0; i < 4; i++) {
        struct text text = {0};
        text_add(&text,
                 "{\"deviceProperties\": [{\"id\": 0, \"name\": \"%s\"}], \"traceEvents\": "
                 "[{\"ph\": \"X\", "
                 "\"name\": \"a%d\", \"ts\": 1, \"dur\": 1}]}",
                 devices[i], i);
        snprintf(path, sizeof path, "%s/rank%d.json", root, i);
        fixture_write(path, text.at, text.n);
        text_free(&text);
    }
    const char *const inputs[] = {root};
    struct ta_report *report = report_of_run(inputs, 1, 1);
    assert_string_equal(ta_report_run(report)->devices, "NVIDIA H200, NVIDIA H20, H200");
    ta_report_free(report);
    fixture_remove(root);
}

/* A run that takes more memory than it may ends with a message that says what to change, and the
 * next one is not affected. */
static void a_limit_on_memory(void **state)
{
    (void)state;
    const char *const inputs[] = {TA_SAMPLES "/video-4ranks"};
    struct ta_run_options options = {
        .inputs = inputs, .n_inputs = 1, .jobs = 2, .world_size = TA_MISSING, .memory_limit = 4096};
    struct ta_report *report = NULL;
    assert_int_equal(ta_pipeline_run(&fixture.ctx, fixture.registry, &options, &report),
                     TA_ERR_NOMEM);
    const char *causes = ta_ctx_causes(&fixture.ctx);
    assert_non_null(strstr(causes, "more memory than --memory-limit allows: limit=4096 bytes"));
    assert_null(report);
    assert_false(ta_ctx_canceled(&fixture.ctx));
    options.memory_limit = UINT64_C(1) << 50;
    assert_int_equal(ta_pipeline_run(&fixture.ctx, fixture.registry, &options, &report), TA_OK);
    ta_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_folders),
        cmocka_unit_test(orders_of_operands),
        cmocka_unit_test(samples_on_any_number_of_threads),
        cmocka_unit_test(runs_read_together),
        cmocka_unit_test(a_run_that_is_not_there),
        cmocka_unit_test(everything_is_accounted_for),
        cmocka_unit_test(devices_are_listed_once_each),
        cmocka_unit_test(a_limit_on_memory),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
