/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of what host spans do. */
#include "model/host.h"
#include "traceanalyze/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static enum ta_host_work call(const char *name)
{
    return ta_host_classify(TA_CLASS_RUNTIME, TA_LIT("cuda_runtime"), ta_slice_of(name));
}

static enum ta_host_work span(const char *category, const char *name)
{
    return ta_host_classify(TA_CLASS_HOST, ta_slice_of(category), ta_slice_of(name));
}

static void calls_of_all_vendors(void **state)
{
    (void)state;
    assert_int_equal(call("cudaLaunchKernel"), TA_HOST_LAUNCH);
    assert_int_equal(call("hipExtModuleLaunchKernel"), TA_HOST_LAUNCH);
    assert_int_equal(call("cuLaunchKernelEx"), TA_HOST_LAUNCH);
    assert_int_equal(call("cudaMemcpyAsync"), TA_HOST_LAUNCH);
    assert_int_equal(call("cuMemcpyHtoDAsync_v2"), TA_HOST_LAUNCH);
    assert_int_equal(call("cudaMemsetAsync"), TA_HOST_LAUNCH);
    assert_int_equal(call("cudaGraphLaunch"), TA_HOST_GRAPH);
    assert_int_equal(call("hipGraphLaunch"), TA_HOST_GRAPH);
    assert_int_equal(call("cudaStreamSynchronize"), TA_HOST_SYNC);
    assert_int_equal(call("hipDeviceSynchronize"), TA_HOST_SYNC);
    assert_int_equal(call("synchronizeStream"), TA_HOST_SYNC);
    assert_int_equal(call("cudaMemcpy"), TA_HOST_COPY);
    assert_int_equal(call("hipMemcpyWithStream"), TA_HOST_COPY);
    assert_int_equal(call("cudaMallocAsync"), TA_HOST_ALLOCATE);
    assert_int_equal(call("cudaHostAlloc"), TA_HOST_ALLOCATE);
    assert_int_equal(call("cuMemSetAccess"), TA_HOST_ALLOCATE);
    assert_int_equal(call("hipFree"), TA_HOST_ALLOCATE);
    assert_int_equal(call("hipModuleLoadData"), TA_HOST_COMPILE);
    assert_int_equal(call("cudaEventQuery"), TA_HOST_CALL);
    assert_int_equal(call(""), TA_HOST_CALL);
}

static void other_spans(void **state)
{
    (void)state;
    assert_int_equal(ta_host_classify(TA_CLASS_OP, TA_LIT("cpu_op"), TA_LIT("aten::mm")),
                     TA_HOST_OPERATOR);
    assert_int_equal(span("python_function", "model.py(12): forward"), TA_HOST_PYTHON);
    assert_int_equal(span("Python_Function", "nn.Module: Linear_0"), TA_HOST_PYTHON);
    assert_int_equal(span("python_function", "torch/utils/data/dataloader.py(628): __next__"),
                     TA_HOST_DATA);
    assert_int_equal(
        span("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
        TA_HOST_DATA);
    assert_int_equal(span("python_function", "torch/_inductor/compile_fx.py(9): compile"),
                     TA_HOST_COMPILE);
    assert_int_equal(span("python_function", "torch/_inductor/utils.py(3013): run"),
                     TA_HOST_PYTHON);
    assert_int_equal(span("user_annotation", "gloo:all_reduce"), TA_HOST_COLLECTIVE);
    assert_int_equal(span("overhead", "Activity Buffer Request"), TA_HOST_PROFILER);
    assert_int_equal(span("overhead", "Lazy Function Loading"), TA_HOST_COMPILE);
    assert_int_equal(span("user_annotation", "ProfilerStep#3"), TA_HOST_UNTRACED);
    /* Running what was compiled is no compiling. */
    assert_int_equal(span("user_annotation", "Torch-Compiled Region: 0/0"), TA_HOST_UNTRACED);
    assert_int_equal(span("cpu_op", "TorchDynamo Cache Lookup"), TA_HOST_UNTRACED);
    assert_int_equal(span("python_function", "torch/_inductor/compile_fx.py(423): run"),
                     TA_HOST_PYTHON);
    assert_int_equal(span("python_function", "triton/runtime/autotuner.py(180): run"),
                     TA_HOST_PYTHON);
    assert_int_equal(span("python_function", "flashinfer/autotuner.py(402): choose_one"),
                     TA_HOST_PYTHON);
    assert_int_equal(span("python_function", "triton/compiler/compiler.py(410): launch_metadata"),
                     TA_HOST_PYTHON);
}

static void stages_of_compilation(void **state)
{
    (void)state;
    static const char *const stages[] = {
        "_compile.compile_inner (dynamo_timed)",
        "_compile.<locals>.compile_inner (dynamo_timed)",
        "OutputGraph.call_user_compiler (dynamo_timed)",
        "GraphLowering.run (dynamo_timed)",
        "Scheduler.codegen (dynamo_timed)",
        "async_compile.wait (dynamo_timed)",
        "TritonBundler.collect (dynamo_timed)",
        "CachingAutotuner.benchmark_all_configs (dynamo_timed)",
        "cudagraphify (dynamo_timed)",
        "CUDAGraphNode.record",
        "entire_frame_compile",
    };
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        assert_int_equal(span("user_annotation", stages[i]), TA_HOST_COMPILE);
    assert_int_equal(span("python_function", "triton/runtime/autotuner.py(133): _bench"),
                     TA_HOST_COMPILE);
    assert_int_equal(span("python_function", "triton/compiler/compiler.py(226): compile"),
                     TA_HOST_COMPILE);
}

static void frames_that_idle(void **state)
{
    (void)state;
    static const char *const idle[] = {
        "threading.py(359): wait",
        "Condition.wait (/usr/lib/python3.10/threading.py:288)",
        "tqdm/_monitor.py(60): run",
        "queue.py(154): get",
        "<built-in method acquire of _thread.lock object at 0x7faf>",
        "<method 'acquire' of '_thread.lock' objects>",
        "<built-in function sleep>",
        "selectors.py(451): select",
        "torch/_inductor/compile_worker/subproc_pool.py(73): _recv_msg",
    };
    static const char *const busy[] = {
        "threading.py(1030): _bootstrap",
        "torch/cuda/__init__.py(1219): synchronize",
        "aten::select",
        "<built-in method get of dict object at 0x7faf>",
        "runner.py(12): run",
        "",
    };
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        assert_true(ta_host_frame_idles(ta_slice_of(idle[i])));
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++)
        assert_false(ta_host_frame_idles(ta_slice_of(busy[i])));
}

static void frames_that_wait(void **state)
{
    (void)state;
    static const char *const waits[] = {
        "Tensor.cpu",
        "Parameter.item",
        "Tensor.tolist",
        "synchronize (/usr/lib/python3/dist-packages/torch/cuda/__init__.py:792)",
        "Event.synchronize (/opt/venv/lib/python3.12/site-packages/torch/cuda/streams.py:231)",
        "torch._C._cuda_synchronize",
        "synchronize (torch/cuda/__init__.py:1219)",
        "torch/cuda/__init__.py(1219): synchronize",
        "torch/cuda/__init__.py(1219):_synchronize",
        "<built-in method item of Tensor object at 0x7f3a>",
        "cudaStreamSynchronize (libcudart.so.12)",
        "hipDeviceSynchronize",
        "aten::_local_scalar_dense",
    };
    static const char *const others[] = {
        "synchronize (/src/clock.py:8)",
        "dict.item",
        "numpy.array",
        "cpu (/src/model.py:3)",
        "Tensor.copy_",
        "cudaStreamWaitEvent",
        "time.sleep",
        "aten::nonzero",
        "model.py(12): item",
        "",
    };
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        assert_true(ta_host_frame_waits(ta_slice_of(waits[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(ta_host_frame_waits(ta_slice_of(others[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_all_vendors),  cmocka_unit_test(other_spans),
        cmocka_unit_test(stages_of_compilation), cmocka_unit_test(frames_that_wait),
        cmocka_unit_test(frames_that_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
