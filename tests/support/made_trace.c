/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces from nothing: the same text for the same seed. */
#include "trace_fixture.h"

#include <inttypes.h>
#include <stdio.h>

/* What stands around the parts of an event. */
struct layout {
    const char *head, *between, *member, *end, *tail;
};

static const struct layout layouts[] = {
    {"{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": \"NVIDIA "
     "H200\"}\n  ],\n  \"traceEvents\": [\n  {\n    ",
     "\n  },\n  {\n    ", "\n    , ", "\n  }\n  ],\n",
     "  \"traceName\": \"trace.json\",\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": "
     "%" PRId64 ", \"world_size\": 8}\n}\n"},
    {"{\n    \"schemaVersion\": 1,\n    \"traceEvents\": [\n        {\n            ",
     "\n        },\n        {\n            ", ",\n            ", "\n        }\n    ],\n",
     "    \"distributedInfo\": {\n        \"rank\": %" PRId64
     ",\n        \"world_size\": 8\n    }\n}\n"},
    {"{\"schemaVersion\":1,\"traceEvents\":[{", "},{", ",", "}],",
     "\"distributedInfo\":{\"rank\":%" PRId64 ",\"world_size\":8}}"},
};

struct making {
    struct text *out;
    struct rng rng;
    const struct layout *layout;
    size_t made;
    int64_t now; /* µs × 1000 */
};

static void add_event(struct making *m, const char *phase, const char *category, const char *name,
                      const char *pid, unsigned tid, int64_t ts, int64_t dur, const char *args)
{
    const char *member = m->layout->member;
    text_add(m->out, "%s\"ph\": \"%s\"", m->made++ ? m->layout->between : "", phase);
    if (category)
        text_add(m->out, "%s\"cat\": \"%s\"", member, category);
    text_add(m->out, "%s\"name\": \"%s\"%s\"pid\": %s%s\"tid\": %u", member, name, member, pid,
             member, tid);
    text_add(m->out, "%s\"ts\": %" PRId64 ".%03d", member, ts / 1000, (int)(ts % 1000));
    if (dur >= 0)
        text_add(m->out, "%s\"dur\": %" PRId64 ".%03d", member, dur / 1000, (int)(dur % 1000));
    if (args)
        text_add(m->out, "%s\"args\": {%s}", member, args);
}

/* An operator that launches a kernel, a copy or a memory set. */
static void add_launch(struct making *m, unsigned correlation)
{
    static const char *const ops[] = {"aten::mm", "aten::add_", "aten::\\\"quoted\\\"",
                                      "attention \u00e9\u6f22", "aten::copy_"};
    static const struct {
        const char *category, *call, *name;
    } works[] = {
        {"kernel", "cudaLaunchKernel", "void gemm<float, {256}>(int*, [3])"},
        {"kernel", "cudaLaunchKernelExC", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(arg)"},
        {"kernel", "cuLaunchKernelEx", "elementwise\\\\kernel"},
        {"gpu_memcpy", "cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)"},
        {"gpu_memset", "cudaMemsetAsync", "Memset (Device)"},
    };
    const size_t work = rng_below(&m->rng, 5);
    const int64_t dur = 2000 + (int64_t)rng_below(&m->rng, 60000);
    char args[256];
    snprintf(args, sizeof args, "\"External id\": %u, \"Input Dims\": [[2, 3], []]", correlation);
    add_event(m, "X", "cpu_op", ops[rng_below(&m->rng, 5)], "4711", 4711, m->now, dur, args);
    snprintf(args, sizeof args, "\"cbid\": 211, \"correlation\": %u", correlation);
    add_event(m, "X", work == 2 ? "cuda_driver" : "cuda_runtime", works[work].call, "4711", 4711,
              m->now + 500, 700 + (int64_t)rng_below(&m->rng, 800), args);
    const int64_t start = m->now + 1000 + (int64_t)rng_below(&m->rng, 90000);
    const unsigned device = (unsigned)rng_below(&m->rng, 2);
    snprintf(args, sizeof args, "\"device\": %u, \"stream\": 7, \"correlation\": %u, \"bytes\": %u",
             device, correlation, (unsigned)rng_below(&m->rng, 1 << 20));
    add_event(m, "X", works[work].category, works[work].name, device ? "1" : "0",
              7 + (unsigned)rng_below(&m->rng, 2), start, 1000 + (int64_t)rng_below(&m->rng, 50000),
              args);
    m->now += dur - (rng_below(&m->rng, 8) == 0 ? 1500 : 0) + (int64_t)rng_below(&m->rng, 5000);
}

void fixture_trace_text(struct text *out, uint64_t seed, size_t n_events, int layout, int64_t rank)
{
    struct making m = {
        out, {seed * 2654435761u + 1}, &layouts[layout], 0, INT64_C(1700000000123456)};
    text_add(out, "%s", m.layout->head);
    add_event(&m, "M", NULL, "process_name", "4711", 0, m.now, -1, "\"name\": \"python\"");
    add_event(&m, "M", NULL, "thread_name", "4711", 4711, m.now, -1, "\"name\": \"main\"");
    for (unsigned step = 0, correlation = 1; m.made < n_events; step++) {
        const int64_t start = m.now;
        char name[64];
        for (unsigned i = 0; i < 4 && m.made + 1 < n_events; i++)
            add_launch(&m, correlation++);
        snprintf(name, sizeof name, "ProfilerStep#%u", step);
        add_event(&m, "X", "user_annotation", name, "4711", 4711, start, m.now - start, NULL);
        if (step % 3 == 0 && m.made < n_events)
            add_event(&m, "i", "marker", "tick", "4711", 12, m.now, -1, NULL);
    }
    text_add(out, "%s", m.layout->end);
    /* The format is one of the constants above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    text_add(out, m.layout->tail, rank);
#pragma GCC diagnostic pop
}
