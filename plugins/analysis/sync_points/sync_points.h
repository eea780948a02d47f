/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits of the host for its devices, and what they cost. */
#ifndef SYNC_POINTS_SYNC_POINTS_H
#define SYNC_POINTS_SYNC_POINTS_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

/* The partials of the analysis, in order, and their fields. */
enum { PARTIAL_SITES, PARTIAL_RANKS, PARTIAL_KINDS };
enum { KIND, CALL, SITE, CALLER, COUNT, TOTAL, DURING, AFTER, SITE_FIELDS };
enum {
    KIND_RANK,
    KIND_KIND,
    KIND_COUNT,
    KIND_TOTAL,
    KIND_DURING,
    KIND_AFTER,
    KIND_REFILL,
    KIND_SAVING,
    KIND_FIELDS
};
enum { RANK, RANK_COUNT, RANK_TOTAL, RANK_HARMFUL, RANK_WINDOW, RANK_FIELDS };

/* Finds the waits of a trace and adds them up. */
enum ta_status sync_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                        struct ta_partial *const *out);

#endif
