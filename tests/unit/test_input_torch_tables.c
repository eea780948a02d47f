/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts that torch prints, and the summaries of nsys: operators, stacks, memory. */
#include "dump_text.h"

#include "model/trace.h"

static const char *plugin = "log", *stack_plugin = "folded_stacks";

static void assert_rows(const char *text, const char *expected)
{
    struct reading r;
    assert_dump(&fixture, plugin, text, expected, &r);
    reading_free(&r);
}

/* ---- operators ------------------------------------------------------------------------------ */

static const char cpu_table[] =
    "----------  ------------  ------------  ------------  ------------  ------------  \n"
    "      Name    Self CPU %      Self CPU     CPU total  Self CPU Mem    # of Calls  \n"
    "----------  ------------  ------------  ------------  ------------  ------------  \n"
    "   aten::a         0.14%     539.000us       1.066ms         -16 b            70  \n"
    "   \xc3\xa4ten::b         0.16%        1.500s        1.500s       1.50 Kb           150  \n"
    "----------  ------------  ------------  ------------  ------------  ------------  \n"
    "Self CPU time total: 384.472ms\n";

static void operators_of_the_cpu(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, plugin, cpu_table,
                "operator [aten::a] ? 70 539000 1066000 ? ? -16 ?\n"
                "operator [\xc3\xa4ten::b] ? 150 1500000000 1500000000 ? ? 1536 ?\n"
                "total [?] 384472000 ?\n",
                &r);
    assert_string_equal(r.trace->dump.set, "operators 384.472ms");
    assert_int_equal(r.trace->dump.exactness, TA_EXACT_TEXT);
    reading_free(&r);
}

/* Devices are called CUDA, XPU, NPU …; shapes stand behind the calls. */
static void operators_of_a_device(void **state)
{
    (void)state;
    assert_rows(
        "-------  ----------  ----------  ---------  ----------  -------------  ----------  "
        "------------\n"
        "   Name    Self CPU   CPU total   Self NPU   NPU total   Self NPU Mem  # of Calls  Input "
        "Shapes\n"
        "-------  ----------  ----------  ---------  ----------  -------------  ----------  "
        "------------\n"
        "      a     1.000us     2.000us    3.000us     4.000us        2.00 Mb           1  "
        "[[1, 2]]    \n"
        "      b     1.000us     1.000us    0.000us     0.000us            0 b           2  [] "
        "         \n",
        "operator [a] ? 1 1000 2000 3000 4000 ? 2097152 [[[1, 2]]]\n"
        "operator [b] ? 2 1000 1000 0 0 ? 0\n"
        "total [NPU] ? ?\n");
}

/* torch 1.5 had other headings, blanks behind its cells, and a total of devices that adds up what
 * is nested. */
static void operators_of_old_versions(void **state)
{
    (void)state;
    assert_rows("---------  ---------------  ---------------  ---------------  ---------------\n"
                "Name       Self CPU total %  Self CPU total   CPU total %      CPU total        "
                "CPU time avg     CUDA total %     CUDA total       CUDA time avg    Number of "
                "Calls  \n"
                "---------  ---------------  ---------------  ---------------  ---------------\n"
                "conv2d     1.00%            2.000us          3.00%            4.000ms          "
                "5.000us          6.00%            7.000ms          8.000us          9           "
                "     \n"
                "---------  ---------------  ---------------  ---------------  ---------------\n"
                "CPU time total: 4.000ms\nCUDA time total: 7.000ms\n",
                "operator [conv2d] ? 9 2000 4000000 ? 7000000 ? ?\n"
                "total [CUDA] 4000000 ?\n");
}

#define HEADS "Name  Self CPU %  Self CPU  CPU total  Self CUDA  CUDA total  # of Calls"

/* Columns are told by their values: a table whose blanks are gone reads as any other. */
static void tables_without_their_places(void **state)
{
    (void)state;
    assert_rows("see:\n" HEADS "\nmm 3 0.1% 1.000us 2.000us 3.000us 4.000us 5\n"
                "\tcopy of 2.0 s\t0\t1 us\t2.000us\tNaN us\t4.000us\t6\n\nthe end\n",
                "operator [mm 3] ? 5 1000 2000 3000 4000 ? ?\n"
                "operator [copy of 2.0 s] ? 6 1000 2000 ? 4000 ? ?\n"
                "total [CUDA] ? ?\n");
    assert_rows("| **Name** | Self CPU % | Self CPU | CPU total | Self CUDA | CUDA total | \\# of "
                "Calls |\n|:--|--:|---|---|---|---|---|\n"
                "| `a|b` | 0.1% | 1.000us | 2.000us | 3.000us | 4.000us | 5 |\n"
                "| ProfilerStep* | 0.1% | 1.000us | - | 3.000us | 4.000us | 5 |\n",
                "operator [a|b] ? 5 1000 2000 3000 4000 ? ?\n"
                "operator [ProfilerStep*] ? 5 1000 ? 3000 4000 ? ?\n"
                "total [CUDA] ? ?\n");
    assert_rows("\xe2\x94\x82 Name \xe2\x94\x82 CPU total \xe2\x94\x82 # of Calls \xe2\x94\x82\n"
                "\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\xa4\n"
                "\xe2\x94\x82 a \xe2\x94\x82 2.000us \xe2\x94\x82 7 \xe2\x94\x82\n",
                "operator [a] ? 7 ? 2000 ? ? ? ?\n");
}

/* The time of a log moves on, so its digits change. */
static void tables_in_logs_and_comments(void **state)
{
    (void)state;
    assert_rows("# " HEADS "\n# ----  ----\n# ## Call X ##  0%  1.000us  2.000us  3.000us  4.000us "
                " 5\n# Self CPU time total: 2.000us\n# Self CUDA time total: 3.000us\n",
                "operator [## Call X ##] ? 5 1000 2000 3000 4000 ? ?\n"
                "total [CUDA] 2000 3000\n");
    assert_rows("9:59:59.9 [0] " HEADS "\n10:00:00.125 [0] ----  ----\n"
                "10:00:00.125 [0]     mm  0%  1.000us  2.000us  3.000us  4.000us  5\n"
                "10:00:00.1 [0] ----  ----\n10:00:00.125 [0] 3 of 4 done\n",
                "operator [mm] ? 5 1000 2000 3000 4000 ? ?\n"
                "total [CUDA] ? ?\n");
}

/* Behind the values stand shapes, FLOPs and call sites; torch writes the headings of the last two
 * in the other order. */
static void operators_with_everything(void **state)
{
    (void)state;
    assert_rows("Name  Overload Name  CPU total  CPU Mem  Self CPU Mem  # of Calls  Node ID  Input "
                "Shapes  Source Location  Total GFLOPs\n"
                "----  ----\n"
                "aten::add  Tensor  2.000us  1.00 Kb  -4 b  3  -1  [[1, 2], [3]]     1.500  "
                "/a b/c.py(3): f\n"
                "                                                                           "
                "/d.py(7): g\n"
                "                                                                           \n"
                "aten::mm      2.000us  1.00 Kb  2.50 MB  3  -1  [[4096, 4096], [40            "
                "--  \n"
                "----  ----\n",
                "operator [aten::add.Tensor] ? 3 ? 2000 ? ? -4 ? [[[1, 2], [3]]] 1500000000 FLOPs\n"
                "operator [aten::mm] ? 3 ? 2000 ? ? 2621440 ? [[[4096, 4096], [40]\n");
}

/* One recording, printed in two orders and with shapes; another one. */
static void recordings(void **state)
{
    (void)state;
    static const char totals[] = "----  ----\nSelf CPU time total: 9.000us\n";
    struct text text = {0};
    text_add(&text, "Name  CPU total  # of Calls\na  2.000us  3\nb  1.000us  1\n%s", totals);
    text_add(&text, "Name  CPU total  # of Calls\nc  5.000us  3\na  2.000us  3\n%s", totals);
    text_add(&text,
             "Name  CPU total  # of Calls  Input Shapes\na  1.000us  1  [[1]]\n"
             "a  1.000us  2  [[2]]\n%s",
             totals);
    text_add(&text, "Name  CPU total  # of Calls\na  7.000us  3\n");
    assert_rows(text.at, "operator [a] ? 3 ? 2000 ? ? ? ?\n"
                         "operator [b] ? 1 ? 1000 ? ? ? ?\n"
                         "operator [c] ? 3 ? 5000 ? ? ? ?\n"
                         "total [?] 9000 ?\n"
                         "operator [a] ? 3 ? 7000 ? ? ? ?\n"
                         "total [?] ? ?\n");
    text_free(&text);
    assert_rows(HEADS "\nk  0%  0.000us  0.000us  3.000us  3.000us  5\n"
                      "k  0%  1.000us  1.000us  3.000us  3.000us  5\n" HEADS
                      "\nk  0%  1.000us  1.000us  3.000us  3.000us  5\n",
                "operator [k] ? 5 0 0 3000 3000 ? ?\n"
                "operator [k] ? 5 1000 1000 3000 3000 ? ?\n"
                "total [CUDA] ? ?\n");
}

static void damaged_tables(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, plugin,
                "---  --------  ----------\n"
                "Name  Self CPU  # of Calls\n"
                "----  --------  ----------\n"
                "----  --------  ----------\n"
                "Name  Self CPU  # of Calls\n"
                "----  --------  ----------\n"
                "   a   1.000ly           3\n"
                "   b   1.000us         few\n"
                "   c\n"
                "something in between\n",
                "operator [a] ? 3 ? ? ? ? ? ?\n"
                "total [?] ? ?\n",
                &r);
    assert_int_equal(r.kept, 1);
    assert_int_equal(r.dropped, 3);
    assert_null(r.trace->dump.set); /* without its last line it is a set of its own */
    reading_free(&r);
    assert_refused(&fixture, plugin, "----  --------  ----------\nName  Self CPU  # of Calls\n");
}

/* ---- stacks --------------------------------------------------------------------------------- */

static const char stacks[] = "a.py(3):_f;b.py(4):_g;<built-in_method_zeros> 42\n"
                             "a.py(3):_f;b.py(4):_g;<built-in_method_zeros> 26\r\n\n"
                             "alone 7";

static void folded_stacks(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, stack_plugin, stacks,
                "stack [a.py(3):_f;b.py(4):_g;<built-in_method_zeros>] ? 42000\n"
                "stack [a.py(3):_f;b.py(4):_g;<built-in_method_zeros>] ? 26000\n"
                "stack [alone] ? 7000\n",
                &r);
    reading_free(&r);
    assert_dump(&fixture, stack_plugin, "a;b 1\nno value\n;c -5\nd;e 99999999999999999999\n",
                "stack [a;b] ? ? 1 samples\n", &r);
    assert_int_equal(r.dropped, 3);
    assert_finding(&r.quality, TA_Q_BAD_RECORD, 3, 6);
    reading_free(&r);
}

/* ---- memory --------------------------------------------------------------------------------- */

static const char memory[] =
    "|===========================================================================|\n"
    "|                  PyTorch CUDA memory summary, device ID 3                 |\n"
    "|---------------------------------------------------------------------------|\n"
    "|            CUDA OOMs: 2            |        cudaMalloc retries: 5         |\n"
    "|===========================================================================|\n"
    "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"
    "|---------------------------------------------------------------------------|\n"
    "| Allocated memory      |  243201 KB |    1 GiB   |     915 MB |  694350 KB |\n"
    "|       from large pool |  243200 KB |  427520 KB |     915 MB |  694305 KB |\n"
    "| GPU reserved memory   |     512 B  |      2 MiB |  483328 KB |  229376 KB |\n"
    "| Allocations           |       8    |      15 K  |      68    |      60    |\n"
    "|===========================================================================|\n";

static void memory_summary(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, plugin, memory,
                "memory [memory summary] ? 3 249037824 512 1073741824 2097152 2 5\n", &r);
    assert_int_equal(r.trace->dump.exactness, TA_EXACT_CONSOLE);
    reading_free(&r);
    struct text two = {0};
    text_add(&two, "%s%s", memory, memory);
    assert_rows(two.at, "memory [memory summary] ? 3 249037824 512 1073741824 2097152 2 5\n"
                        "memory [memory summary] ? 3 249037824 512 1073741824 2097152 2 5\n");
    text_free(&two);
    assert_refused(&fixture, plugin,
                   "|  PyTorch CUDA memory summary, device ID 0 |\n| Allocated memory | 3 \n");
}

/* ---- nsys ----------------------------------------------------------------------------------- */

static const char kernels[] =
    "Processing [run.sqlite] with [cuda_gpu_kern_sum.py]...\n\n"
    "\"Time (%)\",\"Total Time (ns)\",\"Instances\",\"Avg (ns)\",\"Name\"\r\n"
    "60.5,2000,4,500.0,\"void k<int, 3ul>(int)\"\r\n"
    "1.0,5\r\n"
    "39.5,1000,1,1000.0,\"open\r\n";

static void sums_of_nsys(void **state)
{
    (void)state;
    struct reading r;
    assert_dump(&fixture, "nsys_sums", kernels,
                "operator [void k<int, 3ul>(int)] ? 4 ? ? 2000 2000 ? ?\n"
                "operator [open] ? 1 ? ? 1000 1000 ? ?\n",
                &r);
    assert_int_equal(r.kept, 2);
    assert_int_equal(r.dropped, 1);
    assert_finding(&r.quality, TA_Q_BAD_RECORD, 1, 159);
    assert_finding(&r.quality, TA_Q_SYNTAX, 1, 166);
    reading_free(&r);
    assert_dump(&fixture, "nsys_sums", "Total Time (ms),Num Calls,Name\n1.5,2,cudaLaunchKernel\n",
                "operator [cudaLaunchKernel] ? 2 ? 1500000 ? ? ? ?\n", &r);
    reading_free(&r);
    assert_dump(&fixture, "nsys_sums", "Total Time (ns);Instances;Name\n9,9;2;k\n",
                "operator [k] ? 2 ? ? 10 10 ? ?\n", &r);
    reading_free(&r);
    assert_refused(&fixture, "nsys_sums", "Total Time (ns),Instances,Name\nx,y,z\n");
}

/* ---- recognizing ---------------------------------------------------------------------------- */

static int sureness(const char *input, const char *text)
{
    return fixture_sniff(&fixture, input, text, strlen(text));
}

static void texts_are_recognized(void **state)
{
    (void)state;
    assert_int_equal(sureness(plugin, cpu_table), 45);
    assert_int_equal(sureness(plugin, "[rank0]: " HEADS "\n"), 45);
    assert_int_equal(sureness(plugin, memory), 45);
    assert_int_equal(sureness(stack_plugin, stacks), 50);
    assert_int_equal(sureness("nsys_sums", kernels), 88);
    assert_int_equal(sureness(stack_plugin, "one 1\ntwo 2\n"), 0); /* no stack has two frames */
    assert_int_equal(sureness(stack_plugin, "a;b 1\nprose\n"), 0);
    assert_int_equal(sureness(stack_plugin, "{\"a;b\": 5}\n"), 0);
    assert_int_equal(sureness(stack_plugin, ""), 0);
    assert_int_equal(sureness("nsys_sums", "Total Time (ns),Name\n"), 0);
}

static void beginnings_do_no_harm(void **state)
{
    (void)state;
    read_all_beginnings(&fixture, plugin, cpu_table);
    read_all_beginnings(&fixture, plugin, memory);
    read_all_beginnings(&fixture, stack_plugin, stacks);
    read_all_beginnings(&fixture, "nsys_sums", kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_of_the_cpu),
        cmocka_unit_test(operators_of_a_device),
        cmocka_unit_test(operators_of_old_versions),
        cmocka_unit_test(tables_without_their_places),
        cmocka_unit_test(tables_in_logs_and_comments),
        cmocka_unit_test(operators_with_everything),
        cmocka_unit_test(recordings),
        cmocka_unit_test(damaged_tables),
        cmocka_unit_test(folded_stacks),
        cmocka_unit_test(memory_summary),
        cmocka_unit_test(sums_of_nsys),
        cmocka_unit_test(texts_are_recognized),
        cmocka_unit_test(beginnings_do_no_harm),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
