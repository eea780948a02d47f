/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs that are compared, as the parts of a comparison of world sizes see them. */
#ifndef TA_SCALING_RUNS_H
#define TA_SCALING_RUNS_H

#include "compare/scaling/scaling.h"
#include "plugin/builtin.h"
#include "stat/fit.h"
#include "traceanalyze/base.h"

/* What all runs are measured by: the first that all of them have. */
enum scaling_basis {
    SCALING_FRAMES, /* frames per second of the recorded blocks */
    SCALING_STEPS,  /* median time of a step */
    SCALING_TIME,   /* time of the run */
    SCALING_BASES
};

/* Durations of a run in time order, and the figure computed from them. */
struct scaling_series {
    double *at; /* ns */
    size_t n;
    double time; /* ns: the mean of blocks, the median of steps, the run; NaN when not recorded */
};

struct scaling_run {
    const struct ta_report *report;
    const char *title;
    int64_t world, ranks;
    struct scaling_series series[SCALING_BASES];
    double fps;    /* of all ranks; NaN when not recorded */
    double flop;   /* of a step, of all ranks; NaN when not known of all */
    double joules; /* of all devices; NaN when not recorded */
    double frames; /* recorded, of all ranks; NaN */
    double size;   /* ranks relative to the base */
    double work;   /* in a step, or the run, relative to the base */
    struct ta_estimate speedup;
    bool is_pareto; /* no other run is as fast for less, nor faster for as little */
};

struct scaling {
    struct ta_ctx *ctx;
    const struct ta_registry *registry;
    struct ta_arena arena;
    struct scaling_run *runs; /* by world size, then in the order given */
    size_t n, sizes;          /* sizes: different ones */
    enum scaling_basis basis;
    enum ta_scaling_kind kind;
    const char *work; /* where `work` comes from, a word */
    double *x, *y;    /* size and speed-up of each run */
    struct ta_amdahl amdahl;
    struct ta_usl usl;
    struct ta_report *out;
};

/* Reads what a report says of its run; false without memory. */
bool scaling_read(struct scaling *scaling, const struct ta_report *report,
                  struct scaling_run *run) TA_MUST_CHECK;

/* What a unit of work costs in ns of waiting for it. */
double scaling_latency(const struct scaling *scaling, const struct scaling_run *run);

/* Chooses the basis and finds work, speed-ups with their intervals, and which runs are worth their
 * cost; false without memory. */
bool scaling_compare(struct scaling *scaling) TA_MUST_CHECK;

/* Fits both laws; false without memory. */
bool scaling_fit(struct scaling *scaling) TA_MUST_CHECK;

/* The tables that are made. */
extern const struct ta_table_def scaling_run_table, scaling_curve, scaling_fits;
extern const struct ta_table_def scaling_factor_table;

/* Table scaling.factors: which factors of the parallel efficiency change from run to run. */
void scaling_add_factors(struct scaling *scaling, struct ta_section_builder *out);

/* Tables scaling.runs; scaling.fits and scaling.curve with the chart. */
void scaling_add_runs(struct scaling *scaling, struct ta_section_builder *out);
void scaling_add_laws(struct scaling *scaling, struct ta_section_builder *out);

#endif
