/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of run.bound by the causes of idle time, so that figures, findings and pictures that name
 * one of them mean the same time. */
#ifndef TA_LIB_IDLE_PARTS_H
#define TA_LIB_IDLE_PARTS_H

#include "lib/edges.h"
#include "model/idle/idle.h"

#include <traceanalyze/analysis.h>

/* The part of a root cause of idle time or, before the first and after the last activity, of a
 * cause: "idle" for one that says nothing. */
static inline const char *ta_idle_part(struct ta_slice cause)
{
    /* Root causes that are no causes. */
    static const struct {
        const char *cause, *part;
    } owners[] = {{"launching", "launch"}, {"value read", "sync"}, {"pageable copy", "sync"}};
    const struct ta_idle_cause_info *known = ta_idle_cause_find(cause);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (ta_slice_equal(cause, ta_slice_of(owners[i].cause)))
            return owners[i].part;
    return known ? known->part : "idle";
}

/* Before the first activity and after the last, host work is not only launching; before it, what
 * runs around computation is part of it where most of that time is one phase (`is_phase`). */
static inline const char *ta_idle_edge_part(struct ta_slice cause, bool is_before, bool is_phase)
{
    const char *part = ta_idle_part(cause);
    if (strcmp(part, "launch") != 0)
        return part;
    if (is_before && is_phase &&
        (ta_slice_equal(cause, TA_LIT("python")) ||
         ta_slice_equal(cause, TA_LIT("operator dispatch"))))
        return "host computation";
    return is_before ? "preparation" : "completion";
}

/* What is read of the time before the first activity and after the last; columns of
 * gpu_idle.edges. */
struct ta_idle_edges {
    size_t edge, cause, time;
};

/* Whether the time before the first activity is one phase of computation, of a rank's device or,
 * where the rank is TA_MISSING, of all together. */
static inline bool ta_idle_is_phase(const struct ta_refs *in, const struct ta_idle_edges *edges,
                                    int64_t rank, int64_t device)
{
    double all = 0, computing = 0;
    for (size_t i = 0; i < ta_ref_rows(in, edges->time); i++) {
        if (!ta_ref_reads(in, edges->edge, i, "before") ||
            (rank != TA_MISSING && (ta_ref_rank(in, edges->time, i) != rank ||
                                    ta_ref_device(in, edges->time, i) != device)))
            continue;
        const double time = ta_ref_number(in, edges->time, i, 0);
        all += time;
        computing += ta_ref_reads(in, edges->cause, i, "host computation") ? time : 0;
    }
    return computing > 0 && ta_edge_computes(computing, all);
}

#endif
