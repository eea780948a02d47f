/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.step_parts: what of a denoising step is the denoiser's, and what goes to guidance, the
 * scheduler and the launching of it all.
 *
 * A step lasts until the next one of its block begins, so that what is calculated between them is
 * in it; the last one of a block has no such end and does not count.  On the device: time in which
 * anything works that a call of the denoiser launched, else in which anything works, else idle.
 * Where images are denoised in turns the time until the next step is another image's as well. */
#include "model/program/generation.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

enum { RANK, KIND, START, STEP, DENOISER, OTHER, HOST, HOST_DENOISER, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [KIND] = {"kind", TA_FIELD_INT},
    [START] = {"start_ns", TA_FIELD_INT},
    [STEP] = {"step_ns", TA_FIELD_MAX},
    [DENOISER] = {"denoiser_ns", TA_FIELD_MAX},
    [OTHER] = {"other_ns", TA_FIELD_MAX},
    [HOST] = {"host_ns", TA_FIELD_MAX},
    [HOST_DENOISER] = {"host_denoiser_ns", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {{"steps", fields, FIELDS}, {0}};

/* ---- map ----------------------------------------------------------------------------------- */

/* When devices work: on anything, and on what calls of the denoiser launched. */
struct work {
    struct ta_intervals all, denoiser;
};

static void find_work(const struct ta_trace *trace, const struct ta_generation *found,
                      struct work *work)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    for (size_t i = 0; i < activities.n; i++) {
        const ta_row row = activities.at[i].span;
        const int64_t start = spans.ts[row], end = ta_add_sat(start, spans.dur[row]);
        const uint32_t call = found->call_of[i];
        ta_intervals_add(&work->all, start, end);
        if (call != UINT32_MAX && found->calls[call].phase == TA_GENERATION_DENOISE)
            ta_intervals_add(&work->denoiser, start, end);
    }
    ta_intervals_unite(&work->all);
    ta_intervals_unite(&work->denoiser);
}

static void add_device(const struct work *work, const struct ta_generation_step *step,
                       const struct ta_generation_step *next, int64_t *row)
{
    const int64_t start = step->time.gpu_start, end = next->time.gpu_start;
    if (start == TA_MISSING || end == TA_MISSING || end <= start)
        return;
    const int64_t denoiser = ta_intervals_within(&work->denoiser, start, end);
    ta_most(&row[STEP], end - start);
    ta_most(&row[DENOISER], denoiser);
    ta_most(&row[OTHER], ta_intervals_within(&work->all, start, end) - denoiser);
}

static void add_host(const struct ta_generation *found, const struct ta_generation_step *step,
                     const struct ta_generation_step *next, int64_t *row)
{
    const int64_t start = step->time.host_start, end = next->time.host_start;
    int64_t denoiser = 0;
    if (start == TA_MISSING || end == TA_MISSING || end <= start)
        return;
    for (size_t i = step->first_call; i < step->first_call + step->n_calls; i++) {
        const struct ta_generation_time *time = &found->calls[i].time;
        if (time->host_start == TA_MISSING)
            return;
        denoiser = ta_add_sat(denoiser, time->host_end - time->host_start);
    }
    if (denoiser > end - start) /* calls on several threads */
        return;
    ta_most(&row[HOST], end - start);
    ta_most(&row[HOST_DENOISER], denoiser);
}

static void add_steps(const struct ta_trace *trace, const struct ta_generation *found,
                      const struct work *work, struct ta_partial *out)
{
    for (size_t i = 1; i < found->n_steps; i++) {
        const struct ta_generation_step *step = &found->steps[i - 1], *next = &found->steps[i];
        if (step->image != next->image || step->block != next->block)
            continue;
        int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int(step->kind),
                                      ta_key_int(ta_generation_span(&step->time).start));
        add_device(work, step, next, row);
        add_host(found, step, next, row);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    if (!found)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
    if (found->by == TA_GENERATION_BY_NOTHING || !found->call_of || found->n_at_once != 1)
        return TA_OK;
    struct work work = {0};
    find_work(trace, found, &work);
    const bool done = !work.all.failed && !work.denoiser.failed;
    if (done)
        add_steps(trace, found, &work, out[0]);
    ta_intervals_free(&work.all);
    ta_intervals_free(&work.denoiser);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the work of denoising steps");
}

/* ---- table --------------------------------------------------------------------------------- */

enum {
    OF_RANK,
    OF_KIND,
    OF_STEPS,
    OF_STEP,
    OF_DENOISER,
    OF_OTHER,
    OF_IDLE,
    OF_DENOISER_SHARE,
    OF_OTHER_SHARE,
    OF_HOST,
    OF_HOST_DENOISER,
    OF_HOST_OTHER
};
static const struct ta_column parts_columns[] = {
    [OF_RANK] = TA_RANK_COLUMN,
    [OF_KIND] = {"kind", "Kind", TA_TYPE_INTEGER, .role = TA_KEY,
                 .doc = "Kind of the step, by its first denoiser pass: 0 does full work, others "
                        "are shortened by a cache or launch other kernels"},
    [OF_STEPS] = {"steps", "Steps", TA_COUNT,
                  .doc = "Steps of the kind that are followed by another step of the same block"},
    [OF_STEP] =
        {"step_ns", "Step", TA_NS_MEAN, .better = TA_LOWER,
         .doc =
             "Median time from the first device activity of a step to the first of the next step"},
    [OF_DENOISER] =
        {"denoiser_ns", "Denoiser", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Median time of a step in which work of a denoiser pass runs on the device"},
    [OF_OTHER] = {"other_ns", "Guidance, scheduler", TA_NS_MEAN, .better = TA_LOWER,
                  .doc = "Median time of a step in which only other work runs: guidance, the "
                         "scheduler, copies"},
    [OF_IDLE] = {"idle_ns", "Idle", TA_NS_MEAN, .better = TA_LOWER,
                 .doc = "Median time of a step in which nothing runs on the device"},
    [OF_DENOISER_SHARE] = {"denoiser_share", "Denoiser share", TA_RATIO,
                           .doc = "Median of denoiser time divided by step time"},
    [OF_OTHER_SHARE] =
        {"other_share", "Guidance and scheduler share", TA_RATIO, .better = TA_LOWER,
         .doc = "Median of guidance and scheduler time divided by step time; the rest is idle"},
    [OF_HOST] = {"host_ns", "Host", TA_NS_MEAN, .better = TA_LOWER,
                 .doc = "Median host time from the start of one step to the start of the next; "
                        "empty if only kernels show the steps"},
    [OF_HOST_DENOISER] = {"host_denoiser_ns", "Host in denoiser", TA_NS_MEAN, .better = TA_LOWER,
                          .doc = "Median host time of a step inside denoiser passes"},
    [OF_HOST_OTHER] = {"host_other_ns", "Host outside", TA_NS_MEAN, .better = TA_LOWER,
                       .doc = "Median host time of a step between denoiser passes"},
};

static const struct ta_table_def parts = {
    "diffusion.step_parts", "Denoising step breakdown", TA_COLUMNS(parts_columns),
    .doc = "One row per rank and kind of denoising step: the denoiser's part of a step, and what "
           "runs between its passes. A step lasts until the next one of its block begins, so the "
           "last one of a block does not count. There are no rows if images are denoised in turns.",
    .tier = TA_TIER_DETAIL};

/* ---- finish -------------------------------------------------------------------------------- */

/* NaN where it is not known. */
typedef double figure_of(const int64_t *row);

static double of_field(const int64_t *row, size_t field)
{
    return row[field] == TA_MISSING ? (double)NAN : (double)row[field];
}

static double step_ns(const int64_t *row)
{
    return of_field(row, STEP);
}

static double denoiser_ns(const int64_t *row)
{
    return of_field(row, DENOISER);
}

static double other_ns(const int64_t *row)
{
    return of_field(row, OTHER);
}

static double idle_ns(const int64_t *row)
{
    return step_ns(row) - denoiser_ns(row) - other_ns(row);
}

static double denoiser_share(const int64_t *row)
{
    return denoiser_ns(row) / step_ns(row);
}

static double other_share(const int64_t *row)
{
    return other_ns(row) / step_ns(row);
}

static double host_ns(const int64_t *row)
{
    return of_field(row, HOST);
}

static double host_denoiser_ns(const int64_t *row)
{
    return of_field(row, HOST_DENOISER);
}

static double host_other_ns(const int64_t *row)
{
    return host_ns(row) - host_denoiser_ns(row);
}

/* Columns that are medians. */
static figure_of *const figures[TA_LENGTH(parts_columns)] = {
    [OF_STEP] = step_ns, [OF_DENOISER] = denoiser_ns,           [OF_OTHER] = other_ns,
    [OF_IDLE] = idle_ns, [OF_DENOISER_SHARE] = denoiser_share,  [OF_OTHER_SHARE] = other_share,
    [OF_HOST] = host_ns, [OF_HOST_DENOISER] = host_denoiser_ns, [OF_HOST_OTHER] = host_other_ns,
};

/* The rows [first, end) of `of`; `work` has room for them. */
static struct ta_cell median(const struct ta_partial *of, size_t first, size_t end,
                             figure_of *figure, double *work)
{
    size_t n = 0;
    for (size_t i = first; i < end; i++) {
        const double value = figure(ta_partial_at(of, i));
        if (!isnan(value))
            work[n++] = value;
    }
    ta_sort_numbers(work, n);
    return n ? ta_num(ta_quantile(work, n, 0.5)) : ta_null();
}

static void add_kind(const struct ta_partial *of, size_t first, size_t end, double *work,
                     struct ta_section_builder *out)
{
    const int64_t *row = ta_partial_at(of, first);
    struct ta_cell cells[TA_LENGTH(parts_columns)] = {
        [OF_RANK] = ta_int(row[RANK]),
        [OF_KIND] = ta_int(row[KIND]),
        [OF_STEPS] = ta_int((int64_t)(end - first)),
    };
    for (size_t i = OF_STEP; i < TA_LENGTH(cells); i++)
        cells[i] = median(of, first, end, figures[i], work);
    if (cells[OF_STEP].kind != TA_CELL_NULL || cells[OF_HOST].kind != TA_CELL_NULL)
        ta_add_row(ta_rows(out, &parts), cells);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_partial *of = merged[0];
    const size_t n = ta_partial_rows(of);
    double *work = calloc(n + 1, sizeof *work);
    (void)in;
    if (!work)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the parts of denoising steps");
    for (size_t first = 0, end; first < n; first = end) {
        end = ta_partial_group_end(of, first, KIND);
        add_kind(of, first, end, work, out);
    }
    free(work);
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&parts, NULL};

static const struct ta_analysis_ops ops = {.section = "phases",
                                           .place = 2,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, step_parts, &ops, .title = "Denoising step breakdown",
          .summary = "Time of a denoising step in the denoiser, and in guidance and the scheduler: "
                     "diffusion.step_parts",
          .version = "1");
