/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this analysis share: where kernels were launched, and their classes. */
#ifndef TA_KERNELS_BY_PHASE_H
#define TA_KERNELS_BY_PHASE_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/table.h>

/* ---- partials ------------------------------------------------------------------------------ */

enum { STEP_NUMBER, STEP_CLASS, STEP_CALLS, STEP_TOTAL, STEP_FIELDS };
enum { PHASE_OUTER, PHASE_INNER, PHASE_CLASS, PHASE_CALLS, PHASE_TOTAL, PHASE_START, PHASE_FIELDS };

enum { PARTIAL_STEPS, PARTIAL_PHASES };

enum ta_status phase_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                         struct ta_partial *const *out);

/* ---- ranges of the host -------------------------------------------------------------------- */

/* Ranges by start, with the latest end of a range and all before it. */
struct phase_ranges {
    struct phase_range {
        int64_t start, end, latest;
        ta_row span;
    } * at;
    size_t n, max;
    size_t recent; /* how many had started at the time that was asked for last */
    bool failed;
};

void phase_range_add(struct phase_ranges *ranges, const struct ta_spans *spans, ta_row span);

/* Puts them in order, for phase_range_at(). */
void phase_ranges_order(struct phase_ranges *ranges);

/* The range that was opened last of those open at `time`; TA_NO_ROW without one. */
ta_row phase_range_at(struct phase_ranges *ranges, int64_t time);

/* ---- tables -------------------------------------------------------------------------------- */

/* clang-format off */
/* Three columns of both tables, from enumerator `class` on. */
#define PHASE_CLASS_COLUMNS(class) \
    [(class)] = {"class", "Class", TA_TEXT, .doc = "As in Device time by class of kernel"}, \
    [(class) + 1] = {"calls", "Calls", TA_COUNT, .doc = "Number of executions, all ranks"}, \
    [(class) + 2] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, \
                     .doc = "Sum of durations: work, not wall time"}
/* clang-format on */

static inline struct ta_cell phase_class_cell(int64_t kind)
{
    return ta_text(ta_slice_of(ta_kernel_kind_name((enum ta_kernel_kind)kind)));
}

/* kernels.by_phase, and its rows, made from PARTIAL_PHASES; false without memory. */
extern const struct ta_table_def kernels_by_phase;
bool phase_list(const struct ta_partial *rows, struct ta_section_builder *out);

#endif
