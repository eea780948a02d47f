/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates on names: operators, kernels, stages and copies whose name fits a pattern. */
#include "compare/gate/judge.h"

#include <math.h>

/* Where names stand: in a comparison, and in a report on one run. */
static const struct source {
    const char *kind;
    const char *diff;
    const char *run, *name;
    const char *const *classes; /* rows of these alone, ends with NULL; NULL is all */
} sources[] = {
    {"op", "diff.ops", "ops.by_name", "name", NULL},
    {"kernel", "diff.kernels", "kernels.by_name", "name", NULL},
    {"stage", "diff.stages", "stages.by_name", "stage", NULL},
    {"copy", "diff.copies", "gpu_time.by_name", "name",
     (const char *const[]){"memcpy", "memset", NULL}},
};

static const struct source *source_of(const struct ta_gate *gate)
{
    const struct source *source = sources;
    while (!ta_slice_equal(gate->names, ta_slice_of(source->kind)))
        source++;
    return source;
}

static bool is_calls(const struct ta_gate *gate)
{
    return ta_slice_equal(gate->metric, TA_LIT("calls"));
}

/* "total", "mean" or "calls" of a row whose columns are called so. */
static double figure_of(const struct ta_gate *gate, const struct ta_table *table, size_t row,
                        const char *calls, const char *total)
{
    const double n = ta_row_number(table, row, calls, (double)NAN);
    const double sum = ta_row_number(table, row, total, (double)NAN);
    if (is_calls(gate))
        return n;
    return ta_slice_equal(gate->metric, TA_LIT("mean")) ? (n > 0 ? sum / n : (double)NAN) : sum;
}

/* ---- a comparison --------------------------------------------------------------------------- */

static bool fits(const struct ta_gate *gate, const struct ta_table *table, size_t row)
{
    const struct ta_slice other = ta_row_text(table, row, "matched_as");
    return ta_gate_fits(gate->pattern, ta_row_text(table, row, "name")) ||
           (other.len && ta_gate_fits(gate->pattern, other));
}

/* The interval is that of totals; of means, too, as long as there are as many calls. */
static struct gate_change change_of(const struct ta_gate *gate, const struct ta_table *table,
                                    size_t row)
{
    const double none = (double)NAN;
    const double low = ta_row_number(table, row, "ci_low", none);
    const bool same_calls =
        ta_row_number(table, row, "base_calls", -1) == ta_row_number(table, row, "new_calls", -2);
    const bool has_interval =
        !isnan(low) && (ta_slice_equal(gate->metric, TA_LIT("total")) || same_calls);
    struct gate_change change = {
        .base = figure_of(gate, table, row, "base_calls", "base_total_ns"),
        .new = figure_of(gate, table, row, "new_calls", "new_total_ns"),
        .unit = is_calls(gate) ? TA_UNIT_COUNT : TA_UNIT_NS,
        .is_exact = is_calls(gate),
        .evidence = {.basis = TA_BASIS_NONE, .ratio = {none, none, none}, .q = none},
    };
    if (has_interval)
        change.evidence = (struct ta_evidence_of_change){
            .basis = TA_BASIS_RUNS,
            .ratio = {sqrt(low * ta_row_number(table, row, "ci_high", none)), low,
                      ta_row_number(table, row, "ci_high", none)},
            .q = ta_row_number(table, row, "q_value", none),
        };
    return change;
}

static enum ta_status judge_diff(const struct gate_job *job, const struct ta_gate *gate,
                                 const struct ta_table *table, struct verdict *verdict)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        if (!fits(gate, table, i))
            continue;
        const struct gate_change change = change_of(gate, table, i);
        const bool relative = gate_is_relative(gate, change.unit);
        const enum ta_status status = gate_check_limit(job, gate, change.unit);
        if (status != TA_OK)
            return status;
        if (relative && !(change.base > 0 && change.new > 0))
            continue; /* added or removed: no change of what was there */
        struct verdict one = relative ? gate_judge_change(job, gate, &change)
                                      : gate_judge_value(gate, change.new, change.unit);
        one.what = ta_arena_copy(job->arena, ta_row_text(table, i, "name"));
        gate_take_worse(verdict, &one);
    }
    return TA_OK;
}

/* ---- one run -------------------------------------------------------------------------------- */

static bool is_of_class(const struct source *source, const struct ta_table *table, size_t row)
{
    bool is = !source->classes;
    for (const char *const *c = source->classes; !is && *c; c++)
        is = ta_row_reads(table, row, "class", *c);
    return is;
}

static enum ta_status judge_run(const struct gate_job *job, const struct ta_gate *gate,
                                const struct source *source, const struct ta_table *table,
                                struct verdict *verdict)
{
    const enum ta_unit unit = is_calls(gate) ? TA_UNIT_COUNT : TA_UNIT_NS;
    const enum ta_status status = gate_check_limit(job, gate, unit);
    for (size_t i = 0; status == TA_OK && i < table->n_rows; i++) {
        const struct ta_slice name = ta_row_text(table, i, source->name);
        const double value = figure_of(gate, table, i, "calls", "total_ns");
        if (!is_of_class(source, table, i) || !ta_gate_fits(gate->pattern, name) || isnan(value))
            continue;
        struct verdict one = gate_judge_value(gate, value, unit);
        one.what = ta_arena_copy(job->arena, name);
        gate_take_worse(verdict, &one);
    }
    return status;
}

enum ta_status gate_judge_names(const struct gate_job *job, const struct ta_gate *gate,
                                struct verdict *verdict)
{
    const struct source *source = source_of(gate);
    const struct ta_table *diff = ta_report_table(job->report, source->diff);
    const struct ta_table *run = ta_report_table(job->report, source->run);
    const enum ta_status status = diff  ? judge_diff(job, gate, diff, verdict)
                                  : run ? judge_run(job, gate, source, run, verdict)
                                        : TA_OK;
    if (!verdict->what)
        verdict->reason = "No name fits the pattern";
    return status;
}
