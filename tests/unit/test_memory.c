/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of control groups as the kernel shows them, and what the process uses. */
#include "base/memory.h"

#include "trace_fixture.h"

#include <stdio.h>
#include <sys/stat.h>

static char root[64];

static void put(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
    fixture_write(path, text, strlen(text));
}

static void version_2(void **state)
{
    (void)state;
    assert_true(ta_memory_of_groups(root, "0::/a/b\n") == UINT64_MAX);
    put("a", "memory.max", "max\n");
    assert_true(ta_memory_of_groups(root, "0::/a/b\n") == UINT64_MAX);
    put("a/b", "memory.max", "3000\n");
    assert_int_equal(ta_memory_of_groups(root, "0::/a/b\n"), 3000);
    put("a", "memory.max", "2000\n");
    assert_int_equal(ta_memory_of_groups(root, "0::/a/b\n"), 2000); /* the one above */
    put("", "memory.max", "1000\n");
    assert_int_equal(ta_memory_of_groups(root, "0::/\n"), 1000);
}

static void version_1(void **state)
{
    (void)state;
    put("memory", "memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/c", "memory.limit_in_bytes", "500\n");
    assert_int_equal(ta_memory_of_groups(root, "9:cpu:/x\n7:memory:/c\n"), 500);
    assert_int_equal(ta_memory_of_groups(root, "9:memory,cpu:/c"), 500);
}

static void odd_lists(void **state)
{
    (void)state;
    assert_true(ta_memory_of_groups(root, "") == UINT64_MAX);
    assert_true(ta_memory_of_groups(root, "\n\nnothing\n:\n1:cpu:/a\n") == UINT64_MAX);
}

static void of_this_process(void **state)
{
    (void)state;
    assert_true(ta_memory_preset() > 1 << 20);
    assert_true(ta_memory_used() > 1 << 16);
}

static int open_root(void **state)
{
    (void)state;
    fixture_folder(root);
    return 0;
}

static int close_root(void **state)
{
    (void)state;
    fixture_remove(root);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2),
        cmocka_unit_test(version_1),
        cmocka_unit_test(odd_lists),
        cmocka_unit_test(of_this_process),
    };
    return cmocka_run_group_tests(tests, open_root, close_root);
}
