/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation from the driver, loading of code, compilation, tuning or capture after the warm-up. */
#include "lib/uncached.h"
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { THRESHOLD };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
                   "Share of the run that the host spends in such calls after the warm-up, from "
                   "which the rule fires"},
    TA_OPTIONS_END,
};

enum {
    RANK,
    PHASE,
    WHAT,
    CALL,
    CALLS,
    HOST,
    IDLE,
    WINDOW,
    BUSY,
    MADE_RANK,
    MADE_PHASE,
    MADE_PLACE,
    MADE_FRAME,
    MADE_CODE,
    MADE_STEP,
    MADE_TIMES,
    MADE_HOST,
    RETRIED,
    UNCACHED
};

static const struct ta_ref reads[] = {
    [RANK] = {"interruptions.by_call", "rank"},
    [PHASE] = {"interruptions.by_call", "phase"},
    [WHAT] = {"interruptions.by_call", "what"},
    [CALL] = {"interruptions.by_call", "call"},
    [CALLS] = {"interruptions.by_call", "calls"},
    [HOST] = {"interruptions.by_call", "host_ns"},
    [IDLE] = {"interruptions.by_call", "idle_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [BUSY] = {"gpu_time.program", "busy_ns"},
    [MADE_RANK] = {"compile.compilations", "rank"},
    [MADE_PHASE] = {"compile.compilations", "phase"},
    [MADE_PLACE] = {"compile.compilations", "place"},
    [MADE_FRAME] = {"compile.compilations", "frame"},
    [MADE_CODE] = {"compile.compilations", "code"},
    [MADE_STEP] = {"compile.compilations", "step"},
    [MADE_TIMES] = {"compile.compilations", "times"},
    [MADE_HOST] = {"compile.compilations", "host_ns"},
    [RETRIED] = {"memory.retries", "host_ns"},
    UNCACHED_READS(UNCACHED),
};

/* Of one rank, after the warm-up; `row` has the most of it. */
struct sums {
    double host, idle, calls, most;
    size_t row;
};

/* Memory that no cache keeps is allocated in each step: the whole run counts. */
static bool is_counted(const struct ta_refs *in, size_t i, bool is_whole)
{
    return is_whole || ta_ref_reads(in, PHASE, i, "steady");
}

static void add(const struct ta_refs *in, int64_t rank, const char *what, bool is_whole,
                struct sums *sums)
{
    for (size_t i = 0; i < ta_ref_rows(in, WHAT); i++) {
        if (!is_counted(in, i, is_whole) || !ta_ref_reads(in, WHAT, i, what) ||
            ta_ref_integer(in, RANK, i) != rank)
            continue;
        const double host = ta_ref_number(in, HOST, i, 0);
        sums->host += host;
        sums->idle += ta_ref_number(in, IDLE, i, 0);
        sums->calls += ta_ref_number(in, CALLS, i, 0);
        if (host >= sums->most) {
            sums->most = host;
            sums->row = i;
        }
    }
}

/* What is made ready at the first call of something new is one effect: it is compiled, tuned,
 * loaded and captured.  Memory is another. */
static const struct kind {
    const char *what, *id, *title, *advice;
    bool is_of_code;
} kinds[] = {
    {"compilation", "steady-compilation", "The program compiles in the middle of the run",
     "Warm up with all shapes before it counts; TORCH_LOGS=recompiles says what is compiled again "
     "and why.",
     true},
    {"autotuning", "steady-autotuning", "Kernels are tuned in the middle of the run",
     "Tune once: warm up with all shapes, keep the caches of Triton and Inductor "
     "(TORCHINDUCTOR_CACHE_DIR), and set torch.backends.cudnn.benchmark = False where shapes "
     "change.",
     true},
    {"module", "steady-modules", "GPU code is loaded in the middle of the run",
     "Run each shape once before it counts, or load all code at the start: "
     "CUDA_MODULE_LOADING=EAGER.",
     true},
    {"capture", "steady-capture", "Graphs are captured in the middle of the run",
     "Capture once and replay: keep the shapes and the addresses of inputs fixed (copy into static "
     "buffers, torch.compiler.cudagraph_mark_step_begin()); TORCH_LOGS=cudagraphs says why a graph "
     "is recorded again.",
     true},
    {"allocation", "steady-allocation", "The driver allocates memory in the middle of the run",
     "Let the caching allocator keep its memory: no torch.cuda.empty_cache() in the loop, pinned "
     "buffers made once, a first pass with the largest shapes.",
     false},
};

/* What torch.compile compiled again on a rank. */
struct again {
    double times, host, most;
    size_t row;        /* that takes most */
    size_t n_steps;    /* in which it does, as far as they are known */
    const char *a, *b; /* the first two of them */
    bool is_one_place; /* all are of the place of `row` */
};

static bool is_again(const struct ta_refs *in, size_t i)
{
    const double code = ta_ref_number(in, MADE_CODE, i, NAN);
    return code > 0 || (isnan(code) && ta_ref_reads(in, MADE_PHASE, i, "steady"));
}

static bool is_new_step(const struct ta_refs *in, int64_t rank, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (ta_ref_integer(in, MADE_RANK, i) == rank && is_again(in, i) &&
            ta_slice_equal(ta_ref_text(in, MADE_STEP, i), ta_ref_text(in, MADE_STEP, row)))
            return false;
    return ta_ref_text(in, MADE_STEP, row).len > 0;
}

static struct again find_again(const struct ta_refs *in, struct ta_advice *advice, int64_t rank)
{
    struct again again = {.is_one_place = true, .a = "", .b = ""};
    for (size_t i = 0; i < ta_ref_rows(in, MADE_CODE); i++) {
        if (ta_ref_integer(in, MADE_RANK, i) != rank || !is_again(in, i))
            continue;
        const double host = ta_ref_number(in, MADE_HOST, i, 0);
        const struct ta_slice step = ta_ref_text(in, MADE_STEP, i);
        const struct ta_slice place = ta_ref_text(in, MADE_PLACE, i);
        if (is_new_step(in, rank, i)) {
            const char *name = ta_advice_printf(advice, "%.*s", (int)step.len, step.ptr);
            again.a = again.n_steps == 0 ? name : again.a;
            again.b = again.n_steps == 1 ? name : again.b;
            again.n_steps++;
        }
        if (again.times > 0)
            again.is_one_place &= ta_slice_equal(place, ta_ref_text(in, MADE_PLACE, again.row));
        again.times += ta_ref_number(in, MADE_TIMES, i, 0);
        again.host += host;
        if (host > again.most) {
            again.most = host;
            again.row = i;
        }
    }
    const size_t a = strlen(again.a), b = strlen(again.b); /* ProfilerStep#9 before #10 */
    if (again.n_steps == 2 && (a > b || (a == b && strcmp(again.a, again.b) > 0))) {
        const char *last = again.a;
        again.a = again.b;
        again.b = last;
    }
    return again;
}

static const char *times(struct ta_advice *advice, double n)
{
    return n <= 1 ? "once"
           : n == 2
               ? "twice"
               : ta_advice_printf(advice, "%s times", ta_advice_number(advice, n, TA_UNIT_COUNT));
}

/* " `forward`", " 3 functions"; "" where nothing says it. */
static const char *what_again(const struct ta_refs *in, struct ta_advice *advice,
                              const struct again *again)
{
    const struct ta_place host = ta_place_at(in, MADE_HOST, again->row);
    const char *place = ta_place_text(advice, in, &host, MADE_PLACE);
    return *place && again->is_one_place ? ta_advice_printf(advice, " %s", place) : "";
}

static const char *in_steps(struct ta_advice *advice, const struct again *again)
{
    return again->n_steps == 0   ? ""
           : again->n_steps == 1 ? ta_advice_printf(advice, ", in %s", again->a)
           : again->n_steps == 2 ? ta_advice_printf(advice, ", in %s and %s", again->a, again->b)
                                 : ta_advice_printf(advice, ", in %zu steps", again->n_steps);
}

static const char *why_again(const struct ta_refs *in, struct ta_advice *advice,
                             const struct again *again, const struct sums *sums)
{
    const char *idle = ta_advice_number(advice, sums->idle, TA_UNIT_NS);
    const double frame = ta_ref_number(in, MADE_FRAME, again->row, NAN);
    const double code = ta_ref_number(in, MADE_CODE, again->row, NAN);
    const char *each = ta_advice_number(advice, again->host / again->times, TA_UNIT_NS);
    if (isnan(frame))
        return ta_advice_printf(advice, "A compilation takes %s; the GPU is idle for %s in total.",
                                each, idle);
    return ta_advice_printf(
        advice,
        "A guard of the compiled code fails, so the function (compile id %.0f/%.0f) is compiled "
        "anew, which takes %s%s; the GPU is idle for %s in total.",
        frame, code, each, again->times > 1 ? " each time" : "", idle);
}

/* The share of its run that a rank spends with what is in the middle of it; the kind that has most,
 * of all code. */
struct worst {
    struct sums sums;
    const struct kind *kind;
    double share;
    int64_t rank;
};

static struct worst find_worst(const struct ta_refs *in, bool is_of_code)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const struct ta_run_info *run = ta_report_run(in->report);
    struct worst worst = {.rank = TA_MISSING};
    for (size_t r = 0; r < run->n_ranks; r++) {
        const double window = ta_look_most(in, &windows, run->ranks[r]);
        struct worst of = {.rank = run->ranks[r]};
        double most = 0;
        for (size_t k = 0; k < TA_LENGTH(kinds); k++) {
            if (kinds[k].is_of_code != is_of_code)
                continue;
            const double before = of.sums.host;
            add(in, run->ranks[r], kinds[k].what,
                !is_of_code && ta_uncached(in, UNCACHED, run->ranks[r]), &of.sums);
            if (of.sums.host - before > most) {
                most = of.sums.host - before;
                of.kind = &kinds[k];
            }
        }
        /* Allocations that were tried again are a finding of their own. */
        static const struct ta_look retried = {.cells = RETRIED};
        if (!is_of_code && ta_look_sum(in, &retried, run->ranks[r]) > of.sums.host / 2)
            continue;
        of.share = window > 0 ? of.sums.host / window : 0;
        if (of.kind && of.share > worst.share)
            worst = of;
    }
    return worst;
}

struct texts {
    const char *title, *why, *advice;
};

/* `sums` is "98.0 % of the run (16.6 s)". */
static struct texts compiled_again(const struct ta_refs *in, struct ta_advice *advice,
                                   const struct again *again, const struct worst *worst,
                                   const char *owner, const char *sums)
{
    return (struct texts){
        .title = ta_advice_printf(advice,
                                  "torch.compile recompiles%s %s%s%s: compiling takes the host %s",
                                  what_again(in, advice, again), times(advice, again->times),
                                  in_steps(advice, again), owner, sums),
        .why = why_again(in, advice, again, &worst->sums),
        .advice = "TORCH_LOGS=recompiles names the guard that fails; if it is a size, make it "
                  "dynamic (torch.compile(dynamic=True), torch._dynamo.mark_dynamic) or pad to a "
                  "few fixed sizes.",
    };
}

/* Of the call that has most, in the whole run. */
static double time_of_call(const struct ta_refs *in, const struct worst *worst)
{
    double sum = 0;
    for (size_t i = 0; i < ta_ref_rows(in, CALL); i++)
        if (ta_ref_integer(in, RANK, i) == worst->rank && is_counted(in, i, true) &&
            ta_slice_equal(ta_ref_text(in, CALL, i), ta_ref_text(in, CALL, worst->sums.row)))
            sum += ta_ref_number(in, HOST, i, 0);
    return sum;
}

static struct texts uncached(const struct ta_refs *in, struct ta_advice *advice,
                             const struct worst *worst, const char *owner, const char *sums)
{
    const struct ta_place host = ta_place_at(in, HOST, worst->sums.row);
    return (struct texts){
        .title = ta_advice_printf(advice,
                                  "The driver allocates and frees memory for each tensor%s, which "
                                  "takes the host %s",
                                  owner, sums),
        .why = ta_advice_printf(
            advice,
            "%s allocations, %s frees: PyTorch's cache of memory is off or emptied; %s takes %s%s, "
            "since it waits for the GPU.",
            ta_advice_number(advice, ta_uncached_calls(in, UNCACHED, worst->rank, false),
                             TA_UNIT_COUNT),
            ta_advice_number(advice, ta_uncached_calls(in, UNCACHED, worst->rank, true),
                             TA_UNIT_COUNT),
            ta_place_text(advice, in, &host, CALL),
            ta_advice_number(advice, time_of_call(in, worst), TA_UNIT_NS),
            ta_ref_reads(in, PHASE, worst->sums.row, "steady")
                ? ta_advice_printf(advice, " (%s after the warm-up)",
                                   ta_advice_number(advice, host.value, TA_UNIT_NS))
                : ""),
        .advice = "Turn the caching allocator on (unset PYTORCH_NO_CUDA_MEMORY_CACHING), or take "
                  "torch.cuda.empty_cache() out of the loop.",
    };
}

static struct texts others(const struct ta_refs *in, struct ta_advice *advice,
                           const struct worst *worst, const char *owner, const char *sums)
{
    const struct ta_place host = ta_place_at(in, HOST, worst->sums.row);
    const struct ta_slice call = ta_ref_text(in, CALL, worst->sums.row);
    const bool is_of_trees = ta_slice_starts(call, "CUDAGraph") ||
                             ta_slice_starts(call, "cudagraph"); /* of torch.compile */
    return (struct texts){
        .title = ta_advice_printf(advice, "%s%s: it takes %s",
                                  !is_of_trees ? worst->kind->title
                                  : ta_run_is_amd(ta_report_run(in->report))
                                      ? "torch.compile records HIP graphs again in the middle of "
                                        "the run"
                                      : "torch.compile records CUDA graphs again in the middle of "
                                        "the run",
                                  owner, sums),
        .why = ta_advice_printf(
            advice,
            "%s takes %s, the largest part; during all calls of its kind the GPU is "
            "idle for %s.",
            ta_place_text(advice, in, &host, CALL),
            ta_advice_number(advice, worst->sums.most, TA_UNIT_NS),
            ta_advice_number(advice, worst->sums.idle, TA_UNIT_NS)),
        .advice = worst->kind->advice,
    };
}

static struct texts texts_of(const struct ta_refs *in, struct ta_advice *advice,
                             const struct worst *worst, const struct again *again)
{
    const struct ta_place host = ta_place_at(in, HOST, worst->sums.row);
    const char *owner = ta_place_owner(advice, in->report, &host);
    const char *sums = ta_advice_printf(advice, "%s of the run (%s)",
                                        ta_advice_number(advice, worst->share, TA_UNIT_RATIO),
                                        ta_advice_number(advice, worst->sums.host, TA_UNIT_NS));
    if (again->times > 0)
        return compiled_again(in, advice, again, worst, owner, sums);
    if (!worst->kind->is_of_code && ta_uncached(in, UNCACHED, worst->rank))
        return uncached(in, advice, worst, owner, sums);
    return others(in, advice, worst, owner, sums);
}

static void advise_kind(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                        bool is_of_code)
{
    const double threshold = ta_ctx_option(ctx, THRESHOLD);
    const struct worst worst = find_worst(in, is_of_code);
    if (!worst.kind || worst.share <= threshold)
        return;
    const struct sums *sums = &worst.sums;
    const struct again again = strcmp(worst.kind->what, "compilation") == 0
                                   ? find_again(in, advice, worst.rank)
                                   : (struct again){.times = 0};
    const struct texts texts = texts_of(in, advice, &worst, &again);
    static const struct ta_look windows = {.cells = WINDOW}, busy = {.cells = BUSY};
    const double idle = /* at all: what the GPU computes stays */
        ta_look_most(in, &windows, worst.rank) - ta_look_most(in, &busy, worst.rank);
    /* When the driver has taken memory back, the host has to catch up as well; where it does so all
     * the time, what it has to catch up on is in the same time. */
    const double around = is_of_code ? fmax(sums->idle, fmin(sums->host, 1.5 * sums->idle))
                          : ta_uncached(in, UNCACHED, worst.rank) ? sums->idle
                                                                  : 1.6 * sums->idle;
    const double high = fmin(idle, around > 0 ? around : sums->host); /* before the first work */
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, HOST, sums->row),
                                           ta_ref_evidence(in, IDLE, sums->row)};
    ta_advise(advice,
              &(struct ta_finding){
                  .id = worst.kind->id,
                  .rule = "interruptions",
                  .title = texts.title,
                  .why = texts.why,
                  .advice = texts.advice,
                  .severity = TA_MEDIUM,
                  .evidence = evidence,
                  .n_evidence = 2,
                  .saving_low_ns = ta_whole(fmin(high, 0.9 * sums->idle)),
                  .saving_high_ns = ta_whole(high),
                  .confidence = again.times > 0 ? 0.8 : 0.6,
                  .threshold = ta_advice_printf(
                      advice, "%s after the warm-up > %s of the run",
                      is_of_code ? "compilation, tuning, loading and capture" : "allocation",
                      ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
              });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    advise_kind(ctx, in, advice, true);
    advise_kind(ctx, in, advice, false);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, interruptions, &ops, .title = "Interruptions in steady steps",
          .summary = "Fires when memory, modules, code or graphs are made after the warm-up",
          .version = "1", .options = options);
