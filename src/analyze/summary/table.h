/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of partials in a summary. */
#ifndef TA_SUMMARY_TABLE_H
#define TA_SUMMARY_TABLE_H

#include "analyze/partial.h"
#include "model/strings.h"
#include "parse/json/pull.h"
#include "analyze/summary/text.h"
#include "traceanalyze/analysis.h"

/* ---- writing ------------------------------------------------------------------------------- */

/* What the parts of a summary share while it is written. */
struct ta_summary_out {
    struct ta_strings texts; /* of cells, once each; a cell holds the place in this list */
    const size_t *place_of;  /* by placeholder of a file: its place in the summary */
};

/* {"fields": […], "rows": […]}, rows in the order of their keys.  False without memory. */
bool ta_summary_put_table(struct ta_summary_out *out, struct ta_text *text,
                          struct ta_partial *table) TA_MUST_CHECK;
/* The place of a text in the list. */
void ta_summary_put_text(struct ta_summary_out *out, struct ta_text *text, struct ta_slice string);

/* ---- reading ------------------------------------------------------------------------------- */

/* Fields of a table. */
enum { TA_SUMMARY_FIELDS_MAX = 256 };

struct ta_summary_in {
    struct ta_ctx *ctx;
    struct ta_pull pull;
    const struct ta_slice *texts;
    size_t n_texts;
    const size_t *index_of; /* by place of a file in the summary: its placeholder */
    size_t n_files;
    TA_VEC(int64_t) samples;              /* of the distribution at hand */
    TA_VEC(uint64_t) counts;              /* by bucket */
    int64_t below[TA_SUMMARY_FIELDS_MAX]; /* bounds of the fields of the table at hand, 0: none */
};

/* Adds the rows of table `i` of an analysis to a partial of the same definition; `into` NULL only
 * checks that this could be done.  `pull` says what is wrong. */
void ta_summary_take_table(struct ta_summary_in *in, const struct ta_analysis_ops *ops, size_t i,
                           struct ta_partial *into);
/* The text at a place in the list. */
struct ta_slice ta_summary_take_text(struct ta_summary_in *in);

#endif
