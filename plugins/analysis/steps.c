/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps.by_step, steps.by_rank: the steps that torch.profiler marks (ProfilerStep#N), on host and
 * device.  A marker covers what the host did; where the device works longer on what was launched in
 * it, the marker is only the time of the launches, and the device's is that of the step.
 *
 * The device side of a step is what was launched in it, from any thread; activities are never cut
 * at the ends of the marker.  Steps that lack more than a twentieth of their kernels, because those
 * were launched and not recorded, are listed but do not count in statistics. */
#include "model/lost.h"
#include "model/named.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    RANK,
    HOST_START,
    ORDER,
    STEP,
    HOST_DUR,
    GPU_START,
    GPU_END,
    GPU_BUSY,
    KERNELS,
    LOST,
    FIELDS
};

/* Start and order make the key of a step unique, the label goes with them. */
static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},           [HOST_START] = {"host_start_ns", TA_FIELD_INT},
    [ORDER] = {"order", TA_FIELD_INT},          [STEP] = {"step", TA_FIELD_TEXT},
    [HOST_DUR] = {"host_dur_ns", TA_FIELD_SUM}, [GPU_START] = {"gpu_start_ns", TA_FIELD_MIN},
    [GPU_END] = {"gpu_end_ns", TA_FIELD_MAX},   [GPU_BUSY] = {"gpu_busy_ns", TA_FIELD_SUM},
    [KERNELS] = {"kernels", TA_FIELD_SUM},      [LOST] = {"lost", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"steps", fields, FIELDS}, {0}};

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
    BY_STEP_COUNTED
};
static const struct ta_column by_step_columns[] = {
    [BY_STEP_RANK] = TA_RANK_COLUMN,
    [BY_STEP_LABEL] = {"step", "Step", TA_TEXT, .role = TA_IN_SERIES, .read_as = TA_AS_STEP,
                       .doc = "Label of the step"},
    [BY_STEP_SOURCE] = {"source", "Source", TA_WORD, .role = TA_NOTE,
                        .doc = "How the step was found: marker is a ProfilerStep#N range"},
    [BY_STEP_HOST_START] = {"host_start_ns", "Host start", TA_NS, .read_as = TA_AS_STEP_START,
                            .doc = "Start of the marker since the earliest span of the rank"},
    [BY_STEP_HOST_DUR] = {"host_dur_ns", "Host", TA_NS, .better = TA_LOWER,
                          .read_as = TA_AS_STEP_HOST_TIME, .doc = "Duration of the marker"},
    [BY_STEP_GPU_START] = {"gpu_start_ns", "GPU start", TA_NS,
                           .doc = "First start of the device activities launched in the step"},
    [BY_STEP_GPU_DUR] =
        {"gpu_dur_ns", "GPU", TA_NS, .better = TA_LOWER, .read_as = TA_AS_STEP_GPU_TIME,
         .doc = "First start to last end of the device activities launched in the step"},
    [BY_STEP_GPU_BUSY] = {"gpu_busy_ns", "GPU busy", TA_NS,
                          .doc = "Union of these activities over all devices"},
    [BY_STEP_KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels launched in the step"},
    [BY_STEP_LOST] = {"lost", "Lost", TA_COUNT, .better = TA_LOWER,
                      .doc = "Calls of the step that launched a kernel which was not recorded"},
    [BY_STEP_COUNTED] =
        {"counted_ns", "Step time", TA_NS, .better = TA_LOWER,
         .doc = "Time of the step for statistics, where markers of most steps only enclose the "
                "launches: busy time of its device work, or the marker where that is longer; null "
                "for steps that lost more than 5 % of their kernels, which are left out"},
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
    .caption =
        "Time of each marked step, in order: that of its marker, or the busy time of the device "
        "where markers cover only the launches; without steps that lost more than 5 % of their "
        "kernels.",
    .kind = TA_CHART_DOTS,
    .label = {&by_step_columns[BY_STEP_LABEL]},
    .y = {{&by_step_columns[BY_STEP_COUNTED], "Step time", TA_INK_SERIES_1}},
    .group = &by_step_columns[BY_STEP_RANK],
};

static const struct ta_figures step_times = {
    .sampled = TA_SAMPLED_STEPS,
    .duration = {&by_step_columns[BY_STEP_COUNTED], &by_step_columns[BY_STEP_HOST_DUR]}};

static const struct ta_table_def by_step = {
    "steps.by_step",
    "Steps",
    TA_COLUMNS(by_step_columns),
    .doc = "One row per host span named `ProfilerStep#N`. A label that repeats within a rank is "
           "numbered: `ProfilerStep#2 (2)`. The device side of a step is what runtime calls "
           "inside [start, end) of the marker launched, from any thread; activities are never "
           "cut at the ends of the marker. Without device work the `gpu_…` columns are null and "
           "`kernels` is 0. Chart `step-time`.",
    .figures = &step_times,
    .brief = &(const struct ta_brief){
        .place = 260, .rows = 6, .largest = &by_step_columns[BY_STEP_HOST_DUR]}};

/* A marker, and the activities launched inside it. */
struct step {
    ta_row span;
    int64_t first, last, kernels;
    int64_t busy_ns;          /* where all are of one device, and come by their starts, or */
    struct ta_intervals busy; /* of several devices */
};

struct steps {
    struct ta_spans spans;
    struct ta_categories categories;
    struct step *at; /* by start */
    size_t n, max;
    bool failed, has_one_device;
    int64_t longest; /* duration: how far back a marker that is still open can start */
    size_t recent;   /* how many had started at the time that was asked for last */
};

static int by_start(const void *left, const void *right, void *user)
{
    const struct step *a = left, *b = right;
    const int64_t *ts = user;
    if (ts[a->span] != ts[b->span])
        return ts[a->span] < ts[b->span] ? -1 : 1;
    return (a->span > b->span) - (a->span < b->span);
}

static uint8_t is_step(struct ta_slice name)
{
    return ta_host_step_number(name) != TA_MISSING;
}

static bool grow(struct steps *steps)
{
    const size_t more = steps->max ? steps->max * 2 : 64;
    struct step *grown = reallocarray(steps->at, more, sizeof *grown);
    if (!grown)
        return false;
    steps->at = grown;
    steps->max = more;
    return true;
}

static void add_step(void *user, ta_row row, uint8_t kind)
{
    struct steps *steps = user;
    (void)kind;
    if (!ta_class_is_host(steps->categories.at[steps->spans.cat[row]].class))
        return;
    steps->failed |= steps->n == steps->max && !grow(steps);
    if (steps->failed)
        return;
    steps->at[steps->n++] = (struct step){.span = row, .first = INT64_MAX, .last = INT64_MIN};
    steps->longest = ta_max_i64(steps->longest, steps->spans.dur[row]);
}

static bool find_steps(const struct ta_trace *trace, struct steps *steps)
{
    const bool done = ta_each_named(trace, is_step, add_step, steps);
    if (steps->n)
        qsort_r(steps->at, steps->n, sizeof *steps->at, by_start,
                (void *)(uintptr_t)steps->spans.ts);
    return done && !steps->failed;
}

/* The same; it is mostly that of the time before. */
static size_t started(struct steps *steps, const int64_t *ts, int64_t t)
{
    const size_t n = steps->recent;
    if ((n > 0 && ts[steps->at[n - 1].span] > t) || (n < steps->n && ts[steps->at[n].span] <= t)) {
        /* How many steps start at `t` or earlier. */
        size_t low = 0, high = steps->n;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (ts[steps->at[middle].span] <= t)
                low = middle + 1;
            else
                high = middle;
        }
        steps->recent = low;
    }
    return steps->recent;
}

/* Gives an activity to every step whose marker is open at its launch; markers of several threads
 * may overlap. */
static void give(struct steps *steps, const struct ta_spans *s, int64_t launched, ta_row span,
                 bool is_kernel)
{
    const int64_t start = s->ts[span], end = start + s->dur[span];
    for (size_t i = started(steps, s->ts, launched); i-- > 0;) {
        struct step *step = &steps->at[i];
        const int64_t opened = s->ts[step->span];
        if (launched - opened >= steps->longest)
            break;
        if (launched >= opened + s->dur[step->span])
            continue;
        if (steps->has_one_device)
            step->busy_ns += ta_max_i64(0, end - ta_max_i64(start, step->last));
        else
            ta_intervals_add(&step->busy, start, end);
        step->first = ta_min_i64(step->first, start);
        step->last = ta_max_i64(step->last, end);
        step->kernels += is_kernel;
    }
}

static int64_t lost_within(const struct ta_lost *lost, int64_t from, int64_t to)
{
    return (int64_t)ta_lost_from(lost, to) - (int64_t)ta_lost_from(lost, from);
}

static bool write_step(const struct ta_trace *trace, struct step *step, int64_t order,
                       const struct ta_lost *lost, struct ta_partial *out)
{
    const struct ta_spans s = ta_trace_spans(trace);
    const int64_t origin = ta_trace_origin(trace);
    int64_t *row =
        TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int(s.ts[step->span] - origin),
                       ta_key_int(order), ta_key_text(ta_trace_text(trace, s.name[step->span])));
    ta_sum(&row[HOST_DUR], s.dur[step->span]);
    ta_sum(&row[KERNELS], step->kernels);
    ta_sum(&row[LOST], lost_within(lost, s.ts[step->span], s.ts[step->span] + s.dur[step->span]));
    const bool done = !step->busy.failed;
    if (step->first != INT64_MAX) {
        ta_intervals_unite(&step->busy);
        ta_least(&row[GPU_START], step->first - origin);
        ta_most(&row[GPU_END], step->last - origin);
        ta_sum(&row[GPU_BUSY], step->busy_ns + ta_intervals_length(&step->busy));
    }
    ta_intervals_free(&step->busy);
    return done;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    struct steps steps = {.spans = s, .categories = ta_trace_categories(trace)};
    const struct ta_lost *lost = ta_trace_lost(trace);
    if (activities.n)
        steps.has_one_device = ta_device_end(&activities, 0) == activities.n;
    bool done = find_steps(trace, &steps) && lost;
    for (size_t i = 0; done && steps.n && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch != TA_NO_ROW)
            give(&steps, &s, s.ts[a->launch], a->span, a->kernel != TA_NO_KERNEL);
    }
    for (size_t i = 0; lost && i < steps.n; i++)
        done &= write_step(trace, &steps.at[i], (int64_t)i, lost, out[0]);
    free(steps.at);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of a trace");
}

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
    BY_RANK_KERNELS_MEAN
};
static const struct ta_column by_rank_columns[] = {
    [BY_RANK_RANK] = TA_RANK_COLUMN,
    [BY_RANK_STEPS] = {"steps", "Steps", TA_COUNT, .weight = 0.3,
                       .doc =
                           "Marked steps, without those that lack more than 5 % of their kernels"},
    [BY_RANK_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .weight = 0.7,
                       .doc = "Sum of their host durations"},
    [BY_RANK_MEAN] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.8,
                      .doc = "Total divided by steps"},
    [BY_RANK_MIN] = {"min_ns", "Min", TA_NS, .better = TA_LOWER, .doc = "Shortest"},
    [BY_RANK_MAX] = {"max_ns", "Max", TA_NS, .better = TA_LOWER, .weight = 0.3, .doc = "Longest"},
    [BY_RANK_P50] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.9,
                     .doc = "Median host duration"},
    [BY_RANK_P95] = {"p95_ns", "p95", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.4,
                     .doc = "95th percentile (type 7)"},
    [BY_RANK_GPU_MEAN] = {"gpu_mean_ns", "GPU mean", TA_NS_MEAN, .better = TA_LOWER, .weight = 0.6,
                          .doc = "Mean of first start to last end of what the steps launched, of "
                                 "those that launched anything"},
    [BY_RANK_GPU_BUSY_MEAN] = {"gpu_busy_mean_ns", "GPU busy mean", TA_NS_MEAN, .better = TA_LOWER,
                               .weight = 0.5, .doc = "Mean of the union of these activities"},
    [BY_RANK_KERNELS_MEAN] = {"kernels_mean", "Kernels", TA_TYPE_NUMBER, TA_UNIT_COUNT,
                              .doc = "Mean number of kernels that a step launched"},
};

static const struct ta_table_def by_rank = {
    "steps.by_rank", "Steps by rank", TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank with marked steps. Steps that lack more than 5 % of their kernels "
           "do not count.",
    .rank_words = "Steps"};

/* Whether a step lacks too many of its kernels to say how long a step takes. */
static bool lacks_kernels(const int64_t *row)
{
    return row[LOST] * 20 > row[LOST] + row[KERNELS];
}

/* Whether markers end before the device is done with what was launched in them: most of the steps
 * that count keep it busy for more than 1.1 times the marker. */
static bool cover_launches_only(const struct ta_partial *steps)
{
    size_t n = 0, longer = 0;
    for (size_t i = 0; i < ta_partial_rows(steps); i++) {
        const int64_t *row = ta_partial_at(steps, i);
        if (lacks_kernels(row))
            continue;
        n++;
        longer += row[GPU_BUSY] != TA_MISSING && row[GPU_BUSY] > row[HOST_DUR] + row[HOST_DUR] / 10;
    }
    return longer * 2 > n;
}

/* Null of a step that does not count. */
static struct ta_cell step_time(const int64_t *row, bool of_device)
{
    if (lacks_kernels(row))
        return ta_null();
    return ta_int(of_device ? ta_max_i64(row[GPU_BUSY], row[HOST_DUR]) : row[HOST_DUR]);
}

static struct ta_cell mean(int64_t sum, int64_t n)
{
    return n ? ta_num((double)sum / (double)n) : ta_null();
}

/* The steps [first, end) of one rank; `durations` has room for them. */
static void add_rank(const struct ta_partial *steps, size_t first, size_t end, double *durations,
                     struct ta_section_builder *out)
{
    int64_t total = 0, gpu = 0, busy = 0, kernels = 0, n = 0, on_gpu = 0;
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(steps, i);
        if (lacks_kernels(row))
            continue;
        durations[n++] = (double)row[HOST_DUR];
        total = ta_add_sat(total, row[HOST_DUR]);
        kernels += row[KERNELS];
        if (row[GPU_START] == TA_MISSING)
            continue;
        on_gpu++;
        gpu = ta_add_sat(gpu, row[GPU_END] - row[GPU_START]);
        busy = ta_add_sat(busy, row[GPU_BUSY]);
    }
    if (n == 0)
        return;
    ta_sort_numbers(durations, (size_t)n);
    TA_ROW(out, by_rank, [BY_RANK_RANK] = ta_int(ta_partial_at(steps, first)[RANK]),
           [BY_RANK_STEPS] = ta_int(n), [BY_RANK_TOTAL] = ta_int(total),
           [BY_RANK_MEAN] = mean(total, n), [BY_RANK_MIN] = ta_int(ta_whole(durations[0])),
           [BY_RANK_MAX] = ta_int(ta_whole(durations[n - 1])),
           [BY_RANK_P50] = ta_num(ta_quantile(durations, (size_t)n, 0.5)),
           [BY_RANK_P95] = ta_num(ta_quantile(durations, (size_t)n, 0.95)),
           [BY_RANK_GPU_MEAN] = mean(gpu, on_gpu), [BY_RANK_GPU_BUSY_MEAN] = mean(busy, on_gpu),
           [BY_RANK_KERNELS_MEAN] = mean(kernels, n));
}

static bool add_ranks(const struct ta_partial *steps, struct ta_section_builder *out)
{
    const size_t n = ta_partial_rows(steps);
    double *durations = calloc(n + 1, sizeof *durations);
    for (size_t first = 0, end; durations && first < n; first = end) {
        const int64_t rank = ta_partial_at(steps, first)[RANK];
        for (end = first + 1; end < n && ta_partial_at(steps, end)[RANK] == rank;)
            end++;
        add_rank(steps, first, end, durations, out);
    }
    free(durations);
    return durations != NULL;
}

/* ---- by step ------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_partial *steps = merged[0];
    struct ta_map labels = {0};
    const bool of_device = cover_launches_only(steps);
    size_t lacking = 0;
    for (size_t i = 0; i < ta_partial_rows(steps); i++)
        lacking += lacks_kernels(ta_partial_at(steps, i));
    for (size_t i = 0; i < ta_partial_rows(steps); i++) {
        const int64_t *row = ta_partial_at(steps, i);
        char numbered[160];
        struct ta_slice label = ta_partial_text(steps, row, STEP);
        /* How often a label came before within its rank: (rank, step) is a key, so repeats are
         * numbered. */
        uint64_t *count = ta_map_at(&labels, (uint64_t)row[RANK] << 32 | (uint64_t)row[STEP], 0);
        const uint64_t before = count ? (*count)++ : 0;
        if (before) {
            const int n = snprintf(numbered, sizeof numbered, "%.*s (%llu)",
                                   (int)(label.len < 100 ? label.len : 100), label.ptr,
                                   (unsigned long long)before + 1);
            label = (struct ta_slice){numbered, (size_t)n};
        }
        const bool on_gpu = row[GPU_START] != TA_MISSING;
        TA_ROW(out, by_step, [BY_STEP_RANK] = ta_int(row[RANK]), [BY_STEP_LABEL] = ta_text(label),
               [BY_STEP_SOURCE] = ta_text(TA_LIT("marker")),
               [BY_STEP_HOST_START] = ta_int(row[HOST_START]),
               [BY_STEP_HOST_DUR] = ta_int(row[HOST_DUR]),
               [BY_STEP_GPU_START] = ta_int(row[GPU_START]),
               [BY_STEP_GPU_DUR] = on_gpu ? ta_int(row[GPU_END] - row[GPU_START]) : ta_null(),
               [BY_STEP_GPU_BUSY] = ta_int(row[GPU_BUSY]), [BY_STEP_KERNELS] = ta_int(row[KERNELS]),
               [BY_STEP_LOST] = ta_int(row[LOST]),
               [BY_STEP_COUNTED] = lacking || of_device ? step_time(row, of_device) : ta_null());
    }
    const bool failed = !add_ranks(steps, out) || labels.failed;
    ta_map_free(&labels);
    if (ta_partial_rows(steps) > 1) /* of a single one there is nothing to see */
        ta_draw(out, &by_step, lacking || of_device ? &counted_chart : &host_chart);
    if (lacking)
        ta_add_missing(out,
                       "%zu of %zu steps lack more than 5 %% of the kernels that were launched "
                       "in them, which were not recorded: they do not count in statistics.",
                       lacking, ta_partial_rows(steps));
    if (ta_partial_rows(steps) == 0 && !ta_report_run(in->report)->has_dumps)
        ta_add_missing(out, "No step markers (ProfilerStep#N): the program did not call "
                            "profiler.step(), so the trace counts as one window.");
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps") : TA_OK;
}

static const struct ta_table_def *const tables[] = {&by_step, &by_rank, NULL};

static const struct ta_analysis_ops ops = {
    .section = "steps", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, steps, &ops, .title = "Steps",
          .summary = "Marked steps on host and device: steps.by_step, "
                     "steps.by_rank",
          .version = "1");
