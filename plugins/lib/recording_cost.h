/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a profiler takes of the host for what it records.
 *
 * It takes its time within the program that it records: for each operator, each call of the
 * runtime, and far more where it also walks Python stacks, writes down shapes, or follows memory.
 * How much is in no trace, so it is estimated from how many spans of each kind there are and what
 * one costs, as measured on two hosts: torch 2.11 with an H200, and torch 2.9 with an MI300X, where
 * Python stacks cost 0.85 and 2 µs a call.  Half and twice the estimate are its bounds. */
#ifndef TA_LIB_RECORDING_COST_H
#define TA_LIB_RECORDING_COST_H

#include <traceanalyze/model.h>

enum ta_recorded_part {
    TA_RECORDED_STACKS,
    TA_RECORDED_SHAPES,
    TA_RECORDED_MEMORY,
    TA_RECORDED_SPANS,
    TA_RECORDED_CALLS,
    TA_RECORDED_PARTS
};

/* ns for one of them, and whether it is an option of the profiler. */
struct ta_recorded_part_info {
    const char *name, *what;
    double ns;
    bool is_option;
};
extern const struct ta_recorded_part_info ta_recorded_parts[TA_RECORDED_PARTS];

/* At least, as estimated, at most. */
enum { TA_COST_LEAST, TA_COST_ESTIMATE, TA_COST_MOST, TA_COST_BOUNDS };
extern const double ta_cost_factors[TA_COST_BOUNDS];

/* How many of each there are; whether shapes were recorded is seen where an analysis names "Input
 * Dims" among its arguments.  False without memory. */
TA_MUST_CHECK bool ta_recorded_counts(const struct ta_trace *trace,
                                      int64_t counts[TA_RECORDED_PARTS]);

/* Whether an option was on, without which the profiler records, too. */
bool ta_recorded_options(const int64_t counts[TA_RECORDED_PARTS]);

/* What one span of each category costs, in ns, to be freed; shapes and memory are recorded with
 * operators.  NULL without memory. */
double *ta_recorded_costs(const struct ta_trace *trace, const int64_t counts[TA_RECORDED_PARTS]);

#endif
