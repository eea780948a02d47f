/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What paths of files say of recordings. */
#include "discover/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void paths(void **state)
{
    (void)state;
    static const struct {
        const char *path, *family;
        int64_t rank, tensor, ordinal;
        enum ta_ordinal counts;
        bool is_warm_up;
    } cases[] = {
        {"flux_cp-rank3.trace.json.gz", "flux_cp", 3, TA_MISSING, TA_MISSING, TA_ORDINAL_NONE,
         false},
        {"flux_cp-rank3-memory-1764000000.pickle", "flux_cp", 3, TA_MISSING, TA_MISSING,
         TA_ORDINAL_NONE, false},
        {"profile_1764000000.trace.json.gz", "profile_1764000000", TA_MISSING, TA_MISSING,
         TA_MISSING, TA_ORDINAL_NONE, false},
        {"worker0.1623143089861.pt.trace.json.gz", "", TA_MISSING, TA_MISSING, 1623143089861,
         TA_ORDINAL_CYCLE, false},
        {"iteration_2/profile_trace_rank_1.json.gz", "/profile_trace", 1, TA_MISSING, 2,
         TA_ORDINAL_ITERATION, false},
        {"warmup/rank0.json", "/", 0, TA_MISSING, TA_MISSING, TA_ORDINAL_NONE, true},
        {"1764-TP-5-DECODE.trace.json.gz", "1764-DECODE", TA_MISSING, 5, TA_MISSING,
         TA_ORDINAL_NONE, false},
        {"flux_tp2_run.json", "flux_tp2_run", TA_MISSING, TA_MISSING, TA_MISSING, TA_ORDINAL_NONE,
         false},
        {"steps.json", "steps", TA_MISSING, TA_MISSING, TA_MISSING, TA_ORDINAL_NONE, false},
    };
    struct ta_arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ta_file_name name;
        assert_true(ta_file_name_read(&arena, cases[i].path, TA_MISSING, &name));
        assert_string_equal(name.family, cases[i].family);
        assert_int_equal(name.rank, cases[i].rank);
        assert_int_equal(name.tensor, cases[i].tensor);
        assert_int_equal(name.ordinal, cases[i].ordinal);
        assert_int_equal(name.counts, cases[i].counts);
        assert_int_equal(name.is_warm_up, cases[i].is_warm_up);
    }
    ta_arena_free(&arena);
}

/* "HOST_PID.STAMP": where the content names that process, words before it are the host's. */
static void hosts(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int64_t process, ordinal;
        bool is_warm_up, is_front_end;
    } cases[] = {
        {"out/warmup-box_004037.1764000000123.pt.trace.json.gz", 4037, 1764000000123, false, false},
        {"out/warmup-box_004037.1764000000123.pt.trace.json.gz", 4038, 1764000000123, true, false},
        {"iteration_3-node_311.json", 311, TA_MISSING, false, false},
        {"iteration_3-node_311.json", TA_MISSING, 3, false, false},
        {"warmup/vm_311.json", 311, TA_MISSING, true, false},
        {"trace_iteration_3.json", 3, 3, false, false}, /* a process has that number, too */
        {"vm_40.async_llm.1764000000123.pt.trace.json", 40, 1764000000123, false, true},
        {"a.async_llm.b/rank0.json", TA_MISSING, TA_MISSING, false, false},
    };
    struct ta_arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ta_file_name name;
        assert_true(ta_file_name_read(&arena, cases[i].path, cases[i].process, &name));
        assert_int_equal(name.ordinal, cases[i].ordinal);
        assert_int_equal(name.is_warm_up, cases[i].is_warm_up);
        assert_int_equal(name.is_front_end, cases[i].is_front_end);
    }
    ta_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths), cmocka_unit_test(hosts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
