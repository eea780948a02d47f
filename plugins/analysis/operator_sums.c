/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.summed and stacks.folded: operators and call stacks as torch's own tables sum them up. */
#include <traceanalyze/analysis.h>
#include <traceanalyze/rows.h>

enum { RANK, NAME };
enum { CALLS = 2, SELF_CPU, CPU, SELF_DEVICE, DEVICE, CPU_BYTES, DEVICE_BYTES, OP_FIELDS };
enum { WEIGHT = 2, STACK_FIELDS };

static const struct ta_field op_fields[OP_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [NAME] = {"name", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},
    [SELF_CPU] = {"self_cpu_ns", TA_FIELD_SUM},
    [CPU] = {"cpu_ns", TA_FIELD_SUM},
    [SELF_DEVICE] = {"self_device_ns", TA_FIELD_SUM},
    [DEVICE] = {"device_ns", TA_FIELD_SUM},
    [CPU_BYTES] = {"self_cpu_bytes", TA_FIELD_SUM},
    [DEVICE_BYTES] = {"self_device_bytes", TA_FIELD_SUM},
};

static const struct ta_field stack_fields[STACK_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [NAME] = {"stack", TA_FIELD_TEXT},
    [WEIGHT] = {"weight_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    {"operators", op_fields, OP_FIELDS}, {"stacks", stack_fields, STACK_FIELDS}, {0}};

static const struct ta_column op_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"name", "Name", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, "Name of the operator"},
    {"calls", "Calls", TA_TYPE_INTEGER, TA_UNIT_COUNT, TA_NEUTRAL, "Number of calls"},
    {"self_device_ns", "Self device", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Time on the device, without the operators that it called"},
    {"device_ns", "Device", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Time on the device, with the operators that it called: nested ones count twice in a sum"},
    {"self_cpu_ns", "Self host", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Time on the host, without the operators that it called"},
    {"cpu_ns", "Host", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Time on the host, with the operators that it called"},
    {"self_device_bytes", "Device memory", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER,
     "Memory of the device that its calls took, less what they gave back"},
    {"self_cpu_bytes", "Host memory", TA_TYPE_INTEGER, TA_UNIT_BYTES, TA_LOWER,
     "Memory of the host that its calls took, less what they gave back"},
};

static const struct ta_column stack_columns[] = {
    TA_DUMP_RANK_COLUMN,
    {"stack", "Stack", TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL,
     "Call stack, outermost first, separated by semicolons"},
    {"total_ns", "Self time", TA_TYPE_INTEGER, TA_UNIT_NS, TA_LOWER,
     "Self time of the innermost frame"},
};

static const struct ta_chart device_chart = {
    .id = "operator-sums-pareto",
    .title = "Operators by device time",
    .caption = "Self time on the device as the profiler's own table has it; the percentage is "
               "cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {"name", "rank"},
    .y = {{"self_device_ns", "Self device time", TA_INK_COMPUTE}},
    .top = 20,
};

static const struct ta_chart host_chart = {
    .id = "operator-sums-pareto",
    .title = "Operators by host time",
    .caption = "Self time on the host as the profiler's own table has it; the percentage is "
               "cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {"name", "rank"},
    .y = {{"self_cpu_ns", "Self host time", TA_INK_COMPUTE}},
    .top = 20,
};

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    size_t n;
    const struct ta_operator_sum *ops = ta_trace_operator_sum_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(out[0], ta_row_rank(trace, ops[i].rank),
                                      ta_key_text(ta_trace_text(trace, ops[i].name)));
        ta_sum(&row[CALLS], ops[i].calls);
        ta_sum(&row[SELF_CPU], ops[i].self_cpu_ns);
        ta_sum(&row[CPU], ops[i].cpu_ns);
        ta_sum(&row[SELF_DEVICE], ops[i].self_device_ns);
        ta_sum(&row[DEVICE], ops[i].device_ns);
        ta_sum(&row[CPU_BYTES], ops[i].self_cpu_bytes);
        ta_sum(&row[DEVICE_BYTES], ops[i].self_device_bytes);
    }
    const struct ta_stack_weight *stacks = ta_trace_stack_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        ta_sum(&TA_PARTIAL_ROW(out[1], ta_row_rank(trace, stacks[i].rank),
                               ta_key_text(ta_trace_text(trace, stacks[i].stack)))[WEIGHT],
               stacks[i].weight_ns);
    return TA_OK;
}

static void add_ops(struct ta_section_builder *out, const struct ta_partial *operators)
{
    struct ta_table_builder *table =
        ta_add_table(out, "ops.summed", "Operators as the profiler sums them up", op_columns, 9);
    bool on_device = false;
    for (size_t i = 0; i < ta_partial_rows(operators); i++) {
        const int64_t *row = ta_partial_at(operators, i);
        on_device |= row[SELF_DEVICE] > 0;
        TA_ROW(table, ta_int(row[RANK]), ta_text(ta_partial_text(operators, row, NAME)),
               row[CALLS] < 0 ? ta_null() : ta_int(row[CALLS]), ta_int(row[SELF_DEVICE]),
               ta_int(row[DEVICE]), ta_int(row[SELF_CPU]), ta_int(row[CPU]),
               ta_int(row[DEVICE_BYTES]), ta_int(row[CPU_BYTES]));
    }
    ta_sort_rows(table, on_device ? "self_device_ns" : "self_cpu_ns", true);
    ta_add_chart(table, on_device ? &device_chart : &host_chart);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    add_ops(out, merged[0]);
    struct ta_table_builder *stacks =
        ta_add_table(out, "stacks.folded", "Call stacks", stack_columns, 3);
    for (size_t i = 0; i < ta_partial_rows(merged[1]); i++) {
        const int64_t *row = ta_partial_at(merged[1], i);
        TA_ROW(stacks, ta_int(row[RANK]), ta_text(ta_partial_text(merged[1], row, NAME)),
               ta_int(row[WEIGHT]));
    }
    ta_sort_rows(stacks, "total_ns", true);
    return TA_OK;
}

/* Their tables come first in the section. */
static const char *const behind[] = {"ops_by_name", "ops_device_time", NULL};

static const struct ta_analysis_ops ops = {
    .behind = behind, .section = "operators", .partials = partials, .map = map, .finish = finish};

TA_PLUGIN(analysis, operator_sums, &ops, .title = "Operators",
          .summary = "Operators and call stacks as the profiler sums them up: ops.summed, "
                     "stacks.folded",
          .version = "1");
