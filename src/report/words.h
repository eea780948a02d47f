/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words, names and evidence as people read them. */
#ifndef TA_REPORT_WORDS_H
#define TA_REPORT_WORDS_H

#include "traceanalyze/output.h"

/* A word of ours as people read it: "gpu_power" is "GPU power", "first_block_ns" is "First block".
 * The result is `buffer`, a constant, or the word where it is too long to be one. */
struct ta_slice ta_word_text(struct ta_slice word, char buffer[TA_WORD_TEXT_MAX]);

/* The row of a table that a piece of evidence names, or SIZE_MAX. */
size_t ta_evidence_row(const struct ta_table *table, const struct ta_evidence *evidence);

/* The first column from `from` on that is a key of the row, one that says which row it is; SIZE_MAX
 * after the last. */
size_t ta_row_key(const struct ta_table *table, size_t row, size_t from);

#define TA_KEY_TITLE_MAX 64

/* What comes before a key that is a number, as in "rank 0". */
const char *ta_key_title(const struct ta_table *table, size_t column, char title[TA_KEY_TITLE_MAX]);

const char *ta_type_name(enum ta_type type);

/* "stacked-bars", "tree"; a constant. */
const char *ta_chart_kind_name(enum ta_chart_kind kind);

/* Name of an ink for CSS classes: "compute", "series-3"; of TA_INK_NONE it is "paper". */
const char *ta_ink_name(enum ta_ink ink);

#endif
