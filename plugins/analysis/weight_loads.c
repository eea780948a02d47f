/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.reloaded: steps and runs that begin with copies of weights to the device, before any of
 * its kernels: the model is loaded again each time.  Weights that are copied between the kernels of
 * a step are offloaded, which is another thing. */
#include "lib/copy_names.h"
#include "model/program/steps.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

enum { LEAST_BYTES = 256 << 20 }; /* of a step; inputs have less */

/* Of the time until the copies are done, kernels take at most one in so many parts; and of what a
 * step copies to the device at least so many of so many parts come first. */
enum { KERNEL_PARTS = 20, HEAD_PARTS = 4, ALL_PARTS = 5 };

enum { RANK, STEP, STEPS, LOADS, BYTES, COPY_NS, TOTAL_NS, FIRST_NS, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},        [STEP] = {"step", TA_FIELD_TEXT},
    [STEPS] = {"steps", TA_FIELD_SUM},       [LOADS] = {"loads", TA_FIELD_SUM},
    [BYTES] = {"bytes", TA_FIELD_SUM},       [COPY_NS] = {"copy_ns", TA_FIELD_SUM},
    [TOTAL_NS] = {"total_ns", TA_FIELD_SUM}, [FIRST_NS] = {"first_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"steps", fields, FIELDS}, {0}};

static const struct ta_column reloaded_columns[FIELDS] = {
    [RANK] = TA_RANK_COLUMN,
    [STEP] = {"step", "Step", TA_TEXT, .doc = "Name of the steps or runs"},
    [STEPS] = {"steps", "Steps", TA_COUNT, .doc = "Number of these steps or runs"},
    [LOADS] = {"loads", "Loads", TA_COUNT, .better = TA_LOWER,
               .doc = "Steps or runs that begin with 256 MiB or more of copies to the device"},
    [BYTES] = {"bytes", "Bytes", TA_BYTES, .better = TA_LOWER, .doc = "Bytes of these copies"},
    [COPY_NS] = {"copy_ns", "Copies", TA_NS, .better = TA_LOWER, .doc = "Time of these copies"},
    [TOTAL_NS] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                  .doc = "Time from the start of these steps or runs to the end of the copies"},
    [FIRST_NS] = {"first_ns", "First", TA_NS, .doc = "Loading time of the first of them"},
};

static const struct ta_table_def reloaded = {
    "models.reloaded", "Weights reloaded every step", TA_COLUMNS(reloaded_columns),
    .doc = "One row per rank whose steps or runs begin, at least twice, with copies of weights to "
           "the device, before its first kernels.",
    .tier = TA_TIER_DETAIL};

/* ---- map ----------------------------------------------------------------------------------- */

/* Copies to the device at the begin of a step. */
struct head {
    int64_t end, bytes, copy_ns; /* of those before its kernels */
    int64_t all_bytes, kernel_ns;
};

static void take(struct head *head, const struct ta_trace *trace, const struct ta_spans *spans,
                 const struct ta_args *sizes, const struct ta_activity *a, int64_t start)
{
    const int64_t end = spans->ts[a->span] + spans->dur[a->span];
    int64_t bytes = 0;
    if (a->kernel != TA_NO_KERNEL) {
        head->kernel_ns += spans->dur[a->span];
        return;
    }
    if (!ta_args_find(sizes, a->span, &bytes) || bytes <= 0 ||
        !ta_slice_equal(ta_copy_direction(ta_trace_text(trace, spans->name[a->span])),
                        TA_LIT("HtoD")))
        return;
    head->all_bytes = ta_add_sat(head->all_bytes, bytes);
    if (head->kernel_ns > (end - start) / KERNEL_PARTS)
        return;
    head->bytes = head->all_bytes;
    head->copy_ns += spans->dur[a->span];
    head->end = end;
}

static bool is_load(const struct head *head)
{
    return head->bytes >= LEAST_BYTES && head->bytes / HEAD_PARTS >= head->all_bytes / ALL_PARTS;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_program_steps *steps = ta_program_steps(trace);
    if (!steps)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot find steps");
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_args sizes = ta_trace_args(trace, "bytes");
    if (steps->n < 2 || activities.n == 0)
        return TA_OK;
    int64_t loads = 0, bytes = 0, copy_ns = 0, total = 0, first = 0;
    const size_t end = ta_device_end(&activities, 0); /* other devices do the same */
    for (size_t s = 0, i = 0; s < steps->n; s++) {
        const struct ta_program_step *step = &steps->at[s];
        struct head head = {0};
        while (i < end && spans.ts[activities.at[i].span] < step->start)
            i++;
        for (; i < end && spans.ts[activities.at[i].span] < step->end; i++)
            take(&head, trace, &spans, &sizes, &activities.at[i], step->start);
        if (!is_load(&head))
            continue;
        first = loads++ == 0 ? head.end - step->start : first;
        bytes = ta_add_sat(bytes, head.bytes);
        copy_ns = ta_add_sat(copy_ns, head.copy_ns);
        total = ta_add_sat(total, head.end - step->start);
    }
    if (loads < 2)
        return TA_OK;
    char text[TA_STEP_NAME_ROOM];
    const struct ta_slice name = ta_program_step_name(trace, steps, 0, text);
    int64_t *row =
        TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)), ta_key_text(ta_host_place(name)));
    ta_sum(&row[STEPS], (int64_t)steps->n);
    ta_sum(&row[LOADS], loads);
    ta_sum(&row[BYTES], bytes);
    ta_sum(&row[COPY_NS], copy_ns);
    ta_sum(&row[TOTAL_NS], total);
    ta_sum(&row[FIRST_NS], first);
    return TA_OK;
}

/* ---- table --------------------------------------------------------------------------------- */

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(out, reloaded, [RANK] = ta_int(row[RANK]),
               [STEP] = ta_text_or_null(ta_partial_text(merged[0], row, STEP)),
               [STEPS] = ta_int(row[STEPS]), [LOADS] = ta_int(row[LOADS]),
               [BYTES] = ta_int(row[BYTES]), [COPY_NS] = ta_int(row[COPY_NS]),
               [TOTAL_NS] = ta_int(row[TOTAL_NS]), [FIRST_NS] = ta_int(row[FIRST_NS]));
    }
    return TA_OK;
}

static const char *const needs_args[] = {"bytes", NULL};
static const struct ta_table_def *const tables[] = {&reloaded, NULL};

static const struct ta_analysis_ops ops = {.section = "copies",
                                           .partials = partials,
                                           .needs_args = needs_args,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, weight_loads, &ops, .title = "Copies",
          .summary = "Weights that steps or runs load again each time: models.reloaded",
          .version = "1");
