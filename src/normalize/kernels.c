/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distinct kernels of a trace: names are looked at once each, not per activity. */
#include "model/kernel.h"
#include "normalize/normalize.h"

#include "traceanalyze/base.h"

bool ta_list_kernels(struct ta_trace *trace)
{
    const struct span_columns *c = &trace->spans;
    struct ta_map known = {0};
    bool done = true;
    for (size_t i = 0; done && i < trace->activities.n; i++) {
        struct ta_activity *a = &trace->activities.at[i];
        a->kernel = TA_NO_KERNEL;
        if (trace->categories.at[c->cat[a->span]].class != TA_CLASS_KERNEL)
            continue;
        const ta_str name = c->name[a->span];
        uint64_t *index = ta_map_at(&known, name, trace->kernels.n);
        if (index && *index == trace->kernels.n)
            done = ta_vec_push(
                &trace->kernels,
                (struct ta_kernel){name, ta_kernel_describe(ta_trace_text(trace, name))});
        a->kernel = index ? (uint32_t)*index : TA_NO_KERNEL;
        done &= index != NULL;
    }
    ta_map_free(&known);
    return done;
}
