/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as another program has it: options by name, errors, messages, outputs in memory. */
#include "traceanalyze/run.h"

#include "trace_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACE                                                                                      \
    "{\"traceEvents\": ["                                                                          \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, "            \
    "\"ts\": 1000, \"dur\": 500, \"args\": {\"device\": 0, \"stream\": 7}}]}"

static void knows_its_options(void **state)
{
    (void)state;
    assert_null(ta_run_option("no-such-option"));
    const struct ta_run_option *jobs = ta_run_option("jobs");
    assert_non_null(jobs);
    assert_int_equal(jobs->type, TA_VALUE_WHOLE);
    size_t n = 0;
    for (const struct ta_run_option *o; (o = ta_run_option_at(n)); n++) {
        assert_ptr_equal(ta_run_option(o->name), o); /* no name twice */
        assert_true(o->help && *o->help);
        assert_int_equal(o->type == TA_VALUE_CHOICE, o->choices != NULL);
        assert_int_equal(o->type == TA_VALUE_FLAG, o->argument == NULL);
    }
    assert_true(n > 30);
}

static void refuses_what_makes_no_sense(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *said;
    } cases[] = {{"jbos", "2", "did you mean 'jobs'"},
                 {"jobs", "many", "whole number from 1 to 1024"},
                 {"theme", "drak", "did you mean 'dark'"},
                 {"size", "1x1", "WxH"},
                 {"limit", "depth=x", "Unusable limit"}};
    struct ta_run *run = ta_run_new();
    assert_non_null(run);
    assert_string_equal(ta_run_error(run), "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ta_run_set(run, cases[i].name, cases[i].value), TA_ERR_USAGE);
        assert_non_null(strstr(ta_run_error(run), cases[i].said));
    }
    /* A value that turns out to be unusable later is that of who wrote it. */
    assert_int_equal(ta_run_set_from(run, "memory-limit", "lots", "team.yaml:3:5"), TA_OK);
    assert_int_equal(ta_run_check(run, TA_RUN_REPORT), TA_ERR_USAGE);
    assert_non_null(strstr(ta_run_error(run), "team.yaml:3:5: Unusable size: --memory-limit=lots"));
    assert_int_equal(ta_run_set(run, "memory-limit", "8GiB"), TA_OK);
    assert_int_equal(ta_run_check(run, TA_RUN_REPORT), TA_OK);
    assert_int_equal(ta_run_set(run, "set", "gpu_idle.no_such=1"), TA_ERR_USAGE);
    assert_int_equal(ta_run_execute(run, TA_RUN_REPORT), TA_ERR_USAGE);  /* no inputs */
    assert_int_equal(ta_run_write(run, "json", "x.json"), TA_ERR_USAGE); /* no report */
    ta_run_free(run);
    ta_run_free(NULL);
}

/* Counts messages. */
static void count(void *user, enum ta_log_level level, const char *code, const char *text)
{
    (void)level, (void)code;
    assert_non_null(text);
    ++*(size_t *)user;
}

static void reads_and_writes(void **state)
{
    (void)state;
    char path[] = "/tmp/test_run_XXXXXX.json";
    const int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, TRACE, strlen(TRACE)), (ssize_t)strlen(TRACE));
    close(fd);
    struct ta_run *run = ta_run_new(), *other = ta_run_new();
    size_t n_messages = 0, n = 0;
    char *bytes = NULL;
    ta_run_on_message(run, TA_LOG_DEBUG, count, &n_messages);
    assert_int_equal(ta_run_add(run, path), TA_OK);
    assert_int_equal(ta_run_set(run, "title", "A title"), TA_OK);
    for (int i = 0; i < 2; i++) { /* again and again */
        assert_int_equal(ta_run_execute(run, TA_RUN_REPORT), TA_OK);
        assert_non_null(ta_run_report(run));
    }
    assert_false(ta_run_gates(run)->failed);
    assert_int_equal(ta_run_write_memory(run, "json", &bytes, &n), TA_OK);
    assert_int_equal(strlen(bytes), n);
    assert_non_null(strstr(bytes, "\"A title\""));
    free(bytes);
    assert_int_equal(ta_run_write_memory(run, "no_such", &bytes, &n), TA_ERR_USAGE);
    assert_non_null(strstr(ta_run_error(run), "no_such"));

    /* A run that was stopped, and one next to it that was not. */
    assert_true(ta_run_cancel(run, 15));
    assert_false(ta_run_cancel(run, 2));
    assert_int_equal(ta_run_canceled(run), 15);
    assert_int_equal(ta_run_execute(run, TA_RUN_REPORT), TA_ERR_CANCELED);
    assert_null(ta_run_report(run));
    assert_int_equal(ta_run_add(other, path), TA_OK);
    assert_int_equal(ta_run_execute(other, TA_RUN_CHECK), TA_OK);
    assert_false(ta_report_has_losses(ta_run_report(other)));
    ta_run_free(run);
    ta_run_free(other);
    unlink(path);
}

static void compares_and_gates(void **state)
{
    (void)state;
    char path[] = "/tmp/test_run_XXXXXX.json";
    const int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, TRACE, strlen(TRACE)), (ssize_t)strlen(TRACE));
    close(fd);
    struct ta_run *run = ta_run_new();
    assert_int_equal(ta_run_add(run, path), TA_OK);
    assert_int_equal(ta_run_execute(run, TA_RUN_DIFF), TA_ERR_USAGE); /* with what? */
    assert_int_equal(ta_run_baseline(run, path), TA_OK);
    assert_int_equal(ta_run_set(run, "fail-on", "regression>5%"), TA_OK);
    assert_int_equal(ta_run_execute(run, TA_RUN_DIFF), TA_OK);
    assert_int_equal(ta_report_kind(ta_run_report(run)), TA_REPORT_DIFF);
    assert_non_null(ta_run_gates(run)->table);
    assert_false(ta_run_gates(run)->failed);
    assert_int_equal(ta_run_set(run, "fail-on", "nonsense>>5"), TA_OK);
    assert_int_equal(ta_run_check(run, TA_RUN_DIFF), TA_ERR_USAGE);
    ta_run_free(run);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_its_options),
        cmocka_unit_test(refuses_what_makes_no_sense),
        cmocka_unit_test(reads_and_writes),
        cmocka_unit_test(compares_and_gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
