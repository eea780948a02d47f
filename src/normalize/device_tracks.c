/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device work of exporters that write no categories.
 *
 * They say by the name of a process that it is a device: Ascend, JAX, and the
 * profiler that torch had before Kineto.  Some draw the same work several times, by operator,
 * module and step: one drawing counts, the others are annotations of it. */
#include "normalize/normalize.h"

#include "traceanalyze/model.h"

#include <stdlib.h>
#include <strings.h>

/* What the spans of a thread are.  Of the host are operators and calls of the runtime. */
enum drawn {
    DRAWN_NOT,       /* of no device */
    DRAWN_WORK,      /* kernels, copies, and waits of a queue */
    DRAWN_IF_ALONE,  /* the same, where the process has no other such threads */
    DRAWN_INNERMOST, /* work, but for the spans that enclose others */
    DRAWN_AGAIN,     /* a view of work that is drawn elsewhere */
    DRAWN_OPERATORS,
    DRAWN_CALLS
};

/* The first match counts; both are beginnings of names. */
static const struct {
    const char *process, *thread;
    enum drawn drawn;
} known[] = {
    {"Ascend Hardware", "", DRAWN_WORK},     /* torch_npu, msprof: trace_view.json */
    {"CANN", "", DRAWN_CALLS},               /* of the threads that "Python" has, too */
    {"Overlap Analysis", "", DRAWN_AGAIN},   /* computing, communication, free */
    {"Communication", "", DRAWN_AGAIN},      /* groups and their planes, in tasks of the hardware */
    {"HCCL", "", DRAWN_AGAIN},               /* as it was called before */
    {"/device:CPU", "", DRAWN_NOT},          /* the host, as TensorFlow calls it */
    {"/device:", "Stream #", DRAWN_WORK},    /* JAX, TensorFlow: "/device:GPU:0" */
    {"/device:", "XLA Ops", DRAWN_IF_ALONE}, /* TPUs have no streams */
    {"/device:", "", DRAWN_AGAIN}, /* XLA Modules, Steps, Framework Ops, Source code … */
    {"CUDA functions", "", DRAWN_INNERMOST}, /* torch.autograd.profiler without Kineto */
    {"CPU functions", "", DRAWN_OPERATORS},
};

/* Tasks of Ascend's queues that wait or tell, and do nothing else. */
static const char *const waits[] = {"EVENT_WAIT",    "EVENT_RECORD", "NOTIFY_WAIT",
                                    "NOTIFY_RECORD", "CAPTURE_WAIT", "CAPTURE_RECORD"};

static const char *const copies[] = {"memcpy", "SDMA", "PCIE_DMA"};

static enum drawn look_up(struct ta_slice process, struct ta_slice thread)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ta_slice_starts(process, known[i].process) && ta_slice_starts(thread, known[i].thread))
            return known[i].drawn == DRAWN_AGAIN && thread.len == 0 &&
                           ta_slice_starts(process, "/device:")
                       ? DRAWN_IF_ALONE /* no name says what it draws */
                       : known[i].drawn;
    return DRAWN_NOT;
}

static bool begins(struct ta_slice name, const char *with)
{
    const size_t n = strlen(with);
    return name.len >= n && strncasecmp(name.ptr, with, n) == 0;
}

static enum ta_event_class class_of(enum drawn drawn, struct ta_slice name)
{
    if (drawn == DRAWN_AGAIN)
        return TA_CLASS_ANNOTATION;
    if (drawn == DRAWN_CALLS)
        return TA_CLASS_RUNTIME;
    if (drawn == DRAWN_OPERATORS)
        return TA_CLASS_OP;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (begins(name, waits[i]))
            return TA_CLASS_SYNC;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (begins(name, copies[i]))
            return TA_CLASS_MEMCPY;
    return begins(name, "memset") ? TA_CLASS_MEMSET : TA_CLASS_KERNEL;
}

/* The number at the end of a name, or 0: "/device:GPU:3". */
static int64_t number_at_end(struct ta_slice name)
{
    int64_t number = 0, place = 1;
    for (size_t i = name.len;
         i > 0 && name.ptr[i - 1] >= '0' && name.ptr[i - 1] <= '9' && place < 1000000;
         i--, place *= 10)
        number += place * (name.ptr[i - 1] - '0');
    return number;
}

enum { CLASSES = TA_CLASS_CAPTURED_MODULE + 1 };

/* ---- tracks ---------------------------------------------------------------------------------- */

struct finding {
    struct ta_builder *builder;
    uint8_t *drawn; /* by track: enum drawn */
    bool any;
    ta_cat cats[CLASSES]; /* plus one */
};

static struct ta_slice process_of(const struct finding *f, size_t track)
{
    const struct ta_trace *trace = f->builder->trace;
    const ta_str pid = trace->tracks.at[track].pid;
    const uint64_t *name = ta_map_find(&f->builder->process_names, pid);
    return ta_trace_text(trace, name ? (ta_str)*name : pid);
}

static bool find_tracks(struct finding *f)
{
    struct ta_builder *builder = f->builder;
    const struct ta_trace *trace = builder->trace;
    const size_t n = trace->tracks.n;
    bool has_streams = false;
    for (size_t t = 0; t < n; t++) {
        const enum drawn drawn =
            look_up(process_of(f, t), ta_trace_text(trace, trace->tracks.at[t].thread_name));
        if (drawn == DRAWN_NOT)
            continue;
        if (!f->any) {
            f->drawn = calloc(n, sizeof *f->drawn);
            builder->track_device = calloc(n, sizeof *builder->track_device);
            if (!f->drawn || !builder->track_device)
                return false;
            for (size_t k = 0; k < n; k++)
                builder->track_device[k] = TA_MISSING;
            f->any = true;
        }
        f->drawn[t] =
            (uint8_t)(builder->kernels_elsewhere && drawn < DRAWN_AGAIN ? DRAWN_AGAIN : drawn);
        has_streams |= drawn == DRAWN_WORK;
        /* The old profiler has a thread per device. */
        builder->track_device[t] =
            number_at_end(drawn == DRAWN_INNERMOST ? ta_trace_text(trace, trace->tracks.at[t].tid)
                                                   : process_of(f, t));
    }
    for (size_t t = 0; f->any && t < n; t++)
        if (f->drawn[t] == DRAWN_IF_ALONE)
            f->drawn[t] = has_streams ? DRAWN_AGAIN : DRAWN_WORK;
    return true;
}

/* ---- spans ----------------------------------------------------------------------------------- */

static bool has_category(const struct ta_trace *trace, size_t row)
{
    const ta_str name = trace->categories.at[trace->spans.cat[row]].name;
    return name != TA_STR_ABSENT && ta_trace_text(trace, name).len > 0;
}

/* The category of a class, which is made when it is new; operators stay without a name of theirs.
 * False without memory. */
static bool set_class(struct finding *f, size_t row, enum ta_event_class class)
{
    static const char *const names[CLASSES] = {
        [TA_CLASS_KERNEL] = "kernel",     [TA_CLASS_MEMCPY] = "gpu_memcpy",
        [TA_CLASS_MEMSET] = "gpu_memset", [TA_CLASS_SYNC] = "cuda_sync",
        [TA_CLASS_RUNTIME] = "runtime",   [TA_CLASS_ANNOTATION] = "gpu_user_annotation"};
    struct ta_trace *trace = f->builder->trace;
    if (!f->cats[class]) {
        const struct ta_category category = {
            names[class] ? ta_builder_string(f->builder, ta_slice_of(names[class])) : TA_STR_ABSENT,
            class};
        if (trace->categories.n >= CATEGORIES_MAX || !ta_vec_push(&trace->categories, category))
            return false;
        f->cats[class] = (ta_cat)trace->categories.n;
    }
    trace->spans.cat[row] = (ta_cat)(f->cats[class] - 1);
    return true;
}

static int by_start(const void *left, const void *right, void *user)
{
    const struct span_columns *c = user;
    const ta_row a = *(const ta_row *)left, b = *(const ta_row *)right;
    if (c->track[a] != c->track[b])
        return c->track[a] < c->track[b] ? -1 : 1;
    if (c->ts[a] != c->ts[b])
        return c->ts[a] < c->ts[b] ? -1 : 1;
    if (c->dur[a] != c->dur[b])
        return c->dur[a] > c->dur[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* A span whose next one begins within it encloses that. */
static bool set_enclosing(struct finding *f, ta_row *rows, size_t n)
{
    struct span_columns *c = &f->builder->trace->spans;
    qsort_r(rows, n, sizeof *rows, by_start, c);
    for (size_t i = 0; i + 1 < n; i++)
        if (c->track[rows[i]] == c->track[rows[i + 1]] &&
            c->ts[rows[i + 1]] < c->ts[rows[i]] + c->dur[rows[i]] &&
            !set_class(f, rows[i], TA_CLASS_ANNOTATION))
            return false;
    return true;
}

static bool classify_spans(struct finding *f)
{
    const struct ta_trace *trace = f->builder->trace;
    TA_VEC(ta_row) nested = {0};
    bool done = true;
    for (size_t row = 0; done && row < trace->spans.n; row++) {
        const enum drawn drawn = f->drawn[trace->spans.track[row]];
        if (drawn == DRAWN_NOT || has_category(trace, row))
            continue;
        done = set_class(f, row, class_of(drawn, ta_trace_text(trace, trace->spans.name[row])));
        if (done && drawn == DRAWN_INNERMOST && trace->spans.dur[row] >= 0)
            done = ta_vec_push(&nested, (ta_row)row);
    }
    if (done && nested.n)
        done = set_enclosing(f, nested.at, nested.n);
    free(nested.at);
    return done;
}

/* Calls that a device is numbered with are of the host's runtime, as JAX has them. */
static bool classify_calls(struct finding *f)
{
    const struct ta_trace *trace = f->builder->trace;
    const struct arg_column *column = ta_trace_arg_column(f->builder->trace, "correlation");
    bool done = true;
    for (size_t i = 0; done && column && i < column->n; i++) {
        const ta_row row = column->row[i];
        if (!arg_column_is_text(column, i) && f->drawn[trace->spans.track[row]] == DRAWN_NOT &&
            !has_category(trace, row))
            done = set_class(f, row, TA_CLASS_RUNTIME);
    }
    return done;
}

/* CANN draws its calls apart from what Python does meanwhile in the same thread: they go there. */
static bool join_threads(struct finding *f)
{
    struct ta_trace *trace = f->builder->trace;
    uint32_t *to = calloc(trace->tracks.n + 1, sizeof *to);
    bool any = false;
    if (!to)
        return false;
    for (size_t t = 0; t < trace->tracks.n; t++) {
        to[t] = (uint32_t)t;
        for (size_t k = 0; f->drawn[t] == DRAWN_CALLS && k < trace->tracks.n; k++)
            if (f->drawn[k] == DRAWN_NOT && trace->tracks.at[k].tid == trace->tracks.at[t].tid)
                to[t] = (uint32_t)k;
        any |= to[t] != t;
    }
    for (size_t row = 0; any && row < trace->spans.n; row++)
        trace->spans.track[row] = to[trace->spans.track[row]];
    for (size_t i = 0; any && i < trace->flows.n; i++)
        trace->flows.track[i] = to[trace->flows.track[i]];
    free(to);
    return true;
}

bool ta_classify_device_tracks(struct ta_builder *builder)
{
    struct finding f = {.builder = builder};
    bool done = find_tracks(&f);
    if (done && f.any)
        done = classify_spans(&f) && classify_calls(&f) && join_threads(&f);
    free(f.drawn);
    return done;
}
