/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of a program: which operator runs what, in the order in which it first did.  Two runs of a
 * program can be laid side by side by them, whatever its parts are called. */
#ifndef TRACEANALYZE_PLACES_H
#define TRACEANALYZE_PLACES_H

#include "analysis.h"

TA_BEGIN_DECLS

/* Whether a span is an operator or a range that people annotated.  Functions of Python have lines
 * and addresses that no two versions share, steps have numbers. */
TA_API bool ta_span_is_told(const struct ta_trace *trace, ta_row row);

/* The innermost such span around a row; TA_NO_ROW without any, or of TA_NO_ROW. */
TA_API ta_row ta_span_caller(const struct ta_trace *trace, ta_row row);

/* The partials of an analysis of places. */
extern TA_API const struct ta_partial_def ta_place_partials[];

/* Adds that the operator at row `op`, TA_NO_ROW for none, ran the span at row `ran`.  `cache` is of
 * one trace and one analysis; zero-initialize, ta_map_free(). */
TA_API void ta_place_add(const struct ta_trace *trace, ta_row op, ta_row ran, struct ta_map *cache,
                         struct ta_partial *places);

/* The columns of a table of places: an operator by that key, what it ran, and what all have. */
#define TA_PLACE_COLUMNS(op_key, op_title, op_doc, name_title, name_doc)                           \
    {op_key, op_title, TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, op_doc},                          \
        {"name", name_title, TA_TYPE_STRING, TA_UNIT_NONE, TA_NEUTRAL, name_doc},                  \
        {"within",                                                                                 \
         "Within",                                                                                 \
         TA_TYPE_STRING,                                                                           \
         TA_UNIT_NONE,                                                                             \
         TA_NEUTRAL,                                                                               \
         "Operators and ranges around that the first time, the outermost first, with ; between "   \
         "them; steps are left out"},                                                              \
        {"first_start_ns", "First start",                                                          \
         TA_TYPE_INTEGER,  TA_UNIT_NS,                                                             \
         TA_NEUTRAL,       "When that first ran, since the earliest span of the rank"},            \
        TA_COUNT_COLUMN("calls", "Calls", TA_NEUTRAL, "Executions, all ranks"),                    \
        TA_NS_COLUMN("total_ns", "Total", TA_LOWER, "Sum of durations over all ranks")

/* Adds the rows of such a table. */
TA_API enum ta_status ta_place_rows(struct ta_ctx *ctx, const struct ta_partial *places,
                                    struct ta_table_builder *table) TA_MUST_CHECK;

TA_END_DECLS

#endif
