/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terms of a device's window by what kind of work they are, in the words of the picture of a run:
 * few, and none has a name of a kernel, so that all can be read at a glance. */
#include "compare/cause.h"
#include "compare/window.h"
#include "model/idle/idle.h"
#include "model/kernel.h"

#define FUSIBLE "pointwise and norm"
#define FUSED "fused (Triton)"
const struct ta_slice diff_fusible = {FUSIBLE, sizeof FUSIBLE - 1},
                      diff_fused = {FUSED, sizeof FUSED - 1};

struct diff_family diff_family_of(struct ta_slice kernel)
{
    static const char *const titles[DIFF_FAMILIES] = {
        [DIFF_FAMILY_GEMM] = "GEMM",        [DIFF_FAMILY_ATTENTION] = "attention",
        [DIFF_FAMILY_CONV] = "convolution", [DIFF_FAMILY_FUSIBLE] = FUSIBLE,
        [DIFF_FAMILY_FUSED] = FUSED,        [DIFF_FAMILY_OTHER] = "other kernels",
    };
    static const enum diff_family_id families[TA_KERNEL_KIND_COUNT] = {
        [TA_KERNEL_GEMM] = DIFF_FAMILY_GEMM,        [TA_KERNEL_ATTENTION] = DIFF_FAMILY_ATTENTION,
        [TA_KERNEL_CONV] = DIFF_FAMILY_CONV,        [TA_KERNEL_NORM] = DIFF_FAMILY_FUSIBLE,
        [TA_KERNEL_SOFTMAX] = DIFF_FAMILY_FUSIBLE,  [TA_KERNEL_ELEMENTWISE] = DIFF_FAMILY_FUSIBLE,
        [TA_KERNEL_COPY] = DIFF_FAMILY_FUSIBLE,     [TA_KERNEL_REDUCE] = DIFF_FAMILY_FUSIBLE,
        [TA_KERNEL_INDEX] = DIFF_FAMILY_FUSIBLE,    [TA_KERNEL_RANDOM] = DIFF_FAMILY_OTHER,
        [TA_KERNEL_QUANT] = DIFF_FAMILY_OTHER,      [TA_KERNEL_TRITON] = DIFF_FAMILY_FUSED,
        [TA_KERNEL_COLLECTIVE] = DIFF_FAMILY_OTHER, [TA_KERNEL_OTHER] = DIFF_FAMILY_OTHER,
    };
    const struct ta_kernel_facts facts = ta_kernel_describe(kernel);
    const enum diff_family_id id = facts.known ? families[facts.kind] : DIFF_FAMILY_OTHER;
    return (struct diff_family){id, titles[id]};
}

/* What idle time is for, as the picture of a run says it. */
static const char *idle_words(struct ta_slice cause)
{
    static const struct {
        const char *part, *words;
    } all[] = {{"launch", "idle, launches come late"},
               {"host", "idle, host work not recorded"},
               {"sync", "idle, the host waited for the GPU"},
               {"allocation", "idle, memory is allocated"},
               {"setup", "idle, set-up or compilation"},
               {"input", "idle, waiting for data"},
               {"dependency", "idle, queued work waits"},
               {"host computation", "idle, the host computes"},
               {"before the recording", "work from before the recording"}};
    const struct ta_idle_cause_info *known = ta_idle_cause_find(cause);
    for (size_t i = 0; known && i < TA_LENGTH(all); i++)
        if (strcmp(known->part, all[i].part) == 0)
            return all[i].words;
    return "idle, cause not recorded";
}

struct ta_slice diff_class_of(struct ta_slice kind, struct ta_slice name)
{
    static const struct {
        const char *kind, *words;
    } all[] = {{"comm", "communication"}, {"memcpy", "copies"}, {"memset", "memory sets"}};
    if (ta_slice_equal(kind, TA_LIT("idle")))
        return ta_slice_of(idle_words(name));
    for (size_t i = 0; i < TA_LENGTH(all); i++)
        if (ta_slice_equal(kind, ta_slice_of(all[i].kind)))
            return ta_slice_of(all[i].words);
    return ta_slice_of(diff_family_of(name).title);
}
