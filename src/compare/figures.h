/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of a run: what runs are compared by, and what a gate can be set on. */
#ifndef TA_COMPARE_FIGURES_H
#define TA_COMPARE_FIGURES_H

#include "plugin/registry.h"
#include "traceanalyze/base.h"
#include "traceanalyze/report.h"

/* Durations from which a figure is computed, in time order: `ranks` values for each of `n`
 * steps. */
struct ta_durations {
    const double *at; /* step after step; NaN where a rank has no such step */
    size_t n, ranks;
    /* The steps that set the run up are none of these, where the report says which those are. */
    bool says_set_up;
    const double *set_up; /* of all ranks */
    size_t n_set_up;
    int64_t set_up_steps; /* whatever the number of ranks, */
    double set_up_ns;     /* each as long as the rank took that was longest at it */
};

struct ta_run_figure {
    const char *id, *title;
    double value;
    enum ta_unit unit;
    enum ta_polarity polarity;
    bool is_key;   /* it measures how long the run takes: what "regression" is about */
    bool of_steps; /* of the steps that a program marks */
    const struct ta_durations *series; /* of what `value` is the median, or NULL */
};

/* The id of the time of the run. */
#define TA_RUN_TIME "run_time"
/* And of how often code was compiled again. */
#define TA_RECOMPILATIONS "recompilations"

struct ta_run_figures {
    struct ta_run_figure *at;
    size_t n;
};

/* All figures of a report, each id once, those that tell how long the run takes first: the time of
 * the run, the figures that tables declare (struct ta_figures), every scalar.  Texts and series
 * live as long as the arena and the report.  False without memory. */
bool ta_run_figures_read(struct ta_arena *arena, const struct ta_registry *registry,
                         const struct ta_report *report,
                         struct ta_run_figures *figures) TA_MUST_CHECK;

/* The ids of the figures that every run may have, whatever its analyses: its time, and durations of
 * steps and blocks. */
const char *const *ta_run_figure_names(size_t *n);

/* The figure with this id, or NULL. */
const struct ta_run_figure *ta_run_figures_find(const struct ta_run_figures *figures,
                                                const char *id);

#endif
