/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports among the inputs, and the files next to them. */
#ifndef TA_BESIDE_H
#define TA_BESIDE_H

#include "ingest/inputs/inputs.h"

/* Decides which of the reports that were found stand for runs. They do when they are named, or when
 * folders hold nothing else than what traceanalyze writes: reports next to traces were made from
 * them. Where reports cannot be used, named ones are left among the sources to be refused. */
enum ta_status ta_choose_reports(struct ta_ctx *ctx, const struct ta_run_options *options,
                                 struct ta_inputs *inputs) TA_MUST_CHECK;

#endif
