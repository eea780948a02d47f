/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diffusion.attention_growth: how much of the growth of a video's blocks with their context is
 * attention, from the kernels of a trace.  The first block is left out because it also warms up. */
#include "model/program/generation.h"
#include "stat/fit.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

enum { RANK, VIDEO, BLOCK, PASSES, DENOISER, ATTENTION, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},           [VIDEO] = {"video", TA_FIELD_INT},
    [BLOCK] = {"block", TA_FIELD_INT},          [PASSES] = {"passes", TA_FIELD_SUM},
    [DENOISER] = {"denoiser_ns", TA_FIELD_SUM}, [ATTENTION] = {"attention_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"blocks", fields, FIELDS}, {0}};

/* ---- map ----------------------------------------------------------------------------------- */

struct work {
    int64_t denoiser, attention;
};

/* The kernels of each call, except communication, which contains waiting. */
static void find_work(const struct ta_trace *trace, const struct ta_generation *found,
                      struct work *of_call)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_kernels names = ta_trace_kernels(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    for (size_t i = 0; i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel == TA_NO_KERNEL || found->call_of[i] == UINT32_MAX ||
            names.at[a->kernel].facts.class == TA_KERNEL_COMM)
            continue;
        struct work *work = &of_call[found->call_of[i]];
        work->denoiser = ta_add_sat(work->denoiser, spans.dur[a->span]);
        if (names.at[a->kernel].facts.kind == TA_KERNEL_ATTENTION)
            work->attention = ta_add_sat(work->attention, spans.dur[a->span]);
    }
}

static void add_step(const struct ta_trace *trace, const struct ta_generation_step *step,
                     const struct work *of_call, struct ta_partial *out)
{
    int64_t *row =
        TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(trace)), ta_key_int((int64_t)step->image),
                       ta_key_int((int64_t)step->block));
    ta_sum(&row[PASSES], (int64_t)step->n_calls);
    for (size_t i = step->first_call; i < step->first_call + step->n_calls; i++) {
        ta_sum(&row[DENOISER], of_call[i].denoiser);
        ta_sum(&row[ATTENTION], of_call[i].attention);
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    if (!found)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
    if (found->by == TA_GENERATION_BY_NOTHING || !found->call_of || found->n_at_once == 0 ||
        found->makes == TA_GENERATION_IMAGES)
        return TA_OK;
    struct work *of_call = calloc(found->n_calls + 1, sizeof *of_call);
    if (!of_call)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the blocks of a video");
    find_work(trace, found, of_call);
    for (size_t i = 0; i < found->n_steps; i++)
        add_step(trace, &found->steps[i], of_call, out[0]);
    free(of_call);
    return TA_OK;
}

/* ---- table --------------------------------------------------------------------------------- */

enum {
    OF_RANK,
    OF_VIDEO,
    OF_BLOCKS,
    OF_BASE,
    OF_GROWTH,
    OF_LOW,
    OF_HIGH,
    OF_ATTENTION_BASE,
    OF_ATTENTION,
    OF_ATTENTION_LOW,
    OF_ATTENTION_HIGH
};
static const struct ta_column growth_columns[] = {
    [OF_RANK] = TA_RANK_COLUMN,
    [OF_VIDEO] = {"video", "Video", TA_INTEGER, .role = TA_KEY,
                  .doc = "Number of the video, from 1"},
    [OF_BLOCKS] = {"blocks", "Blocks", TA_COUNT,
                   .doc = "Blocks that the lines are fitted to: all but the first"},
    [OF_BASE] =
        {"base_ns", "Kernel time, no context", TA_NS_MEAN, .better = TA_LOWER,
         .doc = "Kernel time of a block's passes without any context: the fitted line at block 0"},
    [OF_GROWTH] = {"growth_ns", "Growth per block", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Kernel time that each block adds to the block before it"},
    [OF_LOW] = {"growth_low_ns", "Growth (low)", TA_NS_MEAN, .role = TA_NOTE,
                .doc = "Lower end of the 95 % confidence interval of the growth; empty if the line "
                       "fits exactly"},
    [OF_HIGH] = {"growth_high_ns", "Growth (high)", TA_NS_MEAN, .role = TA_NOTE,
                 .doc = "Upper end of the 95 % confidence interval of the growth; empty if the "
                        "line fits exactly"},
    [OF_ATTENTION_BASE] = {"attention_base_ns", "Attention, no context", TA_NS_MEAN,
                           .better = TA_LOWER,
                           .doc =
                               "Time of the attention kernels of a block without any context: the "
                               "fitted line at block 0; empty if there are no attention kernels"},
    [OF_ATTENTION] = {"attention_growth_ns", "Attention growth", TA_NS_MEAN, .better = TA_LOWER,
                      .doc = "Time of attention kernels that each block adds to the block before "
                             "it; empty if there are none"},
    [OF_ATTENTION_LOW] = {"attention_growth_low_ns", "Attention (low)", TA_NS_MEAN, .role = TA_NOTE,
                          .doc =
                              "Lower end of the 95 % confidence interval of the attention growth"},
    [OF_ATTENTION_HIGH] = {"attention_growth_high_ns", "Attention (high)", TA_NS_MEAN,
                           .role = TA_NOTE,
                           .doc =
                               "Upper end of the 95 % confidence interval of the attention growth"},
};

static const struct ta_table_def growth = {
    "diffusion.attention_growth", "Attention growth with context", TA_COLUMNS(growth_columns),
    .doc = "One row per video of a trace with at least 7 blocks, of which all but the first have "
           "the same number of denoiser passes. Kernel time of block i = base + growth · i, for "
           "all kernels of the passes except communication, and for attention alone. The lines are "
           "robust (bisquare); a context window that fills up makes them flatter.",
    .tier = TA_TIER_DETAIL};

/* ---- finish -------------------------------------------------------------------------------- */

enum { FITTED_LEAST = 6 };
#define CONFIDENCE 0.95

/* Fits the rows [first, end) of one video; x and y have room for them.  False without memory. */
static bool fit(const struct ta_partial *of, size_t first, size_t end, size_t field, double *x,
                double *y, struct ta_line *line)
{
    for (size_t i = first; i < end; i++) {
        x[i - first] = (double)ta_partial_at(of, i)[BLOCK];
        y[i - first] = (double)ta_partial_at(of, i)[field];
    }
    return ta_robust_line(x, y, end - first, CONFIDENCE, line);
}

static bool has_lines(const struct ta_partial *of, size_t first, size_t end, int64_t *attention)
{
    const int64_t *begin = first < end ? ta_partial_at(of, first) : NULL;
    bool alike = true;
    *attention = 0;
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(of, i);
        alike &= row[PASSES] == begin[PASSES] && row[DENOISER] > 0;
        ta_sum(attention, row[ATTENTION]);
    }
    return alike && end - first >= FITTED_LEAST;
}

static bool add_video(const struct ta_partial *of, size_t first, size_t end, double *x, double *y,
                      struct ta_section_builder *out)
{
    int64_t attention_ns = 0;
    struct ta_line all, attention;
    if (!has_lines(of, first, end, &attention_ns))
        return true;
    if (!fit(of, first, end, DENOISER, x, y, &all) ||
        !fit(of, first, end, ATTENTION, x, y, &attention))
        return false;
    const double known = attention_ns > 0 ? 0 : (double)NAN;
    const int64_t *row = ta_partial_at(of, first);
    TA_ROW(out, growth, [OF_RANK] = ta_int(row[RANK]), [OF_VIDEO] = ta_int(row[VIDEO] + 1),
           [OF_BLOCKS] = ta_int((int64_t)(end - first)), [OF_BASE] = ta_num(all.intercept),
           [OF_GROWTH] = ta_num(all.slope.value), [OF_LOW] = ta_num(all.slope.low),
           [OF_HIGH] = ta_num(all.slope.high),
           [OF_ATTENTION_BASE] = ta_num(attention.intercept + known),
           [OF_ATTENTION] = ta_num(attention.slope.value + known),
           [OF_ATTENTION_LOW] = ta_num(attention.slope.low + known),
           [OF_ATTENTION_HIGH] = ta_num(attention.slope.high + known));
    return true;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_partial *of = merged[0];
    const size_t n = ta_partial_rows(of);
    double *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y);
    bool done = x && y;
    (void)in;
    for (size_t first = 0, end; done && first < n; first = end) {
        end = ta_partial_group_end(of, first, VIDEO);
        done = add_video(of, first + 1, end, x, y, out);
    }
    free(x);
    free(y);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot fit the growth of attention");
}

static const struct ta_table_def *const tables[] = {&growth, NULL};

static const struct ta_analysis_ops ops = {.section = "phases",
                                           .place = 2,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, attention_growth, &ops, .title = "Growth of attention",
          .summary = "How much of the growth of a video's blocks is attention, from its kernels: "
                     "diffusion.attention_growth",
          .version = "1");
