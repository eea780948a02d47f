/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one table of what host spans do.  Names are those of the CUDA and HIP runtimes and drivers,
 * of torch and of its compiler; letter case does not matter. */
#include "model/host.h"
#include "traceanalyze/model.h"

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
