/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames of the program and frames of the framework.
 *
 * torch.cuda.memory._record_memory_history() takes C++ frames too unless it is told not to, so a
 * stack begins with some twenty frames of the unwinder, the allocator and the dispatcher. Frames
 * are classified by what they are made of: Python frames have a Python source file. */
#include "site.h"

#include "model/allocator.h"

#include <stdio.h>

/* ---- Python -------------------------------------------------------------------------------- */

/* Paths of the framework, as folders or files of that name anywhere in a path; a backslash is a
 * slash.  "torch/" alone would take a program's own folder of that name for PyTorch, so a source
 * tree of it is known by its packages.  Libraries that are built on PyTorch are the program's. */
static const char *const framework_paths[] = {
    "site-packages/torch/",
    "dist-packages/torch/",
    "site-packages/triton/",
    "dist-packages/triton/",
    "site-packages/functorch/",
    "dist-packages/functorch/",
    "torch/amp/",
    "torch/autograd/",
    "torch/cuda/",
    "torch/distributed/",
    "torch/export/",
    "torch/func/",
    "torch/functional.py",
    "torch/fx/",
    "torch/jit/",
    "torch/library.py",
    "torch/nn/",
    "torch/optim/",
    "torch/overrides.py",
    "torch/profiler/",
    "torch/random.py",
    "torch/serialization.py",
    "torch/storage.py",
    "torch/utils/",
    "torch/_",
};

/* Code that no source file holds, but a person wrote: cells of notebooks, and -c. */
static const char *const typed_code[] = {"<ipython-input-", "<stdin>", "<string>"};

/* The folder of the code that torch.compile writes, followed by the user's name. */
static const char generated_code[] = "torchinductor_";

/* "file:line" between the last brackets; C++ frames without debug information have none. */
static struct ta_slice place_of(struct ta_slice frame)
{
    if (frame.len == 0 || frame.ptr[frame.len - 1] != ')')
        return (struct ta_slice){0};
    for (size_t i = frame.len - 1; i-- > 1;)
        if (frame.ptr[i] == '(' && frame.ptr[i - 1] == ' ')
            return ta_slice_part(frame, i + 1, frame.len - 1);
    return (struct ta_slice){0};
}

/* The path of a place. */
static struct ta_slice path_of(struct ta_slice frame)
{
    struct ta_slice place = place_of(frame);
    while (place.len && place.ptr[place.len - 1] != ':')
        place.len--;
    place.len -= place.len > 0;
    return place;
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

static bool begins_with(struct ta_slice text, const char *part)
{
    const size_t n = strlen(part);
    for (size_t i = 0; i < n && i < text.len; i++)
        if (text.ptr[i] != part[i] && !(is_slash(text.ptr[i]) && part[i] == '/'))
            return false;
    return n <= text.len;
}

/* Whether `part` is in a path as folders: at its start or after a slash. */
static bool has_folder(struct ta_slice path, const char *part)
{
    for (size_t at = 0; at < path.len; at++)
        if ((at == 0 || is_slash(path.ptr[at - 1])) && begins_with(ta_slice_from(path, at), part))
            return true;
    return false;
}

static bool is_typed(struct ta_slice path)
{
    for (size_t i = 0; i < sizeof typed_code / sizeof *typed_code; i++)
        if (begins_with(path, typed_code[i]))
            return true;
    return false;
}

static bool is_python(struct ta_slice path)
{
    return ta_slice_ends(path, ".py") || ta_slice_ends(path, ".pyx") || begins_with(path, "<");
}

/* Python's own modules are in lib/python3.x, and what is installed in a folder below. */
static bool is_of_standard_library(struct ta_slice path)
{
    return has_folder(path, "lib/python") && !has_folder(path, "site-packages/") &&
           !has_folder(path, "dist-packages/");
}

static bool is_framework(struct ta_slice path)
{
    if (begins_with(path, "<"))
        return !is_typed(path);
    for (size_t i = 0; i < sizeof framework_paths / sizeof *framework_paths; i++)
        if (has_folder(path, framework_paths[i]))
            return true;
    return has_folder(path, generated_code) || is_of_standard_library(path);
}

/* ---- C++ ----------------------------------------------------------------------------------- */

/* A node of the graph that autograd runs backwards, whose threads have no frames of Python. */
static const char *const backward_names[] = {"torch::autograd::generated::",
                                             "torch::autograd::AccumulateGrad"};

/* What records a stack, allocates and makes tensors, on top of every stack. */
static const char *const allocating_names[] = {
    "torch::unwind",
    "torch::CapturedTraceback",
    "torch::cuda::",
    "c10::",
    "at::detail::",
    "at::TensorBase at::detail::",
    "at::empty",
    "at::native::empty",
    "at::(anonymous namespace)::create_out",
};

static bool begins_with_any(struct ta_slice text, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (begins_with(text, parts[i]))
            return true;
    return false;
}

#define BEGINS_WITH_ANY(text, list) begins_with_any(text, list, sizeof(list) / sizeof *(list))

/* Its name without arguments, which fill lines. */
static struct ta_slice cut_arguments(struct ta_slice frame)
{
    for (size_t i = 1; i < frame.len; i++)
        if (frame.ptr[i] == '(' && frame.ptr[i - 1] != ':' && frame.ptr[i - 1] != ' ')
            return (struct ta_slice){frame.ptr, i};
    return frame;
}

/* Without Python a backward step says most, else the operator: the first frame that neither records
 * nor allocates. */
static struct ta_slice native_site(const struct ta_trace *trace, const struct ta_frames *stack)
{
    struct ta_slice site = {0};
    for (uint32_t i = 0; i < stack->n; i++) {
        const struct ta_slice frame = ta_trace_text(trace, stack->at[i]);
        if (BEGINS_WITH_ANY(frame, backward_names))
            return cut_arguments(frame);
        if (!site.len && frame.len && !is_python(path_of(frame)) &&
            !BEGINS_WITH_ANY(frame, allocating_names))
            site = cut_arguments(frame);
    }
    return site;
}

/* ---- sites --------------------------------------------------------------------------------- */

struct ta_slice site_of(const struct ta_trace *trace, const struct ta_frames *stack)
{
    struct ta_slice innermost = {0};
    for (uint32_t i = 0; i < stack->n; i++) {
        const struct ta_slice frame = ta_trace_text(trace, stack->at[i]);
        const struct ta_slice path = path_of(frame);
        if (!is_python(path))
            continue;
        if (!is_framework(path))
            return frame;
        if (!innermost.len)
            innermost = frame;
    }
    if (!innermost.len)
        innermost = native_site(trace, stack);
    return innermost.len || !stack->n ? innermost : TA_LIT("(no Python frame)");
}

/* ---- phases -------------------------------------------------------------------------------- */

/* "forward (vae.py:30)" as traces write it, "vae.py(30): forward"; empty for other frames, and for
 * very long ones. */
static struct ta_slice as_traced(struct ta_slice frame, char text[512])
{
    const struct ta_slice place = place_of(frame);
    size_t colon = place.len;
    while (colon > 0 && place.ptr[colon - 1] != ':')
        colon--;
    if (colon < 2 || place.len + 3 >= frame.len || frame.len + 8 > 512)
        return (struct ta_slice){0};
    const int n = snprintf(text, 512, "%.*s(%.*s): %.*s", (int)(colon - 1), place.ptr,
                           (int)(place.len - colon), ta_slice_at(place, colon),
                           (int)(frame.len - place.len - 3), frame.ptr);
    return n > 0 && n < 512 ? (struct ta_slice){text, (size_t)n} : (struct ta_slice){0};
}

int64_t phase_of(const struct ta_trace *trace, const struct ta_frames *stack)
{
    char text[512];
    for (uint32_t i = 0; i < stack->n; i++) {
        const struct ta_slice traced = as_traced(ta_trace_text(trace, stack->at[i]), text);
        const struct generation_name name = generation_name_of(traced);
        if (name.by == TA_GENERATION_BY_FUNCTION)
            return name.phase;
    }
    return TA_GENERATION_PHASES;
}
