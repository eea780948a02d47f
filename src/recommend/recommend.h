/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From results to findings, ranked by what they would save, and the verdict. */
#ifndef TA_RECOMMEND_H
#define TA_RECOMMEND_H

#include "plugin/builtin.h"
#include "plugin/registry.h"
#include "traceanalyze/analysis.h"

/* Runs every advice plugin over the report and adds its findings, the most worthwhile first;
 * then sets the verdict. */
enum ta_status ta_recommend(struct ta_ctx *ctx, const struct ta_registry *registry,
                            struct ta_report *report) TA_MUST_CHECK;

/* Makes the headline of a report; `worst` is its first finding or NULL, `has_advice` whether any
 * finding says what to do. */
enum ta_status ta_headline_set(struct ta_ctx *ctx, const struct ta_registry *registry,
                               struct ta_report *report, const struct ta_finding *worst,
                               bool has_advice) TA_MUST_CHECK;

extern const struct ta_part *const ta_recommend_parts[]; /* ends with NULL */

/* Whether the run has one device only, whose number says nothing. */
bool ta_advice_has_one_device(const struct ta_advice *advice);

/* What lives as long as the findings. */
struct ta_arena *ta_advice_arena(struct ta_advice *advice);

#endif
