/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.summed, ops.totals and stacks.folded: operators and call stacks as torch's own tables have
 * them. */
#include "kinds.h"
#include "totals.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/dump.h>

#include <stdlib.h>

enum { RANK, NAME };
enum {
    KIND = 2,
    CALLS,
    SELF_CPU,
    CPU,
    SELF_DEVICE,
    DEVICE,
    CPU_BYTES,
    DEVICE_BYTES,
    FLOPS,
    OP_FIELDS
};
enum { WEIGHT = 2, SAMPLES, STACK_FIELDS };

static const struct ta_field op_fields[OP_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [NAME] = {"name", TA_FIELD_TEXT},
    [KIND] = {"kind", TA_FIELD_INT},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [SELF_CPU] = {"self_cpu_ns", TA_FIELD_SUM},
    [CPU] = {"cpu_ns", TA_FIELD_SUM},
    [SELF_DEVICE] = {"self_device_ns", TA_FIELD_SUM},
    [DEVICE] = {"device_ns", TA_FIELD_SUM},
    [CPU_BYTES] = {"self_cpu_bytes", TA_FIELD_SUM},
    [DEVICE_BYTES] = {"self_device_bytes", TA_FIELD_SUM},
    [FLOPS] = {"flops", TA_FIELD_SUM},
};

static const struct ta_field stack_fields[STACK_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [NAME] = {"stack", TA_FIELD_TEXT},
    [WEIGHT] = {"weight_ns", TA_FIELD_SUM},
    [SAMPLES] = {"samples", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"operators", op_fields, OP_FIELDS},
                                                 {"stacks", stack_fields, STACK_FIELDS},
                                                 {"totals", totals_fields, TOTALS_FIELDS},
                                                 {0}};

static const struct ta_bound bounds[] = {{0, KIND, KINDS}, TA_BOUNDS_END};

enum {
    OP_RANK,
    OP_NAME,
    OP_KIND,
    OP_CALLS,
    OP_SELF_DEVICE,
    OP_DEVICE_SHARE,
    OP_DEVICE,
    OP_SELF_HOST,
    OP_HOST_SHARE,
    OP_HOST,
    OP_DEVICE_BYTES,
    OP_HOST_BYTES,
    OP_FLOPS,
    OP_DEVICE_PART
};
static const struct ta_column summed_columns[] = {
    [OP_RANK] = TA_DUMP_RANK_COLUMN,
    [OP_NAME] = {"name", "Name", TA_TEXT, .role = TA_NOTE,
                 .doc = "Name of the operator, kernel, call or range"},
    [OP_KIND] = {"kind", "Kind", TA_WORD,
                 .doc =
                     "Kind of row: operator, call of the runtime, wait (a call that waits for the "
                     "device), kernel, annotation (a range that the program or torch named)"},
    [OP_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of calls"},
    [OP_SELF_DEVICE] = {"self_device_ns", "Self device", TA_NS, .better = TA_LOWER,
                        .doc = "For an operator, time of the kernels that it launched itself, "
                               "without operators that it called; for a kernel, its own time"},
    [OP_DEVICE_SHARE] =
        {"device_share", "Device share", TA_RATIO, .better = TA_LOWER,
         .doc = "Self device time divided by the rank's device time. A kernel's time is also part "
                "of its operator's, so shares of both kinds do not add up"},
    [OP_DEVICE] = {"device_ns", "Device", TA_NS, .better = TA_LOWER,
                   .doc = "Device time including operators that it called; nested operators count "
                          "twice in a sum"},
    [OP_SELF_HOST] = {"self_cpu_ns", "Self host", TA_NS, .better = TA_LOWER,
                      .doc = "Host time without operators that it called"},
    [OP_HOST_SHARE] = {"host_share", "Host share", TA_RATIO, .better = TA_LOWER,
                       .doc = "Self host time divided by the rank's host time"},
    [OP_HOST] = {"cpu_ns", "Host", TA_NS, .better = TA_LOWER,
                 .doc = "Host time including operators that it called"},
    [OP_DEVICE_BYTES] =
        {"self_device_bytes", "Device memory", TA_BYTES, .better = TA_LOWER,
         .doc = "Bytes of device memory that its calls allocated, less what they freed"},
    [OP_HOST_BYTES] = {"self_cpu_bytes", "Host memory", TA_BYTES, .better = TA_LOWER,
                       .doc =
                           "Bytes of host memory that its calls allocated, less what they freed"},
    [OP_FLOPS] = {"flops", "FLOPs", TA_COUNT,
                  .doc =
                      "Floating-point operations of all calls, as torch computes them from shapes"},
    [OP_DEVICE_PART] = {"device_part_ns", "Part of device time", TA_NS, .better = TA_LOWER,
                        .doc = "Self device time of the rows that add up without double counting: "
                               "kernels, or operators if kernels are not listed"},
};

static const struct ta_chart_def device_chart = {
    .id = "operator-sums-pareto",
    .title = "Device time by kernel or operator",
    .caption =
        "Device self time as the profiler's own table lists it, by kernel, or by operator where "
        "kernels are not listed; percentages are cumulative, of the device time of all ranks.",
    .kind = TA_CHART_PARETO,
    .label = {&summed_columns[OP_NAME]},
    .y = {{&summed_columns[OP_DEVICE_PART], "Self device time", TA_INK_COMPUTE}},
    .top = 20,
};

static const struct ta_chart_def host_chart = {
    .id = "operator-sums-pareto",
    .title = "Operators by host time",
    .caption = "Host self time as the profiler's own table lists it; percentages are cumulative, "
               "of the host time of all ranks.",
    .kind = TA_CHART_PARETO,
    .label = {&summed_columns[OP_NAME]},
    .y = {{&summed_columns[OP_SELF_HOST], "Self host time", TA_INK_COMPUTE}},
    .top = 20,
};

static const struct ta_table_def summed = {
    "ops.summed", "Operators as summed by the profiler", TA_COLUMNS(summed_columns),
    .doc =
        "One row per rank, name and kind of the operator tables that torch prints and exports. "
        "They are kept apart from `ops.by_name`, which is made from single events. Chart "
        "`operator-sums-pareto`.\n\ntorch lists host and device in one table, so the time of a "
        "kernel appears several times: as its own, in the self time of the operator that launched "
        "it, in the total of each operator and range around that one, and, if ranges are recorded "
        "on the device too, as theirs. Only kernels add up to \"Self CUDA time total\". A row "
        "without host time is a kernel, unless it is an annotation: if torch names ranges that way "
        "(`ProfilerStep*`, `## Call CompiledFxGraph …`), if the host has a range of that name that "
        "launches nothing itself, if kernels would otherwise add up to more than the total below "
        "the table, or if, in a truncated table, one call of it takes more than ten times as long "
        "as one of any kernel. Names that only kernels have (signatures, `…gemm…`, `triton_…`) "
        "make a row a kernel unless the first of these conditions holds. An annotation on both "
        "host and device is one row. Tables of one text with equal totals are one recording, "
        "printed in several orders. Self device time is empty for an annotation on the device. "
        "Shares are of the rank's device and host time in `ops.totals`.",
    .brief = &(const struct ta_brief){.place = 250,
                                      .rows = 8,
                                      .never = {&summed_columns[OP_DEVICE_PART]},
                                      .unless = "ops.by_name"}};
enum { STACK_RANK, STACK_STACK, STACK_TOTAL, STACK_SAMPLES };
static const struct ta_column stacks_folded_columns[] = {
    [STACK_RANK] = TA_DUMP_RANK_COLUMN,
    [STACK_STACK] = {"stack", "Stack", TA_TEXT,
                     .doc = "Call stack, outermost first, separated by semicolons"},
    [STACK_TOTAL] = {"total_ns", "Self time", TA_NS, .better = TA_LOWER,
                     .doc = "Self time of the innermost frame; empty if only samples were counted"},
    [STACK_SAMPLES] = {"samples", "Samples", TA_COUNT,
                       .doc = "Samples with this stack; empty if the stack has a time instead"},
};

static const struct ta_table_def stacks_folded = {
    "stacks.folded",
    "Call stacks",
    TA_COLUMNS(stacks_folded_columns),
    .doc = "One row per rank and folded call stack.",
    .not_of_ranks = true,
    .brief = &(const struct ta_brief){
        .place = 410, .rows = 8, .largest = &stacks_folded_columns[STACK_TOTAL], .alone = true}};

/* ---- map ------------------------------------------------------------------------------------ */

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    size_t n, at = 0;
    struct recording recording;
    const struct ta_operator_sum *ops = ta_trace_operator_sum_rows(trace, &n);
    while (recording_next(trace, ops, n, &at, &recording)) {
        unsigned char *kinds = malloc(recording.n + 1);
        const bool done = kinds && recording_kinds(&recording, kinds);
        for (size_t i = 0; done && i < recording.n; i++)
            if (kinds[i] != KIND_TWIN) {
                /* A range of the device has no time of its own: kernels have it. */
                const struct ta_operator_sum *op = &recording.rows[i];
                const enum kind kind = (enum kind)kinds[i];
                const bool repeats = kind == KIND_ANNOTATION && op->self_device_ns > 0;
                int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(recording.trace, op->rank),
                                              ta_key_text(ta_trace_text(recording.trace, op->name)),
                                              ta_key_int(kind));
                ta_sum(&row[CALLS], op->calls);
                ta_sum(&row[SELF_CPU], op->self_cpu_ns);
                ta_sum(&row[CPU], op->cpu_ns);
                ta_sum(&row[SELF_DEVICE], repeats ? TA_MISSING : op->self_device_ns);
                ta_sum(&row[DEVICE], op->device_ns);
                ta_sum(&row[CPU_BYTES], op->self_cpu_bytes);
                ta_sum(&row[DEVICE_BYTES], op->self_device_bytes);
                ta_sum(&row[FLOPS], op->flops);
            }
        if (done)
            totals_map(out[2], &recording, kinds);
        free(kinds);
        if (!done)
            return ta_fail(ctx, TA_ERR_NOMEM, "Cannot tell operators from kernels");
    }
    const struct ta_stack_weight *stacks = ta_trace_stack_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[1], ta_row_rank(trace, stacks[i].rank),
                                      ta_key_text(ta_trace_text(trace, stacks[i].stack)));
        ta_sum(&row[WEIGHT], stacks[i].weight_ns);
        ta_sum(&row[SAMPLES], stacks[i].samples);
    }
    return TA_OK;
}

/* ---- finish --------------------------------------------------------------------------------- */

static struct ta_cell share_of(int64_t ns, int64_t all_ns)
{
    return ns < 0 || all_ns <= 0 ? ta_null() : ta_num((double)ns / (double)all_ns);
}

/* Whether the time of this row is counted once when all rows are added. */
static bool counts(const int64_t *row, const struct totals *of_rank)
{
    return row[SELF_DEVICE] > 0 && row[KIND] != KIND_ANNOTATION &&
           (row[KIND] == KIND_KERNEL) == of_rank->by_kernels;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)in;
    struct all_totals totals;
    if (!totals_find(merged[2], &totals))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot add the time of the operators up");
    const struct ta_partial *operators = merged[0];
    bool on_device = false;
    for (size_t i = 0; i < ta_partial_rows(operators); i++) {
        const int64_t *row = ta_partial_at(operators, i);
        const struct totals *of_rank = totals_of(&totals, row[RANK]);
        on_device |= row[SELF_DEVICE] > 0;
        TA_ROW(out, summed, [OP_RANK] = ta_int(row[RANK]),
               [OP_NAME] = ta_text(ta_partial_text(operators, row, NAME)),
               [OP_KIND] = ta_text(ta_slice_of(kind_word((enum kind)row[KIND]))),
               [OP_CALLS] = row[CALLS] < 0 ? ta_null() : ta_int(row[CALLS]),
               [OP_SELF_DEVICE] = ta_int(row[SELF_DEVICE]),
               [OP_DEVICE_SHARE] = share_of(row[SELF_DEVICE], of_rank->device_ns),
               [OP_DEVICE] = ta_int(row[DEVICE]), [OP_SELF_HOST] = ta_int(row[SELF_CPU]),
               [OP_HOST_SHARE] = share_of(row[SELF_CPU], of_rank->host_ns),
               [OP_HOST] = ta_int(row[CPU]), [OP_DEVICE_BYTES] = ta_int(row[DEVICE_BYTES]),
               [OP_HOST_BYTES] = ta_int(row[CPU_BYTES]), [OP_FLOPS] = ta_int(row[FLOPS]),
               [OP_DEVICE_PART] = counts(row, of_rank) ? ta_int(row[SELF_DEVICE]) : ta_null());
    }
    ta_order_rows(out, &summed, &summed_columns[on_device ? OP_SELF_DEVICE : OP_SELF_HOST],
                  TA_DESCENDING);
    struct ta_chart_def chart = on_device ? device_chart : host_chart;
    for (size_t i = 0; i < totals.n; i++)
        chart.whole = ta_add_sat(
            chart.whole, ta_max_i64(0, on_device ? totals.at[i].device_ns : totals.at[i].host_ns));
    ta_draw(out, &summed, &chart);
    totals_add(&totals, out);
    totals_free(&totals);
    bool timed = false;
    for (size_t i = 0; i < ta_partial_rows(merged[1]); i++) {
        const int64_t *row = ta_partial_at(merged[1], i);
        timed |= row[WEIGHT] >= 0;
        TA_ROW(out, stacks_folded, [STACK_RANK] = ta_int(row[RANK]),
               [STACK_STACK] = ta_text(ta_partial_text(merged[1], row, NAME)),
               [STACK_TOTAL] = ta_int(row[WEIGHT]), [STACK_SAMPLES] = ta_int(row[SAMPLES]));
    }
    ta_order_rows(out, &stacks_folded, &stacks_folded_columns[timed ? STACK_TOTAL : STACK_SAMPLES],
                  TA_DESCENDING);
    return TA_OK;
}

/* Their tables come first in the section. */
static const struct ta_table_def *const tables[] = {&summed, &operator_totals, &stacks_folded,
                                                    NULL};

static const struct ta_analysis_ops ops = {.section = "operators",
                                           .place = 1,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .bounds = bounds,
                                           .tables = tables};

TA_PLUGIN(analysis, operator_sums, &ops, .title = "Operators",
          .summary = "Operators and call stacks as the profiler sums them up, and whether the "
                     "device or the host limits the run: ops.summed, ops.totals, stacks.folded",
          .version = "3");
