/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one table of what host spans do. Names of the CUDA and HIP runtimes and drivers, of torch and
 * of its compiler; letter case does not matter. */
#include "model/host.h"
#include "traceanalyze/model.h"
#include "traceanalyze/table.h"

#include <ctype.h>
#include <strings.h>

struct pattern {
    const char *text; /* anywhere in the name, in lower case */
    enum ta_host_work work;
    const char *end; /* and the name ends so; NULL for any end */
};

/* Calls of a runtime or driver, whatever its prefix: cudaMalloc, hipMalloc, cuMemAlloc.  The first
 * match counts. */
static const struct pattern calls[] = {
    {"graphlaunch", TA_HOST_GRAPH},
    {"launch", TA_HOST_LAUNCH},
    {"enqueue", TA_HOST_LAUNCH},     /* MTIA: enqueueCommand … */
    {"runfunction", TA_HOST_LAUNCH}, /* MTIA */
    /* cudaStreamSynchronize, synchronizeStream; tables cut names: "cudaDeviceSynchr...". */
    {"synchr", TA_HOST_SYNC},
    {"eventwait", TA_HOST_SYNC},        /* urEventWait; cuStreamWaitEvent does not wait */
    {"queuefinish", TA_HOST_SYNC},      /* urQueueFinish */
    {"memcpywithstream", TA_HOST_COPY}, /* HIP: waits for its copy */
    {"memsetaccess", TA_HOST_ALLOCATE}, /* cuMemSetAccess: maps memory */
    {"memcpy", TA_HOST_COPY},
    {"memset", TA_HOST_LAUNCH},
    {"mempool", TA_HOST_ALLOCATE},
    {"memalloc", TA_HOST_ALLOCATE},
    {"memcreate", TA_HOST_ALLOCATE},
    {"memmap", TA_HOST_ALLOCATE},
    {"memunmap", TA_HOST_ALLOCATE},
    {"memrelease", TA_HOST_ALLOCATE},
    {"memaddress", TA_HOST_ALLOCATE},
    {"malloc", TA_HOST_ALLOCATE},
    {"hostalloc", TA_HOST_ALLOCATE},
    {"hostregister", TA_HOST_ALLOCATE},
    {"hostunregister", TA_HOST_ALLOCATE},
    {"free", TA_HOST_ALLOCATE},
    {"moduleload", TA_HOST_COMPILE},
    {"moduleunload", TA_HOST_COMPILE},
    {"libraryload", TA_HOST_COMPILE},
    {"linkadd", TA_HOST_COMPILE},
    {"linkcreate", TA_HOST_COMPILE},
    {"linkcomplete", TA_HOST_COMPILE},
    {"rtccompile", TA_HOST_COMPILE}, /* nvrtcCompileProgram, hiprtcCompileProgram */
    {"graphinstantiate", TA_HOST_COMPILE},
};

/* Every other span: operators, annotations, Python functions with their file. */
static const struct pattern others[] = {
    {"dataloader", TA_HOST_DATA}, /* enumerate(DataLoader)#…, torch/utils/data/dataloader.py */
    {"torch/utils/data/", TA_HOST_DATA},
    {"torch/serialization.py", TA_HOST_DATA},
    {"safetensors", TA_HOST_DATA},
    {"load_state_dict", TA_HOST_DATA},
    {"from_pretrained", TA_HOST_DATA},
    {"load_checkpoint", TA_HOST_DATA},
    /* Each stage of torch.compile has such a range, whatever it is called; cudagraph trees, too. */
    {"(dynamo_timed)", TA_HOST_COMPILE},
    {"cudagraphnode.record", TA_HOST_COMPILE},
    /* Not the whole of torch/_inductor and Triton: parts run at every call of what was compiled. */
    {"torch/_inductor/compile_fx.py", TA_HOST_PYTHON, ": run"},
    {"triton/compiler/compiler.py", TA_HOST_PYTHON, ": launch_metadata"},
    {"triton/compiler/compiler.py", TA_HOST_PYTHON, ": __getattribute__"},
    {"triton/compiler/compiler.py", TA_HOST_PYTHON, ": __getitem__"},
    {"triton/compiler/compiler.py", TA_HOST_PYTHON, ": runner"},
    {"autotuner.py(", TA_HOST_COMPILE, ": _bench"},
    {"autotuner.py(", TA_HOST_COMPILE, ": benchmark"},
    {"autotuner.py(", TA_HOST_COMPILE, ": _profile_runners"},
    {"autotuner.py(", TA_HOST_PYTHON}, /* run() of Triton, choose_one() of FlashInfer */
    {"torch/_inductor/codegen/", TA_HOST_COMPILE},
    {"torch/_inductor/graph.py", TA_HOST_COMPILE},
    {"torch/_inductor/lowering.py", TA_HOST_COMPILE},
    {"torch/_inductor/scheduler.py", TA_HOST_COMPILE},
    {"torch/_inductor/async_compile.py", TA_HOST_COMPILE},
    {"torch/_inductor/select_algorithm.py", TA_HOST_COMPILE},
    {"torch/_dynamo/convert_frame", TA_HOST_COMPILE},
    {"torch/_dynamo/symbolic_convert", TA_HOST_COMPILE},
    {"torch/_dynamo/output_graph", TA_HOST_COMPILE},
    {"triton/compiler/", TA_HOST_COMPILE},
    {"entire_frame_compile", TA_HOST_COMPILE},
    {"compile_inner", TA_HOST_COMPILE},
    {"call_user_compiler", TA_HOST_COMPILE},
    {"create_aot_dispatcher_function", TA_HOST_COMPILE},
    {"compile_fx", TA_HOST_COMPILE},
    {"autotun", TA_HOST_COMPILE},
    {"lazy function loading", TA_HOST_COMPILE}, /* CUDA loads a kernel at its first launch */
    {"gloo:", TA_HOST_COLLECTIVE},              /* torch: gloo:all_reduce on its own thread */
};

static bool holds(struct ta_slice name, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= name.len; i++)
        if (tolower((unsigned char)name.ptr[i]) == text[0] &&
            strncasecmp(ta_slice_at(name, i), text, n) == 0)
            return true;
    return false;
}

static bool ends(struct ta_slice name, const char *text)
{
    const size_t n = text ? strlen(text) : 0;
    return n <= name.len && memcmp(ta_slice_end(name) - n, text ? text : "", n) == 0;
}

static enum ta_host_work look_up(struct ta_slice name, const struct pattern *patterns, size_t n,
                                 enum ta_host_work otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (holds(name, patterns[i].text) && ends(name, patterns[i].end))
            return patterns[i].work;
    return otherwise;
}

#define LOOK_UP(name, patterns, otherwise)                                                         \
    look_up((name), (patterns), sizeof(patterns) / sizeof *(patterns), (otherwise))

static bool is_category(struct ta_slice category, const char *name)
{
    return category.len == strlen(name) && strncasecmp(category.ptr, name, category.len) == 0;
}

enum ta_host_work ta_host_classify(enum ta_event_class class, struct ta_slice category,
                                   struct ta_slice name)
{
    if (class == TA_CLASS_RUNTIME) {
        const enum ta_host_work work = LOOK_UP(name, calls, TA_HOST_CALL);
        return work == TA_HOST_COPY && holds(name, "async") ? TA_HOST_LAUNCH : work;
    }
    return LOOK_UP(name, others,
                   class == TA_CLASS_OP                       ? TA_HOST_OPERATOR
                   : is_category(category, "python_function") ? TA_HOST_PYTHON
                   : is_category(category, "overhead")        ? TA_HOST_PROFILER
                                                              : TA_HOST_UNTRACED);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* A function: what it is called, and a word of the type that it is a method of, or of the file that
 * it is in. */
struct function {
    const char *function, *of;
};

/* Functions in which Python waits for a device. */
static const struct function waiting[] = {
    {"synchronize", "torch/"},     {"synchronize", "Event"},
    {"synchronize", "Stream"},     {"cpu", "Tensor"},
    {"cpu", "Parameter"},          {"item", "Tensor"},
    {"item", "Parameter"},         {"tolist", "Tensor"},
    {"tolist", "Parameter"},       {"numpy", "Tensor"},
    {"numpy", "Parameter"},        {"is_nonzero", "Tensor"},
    {"nonzero", "Tensor"},         {"__bool__", "Tensor"},
    {"__int__", "Tensor"},         {"__float__", "Tensor"},
    {"__index__", "Tensor"},       {"_cuda_synchronize", "torch"},
    {"_xpu_synchronize", "torch"},
};

/* Functions in which it waits for anything else. */
static const struct function idling[] = {
    {"wait", "threading"},
    {"wait", "Condition"},
    {"wait", "multiprocessing/connection"},
    {"join", "threading"},
    {"_wait_for_tstate_lock", "threading"},
    {"acquire", "lock"},
    {"acquire", "emaphore"},
    {"get", "queue"},
    {"sleep", ""},
    {"select", "select"},
    {"poll", "select"},
    {"_recv", "multiprocessing/connection"},
    {"recv", "multiprocessing/connection"},
    {"recv_bytes", "multiprocessing/connection"},
    {"_recv_msg", "subproc_pool"},
    {"recv", "socket"},
    {"recv_into", "socket"},
    {"accept", "socket"},
    {"run", "tqdm/_monitor"},
};

/* A function, and its type or its file. */
struct frame {
    struct ta_slice function, of;
};

static struct ta_slice after(struct ta_slice text, const char *word)
{
    const char *at = memmem(text.ptr, text.len, word, strlen(word));
    return at ? ta_slice_from(text, (size_t)(at - text.ptr) + strlen(word)) : TA_LIT("");
}

static struct ta_slice before(struct ta_slice text, const char *word)
{
    const char *at = memmem(text.ptr, text.len, word, strlen(word));
    return at ? ta_slice_part(text, 0, (size_t)(at - text.ptr)) : text;
}

/* "Tensor" and "cpu" of "Tensor.cpu". */
static struct frame split_at_dot(struct ta_slice name)
{
    const char *dot = name.len ? memrchr(name.ptr, '.', name.len) : NULL;
    const size_t n = dot ? (size_t)(dot - name.ptr) : 0;
    return dot ? (struct frame){ta_slice_from(name, n + 1), ta_slice_part(name, 0, n)}
               : (struct frame){name, TA_LIT("")};
}

static struct frame split(struct ta_slice name)
{
    static const char built_in[] = "<built-in method ", method[] = "<method '", line[] = "):";
    static const char function_of_c[] = "<built-in function ";
    if (ta_slice_starts(name, built_in)) {
        const struct ta_slice rest = ta_slice_from(name, sizeof built_in - 1);
        return (struct frame){before(rest, " of "), after(rest, " of ")};
    }
    if (ta_slice_starts(name, method)) { /* <method 'acquire' of '_thread.lock' objects> */
        const struct ta_slice rest = ta_slice_from(name, sizeof method - 1);
        return (struct frame){before(rest, "'"), after(rest, " of ")};
    }
    if (ta_slice_starts(name, function_of_c))
        return (struct frame){before(ta_slice_from(name, sizeof function_of_c - 1), ">"),
                              TA_LIT("")};
    struct ta_slice function = after(name, ".py(");
    if (function.len) { /* torch writes a blank as _ where it folds stacks */
        function = after(function, line);
        const bool has_blank = function.len && (*function.ptr == ' ' || *function.ptr == '_');
        return (struct frame){ta_slice_from(function, has_blank), before(name, ".py(")};
    }
    const struct ta_slice place = after(name, " (");
    if (!place.len)
        return split_at_dot(name);
    return (struct frame){split_at_dot(before(name, " (")).function, place};
}

static bool is_one(struct frame frame, const struct function *functions, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ta_slice_equal(frame.function, ta_slice_of(functions[i].function)) &&
            memmem(frame.of.ptr, frame.of.len, functions[i].of, strlen(functions[i].of)))
            return true;
    return false;
}

bool ta_host_frame_idles(struct ta_slice name)
{
    return is_one(split(name), idling, TA_LENGTH(idling));
}

bool ta_host_frame_waits(struct ta_slice name)
{
    static const char *const runtimes[] = {"cuda", "cu", "hip"};
    if (ta_slice_equal(name, TA_LIT("aten::item")) ||
        ta_slice_equal(name, TA_LIT("aten::_local_scalar_dense")))
        return true;
    const struct frame frame = split(name);
    if (is_one(frame, waiting, TA_LENGTH(waiting)))
        return true;
    for (size_t i = 0; i < TA_LENGTH(runtimes); i++)
        if (ta_slice_starts(frame.function, runtimes[i]) &&
            LOOK_UP(frame.function, calls, TA_HOST_CALL) == TA_HOST_SYNC)
            return true;
    return false;
}
