/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is freed serves the next one, or goes back to the system. */
#include "cli/heap.h"

#include "base/memory.h"

#include "sanitized.h"
#include "trace_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BLOCK = 32 * 1024 * 1024, PAGES = BLOCK / 4096 };

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* Page faults of a block that is filled. */
static long fill_block(size_t bytes)
{
    const long before = faults();
    char *block = malloc(bytes);
    assert_non_null(block);
    memset(block, 1, bytes);
    const long n = faults() - before;
    assert_int_equal(block[bytes / 2], 1);
    free(block);
    return n;
}

static void serves_the_next_one(void **state)
{
    (void)state;
    ta_heap_keep(true, 2);
    const uint64_t before = ta_memory_used();
    fill_block(BLOCK);
    assert_in_range(ta_memory_used() - before, BLOCK / 2, BLOCK * 2);
    assert_true(fill_block(BLOCK) < PAGES / 16);
    assert_true(fill_block(BLOCK / 2) < PAGES / 16); /* and a smaller one */
}

static void goes_back(void **state)
{
    (void)state;
    ta_heap_keep(false, 2);
    const uint64_t used = ta_memory_used();
    fill_block(4 * BLOCK);
    assert_true(ta_memory_used() < used + BLOCK);
    assert_true(fill_block(4 * BLOCK) > 4 * BLOCK / (2 * 1024 * 1024) / 2);
}

/* Once all is read nothing of that is left, and large tables leave nothing either. */
static void tables_of_all_ranks_go_back(void **state)
{
    (void)state;
    ta_heap_keep(true, 2);
    fill_block(4 * BLOCK);
    const uint64_t used = ta_memory_used();
    ta_heap_read_all();
    assert_true(ta_memory_used() + 2 * BLOCK < used);
    fill_block(4 * BLOCK);
    assert_true(ta_memory_used() + 2 * BLOCK < used);
}

static void trimmed_in_the_middle(void **state)
{
    enum { BLOCKS = 64 };
    char *blocks[BLOCKS];
    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK / BLOCKS);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, BLOCK / BLOCKS);
    }
    for (int i = 0; i < BLOCKS - 1; i++)
        free(blocks[i]);
    const uint64_t used = ta_memory_used();
    ta_heap_trim();
    assert_true(ta_memory_used() + BLOCK / 2 < used);
    free(blocks[BLOCKS - 1]);
}

int main(void)
{
#if IS_SANITIZED
    return 0; /* has a heap of its own */
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_back), /* first: what was kept stays */
        cmocka_unit_test(serves_the_next_one),
        cmocka_unit_test(tables_of_all_ranks_go_back),
        cmocka_unit_test(trimmed_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
