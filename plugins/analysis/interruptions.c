/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interruptions.by_call, compile.compilations: device memory taken from the driver, loaded
 * modules, compiled or tuned code, captured graphs.  All of it belongs in the warm-up; later it
 * stops the host, and with it often the device.
 *
 * The warm-up ends with the first step.  Without two steps the warm-up is unknown; but a
 * recompilation, as the number of the compiled region after it shows, is never warm-up.
 *
 * All of this time counts once: a call within another one is part of it, whatever its kind, and
 * if calls of several threads overlap, the earliest gets the time. */
#include "base/vec.h"
#include "lib/regions.h"
#include "model/busy.h"
#include "model/named.h"
#include "model/program/steps.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

enum { RANK, WHAT, CALL, PHASE, CALLS, HOST_NS, IDLE_NS, FIELDS };
enum { OF_RANK, FRAME, CODE, PLACE, STEP, OF_PHASE, TIMES, OF_HOST_NS, OF_IDLE_NS, OF_FIELDS };
enum { PARTIAL_CALLS, PARTIAL_COMPILATIONS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},      [WHAT] = {"what", TA_FIELD_INT},
    [CALL] = {"call", TA_FIELD_TEXT},      [PHASE] = {"phase", TA_FIELD_INT},
    [CALLS] = {"calls", TA_FIELD_SUM},     [HOST_NS] = {"host_ns", TA_FIELD_SUM},
    [IDLE_NS] = {"idle_ns", TA_FIELD_SUM},
};

static const struct ta_field compilation_fields[OF_FIELDS] = {
    [OF_RANK] = {"rank", TA_FIELD_RANK},      [FRAME] = {"frame", TA_FIELD_INT},
    [CODE] = {"code", TA_FIELD_INT},          [PLACE] = {"place", TA_FIELD_TEXT},
    [STEP] = {"step", TA_FIELD_TEXT},         [OF_PHASE] = {"phase", TA_FIELD_INT},
    [TIMES] = {"times", TA_FIELD_SUM},        [OF_HOST_NS] = {"host_ns", TA_FIELD_SUM},
    [OF_IDLE_NS] = {"idle_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_CALLS] = {"calls", fields, FIELDS},
    [PARTIAL_COMPILATIONS] = {"compilations", compilation_fields, OF_FIELDS},
    {0},
};

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
    [BY_CALL_WHAT] = {"what", "Kind", TA_TEXT,
                      .doc = "allocation (device or pinned memory taken from the driver instead of "
                             "PyTorch's cache), module (code loaded onto the device), compilation, "
                             "autotuning, or capture (a graph is recorded or instantiated)"},
    [BY_CALL_RANK] = TA_RANK_COLUMN,
    [BY_CALL_CALL] = {"call", "Call", TA_TEXT, .doc = "Name of the call or range"},
    [BY_CALL_PHASE] = {"phase", "Phase", TA_TEXT,
                       .doc = "warm-up: starts before the first step ends; steady: later, or "
                              "a recompilation; not marked: the trace does not have two steps"},
    [BY_CALL_CALLS] = {"calls", "Calls", TA_COUNT, .better = TA_LOWER,
                       .doc = "Number of calls, without calls inside another call of this table"},
    [BY_CALL_HOST] =
        {"host_ns", "Host time", TA_NS, .better = TA_LOWER,
         .doc = "Time of the calls; time that calls of several threads share counts once"},
    [BY_CALL_IDLE] = {"idle_ns", "GPU idle", TA_NS, .better = TA_LOWER,
                      .doc = "Part of the host time in which no device of the rank had work, "
                             "between its first and its last activity"},
};

static const struct ta_table_def by_call = {
    "interruptions.by_call", "Allocation, loading and compilation calls",
    TA_COLUMNS(by_call_columns),
    .doc = "One row per kind, rank, call and phase: calls that belong in the warm-up because they "
           "stop the host.",
    .order = {&by_call_columns[BY_CALL_HOST], TA_DESCENDING}};

enum { BY_RANK, BY_PLACE, BY_FRAME, BY_CODE, BY_STEP, BY_PHASE, BY_TIMES, BY_HOST, BY_IDLE };
static const struct ta_column compilations_columns[] = {
    [BY_RANK] = TA_RANK_COLUMN,
    [BY_PLACE] = {"place", "Call site", TA_TEXT,
                  .doc = "Nearest function or range of the program around the compilation; empty "
                         "if there is none"},
    [BY_FRAME] = {"frame", "Frame", TA_INTEGER,
                  .doc = "Number of the compiled function, as torch.compile counts them (F of "
                         "\"Torch-Compiled Region: F/C\"); empty if no compiled region follows"},
    [BY_CODE] = {"code", "Compiled before", TA_COUNT, .better = TA_LOWER,
                 .doc = "How often the function had been compiled before (C, or counted in the "
                        "recording): above 0 this is a recompilation"},
    [BY_STEP] = {"step", "Step", TA_TEXT,
                 .doc = "Step in which the compilation begins; empty without steps"},
    [BY_PHASE] = {"phase", "Phase", TA_TEXT,
                  .doc = "warm-up, steady or not marked, as for all interruptions"},
    [BY_TIMES] = {"times", "Compilations", TA_COUNT, .better = TA_LOWER,
                  .doc = "Number of compilations"},
    [BY_HOST] = {"host_ns", "Host time", TA_NS, .better = TA_LOWER,
                 .doc = "Time of these compilations with all of their stages"},
    [BY_IDLE] = {"idle_ns", "GPU idle", TA_NS, .better = TA_LOWER,
                 .doc = "Part of the host time in which no device of the rank had work"},
};

static const struct ta_table_def compilations = {
    "compile.compilations",
    "Compilations",
    TA_COLUMNS(compilations_columns),
    .doc = "One row per rank, function and step in which torch.compile compiles it.",
    .tier = TA_TIER_DETAIL,
    .order = {&compilations_columns[BY_HOST], TA_DESCENDING}};

/* ---- names --------------------------------------------------------------------------------- */

/* Saved summaries depend on this order. */
enum what {
    NOTHING,
    ALLOCATION,
    MODULE,
    COMPILATION, /* of a function, by torch.compile */
    AUTOTUNING,
    CAPTURE,
    BUILD, /* of a kernel or an extension */
    WHATS,
    /* Not kinds of calls, but needed as well. */
    CAPTURE_BEGIN = WHATS,
    CAPTURE_END,
    REGION
};

static const char *const whats[] = {
    [ALLOCATION] = "allocation", [MODULE] = "module",   [COMPILATION] = "compilation",
    [AUTOTUNING] = "autotuning", [CAPTURE] = "capture", [BUILD] = "compilation",
};

/* The name begins with `start` and ends with `end`; either may be empty.  The first match
 * counts. */
static const struct {
    enum what what;
    const char *start, *end;
} names[] = {
    {REGION, TA_REGION_MARK, ""},
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
    {CAPTURE_BEGIN, "cudaStreamBeginCapture", ""},
    {CAPTURE_BEGIN, "hipStreamBeginCapture", ""},
    {CAPTURE_BEGIN, "cuStreamBeginCapture", ""},
    {CAPTURE_END, "cudaStreamEndCapture", ""},
    {CAPTURE_END, "hipStreamEndCapture", ""},
    {CAPTURE_END, "cuStreamEndCapture", ""},
    {CAPTURE, "cudaGraphInstantiate", ""},
    {CAPTURE, "hipGraphInstantiate", ""},
    {CAPTURE, "cuGraphInstantiate", ""},
    {CAPTURE, "CUDAGraphNode.record", ""}, /* of the cudagraph trees of torch.compile */
    {CAPTURE, "CUDAGraphTreeManager.", " (dynamo_timed)"},
    {CAPTURE, "cudagraphify", " (dynamo_timed)"},
    {AUTOTUNING, "", "benchmark_all_configs"},
    {AUTOTUNING, "", "benchmark_all_configs (dynamo_timed)"},
    {AUTOTUNING, "", "do_bench (dynamo_timed)"},
    {AUTOTUNING, "", "autotune_to_one_config"},
    {AUTOTUNING, "", "coordinate_descent_tuning"},
    {AUTOTUNING, "CachingAutotuner.", " (dynamo_timed)"},
    {AUTOTUNING, "", ": do_bench"},
    {AUTOTUNING, "", ": do_bench_cudagraph"},
    {AUTOTUNING, "triton/runtime/autotuner.py(", ": _bench"},
    {COMPILATION, "", " (dynamo_timed)"}, /* each stage, whatever it is called */
    {COMPILATION, "entire_frame_compile", ""},
    {COMPILATION, "", "compile_inner"}, /* _compile.compile_inner, of Dynamo */
    {COMPILATION, "", "call_user_compiler"},
    {COMPILATION, "", "create_aot_dispatcher_function"},
    {COMPILATION, "", "fx_codegen_and_compile"},
    {COMPILATION, "", "compile_fx_inner"},
    {COMPILATION, "GraphLowering.", ""},
    {COMPILATION, "Scheduler.codegen", ""},
    {COMPILATION, "async_compile.wait", ""},
    {COMPILATION, "PyCodeCache.load_by_key_path", ""},
    {COMPILATION, "", "AsyncCompile.wait"},
    {COMPILATION, "torch/_dynamo/convert_frame.py(", ": _compile"},
    {COMPILATION, "torch/_inductor/graph.py(", ": compile_to_module"},
    {COMPILATION, "torch/_inductor/async_compile.py(", ": wait"},
    {BUILD, "triton/compiler/compiler.py(", ": compile"},
    {BUILD, "torch/utils/cpp_extension.py(", ": load"},
    {BUILD, "cuLinkAdd", ""},
    {BUILD, "cuLinkComplete", ""},
    {BUILD, "hiprtcCompile", ""},
    {BUILD, "nvrtcCompile", ""},
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

/* ---- calls --------------------------------------------------------------------------------- */

enum phase { WARM_UP, STEADY, NOT_MARKED };

static const char *const phases[] = {
    [WARM_UP] = "warm-up",
    [STEADY] = "steady",
    [NOT_MARKED] = "not marked",
};

/* An outermost call, or a compiled region. */
struct call {
    ta_row row;
    uint32_t what; /* enum what */
    uint32_t track;
    int64_t start, end;
    struct ta_region_id id; /* for a compilation, from the region that follows it */
    uint32_t compilation;   /* index of the first call of the same compilation */
};

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    const struct ta_intervals *busy;
    const struct ta_program_steps *steps;
    struct call *calls;
    size_t n, max;
    bool failed;
};

static void take_span(void *user, ta_row row, uint8_t what)
{
    struct work *w = user;
    if (!ta_class_is_host(w->categories.at[w->spans.cat[row]].class))
        return;
    const int64_t start = w->spans.ts[row], end = start + w->spans.dur[row];
    const uint32_t track = w->spans.track[row];
    if (what == CAPTURE_END) {
        for (size_t i = w->n; i-- > 0 && w->calls[i].track == track;)
            if (w->calls[i].what == CAPTURE_BEGIN) {
                w->calls[i].what = CAPTURE;
                w->calls[i].end = end;
                break;
            }
        return;
    }
    if (!ta_vec_grow((void **)&w->calls, &w->max, w->n, sizeof *w->calls)) {
        w->failed = true;
        return;
    }
    w->calls[w->n++] =
        (struct call){.row = row, .what = what, .track = track, .start = start, .end = end};
}

/* Keeps outermost calls, and compiled regions outside of them.  Calls are ordered by thread and
 * start. */
static void leave_out_nested(struct work *w)
{
    size_t kept = 0;
    uint32_t track = UINT32_MAX;
    int64_t end = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct call call = w->calls[i];
        if (call.what == CAPTURE_BEGIN || (call.track == track && call.start < end))
            continue;
        if (call.what != REGION) {
            track = call.track;
            end = call.end;
        }
        w->calls[kept++] = call;
    }
    w->n = kept;
}

static bool is_same_stage(const struct work *w, size_t first, size_t call)
{
    for (size_t i = first; i < call; i++)
        if (w->spans.name[w->calls[i].row] == w->spans.name[w->calls[call].row])
            return true;
    return false;
}

/* Finds the calls that are stages of one compilation: all calls of a thread and step before the
 * region that it made.  A name that occurs again begins another compilation. */
static void find_compilations(struct work *w)
{
    size_t open = SIZE_MAX;
    for (size_t i = 0; i < w->n; i++) {
        struct call *call = &w->calls[i];
        if (open != SIZE_MAX && w->calls[open].track != call->track)
            open = SIZE_MAX;
        if (call->what == REGION && open != SIZE_MAX) {
            w->calls[open].id = ta_region_id(ta_trace_text(w->trace, w->spans.name[call->row]));
            open = SIZE_MAX;
        }
        if (call->what != COMPILATION)
            continue;
        if (open == SIZE_MAX || is_same_stage(w, open, i) ||
            ta_program_step_at(w->steps, w->calls[open].start) !=
                ta_program_step_at(w->steps, call->start)) {
            open = i;
            call->id = TA_NO_REGION_ID;
        }
        call->compilation = (uint32_t)open;
    }
}

/* Code compiled a second time in the recording was compiled before, whatever its region says. */
static void count_before(struct work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct call *call = &w->calls[i];
        int64_t before = 0;
        if (call->what != COMPILATION || call->compilation != i || call->id.frame == TA_MISSING)
            continue;
        for (size_t k = 0; k < w->n; k++)
            before += w->calls[k].what == COMPILATION && w->calls[k].compilation == k &&
                      w->calls[k].id.frame == call->id.frame && w->calls[k].start < call->start;
        call->id.code = ta_max_i64(call->id.code, before);
    }
}

static enum phase phase_of(const struct work *w, const struct call *call)
{
    if (call->what == COMPILATION && w->calls[call->compilation].id.code > 0)
        return STEADY; /* a recompilation */
    if (w->steps->n < 2)
        return NOT_MARKED;
    return call->start >= w->steps->at[0].end ? STEADY : WARM_UP;
}

/* The nearest span around a compilation that shows where in the program it is, except for step
 * markers; TA_NO_ROW. */
static ta_row place_of(const struct work *w, ta_row row)
{
    const size_t step = ta_program_step_at(w->steps, w->spans.ts[row]);
    const ta_row mark = step == SIZE_MAX ? TA_NO_ROW : w->steps->at[step].mark;
    static const char *const inner[] = {"torch/",      "<built-in", TA_REGION_MARK, "dynamo",
                                        "TorchDynamo", "## Call",   TA_STEP_MARK,   "compile_"};
    for (row = w->spans.parent[row]; row != TA_NO_ROW; row = w->spans.parent[row]) {
        const struct ta_slice name = ta_trace_text(w->trace, w->spans.name[row]);
        bool is_place = name.len && row != mark && what_of(name) == NOTHING &&
                        ta_class_is_host(w->categories.at[w->spans.cat[row]].class);
        for (size_t i = 0; i < TA_LENGTH(inner) && is_place; i++)
            is_place = !ta_slice_starts(name, inner[i]);
        if (is_place)
            return row;
    }
    return TA_NO_ROW;
}

/* A name, cut to a readable length. */
static struct ta_key name_key(const struct work *w, ta_row row)
{
    enum { NAME_MOST = 4096 };
    struct ta_slice name =
        row == TA_NO_ROW ? TA_LIT("") : ta_trace_text(w->trace, w->spans.name[row]);
    if (name.len > NAME_MOST)
        for (name.len = NAME_MOST; name.len && (name.ptr[name.len] & 0xC0) == 0x80;)
            name.len--; /* do not cut within a character */
    return ta_key_text(name);
}

static void add_compilation(const struct work *w, const struct call *call, int64_t host,
                            int64_t idle, struct ta_partial *out)
{
    const struct call *first = &w->calls[call->compilation];
    const size_t step = ta_program_step_at(w->steps, first->start);
    char name[TA_STEP_NAME_ROOM], text[TA_STEP_LABEL_ROOM];
    struct ta_slice label = {.len = 0};
    if (step != SIZE_MAX)
        label = ta_step_label(ta_program_step_name(w->trace, w->steps, step, name),
                              w->steps->at[step].repeat, text);
    int64_t *row =
        TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(w->trace)), ta_key_int(first->id.frame),
                       ta_key_int(first->id.code), name_key(w, place_of(w, first->row)),
                       ta_key_text(label), ta_key_int(phase_of(w, first)));
    ta_sum(&row[TIMES], call == first);
    ta_sum(&row[OF_HOST_NS], host);
    ta_sum(&row[OF_IDLE_NS], idle);
}

static int by_start(const void *left, const void *right)
{
    const struct call *a = *(const struct call *const *)left;
    const struct call *b = *(const struct call *const *)right;
    return a->start != b->start ? (a->start < b->start ? -1 : 1)
                                : (a->row > b->row) - (a->row < b->row);
}

/* Time outside the device's window counts as busy: nothing waits for the device there. */
static void add_calls(struct work *w, const struct call **order, struct ta_partial *const *out)
{
    int64_t reach = INT64_MIN;
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->calls[i].what != REGION)
            order[n++] = &w->calls[i];
    qsort(order, n, sizeof *order, by_start);
    for (size_t i = 0; i < n; i++) {
        const struct call *call = order[i];
        const int64_t start = ta_max_i64(call->start, reach);
        const int64_t host = ta_max_i64(0, call->end - start);
        const int64_t idle = host ? ta_intervals_gaps(w->busy, start, call->end) : 0;
        reach = ta_max_i64(reach, call->end);
        int64_t *row = TA_PARTIAL_ROW(out[PARTIAL_CALLS], ta_key_int(ta_trace_rank(w->trace)),
                                      ta_key_int(call->what), name_key(w, call->row),
                                      ta_key_int(phase_of(w, call)));
        ta_sum(&row[CALLS], 1);
        ta_sum(&row[HOST_NS], host);
        ta_sum(&row[IDLE_NS], idle);
        if (call->what == COMPILATION)
            add_compilation(w, call, host, idle, out[PARTIAL_COMPILATIONS]);
    }
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
    bool done = w.busy && w.steps && ta_each_named(trace, what_of, take_span, &w) && !w.failed;
    const struct call **order = done ? calloc(w.n + 1, sizeof(const struct call *)) : NULL;
    done = done && order;
    if (done) {
        leave_out_nested(&w);
        find_compilations(&w);
        count_before(&w);
        add_calls(&w, order, out);
    }
    free(order);
    free(w.calls);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot collect interruptions");
}

/* ---- tables -------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *calls = merged[PARTIAL_CALLS], *made = merged[PARTIAL_COMPILATIONS];
    for (size_t i = 0; i < ta_partial_rows(calls); i++) {
        const int64_t *row = ta_partial_at(calls, i);
        TA_ROW(out, by_call, [BY_CALL_WHAT] = ta_text(ta_slice_of(whats[row[WHAT]])),
               [BY_CALL_RANK] = ta_int(row[RANK]),
               [BY_CALL_CALL] = ta_text(ta_partial_text(calls, row, CALL)),
               [BY_CALL_PHASE] = ta_text(ta_slice_of(phases[row[PHASE]])),
               [BY_CALL_CALLS] = ta_int(row[CALLS]), [BY_CALL_HOST] = ta_int(row[HOST_NS]),
               [BY_CALL_IDLE] = ta_int(row[IDLE_NS]));
    }
    for (size_t i = 0; i < ta_partial_rows(made); i++) {
        const int64_t *row = ta_partial_at(made, i);
        TA_ROW(out, compilations, [BY_RANK] = ta_int(row[OF_RANK]),
               [BY_PLACE] = ta_text_or_null(ta_partial_text(made, row, PLACE)),
               [BY_FRAME] = ta_int(row[FRAME]), [BY_CODE] = ta_int(row[CODE]),
               [BY_STEP] = ta_text_or_null(ta_partial_text(made, row, STEP)),
               [BY_PHASE] = ta_text(ta_slice_of(phases[row[OF_PHASE]])),
               [BY_TIMES] = ta_int(row[TIMES]), [BY_HOST] = ta_int(row[OF_HOST_NS]),
               [BY_IDLE] = ta_int(row[OF_IDLE_NS]));
    }
    return TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{PARTIAL_CALLS, WHAT, WHATS},
                                         {PARTIAL_CALLS, PHASE, NOT_MARKED + 1},
                                         {PARTIAL_COMPILATIONS, OF_PHASE, NOT_MARKED + 1},
                                         TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&by_call, &compilations, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .section = "launches",
                                           .place = 2,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, interruptions, &ops, .title = "Allocation, loading and compilation calls",
          .summary = "Calls that belong in the warm-up, and what they cost later: "
                     "interruptions.by_call, compile.compilations",
          .version = "1");
