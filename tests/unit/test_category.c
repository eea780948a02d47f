/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What categories of all vendors and years mean. */
#include "model/category.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
    const char *name;
    enum ta_event_class class;
} examples[] = {
    {"kernel", TA_CLASS_KERNEL},
    {"Kernel", TA_CLASS_KERNEL},
    {"mtia_ccp_events", TA_CLASS_KERNEL},
    {"gpu_memcpy", TA_CLASS_MEMCPY},
    {"Memcpy", TA_CLASS_MEMCPY},
    {"gpu_memset", TA_CLASS_MEMSET},
    {"MEMSET", TA_CLASS_MEMSET},
    {"cpu_op", TA_CLASS_OP},
    {"Operator", TA_CLASS_OP},
    {"cuda_runtime", TA_CLASS_RUNTIME},
    {"cuda_driver", TA_CLASS_RUNTIME},
    {"hip_runtime", TA_CLASS_RUNTIME},
    {"Runtime", TA_CLASS_RUNTIME},
    {"mtia_runtime", TA_CLASS_RUNTIME},
    {"xpu_driver", TA_CLASS_RUNTIME},
    {"gpu_user_annotation", TA_CLASS_ANNOTATION},
    {"Trace", TA_CLASS_ANNOTATION},
    {"cuda_profiler_range", TA_CLASS_ANNOTATION},
    {"cuda_sync", TA_CLASS_SYNC},
    {"ac2g", TA_CLASS_FLOW},
    {"async", TA_CLASS_FLOW},
    {"async_gpu", TA_CLASS_FLOW},
    {"async_cpu_to_gpu", TA_CLASS_FLOW},
    {"fwdbwd", TA_CLASS_FLOW},
    {"", TA_CLASS_HOST},
    {"user_annotation", TA_CLASS_HOST},
    {"python_function", TA_CLASS_HOST},
    {"cpu_instant_event", TA_CLASS_HOST},
    {"kernels", TA_CLASS_HOST},
    {"a kernel", TA_CLASS_HOST},
    {"runtime_x", TA_CLASS_HOST},
    {"overhead", TA_CLASS_HOST},
    {"drive", TA_CLASS_HOST},
};

static void every_category(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (ta_category_classify(ta_slice_of(examples[i].name)) != examples[i].class)
            fail_msg("\"%s\" is of class %d", examples[i].name,
                     ta_category_classify(ta_slice_of(examples[i].name)));
}

/* Every class is host, device or neither. */
static void classes_are_told_apart(void **state)
{
    (void)state;
    for (int class = TA_CLASS_HOST; class <= TA_CLASS_FLOW; class ++) {
        const bool host =
            class == TA_CLASS_HOST || class == TA_CLASS_OP || class == TA_CLASS_RUNTIME;
        const bool device =
            class == TA_CLASS_KERNEL || class == TA_CLASS_MEMCPY || class == TA_CLASS_MEMSET;
        assert_int_equal(ta_class_is_host((enum ta_event_class) class), host);
        assert_int_equal(ta_class_is_device((enum ta_event_class) class), device);
    }
}

static void names_are_slices(void **state)
{
    (void)state;
    assert_int_equal(ta_category_classify((struct ta_slice){"kernelx", 6}), TA_CLASS_KERNEL);
    assert_int_equal(ta_category_classify((struct ta_slice){"kernel", 5}), TA_CLASS_HOST);
    assert_int_equal(ta_category_classify(TA_LIT("kernel\0x")), TA_CLASS_HOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_category),
        cmocka_unit_test(classes_are_told_apart),
        cmocka_unit_test(names_are_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
