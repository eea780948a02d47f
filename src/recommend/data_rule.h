/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that a file defines: the worst number of a column against a threshold. */
#ifndef TA_RECOMMEND_DATA_RULE_H
#define TA_RECOMMEND_DATA_RULE_H

#include "plugin/registry.h"
#include "traceanalyze/analysis.h"

/* Gives the finding of the rule, if there is one.  A table without rows has none; a table or column
 * that is not there, or a threshold of another unit than the column's, is TA_ERR_USAGE. */
enum ta_status ta_data_rule_run(struct ta_ctx *ctx, const struct ta_registry *registry,
                                const struct ta_entry *rule, const struct ta_report *report,
                                struct ta_advice *advice) TA_MUST_CHECK;

#endif
