/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one table of event categories.  Letter case does not matter: 2021 traces write "Kernel",
 * later ones "kernel". */
#include "model/category.h"

#include <strings.h>

static const struct {
    const char *name;
    enum ta_event_class class;
} categories[] = {
    {"kernel", TA_CLASS_KERNEL},
    {"mtia_ccp_events", TA_CLASS_KERNEL}, /* MTIA: jobs, DMA and waits in one category */
    {"gpu_memcpy", TA_CLASS_MEMCPY},
    {"memcpy", TA_CLASS_MEMCPY},
    {"gpu_memset", TA_CLASS_MEMSET},
    {"memset", TA_CLASS_MEMSET},
    {"cpu_op", TA_CLASS_OP},
    {"operator", TA_CLASS_OP},
    {"gpu_user_annotation", TA_CLASS_ANNOTATION},
    {"trace", TA_CLASS_ANNOTATION}, /* the whole recording window */
    {"cuda_profiler_range", TA_CLASS_ANNOTATION},
    {"cuda_sync", TA_CLASS_SYNC},
    {"xpu_sync", TA_CLASS_SYNC},
    {"ac2g", TA_CLASS_FLOW},
    {"async", TA_CLASS_FLOW},
    {"async_gpu", TA_CLASS_FLOW},
    {"async_cpu_to_gpu", TA_CLASS_FLOW},
    {"async_npu", TA_CLASS_FLOW},
    {"async_task_queue", TA_CLASS_FLOW}, /* from torch_npu's queue to the thread that takes */
    {"hosttodevice", TA_CLASS_FLOW},     /* CANN */
    {"cpu_to_cuda", TA_CLASS_FLOW},      /* before Kineto */
    {"fwdbwd", TA_CLASS_FLOW},
};

static bool ends_with(struct ta_slice text, const char *suffix)
{
    const size_t n = strlen(suffix);
    return text.len >= n && strncasecmp(ta_slice_end(text) - n, suffix, n) == 0;
}

enum ta_event_class ta_category_classify(struct ta_slice name)
{
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (strlen(categories[i].name) == name.len &&
            strncasecmp(categories[i].name, name.ptr, name.len) == 0)
            return categories[i].class;
    /* cuda_runtime, cuda_driver, hip_runtime, Runtime, mtia_runtime … */
    if (ends_with(name, "runtime") || ends_with(name, "driver"))
        return TA_CLASS_RUNTIME;
    return TA_CLASS_HOST;
}
