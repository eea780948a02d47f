/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a dump says of itself that only readers of certain profilers ask for. */
#ifndef TA_MODEL_SAYS_H
#define TA_MODEL_SAYS_H

#include "traceanalyze/dump.h"

/* Whether the trace event format knows a phase of this letter. */
bool ta_is_phase(char letter);

/* The labels of a process in metadata events, which may tell its rank. */
enum ta_status ta_builder_label_process(struct ta_ctx *ctx, struct ta_builder *builder, ta_str pid,
                                        ta_str label) TA_MUST_CHECK;

/* Adds the name of a file, without folders, that the dump says was written next to it.  Where such
 * a file says no rank it has the rank of the dump. */
void ta_builder_add_product(struct ta_builder *builder, struct ta_slice name);

/* Says that the profiler exports all stages that it has recorded since the run began, one row a
 * call in order, so that a later export of the run begins with the sections of an earlier one.  Of
 * several such files in one folder and of one rank only the longest counts. */
void ta_builder_set_growing(struct ta_builder *builder);

#endif
