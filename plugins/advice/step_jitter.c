/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps that take far longer than the others of their kind, and what they have more of. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

#include <math.h>

enum { RATIO, SHARE, LEAST, MEDIUM };

static const struct ta_option options[] = {
    [RATIO] = {"ratio", TA_OPTION_NUMBER, 1.2, 1, 1e6, TA_OPTION_PLAIN,
               "95th percentile of the time of a step over the median above which the rule fires"},
    [SHARE] =
        {"share", TA_OPTION_NUMBER, 0.05, 0, 1, TA_OPTION_RATIO,
         "Share of the time of all steps that outliers take more than the median, above which "
         "it fires, too"},
    [LEAST] = {"least", TA_OPTION_NUMBER, 0.01, 0, 1, TA_OPTION_RATIO,
               "That share below which the rule keeps silent"},
    [MEDIUM] = {"medium", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
                "That share above which it is one severity higher"},
    TA_OPTIONS_END,
};

enum {
    STEPS,
    P50,
    P95,
    P95_RATIO,
    OUTLIERS,
    EXCESS,
    PART,
    CAUSE,
    CAUSE_EXCESS,
    STEP,
    STEP_CAUSE,
    STEP_TIMES,
    STEP_SITE,
    STEP_TIME,
    WINDOW,
    LIMIT
};

static const struct ta_ref reads[] = {
    [STEPS] = {"steps.jitter", "steps"},
    [P50] = {"steps.jitter", "p50_ns"},
    [P95] = {"steps.jitter", "p95_ns"},
    [P95_RATIO] = {"steps.jitter", "p95_ratio"},
    [OUTLIERS] = {"steps.jitter", "outliers"},
    [EXCESS] = {"steps.jitter", "excess_ns"},
    [PART] = {"steps.jitter", "excess_share"},
    [CAUSE] = {"steps.jitter", "cause"},
    [CAUSE_EXCESS] = {"steps.jitter", "cause_ns"},
    [STEP] = {"steps.outliers", "step"},
    [STEP_CAUSE] = {"steps.outliers", "cause"},
    [STEP_TIMES] = {"steps.outliers", "ratio"},
    [STEP_SITE] = {"steps.outliers", "site"},
    [STEP_TIME] = {"steps.outliers", "dur_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [LIMIT] = {"telemetry.limits", "limit"},
};

/* What is done about each cause.  A cause whose own finding says what it costs has no saving
 * here. */
static const struct cause {
    const char *name, *clause, *advice;
    bool is_told, is_idle, is_slower;
} causes[] = {
    {"more kernels", "they launch more kernels",
     "Find what runs only in these steps (logging, previews, checkpoints, another shape) and move "
     "it out "
     "of "
     "the loop.",
     false},
    {"slower kernels", "the same kernels take longer",
     "Record clock, power and temperature meanwhile (nvidia-smi dmon -s puc): a falling clock or "
     "another process on the GPU slows the same kernels.",
     false, false, true},
    {"communication", "their collectives take longer",
     "Look at what the rank that arrives last does in these steps.", true},
    {"copies", "they copy more", "Copy what these steps need beforehand, from pinned memory.",
     false},
    {"compilation", "code is compiled in them",
     "Warm up with all shapes before, or compile with dynamic=True.", true},
    {"first call", "code is loaded in them", "Warm up with all shapes before.", true},
    {"memory allocation", "the allocator asks the driver for memory",
     "Warm up with the largest shape, and set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
     false, true},
    {"data loading", "the GPU waits for data",
     "Let more workers load ahead (num_workers, prefetch_factor), or prepare what is read.", false,
     true},
    {"host computation", "the host computes while the GPU waits",
     "Move that work to the GPU, to another process, or out of the loop.", false, true},
    {"synchronization", "the host waits for the GPU",
     "Read values back once at the end instead of in these steps.", false, true},
    {"blocking copy", "the host waits for a copy", "Copy asynchronously from pinned memory.", false,
     true},
    {"python", "Python runs for longer",
     "Look for the garbage collector (gc.freeze() after the start, gc.collect() between runs), and "
     "for code that only these steps run.",
     false, true},
    {"operator dispatch", "their operators take longer to dispatch",
     "Look at what else runs on these CPU cores; pin the process to cores of its own.", false,
     true},
    {"host untraced", "the host does something that was not recorded",
     "Record with with_stack=True to see what it is; another process may take its core.", false,
     true},
    {"host collective", "the host waits for other ranks",
     "Look at what the rank that arrives last does in these steps.", true},
    {"profiler", "the profiler holds them up", "Leave these steps out of comparisons.", true},
};

static const struct cause *cause_of(const struct ta_refs *in, size_t row)
{
    static const struct cause other = {"", "several parts take longer",
                                       "Look at what only these steps do.", false};
    for (size_t i = 0; i < TA_LENGTH(causes); i++)
        if (ta_ref_reads(in, CAUSE, row, causes[i].name))
            return &causes[i];
    return &other;
}

/* The kind of step that loses most; SIZE_MAX without one. */
static size_t find_worst(struct ta_ctx *ctx, const struct ta_refs *in)
{
    size_t worst = SIZE_MAX;
    for (size_t row = 0; row < ta_ref_rows(in, PART); row++) {
        const double share = ta_ref_number(in, PART, row, 0);
        const bool fires = ta_ref_number(in, OUTLIERS, row, 0) > 0 &&
                           share >= ta_ctx_option(ctx, LEAST) &&
                           (ta_ref_number(in, P95_RATIO, row, 0) > ta_ctx_option(ctx, RATIO) ||
                            share > ta_ctx_option(ctx, SHARE));
        if (fires && (worst == SIZE_MAX ||
                      ta_ref_number(in, EXCESS, row, 0) > ta_ref_number(in, EXCESS, worst, 0)))
            worst = row;
    }
    return worst;
}

/* The outlier of that rank and cause that takes longest; SIZE_MAX without one. */
static size_t longest_step(const struct ta_refs *in, size_t row)
{
    size_t longest = SIZE_MAX;
    for (size_t i = 0; i < ta_ref_rows(in, STEP); i++)
        if (ta_ref_rank(in, STEP, i) == ta_ref_rank(in, PART, row) &&
            ta_slice_equal(ta_ref_text(in, STEP_CAUSE, i), ta_ref_text(in, CAUSE, row)) &&
            (longest == SIZE_MAX ||
             ta_ref_number(in, STEP_TIME, i, 0) > ta_ref_number(in, STEP_TIME, longest, 0)))
            longest = i;
    return longest;
}

/* "The longest is ProfilerStep#7 (16.1 ms), in `aten::sort`." */
static const char *why_of(const struct ta_refs *in, struct ta_advice *advice, size_t step)
{
    enum { NAME_MOST = 80 };
    if (step == SIZE_MAX)
        return NULL;
    const struct ta_slice site = ta_ref_text(in, STEP_SITE, step);
    const struct ta_slice name = ta_ref_text(in, STEP, step);
    const double time = ta_ref_number(in, STEP_TIME, step, NAN);
    const double median = time / ta_ref_number(in, STEP_TIMES, step, NAN);
    const int n = (int)(name.len < NAME_MOST ? name.len : NAME_MOST);
    const int n_site = (int)(site.len < NAME_MOST ? site.len : NAME_MOST);
    const char *where =
        site.len ? ta_advice_printf(advice, ", mostly in `%.*s`", n_site, site.ptr) : "";
    return ta_advice_printf(advice, "The longest is %.*s (%s against a median of %s)%s.", n,
                            name.ptr, ta_advice_number(advice, time, TA_UNIT_NS),
                            ta_advice_number(advice, median, TA_UNIT_NS), where);
}

/* Idle time of a device has findings of its own from this share of the program's window on, and so
 * has what collectives, compiling and the profiler take. */
#define TOLD_SHARE 0.03

/* Limits that say why the same kernels take longer. */
static const char *const of_clock[] = {"gpu_power_cap",
                                       "gpu_thermal_slowdown",
                                       "gpu_hardware_thermal_slowdown",
                                       "gpu_hardware_slowdown",
                                       "gpu_power_brake",
                                       "temperature",
                                       "power_limit",
                                       "low_clock"};

static bool is_clock_limited(const struct ta_refs *in)
{
    for (size_t row = 0; row < ta_ref_rows(in, LIMIT); row++)
        for (size_t i = 0; i < TA_LENGTH(of_clock); i++)
            if (ta_ref_reads(in, LIMIT, row, of_clock[i]))
                return true;
    return false;
}

static bool is_told(const struct ta_refs *in, const struct cause *cause, double named)
{
    static const struct ta_look windows = {.cells = WINDOW};
    const double window = ta_look_most(in, &windows, TA_MISSING);
    return cause->is_told || (cause->is_slower && is_clock_limited(in)) ||
           (cause->is_idle && named > TOLD_SHARE * window);
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const size_t row = find_worst(ctx, in);
    if (row == SIZE_MAX)
        return TA_OK;
    const struct ta_place share = ta_place_at(in, PART, row);
    const struct cause *cause = cause_of(in, row);
    const struct ta_evidence evidence[] = {ta_place_evidence(&share), ta_ref_evidence(in, P95, row),
                                           ta_ref_evidence(in, P50, row)};
    const double excess = ta_ref_number(in, EXCESS, row, 0);
    const double named = fmin(excess, ta_ref_number(in, CAUSE_EXCESS, row, 0));
    const bool told = is_told(in, cause, named);
    const bool is_medium = share.value > ta_ctx_option(ctx, MEDIUM);
    ta_advise(advice, &(struct ta_finding){
                          .id = "step-jitter",
                          .rule = "step_jitter",
                          .title = ta_advice_printf(
                              advice,
                              "%.0f of %.0f steps take far longer and lose %s (%s of the time of "
                              "the steps): %s%s",
                              ta_ref_number(in, OUTLIERS, row, 0), ta_ref_number(in, STEPS, row, 0),
                              ta_advice_number(advice, excess, TA_UNIT_NS),
                              ta_advice_number(advice, share.value, TA_UNIT_RATIO), cause->clause,
                              ta_place_owner(advice, in->report, &share)),
                          .why = why_of(in, advice, longest_step(in, row)),
                          .advice = cause->advice,
                          .severity = told        ? TA_INFO
                                      : is_medium ? TA_MEDIUM
                                                  : TA_LOW,
                          .evidence = evidence,
                          .n_evidence = 3,
                          .saving_low_ns =
                              told ? TA_MISSING : ta_whole((cause->is_slower ? 0.3 : 0.6) * named),
                          .saving_high_ns = told ? TA_MISSING : ta_whole(excess),
                          .confidence = 0.7,
                          .threshold = ta_advice_printf(advice, "p95 over p50 of steps > %.3g",
                                                        ta_ctx_option(ctx, RATIO)),
                      });
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, step_jitter, &ops, .title = "Outlier steps",
          .summary = "Fires when some steps of a kind take far longer than the median",
          .version = "1", .options = options);
