/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What names of spans say of modules (torch.nn.Module). */
#ifndef TA_LIB_MODULES_H
#define TA_LIB_MODULES_H

#include <traceanalyze/base.h>

#define TA_MODULE_START "nn.Module: "

/* Whether a function of Python is the call of a module: "nn.Module: Linear_12". */
static inline bool ta_is_module(struct ta_slice name)
{
    return ta_slice_starts(name, TA_MODULE_START);
}

/* "Linear_12" of that. */
static inline struct ta_slice ta_module_name(struct ta_slice name)
{
    const size_t n = sizeof TA_MODULE_START - 1;
    return ta_slice_from(name, n);
}

/* And "Linear". */
static inline struct ta_slice ta_module_class(struct ta_slice name)
{
    name = ta_module_name(name);
    size_t end = name.len;
    while (end > 0 && name.ptr[end - 1] >= '0' && name.ptr[end - 1] <= '9')
        end--;
    if (end > 1 && end < name.len && name.ptr[end - 1] == '_')
        name.len = end - 1;
    return name;
}

/* Whether a span is where a programmer acts: a module, or a function of Python that is none of
 * PyTorch's own. */
static inline bool ta_is_own_place(struct ta_slice name)
{
    return ta_is_module(name) ||
           (memmem(name.ptr, name.len, ".py(", 4) && !ta_slice_starts(name, "torch/") &&
            !memmem(name.ptr, name.len, "/torch/", 7));
}

#endif
