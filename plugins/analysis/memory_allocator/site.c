/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames of the program and frames of the framework. */
#include "site.h"

/* "file:line" between the last brackets; C++ frames and such have none. */
static struct ta_slice place_of(struct ta_slice frame)
{
    if (frame.len == 0 || frame.ptr[frame.len - 1] != ')')
        return (struct ta_slice){0};
    for (size_t i = frame.len - 1; i-- > 1;)
        if (frame.ptr[i] == '(' && frame.ptr[i - 1] == ' ')
            return ta_slice_part(frame, i + 1, frame.len - 1);
    return (struct ta_slice){0};
}

/* Whether `part` stands in a path as folders: at its start or behind a slash. */
static bool has_folder(struct ta_slice path, const char *part)
{
    const size_t n = strlen(part);
    for (size_t at = 0; at + n <= path.len; at++)
        if ((at == 0 || path.ptr[at - 1] == '/') && memcmp(ta_slice_at(path, at), part, n) == 0)
            return true;
    return false;
}

/* Whether a frame, "function (file:line)", belongs to the allocator, PyTorch, Python itself, or
 * to no source file. */
static bool is_framework(struct ta_slice frame)
{
    /* "torch/" alone would take a program's own folder of that name for PyTorch. */
    static const char *const folders[] = {
        "site-packages/torch/",
        "dist-packages/torch/",
        "site-packages/triton/",
        "torch/nn/",
        "torch/autograd/",
        "torch/cuda/",
        "torch/utils/",
        "torch/distributed/",
        "torch/fx/",
        "torch/jit/",
        "torch/optim/",
        "torch/amp/",
        "torch/_",
        "torch/functional.py",
        "torch/random.py",
        "torch/storage.py",
        "torch/serialization.py",
        "torch/overrides.py",
        "torch/library.py",
        "torch/csrc/",
        "c10/",
    };
    const struct ta_slice place = place_of(frame);
    if (place.len == 0 || place.ptr[0] == '<')
        return true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (has_folder(place, folders[i]))
            return true;
    const bool installed =
        has_folder(place, "site-packages/") || has_folder(place, "dist-packages/");
    return !installed && memmem(place.ptr, place.len, "/lib/python", 11) != NULL;
}

struct ta_slice site_of(const struct ta_trace *trace, const struct ta_frames *stack)
{
    for (uint32_t i = 0; i < stack->n; i++) {
        const struct ta_slice frame = ta_trace_text(trace, stack->at[i]);
        if (!is_framework(frame))
            return frame;
    }
    return stack->n ? ta_trace_text(trace, stack->at[0]) : TA_LIT("");
}
