/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interruptions.by_call: memory of the device from the driver, modules that are loaded, code that
 * is compiled or tuned. All of it belongs into the warm-up; later it stops the host, and with it
 * often the device.
 *
 * The warm-up ends with the first step.  Without two steps nobody says what is warm-up. */
#include "base/vec.h"
#include "model/busy.h"
#include "model/named.h"
#include "model/program/steps.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

enum { RANK, WHAT, CALL, PHASE, CALLS, HOST_NS, IDLE_NS, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},      [WHAT] = {"what", TA_FIELD_INT},
    [CALL] = {"call", TA_FIELD_TEXT},      [PHASE] = {"phase", TA_FIELD_INT},
    [CALLS] = {"calls", TA_FIELD_SUM},     [HOST_NS] = {"host_ns", TA_FIELD_SUM},
    [IDLE_NS] = {"idle_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"calls", fields, FIELDS}, {0}};

enum {
    BY_CALL_WHAT,
    BY_CALL_RANK,
    BY_CALL_CALL,
    BY_CALL_PHASE,
    BY_CALL_CALLS,
    BY_CALL_HOST,
    BY_CALL_IDLE
};
static const struct ta_column by_call_columns[] = {
    [BY_CALL_WHAT] =
        {"what", "What", TA_TEXT,
         .doc = "allocation (memory of the device or pinned memory from the driver, past the cache "
                "of PyTorch), module (code loaded onto the device), compilation or autotuning"},
    [BY_CALL_RANK] = TA_RANK_COLUMN,
    [BY_CALL_CALL] = {"call", "Call", TA_TEXT, .doc = "Name of the call or range"},
    [BY_CALL_PHASE] =
        {"phase", "Phase", TA_TEXT,
         .doc = "warm-up: starts before the first step of `steps.by_step` ends, else steady; not "
                "marked where the trace has no two steps"},
    [BY_CALL_CALLS] = {"calls", "Calls", TA_COUNT, .better = TA_LOWER,
                       .doc = "Number of calls that lie in no other of the same kind"},
    [BY_CALL_HOST] = {"host_ns", "On the host", TA_NS, .better = TA_LOWER,
                      .doc = "Union of the calls"},
    [BY_CALL_IDLE] = {"idle_ns", "Device idle", TA_NS, .better = TA_LOWER,
                      .doc = "The part of it in which no device of the rank had work, from the "
                             "first to the last activity"},
};

static const struct ta_table_def by_call = {
    "interruptions.by_call", "Allocation, loading and compilation", TA_COLUMNS(by_call_columns),
    .doc = "One row per kind, rank, call and phase: what belongs into the warm-up, because it "
           "stops the host.",
    .order = {&by_call_columns[BY_CALL_HOST], TA_DESCENDING}};

/* ---- names --------------------------------------------------------------------------------- */

enum what { NOTHING, ALLOCATION, MODULE, COMPILATION, AUTOTUNING, WHATS };

static const char *const whats[] = {
    [ALLOCATION] = "allocation",
    [MODULE] = "module",
    [COMPILATION] = "compilation",
    [AUTOTUNING] = "autotuning",
};

/* `start` begins the name, `end` ends it; either may be empty. */
static const struct {
    enum what what;
    const char *start, *end;
} names[] = {
    {NOTHING, "cudaMallocAsync", ""}, /* from a pool of the driver, in stream order */
    {NOTHING, "cudaFreeAsync", ""},
    {NOTHING, "cudaMallocFromPool", ""},
    {NOTHING, "hipMallocAsync", ""},
    {NOTHING, "hipFreeAsync", ""},
    {NOTHING, "hipMallocFromPool", ""},
    {NOTHING, "cuMemAllocAsync", ""},
    {NOTHING, "cuMemFreeAsync", ""},
    {ALLOCATION, "cudaMalloc", ""},
    {ALLOCATION, "cudaFree", ""},
    {ALLOCATION, "cudaHostAlloc", ""},
    {ALLOCATION, "cudaHostRegister", ""},
    {ALLOCATION, "cuMemAlloc", ""},
    {ALLOCATION, "cuMemFree", ""},
    {ALLOCATION, "cuMemCreate", ""},
    {ALLOCATION, "cuMemMap", ""},
    {ALLOCATION, "cuMemUnmap", ""},
    {ALLOCATION, "cuMemRelease", ""},
    {ALLOCATION, "cuMemSetAccess", ""},
    {ALLOCATION, "hipMalloc", ""},
    {ALLOCATION, "hipFree", ""},
    {ALLOCATION, "hipHostMalloc", ""},
    {ALLOCATION, "hipHostFree", ""},
    {ALLOCATION, "hipHostRegister", ""},
    {ALLOCATION, "hipExtMalloc", ""},
    {ALLOCATION, "hipMemCreate", ""},
    {ALLOCATION, "hipMemMap", ""},
    {MODULE, "cuModuleLoad", ""},
    {MODULE, "cuLibraryLoad", ""},
    {MODULE, "cudaLibraryLoad", ""},
    {MODULE, "hipModuleLoad", ""},
    {AUTOTUNING, "", "benchmark_all_configs"},
    {AUTOTUNING, "", "autotune_to_one_config"},
    {AUTOTUNING, "", "coordinate_descent_tuning"},
    {AUTOTUNING, "", ": do_bench"},
    {AUTOTUNING, "", ": do_bench_cudagraph"},
    {AUTOTUNING, "triton/runtime/autotuner.py(", ": _bench"},
    {COMPILATION, "", "compile_inner"}, /* _compile.compile_inner, of Dynamo */
    {COMPILATION, "", "call_user_compiler"},
    {COMPILATION, "", "create_aot_dispatcher_function"},
    {COMPILATION, "", "fx_codegen_and_compile"},
    {COMPILATION, "", "compile_fx_inner"},
    {COMPILATION, "", "GraphLowering.compile_to_module"},
    {COMPILATION, "", "GraphLowering.compile_to_fn"},
    {COMPILATION, "", "AsyncCompile.wait"},
    {COMPILATION, "torch/_dynamo/convert_frame.py(", ": _compile"},
    {COMPILATION, "torch/_inductor/graph.py(", ": compile_to_module"},
    {COMPILATION, "torch/_inductor/async_compile.py(", ": wait"},
    {COMPILATION, "triton/compiler/compiler.py(", ": compile"},
    {COMPILATION, "torch/utils/cpp_extension.py(", ": load"},
    {COMPILATION, "cuLinkAdd", ""},
    {COMPILATION, "cuLinkComplete", ""},
    {COMPILATION, "hiprtcCompile", ""},
    {COMPILATION, "nvrtcCompile", ""},
};

static uint8_t what_of(struct ta_slice name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t start = strlen(names[i].start), end = strlen(names[i].end);
        if (name.len >= start + end && memcmp(name.ptr, names[i].start, start) == 0 &&
            memcmp(ta_slice_end(name) - end, names[i].end, end) == 0)
            return (uint8_t)names[i].what;
    }
    return NOTHING;
}

/* ---- map ----------------------------------------------------------------------------------- */

enum phase { WARM_UP, STEADY, NOT_MARKED };

static const char *const phases[] = {
    [WARM_UP] = "warm-up",
    [STEADY] = "steady",
    [NOT_MARKED] = "not marked",
};

/* The calls of one name in one phase. */
struct call {
    ta_str name;
    enum what what;
    enum phase phase;
    int64_t calls;
    struct ta_intervals times;
};

/* A call, where it stands. */
struct found {
    ta_row row;
    enum what what;
};

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct found *found; /* the calls, of which there are few */
    size_t n_found, max_found;
    const struct ta_intervals *busy;
    const struct ta_program_steps *steps;
    int64_t first, last;
    bool failed;
    struct call *calls;
    size_t n, max;
    struct ta_map index; /* by name and phase */
};

static void add_found(struct work *w, ta_row row, enum what what)
{
    if (!ta_vec_grow((void **)&w->found, &w->max_found, w->n_found, sizeof *w->found)) {
        w->failed = true;
        return;
    }
    w->found[w->n_found++] = (struct found){row, what};
}

static void take_span(void *user, ta_row row, uint8_t what)
{
    struct work *w = user;
    if (ta_class_is_host(w->categories.at[w->spans.cat[row]].class))
        add_found(w, row, (enum what)what);
}

static enum phase phase_of(const struct work *w, size_t span)
{
    if (w->steps->n < 2)
        return NOT_MARKED;
    return w->spans.ts[span] >= w->steps->at[0].end ? STEADY : WARM_UP;
}

static struct call *call_of(struct work *w, size_t span, enum what what)
{
    const ta_str name = w->spans.name[span];
    const enum phase phase = phase_of(w, span);
    uint64_t *at = ta_map_at(&w->index, (uint64_t)name << 2 | phase, w->n);
    if (!at)
        return NULL;
    if (*at < w->n)
        return &w->calls[*at];
    if (!ta_vec_grow((void **)&w->calls, &w->max, w->n, sizeof *w->calls)) {
        w->failed = true;
        return NULL;
    }
    w->calls[w->n] = (struct call){.name = name, .what = what, .phase = phase};
    return &w->calls[w->n++];
}

/* The call of each kind that is open: spans come by thread and start, and what lies within one
 * that was counted is none of its own. */
struct open_call {
    uint32_t track;
    int64_t end;
};

/* Time outside of the device's window counts as busy here: nobody waits for the device. */
static void add_call(struct work *w, struct call *call, struct ta_partial *out)
{
    int64_t *row =
        TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(w->trace)), ta_key_int(call->what),
                       ta_key_text(ta_trace_text(w->trace, call->name)), ta_key_int(call->phase));
    ta_intervals_unite(&call->times);
    struct ta_intervals inside = {0};
    for (size_t i = 0; i < call->times.n; i++)
        ta_intervals_add(&inside, ta_max_i64(call->times.at[i].start, w->first),
                         ta_min_i64(call->times.at[i].end, w->last));
    ta_sum(&row[CALLS], call->calls);
    ta_sum(&row[HOST_NS], ta_intervals_length(&call->times));
    ta_sum(&row[IDLE_NS], ta_intervals_outside(&inside, w->busy));
    w->failed |= inside.failed || call->times.failed;
    ta_intervals_free(&inside);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    if (ta_trace_activities(trace).n == 0)
        return TA_OK;
    struct work w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .categories = ta_trace_categories(trace),
                     .busy = ta_trace_busy(trace),
                     .steps = ta_program_steps(trace)};
    w.failed = !w.busy || !w.steps;
    if (!w.failed) {
        w.failed |= !ta_each_named(w.trace, what_of, take_span, &w);
        if (w.busy->n) {
            w.first = w.busy->at[0].start;
            w.last = w.busy->at[w.busy->n - 1].end;
        }
        struct open_call open[WHATS];
        for (size_t i = 0; i < WHATS; i++)
            open[i] = (struct open_call){UINT32_MAX, 0};
        for (size_t i = 0; i < w.n_found; i++) {
            const ta_row row = w.found[i].row;
            const enum what what = w.found[i].what;
            const uint32_t track = w.spans.track[row];
            const int64_t start = w.spans.ts[row], end = start + w.spans.dur[row];
            if (open[what].track == track && start < open[what].end)
                continue;
            open[what] = (struct open_call){track, end};
            struct call *call = call_of(&w, row, what);
            if (!call)
                continue;
            call->calls++;
            ta_intervals_add(&call->times, start, end);
        }
    }
    for (size_t i = 0; i < w.n; i++) {
        add_call(&w, &w.calls[i], out[0]);
        ta_intervals_free(&w.calls[i].times);
    }
    const bool failed = w.failed || w.index.failed;
    ta_map_free(&w.index);
    free(w.calls);
    free(w.found);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot collect interruptions") : TA_OK;
}

/* ---- table --------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;

    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(out, by_call, [BY_CALL_WHAT] = ta_text(ta_slice_of(whats[row[WHAT]])),
               [BY_CALL_RANK] = ta_int(row[RANK]),
               [BY_CALL_CALL] = ta_text(ta_partial_text(merged[0], row, CALL)),
               [BY_CALL_PHASE] = ta_text(ta_slice_of(phases[row[PHASE]])),
               [BY_CALL_CALLS] = ta_int(row[CALLS]), [BY_CALL_HOST] = ta_int(row[HOST_NS]),
               [BY_CALL_IDLE] = ta_int(row[IDLE_NS]));
    }
    return TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {
    {0, WHAT, AUTOTUNING + 1}, {0, PHASE, NOT_MARKED + 1}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_call, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "launches",
                                           .place = 2,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, interruptions, &ops, .title = "Allocation, loading and compilation",
          .summary = "Calls that belong into the warm-up, and what they cost later: "
                     "interruptions.by_call",
          .version = "1");
