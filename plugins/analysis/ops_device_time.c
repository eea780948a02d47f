/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ops.device_time: what each operator made the devices do. */
#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { NAME, CALLS, KERNELS, TOTAL, BUSY };

static const struct ta_field fields[] = {
    [NAME] = {"name", TA_FIELD_TEXT},          [CALLS] = {"calls", TA_FIELD_SUM},
    [KERNELS] = {"kernels", TA_FIELD_SUM},     [TOTAL] = {"device_total_ns", TA_FIELD_SUM},
    [BUSY] = {"device_busy_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"ops", fields, 5}, {0}};

static const struct ta_column device_time_columns[] = {
    [NAME] = {"name", "Operator", TA_TEXT,
              .doc = "Innermost operator that was open when the work was launched; the runtime "
                     "call if there was none"},
    [CALLS] = {"calls", "Calls", TA_COUNT,
               .doc = "Calls that launched at least one device activity"},
    [KERNELS] = {"kernels", "Kernels", TA_COUNT, .doc = "Kernels launched"},
    [TOTAL] = {"device_total_ns", "Device total", TA_NS, .better = TA_LOWER,
               .doc = "Sum of the launched device activities: work, not wall time"},
    [BUSY] =
        {"device_busy_ns", "Device busy", TA_NS, .better = TA_LOWER,
         .doc = "Time with at least one of its activities running, summed over ranks and devices"},
};

static const struct ta_chart_def chart = {
    .id = "ops-device-pareto",
    .title = "Device time by operator",
    .caption = "Device time by the operator that launched it, summed over all ranks; percentages "
               "are cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {&device_time_columns[NAME]},
    .y = {{&device_time_columns[TOTAL], "Device time", TA_INK_COMPUTE}},
    .top = 20,
};

static const struct ta_table_def device_time = {
    "ops.device_time",
    "Device time by operator",
    TA_COLUMNS(device_time_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per name of the launching operator, all ranks together. Activities that are "
           "not linked to a runtime call are left out; `launches.by_rank` counts them. Chart "
           "`ops-device-pareto`.",
    .chart = {&chart},
    .order = {&device_time_columns[TOTAL], TA_DESCENDING},
    .joining = TA_JOIN_SUMS};

/* What is known of an operator, by its name. */
struct operator_work {
    int64_t *row;    /* NULL before the first */
    uint64_t device; /* number of the device, from 1 on, that `reached` is of */
    int64_t reached; /* end of what it did there so far */
};

/* Activities come ordered by device and start, so the union of one operator's work on a device is
 * what lies beyond the end reached so far. */
static int64_t beyond(struct operator_work *op, uint64_t device, int64_t start, int64_t end)
{
    const int64_t from = op->device == device ? ta_max_i64(start, op->reached) : start;
    if (op->device == device && end <= from)
        return 0;
    op->device = device;
    op->reached = end;
    return end - from;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct operator_work *ops = calloc(ta_trace_string_count(trace) + 1, sizeof *ops);
    uint8_t *seen = calloc(ta_trace_spans(trace).n / 8 + 1, sizeof *seen);
    const bool done = ops && seen;
    if (done) {
        const struct ta_activities activities = ta_trace_activities(trace);
        const struct ta_spans s = ta_trace_spans(trace);
        uint64_t device = 1;
        for (size_t i = 0; i < activities.n; i++) {
            const struct ta_activity *a = &activities.at[i];
            device += i > 0 && a->device != activities.at[i - 1].device;
            if (a->op == TA_NO_ROW)
                continue;
            struct operator_work *op = &ops[s.name[a->op]];
            if (!op->row)
                op->row = TA_PARTIAL_ROW(out[0], ta_key_text(ta_trace_text(trace, s.name[a->op])));
            const int64_t start = s.ts[a->span], ns = s.dur[a->span];
            /* `seen` has a bit per span. */
            const uint8_t bit = (uint8_t)(1U << a->op % 8);
            const bool first = !(seen[a->op / 8] & bit);
            seen[a->op / 8] |= bit;
            ta_sum(&op->row[CALLS], first);
            ta_sum(&op->row[KERNELS], a->kernel != TA_NO_KERNEL);
            ta_sum(&op->row[TOTAL], ns);
            ta_sum(&op->row[BUSY], beyond(op, device, start, start + ns));
        }
    }
    free(ops);
    free(seen);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot index launches");
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *names = merged[0];

    for (size_t i = 0; i < ta_partial_rows(names); i++) {
        const int64_t *row = ta_partial_at(names, i);
        TA_ROW(out, device_time, [NAME] = ta_text(ta_partial_text(names, row, NAME)),
               [CALLS] = ta_int(row[CALLS]), [KERNELS] = ta_int(row[KERNELS]),
               [TOTAL] = ta_int(row[TOTAL]), [BUSY] = ta_int(row[BUSY]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&device_time, NULL};

static const struct ta_analysis_ops ops = {
    .section = "operators", .partials = partials, .map = map, .finish = finish, .tables = tables};

TA_PLUGIN(analysis, ops_device_time, &ops, .title = "Device time by operator",
          .summary = "Device work by launching operator: ops.device_time", .version = "1");
