/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one table of kernel names.  Only what is certain is listed: an unknown name computes. */
#include "traceanalyze/kernel.h"

#include <ctype.h>
#include <strings.h>

/* A name matches when it holds `start`, any letter case, and, where `end` is given, holds that too
 * behind it within the same word of letters, digits and underscores: "ncclDevKernel_AllReduce"
 * but not "ncclComm(kernel)". */
static const struct {
    enum ta_kernel_class class;
    const char *start, *end;
} names[] = {
    {TA_KERNEL_COMM, "nccl", "kernel"}, /* ncclKernel_… until 2.18, ncclDevKernel_… since */
    {TA_KERNEL_COMM, "rccl", NULL},
    {TA_KERNEL_COMM, "nvshmem", NULL},
    {TA_KERNEL_COMM, "multimem_all_reduce", NULL}, /* torch symmetric memory */
    {TA_KERNEL_COMM, "cross_device_reduce", NULL}, /* vLLM, SGLang custom all-reduce */
    {TA_KERNEL_COMM, "one_shot_all_reduce", NULL},
    {TA_KERNEL_COMM, "one_shot_allreduce", NULL},
    {TA_KERNEL_COMM, "oneshot_all_reduce", NULL},
    {TA_KERNEL_COMM, "oneshot_allreduce", NULL},
    {TA_KERNEL_COMM, "two_shot_all_reduce", NULL},
    {TA_KERNEL_COMM, "two_shot_allreduce", NULL},
    {TA_KERNEL_COMM, "twoshot_all_reduce", NULL},
    {TA_KERNEL_COMM, "twoshot_allreduce", NULL},
    {TA_KERNEL_COMM, "hcom_", NULL},   /* Ascend's collectives: hcom_allReduce__231_0 */
    {TA_KERNEL_COMM, "deep_ep", NULL}, /* expert-parallel dispatch and combine */
};

/* Place of `what` in `text` at or after `from`, or SIZE_MAX. */
static size_t find(struct ta_slice text, size_t from, const char *what)
{
    const size_t n = strlen(what);
    for (size_t i = from; i + n <= text.len; i++)
        if (tolower((unsigned char)text.ptr[i]) == what[0] &&
            strncasecmp(text.ptr + i, what, n) == 0)
            return i;
    return SIZE_MAX;
}

static bool matches(struct ta_slice name, const char *start, const char *end)
{
    size_t at = find(name, 0, start);
    for (; end && at != SIZE_MAX; at = find(name, at + 1, start)) {
        size_t word = at;
        while (word < name.len && (isalnum((unsigned char)name.ptr[word]) || name.ptr[word] == '_'))
            word++;
        if (find((struct ta_slice){name.ptr, word}, at + strlen(start), end) != SIZE_MAX)
            return true;
    }
    return at != SIZE_MAX;
}

enum ta_kernel_class ta_kernel_classify(struct ta_slice name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (matches(name, names[i].start, names[i].end))
            return names[i].class;
    return TA_KERNEL_COMPUTE;
}

const char *ta_kernel_class_name(enum ta_kernel_class kernel_class)
{
    static const char *const class_names[TA_KERNEL_CLASS_COUNT] = {
        [TA_KERNEL_COMPUTE] = "compute",
        [TA_KERNEL_COMM] = "comm",
    };
    return class_names[kernel_class];
}
