/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why devices were idle: what is kept of the gaps that src/model/idle/idle.h finds. */
#ifndef GPU_IDLE_IDLE_H
#define GPU_IDLE_IDLE_H

#include "model/idle/idle.h"

#include <traceanalyze/analysis.h>

enum { IDLE_LONGEST_KEPT = 50 }; /* gaps of a device that are listed one by one */

/* The partials of the analysis, in order. */
enum { IDLE_PARTIAL_CAUSES, IDLE_PARTIAL_SITES, IDLE_PARTIAL_GAPS };

/* Fields of partials. */
enum { CAUSE_RANK, CAUSE_DEVICE, CAUSE_CAUSE, CAUSE_GAPS, CAUSE_TOTAL, CAUSE_LONGEST };
enum { SITE_CAUSE, SITE_SITE, SITE_PIECES, SITE_TOTAL };
enum { GAP_RANK, GAP_DEVICE, GAP_START, GAP_CAUSE, GAP_SITE, GAP_NEXT, GAP_TOTAL };

/* Puts the gaps of a trace into the partials. */
enum ta_status idle_map(struct ta_ctx *ctx, const struct ta_trace *trace,
                        struct ta_partial *const *out);

#endif
