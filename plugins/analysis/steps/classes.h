/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sets a step apart from others: its part in the run, what a step cache leaves of it, and a
 * time far above the others. */
#ifndef TA_STEPS_CLASSES_H
#define TA_STEPS_CLASSES_H

#include <traceanalyze/analysis.h>

#include "ranks/steps.h"

enum step_class {
    STEP_REGULAR, /* as all others, as far as is known */
    STEP_FULL,
    STEP_PARTIAL,
    STEP_CACHED,
    STEP_SET_UP,
    STEP_OUTLIER,
    STEP_CLASSES
};

/* "regular", "full", "partial", "cached", "set-up", "outlier". */
extern const char *const step_class_words[STEP_CLASSES];

/* How a chart shows them. */
extern const struct ta_kind step_class_kinds[];

/* Columns of caches.steps, from place `first` of what the analysis reads. */
enum { CACHED_RANK, CACHED_NAME, CACHED_PASS, CACHED_CLASS, CACHED_READS };

/* The class of each step, by their times, NaN of a step that does not count; `classes` has room for
 * all.  Returns how many classes there are, 0 without memory. */
size_t step_classes_find(const struct ta_refs *in, size_t first, const bool *sets_up,
                         const double *times, enum step_class *classes);

#endif
