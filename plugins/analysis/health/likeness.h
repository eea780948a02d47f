/* SPDX-License-Identifier: GPL-3.0-or-later */
/* health.kernels: how similar the kernels of ranks are. */
#ifndef TA_HEALTH_LIKENESS_H
#define TA_HEALTH_LIKENESS_H

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>
#include <traceanalyze/table.h>

/* Fields of the partial of kernels: the rank, and how many kernels of each class of names. */
enum { HEALTH_NAMES_RANK, HEALTH_NAMES = 64, HEALTH_NAMES_FIELDS };
extern const struct ta_field health_name_fields[HEALTH_NAMES_FIELDS];
extern const struct ta_table_def health_kernels;

/* Counts the kernels of a trace by their names; false without memory. */
TA_MUST_CHECK bool health_count_names(const struct ta_trace *trace, struct ta_partial *out);

/* Adds health.kernels, and returns the similarity of the rank that is least similar to its
 * nearest; NAN with fewer than two ranks.  False without memory. */
TA_MUST_CHECK bool health_compare_names(const struct ta_partial *names,
                                        struct ta_section_builder *out, double *least);

#endif
