/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is counted in each trace, and the checks that are made of it. */
#ifndef HEALTH_HEALTH_H
#define HEALTH_HEALTH_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

/* Fields of the partial. */
enum {
    HEALTH_RANK,
    HEALTH_ACTIVITIES,
    HEALTH_LINKED,
    HEALTH_EARLY, /* activities that begin before the call that launched them */
    HEALTH_SHIFT, /* the largest such difference */
    HEALTH_CALLS, /* calls that launch a kernel */
    HEALTH_LOST,  /* those whose kernel was not recorded, behind the first whose kernel was */
    HEALTH_HEAD,  /* such calls before that one */
    HEALTH_OVERHEAD,
    HEALTH_SPAN,   /* first to last host span */
    HEALTH_OPENED, /* spans of the host */
    HEALTH_GRAIN,  /* divides all times looked at */
    HEALTH_FAR,    /* spans that begin more than an hour from the median start */
    HEALTH_PAIRS,  /* numbered operators that follow each other on a thread */
    HEALTH_LEAPS,  /* those between which numbers are missing */
    HEALTH_DEVICE, /* spans of the host on tracks that are named for a device; the last field */
    HEALTH_FIELDS
};

/* Fields of the partial of kernels: the rank, and how many kernels of each class of names. */
enum { HEALTH_NAMES_RANK, HEALTH_NAMES = 64, HEALTH_NAMES_FIELDS };

/* With fewer records of a kind there is little to tell from. */
enum { HEALTH_FEW = 30 };

/* What is looked at, in the order of the table. */
enum health_check {
    CHECK_DROPPED,
    CHECK_CUT_SHORT,
    CHECK_TIMES,
    CHECK_FAR,
    CHECK_FOREIGN,
    CHECK_LINKED,
    CHECK_EARLY,
    CHECK_LEAD,
    CHECK_LOST,
    CHECK_HEAD,
    CHECK_THINNED,
    CHECK_ACTIVITIES,
    CHECK_HOLES,
    CHECK_OVERHEAD,
    CHECK_CROSSED,
    CHECK_RANKS,
    CHECK_FEWEST,
    CHECK_ALIKE,
    CHECK_GRAIN,
    HEALTH_CHECKS
};

/* Adds a row for each check that has a value, and returns what all leave of the trust. */
double health_add_checks(struct ta_section_builder *out, const double values[HEALTH_CHECKS]);

enum ta_status health_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out);

/* Counts the kernels of a trace by their names; false without memory. */
bool health_count_names(const struct ta_trace *trace, struct ta_partial *out);

extern const struct ta_table_def health_checks, health_kernels;

/* Adds health.kernels, and says how like the rank is to its nearest that is least so; NAN with
 * fewer than two ranks.  False without memory. */
bool health_compare_names(const struct ta_partial *names, struct ta_section_builder *out,
                          double *least);

#endif
