/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps that torch.profiler marks (ProfilerStep#N), on host and device.
 *
 * The device side of a step is what was launched in it, from any thread; activities are never cut
 * at the ends of the marker. */
#include "ranks/steps.h"

#include "analyze/analyze.h"
#include "base/vec.h"
#include "model/lost.h"
#include "model/named.h"
#include "traceanalyze/model.h"

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
    TA_VEC(struct step) list; /* by start */
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

static void add_step(void *user, ta_row row, uint8_t kind)
{
    struct steps *steps = user;
    (void)kind;
    if (!ta_class_is_host(steps->categories.at[steps->spans.cat[row]].class))
        return;
    const struct step step = {.span = row, .first = INT64_MAX, .last = INT64_MIN};
    steps->failed |= !ta_vec_push(&steps->list, step);
    steps->longest = ta_max_i64(steps->longest, steps->spans.dur[row]);
}

/* How many steps start at `t` or before; mostly as many as at the time that was asked for last. */
static size_t started(struct steps *steps, const int64_t *ts, int64_t t)
{
    const size_t n = steps->recent;
    const struct step *at = steps->list.at;
    if ((n > 0 && ts[at[n - 1].span] > t) || (n < steps->list.n && ts[at[n].span] <= t)) {
        size_t low = 0, high = steps->list.n;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (ts[at[middle].span] <= t)
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
        struct step *step = &steps->list.at[i];
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

static bool write_step(const struct ta_trace *trace, struct step *step, int64_t order,
                       const struct ta_lost *lost, struct ta_partial *out)
{
    const struct ta_spans s = ta_trace_spans(trace);
    const int64_t origin = ta_trace_origin(trace), start = s.ts[step->span];
    int64_t *row =
        TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int(start - origin),
                       ta_key_int(order), ta_key_text(ta_trace_text(trace, s.name[step->span])));
    ta_sum(&row[HOST_DUR], s.dur[step->span]);
    ta_sum(&row[KERNELS], step->kernels);
    ta_sum(&row[LOST], (int64_t)ta_lost_from(lost, start + s.dur[step->span]) -
                           (int64_t)ta_lost_from(lost, start));
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
    bool done = ta_each_named(trace, is_step, add_step, &steps) && !steps.failed && lost;
    if (steps.list.n)
        qsort_r(steps.list.at, steps.list.n, sizeof *steps.list.at, by_start,
                (void *)(uintptr_t)s.ts);
    for (size_t i = 0; done && steps.list.n && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch != TA_NO_ROW)
            give(&steps, &s, s.ts[a->launch], a->span, a->kernel != TA_NO_KERNEL);
    }
    for (size_t i = 0; lost && i < steps.list.n; i++)
        done &= write_step(trace, &steps.list.at[i], (int64_t)i, lost, out[0]);
    free(steps.list.at);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of a trace");
}

/* ---- the stage ----------------------------------------------------------------------------- */

static const struct ta_analysis_ops ops = {.partials = partials, .map = map};

const struct ta_entry ta_steps_entry = {
    .plugin = {.kind = TA_KIND_analysis,
               .id = "stage:steps", /* no plugin can have this id */
               .title = "Steps",
               .version = "1",
               .analysis = &ops},
    .origin = TA_BUILT_IN,
};

static bool list_steps(const struct ta_partial *partial, struct ta_steps *steps)
{
    struct ta_map labels = {0};
    steps->at = calloc(ta_partial_rows(partial) + 1, sizeof *steps->at);
    if (!steps->at)
        return false;
    for (size_t i = 0; i < ta_partial_rows(partial); i++) {
        const int64_t *row = ta_partial_at(partial, i);
        uint64_t *count = ta_map_at(&labels, (uint64_t)row[RANK] << 32 | (uint64_t)row[STEP], 0);
        const struct ta_slice label = ta_partial_text(partial, row, STEP);
        steps->at[steps->n++] = (struct ta_step){.rank = row[RANK],
                                                 .label = label,
                                                 .number = ta_host_step_number(label),
                                                 .repeats = count ? (*count)++ : 0,
                                                 .host_start = row[HOST_START],
                                                 .host_dur = row[HOST_DUR],
                                                 .gpu_start = row[GPU_START],
                                                 .gpu_end = row[GPU_END],
                                                 .gpu_busy = row[GPU_BUSY],
                                                 .kernels = row[KERNELS],
                                                 .lost = row[LOST]};
    }
    const bool done = !labels.failed;
    ta_map_free(&labels);
    return done;
}

enum ta_status ta_steps_run(struct ta_ctx *ctx, const struct ta_plan *plan,
                            struct ta_partial_set *set, const int64_t *final_ranks, size_t n,
                            struct ta_steps *steps)
{
    if (plan->steps == SIZE_MAX)
        return TA_OK;
    const enum ta_status status = ta_partial_set_settle(ctx, set, plan->steps, final_ranks, n);
    if (status != TA_OK || list_steps(ta_partial_set_table(set, plan->steps, 0), steps))
        return status;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of all ranks");
}
