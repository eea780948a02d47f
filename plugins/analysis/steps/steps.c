/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps.by_step, steps.by_rank, steps.by_kind: the steps that programs mark, on host and device.  A
 * marker covers what the host did; where the device works longer on what was launched in it, the
 * marker is only the time of the launches, and the device's is the time of the step.
 *
 * The device side of a step is what was launched in it, from any thread; activities are never cut
 * at the ends of the marker.  Steps that lack more than a twentieth of their kernels, because those
 * were launched and not recorded, are listed but do not count in statistics. */
#include "classes.h"
#include "ranks/steps.h"
#include "stat/series.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BY_STEP_RANK,
    BY_STEP_LABEL,
    BY_STEP_SOURCE,
    BY_STEP_HOST_START,
    BY_STEP_HOST_DUR,
    BY_STEP_GPU_START,
    BY_STEP_GPU_DUR,
    BY_STEP_GPU_BUSY,
    BY_STEP_KERNELS,
    BY_STEP_LOST,
    BY_STEP_COUNTED,
    BY_STEP_PART,
    BY_STEP_CLASS
};
static const struct ta_column by_step_columns[] = {
    [BY_STEP_RANK] = TA_RANK_COLUMN,
    [BY_STEP_LABEL] = {"step", "Step", TA_TEXT, .role = TA_IN_SERIES, .read_as = TA_AS_STEP,
                       .doc = "Label of the step"},
    [BY_STEP_SOURCE] = {"source", "Source", TA_WORD, .role = TA_NOTE,
                        .doc = "How the step was found. marker: a ProfilerStep#N range; record: "
                               "another range or call of the program; module: calls of the "
                               "denoiser; detected: kernels of the denoiser"},
    [BY_STEP_HOST_START] =
        {"host_start_ns", "Host start", TA_NS, .read_as = TA_AS_STEP_START,
         .doc = "Start of the step's marker on the host, since the earliest span of the rank"},
    [BY_STEP_HOST_DUR] = {"host_dur_ns", "Host", TA_NS, .better = TA_LOWER,
                          .read_as = TA_AS_STEP_HOST_TIME,
                          .doc = "Duration of the step's marker on the host"},
    [BY_STEP_GPU_START] = {"gpu_start_ns", "GPU start", TA_NS,
                           .doc = "Start of the first device activity launched in the step"},
    [BY_STEP_GPU_DUR] = {"gpu_dur_ns", "GPU", TA_NS, .better = TA_LOWER,
                         .read_as = TA_AS_STEP_GPU_TIME,
                         .doc = "From the start of the first to the end of the last device "
                                "activity launched in the step"},
    [BY_STEP_GPU_BUSY] =
        {"gpu_busy_ns", "GPU busy", TA_NS,
         .doc = "Time with at least one of these activities running, summed over devices"},
    [BY_STEP_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels launched in the step"},
    [BY_STEP_LOST] = {"lost", "Lost launches", TA_COUNT, .better = TA_LOWER,
                      .doc = "Calls of the step that launched a kernel which was not recorded"},
    [BY_STEP_COUNTED] =
        {"counted_ns", "Step time", TA_NS, .better = TA_LOWER,
         .doc =
             "Time of the step used for statistics: usually the time of its marker, as far as it "
             "was recorded. If most markers enclose only the launches, the busy time of its "
             "device work, or the marker if longer. Empty for steps that lost more than 5 % of "
             "their kernels, and for a single marked step around denoising steps"},
    [BY_STEP_PART] =
        {"part", "Part", TA_WORD, .role = TA_NOTE,
         .doc = "set-up: one of the first steps of its kind, each taking more than one and a half "
                "times as long as any later one on any rank (at most a quarter of all), since "
                "caches fill and code is compiled; empty for other steps. The kind is the name "
                "without numbers, plus batch, tokens and resolution"},
    [BY_STEP_CLASS] =
        {"class", "Class", TA_WORD, .role = TA_NOTE,
         .doc = "What the chart colors by. full, partial, cached: how much of the step ran with a "
                "step cache; set-up: one of the slow first steps; outlier: at least 1.2 times the "
                "median of its class, and five scaled median absolute deviations and 100 µs above "
                "it; regular: otherwise. Empty if all steps are alike"},
};

static const struct ta_chart_def host_chart = {
    .id = "step-time",
    .title = "Step time",
    .caption = "Host duration of each marked step, in order.",
    .kind = TA_CHART_DOTS,
    .label = {&by_step_columns[BY_STEP_LABEL]},
    .y = {{&by_step_columns[BY_STEP_HOST_DUR], "Host duration", TA_INK_SERIES_1}},
    .group = &by_step_columns[BY_STEP_RANK],
};

static const struct ta_chart_def counted_chart = {
    .id = "step-time",
    .title = "Step time",
    .caption = "Time of each step, in order: of its marker, or the device's busy time if markers "
               "cover only the launches; without steps that lost more than 5 % of their kernels.",
    .kind = TA_CHART_DOTS,
    .label = {&by_step_columns[BY_STEP_LABEL]},
    .y = {{&by_step_columns[BY_STEP_COUNTED], "Step time", TA_INK_SERIES_1}},
    .group = &by_step_columns[BY_STEP_RANK],
};

/* The same, where steps are of several classes. */
static const struct ta_chart_def host_classes = {
    .id = "step-time",
    .title = "Step time",
    .caption = "Host duration of each marked step, in order, colored by kind of step.",
    .kind = TA_CHART_DOTS,
    .label = {&by_step_columns[BY_STEP_LABEL], &by_step_columns[BY_STEP_RANK]},
    .y = {{&by_step_columns[BY_STEP_HOST_DUR], "Host duration", TA_INK_SERIES_1}},
    .group = &by_step_columns[BY_STEP_CLASS],
    .kinds = step_class_kinds,
};

static const struct ta_chart_def counted_classes = {
    .id = "step-time",
    .title = "Step time",
    .caption = "Time of each step, in order, colored by kind of step: of its marker, or the "
               "device's busy time if markers cover only the launches; without steps that lost "
               "more than 5 % of their kernels.",
    .kind = TA_CHART_DOTS,
    .label = {&by_step_columns[BY_STEP_LABEL], &by_step_columns[BY_STEP_RANK]},
    .y = {{&by_step_columns[BY_STEP_COUNTED], "Step time", TA_INK_SERIES_1}},
    .group = &by_step_columns[BY_STEP_CLASS],
    .kinds = step_class_kinds,
};

static const struct ta_figures step_times = {
    .sampled = TA_SAMPLED_STEPS,
    .set_up = &by_step_columns[BY_STEP_PART],
    .duration = {&by_step_columns[BY_STEP_COUNTED], &by_step_columns[BY_STEP_HOST_DUR]}};

static const struct ta_table_def by_step = {
    "steps.by_step",
    "Steps",
    TA_COLUMNS(by_step_columns),
    .doc =
        "One row per step. Programs mark steps in several ways; the first of these that a trace "
        "has counts: ranges that `--step-marker` names; `ProfilerStep#N`; steps of inference "
        "engines (`step[DECODE bs=64]` of SGLang, `execute_…` of vLLM, several "
        "`execute_diffusion_…` of xDiT) that are not nested in others; a training loop; ranges of "
        "`record_function` or NVTX with the same name, or a repeating sequence of names, at one "
        "level of one thread, covering at least half of the time of that level. In a training loop "
        "a step lasts from one `enumerate(DataLoader)#…` to the next, otherwise from one "
        "`Optimizer.zero_grad#…` to the next, otherwise from the end of one `Optimizer.step#…` to "
        "the end of the next, and the last step ends with its optimizer. A range around the whole "
        "program is not a step. If there is none of these, or only a single step, the steps of a "
        "diffusion are the passes of its denoiser, found by ranges, modules or functions of known "
        "names, otherwise by kernels; the single step is listed too, but counts in no statistics. "
        "`source` is marker for `ProfilerStep#N`, module or detected for the denoiser's steps, "
        "otherwise record. A label that repeats within a rank is numbered: `ProfilerStep#2 (2)`. "
        "The device work of a step is what runtime calls inside [start, end) of the step launched, "
        "from any thread; activities are never cut at its ends. Without device work the `gpu_…` "
        "columns are empty and `kernels` is 0. Chart `step-time`.",
    .figures = &step_times,
    .brief = &(const struct ta_brief){
        .place = 260, .rows = 6, .largest = &by_step_columns[BY_STEP_HOST_DUR]}};

/* ---- by rank ------------------------------------------------------------------------------- */

enum {
    BY_RANK_RANK,
    BY_RANK_STEPS,
    BY_RANK_TOTAL,
    BY_RANK_MEAN,
    BY_RANK_MIN,
    BY_RANK_MAX,
    BY_RANK_P50,
    BY_RANK_P95,
    BY_RANK_GPU_MEAN,
    BY_RANK_GPU_BUSY_MEAN,
    BY_RANK_KERNELS_MEAN,
    BY_RANK_SET_UP,
    BY_RANK_STEADY_MEAN,
    BY_RANK_STEADY_P50
};
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_STEPS] = {"steps", "Steps", TA_COUNT, .weight = 0.3,
                       .doc =
                           "Marked steps, without steps that lost more than 5 % of their kernels"},
    [BY_RANK_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .weight = 0.7,
                       .doc = "Sum of the steps' host durations, as far as they were recorded"},
    [BY_RANK_MEAN] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.8,
                      .doc = "Total divided by steps"},
    [BY_RANK_MIN] = {"min_ns", "Min", TA_NS, .better = TA_LOWER, .doc = "Shortest host duration"},
    [BY_RANK_MAX] = {"max_ns", "Max", TA_NS, .better = TA_LOWER, .weight = 0.3,
                     .doc = "Longest host duration"},
    [BY_RANK_P50] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.9,
                     .doc = "Median host duration"},
    [BY_RANK_P95] = {"p95_ns", "p95", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.4,
                     .doc = "95th percentile of the host duration (type 7)"},
    [BY_RANK_GPU_MEAN] = {"gpu_mean_ns", "GPU mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.6,
                          .doc = "Mean time from the start of the first to the end of the last "
                                 "device activity of a step, over steps that launched any"},
    [BY_RANK_GPU_BUSY_MEAN] =
        {"gpu_busy_mean_ns", "GPU busy mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.5,
         .doc = "Mean time of a step with at least one of its device activities running"},
    [BY_RANK_KERNELS_MEAN] = {"kernels_mean", "Kernels", TA_TYPE_NUMBER, TA_UNIT_COUNT,
                              .doc = "Mean number of kernels that a step launched"},
    [BY_RANK_SET_UP] =
        {"set_up", "Set-up", TA_COUNT,
         .doc = "Set-up steps: slow first steps in which caches fill and code is compiled"},
    [BY_RANK_STEADY_MEAN] = {"steady_mean_ns", "Steady mean", TA_NS_MEAN, .better = TA_LOWER,
                             .weight = 0.8, .doc = "Mean host duration without set-up steps"},
    [BY_RANK_STEADY_P50] = {"steady_p50_ns", "Steady p50", TA_NS_MEAN, .better = TA_LOWER,
                            .weight = 0.9, .doc = "Median host duration without set-up steps"},
};

static const struct ta_table_def by_rank = {
    "steps.by_rank",
    "Steps by rank",
    TA_COLUMNS(by_rank_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank with marked steps. Steps that lost more than 5 % of their kernels do "
           "not count. All figures except the steady ones include set-up steps.",
    .rank_words = "Steps"};

/* Whether a step lacks too many of its kernels to say how long a step takes. */
static bool lacks_kernels(const struct ta_step *step)
{
    return step->lost * 20 > step->lost + step->kernels;
}

/* Whether markers end before the device is done with what was launched in them: most of the steps
 * that count keep it busy for more than 1.1 times the marker. */
static bool mark_launches_only(const struct ta_steps *steps)
{
    size_t n = 0, longer = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const struct ta_step *step = &steps->at[i];
        if (lacks_kernels(step))
            continue;
        n++;
        longer +=
            step->gpu_busy != TA_MISSING && step->gpu_busy > step->recorded + step->recorded / 10;
    }
    return longer * 2 > n;
}

/* Null of a step that does not count. */
static struct ta_cell step_time(const struct ta_step *step, bool of_device)
{
    if (lacks_kernels(step))
        return ta_null();
    return ta_int(of_device ? ta_max_i64(step->gpu_busy, step->recorded) : step->recorded);
}

static struct ta_cell mean(int64_t sum, int64_t n)
{
    return n ? ta_num((double)sum / (double)n) : ta_null();
}

/* The steps [first, end) of one rank; `durations` has room for them. */
static void add_rank(const struct ta_steps *steps, const bool *sets_up, size_t first, size_t end,
                     double *durations, struct ta_section_builder *out)
{
    int64_t set_up = 0, steady = 0, total = 0, gpu = 0, busy = 0, kernels = 0, n = 0, on_gpu = 0;
    for (size_t i = first; i < end; i++)
        if (!lacks_kernels(&steps->at[i]) && !sets_up[i]) {
            durations[n++] = (double)steps->at[i].recorded;
            steady = ta_add_sat(steady, steps->at[i].recorded);
        }
    ta_sort_numbers(durations, (size_t)n);
    const struct ta_cell steady_mean = mean(steady, n);
    const struct ta_cell steady_median =
        n ? ta_num(ta_quantile(durations, (size_t)n, 0.5)) : ta_null();
    n = 0;
    for (size_t i = first; i < end; i++) {
        const struct ta_step *step = &steps->at[i];
        if (lacks_kernels(step))
            continue;
        durations[n++] = (double)step->recorded;
        set_up += sets_up[i];
        total = ta_add_sat(total, step->recorded);
        kernels += step->kernels;
        if (step->gpu_start == TA_MISSING)
            continue;
        on_gpu++;
        gpu = ta_add_sat(gpu, step->gpu_end - step->gpu_start);
        busy = ta_add_sat(busy, step->gpu_busy);
    }
    if (n == 0)
        return;
    ta_sort_numbers(durations, (size_t)n);
    TA_ROW(out, by_rank, [BY_RANK_RANK] = ta_int(steps->at[first].rank),
           [BY_RANK_STEPS] = ta_int(n), [BY_RANK_TOTAL] = ta_int(total),
           [BY_RANK_MEAN] = mean(total, n), [BY_RANK_MIN] = ta_int(ta_whole(durations[0])),
           [BY_RANK_MAX] = ta_int(ta_whole(durations[n - 1])),
           [BY_RANK_P50] = ta_num(ta_quantile(durations, (size_t)n, 0.5)),
           [BY_RANK_P95] = ta_num(ta_quantile(durations, (size_t)n, 0.95)),
           [BY_RANK_GPU_MEAN] = mean(gpu, on_gpu), [BY_RANK_GPU_BUSY_MEAN] = mean(busy, on_gpu),
           [BY_RANK_KERNELS_MEAN] = mean(kernels, n), [BY_RANK_SET_UP] = ta_int(set_up),
           [BY_RANK_STEADY_MEAN] = steady_mean, [BY_RANK_STEADY_P50] = steady_median);
}

static bool add_ranks(const struct ta_steps *steps, const bool *sets_up,
                      struct ta_section_builder *out)
{
    const size_t n = steps->n;
    double *durations = calloc(n + 1, sizeof *durations);
    for (size_t first = 0, end; durations && first < n; first = end) {
        const int64_t rank = steps->at[first].rank;
        for (end = first + 1; end < n && steps->at[end].rank == rank;)
            end++;
        add_rank(steps, sets_up, first, end, durations, out);
    }
    free(durations);
    return durations != NULL;
}

/* ---- by kind ------------------------------------------------------------------------------- */

enum {
    KIND_RANK,
    KIND_KIND,
    KIND_PHASE,
    KIND_BATCH,
    KIND_WIDTH,
    KIND_HEIGHT,
    KIND_STEPS,
    KIND_TOTAL,
    KIND_MEAN,
    KIND_P50,
    KIND_P95,
    KIND_P99,
    KIND_MIN,
    KIND_MAX,
    KIND_TOKENS,
    KIND_TOKENS_PER_S,
    KIND_IMAGES_PER_S,
    KIND_SET_UP
};
static const struct ta_column by_kind_columns[] = {
    [KIND_RANK] = TA_RANK_COLUMN,
    [KIND_KIND] =
        {"kind", "Steps", TA_TEXT,
         .doc =
             "Name of the steps or requests, without the parts that change from one to the next"},
    [KIND_PHASE] = {"phase", "Phase", TA_TEXT,
                    .doc = "prefill (prompts are read), decode (tokens are generated) or mixed; "
                           "empty if the name does not say"},
    [KIND_BATCH] = {"batch", "Batch", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
                    .doc = "Sequences or images per step, from the name; from shapes if these show "
                           "another size in pixels"},
    [KIND_WIDTH] = {"width", "Width", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
                    .doc = "Width in pixels from the name; from shapes if they differ, since the "
                           "name may be left over from a warm-up; empty if images differ"},
    [KIND_HEIGHT] = {"height", "Height", TA_TYPE_INTEGER, TA_UNIT_COUNT, .role = TA_KEY,
                     .doc = "Height in pixels, found like the width"},
    [KIND_STEPS] = {"steps", "Count", TA_COUNT, .doc = "Steps of the kind, without set-up steps"},
    [KIND_TOTAL] =
        {"total_ns", "Total", TA_NS, .better = TA_LOWER, .weight = 0.5,
         .doc = "Sum of the step times: of the range, or of the device work launched in it"},
    [KIND_MEAN] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.8,
                   .doc = "Total divided by the number of steps"},
    [KIND_P50] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.9,
                  .doc = "Median step time"},
    [KIND_P95] = {"p95_ns", "p95", TA_NS_MEAN, .better = TA_LOWER,
                  .doc = "95th percentile of the step time (type 7)"},
    [KIND_P99] =
        {"p99_ns", "p99", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "99th percentile of the step time (type 7); close to the longest below 100 steps"},
    [KIND_MIN] = {"min_ns", "Min", TA_NS, .better = TA_LOWER, .doc = "Shortest step"},
    [KIND_MAX] = {"max_ns", "Max", TA_NS, .better = TA_LOWER, .doc = "Longest step"},
    [KIND_TOKENS] = {"tokens", "Tokens", TA_COUNT,
                     .doc = "Tokens read or generated, from the names; a decode step without a "
                            "number counts one per sequence"},
    [KIND_TOKENS_PER_S] = {"tokens_per_s", "Tokens/s", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                           .better = TA_HIGHER, .weight = 0.8, .doc = "Tokens over total time"},
    [KIND_IMAGES_PER_S] = {"images_per_s", "Images/s", TA_TYPE_NUMBER, TA_UNIT_PER_S,
                           .better = TA_HIGHER, .weight = 0.8,
                           .doc = "Batch divided by mean time; empty unless the name gives a size "
                                  "in pixels, or if shapes contradict it and show no batch"},
    [KIND_SET_UP] =
        {"set_up", "Set-up", TA_COUNT,
         .doc = "Set-up steps of the kind, which no other column counts; requests have none"},
};

static const struct ta_table_def by_kind = {
    "steps.by_kind",
    "Steps by kind",
    TA_COLUMNS(by_kind_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank and kind of step with a descriptive name: steps of inference engines "
           "(`step[DECODE bs=64]`, `execute_context_…_generation_…`), requests "
           "(`execute_diffusion_1_256x256`), and ranges of the program. Prefill and decode, batch "
           "sizes and resolutions are kept apart, so that like is compared with like. Set-up steps "
           "and steps that lost more than 5 % of their kernels are left out.",
    .rank_words = "Steps",
    .brief =
        &(const struct ta_brief){.place = 262, .rows = 8, .largest = &by_kind_columns[KIND_TOTAL]}};

/* A step or a request as one of its kind. */
struct piece {
    int64_t rank, dur;
    struct ta_marked_work work;
    size_t at; /* of a step, its place among all */
    bool sets_up;
    char kind[64]; /* the end of a long one is cut */
};

static int by_kind_order(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    const int64_t of_a[] = {a->work.phase,  a->work.batch, a->work.width,
                            a->work.height, a->sets_up,    a->dur};
    const int64_t of_b[] = {b->work.phase,  b->work.batch, b->work.width,
                            b->work.height, b->sets_up,    b->dur};
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    const int order = strcmp(a->kind, b->kind);
    for (size_t i = 0; order == 0 && i < TA_LENGTH(of_a); i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return order;
}

static bool is_same_kind(const struct piece *a, const struct piece *b)
{
    return a->rank == b->rank && strcmp(a->kind, b->kind) == 0 && a->work.phase == b->work.phase &&
           a->work.batch == b->work.batch && a->work.width == b->work.width &&
           a->work.height == b->work.height;
}

static void set_piece(struct piece *piece, int64_t rank, struct ta_slice name, int64_t dur)
{
    *piece = (struct piece){.rank = rank, .dur = dur, .work = ta_marked_work_of(name)};
    char text[sizeof piece->kind];
    const struct ta_slice kind = ta_marker_kind(name, text);
    snprintf(piece->kind, sizeof piece->kind, "%.*s", (int)kind.len, kind.ptr);
}

enum { SIZES_RANK, SIZES_WIDTH, SIZES_HEIGHT, SIZES_BATCH, CACHES };

static const struct ta_ref reads[] = {[SIZES_RANK] = {"diffusion.tokens", "rank"},
                                      [SIZES_WIDTH] = {"diffusion.tokens", "width"},
                                      [SIZES_HEIGHT] = {"diffusion.tokens", "height"},
                                      [SIZES_BATCH] = {"diffusion.tokens", "batch"},
                                      [CACHES + CACHED_RANK] = {"caches.steps", "rank"},
                                      [CACHES + CACHED_NAME] = {"caches.steps", "cache"},
                                      [CACHES + CACHED_PASS] = {"caches.steps", "pass"},
                                      [CACHES + CACHED_CLASS] = {"caches.steps", "class"}};

/* What the name of a step says, but for a size in pixels that shapes deny. */
static struct ta_marked_work mend(const struct ta_refs *in, int64_t rank,
                                  struct ta_marked_work work)
{
    size_t n = 0, at = 0;
    if (work.width == TA_MISSING)
        return work;
    for (size_t i = 0; i < ta_ref_rows(in, SIZES_RANK); i++) {
        const int64_t width = ta_ref_integer(in, SIZES_WIDTH, i);
        if (ta_ref_integer(in, SIZES_RANK, i) != rank || width == TA_MISSING)
            continue;
        if (width == work.width && ta_ref_integer(in, SIZES_HEIGHT, i) == work.height)
            return work;
        at = i;
        n++;
    }
    if (n == 0)
        return work;
    work.width = n == 1 ? ta_ref_integer(in, SIZES_WIDTH, at) : TA_MISSING;
    work.height = n == 1 ? ta_ref_integer(in, SIZES_HEIGHT, at) : TA_MISSING;
    work.batch = n == 1 ? ta_ref_integer(in, SIZES_BATCH, at) : TA_MISSING;
    return work;
}

/* The pieces are of one kind, by their times. */
static void add_kind(const struct ta_refs *in, const struct piece *at, size_t n, double *times,
                     struct ta_section_builder *out)
{
    const struct ta_marked_work mended = mend(in, at->rank, at->work), *work = &mended;
    int64_t total = 0, tokens = 0, timed = 0;
    size_t set_up = 0;
    while (set_up + 1 < n && at[n - 1 - set_up].sets_up) /* they come last */
        set_up++;
    n -= set_up;
    for (size_t i = 0; i < n; i++) {
        times[i] = (double)at[i].dur;
        total = ta_add_sat(total, at[i].dur);
        if (at[i].work.tokens == TA_MISSING)
            continue;
        tokens += at[i].work.tokens;
        timed = ta_add_sat(timed, at[i].dur);
    }
    const bool is_image = work->width != TA_MISSING && work->batch != TA_MISSING && total > 0;
    TA_ROW(
        out, by_kind, [KIND_RANK] = ta_int(at->rank), [KIND_KIND] = ta_string(at->kind),
        [KIND_PHASE] = ta_string(ta_phase_names[work->phase]), [KIND_BATCH] = ta_int(work->batch),
        [KIND_WIDTH] = ta_int(work->width), [KIND_HEIGHT] = ta_int(work->height),
        [KIND_STEPS] = ta_int((int64_t)n), [KIND_TOTAL] = ta_int(total),
        [KIND_MEAN] = mean(total, (int64_t)n), [KIND_P50] = ta_num(ta_quantile(times, n, 0.5)),
        [KIND_P95] = ta_num(ta_quantile(times, n, 0.95)),
        [KIND_P99] = ta_num(ta_quantile(times, n, 0.99)), [KIND_MIN] = ta_int(at[0].dur),
        [KIND_MAX] = ta_int(at[n - 1].dur), [KIND_TOKENS] = tokens ? ta_int(tokens) : ta_null(),
        [KIND_TOKENS_PER_S] =
            timed > 0 && tokens ? ta_num((double)tokens * 1e9 / (double)timed) : ta_null(),
        [KIND_IMAGES_PER_S] =
            is_image ? ta_num((double)work->batch * (double)n * 1e9 / (double)total) : ta_null(),
        [KIND_SET_UP] = ta_int((int64_t)set_up));
}

static bool add_kinds(const struct ta_refs *in, const bool *sets_up, bool of_device,
                      struct ta_section_builder *out)
{
    const struct ta_steps *steps = in->steps;
    const size_t most = steps->n + steps->n_requests;
    struct piece *at = calloc(most + 1, sizeof *at);
    double *times = calloc(most + 1, sizeof *times);
    size_t n = 0;
    for (size_t i = 0; at && i < steps->n; i++) {
        const struct ta_step *step = &steps->at[i];
        const bool says = step->by != TA_STEPS_BY_PROFILER && step->by != TA_STEPS_BY_LOOP;
        if (!says || lacks_kernels(step))
            continue;
        set_piece(&at[n], step->rank, step->label, step_time(step, of_device).i);
        at[n++].sets_up = sets_up[i];
    }
    for (size_t i = 0; at && i < steps->n_requests; i++)
        set_piece(&at[n++], steps->requests[i].rank, steps->requests[i].name,
                  steps->requests[i].dur);
    if (!at || !times) {
        free(at);
        free(times);
        return false;
    }
    qsort(at, n, sizeof *at, by_kind_order);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && is_same_kind(&at[first], &at[end]);)
            end++;
        add_kind(in, &at[first], end - first, times, out);
    }
    free(at);
    free(times);
    return true;
}

/* ---- steps that set the run up -------------------------------------------------------------- */

static int by_work(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    const int64_t of_a[] = {a->work.phase,  a->work.batch, a->work.tokens, a->work.width,
                            a->work.height, a->rank,       (int64_t)a->at};
    const int64_t of_b[] = {b->work.phase,  b->work.batch, b->work.tokens, b->work.width,
                            b->work.height, b->rank,       (int64_t)b->at};
    const int order = strcmp(a->kind, b->kind);
    for (size_t i = 0; order == 0 && i < TA_LENGTH(of_a); i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return order;
}

static bool is_same_work(const struct piece *a, const struct piece *b)
{
    return strcmp(a->kind, b->kind) == 0 && a->work.phase == b->work.phase &&
           a->work.batch == b->work.batch && a->work.tokens == b->work.tokens &&
           a->work.width == b->work.width && a->work.height == b->work.height;
}

/* Pieces of the same work, by rank and time.  `times` has room for 2 n + 1. */
static void find_set_up(const struct piece *at, size_t n, double *times, bool *sets_up)
{
    size_t most = 0;
    for (size_t i = 0, k = 0; i < n; i++, k++) {
        k = i && at[i].rank != at[i - 1].rank ? 0 : k;
        times[k] = k < most ? fmax(times[k], (double)at[i].dur) : (double)at[i].dur;
        most = k + 1 > most ? k + 1 : most;
    }
    const size_t first = ta_first_steps(times, most, times + most);
    for (size_t i = 0, k = 0; i < n; i++, k++) {
        k = i && at[i].rank != at[i - 1].rank ? 0 : k;
        sets_up[at[i].at] = k < first;
    }
}

/* One flag for each step; NULL without memory. */
static bool *set_up_of(const struct ta_steps *steps, bool of_device)
{
    struct piece *at = calloc(steps->n + 1, sizeof *at);
    double *times = calloc(2 * steps->n + 1, sizeof *times);
    bool *sets_up = at && times ? calloc(steps->n + 1, sizeof *sets_up) : NULL;
    size_t n = 0;
    for (size_t i = 0; sets_up && i < steps->n; i++) {
        const struct ta_step *step = &steps->at[i];
        if (lacks_kernels(step))
            continue;
        set_piece(&at[n], step->rank, step->label, step_time(step, of_device).i);
        at[n++].at = i;
    }
    if (n)
        qsort(at, n, sizeof *at, by_work);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && is_same_work(&at[first], &at[end]);)
            end++;
        find_set_up(&at[first], end - first, times, sets_up);
    }
    free(at);
    free(times);
    return sets_up;
}

/* ---- by step ------------------------------------------------------------------------------- */

static struct ta_slice source_of(enum ta_steps_by by)
{
    return by == TA_STEPS_BY_PROFILER   ? TA_LIT("marker")
           : by == TA_STEPS_BY_DENOISER ? TA_LIT("module")
                                        : TA_LIT("record");
}

static void add_step(const struct ta_step *step, struct ta_cell counted, bool sets_up,
                     const char *class, struct ta_section_builder *out)
{
    char text[TA_STEP_LABEL_ROOM];
    const struct ta_slice label = ta_step_label(step->label, step->repeats, text);
    const bool on_gpu = step->gpu_start != TA_MISSING;
    TA_ROW(
        out, by_step, [BY_STEP_RANK] = ta_int(step->rank), [BY_STEP_LABEL] = ta_text(label),
        [BY_STEP_SOURCE] = ta_text(source_of(step->by)),
        [BY_STEP_HOST_START] = ta_int(step->host_start),
        [BY_STEP_HOST_DUR] = ta_int(step->host_dur), [BY_STEP_GPU_START] = ta_int(step->gpu_start),
        [BY_STEP_GPU_DUR] = on_gpu ? ta_int(step->gpu_end - step->gpu_start) : ta_null(),
        [BY_STEP_GPU_BUSY] = ta_int(step->gpu_busy), [BY_STEP_KERNELS] = ta_int(step->kernels),
        [BY_STEP_LOST] = ta_int(step->lost), [BY_STEP_COUNTED] = counted,
        [BY_STEP_PART] = sets_up ? ta_text(TA_LIT("set-up")) : ta_null(),
        [BY_STEP_CLASS] = class ? ta_string(class) : ta_null());
}

/* Ranks are compared where nothing sets their steps apart. */
static const struct ta_chart_def *chart_of(const struct ta_steps *steps, size_t n_classes,
                                           const enum step_class *classes, bool has_times)
{
    bool has_caches = false;
    for (size_t i = 0; i < steps->n; i++)
        has_caches |= classes[i] == STEP_PARTIAL || classes[i] == STEP_CACHED;
    const bool ranks = steps->n > 0 && steps->at[0].rank != steps->at[steps->n - 1].rank;
    if (n_classes > 1 && (has_caches || !ranks))
        return has_times ? &counted_classes : &host_classes;
    return has_times ? &counted_chart : &host_chart;
}

/* The time that the chart shows of a step; NaN of one that does not count. */
static double shown_time(const struct ta_step *step, bool has_times, bool of_device)
{
    if (!has_times)
        return (double)step->host_dur;
    const struct ta_cell time = step_time(step, of_device);
    return time.kind == TA_CELL_NULL ? (double)NAN : (double)time.i;
}

/* The classes of all steps, in the order of the list; NULL without memory. */
static enum step_class *classes_of(const struct ta_refs *in, const bool *sets_up, bool has_times,
                                   bool of_device, size_t *n_classes)
{
    const struct ta_steps *steps = in->steps;
    enum step_class *classes = calloc(steps->n + 1, sizeof *classes);
    double *times = calloc(steps->n + 1, sizeof *times);
    for (size_t i = 0; times && i < steps->n; i++)
        times[i] = shown_time(&steps->at[i], has_times, of_device);
    *n_classes = classes && times ? step_classes_find(in, CACHES, sets_up, times, classes) : 0;
    free(times);
    if (*n_classes)
        return classes;
    free(classes);
    return NULL;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const struct ta_steps *steps = in->steps;
    const bool of_device = mark_launches_only(steps);
    bool *sets_up = set_up_of(steps, of_device);
    if (!sets_up)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps");
    size_t lacking = 0;
    bool is_cut = false; /* a step is written longer than the recording */
    for (size_t i = 0; i < steps->n; i++) {
        lacking += lacks_kernels(&steps->at[i]);
        is_cut |= steps->at[i].recorded < steps->at[i].host_dur;
    }
    const bool has_times = lacking || of_device || is_cut || steps->n_around;
    size_t n_classes = 0;
    enum step_class *classes = classes_of(in, sets_up, has_times, of_device, &n_classes);
    for (size_t i = 0; classes && i < steps->n; i++)
        add_step(&steps->at[i], has_times ? step_time(&steps->at[i], of_device) : ta_null(),
                 sets_up[i], n_classes > 1 ? step_class_words[classes[i]] : NULL, out);
    for (size_t i = 0; i < steps->n_around; i++)
        add_step(&steps->around[i], ta_null(), false, NULL, out);
    const bool done =
        classes && add_ranks(steps, sets_up, out) && add_kinds(in, sets_up, of_device, out);
    if (classes && steps->n > 1) /* of a single one there is nothing to see */
        ta_draw(out, &by_step, chart_of(steps, n_classes, classes, has_times));
    free(classes);
    free(sets_up);
    if (lacking)
        ta_add_missing(out,
                       "%zu of %zu steps lost more than 5 %% of their kernels, which were launched "
                       "but not recorded: they do not count in statistics.",
                       lacking, steps->n);
    if (steps->n == 0 && !ta_report_run(in->report)->has_dumps)
        ta_add_missing(out, "No steps are marked: the program neither calls profiler.step() nor "
                            "opens ranges that repeat, so the trace counts as one window "
                            "(--step-marker names ranges that are steps).");
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps");
}

static const struct ta_table_def *const tables[] = {&by_step, &by_rank, &by_kind, NULL};

static const struct ta_analysis_ops ops = {
    .section = "steps", TA_READS(reads), .finish = finish, .needs_steps = true, .tables = tables};

TA_PLUGIN(analysis, steps, &ops, .title = "Steps",
          .summary = "Marked steps on host and device: steps.by_step, "
                     "steps.by_rank, steps.by_kind",
          .version = "3");
