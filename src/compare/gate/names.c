/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates on names: operators, kernels, stages and copies whose name fits a pattern. */
#include "compare/gate/judge.h"

#include "plugin/builtin.h"

#include <math.h>

/* What a gate reads of a list of names of a comparison: references from the first of a list on. */
enum {
    DIFF_NAME,
    DIFF_MATCHED_AS,
    DIFF_BASE_CALLS,
    DIFF_NEW_CALLS,
    DIFF_BASE_TOTAL,
    DIFF_NEW_TOTAL,
    DIFF_CI_LOW,
    DIFF_CI_HIGH,
    DIFF_Q_VALUE,
    DIFF_COLUMNS
};

#define DIFF_READ(first, id)                                                                       \
    [(first) + DIFF_NAME] = {id, "name"}, [(first) + DIFF_MATCHED_AS] = {id, "matched_as"},        \
               [(first) + DIFF_BASE_CALLS] = {id, "base_calls"},                                   \
               [(first) + DIFF_NEW_CALLS] = {id, "new_calls"},                                     \
               [(first) + DIFF_BASE_TOTAL] = {id, "base_total_ns"},                                \
               [(first) + DIFF_NEW_TOTAL] = {id, "new_total_ns"},                                  \
               [(first) + DIFF_CI_LOW] = {id, "ci_low"},                                           \
               [(first) + DIFF_CI_HIGH] = {id, "ci_high"},                                         \
               [(first) + DIFF_Q_VALUE] = {id, "q_value"}

enum {
    DIFF_OPS,
    DIFF_KERNELS = DIFF_OPS + DIFF_COLUMNS,
    DIFF_STAGES = DIFF_KERNELS + DIFF_COLUMNS,
    DIFF_COPIES = DIFF_STAGES + DIFF_COLUMNS
};

static const struct ta_ref reads[] = {
    DIFF_READ(DIFF_OPS, "diff.ops"),
    DIFF_READ(DIFF_KERNELS, "diff.kernels"),
    DIFF_READ(DIFF_STAGES, "diff.stages"),
    DIFF_READ(DIFF_COPIES, "diff.copies"),
};

const struct ta_part ta_gate_names_part = {"names of gates", NULL, TA_READS(reads)};

/* Where names are listed: in a comparison, and in a report on one run. */
static const struct source {
    const char *kind;
    size_t diff; /* first of the references to the table of a comparison */
    enum ta_reading name, calls, total, class;
    const char *const *classes; /* rows of these alone, ends with NULL; NULL is all */
} sources[] = {
    {"op", DIFF_OPS, TA_AS_OP, TA_AS_OP_CALLS, TA_AS_OP_TIME, TA_AS_NOTHING, NULL},
    {"kernel", DIFF_KERNELS, TA_AS_KERNEL, TA_AS_KERNEL_CALLS, TA_AS_KERNEL_TIME, TA_AS_NOTHING,
     NULL},
    {"stage", DIFF_STAGES, TA_AS_STAGE, TA_AS_STAGE_CALLS, TA_AS_STAGE_TIME, TA_AS_NOTHING, NULL},
    {"copy", DIFF_COPIES, TA_AS_ACTIVITY, TA_AS_ACTIVITY_CALLS, TA_AS_ACTIVITY_TIME,
     TA_AS_ACTIVITY_CLASS, (const char *const[]){"memcpy", "memset", NULL}},
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
static double figure_of(const struct ta_gate *gate, const struct ta_refs *in, size_t row,
                        size_t calls, size_t total)
{
    const double n = ta_ref_number(in, calls, row, (double)NAN);
    const double sum = ta_ref_number(in, total, row, (double)NAN);
    if (is_calls(gate))
        return n;
    return ta_slice_equal(gate->metric, TA_LIT("mean")) ? (n > 0 ? sum / n : (double)NAN) : sum;
}

/* ---- a comparison --------------------------------------------------------------------------- */

static bool fits(const struct ta_gate *gate, const struct ta_refs *in, size_t first, size_t row)
{
    const struct ta_slice other = ta_ref_text(in, first + DIFF_MATCHED_AS, row);
    return ta_gate_fits(gate->pattern, ta_ref_text(in, first + DIFF_NAME, row)) ||
           (other.len && ta_gate_fits(gate->pattern, other));
}

/* The interval is of totals; it holds for means, too, as long as there are as many calls. */
static struct gate_change change_of(const struct ta_gate *gate, const struct ta_refs *in,
                                    size_t first, size_t row)
{
    const double none = (double)NAN;
    const double low = ta_ref_number(in, first + DIFF_CI_LOW, row, none);
    const double high = ta_ref_number(in, first + DIFF_CI_HIGH, row, none);
    const bool same_calls = ta_ref_number(in, first + DIFF_BASE_CALLS, row, -1) ==
                            ta_ref_number(in, first + DIFF_NEW_CALLS, row, -2);
    const bool has_interval =
        !isnan(low) && (ta_slice_equal(gate->metric, TA_LIT("total")) || same_calls);
    struct gate_change change = {
        .base = figure_of(gate, in, row, first + DIFF_BASE_CALLS, first + DIFF_BASE_TOTAL),
        .new = figure_of(gate, in, row, first + DIFF_NEW_CALLS, first + DIFF_NEW_TOTAL),
        .unit = is_calls(gate) ? TA_UNIT_COUNT : TA_UNIT_NS,
        .is_exact = is_calls(gate),
        .evidence = {.basis = TA_BASIS_NONE, .ratio = {none, none, none}, .q = none},
    };
    if (has_interval)
        change.evidence = (struct ta_evidence_of_change){
            .basis = TA_BASIS_RUNS,
            .ratio = {sqrt(low * high), low, high},
            .q = ta_ref_number(in, first + DIFF_Q_VALUE, row, none),
        };
    return change;
}

static enum ta_status judge_diff(const struct gate_job *job, const struct ta_gate *gate,
                                 const struct ta_refs *in, size_t first, struct verdict *verdict)
{
    for (size_t i = 0; i < ta_ref_rows(in, first); i++) {
        if (!fits(gate, in, first, i))
            continue;
        const struct gate_change change = change_of(gate, in, first, i);
        const bool relative = gate_is_relative(gate, change.unit);
        const enum ta_status status = gate_check_limit(job, gate, change.unit);
        if (status != TA_OK)
            return status;
        if (relative && !(change.base > 0 && change.new > 0))
            continue; /* added or removed: no change of what was there */
        struct verdict one = relative ? gate_judge_change(job, gate, &change)
                                      : gate_judge_value(gate, change.new, change.unit);
        one.what = ta_arena_copy(job->arena, ta_ref_text(in, first + DIFF_NAME, i));
        gate_take_worse(verdict, &one);
    }
    return TA_OK;
}

/* ---- one run -------------------------------------------------------------------------------- */

static bool is_of_class(const struct source *source, const struct ta_refs *in, size_t row)
{
    bool is = !source->classes;
    for (const char *const *c = source->classes; !is && *c; c++)
        is = ta_ref_reads(in, source->class, row, *c);
    return is;
}

static enum ta_status judge_run(const struct gate_job *job, const struct ta_gate *gate,
                                const struct source *source, const struct ta_refs *in,
                                struct verdict *verdict)
{
    const enum ta_unit unit = is_calls(gate) ? TA_UNIT_COUNT : TA_UNIT_NS;
    const enum ta_status status = gate_check_limit(job, gate, unit);
    for (size_t i = 0; status == TA_OK && i < ta_ref_rows(in, source->name); i++) {
        const struct ta_slice name = ta_ref_text(in, source->name, i);
        const double value = figure_of(gate, in, i, source->calls, source->total);
        if (!is_of_class(source, in, i) || !ta_gate_fits(gate->pattern, name) || isnan(value))
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
    struct ta_refs changes, run;
    ta_refs_open(&changes, job->report, reads, TA_LENGTH(reads));
    ta_readings_open(&run, job->registry, job->report);
    const enum ta_status status = ta_ref_table(&changes, source->diff)
                                      ? judge_diff(job, gate, &changes, source->diff, verdict)
                                  : ta_ref_table(&run, source->name)
                                      ? judge_run(job, gate, source, &run, verdict)
                                      : TA_OK;
    if (!verdict->what)
        verdict->reason = "No name fits the pattern";
    return status;
}
