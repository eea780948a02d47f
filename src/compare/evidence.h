/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Confidence of a change.
 *
 * What counts is the run: steps of one run depend on each other, and machines differ from run to
 * run by more than steps within a run do. So a verdict needs runs, or what was learned from runs
 * before. */
#ifndef TA_COMPARE_EVIDENCE_H
#define TA_COMPARE_EVIDENCE_H

#include "compare/figures.h"
#include "compare/noise.h"
#include "stat/compare.h"

struct ta_ctx;

/* How a comparison judges. */
struct ta_judging {
    double confidence;            /* of intervals, such as 0.95 */
    double min_effect_ns;         /* times that change by less are the same */
    bool allow_single_run;        /* one run on each side may tell a change */
    const struct ta_noise *noise; /* spreads of runs before, or NULL */
};

/* Changes that are smaller say nothing where there is nothing better to judge by. */
#define TA_DEFAULT_FLOOR 0.02

/* What an interval comes from, the strongest first. */
enum ta_basis {
    TA_BASIS_RUNS,   /* three runs or more on each side */
    TA_BASIS_NOISE,  /* a spread of runs that is known: of the other side, or stored */
    TA_BASIS_WITHIN, /* the steps of one run on each side */
    TA_BASIS_NONE
};

/* "runs", "noise", "within_run", "none"; a constant. */
const char *ta_basis_name(enum ta_basis basis);

/* What runs say about a change; NaN where they are too few. */
struct ta_evidence_of_change {
    enum ta_basis basis;
    struct ta_estimate ratio; /* new : base; for several runs, of their geometric means */
    double p;                 /* the p-value of Welch's test, which the interval goes with */
    double p_rank;            /* exact Mann–Whitney, for four runs or more on each side */
    double q;                 /* p corrected for the number of names */
    double spread;            /* relative deviation between runs */
    double detectable;        /* least true change that would be seen in four of five comparisons */
};

/* Values of a figure, one per run. */
struct ta_values {
    const double *at;
    size_t n;
};

/* Judges by runs; `figure` names what the stored noise is looked up by.  False without memory. */
bool ta_evidence_of_runs(const struct ta_judging *judging, const char *figure,
                         struct ta_values base, struct ta_values new,
                         struct ta_evidence_of_change *evidence) TA_MUST_CHECK;

/* Where there is one run on each side and nothing known of others: an interval from the steps
 * within the runs.  Steps are drawn in blocks of neighbors, all ranks of a step together.  False
 * without memory. */
bool ta_evidence_within_runs(const struct ta_judging *judging, const char *figure,
                             const struct ta_durations *base, const struct ta_durations *new,
                             struct ta_evidence_of_change *evidence) TA_MUST_CHECK;

/* ---- verdicts ------------------------------------------------------------------------------ */

enum ta_change {
    TA_CHANGE_SAME,
    TA_CHANGE_FASTER,
    TA_CHANGE_SLOWER,
    TA_CHANGE_INCONCLUSIVE,
    TA_CHANGE_NEUTRAL,   /* it changed, and neither way is better */
    TA_CHANGE_NEGLIGIBLE /* a time changed, by less than the least effect that counts */
};

/* "same", "faster", "slower", "inconclusive", "changed", "negligible"; a constant. */
const char *ta_change_name(enum ta_change change);

/* Whether the interval leaves no change out, and a time changed by more than the least effect. */
bool ta_change_is_sure(const struct ta_judging *judging, double base, double new, enum ta_unit unit,
                       const struct ta_evidence_of_change *evidence);

/* What became of a figure.  Same: it is equal, or both it and the interval stay within ±2 %.
 * Inconclusive: it may have changed or not. */
enum ta_change ta_judge_change(const struct ta_judging *judging, double base, double new,
                               enum ta_unit unit, enum ta_polarity polarity,
                               const struct ta_evidence_of_change *evidence);

#endif
