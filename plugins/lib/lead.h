/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the worst finding is the first thing that is said of a run. */
#ifndef TA_LIB_LEAD_H
#define TA_LIB_LEAD_H

#include <traceanalyze/headline.h>

/* Whether computing bounds the run; `bound`: its largest parts by run.bound. */
static inline bool ta_run_computes(const struct ta_refs *in, size_t bound, size_t row)
{
    return ta_ref_rows(in, bound) > row &&
           (ta_ref_reads(in, bound, row, "compute") || ta_ref_reads(in, bound, row, "memory"));
}

/* Where something other than computing bounds the run, and the finding is about it; or where the
 * recording does not show what bounds it.  `severe`: a severe one of kernels leads, too. */
static inline bool ta_finding_leads(const struct ta_refs *in, size_t bound,
                                    const struct ta_finding *worst, bool severe)
{
    if (!worst)
        return false;
    if ((worst->about_input && strcmp(worst->rule, "trust") == 0) ||
        (severe && worst->severity >= TA_HIGH))
        return true;
    return worst->severity > TA_INFO && worst->gain == TA_GAIN_RUN && ta_ref_rows(in, bound) > 0 &&
           !ta_run_computes(in, bound, 0);
}

/* Whether the worst finding says what has to be known of a run: it is worth acting on. */
static inline bool ta_finding_suffices(const struct ta_refs *in, size_t bound,
                                       const struct ta_finding *worst)
{
    return worst && (worst->severity >= TA_MEDIUM || ta_finding_leads(in, bound, worst, true));
}

#endif
