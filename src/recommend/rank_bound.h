/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the saving of one rank is to a run of several, which wait for each other in collectives. */
#ifndef TA_RANK_BOUND_H
#define TA_RANK_BOUND_H

#include "traceanalyze/analysis.h"

/* The rank whose time a finding is about, which is the rank of its first evidence, and the most by
 * which the run gets shorter. */
struct ta_rank_bound {
    int64_t rank;     /* TA_MISSING: the finding is about no rank of several */
    double most_ns;   /* INFINITY where nothing says */
    double of_others; /* what the rank that has least of it has, as a share of its: 0…1 */
    bool is_last;     /* it waits least for the others: they wait for it */
    bool failed;      /* out of memory */
};

/* `in`: the readings of the report.  `saved_ns`: what the finding would save its rank. */
struct ta_rank_bound ta_rank_bound(const struct ta_refs *in, const struct ta_report *report,
                                   const struct ta_finding *finding, double saved_ns);

/* Whether a finding is about the rank that others wait for, as such. */
bool ta_is_about_late_rank(const struct ta_refs *in, const struct ta_finding *finding);

#endif
