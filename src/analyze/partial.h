/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making and merging partials: the side that only the core uses. */
#ifndef TA_ANALYZE_PARTIAL_H
#define TA_ANALYZE_PARTIAL_H

#include "traceanalyze/partial.h"
#include "traceanalyze/base.h"

/* An empty partial; `def` must outlive it.  NULL without memory. */
struct ta_partial *ta_partial_new(const struct ta_partial_def *def);
void ta_partial_free(struct ta_partial *partial);

/* Adds all rows of `from`.  Any order of merging gives the same rows. */
void ta_partial_merge(struct ta_partial *into, const struct ta_partial *from);

/* The same, but `from` loses its samples on the way: no more than one row is there twice. */
void ta_partial_drain(struct ta_partial *into, struct ta_partial *from);

/* Whether a key is a rank, so that placeholders have to be replaced. */
bool ta_partial_has_rank(const struct ta_partial *partial);

/* Replaces placeholders in fields of kind TA_FIELD_RANK: the rank of placeholder p is ranks[p], and
 * ranks that rows name (TA_RANK_NAMED) become those.  Rows that become equal are merged: then
 * *partial is another one afterwards, and the old one is freed.  False without memory. */
bool ta_partial_resolve(struct ta_partial **partial, const int64_t *ranks,
                        size_t n_ranks) TA_MUST_CHECK;

const struct ta_partial_def *ta_partial_def_of(const struct ta_partial *partial);

/* Whether fields of this kind are part of the key of a row. */
static inline bool ta_field_is_key(enum ta_field_kind kind)
{
    return kind <= TA_FIELD_TEXT || kind == TA_FIELD_FILE;
}

/* Merges a value into a cell of a kind that holds one: not a key, not a distribution. */
void ta_partial_merge_value(enum ta_field_kind kind, int64_t *cell, int64_t value);

/* A cell of kind TA_FIELD_PLACE: row `index` of a file. */
static inline int64_t ta_file_place(int64_t file, size_t index)
{
    return (int64_t)((uint64_t)file << 32 | (uint32_t)index);
}

static inline int64_t ta_file_of_place(int64_t place)
{
    return place >> 32;
}

/* Puts samples in order, ahead of ta_partial_settle(), which need not then; adding is still
 * possible. */
void ta_partial_sort_samples(struct ta_partial *partial);

/* Puts rows and samples in order for finish(); no adding afterwards. */
bool ta_partial_settle(struct ta_partial *partial) TA_MUST_CHECK;

/* False when an allocation failed and rows are missing. */
bool ta_partial_has_rows(const struct ta_partial *partial);
/* Likewise, or samples of a distribution: it looks at all of them, which is too much per trace. */
bool ta_partial_ok(const struct ta_partial *partial);

/* Merges the row at `index` and those after it whose last key, an integer not below 0, falls into
 * the same `width` ≥ 1 numbers and whose other keys are equal, into `cells`, one for each field;
 * the last key becomes the number of the group.  The table has no distributions.  Returns the index
 * of the first row that is not in the group. */
size_t ta_partial_fold(const struct ta_partial *partial, size_t index, int64_t width,
                       int64_t *cells);

#endif
