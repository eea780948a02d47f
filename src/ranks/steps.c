/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps that programs mark (model/program/steps.h), on host and device.
 *
 * The device side of a step is what was launched in it, from any thread; activities are never cut
 * at the ends of the marker. */
#include "ranks/steps.h"

#include "analyze/analyze.h"
#include "base/vec.h"
#include "model/damage.h"
#include "model/lost.h"
#include "model/program/steps.h"
#include "model/program/window.h"
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
    BY,
    NUMBER,
    RECORDED,
    AROUND,
    FIELDS
};
enum { REQUEST_RANK, REQUEST_START, REQUEST_ORDER, REQUEST_NAME, REQUEST_DUR, REQUEST_FIELDS };

/* Start and order make the key of a step unique, the label goes with them. */
static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [HOST_START] = {"host_start_ns", TA_FIELD_INT},
    [ORDER] = {"order", TA_FIELD_INT},
    [STEP] = {"step", TA_FIELD_TEXT},
    [HOST_DUR] = {"host_dur_ns", TA_FIELD_SUM},
    [GPU_START] = {"gpu_start_ns", TA_FIELD_MIN},
    [GPU_END] = {"gpu_end_ns", TA_FIELD_MAX},
    [GPU_BUSY] = {"gpu_busy_ns", TA_FIELD_SUM},
    [KERNELS] = {"kernels", TA_FIELD_SUM},
    [LOST] = {"lost", TA_FIELD_SUM},
    [BY] = {"by", TA_FIELD_MAX},
    [NUMBER] = {"number", TA_FIELD_MAX},
    [RECORDED] = {"recorded_ns", TA_FIELD_SUM},
    [AROUND] = {"around", TA_FIELD_MAX},
};

static const struct ta_field request_fields[REQUEST_FIELDS] = {
    [REQUEST_RANK] = {"rank", TA_FIELD_RANK},
    [REQUEST_START] = {"host_start_ns", TA_FIELD_INT},
    [REQUEST_ORDER] = {"order", TA_FIELD_INT},
    [REQUEST_NAME] = {"name", TA_FIELD_TEXT},
    [REQUEST_DUR] = {"host_dur_ns", TA_FIELD_SUM},
};

enum { PARTIAL_STEPS, PARTIAL_REQUESTS };
static const struct ta_partial_def partials[] = {
    {"steps", fields, FIELDS}, {"requests", request_fields, REQUEST_FIELDS}, {0}};

/* Rows may come from a saved summary. */
static const struct ta_bound bounds[] = {{PARTIAL_STEPS, BY, TA_STEPS_BY_DENOISER + 1},
                                         TA_BOUNDS_END};

/* A step, and the activities launched inside it. */
struct step {
    const struct ta_program_steps *of;
    size_t place;   /* among these */
    bool is_around; /* it is none of the steps, but holds them */
    int64_t start, end, number;
    int64_t first, last, kernels;
    int64_t busy_ns;          /* where all are of one device, and come by their starts, or */
    struct ta_intervals busy; /* of several devices */
};

struct steps {
    struct step *at; /* by start */
    size_t n;
    bool has_one_device;
    int64_t longest; /* duration: how far back a step that is still open can start */
    size_t recent;   /* how many had started at the time that was asked for last */
};

/* How many steps start at `t` or before; mostly as many as at the time that was asked for last. */
static size_t started(struct steps *steps, int64_t t)
{
    const size_t n = steps->recent;
    const struct step *at = steps->at;
    if ((n > 0 && at[n - 1].start > t) || (n < steps->n && at[n].start <= t)) {
        size_t low = 0, high = steps->n;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (at[middle].start <= t)
                low = middle + 1;
            else
                high = middle;
        }
        steps->recent = low;
    }
    return steps->recent;
}

/* Gives an activity to every step that is open at its launch; steps of several threads may
 * overlap. */
static void give(struct steps *steps, const struct ta_spans *s, int64_t launched, ta_row span,
                 bool is_kernel)
{
    const int64_t start = s->ts[span], end = start + s->dur[span];
    for (size_t i = started(steps, launched); i-- > 0;) {
        struct step *step = &steps->at[i];
        if (launched - step->start >= steps->longest)
            break;
        if (launched >= step->end)
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

static struct ta_slice name_of(const struct ta_trace *trace, ta_row row)
{
    return ta_trace_text(trace, ta_trace_spans(trace).name[row]);
}

static bool write_step(const struct ta_trace *trace, struct step *step, int64_t order,
                       const struct ta_lost *lost, const struct ta_program_window *program,
                       struct ta_partial *out)
{
    const int64_t origin = ta_trace_origin(trace);
    char text[TA_STEP_NAME_ROOM];
    const struct ta_slice name = ta_program_step_name(trace, step->of, step->place, text);
    int64_t *row =
        TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int(step->start - origin),
                       ta_key_int(order), ta_key_text(name));
    ta_sum(&row[HOST_DUR], step->end - step->start);
    ta_sum(&row[RECORDED], ta_max_i64(0, ta_min_i64(step->end, program->to) -
                                             ta_max_i64(step->start, program->from)));
    ta_sum(&row[KERNELS], step->kernels);
    ta_most(&row[BY], step->of->by);
    ta_most(&row[AROUND], step->is_around);
    ta_most(&row[NUMBER], step->number);
    ta_sum(&row[LOST], ta_lost_kernels(lost, step->start, step->end) +
                           ta_damage_calls(ta_trace_damage(trace), step->start, step->end));
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

static void write_requests(const struct ta_trace *trace, const struct ta_program_steps *found,
                           struct ta_partial *out)
{
    const struct ta_spans s = ta_trace_spans(trace);
    for (size_t i = 0; i < found->n_requests; i++) {
        const ta_row span = found->requests[i];
        int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)),
                                      ta_key_int(s.ts[span] - ta_trace_origin(trace)),
                                      ta_key_int((int64_t)i), ta_key_text(name_of(trace, span)));
        ta_sum(&row[REQUEST_DUR], s.dur[span]);
    }
}

static int by_start(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->is_around != b->is_around)
        return a->is_around ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static size_t count_steps(const struct ta_program_steps *found)
{
    return found->n + (found->around ? found->around->n : 0);
}

static void add_steps(struct steps *steps, const struct ta_program_steps *found, bool is_around)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct ta_program_step *at = &found->at[i];
        struct step *step = &steps->at[steps->n++];
        *step = (struct step){.of = found,
                              .place = i,
                              .is_around = is_around,
                              .start = at->start,
                              .end = at->end,
                              .number = at->number,
                              .first = INT64_MAX,
                              .last = INT64_MIN};
        steps->longest = ta_max_i64(steps->longest, at->end - at->start);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    const struct ta_program_steps *found = ta_program_steps(trace);
    const struct ta_lost *lost = ta_trace_lost(trace);
    struct steps steps = {.at = found ? calloc(count_steps(found) + 1, sizeof *steps.at) : NULL};
    const struct ta_program_window *program = ta_program_window(trace);
    bool done = steps.at && lost && program;
    if (activities.n)
        steps.has_one_device = ta_device_end(&activities, 0) == activities.n;
    if (done && found->around)
        add_steps(&steps, found->around, true);
    if (done)
        add_steps(&steps, found, false);
    if (steps.n)
        qsort(steps.at, steps.n, sizeof *steps.at, by_start);
    for (size_t i = 0; steps.n && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->launch != TA_NO_ROW)
            give(&steps, &s, s.ts[a->launch], a->span, a->kernel != TA_NO_KERNEL);
    }
    for (size_t i = 0; program && i < steps.n; i++)
        done &= write_step(trace, &steps.at[i], (int64_t)i, lost, program, out[PARTIAL_STEPS]);
    if (done)
        write_requests(trace, found, out[PARTIAL_REQUESTS]);
    free(steps.at);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of a trace");
}

/* ---- the stage ----------------------------------------------------------------------------- */

static const struct ta_analysis_ops ops = {.bounds = bounds, .partials = partials, .map = map};

const struct ta_entry ta_steps_entry = {
    .plugin = {.kind = TA_KIND_analysis,
               .id = "stage:steps", /* no plugin can have this id */
               .title = "Steps",
               .version = "1",
               .analysis = &ops},
    .origin = TA_BUILT_IN,
};

static struct ta_step step_of(const struct ta_partial *partial, const int64_t *row)
{
    return (struct ta_step){.rank = row[RANK],
                            .label = ta_partial_text(partial, row, STEP),
                            .by = (enum ta_steps_by)row[BY],
                            .number = row[NUMBER],
                            .host_start = row[HOST_START],
                            .host_dur = row[HOST_DUR],
                            .recorded = row[RECORDED],
                            .gpu_start = row[GPU_START],
                            .gpu_end = row[GPU_END],
                            .gpu_busy = row[GPU_BUSY],
                            .kernels = row[KERNELS],
                            .lost = row[LOST]};
}

static bool list_steps(const struct ta_partial *partial, struct ta_steps *steps)
{
    const size_t n = ta_partial_rows(partial);
    struct ta_map labels = {0};
    steps->at = calloc(n + 1, sizeof *steps->at);
    steps->around = calloc(n + 1, sizeof *steps->around);
    if (!steps->at || !steps->around)
        return false;
    for (size_t i = 0; i < n; i++) {
        const int64_t *row = ta_partial_at(partial, i);
        uint64_t *count = ta_map_at(&labels, (uint64_t)row[RANK] << 32 | (uint64_t)row[STEP], 0);
        struct ta_step *step =
            row[AROUND] > 0 ? &steps->around[steps->n_around++] : &steps->at[steps->n++];
        *step = step_of(partial, row);
        step->repeats = count ? (*count)++ : 0;
    }
    const bool done = !labels.failed;
    ta_map_free(&labels);
    return done;
}

static bool list_requests(const struct ta_partial *partial, struct ta_steps *steps)
{
    const size_t n = ta_partial_rows(partial);
    steps->requests = calloc(n + 1, sizeof *steps->requests);
    for (size_t i = 0; steps->requests && i < n; i++) {
        const int64_t *row = ta_partial_at(partial, i);
        steps->requests[steps->n_requests++] =
            (struct ta_request_mark){.rank = row[REQUEST_RANK],
                                     .name = ta_partial_text(partial, row, REQUEST_NAME),
                                     .start = row[REQUEST_START],
                                     .dur = row[REQUEST_DUR]};
    }
    return steps->requests != NULL;
}

enum ta_status ta_steps_run(struct ta_ctx *ctx, const struct ta_plan *plan,
                            struct ta_partial_set *set, const int64_t *final_ranks, size_t n,
                            struct ta_steps *steps)
{
    if (plan->steps == SIZE_MAX)
        return TA_OK;
    const enum ta_status status = ta_partial_set_settle(ctx, set, plan->steps, final_ranks, n);
    if (status != TA_OK)
        return status;
    if (list_steps(ta_partial_set_table(set, plan->steps, PARTIAL_STEPS), steps) &&
        list_requests(ta_partial_set_table(set, plan->steps, PARTIAL_REQUESTS), steps))
        return TA_OK;
    return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the steps of all ranks");
}

void ta_steps_free(struct ta_steps *steps)
{
    free(steps->at);
    free(steps->around);
    free(steps->requests);
    *steps = (struct ta_steps){0};
}
