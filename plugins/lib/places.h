/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of a program: which operator runs what, and when it first did.  Two runs of a program can
 * be laid side by side by them, whatever its parts are called. */
#ifndef TA_LIB_PLACES_H
#define TA_LIB_PLACES_H

#include <traceanalyze/analysis.h>
#include "lib/outward.h"

/* The partials of an analysis of places. */
extern const struct ta_partial_def ta_place_partials[];

/* The places of one trace, as they are added to such a partial. */
struct ta_places {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_partial *out;
    int64_t origin;
    struct ta_map rows; /* of the partial, by the names of the operator and what it ran */
    struct ta_place_last {
        ta_str op;
        int64_t *row;
    } * last;      /* by the name of what ran: the row of the last of that name */
    bool *is_told; /* by category: operators, and ranges that people annotated */
    bool *is_step; /* by name */
    struct ta_outward outward;
};

/* False without memory; ta_places_close() either way, which is false when some are missing. */
bool ta_places_open(struct ta_places *places, const struct ta_trace *trace,
                    struct ta_partial *out) TA_MUST_CHECK;
bool ta_places_close(struct ta_places *places) TA_MUST_CHECK;

/* Whether a span is an operator or a range that people annotated.  Functions of Python have lines
 * and addresses that no two versions share, steps have numbers. */
static inline bool ta_place_is_told(const struct ta_places *places, ta_row row)
{
    return places->is_told[places->spans.cat[row]] && !places->is_step[places->spans.name[row]];
}

/* The innermost such span around a row; TA_NO_ROW without any, or of TA_NO_ROW. */
ta_row ta_place_caller(struct ta_places *places, ta_row row);

/* Adds that the operator at row `op`, TA_NO_ROW for none, ran the span at row `ran`. */
void ta_place_add(struct ta_places *places, ta_row op, ta_row ran);

/* The columns of a table of places; the fields of the partial are the same. */
enum {
    TA_PLACE_OP,
    TA_PLACE_NAME,
    TA_PLACE_WITHIN,
    TA_PLACE_FIRST,
    TA_PLACE_CALLS,
    TA_PLACE_TOTAL,
    TA_PLACE_COLUMN_COUNT
};

/* clang-format off */

/* The columns: an operator, whose key is `op_key`, what it ran, and so on.  Comparisons read the
 * first five as `reading` and the four that follow it in enum ta_reading. */
#define TA_PLACE_COLUMNS(reading, op_key, op_title, op_doc, name_title, name_doc) \
    [TA_PLACE_OP] = {op_key, op_title, TA_TEXT, .doc = op_doc, \
                     .read_as = (enum ta_reading)((reading) + TA_PLACE_OP)}, \
    [TA_PLACE_NAME] = {"name", name_title, TA_TEXT, .doc = name_doc, \
                       .read_as = (enum ta_reading)((reading) + TA_PLACE_NAME)}, \
    [TA_PLACE_WITHIN] = \
        {"within", "Called from", TA_TEXT, \
         .read_as = (enum ta_reading)((reading) + TA_PLACE_WITHIN), \
         .doc = "Operators and ranges around the first execution, from the outermost inwards, " \
                "separated by ;, without step markers"}, \
    [TA_PLACE_FIRST] = {"first_start_ns", "First start", TA_NS, \
                        .read_as = (enum ta_reading)((reading) + TA_PLACE_FIRST), \
                        .doc = "Start of the first execution since the rank's earliest span"}, \
    [TA_PLACE_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Number of executions, all ranks", \
                        .read_as = (enum ta_reading)((reading) + TA_PLACE_CALLS)}, \
    [TA_PLACE_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, \
                        .doc = "Sum of the durations, all ranks"}

/* clang-format on */

/* Adds the rows of such a table. */
void ta_place_rows(const struct ta_partial *places, struct ta_section_builder *out,
                   const struct ta_table_def *def);

#endif
