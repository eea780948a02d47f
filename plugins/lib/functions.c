/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where in a program somebody can act. */
#include "lib/functions.h"

#include <stdlib.h>

enum { NAME_UNKNOWN, NAME_OTHER, NAME_FUNCTION, NAME_RANGE };

static bool holds(struct ta_slice name, const char *text)
{
    return memmem(name.ptr, name.len, text, strlen(text)) != NULL;
}

/* The path within the packages, where it is one of them. */
static struct ta_slice in_packages(struct ta_slice name)
{
    static const char *const folders[] = {"site-packages/", "dist-packages/"};
    for (size_t i = 0; i < TA_LENGTH(folders) && name.len; i++) {
        const char *at = memmem(name.ptr, name.len, folders[i], strlen(folders[i]));
        if (at)
            return ta_slice_from(name, (size_t)(at - name.ptr) + strlen(folders[i]));
    }
    return name;
}

/* The path of "sampler.py(88): step" and what follows it, or of "step (sampler.py:88)". */
static struct ta_slice path_of(struct ta_slice name)
{
    const char *end = memmem(name.ptr, name.len, ".py:", 4);
    const char *open = end ? memrchr(name.ptr, '(', (size_t)(end - name.ptr)) : NULL;
    if (open)
        return ta_slice_from(name, (size_t)(open + 1 - name.ptr));
    return memmem(name.ptr, name.len, ".py(", 4) ? name : TA_LIT("");
}

/* Not of what every program runs on. */
bool ta_function_is_of_program(struct ta_slice name)
{
    static const char *const starts[] = {"torch/",
                                         "triton/",
                                         "numpy/",
                                         "PIL/",
                                         "scipy/",
                                         "cv2/",
                                         "einops/",
                                         "tqdm/",
                                         "asyncio/",
                                         "concurrent/",
                                         "multiprocessing/",
                                         "importlib",
                                         "logging/",
                                         "json/",
                                         "encodings/",
                                         "collections/",
                                         "threading.py",
                                         "contextlib.py",
                                         "functools.py",
                                         "selectors.py",
                                         "queue.py",
                                         "typing.py",
                                         "runpy.py",
                                         "abc.py",
                                         "copy.py",
                                         "inspect.py",
                                         "weakref.py",
                                         "warnings.py",
                                         "enum.py",
                                         "dataclasses.py",
                                         "os.py",
                                         "socket.py",
                                         "random.py",
                                         "subprocess.py",
                                         "traceback.py",
                                         "<",
                                         "nn.Module"};
    static const char *const parts[] = {"torchinductor", "(compiled code", "/torch/nn/",
                                        "/torch/_",      "/torch/utils/",  "/torch/autograd/"};
    const struct ta_slice whole = path_of(name), path = in_packages(whole);
    if (!whole.len ||
        (path.ptr == whole.ptr && (holds(path, "lib/python2") || holds(path, "lib/python3"))))
        return false;
    for (size_t i = 0; i < TA_LENGTH(starts); i++)
        if (ta_slice_starts(path, starts[i]))
            return false;
    for (size_t i = 0; i < TA_LENGTH(parts); i++)
        if (holds(path, parts[i]))
            return false;
    return true;
}

/* What somebody annotated, but not the steps of a profiler, nor the profiler. */
static bool is_range(const struct ta_functions *f, ta_row row, struct ta_slice name)
{
    const struct ta_category *category = &f->categories.at[f->spans.cat[row]];
    return category->class == TA_CLASS_HOST &&
           ta_slice_equal(ta_trace_text(f->trace, category->name), TA_LIT("user_annotation")) &&
           !ta_host_is_step(name) && !holds(name, "PyTorch Profiler");
}

static uint8_t kind_of(struct ta_functions *f, ta_row row)
{
    uint8_t *known = &f->names[f->spans.name[row]];
    if (*known == NAME_UNKNOWN) {
        const struct ta_slice name = ta_trace_text(f->trace, f->spans.name[row]);
        *known = f->spans.work[row] == TA_HOST_PYTHON && ta_function_is_of_program(name)
                     ? NAME_FUNCTION
                 : is_range(f, row, name) ? NAME_RANGE
                                          : NAME_OTHER;
    }
    return *known;
}

static bool is_of_program(void *user, ta_row row)
{
    return kind_of(user, row) == NAME_FUNCTION;
}

static bool is_annotated(void *user, ta_row row)
{
    return kind_of(user, row) == NAME_RANGE;
}

/* An operator, but not a step that an early profiler wrote as one. */
static bool is_operator(const struct ta_functions *f, ta_row row)
{
    return row != TA_NO_ROW && f->categories.at[f->spans.cat[row]].class == TA_CLASS_OP &&
           !ta_host_is_step(ta_trace_text(f->trace, f->spans.name[row]));
}

static bool is_outermost(void *user, ta_row row)
{
    const struct ta_functions *f = user;
    return is_operator(f, row) && !is_operator(f, f->spans.parent[row]);
}

bool ta_functions_open(struct ta_functions *f, const struct ta_trace *trace)
{
    *f = (struct ta_functions){
        .trace = trace, .spans = ta_trace_spans(trace), .categories = ta_trace_categories(trace)};
    f->functions.parent = f->ranges.parent = f->operators.parent = f->spans.parent;
    for (size_t i = 0; i < TA_FUNCTIONS_RECENT; i++)
        f->recent[i].row = TA_NO_ROW;
    f->names = calloc(ta_trace_string_count(trace) + 1, sizeof *f->names);
    return f->names != NULL;
}

void ta_functions_close(struct ta_functions *f)
{
    free(f->names);
    ta_outward_free(&f->functions);
    ta_outward_free(&f->ranges);
    ta_outward_free(&f->operators);
}

ta_row ta_operator_around(struct ta_functions *f, ta_row row)
{
    return ta_outward_find(&f->operators, row, is_outermost, f);
}

static ta_row find_around(struct ta_functions *f, ta_row row)
{
    const ta_row function = ta_outward_find(&f->functions, row, is_of_program, f);
    if (function != TA_NO_ROW)
        return function;
    const ta_row range = ta_outward_find(&f->ranges, row, is_annotated, f);
    return range != TA_NO_ROW ? range : ta_operator_around(f, row);
}

/* Spans that are asked for one after the other have mostly the same parent. */
static ta_row around_parent(struct ta_functions *f, ta_row parent)
{
    const size_t at = parent % TA_FUNCTIONS_RECENT;
    if (parent == TA_NO_ROW)
        return TA_NO_ROW;
    if (f->recent[at].row != parent) {
        f->recent[at].found = find_around(f, parent);
        f->recent[at].row = parent;
    }
    return f->recent[at].found;
}

ta_row ta_function_around(struct ta_functions *f, ta_row row)
{
    const uint8_t kind = row == TA_NO_ROW ? NAME_OTHER : kind_of(f, row);
    if (row == TA_NO_ROW || kind == NAME_FUNCTION)
        return row;
    const ta_row around = around_parent(f, f->spans.parent[row]);
    const uint8_t around_kind = around == TA_NO_ROW ? NAME_OTHER : kind_of(f, around);
    if (around_kind == NAME_FUNCTION)
        return around;
    return kind == NAME_RANGE || (around_kind == NAME_OTHER && is_outermost(f, row)) ? row : around;
}
